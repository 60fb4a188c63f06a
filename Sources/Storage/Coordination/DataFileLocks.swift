// What processes lock of the data file itself. Their common lock file is found by a path, and one
// data file may have several: by hard links and bind mounts, or because a lock file was deleted in
// use. So whoever opens a data file locks a byte of it that stands for the lock file by which it
// coordinates, and looks whether another such byte is locked. Then all who have the file open share
// one lock file.
//
// Who has no lock file, because there is none or it may not be written to, can still lock: a reader
// locks the byte that stands for the version it reads. That is its pin, which writers look for.
//
// The bytes are far behind any data; open file descriptions own the locks, so the kernel frees
// those of the dead. All are shared locks, which whoever may only read can take, too.
internal import Platform

enum DataByte {
  /// Plus a version: somebody without a lock file reads it.
  static let readers: Range<Int64> = 1 << 61..<1 << 61 + 1 << 55
  /// All bytes that stand for a lock file.
  static let domains: Range<Int64> = 1 << 62..<1 << 62 + 1 << 61

  /// Locked by whoever has the file open.
  static let all = readers.lowerBound..<domains.upperBound

  /// The byte that stands for a lock file.
  ///
  /// It is made of what the file is: as long as a process has it open no other one has its inode.
  static func domain(_ lockFile: FileIdentity) -> Int64 {
    let hash = withUnsafeBytes(of: (lockFile.device, lockFile.inode)) {
      hash64($0.baseAddress!, count: $0.count, seed: 0)
    }
    return domains.lowerBound + Int64(hash % UInt64(domains.count))
  }
}

/// A share in a data file, taken for a lock file.
struct DomainShare: Sendable {
  private let file: any File
  private let byte: Int64

  /// Takes a share, and keeps others out who coordinate by another lock file.
  ///
  /// Of two that come at the same moment with two lock files both may be refused, never none.
  /// - Throws: `alreadyOpen` when somebody has the data file open by another lock file.
  static func take(
    of file: any File, for lockFile: any File
  ) throws(StorageError) -> DomainShare {
    let (byte, other): (Int64, Int64?) = try Store.converting { () throws(SystemError) in
      let byte = DataByte.domain(try lockFile.identityForAll())
      // First: of two, one at least sees the other. Nobody locks these bytes exclusively.
      _ = try file.lockByte(byte, exclusive: false, wait: false)
      let all = DataByte.domains
      var other = try file.lockedByte(in: all.lowerBound..<byte)
      if other == nil { other = try file.lockedByte(in: byte + 1..<all.upperBound) }
      return (byte, other)
    }
    let share = DomainShare(file: file, byte: byte)
    guard other != nil else { return share }
    share.leave()
    throw .alreadyOpen(
      path: file.path,
      reason: "by somebody who does not use its lock file '\(lockFile.path)': either by another "
        + "name of the file (a hard link, a bind mount), or the lock file was deleted or replaced "
        + "while the Realm was open. Open the file by one path everywhere; where a lock file was "
        + "deleted, close the Realm in all programs first")
  }

  /// Gives the share back.
  ///
  /// Not left to the end of the file: a map of it may be kept for a while.
  func leave() { try? file.unlockByte(byte) }
}

extension DomainShare {
  /// The versions that are read without a lock file, in order.
  ///
  /// - Complexity: a system call, and two for each version.
  func versionsOfReaders() throws(StorageError) -> [UInt64] {
    try Store.converting { () throws(SystemError) in
      var found: [UInt64] = []
      var ranges = [DataByte.readers]
      while let range = ranges.popLast() {
        // The kernel gives any lock of the range: more may be on both sides of it.
        guard !range.isEmpty, let byte = try file.lockedByte(in: range) else { continue }
        found.append(UInt64(byte - DataByte.readers.lowerBound))
        ranges += [range.lowerBound..<byte, byte + 1..<range.upperBound]
      }
      return found.sorted()
    }
  }
}

/// The pin of a reader without a lock file.
struct ReaderPin: ~Copyable {
  private let file: any File
  private(set) var version: Version?
  private let generation = forkGeneration

  init(_ file: any File) { self.file = file }

  deinit {
    // In a forked child the lock is the parent's.
    guard let version, forkGeneration == generation else { return }
    try? file.unlockByte(Self.byte(version))
  }

  /// Pins another version instead.
  mutating func move(to new: Version) throws(StorageError) {
    do throws(SystemError) {
      _ = try file.lockByte(Self.byte(new), exclusive: false, wait: false)
      if let version { try file.unlockByte(Self.byte(version)) }
    } catch {
      throw .incompatibleLockFile(
        path: file.path + ".lock",
        reason: "it is missing or may not be written to, and a reader cannot protect what it reads "
          + "by a lock on the Realm file either: \(error.reason). Let this user write the lock file, "
          + "or open a copy")
    }
    version = new
  }

  private static func byte(_ version: Version) -> Int64 {
    DataByte.readers.lowerBound + Int64(version.rawValue)
  }
}
