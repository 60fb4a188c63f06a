// A value of more than 1 KB, in blocks of its own: one chunk, or a node of chunks.
//
//   chunk      header count = bytes (at most 32,752); payload = the bytes
//   chunkNode  header count = children; references; then u64 length of the whole value. Width byte =
//              levels of nodes below this one. All children but the last are full.
//
// So any offset is found by division. The length is a 64-bit number; the API limits it, not the
// format.
internal import Glibc
public import Storage

/// Values that are too long for a column's leaf.
@frozen @usableFromInline
package enum LongValue {
  /// Longest value that stays in the column's leaf.
  package static let inlineMax = 1_024
  /// Bytes of a full chunk.
  package static let chunkBytes = 32_768 - 16
  /// Children of a full node.
  static let fanOut = 512
  /// The most by which what was written in vain raises the limit of memory.
  private static let inVainMax = 64 << 20
  static let levelsMax = 6

  /// Stores a value.
  ///
  /// Nothing of it changes any more, so that it is written out at once where a transaction has much
  /// in memory: the cluster or collection that it is for may not be finished for long.
  ///
  /// - Returns: its root block.
  package static func make(
    _ editor: BlockEditor, _ value: UnsafeRawBufferPointer
  ) -> BlockReference {
    var level: [(reference: BlockReference, length: Int)] = []
    var start = 0
    repeat {
      let part = UnsafeRawBufferPointer(
        rebasing: value[start..<min(start + chunkBytes, value.count)])
      let chunk = editor.allocate(
        kind: .chunk, count: part.count, payloadBytes: part.count, isResident: false)
      if let source = part.baseAddress {
        memcpy(editor.pointer(chunk) + BlockHeader.length, source, part.count)
      }
      level.append((chunk, part.count))
      start += part.count
    } while start < value.count
    var height: UInt8 = 0
    while level.count > 1 {
      var next: [(reference: BlockReference, length: Int)] = []
      var first = 0
      while first < level.count {
        let children = level[first..<min(first + fanOut, level.count)]
        let length = children.reduce(0) { $0 + $1.length }
        let node = editor.allocate(
          kind: .chunkNode, width: height, count: children.count,
          payloadBytes: children.count * 8 + 8, isResident: false)
        let block = editor.pointer(node)
        for (index, child) in children.enumerated() {
          BlockHeader.setReference(block, index, child.reference)
        }
        block.store(UInt64(length), at: BlockHeader.length + children.count * 8)
        next.append((node, length))
        first += children.count
      }
      level = next
      height += 1
    }
    let root = level[0].reference
    // What is replaced again and again stays in memory: in the file each of its values would take
    // room until the commit. So the limit grows with what was written in vain.
    let inVain = min(2 * editor.bytesInVain, inVainMax)
    let bytesMax = editor.limits.passingBytes + 2 * value.count + inVain
    return editor.passingBytes > bytesMax ? editor.seal(root) : root
  }

  /// Whether a block is the top of a value.
  package static func isValue(_ block: UnsafeRawPointer) -> Bool {
    BlockHeader.kind(block) == .chunk || BlockHeader.kind(block) == .chunkNode
  }

  /// Verifies all blocks of a value, so that reading it cannot stop.
  package static func verify(
    _ reader: BlockReader, _ block: UnsafeRawPointer
  ) throws(StorageError) {
    if BlockHeader.kind(block) == .chunk { return }
    for index in 0..<BlockHeader.count(block) {
      let child = BlockHeader.reference(block, index)
      try reader.verify(child)
      let childBlock = reader.pointer(child)
      guard isPart(childBlock, index, of: block) else { throw reader.damage(child, "\(wrongPart)") }
      try verify(reader, childBlock)
    }
  }

  private static let wrongPart: StaticString =
    "it is not the part of a long value that it should be"

  /// Bytes below a child of a node that is not the last.
  static func childBytes(_ node: UnsafeRawPointer) -> Int {
    var bytes = chunkBytes
    for _ in 0..<BlockHeader.width(node) { bytes *= fanOut }
    return bytes
  }

  /// Whether a block has the kind and the length that a part of a node must have: so a copy ends,
  /// and stays inside of blocks.
  private static func isPart(
    _ block: UnsafeRawPointer, _ index: Int, of node: UnsafeRawPointer
  ) -> Bool {
    let level = BlockHeader.width(node)
    let isRightKind =
      level == 0
      ? BlockHeader.kind(block) == .chunk
      : BlockHeader.kind(block) == .chunkNode && BlockHeader.width(block) == level - 1
    let full = childBytes(node)
    return isRightKind && length(block) == min(full, length(node) - index * full)
  }

  /// A part of a node, checked.
  private static func part(
    _ reader: BlockReader, _ node: UnsafeRawPointer, _ index: Int
  ) -> UnsafeRawPointer {
    let block = reader.pointer(BlockHeader.reference(node, index))
    if !isPart(block, index, of: node) { reader.stop(at: block, wrongPart) }
    return block
  }

  /// Bytes of the value.
  package static func length(_ block: UnsafeRawPointer) -> Int {
    let count = BlockHeader.count(block)
    if BlockHeader.kind(block) == .chunk { return count }
    return Int(block.integer(at: BlockHeader.length + count * 8, as: UInt64.self))
  }

  /// Copies the bytes from `offset` on until `target` is full or the value ends.
  ///
  /// - Returns: bytes copied.
  @discardableResult
  package static func copy(
    _ reader: BlockReader, _ block: UnsafeRawPointer, from offset: Int = 0,
    into target: UnsafeMutableRawBufferPointer
  ) -> Int {
    let wanted = min(target.count, length(block) - offset)
    if wanted <= 0 { return 0 }
    if BlockHeader.kind(block) == .chunk {
      memcpy(target.baseAddress!, BlockHeader.payload(block) + offset, wanted)
      return wanted
    }
    if !isValue(block) { reader.stop(at: block) }
    let childBytes = childBytes(block)
    var copied = 0
    while copied < wanted {
      let position = offset + copied
      let child = part(reader, block, position / childBytes)
      copied += copy(
        reader, child, from: position % childBytes,
        into: UnsafeMutableRawBufferPointer(rebasing: target[copied..<wanted]))
    }
    return wanted
  }

  /// Runs `body` on all bytes of the value, in place when they lie in one block.
  @usableFromInline
  package static func withBytes<Result>(
    _ reader: BlockReader, _ block: UnsafeRawPointer,
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    if !isValue(block) { reader.stop(at: block) }
    let length = length(block)
    if BlockHeader.kind(block) == .chunk {
      return try body(
        UnsafeRawBufferPointer(start: BlockHeader.payload(block), count: length))
    }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 16)
    defer { memory.deallocate() }
    copy(reader, block, into: memory)
    return try body(UnsafeRawBufferPointer(memory))
  }

  /// Adds what is wrong with the value's blocks to `findings`.
  static func check(
    _ reader: BlockReader, _ block: UnsafeRawPointer, name: String, _ findings: inout [String]
  ) {
    let count = BlockHeader.count(block)
    if BlockHeader.kind(block) == .chunk {
      if BlockHeader.blockLength(block) != BlockHeader.blockLength(forPayload: count) {
        findings.append("\(name): chunk of \(count) bytes in another length of block")
      }
      return
    }
    guard BlockHeader.kind(block) == .chunkNode, BlockHeader.width(block) < levelsMax,
      count > 0, count <= fanOut
    else {
      findings.append("\(name): bad node of a long value")
      return
    }
    let childBytes = childBytes(block)
    var sum = 0
    for index in 0..<count {
      let child = reader.pointer(BlockHeader.reference(block, index))
      let isRightHeight =
        BlockHeader.width(block) == 0
        ? BlockHeader.kind(child) == .chunk
        : BlockHeader.kind(child) == .chunk
          || BlockHeader.kind(child) == .chunkNode
            && BlockHeader.width(child) < BlockHeader.width(block)
      guard isRightHeight else {
        findings.append("\(name): wrong block below a long value")
        return
      }
      check(reader, child, name: name, &findings)
      let length = length(child)
      if index < count - 1 && length != childBytes {
        findings.append("\(name): part \(index) of a long value has \(length) bytes")
      }
      sum += length
    }
    if sum != length(block) {
      findings.append("\(name): long value of \(length(block)) bytes has \(sum)")
    }
  }
}
