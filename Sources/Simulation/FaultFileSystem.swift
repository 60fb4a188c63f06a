// A file system that counts and records what the engine does with files, and fails calls on demand.
// It wraps any other one: the real one for errors, a simulated disk for errors and power cuts.
internal import Glibc
package import Platform

/// The calls that can be counted and failed.
package enum FileCall: String, CaseIterable, Hashable, Sendable {
  case open, openInMemory, remove, rename, synchronizeFolder
  case identity, length, setLength, read, write, synchronize, map, mapShared
  case lockByte, unlockByte, isByteLocked
}

/// One recorded call, in the order in which the calls began.
package struct FileCallRecord: Sendable {
  package let call: FileCall
  package let path: String
  /// Place of a read or write, the byte of a lock, the length of setLength and maps; else 0.
  package let offset: UInt64
  /// Bytes to read or write; else 0.
  package let count: Int
  package let thread: ThreadToken
}

/// A planned failure.
package struct FileFault: Sendable {
  /// The calls it applies to.
  package var calls: Set<FileCall>
  /// What errno says.
  package var code: Int32
  /// Only files whose path ends so; nil means all.
  package var pathSuffix: String?
  /// Only reads and writes that begin at one of these places; nil means all.
  package var offsets: Set<UInt64>?
  /// How many of these calls succeed before it strikes.
  package var skip: Int
  /// How many calls fail then.
  package var times: Int
  /// A failing write puts this many bytes into the file first.
  package var writtenBytes: Int
  /// Only calls of this thread; nil means of all.
  package var thread: ThreadToken?

  package init(
    _ calls: Set<FileCall>, code: Int32, pathSuffix: String? = nil, offsets: Set<UInt64>? = nil,
    skip: Int = 0, times: Int = .max, writtenBytes: Int = 0, thread: ThreadToken? = nil
  ) {
    self.offsets = offsets
    self.calls = calls
    self.code = code
    self.pathSuffix = pathSuffix
    self.skip = skip
    self.times = times
    self.writtenBytes = writtenBytes
    self.thread = thread
  }
}

