// A file system that records what the engine does with real files: several processes append to one
// recording, of which a simulated disk is made that goes through the same. Stores through maps are
// no calls: those for overwriting are not given, those of the lock file are taken at its syncs.
//
// A recording is a row of entries, each appended by one call after what it tells of has happened:
// so in its order whoever depends on something comes behind it. Names are changed by one process at
// a time. An entry, little-endian:
//
//   u32 length of what follows, u8 kind, u32 process, u64 file (inode), u64 number, bytes
//
// The number is a place, a length, of a sync how long the recording was when it began: that much it
// covers.
//
// A process can be killed behind any of its entries: then each of its calls that took effect has
// one.
internal import Glibc
package import Platform

/// Kinds of entries.
enum RecordedCall: UInt8 {
  case create, rename, remove, write, durableWrite, setLength, synchronize, synchronizeFolder
  /// What a process wants to remember of itself.
  case mark
}

/// A file to which several processes append entries.
package final class Recording: Sendable {
  /// What a process that is to be killed has to know.
  private struct Doom {
    var entriesLeft: Int
    /// Calls that have begun and have no entry yet.
    var calls = 0
  }

  private let descriptor: Int32
  private let process: UInt32
  /// Nil entries: it is not to be killed.
  private let doom: Monitor<Doom>?
  private let namer = Monitor(())

  /// - Parameter entries: kills the process when it has added so many.
  /// - Throws: when it cannot be made.
  package init(_ path: String, killedAfter entries: Int? = nil) throws(SystemError) {
    doom = entries.map { Monitor(Doom(entriesLeft: $0)) }
    descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    if descriptor < 0 { throw SystemError(call: "open", path: path, code: errno) }
    process = UInt32(getpid())
  }

  deinit { close(descriptor) }

  /// Bytes so far.
  var length: UInt64 {
    var status = stat()
    precondition(fstat(descriptor, &status) == 0, "the recording: errno \(errno)")
    return UInt64(status.st_size)
  }

  /// Makes a call of which `add` tells: it is not torn from its entry by the end of the process.
  func call<Value>(_ body: () throws(SystemError) -> Value) throws(SystemError) -> Value {
    guard let doom else { return try body() }
    // Who comes after the last entry waits for the end of the process.
    doom.wait(until: { $0.entriesLeft > 0 }, then: { $0.calls += 1 })
    defer {
      let isLast = doom.withLock { state in
        state.calls -= 1
        return state.entriesLeft <= 0
      }
      doom.notifyAll()
      if isLast { die(doom) }
    }
    return try body()
  }

  /// Ends the process when all calls that have begun have their entries.
  private func die(_ doom: Monitor<Doom>) {
    doom.wait(until: { $0.calls == 0 }, then: { _ in })
    kill(getpid(), SIGKILL)
  }

  /// Makes a call that changes names, or one that depends on them: no other process makes one until
  /// its entry is added, so that the entries have the order of the calls.
  func naming<Value>(_ body: () throws(SystemError) -> Value) throws(SystemError) -> Value {
    try call { () throws(SystemError) in
      // The lock of the descriptor is one for all threads.
      try namer.withLock { (_) throws(SystemError) in
        while flock(descriptor, LOCK_EX) != 0 {
          precondition(errno == EINTR, "the recording: errno \(errno)")
        }
        defer { flock(descriptor, LOCK_UN) }
        return try body()
      }
    }
  }

  private func count() {
    doom?.withLock { $0.entriesLeft -= 1 }
  }

  func add(
    _ call: RecordedCall, file: UInt64 = 0, number: UInt64 = 0, bytes: UnsafeRawBufferPointer
  ) {
    defer { count() }
    var entry: [UInt8] = []
    entry.reserveCapacity(25 + bytes.count)
    func append(_ number: some FixedWidthInteger) {
      withUnsafeBytes(of: number.littleEndian) { entry += $0 }
    }
    append(UInt32(21 + bytes.count))
    append(call.rawValue)
    append(process)
    append(file)
    append(number)
    entry += bytes
    let count = entry.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress!, $0.count) }
    precondition(count == entry.count, "the recording takes no more: errno \(errno)")
  }

  func add(_ call: RecordedCall, file: UInt64 = 0, number: UInt64 = 0, text: String = "") {
    var text = text
    text.withUTF8 { add(call, file: file, number: number, bytes: UnsafeRawBufferPointer($0)) }
  }

  /// Notes something at this place of the history.
  package func mark(_ name: String, _ number: UInt64, _ value: UInt64 = 0) {
    do throws(SystemError) {
      try call { () throws(SystemError) in
        add(.mark, file: value, number: number, text: name)
      }
    } catch {
      preconditionFailure("a mark is no call of the system")
    }
  }
}

