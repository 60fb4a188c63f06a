// What the tests of the lock file share: openings of one lock file inside one process, which the
// kernel tells apart as it does processes, and a file system whose files can die as those of a
// killed process.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

/// A lock file in a folder of its own.
final class LockFixture: Sendable {
  let folder = TemporaryFolder()
  let clock = ManualClock()

  var dataPath: String { folder.file("data") }
  var lockPath: String { dataPath + ".lock" }

  func open(
    file: (UInt64, UInt64) = (1, 2), boot: UInt64 = 3,
    fileSystem: any FileSystem = LinuxFileSystem()
  ) throws(StorageError) -> LockFile {
    try LockFile.open(
      dataPath: dataPath, fileIdentifier: file, bootIdentifier: boot, fileSystem: fileSystem,
      clock: clock)
  }

  /// Opens as a process that can be killed.
  func openMortal() throws -> (LockFile, MortalFileSystem) {
    let fileSystem = MortalFileSystem()
    return (try open(fileSystem: fileSystem), fileSystem)
  }

  /// A word of the lock file, by its number.
  func word(_ number: Int) throws -> UInt64 {
    let file = try LinuxFileSystem().open(lockPath, [])
    var value: UInt64 = 0
    _ = try withUnsafeMutableBytes(of: &value) { buffer throws(SystemError) in
      try file.read(into: buffer, at: UInt64(number * 8))
    }
    return value
  }

  func setWord(_ number: Int, _ value: UInt64) throws {
    let file = try LinuxFileSystem().open(lockPath, .writable)
    try withUnsafeBytes(of: value) { buffer throws(SystemError) in
      try file.write(buffer, at: UInt64(number * 8))
    }
  }

  func isLocked(byte: Int64) throws -> Bool {
    try LinuxFileSystem().open(lockPath, .writable).isByteLocked(byte)
  }

  func lockFileLength() throws -> UInt64 { try LinuxFileSystem().open(lockPath, []).length() }

  /// Waits until somebody waits for the write lock with a ticket.
  func waitForTicket(_ ticket: UInt64) throws {
    // Of LockLayout.swift: the slots that wait, and a slot's ticket.
    let slots = 0..<64
    let isThere = try eventually {
      try slots.contains {
        try word(512 + $0 * 32 + 29) == ticket && word(32) & 1 << UInt64($0) != 0
      }
    }
    #expect(isThere, "nobody waits with ticket \(ticket)")
  }
}

/// Files of a process, which lose all their locks and answer no more once it is killed.
final class MortalFileSystem: FileSystem {
  struct State {
    var isDead = false
    var lengthMax = UInt64.max
    /// Changes of files until it dies by itself.
    var changesLeft = Int.max
    var held: [(file: any File, byte: Int64)] = []
  }

  private let base: any FileSystem
  let state = Monitor(State())

  init(_ base: any FileSystem = LinuxFileSystem()) { self.base = base }

  var bootIdentifier: UInt64 { base.bootIdentifier }
  var isDead: Bool { state.withLock { $0.isDead } }

  /// What the kernel does to the files of a process that is killed.
  func kill() {
    state.withLock { state in
      state.isDead = true
      for lock in state.held { try? lock.file.unlockByte(lock.byte) }
      state.held = []
    }
  }

  /// Lets it die before its n-th write or change of a length from now on; 0 is the next.
  func die(beforeChange number: Int) { state.withLock { $0.changesLeft = number } }

  /// Called before each change of a file.
  func noteChange() {
    let isLast = state.withLock { state in
      state.changesLeft -= 1
      return state.changesLeft < 0
    }
    if isLast { kill() }
  }

  /// Makes every file as large as it may get.
  func limitLength(_ length: UInt64) { state.withLock { $0.lengthMax = length } }

  func check(_ end: UInt64 = 0) throws(SystemError) {
    try state.withLock { (state) throws(SystemError) in
      if state.isDead { throw SystemError(call: "any", path: "dead", code: EBADF) }
      if end > state.lengthMax { throw SystemError(call: "pwrite", path: "full", code: ENOSPC) }
    }
  }

  func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> any File {
    try check()
    return MortalFile(base: try base.open(path, mode), owner: self)
  }
  func openInMemory(name: String) throws(SystemError) -> any File {
    try base.openInMemory(name: name)
  }
  func followingLinks(_ path: String) throws(SystemError) -> String {
    try base.followingLinks(path)
  }
  func exists(_ path: String) -> Bool { base.exists(path) }
  func isDirectory(_ path: String) -> Bool { base.isDirectory(path) }
  func remove(_ path: String) throws(SystemError) { try base.remove(path) }
  func rename(_ path: String, to newPath: String) throws(SystemError) {
    try base.rename(path, to: newPath)
  }
  func rename(_ path: String, toNew newPath: String) throws(SystemError) {
    try base.rename(path, toNew: newPath)
  }
  func synchronizeFolder(_ path: String) throws(SystemError) { try base.synchronizeFolder(path) }
  func isOnNetwork(_ path: String) -> Bool { false }
}

final class MortalFile: File {
  private let base: any File
  private let owner: MortalFileSystem

  init(base: any File, owner: MortalFileSystem) {
    self.base = base
    self.owner = owner
  }

  var path: String { base.path }
  func identity() throws(SystemError) -> FileIdentity { try base.identity() }
  func identityForAll() throws(SystemError) -> FileIdentity { try base.identityForAll() }
  func hasName() throws(SystemError) -> Bool { try base.hasName() }
  func length() throws(SystemError) -> UInt64 { try base.length() }
  func setLength(_ length: UInt64) throws(SystemError) {
    owner.noteChange()
    try owner.check(length)
    try base.setLength(length)
  }
  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(SystemError) -> Int { try base.read(into: buffer, at: offset) }
  func write(_ buffer: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
    owner.noteChange()
    try owner.check(offset + UInt64(buffer.count))
    try base.write(buffer, at: offset)
  }
  func bytesOnDisk(at offset: UInt64, length: Int) throws(SystemError) -> [UInt8]? {
    try base.bytesOnDisk(at: offset, length: length)
  }
  func synchronize() throws(SystemError) { try base.synchronize() }
  func map(length: Int) throws(SystemError) -> any FileMapping { try base.map(length: length) }
  func mapShared(length: Int) throws(SystemError) -> any FileMapping {
    try base.mapShared(length: length)
  }

  func lockByte(_ byte: Int64, exclusive: Bool, wait: Bool) throws(SystemError) -> Bool {
    try owner.check()
    let isTaken = try base.lockByte(byte, exclusive: exclusive, wait: wait)
    if isTaken {
      let isLate = owner.state.withLock { state in
        state.held.append((base, byte))
        return state.isDead
      }
      // Killed while it waited.
      if isLate {
        try base.unlockByte(byte)
        try owner.check()
      }
    }
    return isTaken
  }

  func unlockByte(_ byte: Int64) throws(SystemError) {
    // The dead have no locks; that they run on is the simulation's doing.
    if owner.state.withLock({ $0.isDead }) { return }
    try base.unlockByte(byte)
    owner.state.withLock { $0.held.removeAll { $0.byte == byte } }
  }

  func isByteLocked(_ byte: Int64) throws(SystemError) -> Bool { try base.isByteLocked(byte) }
  func lockedByte(in range: Range<Int64>) throws(SystemError) -> Int64? {
    try base.lockedByte(in: range)
  }
}
