// Dead runs while deltas are replayed, compared with a death a unit. That a taken run took away
// only the first of the kept runs it covers made the first write after an opening stop: the rest
// was kept for a pin although it was in use.
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct SpaceKeptRunsTests {
  @Test func agreesWithAMapOfUnits() async {
    await withSeeds(20) { random in
      let units = 64
      var model = [UInt64](repeating: 0, count: units)
      var kept = KeptRuns()
      for step in 1...300 {
        let start = Int.random(in: 0..<units, using: &random)
        let end = Int.random(in: start..<min(units, start + 12), using: &random) + 1
        let run = Run(offset: UInt64(start * 16), length: UInt64((end - start) * 16))
        let isDeath = random.oneIn(2)
        if isDeath {
          kept.insert(run, death: Version(UInt64(step)))
        } else {
          kept.remove(run)
        }
        for unit in start..<end { model[unit] = isDeath ? UInt64(step) : 0 }
        var found = [UInt64](repeating: 0, count: units)
        var previousEnd: UInt64 = 0
        for (run, death) in kept.runs {
          #expect(run.length > 0 && run.offset >= previousEnd, "step \(step): \(run)")
          previousEnd = run.end
          for unit in Int(run.offset / 16)..<Int(run.end / 16) { found[unit] = death.rawValue }
        }
        #expect(found == model, "step \(step)")
      }
    }
  }
}