/// Counts, records and fails the calls that pass through to another file system.
///
/// A failed synchronize on a simulated disk loses the writes that waited for it, as Linux does:
/// they stay visible, and a later synchronize does not make them durable.
package final class FaultFileSystem: FileSystem {
  private struct State {
    var faults: [FileFault] = []
    var counts: [FileCall: Int] = [:]
    var records: [FileCallRecord] = []
    /// Those of `records` that have failed.
    var struck: [FileCallRecord] = []
    /// Kinds whose calls wait, and how many calls of each kind do.
    var held: [FileCall: String] = [:]
    var waiting: [FileCall: Int] = [:]
    /// Of a simulated disk, as long as they are open.
    var files: [WeakFile] = []
    /// Calls until the process is killed; nil for never.
    var callsLeft: Int?
    var isKilled = false
  }

  private struct WeakFile { weak var file: FaultFile? }

  private let base: any FileSystem
  package let process: UInt64
  private let state = Monitor(State())
  /// Maps of at least so many bytes, else twice the file, instead of what is asked for: so that a
  /// small file outgrows its map.
  let leastMapping: Int?
  /// Whether maps for overwriting are given where the file system below has them: no call shows
  /// what is stored there.
  let overwritesInPlace: Bool
  package let allowsUnpromptedWork: Bool
  /// How long a sync takes, in nanoseconds.
  let syncNanoseconds: UInt64
  private let syncs = Monitor(())

  /// - Parameter process: files of two numbers are not taken for the same, so that one process can
  ///   open a store as if it were several.
  /// - Parameter syncNanoseconds: how long a sync takes, which covers what was written before it;
  ///   in an exploration it lasts until all others wait.
  /// - Parameter allowsUnpromptedWork: whether stores on it tidy and follow by themselves.
  package init(
    _ base: any FileSystem, process: UInt64 = 0, leastMapping: Int? = nil,
    overwritesInPlace: Bool = false, syncNanoseconds: UInt64 = 0,
    allowsUnpromptedWork: Bool = false
  ) {
    self.syncNanoseconds = syncNanoseconds
    self.allowsUnpromptedWork = allowsUnpromptedWork
    self.leastMapping = leastMapping
    self.overwritesInPlace = overwritesInPlace
    self.base = base
    self.process = process
  }

  // MARK: - Planning and looking

  /// Adds a failure; several may wait at once, each counting on its own.
  package func inject(_ fault: FileFault) { state.withLock { $0.faults.append(fault) } }

  /// Fails the `number`-th call of a kind from now on, once.
  ///
  /// 1 is the next one.
  package func fail(_ call: FileCall, at number: Int = 1, code: Int32) {
    inject(FileFault([call], code: code, skip: number - 1, times: 1))
  }

  /// Fails every call of a kind from now on.
  package func failAll(_ call: FileCall, code: Int32) { inject(FileFault([call], code: code)) }

  /// Makes the `number`-th write from now on stop after `bytes` bytes with an error.
  package func shortWrite(at number: Int = 1, bytes: Int, code: Int32) {
    inject(FileFault([.write], code: code, skip: number - 1, times: 1, writtenBytes: bytes))
  }

  /// Lets all calls through again.
  package func clearFaults() { state.withLock { $0.faults = [] } }

  /// Runs `body` while no fault strikes or counts; for a look at the state in the middle of a test.
  package func withoutFaults<Result>(_ body: () throws -> Result) rethrows -> Result {
    let planned = state.withLock { state in
      defer { state.faults = [] }
      return state.faults
    }
    defer { state.withLock { $0.faults = planned } }
    return try body()
  }

  // MARK: - Holding calls

  /// Makes calls of a kind wait until `release`, as on a very slow disk.
  ///
  /// A synchronize of a simulated disk that waits covers what was written before it began, no more.
  ///
  /// - Parameter pathSuffix: only of files whose path ends so.
  package func hold(_ call: FileCall, pathSuffix: String = "") {
    state.withLock { $0.held[call] = pathSuffix }
  }

  /// Lets the waiting calls of a kind and all later ones go on.
  package func release(_ call: FileCall) {
    state.withLock { $0.held[call] = nil }
    state.notifyAll()
  }

  /// Waits until `count` calls of a kind are held; false when that takes longer.
  package func wait(untilHeld call: FileCall, count: Int, nanoseconds: UInt64) -> Bool {
    state.wait(nanoseconds: nanoseconds) { $0.waiting[call, default: 0] >= count }
  }

  // MARK: - Counts and records

  /// Calls of a kind since the start or the last reset, failed ones included.
  package func count(of call: FileCall) -> Int { state.withLock { $0.counts[call] ?? 0 } }

  /// Calls of all kinds.
  package var totalCount: Int { state.withLock { $0.counts.values.reduce(0, +) } }

  package var records: [FileCallRecord] { state.withLock { $0.records } }

  /// The calls that a fault has struck, oldest first.
  package var struck: [FileCallRecord] { state.withLock { $0.struck } }

  /// Forgets counts and records.
  package func resetRecords() {
    state.withLock {
      $0.counts = [:]
      $0.records = []
      $0.struck = []
    }
  }

  /// Counts and records a call, and waits while it is held.
  ///
  /// Returns the fault that strikes it.
  func begin(_ call: FileCall, _ path: String, offset: UInt64 = 0, count: Int = 0) -> FileFault? {
    if isKillDue() { kill() }
    let struck = state.withLock { state in
      let record = FileCallRecord(
        call: call, path: path, offset: offset, count: count, thread: ThreadToken.current)
      state.counts[call, default: 0] += 1
      state.records.append(record)
      var struck = state.isKilled ? FileFault([call], code: EIO) : nil
      for index in state.faults.indices {
        let fault = state.faults[index]
        guard fault.calls.contains(call), fault.times > 0 else { continue }
        if let suffix = fault.pathSuffix, !path.hasSuffix(suffix) { continue }
        if let offsets = fault.offsets, !offsets.contains(offset) { continue }
        if let thread = fault.thread, thread != record.thread { continue }
        if fault.skip > 0 {
          state.faults[index].skip -= 1
        } else if struck == nil {
          state.faults[index].times -= 1
          struck = fault
        }
      }
      if struck != nil { state.struck.append(record) }
      return struck
    }
    let isKilled = waitWhileHeld(call, path)
    return struck ?? (isKilled ? FileFault([call], code: EIO) : nil)
  }

  // MARK: - The end of a simulated process

  /// Whether the process is dead.
  package var isKilled: Bool { state.withLock { $0.isKilled } }

  /// Kills the process at its next call but so many.
  package func kill(afterCalls count: Int) { state.withLock { $0.callsLeft = count } }

  private func isKillDue() -> Bool {
    state.withLock { state in
      guard let left = state.callsLeft else { return false }
      state.callsLeft = left > 0 ? left - 1 : nil
      return left == 0
    }
  }

  /// Ends a process of a simulated disk: its calls fail from now on and do nothing, its locks are
  /// free, and what its threads go on to store in shared memory reaches nobody.
  package func kill() {
    let files = state.withLock { state in
      state.isKilled = true
      state.held = [:]
      let files = state.files.compactMap(\.file)
      // At the same moment: what comes later must not do half of what it would.
      for file in files { file.leaveSharedMemory() }
      return files
    }
    state.notifyAll()
    for file in files { file.dropLocks() }
  }

  private func opened(_ file: any File) -> FaultFile {
    let opened = FaultFile(file, self)
    guard file is SimulatedFile else { return opened }
    state.withLock { state in
      state.files.removeAll { $0.file == nil }
      state.files.append(WeakFile(file: opened))
    }
    return opened
  }

  /// Returns whether the process was killed while it waited: its call does nothing then.
  private func waitWhileHeld(_ call: FileCall, _ path: String) -> Bool {
    let mustWait = state.withLock { state in
      guard let suffix = state.held[call], path.hasSuffix(suffix) else { return false }
      state.waiting[call, default: 0] += 1
      return true
    }
    guard mustWait else { return false }
    state.notifyAll()
    return state.wait(until: { $0.held[call] == nil }) { state in
      state.waiting[call]! -= 1
      return state.isKilled
    }
  }

  /// Lets the time of a sync pass.
  func passSync() {
    if syncNanoseconds > 0 { _ = syncs.wait(nanoseconds: syncNanoseconds) { _ in false } }
  }

  func pass(
    _ call: FileCall, _ path: String, offset: UInt64 = 0, count: Int = 0
  ) throws(SystemError) {
    if let fault = begin(call, path, offset: offset, count: count) {
      throw SystemError(call: call.rawValue, path: path, code: fault.code)
    }
  }

  // MARK: - FileSystem

  package func open(_ path: String, _ mode: OpenMode) throws(SystemError) -> any File {
    try pass(.open, path)
    return opened(try base.open(path, mode))
  }

  package func openInMemory(name: String) throws(SystemError) -> any File {
    try pass(.openInMemory, name)
    return FaultFile(try base.openInMemory(name: name), self)
  }

  package func followingLinks(_ path: String) throws(SystemError) -> String {
    try base.followingLinks(path)
  }
  package func exists(_ path: String) -> Bool { base.exists(path) }
  package func isDirectory(_ path: String) -> Bool { base.isDirectory(path) }
  package func watch(_ path: String, _ body: @escaping @Sendable () -> Void) -> FileWatch? {
    base.watch(path, body)
  }
  package func isOnNetwork(_ path: String) -> Bool { base.isOnNetwork(path) }
  package var bootIdentifier: UInt64 { base.bootIdentifier }

  package func remove(_ path: String) throws(SystemError) {
    try pass(.remove, path)
    try base.remove(path)
  }

  package func rename(_ path: String, to newPath: String) throws(SystemError) {
    try pass(.rename, path)
    try base.rename(path, to: newPath)
  }

  package func rename(_ path: String, toNew newPath: String) throws(SystemError) {
    try pass(.rename, path)
    try base.rename(path, toNew: newPath)
  }

  package func synchronizeFolder(_ path: String) throws(SystemError) {
    try pass(.synchronizeFolder, path)
    try base.synchronizeFolder(path)
  }
}

