// The blocks at the top of a version: the group root names the schema and the tables, a table root
// names the table's trees.
//
//   group root  references: schema, then one a table (none while it was never used);
//               then u64 schema version, u64 next table key
//   table root  references: cluster tree, primary key index; width byte = depth of the cluster tree;
//               then u64 next object key, u64 objects, u64 index buckets, u64 index entries
internal import Storage
internal import Trees

/// Layout of the group root.
enum GroupRoot {
  static let kind = BlockKind(rawValue: 0x99)
  static let schemaSlot = 0
  /// The first table's reference follows the schema's.
  static let firstTableSlot = 1
  static let tailLength = 16

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
  private static let references = 2
  private static let tailOffset = BlockHeader.length + references * 8
  private static let payloadBytes = references * 8 + 32

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
    nextKey = block.integer(at: Self.tailOffset, as: Int64.self)
    count = block.integer(at: Self.tailOffset + 8, as: Int.self)
    bucketCount = block.integer(at: Self.tailOffset + 16, as: Int.self)
    entries = block.integer(at: Self.tailOffset + 24, as: Int.self)
  }

  /// Stores into `reference`, or a new block if that is none.
  ///
  /// - Returns: the block.
  func store(_ editor: BlockEditor, _ reference: BlockReference) -> BlockReference {
    let result =
      reference.isNone
      ? editor.allocate(
        kind: Self.kind, count: Self.references, payloadBytes: Self.payloadBytes)
      : editor.mutable(reference)
    let block = editor.pointer(result)
    BlockHeader.setReference(block, 0, clusters)
    BlockHeader.setReference(block, 1, index)
    BlockHeader.setWidth(block, UInt8(depth))
    block.store(nextKey, at: Self.tailOffset)
    block.store(count, at: Self.tailOffset + 8)
    block.store(bucketCount, at: Self.tailOffset + 16)
    block.store(entries, at: Self.tailOffset + 24)
    return result
  }
}
