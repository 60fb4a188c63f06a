// Power cuts and kills at every point of real histories: whatever a simulated disk may hold then
// opens as some version that was begun and is not older than the newest acknowledged one.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct CrashTests {
  /// A history of one thread with pins, reopening and maintenance.
  static func run(
    _ history: CrashHistory, steps: Int, _ random: inout RandomGenerator
  ) throws {
    var store: Store? = try history.openFirst()
    var pins: [Snapshot] = []
    for _ in 0..<steps {
      switch Int.random(in: 0..<20, using: &random) {
      case 0:
        pins = []
        history.settle()
        store = nil
        store = try history.open()
      case 1, 2:
        pins.append(try store!.pinNewest())
      case 3, 4:
        if !pins.isEmpty { pins.remove(at: Int.random(in: 0..<pins.count, using: &random)) }
      case 5:
        try store!.runMaintenance()
      case 6...9:
        // Some that are written and synced together.
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          try history.commitRandom(store!, &random, isAsynchronous: true)
        }
        // Else the next commit writes what is left.
        if random.oneIn(2) { history.settle() }
      default:
        try history.commitRandom(store!, &random)
      }
    }
    history.settle()
  }

  /// Every operation of short histories, every kind of cut.
  @Test(arguments: CrashPoints.rounds) func everyCutOfAShortHistory(round: Int) async {
    await CrashPoints.run(1, round: round) { random in
      let history = CrashHistory()
      try Self.run(history, steps: 12, &random)
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

  /// Random operations of long histories.
  @Test(arguments: CrashPoints.rounds) func randomCutsOfALongHistory(round: Int) async {
    await CrashPoints.run(11, round: round) { random in
      let history = CrashHistory()
      try Self.run(history, steps: 150, &random)
      try history.checkCuts(CrashPoints.share(150), &random)
    }
  }

  /// Commits of more than a megabyte, whose blocks are synced before their record is written.
  @Test(arguments: CrashPoints.rounds) func cutsOfLargeCommits(round: Int) async {
    await CrashPoints.run(15, round: round) { random in
      let history = CrashHistory()
      let store = try history.openFirst()
      for _ in 0..<3 {
        try history.commitLarge(store, &random)
        try history.commitRandom(store, &random)
        try history.commitRandom(store, &random, isAsynchronous: true)
        try history.commitLarge(store, &random, isAsynchronous: true)
        try history.commitRandom(store, &random, isAsynchronous: true)
      }
      history.settle()
      try history.checkCuts(CrashPoints.share(20), &random)
    }
  }

  /// A commit that goes over pieces of zeros, and a small one behind it in what was left of the
  /// last piece.
  @Test(arguments: CrashPoints.rounds) func cutsOfCommitsByPieces(round: Int) async {
    await CrashPoints.run(18, round: round) { random in
      let history = CrashHistory()
      let store = try history.openFirst()
      try history.commitRandom(store, &random)
      let before = history.disk.operationCount
      try history.commitByPieces(store, &random)
      let zeros = [UInt8](repeating: 0, count: 2 << 20)
      let pieces = history.disk.operations[before...].count {
        if case .write(_, _, let bytes) = $0.kind { bytes == zeros } else { false }
      }
      #expect(pieces > 0, "no zeros were written")
      try history.commitRandom(store, &random)
      history.settle()
      try history.checkCuts(CrashPoints.share(8), &random)
    }
  }

  /// Every sync of some large commits, with each write, or each sector, before it kept or lost on
  /// its own.
  @Test(arguments: CrashPoints.rounds) func syncsOfLargeCommits(round: Int) async {
    await CrashPoints.run(17, round: round) { random in
      let history = CrashHistory()
      let store = try history.openFirst()
      for _ in 0..<3 {
        try history.commitLarge(store, &random)
        try history.commitRandom(store, &random)
      }
      history.settle()
      let count = history.disk.operationCount
      for cut in history.syncs {
        for kind in [PowerCut.picksWrites, .picksSectors] {
          for _ in 0..<CrashPoints.share(4) {
            let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
            try history.checkTwice(
              image, cut: cut, &random, "cut after \(cut) of \(count) operations, \(kind)")
          }
        }
      }
    }
  }

  /// Asynchronous commits that fill a group while the one before is in its sync.
  @Test(arguments: CrashPoints.rounds) func cutsOfAsynchronousGroups(round: Int) async {
    await CrashPoints.run(25, round: round) { random in
      let history = CrashHistory()
      let store = try history.openFirst()
      for turn in 0..<CrashPoints.share(8) {
        history.fileSystem.hold(.synchronize)
        try history.commitRandom(store, &random, isAsynchronous: true)
        history.fileSystem.waitUntilHeld(.synchronize)
        for _ in 0..<Int.random(in: 1...30, using: &random) {
          try history.commitRandom(store, &random, isAsynchronous: true)
        }
        // At times somebody writes what was deferred before its group is led. Not here: what is too
        // long for one record needs a sync of its own, which waits for the one that is held.
        var writer: Thread?
        if turn % 2 == 0 {
          let writes = history.fileSystem.count(of: .write)
          writer = Thread.start(name: "writer") {
            do { try store.beginWrite().cancel() } catch { Issue.record(error) }
          }
          #expect(eventually { history.fileSystem.count(of: .write) > writes })
        }
        let cut = history.disk.operationCount
        for kind in PowerCut.allCases {
          let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
          try history.checkTwice(image, cut: cut, &random, "cut in turn \(turn), \(kind)")
        }
        try history.checkTwice(
          history.disk.killImage(), cut: cut, &random, "killed in turn \(turn)")
        history.fileSystem.release(.synchronize)
        writer?.joinInTime()
        if turn % 3 == 0 { history.settle() }
      }
      history.settle()
      #expect(try store.checkInvariants().findings == [])
      try history.checkCuts(CrashPoints.share(60), &random)
    }
  }

  /// Threads that share records and syncs.
  @Test(arguments: CrashPoints.rounds) func cutsOfGroupedCommits(round: Int) async {
    await CrashPoints.run(21, round: round) { random in
      let history = CrashHistory()
      let store = try history.openFirst()
      for _ in 0..<10 {
        history.fileSystem.hold(.synchronize)
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
        // One group is in its sync, the others wait in the open one or for the lock.
        history.fileSystem.waitUntilHeld(.synchronize)
        let begun = history.entries.count
        for _ in 0..<200 where history.entries.count < begun + 4 { sched_yield() }
        history.fileSystem.release(.synchronize)
        for thread in threads { thread.joinInTime() }
      }
      try history.checkCuts(CrashPoints.share(150), &random)
    }
  }

  /// 64 commits that no sync has reached: any of their pages may be lost or torn.
  @Test(arguments: CrashPoints.rounds) func sixtyFourUnsyncedCommits(round: Int) async {
    await CrashPoints.run(31, round: round) { random in
      let history = CrashHistory()
      let store = try history.openFirst()
      for _ in 0..<8 { try history.commitRandom(store, &random) }
      history.fileSystem.hold(.synchronize)
      let before = history.entries.count
      let threads = (0..<64).map { _ in
        let seed = random.next()
        return Thread.start(name: "committer") {
          var random = RandomGenerator(seed: seed)
          do { try history.commitRandom(store, &random) } catch { Issue.record(error) }
        }
      }
      // The last one may wait for a sync of its own when its record got too long.
      #expect(eventually { history.entries.count >= before + 40 })
      let cut = history.disk.operationCount
      for turn in 0..<CrashPoints.share(150) {
        let kind = PowerCut.allCases[turn % PowerCut.allCases.count]
        let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
        try history.check(image, cut: cut, "unsynced, \(kind)")
      }
      history.fileSystem.release(.synchronize)
      for thread in threads { thread.joinInTime() }
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// Killed while the file is made, opened by another that commits, then the power cut: the file
  /// keeps its name.
  ///
  /// It used to lose it when the kill came between the last sync of the file and that of the
  /// folder.
  @Test(arguments: CrashPoints.rounds) func killsWhileTheFileIsMade(round: Int) async {
    await CrashPoints.run(43, round: round) { random in
      let history = CrashHistory()
      _ = try history.openFirst()
      for cut in 0...history.disk.operationCount {
        for _ in 0..<CrashPoints.share(4) {
          let image = history.disk.killImage(cutAfterOperation: cut)
          try history.checkTwice(image, cut: cut, &random, "killed after \(cut) operations")
        }
      }
    }
  }

  /// The kill of the process: nothing written is lost, the machine goes on.
  @Test(arguments: CrashPoints.rounds) func killsAtAnyOperation(round: Int) async {
    await CrashPoints.run(41, round: round) { random in
      let history = CrashHistory()
      try Self.run(history, steps: 60, &random)
      let count = history.disk.operationCount
      for _ in 0..<CrashPoints.share(70) {
        let cut = Int.random(in: 0...count, using: &random)
        let image = history.disk.killImage(cutAfterOperation: cut)
        try history.checkTwice(
          image, cut: cut, &random, "killed after \(cut) of \(count) operations")
      }
    }
  }

  /// The same with the lock file as the kill leaves it, and then a power cut.
  @Test(arguments: CrashPoints.rounds) func killsBetweenSteps(round: Int) async {
    await CrashPoints.run(51, round: round) { random in
      let history = CrashHistory()
      let store = try history.openFirst()
      for step in 0..<CrashPoints.share(60) {
        try history.commitRandom(store, &random)
        let image = history.disk.killImage()
        try history.checkTwice(
          image, cut: history.disk.operationCount, &random, "killed after step \(step)")
        // Not too long: each image copies the whole history.
        if step % 40 == 39 { history.startAgain() }
      }
    }
  }

  /// A file is deleted and made again under its name: what opens is the old one whole, until the
  /// deletion has returned, or the new one.
  @Test(arguments: CrashPoints.rounds) func cutsOfADeletion(round: Int) async {
    await CrashPoints.run(81, round: round) { random in
      let disk = SimulatedDisk()
      let old = CrashHistory(disk)
      do {
        let store = try old.openFirst()
        for _ in 0..<4 { try old.commitRandom(store, &random) }
      }
      let deletion = disk.operationCount
      #expect(try Store.deleteFiles(path: CrashHistory.path, fileSystem: disk))
      let making = disk.operationCount
      let new = CrashHistory(disk)
      do {
        let store = try new.openFirst()
        for _ in 0..<4 { try new.commitRandom(store, &random) }
      }
      let count = disk.operationCount
      for point in 0..<CrashPoints.share(60) {
        let isNear = point % 3 != 0
        let cut = Int.random(in: isNear ? deletion...making + 8 : 0...count, using: &random)
        let kind = PowerCut.allCases.randomElement(using: &random)!
        let image = disk.crashImage(cutAfterOperation: cut, kind, random: &random)
        let note = "cut after \(cut), deleted at \(deletion) ..< \(making), \(kind)"
        if try cut <= deletion || (cut < making && old.isThere(image)) {
          try old.check(image, cut: min(cut, deletion), note)
        } else {
          try new.check(image, cut: cut, note)
        }
      }
    }
  }
}
