// What happens before and after the measured part of a readers-writer run: the bulk load, and the
// checks of the whole table at the end.
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

/// Checks the whole table against a replay of all transactions, the total, and the remaining pins;
/// on the calling thread.
///
/// The ledger counts what was checked, also when a violation is thrown.
package func checkFinalState<Driver: EngineDriver>(
  _ shared: ReadersWriterShared<Driver>, ledger: inout InvariantLedger, isComplete: Bool
) throws {
  let clock = MonotonicClock()
  let plan = shared.plan
  if plan.checks(.snapshotStability) {
    let start = clock.nanoseconds()
    for pin in shared.pins.takeAll() {
      ledger.count(.snapshotStability, checks: UInt64(pin.rows.count))
      if let violation = pin.verify(place: "pin released at the end") { throw violation }
    }
    ledger.count(.snapshotStability, checks: 0, cost: clock.nanoseconds() - start)
  }
  _ = shared.pins.takeAll()
  let session = try shared.driver.openSession()
  if plan.checks(.readYourWrites) {
    ledger.count(.readYourWrites)
    if let violation = ReadYourWritesCheck.reached(
      session.version, acknowledged: shared.versions.acknowledgedVersion, place: "at the end")
    {
      throw violation
    }
  }
  if plan.checks(.atomicity) {
    let start = clock.nanoseconds()
    let total = session.total()
    ledger.count(.atomicity, cost: clock.nanoseconds() - start)
    if let violation = AtomicityCheck.total(total, model: plan.model, version: session.version) {
      throw violation
    }
  }
  // A transaction that failed took a number and wrote nothing: no replay then.
  if plan.checks(.serialOrder) && isComplete {
    let start = clock.nanoseconds()
    let replay = ReplayCheck(model: plan.model, transactions: shared.versions.transactions)
    var row = Row()
    for key in 0..<plan.model.objects {
      let isFound = session.read(key, into: &row)
      let violation =
        replay.judge(isFound ? row : nil, key: key, version: session.version)
        ?? AtomicityCheck.content(row, key: key, model: plan.model, version: session.version)
      ledger.count(.serialOrder)
      if let violation { throw violation }
    }
    ledger.count(.serialOrder, checks: 0, cost: clock.nanoseconds() - start)
  }
  if plan.checks(.spaceAccounting) {
    let start = clock.nanoseconds()
    let findings = try shared.driver.checkInvariants()
    ledger.count(.spaceAccounting, cost: clock.nanoseconds() - start)
    if let violation = SpaceAccountingCheck.judge(findings, place: "at the end") {
      throw violation
    }
  }
}
