// Who may open a lock file, what becomes of a stale one, the head, and the latch of failed syncs.
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct CoordinationOpeningTests {
  let fixture = LockFixture()

  /// Word numbers of the header, as documented in LockLayout.
  private let formatVersionWord = 1
  private let initialisedWord = 5

  @Test func countsTheOthers() throws {
    let first = try fixture.open()
    #expect(first.isFirstOpener)
    #expect(first.otherProcesses == 0)
    let second = try fixture.open()
    #expect(!second.isFirstOpener)
    #expect(first.otherProcesses == 1)
    #expect(second.otherProcesses == 1)
    second.close()
    second.close()
    #expect(first.otherProcesses == 0)
    first.close()
    #expect(LinuxFileSystem().exists(fixture.lockPath))
    #expect(try fixture.open().isFirstOpener)
  }

  @Test func headsAreSharedAndNeverGoBack() throws {
    let first = try fixture.open()
    #expect(first.head.isUnknown)
    first.publishHead(version: Version(7), home: 1)
    let second = try fixture.open()
    #expect(second.head == DurableHead(version: Version(7), home: 1))
    second.publishHead(version: Version(9), home: 0)
    first.publishHead(version: Version(8), home: 2)
    #expect(first.head == DurableHead(version: Version(9), home: 0))
    first.publishCommitted(version: Version(12), home: 3)
    #expect(second.committed == DurableHead(version: Version(12), home: 3))
    #expect(second.head.version == Version(9))
  }

  @Test func headIsKeptInTheSameBoot() throws {
    try fixture.open().publishHead(version: Version(7), home: 1)
    let again = try fixture.open()
    #expect(again.isFirstOpener)
    #expect(again.head == DurableHead(version: Version(7), home: 1))
  }

  @Test func staleFilesAreRebuilt() throws {
    func prepare() throws {
      let lockFile = try fixture.open()
      lockFile.publishHead(version: Version(7), home: 1)
      lockFile.markSyncFailed(5)
    }
    try prepare()
    #expect(try fixture.open(boot: 4).head.isUnknown)
    try prepare()
    #expect(try fixture.open(file: (1, 3)).head.isUnknown)
    try prepare()
    #expect(try fixture.open(file: (0, 2)).syncFailure == nil)
    // Somebody else's: see LockDomainTests.
    try prepare()
    try fixture.setWord(0, 77)
    #expect(throws: StorageError.self) { try fixture.open() }
    try fixture.setWord(0, 0x6b63_6c6d_6c61_6572)
    try prepare()
    try fixture.setWord(formatVersionWord, 99)
    #expect(try fixture.open().head.isUnknown)
    // Killed while it was made.
    try prepare()
    try fixture.setWord(initialisedWord, 0)
    #expect(try fixture.open().head.isUnknown)
    try prepare()
    try LinuxFileSystem().open(fixture.lockPath, .writable).setLength(100)
    #expect(try fixture.open().head.isUnknown)
  }

  @Test func anUnknownBootEqualsNothing() throws {
    let lockFile = try fixture.open(boot: 0)
    lockFile.publishHead(version: Version(7), home: 1)
    lockFile.markSyncFailed(5)
    lockFile.close()
    let again = try fixture.open(boot: 0)
    #expect(again.head.isUnknown)
    #expect(again.syncFailure == 5)
  }

  @Test func aFileInUseMustFit() throws {
    let first = try fixture.open()
    #expect(throws: StorageError.self) { try fixture.open(file: (1, 3)) }
    try fixture.setWord(formatVersionWord, 99)
    do {
      _ = try fixture.open()
      Issue.record("opened a foreign format")
    } catch {
      guard case .incompatibleLockFile(let path, let reason) = error else {
        Issue.record(error)
        return
      }
      #expect(path == fixture.lockPath)
      #expect(reason.contains("99"))
    }
    first.close()
    #expect(try fixture.open().isFirstOpener)
  }

  @Test func failedSyncsStopEverybodyUntilAllAreGone() throws {
    let first = try fixture.open()
    let second = try fixture.open()
    #expect(first.syncFailure == nil)
    second.markSyncFailed(28)
    second.markSyncFailed(5)
    #expect(first.syncFailure == 28)
    // Those who were there keep to it.
    first.clearSyncFailure()
    #expect(first.syncFailure == 28)
    first.close()
    let third = try fixture.open()
    third.clearSyncFailure()
    #expect(third.syncFailure == 28)
    second.close()
    third.close()
    let next = try fixture.open()
    #expect(next.syncFailure == 28)
    next.clearSyncFailure()
    #expect(next.syncFailure == nil)
    next.markSyncFailed(5)
    next.clearSyncFailure()
    #expect(next.syncFailure == 5)
  }

  @Test func sixtyFourMayHaveItOpen() throws {
    var open: [LockFile] = []
    for _ in 0..<64 { open.append(try fixture.open()) }
    #expect(open[0].otherProcesses == 63)
    do {
      _ = try fixture.open()
      Issue.record("opened once too often")
    } catch {
      guard case .alreadyOpen = error else {
        Issue.record(error)
        return
      }
    }
    open.remove(at: 20).close()
    #expect(!(try fixture.open().isFirstOpener))
  }

  @Test func slotsOfTheDeadAreTaken() throws {
    let first = try fixture.open()
    var dead: [LockFile] = []
    for _ in 0..<200 {
      let (lockFile, process) = try fixture.openMortal()
      dead.append(lockFile)
      process.kill()
    }
    #expect(first.otherProcesses == 0)
    let (last, process) = try fixture.openMortal()
    process.kill()
    dead.append(last)
    first.close()
    #expect(try fixture.open().isFirstOpener)
  }

  @Test func errorsAreTyped() throws {
    func opening(_ path: String) -> StorageError? {
      do {
        _ = try LockFile.open(
          dataPath: path, fileIdentifier: (1, 2), bootIdentifier: 3, fileSystem: LinuxFileSystem())
        return nil
      } catch {
        return error
      }
    }
    let missing = fixture.folder.file("missing/data")
    #expect(opening(missing) == .parentMissing(path: missing))
    let folder = fixture.folder.makeFolder("data.lock")
    #expect(opening(fixture.dataPath) == .isDirectory(path: folder))
  }

  @Test func closedWithPinsStaysInUse() throws {
    let first = try fixture.open()
    var second: LockFile? = try fixture.open()
    let pin = second!.publishPin(Version(5))
    second!.close()
    #expect(first.otherProcesses == 1)
    var state = ForeignPinState()
    #expect(try first.foreignPins(since: &state) == [Version(5)])
    second!.withdrawPin(pin)
    #expect(try first.foreignPins(since: &state) == [])
    second = nil
    #expect(first.otherProcesses == 0)
  }

  // MARK: - Exclusive use

  @Test func exclusiveUseNeedsTheFileAlone() throws {
    func deleteBoth() throws(StorageError) -> Int {
      try LockFile.withExclusiveUse(dataPath: fixture.dataPath, fileSystem: LinuxFileSystem()) {
        try? LinuxFileSystem().remove(fixture.lockPath)
        return 42
      }
    }
    #expect(try deleteBoth() == 42)
    let first = try fixture.open()
    do {
      _ = try deleteBoth()
      Issue.record("used exclusively while open")
    } catch {
      guard case .alreadyOpen = error else {
        Issue.record(error)
        return
      }
    }
    first.close()
    #expect(try deleteBoth() == 42)
    #expect(!LinuxFileSystem().exists(fixture.lockPath))
    #expect(try fixture.open().isFirstOpener)
  }

  @Test func errorsOfTheBodyPassThrough() {
    #expect(throws: StorageError.readOnly(path: "x")) {
      try LockFile.withExclusiveUse(dataPath: fixture.dataPath, fileSystem: LinuxFileSystem()) {
        () throws(StorageError) -> Int in throw .readOnly(path: "x")
      }
    }
  }

  /// Openings and deletions at random: never both, and never two lock files in use at once.
  @Test func deletionNeverMeetsAnOpening() async {
    let fixture = fixture
    await withSeeds(2) { random in
      let counts = Counts()
      let threads = (0..<4).map { _ in
        let seed = random.next()
        return Thread.start(name: "opener") {
          var random = RandomGenerator(seed: seed)
          for _ in 0..<100 {
            if random.oneIn(2) { counts.open(fixture) } else { counts.delete(fixture) }
          }
        }
      }
      threads.forEach { $0.joinInTime() }
      // Counted, since only what fails in the test's own task is printed with its seed.
      #expect(counts.violations.load(ordering: .relaxed) == 0)
    }
  }

  /// How many threads are doing what.
  private final class Counts: Sendable {
    let openings = Atomic<Int>(0)
    let deletions = Atomic<Int>(0)
    let violations = Atomic<Int>(0)

    func open(_ fixture: LockFixture) {
      do {
        let lockFile = try fixture.open()
        openings.add(1, ordering: .sequentiallyConsistent)
        if deletions.load(ordering: .sequentiallyConsistent) != 0 {
          violations.add(1, ordering: .relaxed)
        }
        openings.subtract(1, ordering: .sequentiallyConsistent)
        lockFile.close()
      } catch {
        violations.add(1, ordering: .relaxed)
      }
    }

    func delete(_ fixture: LockFixture) {
      // Refused when it is open.
      try? LockFile.withExclusiveUse(dataPath: fixture.dataPath, fileSystem: LinuxFileSystem()) {
        deletions.add(1, ordering: .sequentiallyConsistent)
        if openings.load(ordering: .sequentiallyConsistent) != 0 {
          violations.add(1, ordering: .relaxed)
        }
        deletions.subtract(1, ordering: .sequentiallyConsistent)
        // From here on others make a new one.
        try? LinuxFileSystem().remove(fixture.lockPath)
      }
    }
  }

  // MARK: - Without a file

  @Test func privateFormNeedsNoFile() throws {
    let lockFile = LockFile.makePrivate()
    #expect(lockFile.isFirstOpener)
    #expect(lockFile.otherProcesses == 0)
    #expect(lockFile.head.isUnknown)
    lockFile.publishHead(version: Version(3), home: 1)
    #expect(lockFile.head == DurableHead(version: Version(3), home: 1))
    let pin = lockFile.publishPin(Version(3))
    var state = ForeignPinState()
    #expect(try lockFile.foreignPins(since: &state) == [])
    #expect(try lockFile.foreignPins(since: &state) == nil)
    #expect(try lockFile.foreignPins(since: &state, reapNow: true) == [])
    lockFile.withdrawPin(pin)
    try lockFile.acquireWriteLock()
    #expect(lockFile.wasHeldByAnother)
    lockFile.publishCommitted(version: Version(3), home: 1)
    lockFile.releaseWriteLock()
    #expect(try lockFile.tryAcquireWriteLock())
    #expect(!lockFile.wasHeldByAnother)
    #expect(!lockFile.otherProcessesWait)
    lockFile.releaseWriteLock()
    lockFile.markSyncFailed(5)
    #expect(lockFile.syncFailure == 5)
    lockFile.close()
    #expect(lockFile.head.version == Version(3))
  }
}
