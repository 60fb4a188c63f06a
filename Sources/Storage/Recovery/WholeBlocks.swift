// Looks for blocks in places of the file where there may be none: by calls, since a place that was
// never written may have no room on a full disk, and a look through the map ends the process then.
internal import Platform

/// What the space journal wants to know of a block.
struct WholeBlock {
  /// Bytes that it takes in the file.
  let length: Int
  let birth: Version
  let kind: BlockKind
}

/// Finds blocks that are as they were written, one place after the other.
final class WholeBlocks {
  private let mapping: ReadMapping
  /// A part of the file: most places hold nothing, and are passed over by their first bytes.
  private let window: UnsafeMutableRawBufferPointer
  private var start: UInt64 = 0
  private var count = 0
  private let opened: UnsafeMutableRawPointer

  init(_ mapping: ReadMapping) {
    self.mapping = mapping
    window = .allocate(
      byteCount: BlockHeader.blockLengthMax + FileCipher.overhead, alignment: BlockHeader.unit)
    opened = .allocate(byteCount: BlockHeader.blockLengthMax, alignment: BlockHeader.unit)
  }

  deinit {
    window.deallocate()
    opened.deallocate()
  }

  /// The block at an offset that is what was written there and ends in time; nil for anything else.
  func block(at offset: UInt64, before end: UInt64) throws(StorageError) -> WholeBlock? {
    let overhead = mapping.blockOverhead
    guard let header = try bytes(at: offset, BlockHeader.length + overhead, before: end) else {
      return nil
    }
    let length = mapping.storedLength(header)
    guard length >= BlockHeader.length, length <= BlockHeader.blockLengthMax,
      let stored = try bytes(at: offset, length + overhead, before: end),
      let block = try? mapping.verifiedBlock(
        BlockReference(anyAt: offset), stored, length, opened: opened)
    else { return nil }
    return WholeBlock(
      length: length + overhead, birth: BlockHeader.birth(block), kind: BlockHeader.kind(block))
  }

  /// Bytes of the file, good until others are asked for; nil where it, or what is looked at, ends.
  private func bytes(
    at offset: UInt64, _ length: Int, before end: UInt64
  ) throws(StorageError) -> UnsafeRawPointer? {
    guard offset + UInt64(length) <= end else { return nil }
    if offset < start || offset + UInt64(length) > start + UInt64(count) {
      start = offset
      do throws(SystemError) { count = try mapping.file.read(into: window, at: offset) } catch {
        count = 0
        throw .system(error)
      }
      if count < length { return nil }
    }
    return UnsafeRawPointer(window.baseAddress! + Int(offset - start))
  }
}
