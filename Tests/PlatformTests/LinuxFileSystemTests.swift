// Files, maps and locks of the real system, in a temporary folder.
import Glibc
import Platform
import TestSupport
import Testing

struct LinuxFileSystemTests {
  let files = LinuxFileSystem()
  let folder = TemporaryFolder()

  @Test func writesReadsAndReportsLengths() throws {
    let file = try files.open(folder.file("a"), [.writable, .create])
    #expect(try file.length() == 0)
    try file.write(bytes: Array(0..<200), at: 5000)
    #expect(try file.length() == 5200)
    #expect(try file.read(200, at: 5000) == Array(0..<200))
    #expect(try file.read(10, at: 0) == [UInt8](repeating: 0, count: 10))
    // Only the end of the file makes a read short.
    #expect(try file.read(300, at: 5100) == Array(100..<200))
    #expect(try file.read(10, at: 9000) == [])
    try file.setLength(5001)
    try file.setLength(6000)
    #expect(try file.read(3, at: 5000) == [0, 0, 0])
    try file.synchronize()
    try files.synchronizeFolder(folder.path)
    try file.write(bytes: [], at: 0)
    #expect(try file.length() == 6000)
  }

  @Test func opensAsAsked() throws {
    let path = folder.file("a")
    #expect(error { _ = try files.open(path, [.writable]) }?.isMissing == true)
    _ = try files.open(path, [.writable, .create, .exclusive])
    #expect(error { _ = try files.open(path, [.writable, .exclusive]) }?.alreadyExists == true)
    let reader = try files.open(path, [])
    #expect(error { try reader.write(bytes: [1], at: 0) }?.code == EBADF)
    #expect(error { try reader.setLength(10) } != nil)
    #expect(error { _ = try reader.mapShared(length: 4096) }?.code == EACCES)
    #expect(try files.identity(of: path) == reader.identity())
    #expect(error { _ = try files.identity(of: "\(path)x") }?.isMissing == true)
    #expect(error { _ = try files.identity(of: folder.path) }?.isDirectory == true)
    #expect(error { _ = try files.open(folder.path, []) }?.isDirectory == true)
    #expect(error { _ = try files.open(folder.path, [.writable]) }?.isDirectory == true)
    #expect(error { _ = try files.open("\(path)/x", [.writable, .create]) }?.code == ENOTDIR)
  }

  /// Opening a pipe used to be able to wait for ever for its other end.
  @Test func refusesPipesAndDevices() throws {
    let pipe = folder.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    #expect(error { _ = try files.open(pipe, []) }?.code == EINVAL)
    #expect(error { _ = try files.open(pipe, [.writable]) }?.code == EINVAL)
    #expect(error { _ = try files.open("/dev/null", [.writable]) }?.code == EINVAL)
  }

