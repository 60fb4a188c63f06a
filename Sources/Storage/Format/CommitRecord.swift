// A commit record makes a version real: it names the root and proves by a hash that everything the
// group of commits wrote is there. It sits at the start of a home. Layout, little-endian:
//
//   0  u64 mark                 40  u64 newest durable version when written   80  u64 content hash
//   8  u64 checksum of 16..<end 48  u64 file length                           88  u32 extents
//  16  u32 length               56  u64 space checkpoint                      92  u32 delta bytes
//  20  u32 flags (1: see there) 64  u64 newest space log block                96  varint extents
//  24  u64 version              72  u64 commits ever made                     ..  space deltas
//  32  u64 root
//
// The checksum is seeded with the salt and the home's offset, so a record is valid in one place
// only.
internal import Platform

/// Bytes of the file: a start and a length.
package struct Extent: Hashable, Sendable {
  package let offset: UInt64
  package let length: UInt64
}

/// The decoded form of a commit record.
package struct CommitRecord: Equatable, Sendable {
  /// Bytes reserved for it at the start of a home; the rest of the home takes short-lived blocks.
  package static let lengthMax = 1024
  static let fixedLength = 96
  static let mark: UInt64 = 0x6472_6f63_6572_2e31

  package var version: Version
  package var root: BlockReference
  package var durableVersion: Version
  package var fileLength: UInt64
  package var spaceCheckpoint: BlockReference
  package var spaceLog: BlockReference
  package var commits: UInt64
  /// Hash over the hashes of all extents, in order; 0 when there are none.
  package var contentHash: UInt64
  /// What the group wrote besides the record.
  ///
  /// Empty when it was synced before the record was written.
  package var extents: [Extent]
  /// Encoded space deltas since the newest log block.
  package var deltas: [UInt8]
  /// There were too many extents to name: whether they are in the file is known from the commit log
  /// alone, or from the header that ended its use.
  var isProvenByLog = false

  /// The flag of such a record.
  private static let provenByLog: UInt32 = 1

  /// The bytes, or nil when the record would be too long for its home.
  func encoded(salt: UInt64, home: UInt64) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.fixedLength + extents.count * 8 + deltas.count)
    bytes.append(contentsOf: repeatElement(0, count: Self.fixedLength))
    var previous: UInt64 = 0
    for extent in extents {
      let step = Int64(bitPattern: extent.offset / 16) - Int64(bitPattern: previous / 16)
      bytes.appendVariableLength(UInt64(bitPattern: step << 1 ^ step >> 63))
      bytes.appendVariableLength(extent.length / 16)
      previous = extent.offset
    }
    bytes += deltas
    let length = bytes.count
    guard length <= Self.lengthMax else { return nil }
    bytes.withUnsafeMutableBytes { buffer in
      buffer.store(Self.mark, at: 0)
      buffer.store(UInt32(length), at: 16)
      buffer.store(isProvenByLog ? Self.provenByLog : 0, at: 20)
      buffer.store(version.rawValue, at: 24)
      buffer.store(root.stored, at: 32)
      buffer.store(durableVersion.rawValue, at: 40)
      buffer.store(fileLength, at: 48)
      buffer.store(spaceCheckpoint.stored, at: 56)
      buffer.store(spaceLog.stored, at: 64)
      buffer.store(commits, at: 72)
      buffer.store(contentHash, at: 80)
      buffer.store(UInt32(extents.count), at: 88)
      buffer.store(UInt32(deltas.count), at: 92)
      buffer.store(
        hash64(buffer.baseAddress! + 16, count: length - 16, seed: salt ^ home), at: 8)
    }
    return bytes
  }

  /// The record at the start of a home, or nil when there is no sound one.
  static func decode(_ buffer: UnsafeRawBufferPointer, salt: UInt64, home: UInt64) -> CommitRecord?
  {
    guard buffer.count >= fixedLength, buffer.value(UInt64.self, at: 0) == mark else { return nil }
    let length = Int(buffer.value(UInt32.self, at: 16))
    guard length >= fixedLength, length <= min(lengthMax, buffer.count),
      buffer.value(UInt64.self, at: 8)
        == hash64(buffer.baseAddress! + 16, count: length - 16, seed: salt ^ home)
    else { return nil }
    let extentCount = Int(buffer.value(UInt32.self, at: 88))
    let deltaCount = Int(buffer.value(UInt32.self, at: 92))
    guard extentCount <= lengthMax, deltaCount <= length - fixedLength else { return nil }
    var extents: [Extent] = []
    var position = fixedLength
    var previous: UInt64 = 0
    for _ in 0..<extentCount {
      guard let coded = buffer.variableLength(at: &position, end: length),
        let units = buffer.variableLength(at: &position, end: length)
      else { return nil }
      let step = UInt64(bitPattern: Int64(bitPattern: coded >> 1) ^ -Int64(bitPattern: coded & 1))
      let offset = (previous / 16 &+ step) &* 16
      guard offset < Run.endMax, units <= Run.endMax / 16 else { return nil }
      extents.append(Extent(offset: offset, length: units * 16))
      previous = offset
    }
    guard position + deltaCount == length else { return nil }
    var record = CommitRecord(
      version: Version(buffer.value(UInt64.self, at: 24)),
      root: BlockReference(stored: buffer.value(UInt64.self, at: 32)),
      durableVersion: Version(buffer.value(UInt64.self, at: 40)),
      fileLength: buffer.value(UInt64.self, at: 48),
      spaceCheckpoint: BlockReference(stored: buffer.value(UInt64.self, at: 56)),
      spaceLog: BlockReference(stored: buffer.value(UInt64.self, at: 64)),
      commits: buffer.value(UInt64.self, at: 72),
      contentHash: buffer.value(UInt64.self, at: 80), extents: extents,
      deltas: [UInt8](buffer[position..<length]))
    record.isProvenByLog = buffer.value(UInt32.self, at: 20) & provenByLog != 0
    return record.isSensible ? record : nil
  }

  /// Whether all numbers are such as a record may have; below these bounds no sum overflows.
  private var isSensible: Bool {
    version.rawValue > 0 && version < Self.versionMax && durableVersion < version
      && fileLength <= Run.endMax && fileLength % UInt64(FileHeader.pageLength) == 0
      && commits < 1 << 48
  }

  /// Room for the numbers that openings skip, in the 48 bits that blocks have for theirs.
  static let versionMax = Version(1 << 47)

  /// Hash of the bytes of one extent.
  package static func hash(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> UInt64 {
    hash64(bytes.baseAddress!, count: bytes.count, seed: offset)
  }

  /// The content hash of extents with these hashes, in this order.
  package static func contentHash(_ hashes: some Sequence<UInt64>) -> UInt64 {
    hashes.reduce(0) { hash, next in
      let mixed = (hash ^ next) &* 0x9e37_79b9_7f4a_7c15
      return mixed ^ mixed >> 29
    }
  }
}

extension [UInt8] {
  /// Seven bits a byte, lowest first, the top bit says that more follow.
  mutating func appendVariableLength(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }
}

extension UnsafeRawBufferPointer {
  /// The number at `position`, which moves behind it; nil when it does not end before `end`.
  func variableLength(at position: inout Int, end: Int) -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while position < end, shift < 64 {
      let byte = self[position]
      position += 1
      value |= UInt64(byte & 0x7f) << shift
      if byte & 0x80 == 0 { return value }
      shift += 7
    }
    return nil
  }
}
