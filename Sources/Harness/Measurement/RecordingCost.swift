// What measuring costs, so that it can be told from what is measured.
internal import Platform

/// Nanoseconds that timing and recording one operation take, measured now.
package func measureRecordingCost(operations: Int = 20_000) -> Double {
  let clock = MonotonicClock()
  let histogram = LatencyHistogram()
  let begin = clock.nanoseconds()
  for _ in 0..<operations {
    let start = clock.nanoseconds()
    histogram.record(clock.nanoseconds() &- start)
  }
  return Double(clock.nanoseconds() - begin) / Double(operations)
}
