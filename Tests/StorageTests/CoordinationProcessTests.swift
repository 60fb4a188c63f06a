// The same with real processes: one that is killed, one that forks.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct CoordinationProcessTests {
  private static func open(_ path: String) throws -> LockFile {
    try LockFile.open(
      dataPath: path, fileIdentifier: (1, 2), bootIdentifier: systemBootIdentifier,
      fileSystem: LinuxFileSystem())
  }

  /// A process that is killed while it writes and pins: its lock is free at once, its pins go.
  @Test func aKilledProcessLeavesNothing() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("data")
    let parent = try Self.open(path)
    let thread = Thread.start(name: "parent") {
      do {
        // The head serves as the signal between the two.
        #expect(eventually { parent.head.version == Version(7) })
        #expect(parent.otherProcesses == 1)
        var state = ForeignPinState()
        #expect(try parent.foreignPins(since: &state)?.count == 600)
        #expect(try !parent.tryAcquireWriteLock())
        // The child kills itself when it sees this wait.
        try parent.acquireWriteLock()
        #expect(parent.wasHeldByAnother)
        #expect(try parent.foreignPins(since: &state, reapNow: true) == [])
        #expect(parent.otherProcesses == 0)
        parent.releaseWriteLock()
      } catch {
        Issue.record(error)
      }
    }
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let child = try CoordinationProcessTests.open(path)
      for version in 1...600 { _ = child.publishPin(Version(UInt64(version))) }
      try child.acquireWriteLock()
      child.publishHead(version: Version(7), home: 0)
      precondition(eventually { child.otherProcessesWait })
      kill(getpid(), SIGKILL)
    }
    thread.joinInTime()
  }

  /// Two processes increment a word in turns that only the write lock keeps apart.
  @Test func processesExcludeEachOther() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("data")
    let parent = try Self.open(path)
    let thread = Thread.start(name: "parent") {
      do { try CoordinationProcessTests.increment(parent) } catch { Issue.record(error) }
    }
    await #expect(processExitsWith: .success) { [path = path as String] in
      try CoordinationProcessTests.increment(try CoordinationProcessTests.open(path))
    }
    thread.joinInTime()
    #expect(parent.committed.version == Version(2000))
  }

  /// Not atomic: a load and a store.
  private static func increment(_ lockFile: LockFile) throws {
    for _ in 0..<1000 {
      try lockFile.acquireWriteLock()
      lockFile.publishCommitted(version: lockFile.committed.version.next, home: 0)
      lockFile.releaseWriteLock()
    }
  }

  /// A forked child is stopped with a message and takes nothing from its parent.
  @Test func aForkedChildIsStopped() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("data")
    await #expect(processExitsWith: .success) { [path = path as String] in
      let parent = try CoordinationProcessTests.open(path)
      let other = try CoordinationProcessTests.open(path)
      let pin = parent.publishPin(Version(5))
      let child = fork()
      if child == 0 {
        parent.withdrawPin(pin)
        parent.close()
        // Stops here.
        _ = parent.publishPin(Version(6))
        _exit(0)
      }
      var status: Int32 = 0
      precondition(waitpid(child, &status, 0) == child)
      precondition(status & 127 != 0, "the child was not stopped")
      var state = ForeignPinState()
      let pins = try other.foreignPins(since: &state, reapNow: true)
      precondition(pins == [Version(5)])
    }
  }
}
