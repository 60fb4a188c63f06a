// Power cuts and kills at every point of real histories: whatever a simulated disk may hold then opens
// as some version that was begun and is not older than the newest acknowledged one.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite struct CrashTests {
  /// Crash points of the whole suite; REALM_CRASH_POINTS sets another number.
  static let points = getenv("REALM_CRASH_POINTS").flatMap { Int(String(cString: $0)) } ?? 2400

  /// A history of one thread with pins, reopening and maintenance.
  private static func run(
    _ history: CrashHistory, steps: Int, _ random: inout RandomGenerator
  ) throws {
    var store: Store? = try history.openFirst()
    var pins: [Snapshot] = []
    for _ in 0..<steps {
      switch Int.random(in: 0..<20, using: &random) {
      case 0:
        pins = []
        store = nil
        store = try history.open()
      case 1, 2:
        pins.append(try store!.pinNewest())
      case 3, 4:
        if !pins.isEmpty { pins.remove(at: Int.random(in: 0..<pins.count, using: &random)) }
      case 5:
        try store!.runMaintenance()
      default:
        try history.commitRandom(store!, &random)
      }
    }
  }

  /// Every operation of short histories, every kind of cut.
  @Test(arguments: [1, 2, 3, 4] as [UInt64]) func everyCutOfAShortHistory(first: UInt64) async {
    await withSeeds(first: first) { random in
      let history = CrashHistory()
      try Self.run(history, steps: 12, &random)
      let count = history.disk.operationCount
      let turns = max(1, Self.points / 8 / count)
      for cut in 0...count {
        for turn in 0..<turns {
          let kind = PowerCut.allCases[(cut + turn) % PowerCut.allCases.count]
          let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
          try history.checkTwice(
            image, cut: cut, &random, "cut after \(cut) of \(count) operations, \(kind)")
        }
      }
    }
  }

  /// Random operations of long histories.
  @Test(arguments: [11, 12, 13, 14] as [UInt64]) func randomCutsOfALongHistory(
    first: UInt64
  ) async {
    await withSeeds(first: first) { random in
      let history = CrashHistory()
      try Self.run(history, steps: 150, &random)
      try history.checkCuts(Self.points / 16, &random)
    }
  }

  /// Commits of more than a megabyte, whose blocks are synced before their record is written.
  @Test(arguments: [15, 16] as [UInt64]) func cutsOfLargeCommits(first: UInt64) async {
    await withSeeds(first: first) { random in
      let history = CrashHistory()
      let store = try history.openFirst()
      for _ in 0..<3 {
        try history.commitLarge(store, &random)
        try history.commitRandom(store, &random)
      }
      try history.checkCuts(Self.points / 60, &random)
    }
  }

  /// Threads that share records and syncs.
  @Test(arguments: [21, 22] as [UInt64]) func cutsOfGroupedCommits(first: UInt64) async {
    await withSeeds(first: first) { random in
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
        for thread in threads { thread.join() }
      }
      try history.checkCuts(Self.points / 16, &random)
    }
  }

  /// 64 commits that no sync has reached: any of their pages may be lost or torn.
  @Test func sixtyFourUnsyncedCommits() async {
    await withSeeds(first: 31) { random in
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
      while history.entries.count < before + 40 { sched_yield() }
      let cut = history.disk.operationCount
      for turn in 0..<Self.points / 12 {
        let kind = PowerCut.allCases[turn % PowerCut.allCases.count]
        let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
        try history.check(image, cut: cut, "unsynced, \(kind)")
      }
      history.fileSystem.release(.synchronize)
      for thread in threads { thread.join() }
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// The kill of the process: nothing written is lost, the machine goes on.
  @Test(arguments: [41, 42] as [UInt64]) func killsAtAnyOperation(first: UInt64) async {
    await withSeeds(first: first) { random in
      let history = CrashHistory()
      try Self.run(history, steps: 60, &random)
      let count = history.disk.operationCount
      for _ in 0..<Self.points / 20 {
        let cut = Int.random(in: 0...count, using: &random)
        let image = history.disk.killImage(cutAfterOperation: cut)
        try history.checkTwice(
          image, cut: cut, &random, "killed after \(cut) of \(count) operations")
      }
    }
  }

  /// The same with the lock file as the kill leaves it, and then a power cut.
  @Test(arguments: [51, 52] as [UInt64]) func killsBetweenSteps(first: UInt64) async {
    await withSeeds(first: first) { random in
      let history = CrashHistory()
      let store = try history.openFirst()
      for step in 0..<Self.points / 20 {
        try history.commitRandom(store, &random)
        let image = history.disk.killImage()
        try history.checkTwice(
          image, cut: history.disk.operationCount, &random, "killed after step \(step)")
        // Not too long: each image copies the whole history.
        if step % 40 == 39 { history.startAgain() }
      }
    }
  }
}
