// How long operations take once they have begun, as a run has measured it, and what a queue in
// front of them makes of it: Lindley's recursion over arrivals of an open loop, with samples of the
// measured distribution.
internal import Foundation
internal import Glibc
internal import Platform

/// A measured distribution of service times, in nanoseconds.
package struct ServiceDistribution: Equatable, Sendable {
  private let values: [Double]
  /// Share of the operations up to each value.
  private let shares: [Double]
  package let mean: Double
  package let count: Double
  /// Means of the run's intervals over the whole mean: slow stretches come together.
  package let stretches: [Double]

  /// Nil when nothing was measured.
  package init?(_ histogram: LatencyHistogram, intervalMeans: [Double] = []) {
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
    let middle = sum / Double(total)
    stretches = intervalMeans.count < 3 ? [] : intervalMeans.map { $0 / middle }
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
    return (0..<runs).map { run in
      // Every second run has the slow stretches of the measured ones.
      one(ratePerSecond, seconds, shares, hasStretches: run % 2 == 1, &random)
    }
  }

  private func one(
    _ rate: Double, _ seconds: Double, _ shares: [Double], hasStretches: Bool,
    _ random: inout RandomGenerator
  ) -> [Double] {
    let gap = 1e9 * servers / rate
    // Forty samples beyond a quantile tell where it is; more only take time.
    let rarest = 1 - (shares.max() ?? 0.5)
    let enough = min(20_000, max(2_000, Int(40 / max(1e-4, rarest))))
    let count = max(200, min(enough, Int(rate * seconds / servers)))
    let (lower, upper, upperShare) = around(min(1, rate / capacity))
    var stretch = 1.0
    var nextStretch = 0.0
    var (due, free) = (0.0, 0.0)
    var responses: [Double] = []
    responses.reserveCapacity(count)
    for _ in 0..<count {
      let step = arrivals == .fixed ? gap : -log(1 - random.nextShare()) * gap
      due += step
      if hasStretches && due >= nextStretch {
        stretch = upper.stretches.randomElement(using: &random) ?? 1
        nextStretch = due + 5e8
      }
      let isUpper = random.nextShare() < upperShare
      let service = max(
        1_000, (isUpper ? upper : lower).sample(&random) * scale * stretch + shift)
      let start = max(due + startDelay, free)
      free = start + service
      responses.append(free - due)
    }
    responses.sortAscending()
    return shares.map { responses[min(count - 1, Int(($0 * Double(count)).rounded(.up)) - 1)] }
  }

  /// A quantile of the response time, with the range of nine in ten runs.
  package func response(
    ratePerSecond: Double, share: Double, seconds: Double, seed: UInt64 = 1
  ) -> PlanEstimate {
    let runs = responses(
      ratePerSecond: ratePerSecond, seconds: seconds, shares: [share], runs: 16, seed: seed)
    let values = runs.map { $0[0] }.sorted()
    return PlanEstimate(median(values), low: values[1], high: values[values.count - 2])
  }
}

extension [Double] {
  /// By the C library: the standard one's generic sort takes most of the time of a simulation that
  /// is not optimised.
  fileprivate mutating func sortAscending() {
    withUnsafeMutableBytes { bytes in
      let size = MemoryLayout<Double>.stride
      qsort(bytes.baseAddress!, bytes.count / size, size) { left, right in
        let (left, right) = (left!.load(as: Double.self), right!.load(as: Double.self))
        return left < right ? -1 : left > right ? 1 : 0
      }
    }
  }
}

extension RandomGenerator {
  /// A number from 0 up to and without 1.
  ///
  /// The generic `Double.random` takes most of the time of a simulation that is not optimised.
  fileprivate mutating func nextShare() -> Double { Double(next() >> 11) * 0x1p-53 }
}
