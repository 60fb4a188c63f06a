// The smallest tree that a store can hold: some counters, each in a block of its own below one
// root.
internal import Storage

/// Counters in the blocks of a version.
enum CounterTree {
  private static let branchKind = BlockKind(rawValue: 0xa0)
  private static let leafKind = BlockKind(rawValue: 0x20)

  /// The counters; empty before the first write.
  static func values(_ reader: BlockReader, _ root: BlockReference) -> [UInt64] {
    if root.isNone { return [] }
    let block = reader.pointer(root)
    return (0..<BlockHeader.count(block)).map { index in
      let leaf = BlockHeader.reference(block, index)
      return leaf.isNone ? 0 : BlockHeader.payload(reader.pointer(leaf)).load(as: UInt64.self)
    }
  }

  /// Adds one to some of `count` counters; returns the new root.
  static func add(
    _ editor: BlockEditor, _ root: BlockReference, to indexes: [Int], of count: Int
  ) -> BlockReference {
    let root =
      root.isNone
      ? editor.allocate(kind: branchKind, count: count, payloadBytes: count * 8)
      : editor.mutable(root)
    for index in indexes {
      let old = BlockHeader.reference(editor.pointer(root), index)
      let leaf =
        old.isNone
        ? editor.allocate(kind: leafKind, count: 0, payloadBytes: 8) : editor.mutable(old)
      let payload = editor.pointer(leaf) + BlockHeader.length
      let value = old.isNone ? 0 : payload.load(as: UInt64.self)
      payload.storeBytes(of: value + 1, as: UInt64.self)
      BlockHeader.setReference(editor.pointer(root), index, leaf)
    }
    return root
  }
}
