// One reader thread of the workload transfer: adds up all accounts of a snapshot, by turns a refreshed
// Realm and a frozen copy of it, and judges what comes out. Timed operations hold engine calls only.
package import Platform

/// A reader; made and used on its own thread.
package final class TransferReader<Driver: EngineDriver>: Worker {
  private enum Operation: Int { case sum, refresh, freeze }

  private let shared: RunShared<Driver>
  /// I3: what each version added up to, as seen by all readers.
  private let totals: Monitor<VersionDigestCheck>
  private let place: String
  private let clock = MonotonicClock()
  private let model: ContentModel
  private let openedAfter: SessionWatch<Driver>.Acknowledged
  private let session: Driver.Session
  private var random: RandomGenerator
  package private(set) var ledger = InvariantLedger()
  package var pausedNanoseconds: UInt64 { 0 }

  private var pace: ThreadPace
  private var watch: SessionWatch<Driver>
  private var row = Row()
  private var other = Row()
  private var frozenCopy: FrozenCopy<Driver.Session.Pin>?
  private var cycles: UInt64 = 0

  package init(
    number: Int, shared: RunShared<Driver>, totals: Monitor<VersionDigestCheck>,
    handover: Handover
  ) throws {
    self.shared = shared
    self.totals = totals
    place = "reader \(number)"
    model = shared.plan.model
    random = shared.random(thread: number)
    watch = SessionWatch(shared)
    openedAfter = watch.acknowledged()
    session = try shared.driver.openSession()
    pace = ThreadPace(control: shared.control, handover: handover, random: random)
  }

  /// Adds up until the run stops.
  package func run() throws {
    defer { pace.finish() }
    pace.waitForStart()
    try watch.moved(
      session, since: openedAfter, place: "\(place), opened", readingWith: &random,
      readsObject: true, &ledger)
    while pace.follow() {
      let count = pace.claim(shared.plan.refreshEvery)
      if count == 0 { break }
      try refresh()
      try addUp(times: count)
      try checkOccasionally()
      cycles += 1
    }
  }

  // MARK: - Operations

  private func refresh() throws {
    let acknowledged = watch.acknowledged()
    let start = clock.nanoseconds()
    _ = session.refresh()
    record(.refresh, start)
    try watch.moved(
      session, since: acknowledged, place: place, readingWith: &random,
      readsObject: cycles & 7 == 1, &ledger)
  }

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
    let start = clock.nanoseconds()
    let pin = session.pin()
    record(.freeze, start)
    let total = sum { pin.total() }
    if frozenCopy == nil && shared.plan.checks(.snapshotStability) {
      frozenCopy = FrozenCopy(
        KeptPin(pin: pin, rows: [], total: total), now: clock.nanoseconds(), random: &random)
    }
    return total
  }

  private func sum(_ body: () -> TableTotal) -> TableTotal {
    let start = clock.nanoseconds()
    let total = body()
    record(.sum, start)
    return total
  }

  private func record(_ operation: Operation, _ start: UInt64) {
    pace.measurements.figures[operation.rawValue].service.record(clock.nanoseconds() - start)
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
      if shared.pins.waiting > 0, let pin = shared.pins.takeRetired() {
        try verify(pin, place: "pin released by \(place)")
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

  /// The other accounts of the transfer that changed an account last show that transfer or a later one.
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
