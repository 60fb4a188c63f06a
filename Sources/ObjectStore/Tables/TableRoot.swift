// The blocks at the top of a version: the group root names the schema and the tables, a table root
// names the table's trees.
//
//   group root  references: schema, then one a table (none while it was never used);
//               then u64 schema version, u64 next table key
//   table root  references: cluster tree, primary key index, then two a column (links, ordered index) if
//               any column has one; width byte = depth of the cluster tree; then u64 next key,
//               u64 objects, u64 index buckets, u64 index entries
internal import Storage
internal import Trees

/// Checks of the blocks at the top, and of all trees.
package enum RootStructure {
  /// Adds them; called before the first block of a version is read.
  package static func register() { _ = registered }

  private static let registered: Void = {
    TreeStructure.register()
    BlockStructure.register([(GroupRoot.kind, groupRoot), (TableRoot.kind, tableRoot)])
  }()

  @Sendable private static func groupRoot(
    _ block: UnsafeRawPointer, _ bounds: BlockStructure.Bounds
  ) -> StaticString? {
    GroupRoot.isSound(block) ? nil : "it is not the root of a version"
  }

  @Sendable private static func tableRoot(
    _ block: UnsafeRawPointer, _ bounds: BlockStructure.Bounds
  ) -> StaticString? {
    let count = BlockHeader.count(block)
    guard count >= TableRoot.references,
      BlockHeader.blockLength(block) == BlockHeader.blockLength(forPayload: count * 8 + 32)
    else { return "its length does not fit what it counts" }
    let root = TableRoot(block)
    // What is counted takes room: 256 objects at least a header, a bucket a reference, an entry
    // four bytes.
    let sizes = 0...Int(bounds.fileLength)
    guard sizes.contains(root.count / 16), root.count >= 0, sizes.contains(root.entries),
      sizes.contains(root.bucketCount), root.bucketCount > 0
    else { return "it counts more than the file has room for" }
    guard root.depth <= ClusterTree.depthMax, root.nextKey >= 0, root.nextKey < TableRoot.keyMax
    else { return "its numbers are too large" }
    return nil
  }
}

/// Layout of the group root.
enum GroupRoot {
  static let kind = BlockKind(rawValue: 0x99)
  static let schemaSlot = 0
  /// The first table's reference follows the schema's.
  static let firstTableSlot = 1
  static let tailLength = 16
  /// Tables that a version can have.
  static let tablesMax =
    (BlockHeader.blockLengthMax - BlockHeader.length - tailLength) / 8 - firstTableSlot

  /// Whether a block can be the root of a version.
  static func isSound(_ block: UnsafeRawPointer) -> Bool {
    let count = BlockHeader.count(block)
    return BlockHeader.kind(block) == kind && count >= firstTableSlot
      && BlockHeader.blockLength(block)
        >= BlockHeader.blockLength(forPayload: count * 8 + tailLength)
  }

  static func schemaVersion(_ block: UnsafeRawPointer) -> UInt64 {
    block.integer(at: BlockHeader.length + BlockHeader.count(block) * 8, as: UInt64.self)
  }

  static func nextTableKey(_ block: UnsafeRawPointer) -> UInt64 {
    block.integer(at: BlockHeader.length + BlockHeader.count(block) * 8 + 8, as: UInt64.self)
  }
}

/// What a table root says.
struct TableRoot: Equatable {
  static let kind = BlockKind(rawValue: 0x98)
  /// References before those of the columns.
  static let references = 2
  /// Numbers behind the references.
  private static let tailLength = 32
  /// Columns that a table with trees of pairs can have.
  static let columnsMax =
    ((BlockHeader.blockLengthMax - BlockHeader.length - tailLength) / 8 - references) / 2
  /// Keys are below this: room for what is to come.
  static let keyMax: Int64 = 1 << 62

  var clusters = BlockReference.none
  var depth = 0
  var index = BlockReference.none
  var nextKey: Int64 = 0
  var count = 0
  var bucketCount = 1
  var entries = 0

  /// An empty table.
  init() {}

  init(
    clusters: BlockReference, depth: Int, index: BlockReference, nextKey: Int64, count: Int,
    bucketCount: Int, entries: Int
  ) {
    self.clusters = clusters
    self.depth = depth
    self.index = index
    self.nextKey = nextKey
    self.count = count
    self.bucketCount = bucketCount
    self.entries = entries
  }

  init(_ block: UnsafeRawPointer) {
    clusters = BlockHeader.reference(block, 0)
    index = BlockHeader.reference(block, 1)
    depth = Int(BlockHeader.width(block))
    let tail = BlockHeader.length + BlockHeader.count(block) * 8
    nextKey = block.integer(at: tail, as: Int64.self)
    count = block.integer(at: tail + 8, as: Int.self)
    bucketCount = block.integer(at: tail + 16, as: Int.self)
    entries = block.integer(at: tail + 24, as: Int.self)
  }

  /// The references of a table root's columns; nil if it has none.
  static func pairRoots(_ block: UnsafeRawPointer) -> UnsafeRawPointer? {
    BlockHeader.count(block) > references
      ? block + BlockHeader.length + references * 8 : nil
  }

  /// Stores into `reference`, or a new block if that is none.
  ///
  /// - Parameter pairRoots: of the columns' trees; empty if there are none.
  /// - Returns: the block.
  func store(
    _ editor: BlockEditor, _ reference: BlockReference,
    pairRoots: UnsafeBufferPointer<BlockReference>
  ) -> BlockReference {
    let references = Self.references + pairRoots.count
    let payload = references * 8 + Self.tailLength
    var result = reference
    if reference.isNone {
      result = editor.allocate(kind: Self.kind, count: references, payloadBytes: payload)
    } else {
      result = editor.mutable(reference)
      if BlockHeader.count(editor.pointer(result)) != references {
        editor.resize(result, payloadBytes: payload)
        BlockHeader.setCount(editor.pointer(result), references)
      }
    }
    let block = editor.pointer(result)
    BlockHeader.setReference(block, 0, clusters)
    BlockHeader.setReference(block, 1, index)
    for (column, root) in pairRoots.enumerated() {
      BlockHeader.setReference(block, Self.references + column, root)
    }
    BlockHeader.setWidth(block, UInt8(depth))
    let tail = BlockHeader.length + references * 8
    block.store(nextKey, at: tail)
    block.store(count, at: tail + 8)
    block.store(bucketCount, at: tail + 16)
    block.store(entries, at: tail + 24)
    return result
  }
}
