// Records that list nothing: those of groups with too many extents, which only the commit log
// proves, and those of large commits, which are written after a sync of all they refer to.
import Glibc
import Platform
import TestSupport
import Testing

@testable import Storage

@Suite(.ownThreads) struct ProvenByLogTests {
  private static func makeHistory(_ use: CommitLogUse = .always) -> CrashHistory {
    CrashHistory(commitLog: use, logSegmentMin: 4 << 20)
  }

  /// A power cut leaves such a record and loses the log's entry: opening passes the version over.
  ///
  /// The first write took it for one of this boot, and went on from it, whether its blocks were
  /// there or not.
  @Test(arguments: CrashPoints.rounds) func whatOpeningPassesOverStaysSo(round: Int) async {
    await CrashPoints.run(71, round: round) { random in
      let history = Self.makeHistory()
      let store = try history.openFirst()
      store.stopIdleWork()
      for _ in 0..<10 { try history.commitScattered(store, &random) }
      var start = 0
      // Until a group has so many extents.
      var isProven = false
      for _ in 0..<20 where !isProven {
        // Repeated after the cut, the log would write over the record: earlier groups have had its
        // home.
        try store.bringLogInPlace()
        start = history.disk.operationCount
        try history.commitLargeGroup(store, &random)
        history.settle()
        isProven = try store.recordSearch.records().first?.record.isProvenByLog == true
      }
      #expect(isProven, "no record leaves the proof to the log")
      // All is in the file, and nothing of it in the log.
      let entry = try Self.lastLogWrite(history.disk)
      let image = history.disk.crashImage(
        cutAfterOperation: entry, .keepsEverything, random: &random)
      #expect(try history.open(image.killImage()).passedOver.count == 1)
      try history.checkTwice(image, cut: entry, &random, "cut before the log's entry")
      for sync in history.syncs where sync > start {
        for _ in 0..<CrashPoints.share(12) {
          let image = history.disk.crashImage(
            cutAfterOperation: sync, .picksWrites, random: &random)
          try history.checkTwice(image, cut: sync, &random, "cut before sync \(sync)")
        }
      }
    }
  }

  /// The last operation that has written to the log.
  private static func lastLogWrite(_ disk: SimulatedDisk) throws -> Int {
    let operations = disk.operations
    var log: UInt64?
    for operation in operations {
      guard case .rename(_, let path, let file) = operation.kind else { continue }
      if path == CrashHistory.path + ".log" { log = file }
    }
    let index = operations.lastIndex { operation in
      guard case .write(let file, _, _) = operation.kind else { return false }
      return file == log
    }
    return try #require(index)
  }

  /// The record of a large commit can reach the disk before anything else is synced: by then the
  /// log must not repeat what it had for places that the commit has used again.
  @Test(arguments: CrashPoints.rounds) func largeCommitsAreNotWrittenOver(round: Int) async {
    await CrashPoints.run(72, round: round) { random in
      let history = Self.makeHistory()
      let store = try history.openFirst()
      store.stopIdleWork()
      for _ in 0..<CrashPoints.share(6) {
        for _ in 0..<4 { try history.commitScattered(store, &random) }
        let start = history.disk.operationCount
        try history.commitLarge(store, &random)
        for sync in history.syncs where sync > start {
          for kind in [PowerCut.keepsEverything, .picksWrites] {
            let image = history.disk.crashImage(cutAfterOperation: sync, kind, random: &random)
            try history.checkTwice(image, cut: sync, &random, "cut before sync \(sync), \(kind)")
          }
        }
      }
    }
  }

  /// A group of few extents may be proven by the log, too, for what the group before it wrote; then
  /// a sync of the file alone would not do.
  @Test func theLogNamesWhatOnlyItProves() throws {
    let history = Self.makeHistory()
    var random = RandomGenerator(seed: 1)
    let store = try history.openFirst()
    store.stopIdleWork()
    while !store.isLogDirty { try history.commitScattered(store, &random) }
    try store.bringLogInPlace()
    #expect(!store.isLogDirty)
    let before = try newestEntry(history.disk)
    var group = CommitPipeline.Group(home: store.pipeline.durable!.home)
    group.last = store.pipeline.durable
    try store.makeDurable(group)
    #expect(try newestEntry(history.disk) == before, "a sync of the file was enough")
    group.isProvenByLog = true
    try store.makeDurable(group)
    let named = try newestEntry(history.disk)
    #expect(named.sequence > before.sequence)
    #expect(named.version == group.last!.version)
  }

