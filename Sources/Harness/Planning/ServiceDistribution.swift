// How long operations take once they have begun, as a run has measured it, and what a queue in
// front of them makes of it: Lindley's recursion over arrivals of an open loop, with samples of the
// measured distribution.
internal import Foundation
internal import Platform

/// Some time of a run, and how long its operations took beside all of the run's.
package struct ServiceStretch: Equatable, Sendable {
  package var nanoseconds: Double
  /// Mean service time there over the mean of the run.
  package var factor: Double

  package init(nanoseconds: Double, factor: Double) {
    self.nanoseconds = nanoseconds
    self.factor = factor
  }
}

/// A measured distribution of service times, in nanoseconds.
package struct ServiceDistribution: Equatable, Sendable {
  private let values: [Double]
  /// Share of the operations up to each value.
  private let shares: [Double]
  package let mean: Double
  package let count: Double
  /// The run in its order: slow operations follow each other, and together they fill a queue.
  package let stretches: [ServiceStretch]

  /// Nil when nothing was measured.
  ///
  /// - Parameter intervals: length, operations and mean service time of the run's intervals, in
  ///   their order.
  package init?(
    _ histogram: LatencyHistogram,
    intervals: [(nanoseconds: Double, count: Double, mean: Double)] = []
  ) {
    guard histogram.count > 0 else { return nil }
    var (values, shares): ([Double], [Double]) = ([], [])
    var total: UInt64 = 0
    var sum = 0.0
    histogram.forEachBucket { value, count in
      total += count
      sum += Double(value) * Double(count)
      values.append(Double(value))
      shares.append(Double(total))
    }
    count = Double(total)
    mean = sum / Double(total)
    self.values = values
    self.shares = shares.map { $0 / Double(total) }
    stretches = Self.stretches(intervals, mean: sum / Double(total))
  }

  /// Intervals together until there are enough operations for their mean: of fewer it differs by
  /// chance alone.
  private static func stretches(
    _ intervals: [(nanoseconds: Double, count: Double, mean: Double)], mean: Double
  ) -> [ServiceStretch] {
    var stretches: [ServiceStretch] = []
    var (time, count, sum) = (0.0, 0.0, 0.0)
    for interval in intervals {
      time += interval.nanoseconds
      count += interval.count
      sum += interval.count * interval.mean
      guard time >= 20e6 && count >= 30 else { continue }
      stretches.append(ServiceStretch(nanoseconds: time, factor: sum / count / mean))
      (time, count, sum) = (0, 0, 0)
    }
    return stretches.count < 3 ? [] : stretches
  }

  /// One standard deviation of the means of stretches that are as long as this.
  package func deviation(ofNanoseconds length: Double) -> Double? {
    var means: [Double] = []
    var (time, sum) = (0.0, 0.0)
    for stretch in stretches {
      time += stretch.nanoseconds
      sum += stretch.nanoseconds * stretch.factor
      guard time >= length else { continue }
      means.append(sum / time - 1)
      (time, sum) = (0, 0)
    }
    guard means.count >= 3 else { return nil }
    return (means.reduce(0) { $0 + $1 * $1 } / Double(means.count)).squareRoot()
  }

  package init(values: [Double]) {
    let sorted = values.sorted()
    self.values = sorted
    shares = sorted.indices.map { Double($0 + 1) / Double(sorted.count) }
    mean = sorted.reduce(0, +) / Double(sorted.count)
    count = Double(sorted.count)
    stretches = []
  }

  /// The value that a share of the operations does not exceed.
  package func quantile(_ share: Double) -> Double {
    var (low, high) = (0, shares.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if shares[middle] < share { low = middle + 1 } else { high = middle }
    }
    return values[low]
  }

  func sample(_ random: inout RandomGenerator) -> Double {
    quantile(random.nextShare())
  }
}

