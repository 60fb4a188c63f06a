// The walk over the whole file between two commits (I10), rare enough to take at most 2 % of the
// time.
internal import Platform

/// When one thread of a run walks over the file.
package struct SpaceWalk<Driver: EngineDriver> {
  private let shared: RunShared<Driver>
  private let clock = MonotonicClock()
  private var next: UInt64 = 0

  package init(_ shared: RunShared<Driver>) { self.shared = shared }

  /// Walks if it is time; the schedule of an open loop stands still meanwhile.
  package mutating func runIfDue(
    after version: UInt64, _ pace: inout ThreadPace, _ ledger: inout InvariantLedger
  ) throws {
    if next == 0 { next = pace.freeAt + 500_000_000 }
    // After the end the whole is checked anyway, and a walk has to wait for the write lock.
    guard pace.freeAt >= next, shared.control.epoch.phase != nil else { return }
    let start = clock.nanoseconds()
    pace.beginWait(nil, since: start)
    let lockWait = pace.lockWait
    defer { lockWait.end() }
    let findings = try shared.driver.checkInvariants()
    lockWait.end()
    let end = clock.nanoseconds()
    if let violation = SpaceAccountingCheck.judge(findings, place: "after version \(version)") {
      throw violation
    }
    ledger.count(.spaceAccounting, cost: end - start)
    pace.pause(from: start, to: end)
    next = end + max(1_000_000_000, (end - start) * 50)
  }
}
