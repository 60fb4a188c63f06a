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
    let distance = arrivals == .fixed ? offset : nextDistance()
    position = moved(by: distance)
  }

  /// When the current operation is due.
  package var due: UInt64 { start + UInt64(min(position, Self.farthest)) }

  /// Moves to the next operation.
  package mutating func advance() {
    let distance = nextDistance()
    position = moved(by: distance)
  }

  /// Moves everything still due by a pause that was not the load's.
  package mutating func postpone(nanoseconds: UInt64) { position += Double(nanoseconds) }

  /// Moves past the operations due before `end`, and hands over when each was due.
  ///
  /// Of more than a million some are handed over at once, with when the last of them was due: a
  /// rate that nothing could keep up with leaves more than one can count in time.
  package mutating func skip(
    until end: UInt64, _ body: (_ due: UInt64, _ count: UInt64) -> Void
  ) {
    let expected = Double(end - min(due, end)) / shortestGap
    let together = max(1, (expected / 1_000_000).rounded(.down))
    while due < end {
      if together > 1, moved(by: together) < Double(end - start) {
        position = moved(by: together - 1)
        body(due, UInt64(together))
      } else {
        body(due, 1)
      }
      advance()
    }
  }

  /// How far the next operation lies behind this one, in operations of the mean.
  private mutating func nextDistance() -> Double {
    switch arrivals {
    case .fixed: 1
    case .poisson: -naturalLogarithm(1 - Double.random(in: 0..<1, using: &random))
    }
  }

  /// The gap where the rate is at its highest.
  private var shortestGap: Double {
    min(1_000_000_000 / max(ratePerSecond, ramp?.to ?? 0), Self.farthest)
  }

  /// The position behind which so many operations of the mean lie between it and the present one.
  ///
  /// On a ramp that is where the area below it is as large: the gap at the present rate would pass
  /// over most of a ramp that begins low.
  private func moved(by operations: Double) -> Double {
    guard let ramp else {
      return position + operations * min(1_000_000_000 / ratePerSecond, Self.farthest)
    }
    let length = Double(ramp.nanoseconds)
    // Operations a nanosecond.
    let (first, last) = (ratePerSecond / 1_000_000_000, ramp.to / 1_000_000_000)
    let left = max(0, length - position)
    let slope = (last - first) / length
    let present = left > 0 ? first + slope * position : last
    let onRamp = left * (present + last) / 2
    let distance: Double
    if operations < onRamp {
      // The solution of `present * x + slope * x * x / 2 = operations` that loses no digits.
      let root = max(0, present * present + 2 * slope * operations).squareRoot()
      distance = 2 * operations / (present + root)
    } else {
      distance = left + (operations - onRamp) / last
    }
    return position + min(distance, Self.farthest)
  }
}
