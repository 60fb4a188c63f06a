// Frozen copies that a reader keeps while others commit, and reads again (I1).
package import Platform

/// A frozen copy with the time at which it is read again.
package struct FrozenCopy<Pin: EnginePin> {
  package let kept: KeptPin<Pin>
  private let versionToReach: UInt64
  private let deadline: UInt64

  /// Keeps it until from 1 to `versions` versions have come, a power of two, or for 100 ms.
  package init(
    _ kept: KeptPin<Pin>, versions: UInt64, now: UInt64, random: inout RandomGenerator
  ) {
    self.kept = kept
    let doublings = UInt64(versions.trailingZeroBitCount) + 1
    versionToReach = kept.pin.version + 1 << random.next(upperBound: doublings)
    deadline = now + 100_000_000
  }

  package func isDue(version: UInt64, now: UInt64) -> Bool {
    version >= versionToReach || now >= deadline
  }
}

/// One thread's frozen copies, one at a time: a new one every 2 to 22 ms for up to 64 versions, or
/// every 16 to 176 ms for up to 8.
///
/// A copy that is kept for long leaves a file with more free space in it, and commits that write to
/// colder memory, which no account of what checks take shows: by 64 versions they were 4 % slower.
package struct FrozenCopyCheck<Driver: EngineDriver> {
  private var copy: FrozenCopy<Driver.Session.Pin>?
  private var next: UInt64
  private let meanGap: UInt64
  private let versions: UInt64
  private var row = Row()
  private let clock = MonotonicClock()

  package init(now: UInt64, _ plan: RunPlan, random: inout RandomGenerator) {
    meanGap = plan.checksFully ? 12_000_000 : 96_000_000
    versions = Self.versions(plan)
    next = now + random.next(upperBound: meanGap)
  }

  /// How many versions a copy is kept for at most.
  static func versions(_ plan: RunPlan) -> UInt64 { plan.checksFully ? 64 : 8 }

  /// Makes a copy if it is time, with some objects of `keys` read in it, or reads the present one
  /// again.
  package mutating func follow(
    _ session: Driver.Session, keys: Int, now: UInt64, place: String,
    _ random: inout RandomGenerator, _ ledger: inout InvariantLedger
  ) throws {
    guard copy?.isDue(version: session.version, now: now) ?? (now >= next) else { return }
    if let copy {
      self.copy = nil
      let start = clock.nanoseconds()
      if let violation = copy.kept.verify(place: "frozen copy of \(place)") { throw violation }
      ledger.count(
        .snapshotStability, checks: copy.kept.checks, cost: clock.nanoseconds() - start)
    } else {
      let start = clock.nanoseconds()
      let pin = session.pin()
      var rows: [Row] = []
      for _ in 0..<4 {
        if pin.read(Int(random.next(upperBound: UInt64(keys))), into: &row) { rows.append(row) }
      }
      copy = FrozenCopy(
        KeptPin(pin: pin, rows: rows), versions: versions, now: now, random: &random)
      next = now + meanGap / 6 + random.next(upperBound: meanGap / 3 * 5)
      ledger.count(.snapshotStability, checks: 0, cost: clock.nanoseconds() - start)
    }
  }
}
