// The mapping of one file through which blocks are read, with the bit map of verified blocks.
// The only BlockVerifier of real files. Owned by the store and by every snapshot made on it.
internal import Platform

/// A read-only mapping of a file, larger than the file, so that pointers stay valid as it grows.
package final class ReadMapping: BlockVerifier, @unchecked Sendable {
  // @unchecked: all fields are immutable or atomic; mapped blocks are written before they are
  // published and never change while a snapshot can reach them.
  let file: any File
  let mapping: any FileMapping
  let salt: UInt64
  private let bits: AnonymousMemory
  private let verified: UnsafeMutablePointer<Atomic<UInt64>>
  /// Bytes below this are inside the file.
  ///
  /// Only grows, except when the writer cuts the file.
  private let knownLength: Atomic<UInt64>

  /// Bytes to map for a file of this length: room for it to grow eightfold without a new mapping.
  static func length(forFile length: UInt64) -> Int { max(1 << 30, Int(length) * 8) }

  init(file: any File, length: Int, fileLength: UInt64, salt: UInt64) throws(StorageError) {
    self.file = file
    self.salt = salt
    do {
      mapping = try file.map(length: length)
      bits = try AnonymousMemory(length: length / (BlockHeader.unit * 8) + 8)
    } catch {
      throw .addressSpaceExhausted(path: file.path)
    }
    verified = bits.base.bindMemory(to: Atomic<UInt64>.self, capacity: bits.length / 8)
    knownLength = Atomic(fileLength)
    super.init()
  }

  /// A reader on this mapping.
  ///
  /// The caller keeps the mapping alive.
  var reader: BlockReader {
    BlockReader(
      base: UnsafeRawPointer(mapping.base), limit: UInt64(mapping.length), verified: verified,
      provisional: nil, verifier: Unmanaged<BlockVerifier>.passUnretained(self))
  }

  /// The writer has changed the file's length.
  func noteFileLength(_ length: UInt64) { knownLength.store(length, ordering: .relaxed) }

  /// Marks a block that this process has just written itself.
  func markVerified(_ reference: BlockReference) {
    let unit = reference.rawValue >> 4
    // Relaxed: see BlockReader.pointer.
    verified[Int(unit >> 6)].bitwiseOr(1 << (unit & 63), ordering: .relaxed)
  }

  package override func verify(_ reference: BlockReference) throws(StorageError) {
    let block = try rangeChecked(reference)
    let length = BlockHeader.blockLength(block)
    let expected = BlockHeader.expectedChecksum(block, length: length, at: reference, salt: salt)
    guard BlockHeader.checksum(block) == expected else {
      throw damaged(reference, block, "its checksum does not match its bytes")
    }
    let kind = BlockHeader.kind(block)
    guard !kind.isNode || BlockHeader.count(block) * 8 <= length - BlockHeader.length else {
      throw damaged(reference, block, "it claims more references than it has room for")
    }
    markVerified(reference)
  }

  /// The block's bytes, if it lies inside the file with a sensible length.
  func rangeChecked(_ reference: BlockReference) throws(StorageError) -> UnsafeRawPointer {
    let offset = reference.rawValue
    guard offset % UInt64(BlockHeader.unit) == 0, offset >= UInt64(FileHeader.pageLength * 2),
      offset < UInt64(mapping.length), try isInside(offset + UInt64(BlockHeader.length))
    else {
      throw .damaged(
        path: file.path, block: offset, version: 0, reason: "the reference points outside the file")
    }
    let block = UnsafeRawPointer(mapping.base) + Int(offset)
    let length = BlockHeader.blockLength(block)
    guard length >= BlockHeader.length, try isInside(offset + UInt64(length)) else {
      throw damaged(reference, block, "its length of \(length) bytes cannot be")
    }
    return block
  }

  /// The block at an offset whose checksum holds and which ends in time; nil for anything else.
  func wholeBlock(at offset: UInt64, before end: UInt64) -> UnsafeRawPointer? {
    guard offset + UInt64(BlockHeader.length) <= end, end <= UInt64(mapping.length) else {
      return nil
    }
    let block = UnsafeRawPointer(mapping.base) + Int(offset)
    let length = BlockHeader.blockLength(block)
    guard length >= BlockHeader.length, offset + UInt64(length) <= end else { return nil }
    let expected = BlockHeader.expectedChecksum(
      block, length: length, at: BlockReference(rawValue: offset), salt: salt)
    return BlockHeader.checksum(block) == expected ? block : nil
  }

  private func isInside(_ end: UInt64) throws(StorageError) -> Bool {
    if end <= knownLength.load(ordering: .relaxed) { return true }
    // Another process may have made the file longer.
    do {
      let length = try file.length()
      if length > knownLength.load(ordering: .relaxed) { noteFileLength(length) }
      return end <= length && end <= UInt64(mapping.length)
    } catch {
      throw .system(error)
    }
  }

  private func damaged(
    _ reference: BlockReference, _ block: UnsafeRawPointer, _ reason: String
  ) -> StorageError {
    .damaged(
      path: file.path, block: reference.rawValue, version: BlockHeader.birth(block).rawValue,
      reason: reason)
  }
}
