// One open file of a simulated disk, its bytes, and the byte locks of the disk.
internal import Glibc
internal import Platform

/// The bytes of a file as the page cache has them: a memory file of the system, so that it can be
/// mapped.
final class SimulatedContent: Sendable {
  let number: UInt64
  let file: any File
  private let sharedMaps = Atomic(0)
  /// Syncs of it that have failed.
  let failedSyncs = Atomic(0)

  init(number: UInt64) {
    self.number = number
    do {
      file = try LinuxFileSystem().openInMemory(name: "simulated")
    } catch {
      fatalError("no memory for a simulated file: \(error)")
    }
  }

  /// Whether the file was ever mapped for writing.
  var hasSharedMap: Bool { sharedMaps.load(ordering: .relaxed) > 0 }

  func noteSharedMap() { sharedMaps.add(1, ordering: .relaxed) }

  var length: UInt64 { succeed { () throws(SystemError) in try file.length() } }

  func setLength(_ length: UInt64) {
    succeed { () throws(SystemError) in try file.setLength(length) }
  }

  func place(_ bytes: ArraySlice<UInt8>, at offset: UInt64) {
    bytes.withUnsafeBytes { buffer in
      succeed { () throws(SystemError) in try file.write(buffer, at: offset) }
    }
  }

  func fill(_ bytes: SparseBytes) {
    setLength(bytes.length)
    bytes.forEachPage { place($1, at: $0) }
  }

  /// All bytes as they are now.
  func bytes() -> [UInt8] {
    let length = Int(length)
    return [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      count = succeed { () throws(SystemError) in
        try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
      }
    }
  }

  func replace(_ bytes: [UInt8]) {
    setLength(UInt64(bytes.count))
    place(bytes[...], at: 0)
  }

  /// The memory behind a simulated file fails only when the machine has none left.
  private func succeed<Result>(_ body: () throws(SystemError) -> Result) -> Result {
    do {
      return try body()
    } catch {
      fatalError("the memory of a simulated file failed: \(error)")
    }
  }
}

/// An open file of a simulated disk.
///
/// System calls on its memory run under the disk's lock, so that the history has the order in which
/// they took effect.
final class SimulatedFile: File {
  let path: String
  private let disk: SimulatedDisk
  private let content: SimulatedContent
  /// Names this open file in the table of locks.
  private let owner: UInt64
  private let isWritable: Bool
  /// Failed syncs of the file that this opening knows of.
  private let toldFailures: Atomic<Int>

  init(
    disk: SimulatedDisk, path: String, content: SimulatedContent, owner: UInt64, isWritable: Bool
  ) {
    self.disk = disk
    self.path = path
    self.content = content
    self.owner = owner
    self.isWritable = isWritable
    toldFailures = Atomic(content.failedSyncs.load(ordering: .relaxed))
  }

  deinit {
    disk.state.withLock { $0.locks.releaseAll(of: owner) }
    disk.state.notifyAll()
  }

  func identity() throws(SystemError) -> FileIdentity {
    try check("fstat")
    return FileIdentity(device: disk.device, inode: content.number)
  }

  /// The same in all images of a disk: a kill does not change what a file is.
  func identityForAll() throws(SystemError) -> FileIdentity {
    try check("fstat")
    return FileIdentity(device: 1, inode: content.number)
  }

  func length() throws(SystemError) -> UInt64 {
    try check("fstat")
    return try content.file.length()
  }

