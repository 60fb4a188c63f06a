internal import Glibc
// A value too long for its leaf: chunks of 32 KB under nodes, so that no block is large and a change of
// one long value never moves another.
//
// Node payload: [references] [u64 length in bytes]. Chunk payload: the bytes.
package import Storage

/// Byte strings of any length as trees of chunks.
package enum LongValue {
  static let nodeKind = BlockKind(rawValue: 0x93)
  static let chunkKind = BlockKind(rawValue: 0x14)
  static let chunkLength = 32 << 10
  static let fanOut = 1024

  /// Stores bytes.
  ///
  /// - Returns: the root of the new tree.
  package static func make(_ editor: BlockEditor, _ bytes: UnsafeRawBufferPointer) -> BlockReference
  {
    var level: [(reference: BlockReference, length: Int)] = []
    var position = 0
    repeat {
      let length = min(chunkLength, bytes.count - position)
      let chunk = editor.allocate(kind: chunkKind, count: 0, payloadBytes: length)
      if length > 0 {
        memcpy(
          editor.pointer(chunk) + BlockHeader.length, bytes.baseAddress! + position, length)
      }
      level.append((chunk, length))
      position += length
    } while position < bytes.count
    repeat {
      var next: [(reference: BlockReference, length: Int)] = []
      var index = 0
      while index < level.count {
        let children = level[index..<min(index + fanOut, level.count)]
        let node = editor.allocate(
          kind: nodeKind, count: children.count, payloadBytes: children.count * 8 + 8)
        let block = editor.pointer(node)
        for (number, child) in children.enumerated() {
          BlockHeader.setReference(block, number, child.reference)
        }
        let length = children.reduce(0) { $0 + $1.length }
        (block + BlockHeader.length + children.count * 8)
          .storeBytes(of: UInt64(length), as: UInt64.self)
        next.append((node, length))
        index += fanOut
      }
      level = next
    } while level.count > 1
    return level[0].reference
  }

  /// Length of a stored value in bytes.
  package static func length(_ reader: BlockReader, _ root: BlockReference) -> Int {
    let block = reader.pointer(root)
    let offset = BlockHeader.length + BlockHeader.count(block) * 8
    return Int(block.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// Copies a value out.
  ///
  /// `target` has room for all of it.
  package static func read(
    _ reader: BlockReader, _ root: BlockReference, into target: UnsafeMutableRawBufferPointer
  ) {
    var position = 0
    copy(reader, root, target, &position)
  }

  private static func copy(
    _ reader: BlockReader, _ reference: BlockReference, _ target: UnsafeMutableRawBufferPointer,
    _ position: inout Int
  ) {
    let block = reader.pointer(reference)
    if BlockHeader.kind(block) == chunkKind {
      let length = min(
        chunkLength, target.count - position, BlockHeader.blockLength(block) - BlockHeader.length)
      if length > 0 {
        memcpy(target.baseAddress! + position, BlockHeader.payload(block), length)
      }
      position += length
      return
    }
    for index in 0..<BlockHeader.count(block) {
      copy(reader, BlockHeader.reference(block, index), target, &position)
    }
  }
}
