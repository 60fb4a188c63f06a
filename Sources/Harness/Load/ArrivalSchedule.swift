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
  private let ratePerSecond: Double
  /// Where the rate goes to, and when it is there; nil where it stays.
  private let ramp: (to: Double, nanoseconds: UInt64)?
  private let start: UInt64
  /// Later than the end of any run: what a tiny rate is due after stays a number that can be added.
  private static let farthest = 1e18
  private var position: Double
  private var random: RandomGenerator

  /// `ratePerSecond` of this thread, above 0; `offset` in gaps shifts threads against each other.
  package init(
    _ arrivals: Arrivals, ratePerSecond: Double, start: UInt64, offset: Double,
    random: RandomGenerator, ramp: (to: Double, nanoseconds: UInt64)? = nil
  ) {
    self.arrivals = arrivals
    self.ratePerSecond = ratePerSecond
    self.ramp = ramp
    self.start = start
    self.random = random
    position = 0
    switch arrivals {
    case .fixed: position = offset * meanGap
    case .poisson: position = gap()
    }
  }

  /// When the current operation is due.
  package var due: UInt64 { start + UInt64(min(position, Self.farthest)) }

  /// Moves to the next operation.
  package mutating func advance() { position += gap() }

  /// Moves everything still due by a pause that was not the load's.
  package mutating func postpone(nanoseconds: UInt64) { position += Double(nanoseconds) }

  /// Moves past the operations due before `end`, and hands over when each was due.
  ///
  /// Of more than a million some are handed over at once, with when the last of them was due: a
  /// rate that nothing could keep up with leaves more than one can count in time.
  package mutating func skip(
    until end: UInt64, _ body: (_ due: UInt64, _ count: UInt64) -> Void
  ) {
    let expected = Double(end - min(due, end)) / meanGap
    let together = max(1, (expected / 1_000_000).rounded(.down))
    while due < end {
      let others = (together - 1) * meanGap
      if together > 1, Double(end - due) > others + meanGap {
        position += others
        body(due, UInt64(together))
      } else {
        body(due, 1)
      }
      advance()
    }
  }

  /// The mean gap at the present time.
  private var meanGap: Double {
    guard let ramp else { return min(1_000_000_000 / ratePerSecond, Self.farthest) }
    let part = min(position / Double(ramp.nanoseconds), 1)
    return min(1_000_000_000 / (ratePerSecond + (ramp.to - ratePerSecond) * part), Self.farthest)
  }

  private mutating func gap() -> Double {
    switch arrivals {
    case .fixed: meanGap
    case .poisson: -naturalLogarithm(1 - Double.random(in: 0..<1, using: &random)) * meanGap
    }
  }
}
