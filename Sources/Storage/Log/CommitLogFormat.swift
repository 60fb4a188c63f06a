// The bytes of a commit log, `NAME.log`: a page that says whose log it is, and two segments of
// entries. An entry repeats what one group of commits has written to the database, so that one
// short write in a row makes the group durable, wherever its blocks lie. Little-endian:
//
//   page  0 u64 mark        entry  0 u64 mark                     40 u64 length of the database
//         8 u64 identifier         8 u64 hash of bytes 16..<end   48 u64 first needed sequence
//        16 u64 x 2 database      16 u64 length                   56 u64 extents
//        32 u64 segment length    24 u64 sequence                 64 u64 start, u64 length each;
//        40 u64 hash of 0..<40    32 u64 version                     then their bytes
//
// An entry begins at a multiple of 4,096. Its hash is seeded with the log's identifier and its
// place. Sequences go on from segment to segment, so what is left from an earlier round ends the
// entries that count, as anything unsound does.
internal import Platform

/// The first page of a log.
struct CommitLogHeader: Equatable, Sendable {
  static let mark: UInt64 = 0x3130_676f_6c2d_6d72
  static let encodedLength = 48
  static let segmentCount = 2

  /// Random; the database names it as long as the log counts.
  var identifier: UInt64
  var databaseHigh: UInt64
  var databaseLow: UInt64
  /// A multiple of 4,096.
  var segmentLength: Int

  /// Where a segment begins.
  func start(ofSegment segment: Int) -> UInt64 {
    UInt64(FileHeader.pageLength + segment * segmentLength)
  }

  var fileLength: UInt64 { start(ofSegment: Self.segmentCount) }

  /// One page.
  func encoded() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: FileHeader.pageLength)
    bytes.withUnsafeMutableBytes { buffer in
      buffer.store(Self.mark, at: 0)
      buffer.store(identifier, at: 8)
      buffer.store(databaseHigh, at: 16)
      buffer.store(databaseLow, at: 24)
      buffer.store(UInt64(segmentLength), at: 32)
      buffer.store(hash64(buffer.baseAddress!, count: 40, seed: 0), at: 40)
    }
    return bytes
  }

  /// Nil when the bytes are no sound header.
  static func decode(_ buffer: UnsafeRawBufferPointer) -> CommitLogHeader? {
    guard buffer.count >= encodedLength, buffer.value(UInt64.self, at: 0) == mark,
      buffer.value(UInt64.self, at: 40) == hash64(buffer.baseAddress!, count: 40, seed: 0)
    else { return nil }
    let length = buffer.value(UInt64.self, at: 32)
    guard length > 0, length <= 1 << 32, length % UInt64(FileHeader.pageLength) == 0 else {
      return nil
    }
    return CommitLogHeader(
      identifier: buffer.value(UInt64.self, at: 8),
      databaseHigh: buffer.value(UInt64.self, at: 16),
      databaseLow: buffer.value(UInt64.self, at: 24), segmentLength: Int(length))
  }
}

/// What one entry of a log says, without the bytes that it repeats.
struct CommitLogEntry: Equatable, Sendable {
  static let mark: UInt64 = 0x7972_746e_652d_6c72
  static let fixedLength = 64
  private static let extentLength = 16
  /// Far more than a group can have, as its bytes fit into a segment.
  private static let extentsMax = 1 << 24

  var sequence: UInt64
  /// Entries before this sequence do not count: what they repeat is durable in the database.
  ///
  /// The entry's own where it only says so.
  var firstNeeded: UInt64
  var version: Version
  /// The length of the database that the version needs.
  var fileLength: UInt64
  var extents: [Extent]

  /// Bytes of a whole entry.
  var length: Int { bytesStart + extents.reduce(0) { $0 + Int($1.length) } }

  /// What an entry with these extents takes in a segment.
  static func lengthInSegment(_ extents: [Extent]) -> Int {
    CommitLogEntry(
      sequence: 0, firstNeeded: 0, version: Version(0), fileLength: 0, extents: extents
    ).lengthInSegment
  }

  /// Where the repeated bytes begin in it.
  var bytesStart: Int { Self.fixedLength + extents.count * Self.extentLength }

  /// What it takes in a segment.
  var lengthInSegment: Int {
    (length + FileHeader.pageLength - 1) / FileHeader.pageLength * FileHeader.pageLength
  }

  /// Fills in everything but the repeated bytes, which are there already; then the hash over all.
  ///
  /// - Parameter buffer: of `length` bytes.
  func encode(into buffer: UnsafeMutableRawBufferPointer, seed: UInt64) {
    buffer.store(Self.mark, at: 0)
    buffer.store(UInt64(length), at: 16)
    buffer.store(sequence, at: 24)
    buffer.store(version.rawValue, at: 32)
    buffer.store(fileLength, at: 40)
    buffer.store(firstNeeded, at: 48)
    buffer.store(UInt64(extents.count), at: 56)
    for (index, extent) in extents.enumerated() {
      let place = Self.fixedLength + index * Self.extentLength
      buffer.store(extent.offset, at: place)
      buffer.store(extent.length, at: place + 8)
    }
    buffer.store(hash64(buffer.baseAddress! + 16, count: length - 16, seed: seed), at: 8)
  }

  /// The length that the first bytes of an entry state; nil when they are none, or it cannot be.
  static func length(
    statedBy buffer: UnsafeRawBufferPointer, upTo longest: Int
  ) -> Int? {
    guard buffer.count >= fixedLength, buffer.value(UInt64.self, at: 0) == mark else { return nil }
    let length = buffer.value(UInt64.self, at: 16)
    return length >= UInt64(fixedLength) && length <= UInt64(longest) ? Int(length) : nil
  }

  /// Nil when the bytes, a whole entry by its length, are not sound.
  static func decode(_ buffer: UnsafeRawBufferPointer, seed: UInt64) -> CommitLogEntry? {
    guard let length = length(statedBy: buffer, upTo: buffer.count),
      buffer.value(UInt64.self, at: 8)
        == hash64(buffer.baseAddress! + 16, count: length - 16, seed: seed)
    else { return nil }
    let sequence = buffer.value(UInt64.self, at: 24)
    let firstNeeded = buffer.value(UInt64.self, at: 48)
    let count = Int(clamping: buffer.value(UInt64.self, at: 56))
    guard firstNeeded <= sequence, count <= extentsMax, fixedLength + count * extentLength <= length
    else { return nil }
    let version = Version(buffer.value(UInt64.self, at: 32))
    let fileLength = buffer.value(UInt64.self, at: 40)
    guard version.rawValue > 0, version < CommitRecord.versionMax, fileLength <= Run.endMax else {
      return nil
    }
    var rest = UInt64(length - fixedLength - count * extentLength)
    var extents: [Extent] = []
    for index in 0..<count {
      let place = fixedLength + index * extentLength
      let extent = Extent(
        offset: buffer.value(UInt64.self, at: place),
        length: buffer.value(UInt64.self, at: place + 8))
      guard extent.length <= rest, extent.offset <= Run.endMax - extent.length else { return nil }
      rest -= extent.length
      extents.append(extent)
    }
    guard rest == 0 else { return nil }
    return CommitLogEntry(
      sequence: sequence, firstNeeded: firstNeeded, version: version, fileLength: fileLength,
      extents: extents)
  }
}
