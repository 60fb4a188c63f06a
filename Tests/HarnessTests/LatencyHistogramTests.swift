// The histogram against sorted arrays: three digits, exact maximum, merging, the text form, and the
// rule of how many samples a percentile takes.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.ownThreads) struct LatencyHistogramTests {
  /// Values of every magnitude from 1 ns to minutes.
  private func values(_ count: Int, _ random: inout RandomGenerator) -> [UInt64] {
    (0..<count).map { _ in random.next() >> (25 + random.next(upperBound: UInt64(39))) }
  }

  @Test func agreesWithSortedArraysToThreeDigits() {
    let seed = testSeed()
    var random = RandomGenerator(seed: seed)
    for count in [1, 2, 19, 20, 100, 5_000, 200_000] {
      let sample = values(count, &random)
      let histogram = LatencyHistogram()
      for value in sample { histogram.record(value) }
      let sorted = sample.sorted()
      #expect(histogram.count == UInt64(count))
      #expect(histogram.maximum == sorted.last, "seed \(seed)")
      #expect(histogram.minimum == sorted.first, "seed \(seed)")
      #expect(histogram.sum == sample.reduce(0, +))
      for parts in [1, 100, 5_000, 9_000, 9_900, 9_990, 9_999, 10_000] as [UInt64] {
        let rank = max(1, (UInt64(count) * parts + 9_999) / 10_000)
        let exact = sorted[Int(rank) - 1]
        let shown = histogram.unguardedValue(partsPer10000: parts)!
        #expect(shown >= exact, "seed \(seed), \(count) samples, \(parts)")
        #expect(Double(shown) <= Double(exact) * 1.001 + 0.5, "seed \(seed), \(count), \(parts)")
      }
    }
  }

  @Test func percentilesTakeTenTimesTheInverseTail() {
    let expected: [(Percentile, UInt64)] = [
      (.p50, 20), (.p90, 100), (.p99, 1_000), (.p99_9, 10_000), (.p99_99, 100_000),
    ]
    for (percentile, needed) in expected {
      #expect(percentile.samplesNeeded == needed)
      let histogram = LatencyHistogram()
      histogram.record(7, times: needed - 1)
      #expect(histogram.value(at: percentile) == nil)
      histogram.record(7)
      #expect(histogram.value(at: percentile) == 7)
    }
    #expect(LatencyHistogram().value(at: .p50) == nil)
    #expect(LatencyHistogram().mean == nil)
  }

  @Test func mergingIsTheSameAsRecordingTogether() {
    let seed = testSeed()
    var random = RandomGenerator(seed: seed)
    let together = LatencyHistogram()
    let sum = LatencyHistogram()
    for _ in 0..<4 {
      let part = LatencyHistogram()
      for value in values(1_000, &random) {
        part.record(value)
        together.record(value)
      }
      sum.add(part)
    }
    sum.add(LatencyHistogram())
    #expect(sum.percentileText() == together.percentileText(), "seed \(seed)")
    #expect(sum.maximum == together.maximum && sum.sum == together.sum)
    sum.reset()
    #expect(sum.count == 0 && sum.maximum == 0 && sum.unguardedValue(partsPer10000: 9_999) == nil)
    sum.record(5)
    #expect(sum.minimum == 5 && sum.maximum == 5)
  }

  @Test func textIsReadBackAndMergesWithoutLoss() {
    var random = RandomGenerator(seed: testSeed())
    let histogram = LatencyHistogram()
    for value in values(3_000, &random) { histogram.record(value) }
    let text = histogram.percentileText()
    #expect(text.hasPrefix("       Value     Percentile TotalCount 1/(1-Percentile)\n\n"))
    #expect(text.contains("#[Max     = "))
    let again = LatencyHistogram(percentileText: text)
    #expect(again?.count == 3_000)
    #expect(again?.maximum == histogram.maximum)
    for percentile in Percentile.allCases {
      #expect(again?.value(at: percentile) == histogram.value(at: percentile))
    }
    // Cut anywhere, it would lack its longest times.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for length in [0, 3, lines.count / 2, lines.count - 5] {
      #expect(LatencyHistogram(percentileText: lines.prefix(length).joined(separator: "\n")) == nil)
    }
    #expect(LatencyHistogram(percentileText: "1 2 x") == nil)
    #expect(LatencyHistogram(percentileText: "1 0.5 3\n2 0.9 1") == nil)
  }

  /// The largest value of a histogram stands for its bucket, in another one the bucket's end does.
  @Test func whatIsTakenAwayIsFoundWhateverItsBucketIsCalled() throws {
    let (done, leftOut, all) = (LatencyHistogram(), LatencyHistogram(), LatencyHistogram())
    let (ended, waiting): ([UInt64], [UInt64]) = ([7, 5_000_001, 9_000_000], [6, 5_000_001])
    for value in ended { done.record(value) }
    for value in waiting { leftOut.record(value) }
    all.add(done)
    all.add(leftOut)
    let read = try [all, leftOut].map {
      try #require(LatencyHistogram(percentileText: $0.percentileText()))
    }
    let rest = read[0].without(read[1])
    #expect(rest.count == 3 && rest.minimum == 7 && rest.maximum == 9_000_000)
    #expect(rest.value(ofRank: 2, without: nil) == done.value(ofRank: 2, without: nil))
    #expect(all.without(all).count == 0 && all.without(LatencyHistogram()).count == 5)
  }

  @Test func lastLineHasPercentileOneAndNoInverse() {
    let histogram = LatencyHistogram()
    histogram.record(10, times: 3)
    histogram.record(20)
    let lines = histogram.percentileText().split(separator: "\n")
    #expect(lines[1] == "      10.000 0.750000000000          3           4.00")
    #expect(lines[2] == "      20.000 1.000000000000          4")
  }

  @Test func hugeValuesShareABucketButTheMaximumIsExact() {
    let histogram = LatencyHistogram()
    histogram.record(UInt64.max / 4)
    histogram.record(LatencyHistogram.valueMax)
    histogram.record(LatencyHistogram.valueMax + 1)
    #expect(histogram.maximum == UInt64.max / 4)
    #expect(histogram.unguardedValue(partsPer10000: 10_000) == UInt64.max / 4)
    #expect(histogram.count(above: 1_000) == 3)
  }

  @Test func countsWhatIsAboveALimit() {
    let histogram = LatencyHistogram()
    histogram.record(100, times: 90)
    histogram.record(2_000_000, times: 10)
    #expect(histogram.count(above: 1_000_000) == 10)
    #expect(histogram.count(above: 3_000_000) == 0)
    #expect(LatencyHistogram().count(above: 0) == 0)
  }

  @Test func handoverGivesEachSetOnceAndEmpty() {
    let handover = Handover([.read], openLoop: [])
    for round in 1...10 {
      let measurements = handover.take(phase: .measure)
      #expect(measurements.figures[0].service.count == 0)
      measurements.figures[0].service.record(UInt64(round))
      handover.put(measurements)
      var collected: [UInt64] = []
      handover.collect { collected.append($0.figures[0].service.sum) }
      #expect(collected == [UInt64(round)])
    }
  }
}
