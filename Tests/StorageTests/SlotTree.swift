// The smallest tree that exercises Storage: a root of branches of leaves, each slot a byte string.
// Stands in for real trees in tests of commits, pins, recovery and space.
import Storage

/// Access to a two-level tree of byte strings under one root.
enum SlotTree {
  static let branchKind = BlockKind(rawValue: 0xa0)
  static let leafKind = BlockKind(rawValue: 0x20)
  static let fanOut = 32

  /// Content of every slot that is set.
  static func content(_ reader: BlockReader, _ root: BlockReference) -> [Int: [UInt8]] {
    var content: [Int: [UInt8]] = [:]
    if root.isNone { return content }
    let top = reader.pointer(root)
    for branchIndex in 0..<BlockHeader.count(top) {
      let branch = BlockHeader.reference(top, branchIndex)
      if branch.isNone { continue }
      let branchBlock = reader.pointer(branch)
      for leafIndex in 0..<BlockHeader.count(branchBlock) {
        let leaf = BlockHeader.reference(branchBlock, leafIndex)
        if leaf.isNone { continue }
        content[branchIndex * fanOut + leafIndex] = bytes(reader.pointer(leaf))
      }
    }
    return content
  }

  /// The first damaged block; nil when the tree is sound.
  static func damage(_ reader: BlockReader, _ reference: BlockReference) -> StorageError? {
    if reference.isNone { return nil }
    do throws(StorageError) { try reader.verify(reference) } catch { return error }
    return children(reader, reference).lazy.compactMap { damage(reader, $0) }.first
  }

  /// Where the block ends that lies highest.
  static func end(_ reader: BlockReader, _ reference: BlockReference) -> UInt64 {
    if reference.isNone { return 0 }
    let end = reference.offset + UInt64(BlockHeader.blockLength(reader.pointer(reference)))
    return children(reader, reference).reduce(end) { max($0, self.end(reader, $1)) }
  }

  /// All blocks with their births.
  static func blocks(
    _ reader: BlockReader, _ reference: BlockReference
  ) -> [(BlockReference, Version)] {
    if reference.isNone { return [] }
    return [(reference, BlockHeader.birth(reader.pointer(reference)))]
      + children(reader, reference).flatMap { blocks(reader, $0) }
  }

  private static func children(
    _ reader: BlockReader, _ reference: BlockReference
  ) -> [BlockReference] {
    let block = reader.pointer(reference)
    guard BlockHeader.kind(block).isNode else { return [] }
    return (0..<BlockHeader.count(block)).map { BlockHeader.reference(block, $0) }
  }

  static func bytes(_ leaf: UnsafeRawPointer) -> [UInt8] {
    let payload = BlockHeader.payload(leaf)
    let length = Int(payload.loadUnaligned(as: UInt32.self))
    return [UInt8](UnsafeRawBufferPointer(start: payload + 4, count: length))
  }

  /// Writes the branch of a slot out while the transaction goes on.
  static func seal(_ transaction: WriteTransaction, branchOf slot: Int) {
    let editor = transaction.editor
    let root = editor.mutable(transaction.root)
    transaction.root = root
    let index = slot / fanOut
    let branch = BlockHeader.reference(editor.reader.pointer(root), index)
    BlockHeader.setReference(editor.pointer(root), index, editor.seal(branch))
  }

  /// Sets (or, with nil, removes) one slot.
  static func set(_ editor: BlockEditor, _ root: BlockReference, slot: Int, _ bytes: [UInt8]?)
    -> BlockReference
  {
    let (branchIndex, leafIndex) = (slot / fanOut, slot % fanOut)
    let root =
      root.isNone
      ? editor.allocate(kind: branchKind, count: fanOut, payloadBytes: fanOut * 8)
      : editor.mutable(root)
    var branch = BlockHeader.reference(editor.pointer(root), branchIndex)
    branch =
      branch.isNone
      ? editor.allocate(kind: branchKind, count: fanOut, payloadBytes: fanOut * 8)
      : editor.mutable(branch)
    BlockHeader.setReference(editor.pointer(root), branchIndex, branch)
    let old = BlockHeader.reference(editor.pointer(branch), leafIndex)
    var new = BlockReference.none
    if let bytes {
      if old.isNone {
        new = editor.allocate(kind: leafKind, count: 0, payloadBytes: 4 + bytes.count)
      } else {
        new = editor.mutable(old)
        editor.resize(new, payloadBytes: 4 + bytes.count)
      }
      let payload = editor.pointer(new) + BlockHeader.length
      payload.storeBytes(of: UInt32(bytes.count), as: UInt32.self)
      (payload + 4).copyMemory(from: bytes, byteCount: bytes.count)
    } else {
      editor.free(old)
    }
    BlockHeader.setReference(editor.pointer(branch), leafIndex, new)
    return root
  }
}
