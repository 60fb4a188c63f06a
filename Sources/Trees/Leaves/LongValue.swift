// Byte strings too long for a leaf, stored out of line. A value of up to one chunk is that chunk; a
// longer one is a node of chunks, a very long one a node of such nodes. All chunks but the last are
// full, so any offset is found by division.
//
//   chunk (0x14)             u32 used length, bytes
//   value, values (0x93/94)  references, u64 length of everything below
internal import Glibc
package import Storage

/// A byte string of any length as a tree of chunks.
package enum LongValue {
  package static var chunkKind: BlockKind { BlockKind(rawValue: 0x14) }
  package static var nodeKind: BlockKind { BlockKind(rawValue: 0x93) }
  package static var outerKind: BlockKind { BlockKind(rawValue: 0x94) }

  /// Bytes in a full chunk, whose block is 32 KB.
  package static var chunkBytes: Int { 32_768 - BlockHeader.length - 4 }
  /// Children of a full node.
  package static var fanOut: Int { 2000 }

  /// Stores bytes.
  /// - Returns: the value's tree; its owner frees it with `BlockEditor.freeTree`.
  package static func make(
    _ editor: BlockEditor, _ bytes: UnsafeRawBufferPointer
  ) -> BlockReference {
    if bytes.count <= chunkBytes { return makeChunk(editor, bytes) }
    if bytes.count <= chunkBytes * fanOut {
      return makeNode(editor, nodeKind, bytes, bytesPerChild: chunkBytes)
    }
    precondition(bytes.count <= chunkBytes * fanOut * fanOut, "the value is too long")
    return makeNode(editor, outerKind, bytes, bytesPerChild: chunkBytes * fanOut)
  }

  private static func makeChunk(
    _ editor: BlockEditor, _ bytes: UnsafeRawBufferPointer
  ) -> BlockReference {
    let chunk = editor.allocate(kind: chunkKind, count: 0, payloadBytes: 4 + bytes.count)
    let payload = editor.pointer(chunk) + BlockHeader.length
    payload.storeBytes(of: UInt32(bytes.count), as: UInt32.self)
    if let start = bytes.baseAddress { memcpy(payload + 4, start, bytes.count) }
    return chunk
  }

  private static func makeNode(
    _ editor: BlockEditor, _ kind: BlockKind, _ bytes: UnsafeRawBufferPointer, bytesPerChild: Int
  ) -> BlockReference {
    let count = (bytes.count + bytesPerChild - 1) / bytesPerChild
    let node = editor.allocate(kind: kind, count: count, payloadBytes: count * 8 + 8)
    for index in 0..<count {
      let start = index * bytesPerChild
      let part = UnsafeRawBufferPointer(
        rebasing: bytes[start..<min(bytes.count, start + bytesPerChild)])
      let child = kind == outerKind ? make(editor, part) : makeChunk(editor, part)
      BlockHeader.setReference(editor.pointer(node), index, child)
    }
    editor.pointer(node).storeBytes(
      of: UInt64(bytes.count), toByteOffset: BlockHeader.length + count * 8, as: UInt64.self)
    return node
  }

  /// Number of bytes of a value.
  package static func length(_ reader: BlockReader, _ value: BlockReference) -> Int {
    let block = reader.pointer(value)
    if BlockHeader.kind(block) == chunkKind {
      return Int(block.load(fromByteOffset: BlockHeader.length, as: UInt32.self))
    }
    let offset = BlockHeader.length + BlockHeader.count(block) * 8
    return Int(truncatingIfNeeded: block.load(fromByteOffset: offset, as: UInt64.self))
  }

  /// The bytes of a value that is one chunk, in place; nil for a longer one.
  package static func contiguousBytes(
    _ reader: BlockReader, _ value: BlockReference
  ) -> UnsafeRawBufferPointer? {
    let block = reader.pointer(value)
    guard BlockHeader.kind(block) == chunkKind else { return nil }
    return UnsafeRawBufferPointer(
      start: block + BlockHeader.length + 4, count: length(reader, value))
  }

  /// Copies bytes `offset ..< offset + target.count` of a value, which must have them.
  package static func copy(
    _ reader: BlockReader, _ value: BlockReference, from offset: Int = 0,
    to target: UnsafeMutableRawBufferPointer
  ) {
    let block = reader.pointer(value)
    let isChunk = BlockHeader.kind(block) == chunkKind
    precondition(
      offset >= 0 && offset + target.count <= length(reader, value), "range outside a long value")
    guard let start = target.baseAddress, target.count > 0 else { return }
    if isChunk {
      memcpy(start, block + BlockHeader.length + 4 + offset, target.count)
      return
    }
    let bytesPerChild =
      BlockHeader.kind(block) == outerKind ? chunkBytes * fanOut : chunkBytes
    var done = 0
    while done < target.count {
      let index = (offset + done) / bytesPerChild
      let within = (offset + done) % bytesPerChild
      let part = min(target.count - done, bytesPerChild - within)
      copy(
        reader, BlockHeader.reference(block, index), from: within,
        to: UnsafeMutableRawBufferPointer(rebasing: target[done..<(done + part)]))
      done += part
    }
  }

  /// What is wrong with a value's tree; empty when it is sound.
  package static func checkInvariants(_ reader: BlockReader, _ value: BlockReference) -> [String] {
    let block = reader.pointer(value)
    let length = length(reader, value)
    let kind = BlockHeader.kind(block)
    if kind == chunkKind {
      let isSound =
        length <= chunkBytes
        && BlockHeader.blockLength(block) == BlockHeader.blockLength(forPayload: 4 + length)
      return isSound ? [] : ["chunk of \(length) bytes in a block of another length"]
    }
    guard kind == nodeKind || kind == outerKind else { return ["long value: \(kind)"] }
    let count = BlockHeader.count(block)
    let bytesPerChild = kind == outerKind ? chunkBytes * fanOut : chunkBytes
    var findings: [String] = []
    if count != (length + bytesPerChild - 1) / bytesPerChild || count < 2 {
      findings.append("long value: \(count) children for \(length) bytes")
    }
    for index in 0..<count {
      let child = BlockHeader.reference(block, index)
      let expected = min(bytesPerChild, length - index * bytesPerChild)
      if self.length(reader, child) != expected {
        findings.append("long value: child \(index) of another length than \(expected)")
      }
      findings += checkInvariants(reader, child)
    }
    return findings
  }
}
