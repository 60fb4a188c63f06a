import TestSupport
import Testing

// FreedRuns against a set of units: what is given to the free space is what was added, and neighbours that
// come one after the other, also by turns, come as one.
@testable import Storage

@Suite struct SpaceFreedRunsTests {
  @Test func nothingIsLostAndNothingComesTwice() async {
    await withSeeds(20) { random in
      var freed = FreedRuns()
      for _ in 0..<3 {
        var units = Set<UInt64>((0..<2000).filter { _ in Bool.random(using: &random) })
        let expected = units
        var released = Set<UInt64>()
        let release: (Run) -> Void = { run in
          for unit in run.offset / 16..<run.end / 16 { #expect(released.insert(unit).inserted) }
        }
        while let unit = units.randomElement(using: &random) {
          // Mostly neighbours, up or down.
          let step: UInt64 = Bool.random(using: &random) ? 1 : UInt64.max
          var next = unit
          while units.remove(next) != nil {
            freed.add(Run(offset: next * 16, length: 16), release)
            next &+= step
          }
        }
        freed.finish(release)
        #expect(released == expected)
      }
    }
  }

  @Test func neighboursByTurnsAreOne() {
    var freed = FreedRuns()
    var released: [Run] = []
    let base = FileHeader.dataStart
    for index in 0..<100 as Range<UInt64> {
      freed.add(Run(offset: base + index * 32, length: 32)) { released.append($0) }
      freed.add(Run(offset: base + 1 << 20 - index * 64, length: 64)) { released.append($0) }
    }
    #expect(released == [])
    freed.finish { released.append($0) }
    #expect(
      released == [
        Run(offset: base, length: 3200), Run(offset: base + 1 << 20 - 99 * 64, length: 6400),
      ])
  }

  /// Space of the homes is counted apart.
  @Test func aHomeAndWhatFollowsStayApart() {
    var freed = FreedRuns()
    var released: [Run] = []
    let below = Run(offset: FileHeader.dataStart - 16, length: 16)
    let above = Run(offset: FileHeader.dataStart, length: 16)
    for run in [below, above] { freed.add(run) { released.append($0) } }
    freed.finish { released.append($0) }
    #expect(released == [below, above])
  }
}
