// Removing objects of a table's tree: all that go from one cluster at once, as each leaf is copied
// and closed up once then.
internal import Glibc
internal import Storage

extension ClusterTreeEditor {
  /// Removes an object.
  ///
  /// - Parameters:
  ///   - columns: how each column is stored.
  ///   - keyColumn: the primary key's, which looking up should find in one leaf; -1 if there is
  ///     none.
  /// - Returns: false if there is none.
  package func delete(
    _ key: Int64, columns: [ClusterTree.ColumnLayout], keyColumn: Int = -1
  ) -> Bool {
    guard let row = openRow(key) else { return false }
    removeRows(CollectionOfOne(row), CollectionOfOne(key), columns, keyColumn)
    return true
  }

  /// Removes several objects of one cluster.
  ///
  /// - Parameter keys: ascending; there is an object of each.
  package func delete(
    together keys: [Int64], columns: [ClusterTree.ColumnLayout], keyColumn: Int = -1
  ) {
    guard let first = keys.first else { return }
    precondition(openRow(first) != nil, "no object \(first)")
    let cluster = UnsafeRawPointer(editor.pointer(openReference))
    let rows = keys.map { key in
      guard let row = Cluster.row(cluster, slot: Int(key & 255)) else {
        preconditionFailure("no object \(key)")
      }
      return row
    }
    removeRows(rows, keys, columns, keyColumn)
  }

  /// Removes ascending rows of the open cluster, and the slots of their keys.
  @inline(__always)
  private func removeRows(
    _ rows: some BidirectionalCollection<Int>, _ keys: some BidirectionalCollection<Int64>,
    _ columns: [ClusterTree.ColumnLayout], _ keyColumn: Int
  ) {
    count -= rows.count
    openDifference -= rows.count
    isAppending = false
    if Cluster.rows(editor.pointer(openReference)) == rows.count {
      removeOpenCluster()
      return
    }
    let cluster = editor.pointer(openReference)
    if Cluster.columns(cluster) > columns.count {
      editor.reader.stop(at: cluster, Self.wrongColumns)
    }
    for column in 0..<Cluster.columns(cluster) {
      var reference = Cluster.column(editor.pointer(openReference), column)
      if reference.isNone { continue }
      check(reference, columns[column])
      switch columns[column] {
      case .packed: PackedLeaf.remove(editor, &reference, rows: rows)
      case .bytes:
        BytesColumn.remove(editor, &reference, rows: rows, keepingLeaves: column != keyColumn)
      case .references:
        for row in rows.reversed() { ReferenceLeaf.remove(editor, &reference, row) }
      }
      BlockHeader.setReference(editor.pointer(openReference), column, reference)
    }
    for key in keys.reversed() { Cluster.remove(editor, openReference, slot: Int(key & 255)) }
  }

  /// Removes all objects.
  ///
  /// Keys are not used again.
  package func deleteAll() {
    flush()
    isAppending = false
    openNumber = -1
    openReference = .none
    editor.freeTree(root)
    root = .none
    depth = 0
    count = 0
  }

  /// Frees the open cluster, whose last object is going, and the branches that it leaves empty.
  private func removeOpenCluster() {
    flush()
    editor.freeTree(openReference)
    openReference = .none
    if depth == 0 {
      root = .none
    } else if removeChild(root, level: depth) {
      editor.free(root)
      root = .none
      depth = 0
    }
    openNumber = -1
  }

  /// - Returns: true if the branch has no child left.
  private func removeChild(_ reference: BlockReference, level: Int) -> Bool {
    let shift = (level - 1) * ClusterTree.branchBits
    let index = (openNumber >> shift) & (ClusterTree.fanOut - 1)
    if level > 1 {
      let child = BlockHeader.reference(editor.pointer(reference), index)
      if !removeChild(child, level: level - 1) { return false }
      editor.free(child)
    }
    let block = editor.pointer(reference)
    BlockHeader.setReference(block, index, .none)
    let count = BlockHeader.count(block)
    var newCount = count
    while newCount > 0, BlockHeader.reference(block, newCount - 1).isNone { newCount -= 1 }
    if newCount == 0 { return true }
    if newCount < count {
      let counts = block + BlockHeader.length + count * 8
      memmove(block + BlockHeader.length + newCount * 8, counts, newCount * 4)
      BlockHeader.setCount(block, newCount)
      editor.resize(reference, payloadBytes: newCount * 12)
    }
    return false
  }
}
