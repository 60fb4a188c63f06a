// How often a run checks, and that what is made before a transaction is what the model says.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.ownThreads) struct CheckRateTests {
  @Test(arguments: [1.0, 0.5, 1.0 / 32, 0.001])
  func theShareIsWhatWasAskedFor(rate: Double) {
    var random = RandomGenerator(seed: testSeed())
    var sampler = CheckSampler(rate: rate, &random)
    let tries = 400_000
    let hits = (0..<tries).filter { _ in sampler.isDue(&random) }.count
    let expected = Double(tries) * rate
    // Six standard deviations of gaps that are spread evenly.
    let allowed = 6 * (expected).squareRoot() * 0.6 + 1
    #expect(abs(Double(hits) - expected) <= allowed, "\(hits) instead of \(expected)")
  }

  @Test func noneAndAllAreExact() {
    var random = RandomGenerator(seed: testSeed())
    var never = CheckSampler(rate: 0, &random)
    var always = CheckSampler(rate: 1, &random)
    for _ in 0..<1_000 {
      let (isNeverDue, isAlwaysDue) = (never.isDue(&random), always.isDue(&random))
      #expect(!isNeverDue && isAlwaysDue)
    }
  }

  /// A share as small as that is no mistake, and as good as none.
  @Test(arguments: [1e-12, 1e-30, .leastNonzeroMagnitude])
  func aTinyShareIsNone(rate: Double) {
    var random = RandomGenerator(seed: testSeed())
    var sampler = CheckSampler(rate: rate, &random)
    let hits = (0..<1_000).filter { _ in sampler.isDue(&random) }.count
    #expect(hits == 0)
  }

  /// A load that repeats itself with any period must not keep the same reads from being checked.
  @Test func noPatternEscapes() {
    var random = RandomGenerator(seed: testSeed())
    var sampler = CheckSampler(rate: 1.0 / 32, &random)
    for period in [2, 16, 32, 64] {
      var seen: Set<Int> = []
      for read in 0..<200_000 where sampler.isDue(&random) { seen.insert(read % period) }
      #expect(seen.count == period)
    }
  }

  @Test func oneInSixteenIsTimed() {
    var costs = CostSampler()
    let timed = (0..<16_000).filter { _ in costs.begin() != 0 }.count
    #expect(abs(timed - 1_000) < 50)
    #expect(costs.end(0) == 0)
    #expect(costs.end(MonotonicClock().nanoseconds()) % 16 == 0)
  }

  @Test func preparedContentIsTheModels() {
    for (objects, batch, rule) in [
      (1_000, 10, ContentModel.Rule.rewrite), (50, 50, .rewrite), (25, 10, .insert),
    ] {
      let model = ContentModel(
        seed: testSeed(), objects: objects, batch: batch,
        valueSize: ValueSize(minimum: 0, maximum: 40), rule: rule)
      var prepared = PreparedBatch()
      for transaction in 1...3 {
        prepared.prepare(transaction, model)
        let expected = model.batch(of: transaction)
        #expect(prepared.transaction == transaction && prepared.count == expected.count)
        for position in 0..<expected.count {
          var row = model.initialRow(expected.key(position))
          #expect(prepared.keys[position] == row.id)
          prepared.apply(position, to: &row)
          #expect(model.defect(in: row) == nil)
          #expect(row.stamp == transaction)
          #expect(row.balance == ContentModel.initialBalance + expected.amount(position))
        }
      }
    }
  }

  /// What checks take inside of a transaction is no part of its time.
  @Test func excludedTimeIsNotMeasured() {
    let control = RunControl()
    let handover = Handover([.write], openLoop: [.write])
    var pace = ThreadPace(
      control: control, handover: handover,
      openLoad: ThreadPace.OpenLoad(ratePerSecond: 1_000, arrivals: .fixed, offset: 0),
      random: RandomGenerator(seed: 1))
    pace.record(
      0, ThreadPace.Turn(due: 900), start: 1_000, end: 1_500, excluded: 300)
    let figures = pace.measurements.figures[0]
    #expect(figures.service.maximum == 200 && figures.response?.maximum == 300)
    pace.record(0, ThreadPace.Turn(due: 900), start: 1_000, end: 1_100, excluded: 5_000)
    #expect(figures.service.minimum == 0)
  }
}
