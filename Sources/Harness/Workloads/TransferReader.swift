// One reader thread of the workload transfer: adds up all accounts of a snapshot, by turns a
// refreshed Realm and a frozen copy of it, and judges what comes out. Timed operations hold engine
// calls only.
package import Platform

/// A reader.
package final class TransferReader<Driver: EngineDriver>: SessionThread<Driver> {
  private enum Figure: Int { case sum, refresh, freeze }

  /// I3: what each version added up to, as seen by all readers.
  private let totals: Monitor<VersionDigestCheck>
  private var other = Row()
  private var frozenCopy: FrozenCopy<Driver.Session.Pin>?
  private var cycles: UInt64 = 0

  package init(
    number: Int, shared: RunShared<Driver>, totals: Monitor<VersionDigestCheck>,
    handover: Handover
  ) throws {
    self.totals = totals
    try super.init(
      "reader \(number)", thread: number, shared, handover,
      member: .init(.reader, number, of: shared.plan.readers))
  }

  /// Adds up until the run stops.
  package override func run() throws {
    defer { pace.finish() }
    try begin()
    while pace.follow() {
      let count = pace.claim(shared.plan.refreshEvery)
      if count == 0 { break }
      try refresh(recordedAs: Figure.refresh.rawValue, readsObject: cycles & 7 == 1)
      try addUp(times: count)
      try checkOccasionally()
      cycles += 1
    }
  }

  // MARK: - Operations

  /// Adds the same snapshot up several times: the Realm first, then frozen copies by turns.
  private func addUp(times: Int) throws {
    var first: TableTotal?
    for position in 0..<times {
      let total =
        (cycles &+ UInt64(position)) & 1 == 0 ? sum { session.total() } : try addUpFrozen(first)
      try judge(total, first: first)
      if first == nil { first = total }
      if pace.hasChanged {
        // What was claimed for one phase is not carried into the next.
        let phase = pace.phase
        guard pace.follow(), pace.phase == phase else { return }
      }
    }
  }

  private func addUpFrozen(_ first: TableTotal?) throws -> TableTotal {
    let before = ThreadWork.now()
    let start = clock.nanoseconds()
    let pin = session.pin()
    record(Figure.freeze.rawValue, since: start, before)
    let total = sum { pin.total() }
    if frozenCopy == nil && shared.plan.checks(.snapshotStability) {
      frozenCopy = FrozenCopy(
        KeptPin(pin: pin, rows: [], total: total),
        versions: FrozenCopyCheck<Driver>.versions(shared.plan), now: clock.nanoseconds(),
        random: &random)
    }
    return total
  }

  private func sum(_ body: () -> TableTotal) -> TableTotal {
    let before = ThreadWork.now()
    let start = clock.nanoseconds()
    let total = body()
    record(Figure.sum.rawValue, since: start, before)
    return total
  }

  // MARK: - Checks

  private func judge(_ total: TableTotal, first: TableTotal?) throws {
    if let violation = TransferCheck.judge(
      total, plan: shared.plan, version: watch.version, transaction: watch.transaction, &ledger)
    {
      throw violation
    }
    if let first, shared.plan.checks(.snapshotStability) {
      ledger.count(.snapshotStability)
      if let violation = SnapshotStabilityCheck.compare(
        first: first, again: total, version: watch.version, place: place)
      {
        throw violation
      }
    }
    guard first == nil && shared.plan.checks(.monotonicVersions) else { return }
    ledger.count(.monotonicVersions)
    let violation = totals.withLock {
      $0.observe(version: watch.version, digest: total.digest, place: place)
    }
    if let violation { throw violation }
  }

  private func checkOccasionally() throws {
    let start = clock.nanoseconds()
    if shared.plan.checks(.snapshotStability) {
      if let copy = frozenCopy, copy.isDue(version: watch.version, now: start) {
        frozenCopy = nil
        try verify(copy.kept, place: "frozen copy of \(place)")
      }
      if shared.pins.hasOneDue, let pin = shared.pins.takeDue() {
        try verify(pin, place: "pin read again by \(place)")
      }
    }
    if shared.plan.checks(.atomicity) { try checkPartner() }
  }

  private func verify(_ kept: KeptPin<Driver.Session.Pin>, place: String) throws {
    let start = clock.nanoseconds()
    if let violation = kept.verify(place: place) { throw violation }
    ledger.count(
      .snapshotStability, checks: kept.checks, cost: clock.nanoseconds() - start)
  }

  /// The other accounts of the transfer that changed an account last show that transfer or a later
  /// one.
  private func checkPartner() throws {
    let start = clock.nanoseconds()
    let key = Int(random.next(upperBound: UInt64(model.objects)))
    guard session.read(key, .account, into: &row) else {
      throw AtomicityCheck.missing(key, version: watch.version)
    }
    if row.stamp > 0 {
      let batch = model.batch(of: row.stamp)
      let partner = batch.key(Int(random.next(upperBound: UInt64(batch.count))))
      guard session.read(partner, .account, into: &other) else {
        throw AtomicityCheck.missing(partner, version: watch.version)
      }
      if let violation = AtomicityCheck.member(
        other, ofTransaction: row.stamp, seenIn: "object \(key) shows transaction \(row.stamp)",
        version: watch.version)
      {
        throw violation
      }
    }
    ledger.count(.atomicity, cost: clock.nanoseconds() - start)
  }
}
