// What the clock moves by: 1 ns on most machines, tens of nanoseconds on some. A median of some
// hundred nanoseconds is a small number of such ticks.
internal import Platform

/// Measures the tick of the clock.
package enum ClockTick {
  /// In nanoseconds, from some thousand readings: about a millisecond.
  package static func measure() -> UInt64 {
    let clock = MonotonicClock()
    var differences: Set<UInt64> = []
    for round in 0..<4_000 {
      let start = clock.nanoseconds()
      // Of different length, so that differences lie everywhere.
      for _ in 0..<round % 4 { _ = clock.nanoseconds() }
      differences.insert(clock.nanoseconds() - start)
    }
    return tick(of: differences)
  }

  /// The tick that some differences of readings show.
  ///
  /// A tick that is no whole number of nanoseconds is rounded up or down, so that differences come
  /// in pairs, as in 41, 42, 83, 84; three in a row are of a clock that knows each nanosecond.
  package static func tick(of differences: Set<UInt64>) -> UInt64 {
    let isFine = differences.contains {
      differences.contains($0 + 1) && differences.contains($0 + 2)
    }
    let begins = differences.filter { $0 == 0 || !differences.contains($0 - 1) }.sorted()
    let gaps = zip(begins, begins.dropFirst()).map { $1 - $0 }
    return isFine ? 1 : gaps.min() ?? 1
  }
}
