// Power cuts and kills while a file is copied or replaced by a compact one: a copy is there whole
// or not at all, and a compacted file is the old one or the new one, with everything that was
// acknowledged.
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct CrashCopyTests {
  private static func commits(
    _ history: CrashHistory, _ count: Int, _ random: inout RandomGenerator
  ) throws {
    let store = try history.open()
    for _ in 0..<count { try history.commitRandom(store, &random) }
  }

  /// A file with commits before and after its compaction, and where that began and ended.
  static func compacted(
    _ history: CrashHistory, _ random: inout RandomGenerator
  ) throws -> Range<Int> {
    _ = try history.openFirst()
    try commits(history, 8, &random)
    let start = history.disk.operationCount
    #expect(try Store.compact(history.options()))
    let end = history.disk.operationCount
    try commits(history, 4, &random)
    return start..<end
  }

  @Test(arguments: CrashPoints.rounds) func cutsOfACompaction(round: Int) async {
    await CrashPoints.run(83, round: round) { random in
      let history = CrashHistory()
      let compaction = try Self.compacted(history, &random)
      let count = history.disk.operationCount
      for turn in 0..<CrashPoints.share(100) {
        let isNear = turn % 4 != 0
        let cut = Int.random(
          in: isNear ? compaction.lowerBound...compaction.upperBound + 4 : 0...count,
          using: &random)
        let kind = PowerCut.allCases.randomElement(using: &random)!
        let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
        let note = "cut after \(cut) of \(count), compacted in \(compaction), \(kind)"
        try history.checkTwice(image, cut: cut, &random, note)
        if turn % 8 == 0, image.exists(CrashHistory.path) {
          // Whatever an unfinished one has left.
          #expect(try Store.compact(history.options(image)), "\(note)")
          #expect(try history.open(image).checkInvariants().findings == [], "\(note)")
        }
      }
    }
  }

  /// The kill leaves a name that only the cache knows; who opens the file next makes it durable
  /// before it commits.
  @Test(arguments: CrashPoints.rounds) func killsOfACompaction(round: Int) async {
    await CrashPoints.run(85, round: round) { random in
      let history = CrashHistory()
      let compaction = try Self.compacted(history, &random)
      for cut in compaction.lowerBound...compaction.upperBound {
        for _ in 0..<CrashPoints.share(3) {
          let image = history.disk.killImage(cutAfterOperation: cut)
          try history.checkTwice(
            image, cut: cut, &random, "killed after \(cut), compacted in \(compaction)")
        }
      }
    }
  }

  @Test(arguments: CrashPoints.rounds) func cutsOfACopy(round: Int) async {
    await CrashPoints.run(87, round: round) { random in
      let history = CrashHistory()
      let copy = "/data/copy.realm"
      let store = try history.openFirst()
      for _ in 0..<6 { try history.commitRandom(store, &random) }
      let content = history.entries.last!.content
      let start = history.disk.operationCount
      try store.writeCopy(to: copy)
      let end = history.disk.operationCount
      for _ in 0..<3 { try history.commitRandom(store, &random) }
      let count = history.disk.operationCount
      for turn in 0..<CrashPoints.share(60) {
        let cut = Int.random(in: start...count, using: &random)
        let image =
          turn % 3 == 0
          ? history.disk.killImage(cutAfterOperation: cut)
          : history.disk.crashImage(cutAfterOperation: cut, random: &random)
        let note = "cut after \(cut) of \(count), copied in \(start) ..< \(end)"
        try history.check(image, cut: cut, note)
        #expect(image.exists(copy) || cut < end, "\(note): the copy is gone")
        guard image.exists(copy) else { continue }
        try HoleyStore.check(copy, content, image)
      }
    }
  }
}
