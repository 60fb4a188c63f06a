import TestSupport
import Testing

// Runs that are sorted and merged, against a set of units.
@testable import Storage

@Suite(.ownThreads) struct SpaceFreedRunsTests {
  @Test func whatIsMergedIsWhatWasThere() async {
    await withSeeds(20) { random in
      // Around the end of the homes, where runs stay apart.
      let border = FileHeader.dataStart / 16
      var units = (border - 300..<border + 300).filter { _ in
        Int.random(in: 0..<4, using: &random) > 0
      }
      let expected = units
      units.shuffle(using: &random)
      var runs = units.map { Run(offset: $0 * 16, length: 16) }
      runs.sortAndMerge()
      #expect(runs.flatMap { Array($0.offset / 16..<$0.end / 16) } == expected)
      for (lower, upper) in zip(runs, runs.dropFirst()) {
        #expect(lower.end < upper.offset || upper.offset == FileHeader.dataStart)
      }
      #expect(!runs.contains { $0.offset < FileHeader.dataStart && $0.end > FileHeader.dataStart })
    }
  }

  @Test func noRunAndOneRunStay() {
    var runs: [Run] = []
    runs.sortAndMerge()
    #expect(runs == [])
    runs = [Run(offset: 32, length: 16)]
    runs.sortAndMerge()
    #expect(runs == [Run(offset: 32, length: 16)])
  }
}
