// What a process meets that others have left: records that only their log proves, a log that
// somebody has removed, a parent's store after a fork, version numbers that were lost.
import Glibc
import Platform
import TestSupport
import Testing

@testable import Storage

@Suite(.ownThreads) struct LeftByOthersTests {
  /// A commit of which the history knows nothing: it will be lost.
  private static func commitUnwatched(
    _ store: Store, _ random: inout RandomGenerator, told: Monitor<Int>? = nil,
    awaitsMore: Bool = false
  ) throws {
    let transaction = try beginWithoutWaiting(store)
    for _ in 0..<6 {
      let slot = Int.random(in: 0..<400, using: &random)
      let bytes = [UInt8](repeating: 9, count: Int.random(in: 100...900, using: &random))
      transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, bytes)
    }
    _ = try transaction.commitAsynchronously(awaitsMore: awaitsMore) { _ in
      told?.withLock { $0 += 1 }
      told?.notifyAll()
    }
  }

  /// Leaves a written record that only the log could prove, while the log's next write is held.
  ///
  /// - Returns: how many commits it took.
  @discardableResult
  private static func leaveRecord(
    _ history: CrashHistory, _ store: Store, _ system: FaultFileSystem,
    _ random: inout RandomGenerator, commit: (inout RandomGenerator) throws -> Void
  ) throws -> Int {
    func isProven() throws -> Bool {
      try store.recordSearch.records().first?.record.isProvenByLog == true
    }
    // Until free space lies so scattered that a group has too many extents for a record.
    for _ in 0..<20 where try !isProven() {
      try history.commitLargeGroup(store, on: system, &random)
      history.settle()
    }
    system.hold(.synchronize, pathSuffix: ".log.unfinished")
    try commit(&random)
    system.waitUntilHeld(.synchronize)
    for _ in 0..<150 { try commit(&random) }
    // Who begins writes what is unwritten.
    try store.beginWrite().cancel()
    #expect(try isProven(), "no record leaves the proof to the log")
    return 151
  }

  /// The log's owner is killed with a record that its log does not have; who closes the file last
  /// has not written.
  ///
  /// What was passed over then came back with the next first write.
  @Test(arguments: CrashPoints.rounds) func aSurvivorEndsTheLog(round: Int) async {
    await CrashPoints.run(74, round: round) { random in
      for turn in 0..<CrashPoints.share(4) {
        let history = CrashHistory(commitLog: .always, logSegmentMin: 4 << 20)
        let faults = FaultFileSystem(history.disk, process: 1)
        let doomed = try history.open(faults)
        doomed.stopIdleWork()
        while !doomed.isLogDirty { try history.commitScattered(doomed, &random) }
        var options = history.options(FaultFileSystem(history.disk, process: 2))
        options.commitLog = .never
        var survivor: Store? = try Store.open(options)
        try Self.leaveRecord(history, doomed, faults, &random) { random in
          try history.commitScattered(doomed, &random, isAsynchronous: true, mayFail: true)
        }
        faults.kill()
        let isWriting = turn % 2 == 1
        if isWriting { try history.commitScattered(survivor!, &random) }
        survivor = nil
        let cut = history.disk.operationCount
        try history.checkTwice(
          history.disk.killImage(), cut: cut, &random, "turn \(turn), writing: \(isWriting)")
        withExtendedLifetime((doomed, survivor)) {}
      }
    }
  }

  /// A sync has failed, and its process was killed before it could say so: the blocks of a record
  /// that only the log proves are listed nowhere, so that nobody could write them again.
  @Test(arguments: CrashPoints.rounds) func aSyncOfTheLogsOwnerHasFailed(round: Int) async {
    await CrashPoints.run(75, round: round) { random in
      for turn in 0..<CrashPoints.share(4) {
        let history = CrashHistory(commitLog: .always, logSegmentMin: 4 << 20)
        let faults = FaultFileSystem(history.disk, process: 1)
        let doomed = try history.open(faults)
        doomed.stopIdleWork()
        while !doomed.isLogDirty { try history.commitScattered(doomed, &random) }
        var options = history.options(FaultFileSystem(history.disk, process: 2))
        options.commitLog = .never
        let survivor = try Store.open(options)
        try Self.leaveRecord(history, doomed, faults, &random) { random in
          try history.commitScattered(doomed, &random, isAsynchronous: true, mayFail: true)
        }
        faults.inject(FileFault([.synchronize], code: EIO, pathSuffix: ".realm", times: 1))
        #expect(throws: StorageError.self) { try doomed.bringLogInPlace() }
        faults.kill()
        try UntoldSyncFailureTests.Loss.killedBeforeTheNote.forget(history.disk)
        try history.commitScattered(survivor, &random)
        let cut = history.disk.operationCount
        let image = history.disk.crashImage(
          cutAfterOperation: cut, turn % 2 == 0 ? .keepsNothing : .picksWrites, random: &random)
        try history.checkTwice(image, cut: cut, &random, "turn \(turn)")
        withExtendedLifetime((doomed, survivor)) {}
      }
    }
  }

  /// A write of the log has failed; after everybody has closed the file it is repeated over what
  /// the newest record refers to.
  ///
  /// That record was passed over, and adopted by the first write.
  @Test func aWriteOfTheLogHasFailed() async {
    await withSeeds(4) { random in
      let history = CrashHistory(commitLog: .always, logSegmentMin: 4 << 20)
      let told = Monitor(0)
      do {
        let store = try history.openFirst()
        store.stopIdleWork()
        while !store.isLogDirty { try history.commitScattered(store, &random) }
        let count = try Self.leaveRecord(history, store, history.fileSystem, &random) { random in
          try Self.commitUnwatched(store, &random, told: told)
        }
        history.fileSystem.inject(
          FileFault([.write], code: EIO, pathSuffix: ".log.unfinished", times: 1))
        history.fileSystem.release(.synchronize)
        #expect(told.wait(nanoseconds: waitLimitNanoseconds) { $0 == count })
        #expect(history.fileSystem.struck.count == 1)
      }
      history.fileSystem.clearFaults()
      let store = try history.open()
      let shown = try store.pinNewest()
      var expected = SlotTree.content(shown.reader, shown.root)
      expected[777] = [7]
      let transaction = try store.beginWrite()
      transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: 777, [7])
      let snapshot = try transaction.commit()
      #expect(SlotTree.content(snapshot.reader, snapshot.root) == expected)
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// Somebody removes the log of a file in use, or puts another file in its place: what was
  /// committed before and after is there after a power cut, and the other file stays.
  @Test(arguments: [false, true]) func theLogIsRemoved(isReplaced: Bool) async {
    await withSeeds(3) { random in
      let history = CrashHistory(commitLog: .always)
      let store = try history.openFirst()
      store.stopIdleWork()
      while !store.isLogDirty { try history.commitScattered(store, &random) }
      for _ in 0..<3 { try history.commitScattered(store, &random) }
      let path = CrashHistory.path + ".log"
      try history.disk.remove(path)
      if isReplaced {
        let other = try history.disk.open(path, [.writable, .create])
        try other.write(bytes: [1, 2, 3], at: 0)
      }
      // As after a millisecond.
      store.lockFile.lookAgain()
      try history.commitScattered(store, &random)
      try history.commitScattered(store, &random)
      let cut = history.disk.operationCount
      for kind in [PowerCut.keepsNothing, .picksWrites] {
        let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
        try history.checkTwice(image, cut: cut, &random, "\(kind)")
      }
      #expect(history.disk.exists(path) == isReplaced)
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// A group that has not been synced yet is durable when the log's use ends.
  ///
  /// The next commit, which would have been of that group, does not write over its record.
  @Test func theLogIsRemovedUnderAGroup() async {
    await withSeeds(3) { random in
      let history = CrashHistory(commitLog: .always)
      let store = try history.openFirst()
      store.stopIdleWork()
      while !store.isLogDirty { try history.commitScattered(store, &random) }
      for _ in 0..<3 { try Self.commitUnwatched(store, &random, awaitsMore: true) }
      try history.disk.remove(CrashHistory.path + ".log")
      store.lockFile.lookAgain()
      let transaction = try store.beginWrite()
      let before = SlotTree.content(transaction.base.reader, transaction.base.root)
      var after = before
      after[777] = [7]
      transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: 777, [7])
      let start = history.disk.operationCount
      _ = try transaction.commit()
      for cut in start...history.disk.operationCount {
        for kind in PowerCut.allCases {
          let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
          let later = try history.open(image)
          let snapshot = try later.pinNewest()
          let content = SlotTree.content(snapshot.reader, snapshot.root)
          #expect(content == before || content == after, "cut after \(cut), \(kind)")
        }
      }
    }
  }

  /// The owner of the log lives and is about to append a group to it; another process has opened
  /// and closed the file since, and a third one writes.
  @Test func aLivingOwnerOfALogLosesNothing() async {
    await withSeeds(3) { random in
      let history = CrashHistory(commitLog: .always, logSegmentMin: 4 << 20)
      let owner = try history.openFirst()
      owner.stopIdleWork()
      while !owner.isLogDirty { try history.commitScattered(owner, &random) }
      var options = history.options(FaultFileSystem(history.disk, process: 2))
      options.commitLog = .never
      let writer = try Store.open(options)
      options.fileSystem = FaultFileSystem(history.disk, process: 3)
      var passing: Store? = try Store.open(options)
      try Self.leaveRecord(history, owner, history.fileSystem, &random) { random in
        try history.commitScattered(owner, &random, isAsynchronous: true)
      }
      #expect(try passing!.pinNewest().version > Version(1))
      passing = nil
      try history.commitScattered(writer, &random)
      history.fileSystem.release(.synchronize)
      history.settle()
      let cut = history.disk.operationCount
      for kind in [PowerCut.keepsNothing, .picksWrites] {
        let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
        try history.checkTwice(image, cut: cut, &random, "\(kind)")
      }
      withExtendedLifetime((owner, writer, passing)) {}
    }
  }

  /// Whoever has the write lock and writes nothing, as who opens or closes the file, does not hide
  /// that the writer before it is gone.
  @Test func aDeadWriterIsPassedOn() throws {
    let fixture = LockFixture()
    let (writer, process) = try fixture.openMortal()
    let opened = try fixture.open()
    let later = try fixture.open()
    try writer.acquireWriteLock()
    writer.publishCommitted(version: Version(1), home: 0)
    process.kill()
    try opened.acquireWriteLock()
    opened.releaseWriteLock()
    try later.acquireWriteLock()
    #expect(later.isPreviousWriterGone)
    later.publishCommitted(version: Version(1), home: 0)
    later.releaseWriteLock()
    try opened.acquireWriteLock()
    #expect(opened.wasHeldByAnother)
    #expect(!opened.isPreviousWriterGone)
    opened.releaseWriteLock()
    withExtendedLifetime(writer) {}
  }

  /// Numbers of versions that a power cut has taken are not given again, with a log either.
  @Test(arguments: [CommitLogUse.never, .always])
  func lostNumbersAreNotGivenAgain(use: CommitLogUse) async {
    await withSeeds(3) { random in
      let history = CrashHistory(commitLog: use)
      let store = try history.openFirst()
      store.stopIdleWork()
      for _ in 0..<8 { try history.commitScattered(store, &random) }
      history.fileSystem.hold(.synchronize)
      for _ in 0..<5 { try Self.commitUnwatched(store, &random) }
      let lost = try store.beginWrite()
      let image = history.disk.crashImage(.keepsNothing, random: &random)
      history.fileSystem.release(.synchronize)
      let later = try history.open(image)
      let transaction = try later.beginWrite()
      #expect(transaction.version > lost.version)
      transaction.cancel()
      lost.cancel()
    }
  }

  /// A forked child drops the parent's store and opens the file itself.
  @Test func aForkedChildOpensTheFileAnew() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("data.realm")
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) { [path = path as String] in
      var store: Store? = try Store.open(StoreOptions(path: path))
      store!.stopIdleWork()
      let first = try store!.beginWrite()
      first.root = SlotTree.set(first.editor, first.root, slot: 1, [1])
      _ = try first.commit()
      let child = fork()
      if child == 0 {
        // Whoever waits for ever is ended.
        alarm(60)
        store = nil
        do {
          let own = try Store.open(StoreOptions(path: path))
          let transaction = try own.beginWrite()
          transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: 2, [2])
          _ = try transaction.commit()
        } catch {
          let text = "\(error)\n"
          _ = write(STDERR_FILENO, text, text.utf8.count)
          _exit(1)
        }
        _exit(0)
      }
      var status: Int32 = 0
      precondition(waitpid(child, &status, 0) == child)
      precondition(status == 0, "the child has ended with \(status)")
      let snapshot = try store!.pinNewest()
      precondition(SlotTree.content(snapshot.reader, snapshot.root) == [1: [1], 2: [2]])
    }
    #expect(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } == "")
  }

  /// After an asynchronous commit was lost, an error of one reading leaves the next transaction to
  /// try again; the file could not be written any more until it was closed.
  @Test func aFailedTakeOverIsTriedAgain() throws {
    let system = FaultFileSystem(SimulatedDisk())
    let store = try Store.open(StoreOptions(path: "/data/a.realm", fileSystem: system))
    store.stopIdleWork()
    var random = RandomGenerator(seed: 1)
    let told = Monitor(0)
    system.hold(.synchronize)
    try Self.commitUnwatched(store, &random, told: told)
    system.waitUntilHeld(.synchronize)
    for _ in 0..<3 { try Self.commitUnwatched(store, &random, told: told) }
    system.inject(FileFault([.write], code: ENOSPC, pathSuffix: ".realm", times: 1))
    system.release(.synchronize)
    #expect(told.wait(nanoseconds: waitLimitNanoseconds) { $0 == 4 })
    #expect(system.struck.count == 1)
    system.inject(FileFault([.read], code: EIO, times: 1, thread: .current))
    #expect(throws: StorageError.self) { try store.beginWrite() }
    #expect(system.struck.count == 2)
    let transaction = try store.beginWrite()
    transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: 777, [7])
    let snapshot = try transaction.commit()
    #expect(SlotTree.content(snapshot.reader, snapshot.root)[777] == [7])
    #expect(try store.checkInvariants().findings == [])
  }

  /// Somebody has made the file longer than any block can lie: commits go on, and are found again.
  @Test(arguments: [20 << 40, 1 << 60] as [UInt64]) func aFileOfAnAbsurdLength(length: UInt64)
    throws
  {
    let disk = SimulatedDisk()
    let options = StoreOptions(path: "/data/a.realm", fileSystem: disk)
    for slot in 0..<3 {
      let store = try Store.open(options)
      store.stopIdleWork()
      if slot == 0 { try disk.open("/data/a.realm", .writable).setLength(length) }
      let transaction = try store.beginWrite()
      transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, [1])
      let snapshot = try transaction.commit()
      #expect(SlotTree.content(snapshot.reader, snapshot.root).count == slot + 1)
    }
  }
}
