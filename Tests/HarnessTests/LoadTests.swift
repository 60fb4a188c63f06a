// What the load generators promise: schedules, key distributions, and the content rule.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.ownThreads) struct LoadTests {
  private let model = ContentModel(
    seed: 5, objects: 1_000, batch: 10, valueSize: ValueSize(minimum: 0, maximum: 37))

  // MARK: - Schedules and mixes

  /// From a rate at which the first gap is longer than the ramp, too, and down to one.
  @Test(arguments: [(1, 1_000), (1_000, 1), (0.001, 400), (500, 500)] as [(Double, Double)])
  func aRampHasAllOfItsOperations(from: Double, to: Double) {
    let expected = 5 * (from + to)
    for arrivals in Arrivals.allCases {
      for offset in [0, 0.5] {
        var schedule = ArrivalSchedule(
          arrivals, ratePerSecond: from, start: 7, offset: offset,
          random: RandomGenerator(seed: testSeed()), ramp: (to: to, nanoseconds: 10_000_000_000))
        var count = 0.0
        schedule.skip(until: 10_000_000_007) { due, more in
          #expect(due >= 7 && due < 10_000_000_007)
          count += Double(more)
        }
        // Of a random number the deviation is its root.
        let tolerance = arrivals == .fixed ? 2 : 6 * expected.squareRoot()
        #expect(abs(count - expected) <= tolerance, "\(arrivals), offset \(offset): \(count)")
      }
    }
  }

  /// Shares that a workload of a program has by itself add up to anything; the flag takes 100.
  @Test func sharesThatTheFlagWouldRefuseAreNotInTheCommand() {
    var settings = RunSettings(.mixed)
    #expect(settings.command.contains(" --mix A "))
    settings.mix = OperationMix([(.read, 1), (.update, 1)])
    #expect(!settings.command.contains("--mix"))
    #expect(OperationMix("read:+70,update:30") == nil)
  }

  // MARK: - Sizes

  @Test func sizesAreSpreadAsAFileHasThem() throws {
    let size = ValueSize(percentiles: [4, 20, 90, 2_048, 8_192])
    var random = RandomGenerator(seed: testSeed())
    let count = 100_000
    let sizes = (0..<count).map { _ in size.bytes(random.next()) }
    #expect(sizes.allSatisfy { (4...8_192).contains($0) })
    for (share, most) in [(0.5, 20), (0.9, 90), (0.99, 2_048)] {
      let found = Double(sizes.count { $0 <= most }) / Double(count)
      #expect(abs(found - share) < 0.02, "\(found) are at most \(most)")
    }
    let mean = Double(sizes.reduce(0, +)) / Double(count)
    #expect(abs(mean / size.mean - 1) < 0.1, "\(mean) for \(size.mean)")
    let ends = [0, UInt64.max].map(size.bytes)
    #expect(ends == [4, 8_192])
    #expect(ValueSize(percentiles: [7, 7, 7, 7, 7]).bytes(.max) == 7)
    let text = Units.text(size)
    #expect(text == "percentiles:4B..20B..90B..2048B..8192B")
    #expect(try Units.valueSize(text, flag: "--value-size") == size)
    for wrong in ["1B..2B", "1B..2B..3B..4B..5", "5B..4B..6B..7B..8B", ""] {
      #expect(throws: UsageError.self) {
        try Units.valueSize("percentiles:" + wrong, flag: "--value-size")
      }
    }
  }

  // MARK: - Open loop

  @Test func fixedArrivalsAreEquallySpaced() {
    var schedule = ArrivalSchedule(
      .fixed, ratePerSecond: 2_000, start: 1_000, offset: 0.5, random: RandomGenerator(seed: 1))
    for position in 0..<1_000 {
      #expect(schedule.due == 1_000 + 250_000 + UInt64(position) * 500_000)
      schedule.advance()
    }
  }

  @Test func poissonArrivalsHaveTheMeanAndSpreadOfTheirRate() {
    let seed = testSeed()
    var schedule = ArrivalSchedule(
      .poisson, ratePerSecond: 1_000, start: 0, offset: 0, random: RandomGenerator(seed: seed))
    var gaps: [Double] = []
    var previous: UInt64 = 0
    for _ in 0..<50_000 {
      #expect(schedule.due >= previous)
      gaps.append(Double(schedule.due - previous))
      previous = schedule.due
      schedule.advance()
    }
    let mean = gaps.reduce(0, +) / Double(gaps.count)
    let variance = gaps.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(gaps.count)
    // An exponential distribution: standard deviation equal to the mean.
    #expect(abs(mean / 1e6 - 1) < 0.03, "seed \(seed)")
    #expect(abs(variance.squareRoot() / mean - 1) < 0.05, "seed \(seed)")
  }

  @Test func whatNobodyStartedIsCounted() {
    var schedule = ArrivalSchedule(
      .fixed, ratePerSecond: 1_000, start: 0, offset: 0, random: RandomGenerator(seed: 1))
    schedule.advance()
    // Due at 1, 2, ... 9 ms, before 10 ms.
    var skipped: [UInt64] = []
    schedule.skip(until: 10_000_000) { due, _ in skipped.append(due) }
    #expect(skipped == (1...9).map { $0 * 1_000_000 })
    #expect(schedule.due == 10_000_000)
    schedule.skip(until: 10_000_000) { due, _ in skipped.append(due) }
    #expect(skipped.count == 9)
    schedule.postpone(nanoseconds: 5)
    #expect(schedule.due == 10_000_005)
  }

  /// A rate as small as that is no mistake: nothing more is due, and nothing overflows.
  @Test(arguments: [1e-9, 1e-30, 1e-300])
  func whatIsDueInNoRunIsAMomentAllTheSame(rate: Double) {
    for arrivals in Arrivals.allCases {
      for ramp in [nil, (to: rate / 2, nanoseconds: UInt64(1_000_000_000))] {
        var schedule = ArrivalSchedule(
          arrivals, ratePerSecond: rate, start: 1 << 50, offset: 0.5,
          random: RandomGenerator(seed: 1), ramp: ramp)
        for _ in 0..<3 {
          schedule.advance()
          schedule.postpone(nanoseconds: 1_000)
          #expect(schedule.due > 1 << 55)
          var skipped = 0
          schedule.skip(until: 1 << 51) { _, _ in skipped += 1 }
          #expect(skipped == 0)
        }
      }
    }
  }

  /// However many there are, counting them takes no longer than for some.
  @Test func moreThanOneCanCountAreCountedAllTheSame() {
    for arrivals in Arrivals.allCases {
      var schedule = ArrivalSchedule(
        arrivals, ratePerSecond: 3_000_000_000, start: 0, offset: 0,
        random: RandomGenerator(seed: 1))
      var (count, calls): (UInt64, Int) = (0, 0)
      var last: UInt64 = 0
      schedule.skip(until: 60_000_000_000) { due, more in
        #expect(due >= last && due < 60_000_000_000)
        (last, count, calls) = (due, count + more, calls + 1)
      }
      #expect(abs(Double(count) / 180e9 - 1) < 0.01 && calls < 2_000_000)
      #expect(schedule.due >= 60_000_000_000)
    }
  }

  // MARK: - Keys

  @Test func keysStayInRangeAndFollowTheirDistribution() {
    let seed = testSeed()
    let distributions: [KeyDistribution] = [
      .uniform, .zipf(exponent: 0.99), .zipf(exponent: 1), .zipf(exponent: 1.5), .latest,
      .hotspot(part: 0.1, share: 0.9),
    ]
    for distribution in distributions {
      var random = RandomGenerator(seed: seed)
      let keys = KeyGenerator(distribution, model: model)
      var counts = [Int](repeating: 0, count: model.objects)
      for _ in 0..<50_000 { counts[keys.next(&random, newestTransaction: 50)] += 1 }
      let top = counts.max()!
      switch distribution {
      case .uniform: #expect(top < 150, "seed \(seed)")
      case .zipf(let exponent):
        // The most frequent key has the share 1 / sum(1/k^exponent).
        let sum = (1...model.objects).reduce(0.0) { $0 + pow(Double($1), -exponent) }
        #expect(abs(Double(top) / 50_000 - 1 / sum) < 0.02, "seed \(seed), \(distribution)")
      case .latest: #expect(top > 200, "seed \(seed)")
      case .hotspot:
        let hot = counts[..<100].reduce(0, +)
        #expect(abs(Double(hot) / 50_000 - 0.9) < 0.02, "seed \(seed)")
      }
    }
  }

  @Test func zipfRanksAreExactForAFewRanks() {
    let seed = testSeed()
    var random = RandomGenerator(seed: seed)
    let ranks = ZipfGenerator(count: 4, exponent: 1)
    var counts = [Double](repeating: 0, count: 5)
    for _ in 0..<100_000 { counts[ranks.next(&random)] += 1 }
    let sum = 1 + 1 / 2.0 + 1 / 3.0 + 1 / 4.0
    for rank in 1...4 {
      let expected = 1 / Double(rank) / sum
      #expect(abs(counts[rank] / 100_000 - expected) < 0.01, "seed \(seed), rank \(rank)")
    }
  }

  // MARK: - Content

  @Test func batchesHaveDistinctKeysAndMoveNothingInTotal() {
    for objects in [1, 2, 3, 10, 12, 1_000] {
      for batch in Set([1, 2, 3, objects]) where batch <= objects {
        let model = ContentModel(
          seed: 3, objects: objects, batch: batch, valueSize: ValueSize(minimum: 1, maximum: 1))
        for transaction in 1...200 {
          let members = model.batch(of: transaction)
          let keys = (0..<batch).map(members.key)
          #expect(Set(keys).count == batch)
          #expect(keys.allSatisfy { (0..<objects).contains($0) })
          #expect((0..<batch).reduce(0) { $0 + members.amount($1) } == 0)
          if batch > 1 { #expect(members.amount(0) != 0) }
        }
      }
    }
  }

  @Test func contentIsAcceptedOnlyAsWritten() {
    var row = model.initialRow(17)
    #expect(row.name.utf8.count == 12 && (0..<100).contains(row.age))
    #expect(model.defect(in: row) == nil)
    model.fill(&row, stamp: 12)
    #expect(model.defect(in: row) == nil)
    var wrong = row
    wrong.stamp = 13
    #expect(model.defect(in: wrong) != nil)
    wrong = row
    wrong.age = (row.age + 1) % 100
    #expect(model.defect(in: wrong)?.hasPrefix("age is") == true)
    wrong = row
    wrong.score += 1
    #expect(model.defect(in: wrong)?.hasPrefix("score is") == true)
    wrong = row
    wrong.name = "x"
    #expect(model.defect(in: wrong)?.hasPrefix("name is") == true)
    wrong = row
    wrong.payload.append(0)
    #expect(model.defect(in: wrong)?.hasPrefix("payload has") == true)
  }

  @Test func everyPayloadByteIsChecked() {
    for id in 0..<60 {
      let row = model.initialRow(id)
      for position in row.payload.indices {
        var wrong = row
        wrong.payload[position] ^= 1
        #expect(model.defect(in: wrong) != nil)
        #expect(wrong.digest != row.digest)
        #expect(wrong.difference(from: row)?.hasPrefix("payload") == true)
      }
    }
  }
}
