// The crash tests of encrypted files: the same promises as for others.
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct CrashEncryptionTests {
  private static func makeHistory() -> CrashHistory { CrashHistory(key: EncryptionTests.key) }

  @Test(arguments: CrashPoints.rounds) func everyCutOfAShortHistory(round: Int) async {
    await CrashPoints.run(89, round: round) { random in
      let history = Self.makeHistory()
      try CrashTests.run(history, steps: 10, &random)
      let count = history.disk.operationCount
      for cut in 0...count {
        let kind = PowerCut.allCases.randomElement(using: &random)!
        let image = history.disk.crashImage(cutAfterOperation: cut, kind, random: &random)
        try history.checkTwice(
          image, cut: cut, &random, "cut after \(cut) of \(count) operations, \(kind)")
      }
    }
  }

  @Test(arguments: CrashPoints.rounds) func randomCutsOfALongHistory(round: Int) async {
    await CrashPoints.run(91, round: round) { random in
      let history = Self.makeHistory()
      try CrashTests.run(history, steps: 100, &random)
      try history.commitLarge(try history.open(), &random)
      try history.checkCuts(CrashPoints.share(60), &random)
    }
  }

  @Test(arguments: CrashPoints.rounds) func killsAtAnyOperation(round: Int) async {
    await CrashPoints.run(93, round: round) { random in
      let history = Self.makeHistory()
      try CrashTests.run(history, steps: 40, &random)
      let count = history.disk.operationCount
      for _ in 0..<CrashPoints.share(40) {
        let cut = Int.random(in: 0...count, using: &random)
        let image = history.disk.killImage(cutAfterOperation: cut)
        try history.checkTwice(
          image, cut: cut, &random, "killed after \(cut) of \(count) operations")
      }
    }
  }

  @Test(arguments: CrashPoints.rounds) func cutsOfACompaction(round: Int) async {
    await CrashPoints.run(95, round: round) { random in
      let history = Self.makeHistory()
      let compaction = try CrashCopyTests.compacted(history, &random)
      for _ in 0..<CrashPoints.share(40) {
        let cut = Int.random(
          in: compaction.lowerBound...compaction.upperBound + 4, using: &random)
        let image = history.disk.crashImage(cutAfterOperation: cut, random: &random)
        try history.checkTwice(
          image, cut: cut, &random, "cut after \(cut), compacted in \(compaction)")
      }
    }
  }
}