/// A queue with one schedule: arrivals of an open loop, and servers with measured service times.
package struct QueueModel: Sendable {
  /// Service times by the load at which they were measured, in rising order; the last one is never
  /// idle.
  package var measured: [(load: Double, service: ServiceDistribution)]
  /// What passes between the due time and the begin though nobody waits.
  package var startDelay: Double
  /// Writers, each with a part of the arrivals.
  package var servers: Double
  package var arrivals: Arrivals
  /// How fast measured runs were in the course of time, a list a run.
  package var stretches: [[ServiceStretch]] = []
  /// Added to each service time, for another disk.
  package var shift = 0.0
  /// What a sync of the disk took, with which the service times were measured.
  package var syncNanoseconds: Double?
  /// Factor of each service time, for another load.
  package var scale = 1.0

  package init(
    measured: [(load: Double, service: ServiceDistribution)], startDelay: Double,
    servers: Double, arrivals: Arrivals
  ) {
    self.measured = measured
    self.startDelay = startDelay
    self.servers = servers
    self.arrivals = arrivals
    stretches = measured.map(\.service.stretches).filter { !$0.isEmpty }
  }

  /// Service times of an engine that is never idle, and of the most idle one.
  package var busy: ServiceDistribution { measured[measured.count - 1].service }
  package var idle: ServiceDistribution { measured[0].service }

  /// Operations a second that a closed loop does.
  package var capacity: Double { 1e9 * servers / max(1, busy.mean * scale + shift) }

  /// The two neighbours of a load, and the share of the second one.
  private func around(
    _ load: Double
  ) -> (lower: ServiceDistribution, upper: ServiceDistribution, share: Double) {
    guard let position = measured.firstIndex(where: { $0.load >= load }) else {
      return (busy, busy, 1)
    }
    if position == 0 { return (idle, idle, 0) }
    let (lower, upper) = (measured[position - 1], measured[position])
    let width = upper.load - lower.load
    return (lower.service, upper.service, width > 0 ? (load - lower.load) / width : 1)
  }

  /// Quantiles of the response time in runs of some length: of each run one value a share.
  package func responses(
    ratePerSecond: Double, seconds: Double, shares: [Double], runs: Int, seed: UInt64
  ) -> [[Double]] {
    var random = RandomGenerator(seed: seed)
    let histogram = LatencyHistogram()
    return (0..<runs).map { _ in
      histogram.reset()
      one(ratePerSecond, seconds, shares, into: histogram, &random)
      return shares.map { share in
        let rank = UInt64((share * Double(histogram.count)).rounded(.up))
        return Double(histogram.value(ofRank: rank, without: nil) ?? histogram.maximum)
      }
    }
  }

  private func one(
    _ rate: Double, _ seconds: Double, _ shares: [Double], into responses: LatencyHistogram,
    _ random: inout RandomGenerator
  ) {
    let gap = 1e9 * servers / rate
    // Forty samples beyond a quantile tell where it is. Slow stretches are rare, so a simulation
    // is never very short; more samples only take longer.
    let rarest = 1 - (shares.max() ?? 0.5)
    let enough = min(20_000, max(6_000, Int(40 / max(1e-4, rarest))))
    let count = max(200, min(enough, Int(rate * seconds / servers)))
    let (lower, upper, upperShare) = around(min(1, rate / capacity))
    var pace = StretchWalk(stretches)
    var (due, free) = (0.0, 0.0)
    for _ in 0..<count {
      let step = arrivals == .fixed ? gap : -log(1 - random.nextShare()) * gap
      due += step
      let isUpper = random.nextShare() < upperShare
      let start = max(due + startDelay, free)
      let factor = pace.factor(at: start, &random)
      let service = max(
        1_000, (isUpper ? upper : lower).sample(&random) * scale * factor + shift)
      free = start + service
      responses.record(UInt64(wholeNumber(free - due)))
    }
  }

  /// A quantile of the response time, with the range of nine in ten runs.
  package func response(
    ratePerSecond: Double, share: Double, seconds: Double, seed: UInt64 = 1
  ) -> PlanEstimate {
    let runs = responses(
      ratePerSecond: ratePerSecond, seconds: seconds, shares: [share], runs: 12, seed: seed)
    let values = runs.map { $0[0] }.sorted()
    return PlanEstimate(median(values), low: values[0], high: values[values.count - 1])
  }
}

/// Goes through pieces of measured runs, each from a random place on, in the order in which they
/// were measured (a block bootstrap: Kuensch, 1989).
private struct StretchWalk {
  private static let longest = 1e9
  private let runs: [[ServiceStretch]]
  private var run = 0
  private var position = 0
  private var factor = 1.0
  private var end = 0.0
  private var endOfPiece = 0.0

  init(_ runs: [[ServiceStretch]]) {
    self.runs = runs
    if runs.isEmpty { end = .infinity }
  }

  /// The factor at a time, which only grows.
  mutating func factor(at time: Double, _ random: inout RandomGenerator) -> Double {
    // What lies behind is not walked through where operations are days apart.
    if time - end > 2 * Self.longest { (end, endOfPiece) = (time - Self.longest, 0) }
    while time >= end {
      position += 1
      if end >= endOfPiece || position >= runs[run].count {
        run = Int(random.next(upperBound: UInt64(runs.count)))
        position = Int(random.next(upperBound: UInt64(runs[run].count)))
        endOfPiece = end + Self.longest
      }
      let stretch = runs[run][position]
      end += stretch.nanoseconds
      factor = stretch.factor
    }
    return factor
  }
}

extension RandomGenerator {
  /// A number from 0 up to and without 1.
  ///
  /// The generic `Double.random` takes most of the time of a simulation that is not optimised.
  fileprivate mutating func nextShare() -> Double { Double(next() >> 11) * 0x1p-53 }
}
