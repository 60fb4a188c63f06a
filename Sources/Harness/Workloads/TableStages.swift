// What happens before and after the measured part of a run: the bulk load, and the checks of what
// is left at the end, in parts that workloads put together.
internal import Platform

/// Fills the table; on the calling thread.
///
/// Returns the version that it ends with, or nil when `isCancelled` became true.
package func loadTable<Driver: EngineDriver>(
  _ driver: Driver, model: ContentModel, objectsPerTransaction: Int = 10_000,
  isCancelled: () -> Bool, progress: (Int) -> Void
) throws -> UInt64? {
  let session = try driver.openSession()
  var first = 0
  while first < model.objects {
    if isCancelled() { return nil }
    let last = min(first + objectsPerTransaction, model.objects)
    try session.write {
      for id in first..<last { session.insert(model.initialRow(id)) }
    }
    first = last
    progress(first)
  }
  return session.version
}

/// The checks at the end of a run; on the calling thread.
package struct FinalCheck<Driver: EngineDriver> {
  /// Opened for these checks.
  package let session: Driver.Session
  private let shared: RunShared<Driver>
  private let clock = MonotonicClock()

  /// Checks what is still pinned (I1), then opens a session (I4).
  package init(_ shared: RunShared<Driver>, _ ledger: inout InvariantLedger) throws {
    self.shared = shared
    try Self.checkPins(shared, &ledger)
    session = try shared.driver.openSession()
    guard shared.plan.checks(.readYourWrites) else { return }
    ledger.count(.readYourWrites)
    if let violation = ReadYourWritesCheck.reached(
      session.version, acknowledged: shared.versions.acknowledgedVersion, place: "at the end")
    {
      throw violation
    }
  }

  /// I1: reads what is still pinned once more and releases it; nothing is pinned after that.
  package static func checkPins(
    _ shared: RunShared<Driver>, _ ledger: inout InvariantLedger
  ) throws {
    let clock = MonotonicClock()
    let start = clock.nanoseconds()
    for pin in shared.pins.close() where shared.plan.checks(.snapshotStability) {
      ledger.count(.snapshotStability, checks: pin.checks)
      if let violation = pin.verify(place: "pin released at the end") { throw violation }
    }
    ledger.count(.snapshotStability, checks: 0, cost: clock.nanoseconds() - start)
  }

  /// I2: the table's total.
  ///
  /// - Parameter objects: how many have to be there; nil = all.
  package func checkTotal(_ ledger: inout InvariantLedger, objects: Int? = nil) throws {
    guard shared.plan.checks(.atomicity) else { return }
    let start = clock.nanoseconds()
    let total = session.total()
    ledger.count(.atomicity, cost: clock.nanoseconds() - start)
    if let violation = AtomicityCheck.total(
      total, model: shared.plan.model, objects: objects, version: session.version)
    {
      throw violation
    }
  }

  /// I7: every object of the table is what the order of transactions gives.
  ///
  /// `judge` gets nil for an object that is missing.
  package func checkObjects(
    _ keys: Range<Int>, _ ledger: inout InvariantLedger, judge: (Row?, Int) -> Violation?
  ) throws {
    guard shared.plan.checks(.serialOrder) else { return }
    let start = clock.nanoseconds()
    var row = Row()
    for key in keys {
      try shared.control.checkNotLeft()
      let isFound = session.read(key, into: &row)
      ledger.count(.serialOrder)
      if let violation = judge(isFound ? row : nil, key) { throw violation }
    }
    ledger.count(.serialOrder, checks: 0, cost: clock.nanoseconds() - start)
  }

  /// I10: the engine's own walk over the file.
  package func checkSpace(_ ledger: inout InvariantLedger) throws {
    try Self.checkSpace(shared, &ledger)
  }

  package static func checkSpace(
    _ shared: RunShared<Driver>, _ ledger: inout InvariantLedger
  ) throws {
    guard shared.plan.checks(.spaceAccounting) else { return }
    let clock = MonotonicClock()
    let start = clock.nanoseconds()
    let findings = try shared.driver.checkInvariants()
    ledger.count(.spaceAccounting, cost: clock.nanoseconds() - start)
    if let violation = SpaceAccountingCheck.judge(findings, place: "at the end") {
      throw violation
    }
  }
}
