// How often a running load is checked: a share of the reads in full, and the clock read for a share
// of the checks only, so that both together stay a small part of what is measured.
package import Platform

/// Draws which of many reads are checked in full.
package struct CheckSampler: Sendable {
  /// Share of the reads that is checked unless the user says otherwise.
  package static let usualRate = 1.0 / 64

  /// Never reached: a share as small as that is as good as none.
  private static let longestGap = 1e18

  private let meanGap: UInt64
  private var left: UInt64

  /// `rate` from 0 to 1; 0 = never.
  package init(rate: Double, _ random: inout RandomGenerator) {
    meanGap = rate <= 0 ? 0 : UInt64(min(max(1, (1 / rate).rounded()), Self.longestGap))
    left = meanGap <= 1 ? meanGap : 1 + random.next(upperBound: meanGap)
  }

  /// Whether the next one is due; gaps vary, so that no pattern of the load escapes.
  @inline(__always)
  package mutating func isDue(_ random: inout RandomGenerator) -> Bool {
    if meanGap == 0 { return false }
    left &-= 1
    if left > 0 { return false }
    left = meanGap == 1 ? 1 : 1 + random.next(upperBound: 2 * meanGap - 1)
    return true
  }
}

/// Times one in 16 of many short checks, without a pattern, for all of them.
package struct CostSampler: Sendable {
  private var turn: UInt64 = 0
  private let clock = MonotonicClock()

  package init() {}

  /// When a check begins; 0 = this one is not timed.
  @inline(__always)
  package mutating func begin() -> UInt64 {
    turn &+= 0x9e37_79b9_7f4a_7c15
    return turn >> 60 == 0 ? clock.nanoseconds() : 0
  }

  /// No such check takes longer by itself: then the thread had to wait for a processor, as it would
  /// have without the check.
  private static let longestNanoseconds: UInt64 = 50_000

  /// What the check stands for.
  @inline(__always)
  package func end(_ start: UInt64) -> UInt64 {
    start == 0 ? 0 : min(clock.nanoseconds() - start, Self.longestNanoseconds) &* 16
  }
}