  /// The same of a version that another process has left: it is synced, and named.
  @Test func theLogNamesWhatIsTakenOver() throws {
    let history = Self.makeHistory()
    var random = RandomGenerator(seed: 2)
    let store = try history.openFirst()
    store.stopIdleWork()
    while !store.isLogDirty { try history.commitScattered(store, &random) }
    try store.bringLogInPlace()
    let before = try newestEntry(history.disk)
    var record = try #require(try store.recordSearch.records().first?.record)
    try store.makeDurableInPlace(record)
    #expect(try newestEntry(history.disk) == before)
    record.isProvenByLog = true
    try store.makeDurableInPlace(record)
    let named = try newestEntry(history.disk)
    #expect(named.sequence > before.sequence && named.version == record.version)
  }

  private func newestEntry(
    _ disk: SimulatedDisk
  ) throws -> (sequence: UInt64, version: Version) {
    let file = try disk.open(CrashHistory.path + ".log", .noFollow)
    let bytes = try file.bytes(at: 0, length: CommitLogHeader.encodedLength)
    let header = try #require(bytes.withUnsafeBytes { CommitLogHeader.decode($0) })
    let entry = try #require(try LogContent(file, header).places.last?.entry)
    return (entry.sequence, entry.version)
  }

  /// A reader without a lock file reads the header; then somebody begins a log and commits what
  /// only that proves.
  ///
  /// The reader called the file damaged.
  @Test func aReaderMeetsALogThatHasJustBegun() throws {
    var random = RandomGenerator(seed: 3)
    let history = Self.makeHistory(.never)
    let store = try history.openFirst()
    store.stopIdleWork()
    for _ in 0..<10 { try history.commitScattered(store, &random) }
    let files = FaultFileSystem(history.disk, process: 2)
    files.inject(FileFault([.open], code: EACCES, pathSuffix: ".lock"))
    files.hold(.open, pathSuffix: ".lock")
    let found = Monitor<Result<Version, any Error>?>(nil)
    let reader = Thread.start(name: "reader") {
      let result = Result {
        let options = StoreOptions(
          path: CrashHistory.path, isReadOnly: true, fileSystem: files)
        return try Store.open(options).pinNewest().version
      }
      found.withLock { $0 = result }
    }
    files.waitUntilHeld(.open)
    try store.beginLog()
    // Until a group has so many extents.
    var isProven = false
    for _ in 0..<20 where !isProven {
      try history.commitLargeGroup(store, &random)
      history.settle()
      isProven = try store.recordSearch.records().first?.record.isProvenByLog == true
    }
    #expect(isProven, "no record leaves the proof to the log")
    files.release(.open)
    reader.joinInTime()
    let version = try #require(found.withLock { $0 }).get()
    #expect(version == history.entries.last!.version)
  }

  /// Closed by a process that has not written: the one whose log it was was killed between a sync
  /// that failed and the note of it, so that the file may lack what the log has.
  @Test(arguments: CrashPoints.rounds) func theLogOfSomebodyWhoIsGoneIsEnded(round: Int) async {
    await CrashPoints.run(73, round: round) { random in
      for turn in 0..<CrashPoints.share(8) {
        let history = Self.makeHistory()
        let faults = FaultFileSystem(history.disk, process: 1)
        let files = MortalFileSystem(faults)
        let doomed = try history.open(files)
        doomed.stopIdleWork()
        while !doomed.isLogDirty { try history.commitScattered(doomed, &random) }
        var options = history.options(FaultFileSystem(history.disk, process: 2))
        options.commitLog = .never
        var survivor: Store? = try Store.open(options)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          try history.commitScattered(doomed, &random)
        }
        _ = try survivor!.pinNewest()
        // The disk has nothing of it then, and the cache calls it clean.
        faults.fail(.synchronize, code: EIO)
        #expect(throws: StorageError.self) { try doomed.bringLogInPlace() }
        files.kill()
        try UntoldSyncFailureTests.Loss.killedBeforeTheNote.forget(history.disk)
        survivor = nil
        let cut = history.disk.operationCount
        for kind in [PowerCut.keepsNothing, .picksWrites] {
          let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
          try history.checkTwice(image, cut: cut, &random, "turn \(turn), \(kind)")
        }
        withExtendedLifetime(doomed) {}
      }
    }
  }
}
