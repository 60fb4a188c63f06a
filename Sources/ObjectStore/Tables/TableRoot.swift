// The blocks at the top of a version: the group root names the schema and the tables, a table root
// names the table's trees.
//
// Group root payload: [schema] [table root x tables] then u64 schema version, u64 next table key
// Table root payload: [clusters] [primary key index] then u64 next object key, u64 objects,
//                     u64 cluster depth, u64 index buckets, u64 index entries
internal import Storage
package import Trees

/// Layout of the group root.
enum GroupRoot {
  static let kind = BlockKind(rawValue: 0x99)
  static let schemaSlot = 0
  /// The first table's reference follows the schema's.
  static let firstTableSlot = 1
  static let tailLength = 16

  static func schemaVersion(_ block: UnsafeRawPointer) -> UInt64 {
    block.loadUnaligned(
      fromByteOffset: BlockHeader.length + BlockHeader.count(block) * 8, as: UInt64.self)
  }

  static func nextTableKey(_ block: UnsafeRawPointer) -> UInt64 {
    block.loadUnaligned(
      fromByteOffset: BlockHeader.length + BlockHeader.count(block) * 8 + 8, as: UInt64.self)
  }
}

/// What a table root says.
package struct TableRoot: Sendable {
  static let kind = BlockKind(rawValue: 0x98)
  private static let references = 2
  private static let tailLength = 40

  package var clusters: ClusterTree
  package var index: HashIndex
  package var nextKey: Int64

  init() {
    clusters = ClusterTree()
    index = HashIndex()
    nextKey = 0
  }

  init(_ block: UnsafeRawPointer) {
    let tail = BlockHeader.length + BlockHeader.count(block) * 8
    func number(_ position: Int) -> Int {
      Int(block.loadUnaligned(fromByteOffset: tail + position * 8, as: Int64.self))
    }
    nextKey = Int64(number(0))
    clusters = ClusterTree(
      root: BlockHeader.reference(block, 0), depth: number(2), count: number(1))
    index = HashIndex(
      root: BlockHeader.reference(block, 1), bucketCount: number(3), entryCount: number(4))
  }

  static func allocate(_ editor: BlockEditor) -> BlockReference {
    editor.allocate(kind: kind, count: references, payloadBytes: references * 8 + tailLength)
  }

  func store(_ block: UnsafeMutableRawPointer) {
    BlockHeader.setReference(block, 0, clusters.root)
    BlockHeader.setReference(block, 1, index.root)
    let tail = BlockHeader.length + Self.references * 8
    let numbers = [
      nextKey, Int64(clusters.count), Int64(clusters.depth), Int64(index.bucketCount),
      Int64(index.entryCount),
    ]
    for (position, number) in numbers.enumerated() {
      block.storeBytes(of: number, toByteOffset: tail + position * 8, as: Int64.self)
    }
  }
}
