// What measuring costs, so that it can be told from what is measured.
internal import Platform

/// Nanoseconds that timing and recording one operation take, measured now.
package func measureRecordingCost(operations: Int = 20_000) -> Double {
  let clock = MonotonicClock()
  let figures = OperationMeasurements(isOpenLoop: false)
  let begin = clock.nanoseconds()
  for _ in 0..<operations {
    let before = ThreadWork.now()
    let start = clock.nanoseconds()
    figures.record(clock.nanoseconds() &- start, .since(before))
  }
  return Double(clock.nanoseconds() - begin) / Double(operations)
}