/// The real file system, recorded.
package final class RecordingFileSystem: FileSystem {
  private let base = LinuxFileSystem()
  private let recording: Recording

  package init(_ recording: Recording) { self.recording = recording }

  package func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> any File {
    try recording.naming { () throws(SystemError) in
      let isNew = !mode.isDisjoint(with: [.create, .exclusive]) && !base.exists(path)
      let file = try base.open(path, mode)
      let number = try file.identity().inode
      if isNew { recording.add(.create, file: number, text: path) }
      return RecordedFile(file, number, recording)
    }
  }

  package func openInMemory(name: String) throws(SystemError) -> any File {
    try base.openInMemory(name: name)
  }

  package func identity(of path: String) throws(SystemError) -> FileIdentity {
    try base.identity(of: path)
  }

  package func followingLinks(_ path: String) throws(SystemError) -> String {
    try base.followingLinks(path)
  }

  package func exists(_ path: String) -> Bool { base.exists(path) }
  package func isDirectory(_ path: String) -> Bool { base.isDirectory(path) }
  package func isOnNetwork(_ path: String) -> Bool { base.isOnNetwork(path) }

  package func watch(_ path: String, _ body: @escaping @Sendable () -> Void) -> FileWatch? {
    base.watch(path, body)
  }

  package func remove(_ path: String) throws(SystemError) {
    try recording.naming { () throws(SystemError) in
      try base.remove(path)
      recording.add(.remove, text: path)
    }
  }

  package func rename(_ path: String, to newPath: String) throws(SystemError) {
    try recording.naming { () throws(SystemError) in
      try base.rename(path, to: newPath)
      recording.add(.rename, text: path + "\n" + newPath)
    }
  }

  package func rename(_ path: String, toNew newPath: String) throws(SystemError) {
    try recording.naming { () throws(SystemError) in
      try base.rename(path, toNew: newPath)
      recording.add(.rename, text: path + "\n" + newPath)
    }
  }

  package func synchronizeFolder(_ path: String) throws(SystemError) {
    try recording.call { () throws(SystemError) in
      try base.synchronizeFolder(path)
      recording.add(.synchronizeFolder, text: path)
    }
  }
}

/// One file of it.
private final class RecordedFile: File {
  private let base: any File
  private let number: UInt64
  private let recording: Recording
  private let isMappedShared = Atomic(false)

  init(_ base: any File, _ number: UInt64, _ recording: Recording) {
    self.base = base
    self.number = number
    self.recording = recording
  }

  var path: String { base.path }
  var lastingIdentity: FileIdentity? { base.lastingIdentity }
  func identity() throws(SystemError) -> FileIdentity { try base.identity() }
  func permissions() throws(SystemError) -> UInt32 { try base.permissions() }
  func hasName() throws(SystemError) -> Bool { try base.hasName() }
  func nameCount() throws(SystemError) -> Int { try base.nameCount() }
  func length() throws(SystemError) -> UInt64 { try base.length() }

  func setPermissions(_ permissions: UInt32) throws(SystemError) {
    try base.setPermissions(permissions)
  }

  func setLength(_ length: UInt64) throws(SystemError) {
    try recording.call { () throws(SystemError) in
      try base.setLength(length)
      recording.add(.setLength, file: number, number: length)
    }
  }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(SystemError) -> Int {
    try base.read(into: buffer, at: offset)
  }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
    try recording.call { () throws(SystemError) in
      try base.write(buffer, at: offset)
      recording.add(.write, file: number, number: offset, bytes: buffer)
    }
  }

  func writeDurably(_ buffer: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
    try recording.call { () throws(SystemError) in
      try base.writeDurably(buffer, at: offset)
      recording.add(.durableWrite, file: number, number: offset, bytes: buffer)
    }
  }

  func bytesOnDisk(at offset: UInt64, length: Int) throws(SystemError) -> [UInt8]? {
    try base.bytesOnDisk(at: offset, length: length)
  }

  func startWriting(_ range: Range<UInt64>) { base.startWriting(range) }
  func bypassCache(_ isOn: Bool) { base.bypassCache(isOn) }

  func synchronize() throws(SystemError) {
    try recording.call { () throws(SystemError) in
      if isMappedShared.load(ordering: .relaxed) {
        let bytes = try base.bytes(at: 0, length: Int(try base.length()))
        bytes.withUnsafeBytes { recording.add(.write, file: number, number: 0, bytes: $0) }
      }
      let covered = recording.length
      try base.synchronize()
      recording.add(.synchronize, file: number, number: covered)
    }
  }

  func map(length: Int) throws(SystemError) -> any FileMapping { try base.map(length: length) }

  func mapShared(length: Int) throws(SystemError) -> any FileMapping {
    isMappedShared.store(true, ordering: .relaxed)
    return try base.mapShared(length: length)
  }

  func lockByte(_ byte: Int64, exclusive: Bool, wait: Bool) throws(SystemError) -> Bool {
    try base.lockByte(byte, exclusive: exclusive, wait: wait)
  }

  func unlockByte(_ byte: Int64) throws(SystemError) { try base.unlockByte(byte) }
  func isByteLocked(_ byte: Int64) throws(SystemError) -> Bool { try base.isByteLocked(byte) }

  func lockedByte(in range: Range<Int64>) throws(SystemError) -> Int64? {
    try base.lockedByte(in: range)
  }
}