/// One file behind a FaultFileSystem.
private final class FaultFile: File {
  private let base: any File
  private let system: FaultFileSystem
  /// Those that are there, of a simulated disk.
  private let maps = Monitor<[WeakMapping]>([])

  private struct WeakMapping { weak var mapping: (any FileMapping)? }

  init(_ base: any File, _ system: FaultFileSystem) {
    self.base = base
    self.system = system
  }

  /// Puts a copy in the place of each map: what the process stores or others write is not seen by
  /// the other side.
  func leaveSharedMemory() {
    for mapping in maps.withLock({ $0.compactMap(\.mapping) }) {
      let (start, length) = (mapping.base, mapping.length)
      // Behind the end of the file there is nothing.
      let bytes = (try? base.length()).map { min(length, Int($0)) } ?? 0
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 16)
      defer { copy.deallocate() }
      copy.copyMemory(from: UnsafeRawBufferPointer(start: start, count: bytes))
      let place = mmap(
        start, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
      precondition(place == start, "shared memory of a simulated process cannot be taken away")
      start.copyMemory(from: copy.baseAddress!, byteCount: bytes)
    }
  }

  func dropLocks() { (base as? SimulatedFile)?.dropLocks() }

  var path: String { base.path }

  func identity() throws(SystemError) -> FileIdentity {
    try system.pass(.identity, path)
    let identity = try base.identity()
    return FileIdentity(device: identity.device ^ system.process << 48, inode: identity.inode)
  }

