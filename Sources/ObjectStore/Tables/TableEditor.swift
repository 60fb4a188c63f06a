// One table inside a write transaction: its tree, its primary key index, and what they were loaded
// from. Made when the transaction first touches the table.
internal import Storage
internal import Trees

/// Changes one table.
///
/// Belongs to one GroupTransaction.
final class TableEditor {
  let editor: BlockEditor
  let tree: ClusterTreeEditor
  let index: HashIndexEditor
  /// The table's root block in the base version; none for a new table.
  private let block: BlockReference
  private let base: TableRoot
  @exclusivity(unchecked) var table: StoredTable

  init(_ editor: BlockEditor, _ table: StoredTable, block: BlockReference) {
    self.editor = editor
    self.table = table
    self.block = block
    base = block.isNone ? TableRoot() : TableRoot(editor.reader.pointer(block))
    tree = ClusterTreeEditor(
      editor, root: base.clusters, depth: base.depth, count: base.count, nextKey: base.nextKey,
      columnCount: table.schema.columns.count)
    index = HashIndexEditor(
      editor, root: base.index, bucketCount: base.bucketCount, count: base.entries)
  }

  /// What the table root has to say now.
  var root: TableRoot {
    tree.flush()
    return unflushedRoot
  }

  /// The same with object counts of branches that may be behind: for everything but positions.
  private var unflushedRoot: TableRoot {
    let tree = tree.shape
    let index = index.shape
    return TableRoot(
      clusters: tree.root, depth: tree.depth, index: index.root, nextKey: tree.nextKey,
      count: tree.count, bucketCount: index.bucketCount, entries: index.count)
  }

  /// A reader for look-ups while the table is being changed.
  var lookup: TableReader {
    TableReader(reader: editor.reader, table: table, root: unflushedRoot)
  }

  /// Writes the table root if the table has changed.
  ///
  /// - Returns: its block.
  func finish() -> BlockReference {
    tree.finish()
    let root = root
    if root == base { return block }
    return root.store(editor, block)
  }

  // MARK: - Primary key

  func insertIntoIndex(_ key: ObjectKey, hash: UInt64) {
    index.insert(hash, key.rawValue) { [self] keys, hashes in
      let reader = lookup
      let layout = table.layouts[table.keyColumn]
      reader.prefetchKeys(keys)
      for (position, other) in keys.enumerated() {
        guard let hash = reader.keyHash(ObjectKey(rawValue: other), layout) else {
          preconditionFailure("the index of \(table.schema.name) has a key without object")
        }
        hashes[position] = hash
      }
    }
  }

  func removeFromIndex(_ key: ObjectKey) {
    guard let hash = lookup.keyHash(key, table.layouts[table.keyColumn]) else { return }
    index.remove(hash, key.rawValue)
  }
}
