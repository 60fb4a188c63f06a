// Frozen copies that a reader keeps while others commit, and reads again (I1).
package import Platform

/// A frozen copy with the time at which it is read again.
package struct FrozenCopy<Pin: EnginePin> {
  package let kept: KeptPin<Pin>
  private let versionToReach: UInt64
  private let deadline: UInt64

  /// Keeps it until from 1 to 64 versions have come, or for 100 ms.
  package init(_ kept: KeptPin<Pin>, now: UInt64, random: inout RandomGenerator) {
    self.kept = kept
    versionToReach = kept.pin.version + 1 << random.next(upperBound: UInt64(7))
    deadline = now + 100_000_000
  }

  package func isDue(version: UInt64, now: UInt64) -> Bool {
    version >= versionToReach || now >= deadline
  }
}

/// One thread's frozen copies: one at a time, a new one every 2 to 22 ms.
package struct FrozenCopyCheck<Driver: EngineDriver> {
  private var copy: FrozenCopy<Driver.Session.Pin>?
  private var next: UInt64
  private var row = Row()
  private let clock = MonotonicClock()

  package init(now: UInt64, random: inout RandomGenerator) {
    next = now + random.next(upperBound: 20_000_000)
  }

  /// Makes a copy if it is time, with some objects of `keys` read in it, or reads the present one
  /// again.
  package mutating func follow(
    _ session: Driver.Session, keys: Int, now: UInt64, place: String,
    _ random: inout RandomGenerator, _ ledger: inout InvariantLedger
  ) throws {
    if let copy {
      guard copy.isDue(version: session.version, now: now) else { return }
      self.copy = nil
      let start = clock.nanoseconds()
      if let violation = copy.kept.verify(place: "frozen copy of \(place)") { throw violation }
      ledger.count(
        .snapshotStability, checks: copy.kept.checks, cost: clock.nanoseconds() - start)
    } else if now >= next {
      let start = clock.nanoseconds()
      let pin = session.pin()
      var rows: [Row] = []
      for _ in 0..<4 {
        if pin.read(Int(random.next(upperBound: UInt64(keys))), into: &row) { rows.append(row) }
      }
      copy = FrozenCopy(KeptPin(pin: pin, rows: rows), now: now, random: &random)
      next = now + 2_000_000 + random.next(upperBound: 20_000_000)
      ledger.count(.snapshotStability, checks: 0, cost: clock.nanoseconds() - start)
    }
  }
}
