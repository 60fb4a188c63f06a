// When the operations of an open loop are due. The schedule knows nothing of how long they take:
// a slow engine is late, and its lateness is measured.
package import Platform

/// Gaps between due times.
package enum Arrivals: String, CaseIterable, Sendable {
  case fixed
  case poisson
}

/// Due times of one thread's operations in one phase.
package struct ArrivalSchedule: Sendable {
  private let arrivals: Arrivals
  private let meanGap: Double
  private let start: UInt64
  private var position: Double
  private var random: RandomGenerator

  /// `ratePerSecond` of this thread, above 0; `offset` in gaps shifts threads against each other.
  package init(
    _ arrivals: Arrivals, ratePerSecond: Double, start: UInt64, offset: Double,
    random: RandomGenerator
  ) {
    self.arrivals = arrivals
    meanGap = 1_000_000_000 / ratePerSecond
    self.start = start
    self.random = random
    position = 0
    switch arrivals {
    case .fixed: position = offset * meanGap
    case .poisson: position = gap()
    }
  }

  /// When the current operation is due.
  package var due: UInt64 { start + UInt64(position) }

  /// Moves to the next operation.
  package mutating func advance() { position += gap() }

  /// Moves everything still due by a pause that was not the load's.
  package mutating func postpone(nanoseconds: UInt64) { position += Double(nanoseconds) }

  /// Counts the operations due before `end` that nobody started, and moves past them.
  package mutating func skip(until end: UInt64) -> UInt64 {
    var skipped: UInt64 = 0
    while due < end {
      skipped += 1
      advance()
    }
    return skipped
  }

  private mutating func gap() -> Double {
    switch arrivals {
    case .fixed: meanGap
    case .poisson: -naturalLogarithm(1 - Double.random(in: 0..<1, using: &random)) * meanGap
    }
  }
}
