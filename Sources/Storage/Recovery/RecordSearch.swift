// Which commit record counts. After a crash up to two records newer than the durable one may be
// torn; they are passed over. Everything else that does not fit is damage, never a silent older
// version.
internal import Platform

/// A record and the home it was found in.
struct FoundRecord: Sendable {
  let home: Int
  let record: CommitRecord
}

/// Reads and judges the commit records of one file.
struct RecordSearch {
  let file: any File
  let header: FileHeader
  let cipher: FileCipher?
  /// Whether the machine has run on since the records were written: then all is there that was
  /// written before them.
  var isSameBoot = false
  /// The newest version that only the commit log proves and that counts in this boot; nil for any.
  var provenUpTo: Version?
  /// Where nobody knows which version is durable, and nothing can be written again; else nil.
  var proof: DiskProof?

  /// All sound records, newest first.
  ///
  /// What their extents hold is not looked at.
  func records() throws(StorageError) -> [FoundRecord] { records(in: try homes()) }

  /// The bytes from the first home to the last one.
  ///
  /// No two records are equal: where two calls give the same nothing was written in between, and
  /// they are what the file held at one moment.
  func homes() throws(StorageError) -> [UInt8] {
    // Homes are neighbours: one call of the system for all.
    let start = header.homes.min()!
    let length = Int(header.homes.max()! - start) + CommitRecord.lengthMax
    return try Store.converting { () throws(SystemError) in
      try file.bytes(at: start, length: length)
    }
  }

  private func records(in bytes: [UInt8]) -> [FoundRecord] {
    let start = header.homes.min()!
    var found: [FoundRecord] = []
    bytes.withUnsafeBytes { bytes in
      for (home, offset) in header.homes.enumerated() {
        // A file that ends early has fewer.
        let place = min(Int(offset - start), bytes.count)
        let record = CommitRecord.decode(
          UnsafeRawBufferPointer(
            rebasing: bytes[place..<min(place + CommitRecord.lengthMax, bytes.count)]),
          salt: header.salt, home: offset, cipher)
        if let record { found.append(FoundRecord(home: home, record: record)) }
      }
    }
    return found.sorted { $0.record.version > $1.record.version }
  }

  /// Whether everything that the record vouches for is in the file.
  func isComplete(_ record: CommitRecord) throws(StorageError) -> Bool {
    if PlantedBug.incompleteRecord.isActive { return true }
    if record.isProvenByLog {
      return isSameBoot && provenUpTo.map { record.version <= $0 } ?? true
        || record.version == Version(header.durableMark)
    }
    let length: UInt64
    do throws(SystemError) { length = try file.length() } catch { throw .system(error) }
    guard record.fileLength <= length, let vouched = try vouched(record) else { return false }
    return CommitRecord.contentHash(vouched.map(\.hash)) == record.contentHash
  }

  /// The record's extents with the hashes of what they hold now; nil when one is not in the file.
  func vouched(_ record: CommitRecord) throws(StorageError) -> [VouchedExtent]? {
    var vouched: [VouchedExtent] = []
    let fileLength: UInt64
    do throws(SystemError) { fileLength = try file.length() } catch { throw .system(error) }
    for extent in record.extents {
      guard extent.length > 0, extent.offset + extent.length <= fileLength else { return nil }
      let bytes = try Store.converting { () throws(SystemError) in
        try file.bytes(at: extent.offset, length: Int(extent.length))
      }
      guard bytes.count == Int(extent.length) else { return nil }
      let hash = bytes.withUnsafeBytes { CommitRecord.hash($0, at: extent.offset) }
      vouched.append(VouchedExtent(extent: extent, hash: hash))
    }
    return vouched
  }

  /// The version to show: the newest that is durable or can be made so.
  ///
  /// - Parameters:
  ///   - knownDurable: the durable head that this boot's processes agreed on; 0 when unknown.
  ///   - isShared: other processes have the file open; then only `knownDurable` may be shown.
  /// - Returns: the record, whether it still needs a sync before it is shown, and notes on records
  ///   that were passed over.
  func newestDurable(
    knownDurable: Version, isShared: Bool
  ) throws(StorageError) -> (found: FoundRecord, needsSync: Bool, passedOver: [String]) {
    try newestDurable(in: try homes(), knownDurable: knownDurable, isShared: isShared)
  }

  /// The same among the records in the homes' bytes.
  func newestDurable(
    in homes: [UInt8], knownDurable: Version, isShared: Bool
  ) throws(StorageError) -> (found: FoundRecord, needsSync: Bool, passedOver: [String]) {
    let found = records(in: homes)
    var passedOver: [String] = []
    var mark = max(knownDurable, Version(header.durableMark))
    for candidate in found { mark = max(mark, candidate.record.durableVersion) }
    if PlantedBug.wrongHome.isActive, let oldest = found.last { return (oldest, true, []) }
    for candidate in found {
      let version = candidate.record.version
      if version == knownDurable { return (candidate, false, passedOver) }
      if isShared, knownDurable.rawValue != 0, version > knownDurable { continue }
      guard version >= mark, passedOver.count < 3 else { break }
      if try isComplete(candidate.record), proof?.isOnDisk(candidate) != false {
        return (candidate, true, passedOver)
      }
      passedOver.append("the record of version \(version) is incomplete; it was never durable")
    }
    let inFile = found.reduce(Version(header.durableMark)) {
      max($0, $1.record.version, $1.record.durableVersion)
    }
    let reason =
      found.isEmpty
      ? "no sound commit record" : "the commit record of durable version \(mark) is lost"
    throw .damaged(
      path: file.path, block: header.homes[0], version: mark.rawValue,
      reason: mark > inFile
        ? reason + ", of which only '\(file.path).lock' knows. If a backup was put in the file's "
          + "place, remove that lock file while no program has the Realm open"
        : reason)
  }
}
