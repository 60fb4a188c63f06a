// Power cuts and kills while commits go through the log: the same histories as in CrashTests, on
// stores that have a log from their opening on. Its segments are short, so that they take turns
// every few commits, and large commits do not fit.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct CrashLogTests {
  private static func makeHistory(key: [UInt8]? = nil) -> CrashHistory {
    CrashHistory(key: key, commitLog: .always)
  }

  /// How often anything was made durable by an entry of the log.
  private static func entries(_ history: CrashHistory) -> Int {
    var logs: Set<UInt64> = []
    var count = 0
    for operation in history.disk.operations {
      switch operation.kind {
      case .create(let path, let file) where path.hasSuffix(".log.unfinished"): logs.insert(file)
      case .synchronize(let file, _) where logs.contains(file): count += 1
      default: break
      }
    }
    return count
  }

  /// Every operation of short histories, every kind of cut.
  @Test(arguments: CrashPoints.rounds) func everyCutOfAShortHistory(round: Int) async {
    await CrashPoints.run(61, round: round) { random in
      let history = Self.makeHistory()
      try CrashTests.run(history, steps: 10, &random)
      let count = history.disk.operationCount
      let kinds = CrashPoints.share(4)
      for cut in 0...count {
        for kind in PowerCut.allCases.shuffled(using: &random).prefix(kinds) {
          let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
          try history.checkTwice(
            image, cut: cut, &random, "cut after \(cut) of \(count) operations, \(kind)")
        }
      }
    }
  }

  /// Random operations of long histories, in which the segments take turns.
  @Test(arguments: CrashPoints.rounds) func randomCutsOfALongHistory(round: Int) async {
    await CrashPoints.run(62, round: round) { random in
      let history = Self.makeHistory()
      try CrashTests.run(history, steps: 150, &random)
      #expect(Self.entries(history) > 20, "the log was not used")
      try history.checkCuts(CrashPoints.share(150), &random)
    }
  }

  /// The same of an encrypted file.
  @Test(arguments: CrashPoints.rounds) func cutsOfAnEncryptedFile(round: Int) async {
    await CrashPoints.run(63, round: round) { random in
      let history = Self.makeHistory(key: (0..<64).map { UInt8($0) })
      try CrashTests.run(history, steps: 60, &random)
      try history.checkCuts(CrashPoints.share(60), &random)
    }
  }

  /// Commits that do not fit into the log, between others that do.
  @Test(arguments: CrashPoints.rounds) func cutsOfLargeCommits(round: Int) async {
    await CrashPoints.run(64, round: round) { random in
      let history = Self.makeHistory()
      let store = try history.openFirst()
      for _ in 0..<3 {
        for _ in 0..<4 { try history.commitRandom(store, &random) }
        try history.commitLarge(store, &random)
        for _ in 0..<4 { try history.commitRandom(store, &random) }
        try history.commitRandom(store, &random, isAsynchronous: true)
        try history.commitLarge(store, &random, isAsynchronous: true)
      }
      history.settle()
      try history.checkCuts(CrashPoints.share(60), &random)
    }
  }

  /// Groups that fill while the one before is being appended to the log.
  @Test(arguments: CrashPoints.rounds) func cutsOfAsynchronousGroups(round: Int) async {
    await CrashPoints.run(65, round: round) { random in
      let history = Self.makeHistory()
      let store = try history.openFirst()
      for turn in 0..<CrashPoints.share(8) {
        history.fileSystem.hold(.synchronize)
        try history.commitRandom(store, &random, isAsynchronous: true)
        history.fileSystem.waitUntilHeld(.synchronize)
        for _ in 0..<Int.random(in: 1...20, using: &random) {
          try history.commitRandom(store, &random, isAsynchronous: true)
        }
        let cut = history.disk.operationCount
        for kind in PowerCut.allCases {
          let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
          try history.checkTwice(image, cut: cut, &random, "cut in turn \(turn), \(kind)")
        }
        try history.checkTwice(
          history.disk.killImage(), cut: cut, &random, "killed in turn \(turn)")
        history.fileSystem.release(.synchronize)
        if turn % 3 == 0 { history.settle() }
      }
      history.settle()
      #expect(try store.checkInvariants().findings == [])
      try history.checkCuts(CrashPoints.share(60), &random)
    }
  }

  /// Threads that share records and entries.
  @Test(arguments: CrashPoints.rounds) func cutsOfGroupedCommits(round: Int) async {
    await CrashPoints.run(66, round: round) { random in
      let history = Self.makeHistory()
      let store = try history.openFirst()
      for _ in 0..<10 {
        let threads = (0..<6).map { _ in
          let seed = random.next()
          return Thread.start(name: "committer") {
            var random = RandomGenerator(seed: seed)
            do {
              for _ in 0..<2 { try history.commitRandom(store, &random) }
            } catch {
              Issue.record(error)
            }
          }
        }
        for thread in threads { thread.joinInTime() }
      }
      try history.checkCuts(CrashPoints.share(150), &random)
    }
  }

  /// The kill of the process at any operation: the next one repeats the log, then writes.
  @Test(arguments: CrashPoints.rounds) func killsAtAnyOperation(round: Int) async {
    await CrashPoints.run(67, round: round) { random in
      let history = Self.makeHistory()
      try CrashTests.run(history, steps: 60, &random)
      let count = history.disk.operationCount
      for _ in 0..<CrashPoints.share(70) {
        let cut = Int.random(in: 0...count, using: &random)
        let image = history.disk.killImage(cutAfterOperation: cut)
        try history.checkTwice(
          image, cut: cut, &random, "killed after \(cut) of \(count) operations")
      }
    }
  }

  /// A kill, a next process without a log of its own, and then the power cut: what the second one
  /// has committed is not written over by the first one's log.
  @Test(arguments: CrashPoints.rounds) func whoComesAfterAKillEndsTheLog(round: Int) async {
    await CrashPoints.run(68, round: round) { random in
      for turn in 0..<CrashPoints.share(12) {
        let first = Self.makeHistory()
        let store = try first.openFirst()
        for _ in 0..<Int.random(in: 5...25, using: &random) {
          try first.commitRandom(store, &random)
        }
        let image = first.disk.killImage()
        let options = StoreOptions(path: CrashHistory.path, fileSystem: image)
        var content: [Int: [UInt8]] = [:]
        do {
          let next = try Store.open(options)
          for _ in 0..<20 {
            let transaction = try next.beginWrite()
            for _ in 0..<3 {
              transaction.root = SlotTree.set(
                transaction.editor, transaction.root, slot: Int.random(in: 0..<400, using: &random),
                [UInt8](repeating: 5, count: Int.random(in: 1...900, using: &random)))
            }
            _ = try transaction.commit()
          }
          let newest = try next.pinNewest()
          content = SlotTree.content(newest.reader, newest.root)
          let cut = PowerCut.allCases[turn % PowerCut.allCases.count]
          let after = image.crashImage(cut, random: &random)
          let last = try Store.open(StoreOptions(path: CrashHistory.path, fileSystem: after))
          let found = try last.pinNewest()
          #expect(SlotTree.content(found.reader, found.root) == content, "\(cut)")
          #expect(try last.checkInvariants().findings == [])
        }
      }
    }
  }

  /// Two processes, of which one has the log: whoever writes after it ends its use.
  @Test(arguments: CrashPoints.rounds) func cutsOfTwoProcesses(round: Int) async {
    await CrashPoints.run(69, round: round) { random in
      let history = Self.makeHistory()
      let first = try history.openFirst()
      let other = FaultFileSystem(history.disk, process: 2)
      var options = history.options(other)
      options.commitLog = .never
      let second = try Store.open(options)
      for _ in 0..<40 {
        let writes = Int.random(in: 1...5, using: &random)
        let store = random.oneIn(3) ? second : first
        for _ in 0..<writes { try history.commitRandom(store, &random) }
      }
      try history.checkCuts(CrashPoints.share(100), &random)
      withExtendedLifetime((first, second)) {}
    }
  }

  /// A full log waits until the database has what its older half repeats; commits go on before.
  @Test func aFullLogWaitsForTheDatabase() async throws {
    let history = Self.makeHistory()
    var random = RandomGenerator(seed: 4)
    let store = try history.openFirst()
    store.stopIdleWork()
    // Until then commits whose blocks lie together sync the file.
    while !store.isLogDirty { try history.commitScattered(store, &random) }
    history.fileSystem.hold(.synchronize, pathSuffix: ".realm")
    let isDone = Monitor(false)
    defer { history.fileSystem.release(.synchronize) }
    let seed = random.next()
    let writer = Thread.start(name: "writer") {
      var random = RandomGenerator(seed: seed)
      do {
        for _ in 0..<60 { try history.commitScattered(store, &random) }
      } catch {
        Issue.record(error)
      }
      isDone.withLock { $0 = true }
    }
    #expect(eventually { store.isLogFull || isDone.withLock { $0 } })
    #expect(!isDone.withLock { $0 }, "the log did not wait")
    let cut = history.disk.operationCount
    for kind in [PowerCut.keepsNothing, .picksWrites] {
      let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
      try history.check(image, cut: cut, "while the log is full, \(kind)")
    }
    history.fileSystem.release(.synchronize)
    writer.joinInTime()
    #expect(isDone.withLock { $0 })
    #expect(try store.checkInvariants().findings == [])
  }

  /// Commits that do not fit into the log take space that blocks in the log had.
  @Test(arguments: CrashPoints.rounds) func cutsBesideCommitsThatAreNotLogged(round: Int) async {
    await CrashPoints.run(70, round: round) { random in
      let history = Self.makeHistory()
      let store = try history.openFirst()
      for turn in 0..<CrashPoints.share(20) {
        for _ in 0..<3 { try history.commitScattered(store, &random) }
        try history.commit(store) { transaction, content in
          for slot in 0..<40 {
            let bytes = [UInt8](repeating: UInt8(turn & 255), count: 2000)
            content[slot] = bytes
            transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, bytes)
          }
        }
        let cut = history.disk.operationCount
        for kind in [PowerCut.keepsNothing, .keepsEverything] {
          let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
          try history.check(image, cut: cut, "turn \(turn), \(kind)")
        }
      }
    }
  }

  /// Whatever is wrong in a log, the file opens as one of its versions or is called damaged.
  @Test func aDamagedLogIsNoCrash() async throws {
    await withSeeds(first: 9) { random in
      let history = Self.makeHistory()
      let store = try history.openFirst()
      for _ in 0..<12 { try history.commitScattered(store, &random) }
      let entries = history.entries
      for _ in 0..<60 {
        let image = history.disk.crashImage(.keepsNothing, random: &random)
        let log = try image.open(CrashHistory.path + ".log", .writable)
        let length = try log.length()
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let count = Int.random(in: 1...8, using: &random)
          let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
          // Mostly where entries begin.
          var offset = UInt64.random(in: 0..<length, using: &random)
          if random.oneIn(2) { offset = offset & ~4095 | UInt64.random(in: 0..<96, using: &random) }
          try log.write(bytes: bytes, at: offset)
        }
        let opened = Result { () throws(StorageError) in
          try Store.open(StoreOptions(path: CrashHistory.path, fileSystem: image))
        }
        guard let found = try? opened.get().pinNewest() else {
          guard case .failure(.damaged) = opened else {
            Issue.record("\(opened)")
            continue
          }
          continue
        }
        let expected = entries.last { $0.version <= found.version }!.content
        #expect(SlotTree.content(found.reader, found.root) == expected)
      }
      withExtendedLifetime(store) {}
    }
  }

  /// Every call of the file system fails once, on a disk that is full or broken: what was
  /// acknowledged is there, now, when opened again and after a power cut; what was not is whole or
  /// not there.
  @Test(arguments: [EIO, ENOSPC]) func everyFailedCall(code: Int32) async throws {
    var call = 0
    while try Self.fails(call: call, code) { call += 1 }
    #expect(call > 60)
  }

  /// - Returns: false when the history has fewer calls.
  private static func fails(call: Int, _ code: Int32) throws -> Bool {
    let disk = SimulatedDisk()
    let system = FaultFileSystem(disk)
    var random = RandomGenerator(seed: 11)
    var options = StoreOptions(path: CrashHistory.path, fileSystem: system, clock: ManualClock())
    options.commitLog = .always
    options.logSegmentMin = 48 << 10
    var calls = Set(FileCall.allCases)
    // The kernel only drops what it has.
    calls.remove(.unlockByte)
    system.inject(FileFault(calls, code: code, skip: call, times: 1, thread: .current))
    var content: [Int: [UInt8]] = [:]
    var uncertain: [[Int: [UInt8]]] = []
    var store: Store?
    let note = "call \(call), error \(code)"
    do {
      store = try Store.open(options)
    } catch {
      #expect(!system.struck.isEmpty, "\(note): \(error)")
      store = try Store.open(options)
    }
    store!.stopIdleWork()
    for _ in 0..<24 {
      var new = content
      do {
        let transaction = try store!.beginWrite()
        for _ in 0..<6 {
          let slot = Int.random(in: 0..<400, using: &random)
          let length = Int.random(in: 100...900, using: &random)
          new[slot] = [UInt8](repeating: UInt8(slot & 255), count: length)
          transaction.root = SlotTree.set(
            transaction.editor, transaction.root, slot: slot, new[slot])
        }
        _ = try transaction.commit()
        content = new
      } catch {
        #expect(!system.struck.isEmpty, "\(note): \(error)")
        uncertain.append(new)
      }
    }
    // Also in the end of the log's use, which tells nobody.
    #expect(
      store!.isLogDirty || !system.struck.isEmpty, "\(note): nothing is left to bring in place")
    store = nil
    let isStruck = !system.struck.isEmpty
    system.clearFaults()
    store = try Store.open(options)
    let newest = try store!.pinNewest()
    let found = SlotTree.content(newest.reader, newest.root)
    #expect(found == content || uncertain.contains(found), "\(note)")
    #expect(try store!.checkInvariants().findings == [], "\(note)")
    let transaction = try store!.beginWrite()
    transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: 900, [9])
    _ = try transaction.commit()
    for kind in [PowerCut.keepsNothing, .picksSectors] {
      let image = disk.crashImage(kind, random: &random)
      let survivor = try Store.open(StoreOptions(path: CrashHistory.path, fileSystem: image))
      let last = try survivor.pinNewest()
      let kept = found.merging([900: [9]]) { $1 }
      #expect(SlotTree.content(last.reader, last.root) == kept, "\(note), \(kind)")
      #expect(try survivor.checkInvariants().findings == [], "\(note), \(kind)")
    }
    return isStruck
  }

  /// A reader that may not write is refused after a restart, in words; once the file was opened for
  /// writing it reads.
  @Test func readersWaitForAWriter() async throws {
    let history = Self.makeHistory()
    var random = RandomGenerator(seed: 1)
    let store = try history.openFirst()
    for _ in 0..<10 { try history.commitRandom(store, &random) }
    let image = history.disk.crashImage(random: &random)
    var options = StoreOptions(path: CrashHistory.path, isReadOnly: true, fileSystem: image)
    #expect(
      throws: StorageError.logNotRepeated(
        path: CrashHistory.path, log: CrashHistory.path + ".log")
    ) { try Store.open(options) }
    options.isReadOnly = false
    try history.check(image, cut: history.disk.operationCount, "for writing")
    options.isReadOnly = true
    let reader = try Store.open(options)
    #expect(try reader.pinNewest().version >= history.entries.last!.version)
    withExtendedLifetime(store) {}
  }

  /// A log that is gone, is of another file or lacks an entry is damage: the newest commits are in
  /// it.
  @Test func aLogThatIsNotThereIsDamage() async throws {
    let history = Self.makeHistory()
    var random = RandomGenerator(seed: 2)
    let store = try history.openFirst()
    for _ in 0..<10 { try history.commitRandom(store, &random) }
    let path = CrashHistory.path + ".log"
    let gone = history.disk.crashImage(.keepsNothing, random: &random)
    try gone.remove(path)
    try expectDamage(gone, "there is no commit log '\(path)'")
    let foreign = history.disk.crashImage(.keepsNothing, random: &random)
    let file = try foreign.open(path, .writable)
    try file.write(bytes: [UInt8](repeating: 7, count: 4096), at: 0)
    try expectDamage(foreign, "another file has the name of the commit log '\(path)'")
    withExtendedLifetime(store) {}
  }

  private func expectDamage(_ disk: SimulatedDisk, _ text: String) throws {
    let options = StoreOptions(path: CrashHistory.path, fileSystem: disk)
    let error = try #require(throws: StorageError.self) { try Store.open(options) }
    #expect("\(error)".contains(text), "\(error)")
  }

  /// While the machine runs on the log is not needed: a killed process's file opens without it, by
  /// whoever reads and whoever writes.
  @Test func noLogIsNeededAfterAKill() async throws {
    let history = Self.makeHistory()
    var random = RandomGenerator(seed: 5)
    let store = try history.openFirst()
    for _ in 0..<10 { try history.commitRandom(store, &random) }
    let image = history.disk.killImage()
    try image.remove(CrashHistory.path + ".log")
    for removesLockFile in [false, true] {
      if removesLockFile { try image.remove(CrashHistory.path + ".lock") }
      let reader = try Store.open(
        StoreOptions(path: CrashHistory.path, isReadOnly: true, fileSystem: image))
      let found = try reader.pinNewest()
      #expect(SlotTree.content(found.reader, found.root) == history.entries.last!.content)
    }
    try history.check(image, cut: history.disk.operationCount, "for writing")
    withExtendedLifetime(store) {}
  }

  /// A clean end leaves no log, and nothing that an older program could not read.
  @Test func aCleanEndLeavesNoLog() async throws {
    let history = Self.makeHistory()
    var random = RandomGenerator(seed: 3)
    do {
      let store = try history.openFirst()
      for _ in 0..<10 { try history.commitRandom(store, &random) }
      #expect(history.disk.exists(CrashHistory.path + ".log"))
    }
    #expect(!history.disk.exists(CrashHistory.path + ".log"))
    let file = try history.disk.open(CrashHistory.path, [])
    for copy in [UInt64(0), 4096] {
      var flags = [UInt8](repeating: 1, count: 8)
      _ = try flags.withUnsafeMutableBytes { try file.read(into: $0, at: copy + 16) }
      #expect(flags == [UInt8](repeating: 0, count: 8), "copy at \(copy)")
    }
  }
}