  func identityForAll() throws(SystemError) -> FileIdentity { try base.identityForAll() }
  func hasName() throws(SystemError) -> Bool { try base.hasName() }
  func nameCount() throws(SystemError) -> Int { try base.nameCount() }

  func length() throws(SystemError) -> UInt64 {
    try system.pass(.length, path)
    return try base.length()
  }

  func setLength(_ length: UInt64) throws(SystemError) {
    try system.pass(.setLength, path, offset: length)
    try base.setLength(length)
  }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(SystemError) -> Int {
    try system.pass(.read, path, offset: offset, count: buffer.count)
    return try base.read(into: buffer, at: offset)
  }

  func bytesOnDisk(at offset: UInt64, length: Int) throws(SystemError) -> [UInt8]? {
    try system.pass(.read, path, offset: offset, count: length)
    return try base.bytesOnDisk(at: offset, length: length)
  }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
    guard let fault = system.begin(.write, path, offset: offset, count: buffer.count) else {
      return try base.write(buffer, at: offset)
    }
    let written = min(fault.writtenBytes, buffer.count)
    if written > 0 {
      try base.write(UnsafeRawBufferPointer(rebasing: buffer[..<written]), at: offset)
    }
    throw SystemError(call: "write", path: path, code: fault.code)
  }

  func synchronize() throws(SystemError) {
    let simulated = base as? SimulatedFile
    let limit = simulated?.operationCount ?? 0
    guard let fault = system.begin(.synchronize, path) else {
      system.passSync()
      if let simulated { return try simulated.synchronize(below: limit) }
      return try base.synchronize()
    }
    if !system.isKilled { simulated?.loseUnsynchronized() }
    throw SystemError(call: "synchronize", path: path, code: fault.code)
  }

  func map(length: Int) throws(SystemError) -> any FileMapping {
    try system.pass(.map, path, offset: UInt64(length))
    if let least = system.leastMapping {
      return noted(try base.map(length: min(length, max(least, 2 * Int(try base.length())))))
    }
    return noted(try base.map(length: length))
  }

  private func noted(_ mapping: any FileMapping) -> any FileMapping {
    guard base is SimulatedFile else { return mapping }
    maps.withLock { maps in
      maps.removeAll { $0.mapping == nil }
      maps.append(WeakMapping(mapping: mapping))
    }
    return mapping
  }

  func mapShared(length: Int) throws(SystemError) -> any FileMapping {
    try system.pass(.mapShared, path, offset: UInt64(length))
    return noted(try base.mapShared(length: length))
  }

  func mapForOverwriting(length: Int) -> (any FileMapping)? {
    system.overwritesInPlace ? base.mapForOverwriting(length: length) : nil
  }

  func lockByte(_ byte: Int64, exclusive: Bool, wait: Bool) throws(SystemError) -> Bool {
    try system.pass(.lockByte, path, offset: UInt64(bitPattern: byte))
    return try base.lockByte(byte, exclusive: exclusive, wait: wait)
  }

  func unlockByte(_ byte: Int64) throws(SystemError) {
    try system.pass(.unlockByte, path, offset: UInt64(bitPattern: byte))
    try base.unlockByte(byte)
  }

  func isByteLocked(_ byte: Int64) throws(SystemError) -> Bool {
    try system.pass(.isByteLocked, path, offset: UInt64(bitPattern: byte))
    return try base.isByteLocked(byte)
  }
  func lockedByte(in range: Range<Int64>) throws(SystemError) -> Int64? {
    try system.pass(.isByteLocked, path, offset: UInt64(bitPattern: range.lowerBound))
    return try base.lockedByte(in: range)
  }
}