  func setLength(_ length: UInt64) throws(SystemError) {
    try checkWritable("ftruncate", EINVAL)
    try disk.state.withLock { (state) throws(SystemError) in
      try content.file.setLength(length)
      SimulatedDisk.log(.setLength(file: content.number, length: length), &state)
    }
  }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(SystemError) -> Int {
    try check("pread")
    return try content.file.read(into: buffer, at: offset)
  }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
    try checkWritable("pwrite", EBADF)
    if buffer.isEmpty { return }
    let bytes = Array(buffer)
    try disk.state.withLock { (state) throws(SystemError) in
      try content.file.write(buffer, at: offset)
      SimulatedDisk.log(.write(file: content.number, offset: offset, bytes: bytes), &state)
    }
  }

  func bytesOnDisk(at offset: UInt64, length: Int) throws(SystemError) -> [UInt8]? {
    try check("pread")
    return disk.state.withLock { state in
      SimulatedDisk.advance(&state, to: state.operations.count)
      return state.replay.bytesOnDisk(of: content.number, at: offset, length: length)
    }
  }

  func synchronize() throws(SystemError) { try synchronize(below: disk.operationCount) }

  /// Ends a call that began when the disk had done so many operations: it covers those alone.
  func synchronize(below limit: Int) throws(SystemError) {
    try check("fdatasync")
    let isTold = disk.state.withLock { state in
      var limit = limit
      if content.hasSharedMap {
        SimulatedDisk.log(
          .write(file: content.number, offset: 0, bytes: content.bytes()), &state)
        limit = state.operations.count
      }
      SimulatedDisk.log(.synchronize(file: content.number, below: limit), &state)
      return isToldOfFailure()
    }
    if isTold { throw SystemError(call: "fdatasync", path: path, code: SystemError.inputOutput) }
  }

  /// Whether a sync has failed of which this opening has not been told.
  ///
  /// With the lock of the disk, so that it is one with what the failure has lost.
  private func isToldOfFailure() -> Bool {
    guard disk.tellsAllOfFailedSyncs else { return false }
    let failures = content.failedSyncs.load(ordering: .relaxed)
    return toldFailures.exchange(failures, ordering: .relaxed) < failures
  }

  /// Operations of the whole disk so far.
  var operationCount: Int { disk.operationCount }

  /// What a failed fdatasync does: see `DiskReplay`.
  func loseUnsynchronized() {
    disk.state.withLock { state in
      SimulatedDisk.log(.failedSynchronize(file: content.number), &state)
      content.failedSyncs.add(1, ordering: .relaxed)
      _ = isToldOfFailure()
    }
  }

  func map(length: Int) throws(SystemError) -> any FileMapping {
    try check("mmap")
    return try content.file.map(length: length)
  }

  func mapShared(length: Int) throws(SystemError) -> any FileMapping {
    try checkWritable("mmap", EACCES)
    content.noteSharedMap()
    let mapping = try content.file.mapShared(length: length)
    noteSharedWords(
      mapping.base, length: length, ofMemory: disk.number << 10 & 0xF_FFFF_FC00 | content.number)
    return mapping
  }

  func lockByte(_ byte: Int64, exclusive: Bool, wait: Bool) throws(SystemError) -> Bool {
    try check("lock")
    if exclusive && !isWritable { throw SystemError(call: "lock", path: path, code: EBADF) }
    let key = ByteLocks.Key(file: content.number, byte: byte)
    // A process may have been killed while it made this call.
    var (isDead, isTaken) = (false, false)
    if wait {
      isDead = disk.state.wait(
        until: {
          disk.isPowerOff || $0.locks.isDead(owner)
            || $0.locks.take(key, owner, exclusive: exclusive)
        }, then: { $0.locks.isDead(owner) })
      isTaken = true
    } else {
      (isDead, isTaken) = disk.state.withLock { state in
        if state.locks.isDead(owner) { return (true, false) }
        return (false, state.locks.take(key, owner, exclusive: exclusive))
      }
    }
    if isDead { throw SystemError(call: "lock", path: path, code: EIO) }
    try check("lock")
    // An exclusive lock that became a shared one may let others go on.
    if isTaken { disk.state.notifyAll() }
    return isTaken
  }

  func unlockByte(_ byte: Int64) throws(SystemError) {
    try check("unlock")
    let key = ByteLocks.Key(file: content.number, byte: byte)
    disk.state.withLock { $0.locks.release(key, owner) }
    disk.state.notifyAll()
  }

  /// Frees all that the open file has locked, and lets it lock nothing more.
  func dropLocks() {
    disk.state.withLock { $0.locks.die(owner) }
    disk.state.notifyAll()
  }

  func isByteLocked(_ byte: Int64) throws(SystemError) -> Bool {
    try check("lock query")
    let key = ByteLocks.Key(file: content.number, byte: byte)
    return disk.state.withLock { $0.locks.isTakenByOther(key, owner) }
  }

  func lockedByte(in range: Range<Int64>) throws(SystemError) -> Int64? {
    try check("lock query")
    return disk.state.withLock { $0.locks.takenByOther(content.number, range, owner) }
  }

  private func check(_ call: String) throws(SystemError) { try disk.checkPower(call, path) }

  private func checkWritable(_ call: String, _ code: Int32) throws(SystemError) {
    try check(call)
    if !isWritable { throw SystemError(call: call, path: path, code: code) }
  }
}

/// Who holds which byte of which file.
///
/// An open file has at most one lock on a byte.
struct ByteLocks {
  struct Key: Hashable {
    let file: UInt64
    let byte: Int64
  }

  /// For each byte its owners; true means exclusive.
  private var holders: [Key: [UInt64: Bool]] = [:]
  private var dead: Set<UInt64> = []

  /// Whether an owner was killed.
  func isDead(_ owner: UInt64) -> Bool { dead.contains(owner) }

  mutating func die(_ owner: UInt64) {
    dead.insert(owner)
    releaseAll(of: owner)
  }

  /// Takes a lock or changes the owner's own; false when another one is in the way.
  mutating func take(_ key: Key, _ owner: UInt64, exclusive: Bool) -> Bool {
    let isInTheWay = (holders[key] ?? [:]).contains { holder, isExclusive in
      holder != owner && (exclusive || isExclusive)
    }
    if isInTheWay { return false }
    holders[key, default: [:]][owner] = exclusive
    return true
  }

  mutating func release(_ key: Key, _ owner: UInt64) {
    holders[key]?[owner] = nil
    if holders[key]?.isEmpty == true { holders[key] = nil }
  }

  mutating func releaseAll(of owner: UInt64) {
    for key in Array(holders.keys) { release(key, owner) }
  }

  /// The lowest byte of a range on which another open file has a lock.
  func takenByOther(_ file: UInt64, _ range: Range<Int64>, _ owner: UInt64) -> Int64? {
    holders.filter { key, owners in
      key.file == file && range.contains(key.byte) && owners.contains { $0.key != owner }
    }.keys.map(\.byte).min()
  }

  func isTakenByOther(_ key: Key, _ owner: UInt64) -> Bool {
    holders[key]?.contains { $0.key != owner } ?? false
  }
}