  /// The system writes up to the limit of a process and says how much that was.
  @Test func shortWritesGoOn() async {
    await #expect(processExitsWith: .success) { [path = folder.file("short") as String] in
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 6000, rlim_max: rlim_t.max)
      guard setrlimit(__rlimit_resource_t(1), &limit) == 0 else { fatalError("no limit: \(errno)") }
      let file = try LinuxFileSystem().open(path, [.writable, .create])
      do {
        try file.write(bytes: [UInt8](repeating: 1, count: 10_000), at: 0)
        fatalError("a short write was taken for a whole one")
      } catch let error as SystemError {
        guard error.code == EFBIG, try file.length() == 6000 else { fatalError("\(error)") }
      }
    }
  }

  /// The kernel would end the process by a signal.
  @Test func aFileBeyondTheProcessesLimitIsAnError() async {
    await #expect(processExitsWith: .success) { [path = folder.file("limited") as String] in
      var limit = rlimit(rlim_cur: 6000, rlim_max: rlim_t.max)
      guard setrlimit(__rlimit_resource_t(1), &limit) == 0 else { fatalError("no limit: \(errno)") }
      let file = try LinuxFileSystem().open(path, [.writable, .create])
      func code(_ body: () throws(SystemError) -> Void) -> Int32? {
        do throws(SystemError) { try body() } catch { return error.code }
        return nil
      }
      let bytes = [UInt8](repeating: 1, count: 5000)
      bytes.withUnsafeBytes { bytes in
        #expect(code { () throws(SystemError) in try file.setLength(6001) } == EFBIG)
        #expect(code { () throws(SystemError) in try file.write(bytes, at: 6000) } == EFBIG)
        #expect(code { () throws(SystemError) in try file.writeDurably(bytes, at: 2000) } == EFBIG)
        #expect(code { () throws(SystemError) in try file.write(bytes, at: 2000) } == EFBIG)
        #expect(code { () throws(SystemError) in try file.writeDurably(bytes, at: 1000) } == nil)
        #expect(code { () throws(SystemError) in try file.setLength(5000) } == nil)
      }
    }
  }

  @Test func refusesOffsetsBeyondTheSystems() throws {
    let file = try files.open(folder.file("a"), [.writable, .create])
    #expect(error { try file.write(bytes: [1], at: UInt64.max) }?.code == EFBIG)
    #expect(error { try file.setLength(UInt64.max) }?.code == EFBIG)
    #expect(error { _ = try file.read(1, at: UInt64.max) }?.code == EINVAL)
  }

  @Test func identityFollowsTheFileNotThePath() throws {
    let path = folder.file("a")
    let file = try files.open(path, [.writable, .create])
    #expect(symlink(path, folder.file("link")) == 0)
    #expect(link(path, folder.file("hard")) == 0)
    let identity = try file.identity()
    for other in ["link", "hard", "./a"] {
      #expect(try files.open(folder.file(other), []).identity() == identity)
    }
    let second = try files.open(folder.file("b"), [.writable, .create])
    #expect(try second.identity() != identity)
  }

  @Test func renamesAndRemoves() throws {
    let (old, new) = (folder.file("a"), folder.file("b"))
    let file = try files.open(old, [.writable, .create])
    try file.write(bytes: [7], at: 0)
    _ = try files.open(new, [.writable, .create])
    try files.rename(old, to: new)
    #expect(!files.exists(old))
    #expect(files.exists(new))
    #expect(!files.isDirectory(new))
    #expect(files.isDirectory(folder.path))
    #expect(!files.isDirectory(folder.file("none")))
    #expect(try files.open(new, []).read(1, at: 0) == [7])
    try files.remove(new)
    #expect(error { try files.remove(new) }?.isMissing == true)
    // An open file outlives its name.
    #expect(try file.read(1, at: 0) == [7])
  }

  @Test func mapsReachPastTheEndAndSeeLaterWrites() throws {
    let file = try files.open(folder.file("a"), [.writable, .create])
    try file.write(bytes: [1, 2, 3], at: 0)
    let map = try file.map(length: 1 << 36)
    #expect(map.length == 1 << 36)
    #expect(map.byte(at: 2) == 3)
    try file.setLength(1 << 20)
    try file.write(bytes: [9], at: 1 << 19)
    #expect(map.byte(at: 1 << 19) == 9)
    #expect(error { _ = try file.map(length: 0) }?.code == EINVAL)
  }

  @Test func sharedMapsWriteTheFile() throws {
    let file = try files.open(folder.file("a"), [.writable, .create])
    try file.setLength(4096)
    let first = try file.mapShared(length: 4096)
    let second = try files.open(folder.file("a"), [.writable]).mapShared(length: 4096)
    first.setByte(77, at: 100)
    #expect(second.byte(at: 100) == 77)
    #expect(try file.read(1, at: 100) == [77])
  }

  @Test func mapsOutliveTheirFile() throws {
    var file: (any File)? = try files.open(folder.file("a"), [.writable, .create])
    try file?.write(bytes: [5], at: 0)
    let map = try #require(try file?.map(length: 4096))
    file = nil
    try files.remove(folder.file("a"))
    #expect(map.byte(at: 0) == 5)
  }

  @Test func filesInMemoryHaveNoPath() throws {
    let file = try files.openInMemory(name: String(repeating: "long", count: 100))
    let other = try files.openInMemory(name: "x")
    try file.write(bytes: [4], at: 0)
    #expect(try file.map(length: 1 << 30).byte(at: 0) == 4)
    #expect(try file.identity() != other.identity())
    #expect(!files.exists(file.path))
  }

  @Test func byteLocksBelongToTheOpenFile() throws {
    let path = folder.file("a")
    let first = try files.open(path, [.writable, .create])
    var second: (any File)? = try files.open(path, [.writable])
    #expect(try first.lockByte(3, exclusive: true, wait: false))
    #expect(try first.isByteLocked(3) == false)
    #expect(try second?.isByteLocked(3) == true)
    #expect(try second?.lockByte(3, exclusive: true, wait: false) == false)
    #expect(try second?.lockByte(3, exclusive: false, wait: false) == false)
    #expect(try second?.lockByte(4, exclusive: true, wait: false) == true)
    try first.unlockByte(3)
    #expect(try second?.lockByte(3, exclusive: false, wait: false) == true)
    #expect(try first.lockByte(3, exclusive: false, wait: false))
    #expect(try first.lockByte(3, exclusive: true, wait: false) == false)
    #expect(try first.isByteLocked(4))
    second = nil
    #expect(try first.isByteLocked(4) == false)
    #expect(try first.lockByte(3, exclusive: true, wait: false))
  }

  @Test func waitingForALockOutlastsSignals() throws {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    // No SA_RESTART: the waiting call returns EINTR.
    sigaction(SIGUSR1, &action, nil)
    let path = folder.file("a")
    let holder = try files.open(path, [.writable, .create])
    #expect(try holder.lockByte(0, exclusive: true, wait: true))
    let waiter = try files.open(path, [.writable])
    let thread = Monitor<pthread_t?>(nil)
    let outcome = Monitor<Bool?>(nil)
    let started = Thread.start(name: "waiter") {
      thread.withLock { $0 = pthread_self() }
      thread.notifyAll()
      let taken = try? waiter.lockByte(0, exclusive: true, wait: true)
      outcome.withLock { $0 = taken ?? false }
    }
    thread.waitInTime(for: "the start of a thread") { $0 != nil }
    let handle = try #require(thread.withLock { $0 })
    for _ in 0..<200 {
      pthread_kill(handle, SIGUSR1)
      sched_yield()
    }
    #expect(outcome.withLock { $0 } == nil)
    try holder.unlockByte(0)
    started.joinInTime()
    #expect(outcome.withLock { $0 } == true)
  }

  @Test func knowsNetworkFileSystems() {
    // Wherever the tests run: a missing file is where its folder is, and a bare name in the current
    // one.
    #expect(files.isOnNetwork(folder.file("missing")) == files.isOnNetwork(folder.path))
    #expect(files.isOnNetwork("missing-name-without-a-folder") == files.isOnNetwork("."))
    for magic: UInt32 in [0x6969, 0x517b, 0xfe53_4d42, 0xff53_4d42, 0x0102_1997, 0x5346_414f] {
      #expect(LinuxFileSystem.isNetwork(magic: magic))
    }
    // ext4, tmpfs, btrfs, xfs, overlay, FUSE.
    for magic: UInt32 in [0xef53, 0x0102_1994, 0x9123_683e, 0x5846_5342, 0x794c_7630, 0x6573_5546] {
      #expect(!LinuxFileSystem.isNetwork(magic: magic))
    }
  }

  @Test func takesFoldersFromPaths() {
    #expect(Platform.folder(of: "/a/b/c") == "/a/b")
    #expect(Platform.folder(of: "/a") == "/")
    #expect(Platform.folder(of: "a") == ".")
    #expect(Platform.folder(of: "a/b") == "a")
  }

  @Test func errorsNameCallAndFile() {
    let failure = error { _ = try files.open("/none/x", []) }
    #expect(
      failure?.description
        == "open on '/none/x' failed: No such file or directory (errno 2)")
  }

  private func error(_ body: () throws -> Void) -> SystemError? {
    do {
      try body()
      return nil
    } catch {
      return error as? SystemError
    }
  }
}
