// Latencies of one operation on one thread: counts in buckets whose width grows with the value, as
// in HdrHistogram, so that 3 significant digits hold from 1 ns to 18 minutes. Recording allocates
// nothing and takes no lock: one thread records, and hands the whole histogram over when it is
// done. Unstable: the harness's own layers may change between releases.

/// A distribution of durations in nanoseconds, exact to 1 part in 1,024.
///
/// Not Sendable: it belongs to one thread at a time.
package final class LatencyHistogram {
  /// Values below this have a bucket each; above, each doubling is cut into half as many buckets.
  private static let linearCount = 2048
  private static let halfCount = 1024
  private static let shiftMax = 29
  /// Larger values share the last bucket; `maximum` stays exact.
  package static let valueMax = (UInt64(1) << 40) - 1
  package static let bucketCount = linearCount + shiftMax * halfCount

  // Owned by this object, freed with it; `bucketCount` counters.
  private let counts: UnsafeMutablePointer<UInt64>
  package private(set) var count: UInt64 = 0
  package private(set) var sum: UInt64 = 0
  /// The largest value recorded, exact.
  ///
  /// 0 when empty.
  package private(set) var maximum: UInt64 = 0
  /// The smallest value recorded, exact.
  ///
  /// 0 when empty.
  package var minimum: UInt64 { count == 0 ? 0 : smallest }
  private var smallest = UInt64.max
  private var highestBucket = 0

  package init() {
    counts = .allocate(capacity: Self.bucketCount)
    counts.initialize(repeating: 0, count: Self.bucketCount)
  }

  deinit { counts.deallocate() }

  /// Adds one duration.
  ///
  /// - Complexity: O(1), no allocation.
  package func record(_ nanoseconds: UInt64) {
    let bucket = Self.bucket(of: nanoseconds)
    counts[bucket] &+= 1
    count &+= 1
    sum &+= nanoseconds
    if nanoseconds > maximum { maximum = nanoseconds }
    if nanoseconds < smallest { smallest = nanoseconds }
    if bucket > highestBucket { highestBucket = bucket }
  }

  /// Adds one duration several times: for reading a histogram back.
  package func record(_ nanoseconds: UInt64, times: UInt64) {
    guard times > 0 else { return }
    record(nanoseconds)
    counts[Self.bucket(of: nanoseconds)] &+= times - 1
    count &+= times - 1
    sum &+= nanoseconds &* (times - 1)
  }

  /// Adds everything that another histogram holds.
  package func add(_ other: LatencyHistogram) {
    guard other.count > 0 else { return }
    for bucket in 0...other.highestBucket { counts[bucket] &+= other.counts[bucket] }
    count &+= other.count
    sum &+= other.sum
    maximum = max(maximum, other.maximum)
    smallest = min(smallest, other.smallest)
    highestBucket = max(highestBucket, other.highestBucket)
  }

  /// Those that are not among others, which are all in it.
  ///
  /// Bucket by bucket: the value that stands for one depends on the largest of its histogram.
  package func without(_ others: LatencyHistogram) -> LatencyHistogram {
    let rest = LatencyHistogram()
    guard count > 0 else { return rest }
    for bucket in 0...highestBucket {
      let taken = min(others.counts[bucket], counts[bucket])
      rest.record(reportedValue(of: bucket), times: counts[bucket] - taken)
    }
    return rest
  }

  /// Forgets everything recorded.
  package func reset() {
    guard count > 0 else { return }
    for bucket in 0...highestBucket { counts[bucket] = 0 }
    count = 0
    sum = 0
    maximum = 0
    smallest = .max
    highestBucket = 0
  }

  /// Nil when nothing was recorded.
  package var mean: Double? { count == 0 ? nil : Double(sum) / Double(count) }

  /// The value that `percentile` of the samples do not exceed, or nil when there are fewer than
  /// 10/(1-p) samples: a tail that was hardly visited is not a figure.
  package func value(at percentile: Percentile) -> UInt64? {
    guard count >= percentile.samplesNeeded else { return nil }
    return unguardedValue(partsPer10000: percentile.partsPer10000)
  }

  /// As `value(at:)` without the rule of how many samples it takes.
  package func unguardedValue(partsPer10000 parts: UInt64) -> UInt64? {
    guard count > 0 else { return nil }
    return value(ofRank: rank(partsPer10000: parts), without: nil)
  }

  /// How many samples lie at or below a percentile.
  package func rank(partsPer10000 parts: UInt64) -> UInt64 {
    let (product, overflow) = count.multipliedReportingOverflow(by: parts)
    precondition(!overflow, "more than 1.8e15 samples")
    return max(1, (product + 9_999) / 10_000)
  }

  /// The value of the sample with that number, from the smallest on, after some of the samples have
  /// been taken away; nil when there are not as many.
  package func value(ofRank rank: UInt64, without others: LatencyHistogram?) -> UInt64? {
    guard count > 0 else { return nil }
    var seen: UInt64 = 0
    for bucket in 0...highestBucket {
      seen &+= counts[bucket] &- min(others?.counts[bucket] ?? 0, counts[bucket])
      if seen >= rank { return reportedValue(of: bucket) }
    }
    return nil
  }

  /// Every bucket that holds something, in order of value: its highest value and its count.
  package func forEachBucket(_ body: (_ highestValue: UInt64, _ count: UInt64) -> Void) {
    guard count > 0 else { return }
    for bucket in 0...highestBucket where counts[bucket] > 0 {
      body(reportedValue(of: bucket), counts[bucket])
    }
  }

  /// How many samples are larger, to the histogram's precision.
  package func count(above nanoseconds: UInt64) -> UInt64 {
    guard count > 0 else { return 0 }
    let first = Self.bucket(of: nanoseconds) + 1
    guard first <= highestBucket else { return 0 }
    return (first...highestBucket).reduce(0) { $0 &+ counts[$1] }
  }

  private func reportedValue(of bucket: Int) -> UInt64 {
    bucket == Self.bucketCount - 1 ? maximum : min(Self.highestValue(of: bucket), maximum)
  }

  private static func bucket(of value: UInt64) -> Int {
    if value < UInt64(linearCount) { return Int(value) }
    if value > valueMax { return bucketCount - 1 }
    let shift = 53 - value.leadingZeroBitCount
    return linearCount + (shift - 1) * halfCount + Int(value >> UInt64(shift)) - halfCount
  }

  private static func highestValue(of bucket: Int) -> UInt64 {
    if bucket < linearCount { return UInt64(bucket) }
    let shift = (bucket - linearCount) / halfCount + 1
    let step = (bucket - linearCount) % halfCount + halfCount
    return ((UInt64(step) + 1) << UInt64(shift)) - 1
  }
}

/// A percentile that the result files have a column for.
package enum Percentile: String, CaseIterable, Sendable {
  case p50
  case p90
  case p99
  case p99_9
  case p99_99

  package var partsPer10000: UInt64 {
    switch self {
    case .p50: 5000
    case .p90: 9000
    case .p99: 9900
    case .p99_9: 9990
    case .p99_99: 9999
    }
  }

  /// 10/(1-p): with fewer samples the percentile is not filled in.
  package var samplesNeeded: UInt64 { 100_000 / (10_000 - partsPer10000) }
}
