// One writer thread of the readers-writer workload: transactions in a closed or open loop, the pins
// of --pins, and the checks that only a writer can make (I4 on its own Realm, I7, I10 between
// commits).
internal import Platform

/// A writer; made and used on its own thread.
package final class ReadersWriterWriter<Driver: EngineDriver> {
  private let shared: ReadersWriterShared<Driver>
  private let handover: Handover
  private let number: Int
  private let place: String
  private let clock = MonotonicClock()
  private let model: ContentModel
  private let session: Driver.Session
  private var random: RandomGenerator
  /// What the thread checked; read it when the thread has ended.
  package private(set) var ledger = InvariantLedger()
  /// Time in which the schedule stood still for a walk over the whole file (I10).
  package private(set) var pausedNanoseconds: UInt64 = 0

  private var measurements: Measurements
  private var epoch: RunControl.Epoch
  private var schedule: ArrivalSchedule?
  private var row = Row()
  private var freeAt: UInt64 = 0
  private var nextWalk: UInt64 = 0
  private var monotonic = MonotonicVersionCheck()
  private var commits: UInt64 = 0

  /// An operation counts as late when it starts this long after it was due.
  package static var lateNanoseconds: UInt64 { 1_000_000 }

  package init(
    number: Int, shared: ReadersWriterShared<Driver>, handover: Handover
  ) throws {
    self.shared = shared
    self.handover = handover
    self.number = number
    place = "writer \(number)"
    model = shared.plan.model
    random = shared.random(thread: shared.plan.readers + number)
    session = try shared.driver.openSession()
    measurements = handover.take(phase: .warmup)
    epoch = shared.control.epoch
  }

  /// Commits until the run stops.
  package func run() throws {
    defer { handover.put(measurements) }
    shared.control.waitForStart()
    freeAt = clock.nanoseconds()
    nextWalk = freeAt + 500_000_000
    while followEpoch() {
      var due: UInt64?
      if let schedule {
        let control = shared.control
        let epoch = epoch
        let isDue = wait(
          until: schedule.due, clock: clock, isCancelled: { control.epoch != epoch })
        if !isDue { continue }
        due = schedule.due
      }
      if shared.control.claim(1, in: epoch.phase) == 0 {
        shared.control.budgetIsTaken()
        break
      }
      schedule?.advance()
      try commit(due: due)
      if number == 1 && shared.plan.checks(.spaceAccounting) { try walkIfDue() }
    }
    countSkipped(until: clock.nanoseconds())
  }

  private func followEpoch() -> Bool {
    let current = shared.control.epoch
    if current == epoch { return epoch.phase != nil }
    let previous = epoch.phase
    epoch = current
    guard let phase = current.phase else { return false }
    if phase == previous {
      exchange(phase)
      return true
    }
    if previous == .load {
      measurements.phase = phase
    } else {
      countSkipped(until: shared.control.phaseStart)
      exchange(phase)
    }
    startSchedule()
    return true
  }

  private func exchange(_ phase: Phase) {
    handover.put(measurements)
    measurements = handover.take(phase: phase)
  }

  private func startSchedule() {
    guard let rate = shared.plan.writesPerSecond else { return }
    let writers = Double(shared.plan.writers)
    schedule = ArrivalSchedule(
      shared.plan.arrivals, ratePerSecond: rate / writers, start: shared.control.phaseStart,
      offset: Double(number - 1) / writers, random: random.split())
  }

  private func countSkipped(until end: UInt64) {
    guard let skipped = schedule?.skip(until: end) else { return }
    measurements.figures[0].skipped += skipped
  }

  // MARK: - One transaction

  private func commit(due: UInt64?) throws {
    let acknowledged = shared.versions.acknowledgedTransaction
    let checksBase = shared.plan.checks(.readYourWrites) && commits & 7 == 0 && acknowledged > 0
    var transaction = 0
    let start = clock.nanoseconds()
    do {
      try session.write {
        // Numbered inside the write lock: transaction numbers follow the order of commits.
        transaction = shared.versions.nextTransaction()
        if checksBase { try checkBase(acknowledged) }
        try change(model.batch(of: transaction))
      }
    } catch {
      measurements.figures[0].errors += 1
      throw error
    }
    let end = clock.nanoseconds()
    record(due: due, start: start, end: end)
    let other = shared.versions.acknowledge(version: session.version, transaction: transaction)
    commits += 1
    if let other, shared.plan.checks(.monotonicVersions) {
      throw VersionDigestCheck.sharedNumber(session.version, transactions: other, transaction)
    }
    try checkCommit(transaction)
    if shared.plan.pins > 0 && transaction % shared.plan.pinEvery == 0 { try keepPin(transaction) }
  }

  private func change(_ batch: ContentModel.Batch) throws {
    for position in 0..<batch.count {
      let key = batch.key(position)
      var previous = 0
      let isFound = session.update(key) { row in
        previous = row.stamp
        row.balance += batch.amount(position)
        model.fill(&row, stamp: batch.transaction)
      }
      if !isFound { throw AtomicityCheck.missing(key, version: session.version) }
      if previous >= batch.transaction {
        throw Violation(
          .serialOrder, "A transaction found an object written by a later one.",
          witness: [
            "transaction \(batch.transaction) found object \(key) as written by "
              + "transaction \(previous)"
          ])
      }
    }
  }

  private func record(due: UInt64?, start: UInt64, end: UInt64) {
    let figures = measurements.figures[0]
    figures.service.record(end - start)
    if let due {
      figures.response?.record(end - min(due, end))
      if start > due + Self.lateNanoseconds { figures.late += 1 }
      // What passed although the operation was due and the engine had finished the one before.
      let possible = max(due, freeAt)
      figures.generatorDelay?.record(start > possible ? start - possible : 0)
    }
    freeAt = end
  }

  // MARK: - Checks

  /// I4: a write that begins after another returned stands on it.
  private func checkBase(_ acknowledged: Int) throws {
    let key = model.batch(of: acknowledged).key(0)
    guard session.read(key, into: &row) else {
      throw AtomicityCheck.missing(key, version: session.version)
    }
    if let violation = ReadYourWritesCheck.contains(
      row, acknowledged: acknowledged, version: session.version,
      place: "write transaction of \(place)")
    {
      throw violation
    }
  }

  private func checkCommit(_ transaction: Int) throws {
    let version = session.version
    let start = clock.nanoseconds()
    if shared.plan.checks(.readYourWrites) {
      let position = Int(random.next(upperBound: UInt64(model.batch)))
      let key = model.batch(of: transaction).key(position)
      let isFound = session.read(key, into: &row)
      if let violation = ReadYourWritesCheck.own(
        isFound ? row : nil, key: key, transaction: transaction, version: version)
      {
        throw violation
      }
      ledger.count(.readYourWrites, cost: clock.nanoseconds() - start)
    }
    guard shared.plan.checks(.monotonicVersions) else { return }
    if let violation = monotonic.observe(version, place: place) { throw violation }
    ledger.count(.monotonicVersions)
    guard shared.isDigestVersion(version) else { return }
    let digestStart = clock.nanoseconds()
    let session = session
    if let violation = shared.checkDigest(
      version: version, place: place, read: { session.read($0, into: &$1) }, row: &row)
    {
      throw violation
    }
    ledger.count(.monotonicVersions, cost: clock.nanoseconds() - digestStart)
  }

  /// Keeps this version; the reads are repeated when it leaves the ring.
  private func keepPin(_ transaction: Int) throws {
    let pin = session.pin()
    var rows: [Row] = []
    if shared.plan.checks(.snapshotStability) {
      let start = clock.nanoseconds()
      let batch = model.batch(of: transaction)
      for key in [batch.key(0), Int(random.next(upperBound: UInt64(model.objects)))]
      where pin.read(key, into: &row) {
        rows.append(row)
      }
      ledger.count(.snapshotStability, checks: 0, cost: clock.nanoseconds() - start)
    }
    shared.pins.keep(KeptPin(pin: pin, rows: rows))
    // Readers verify what leaves the ring; without them, or when they are behind, the writer does.
    while shared.pins.waiting > 8, let retired = shared.pins.takeRetired() {
      if let violation = retired.verify(place: "pin released by \(place)") { throw violation }
      ledger.count(.snapshotStability, checks: UInt64(retired.rows.count))
    }
  }

  /// I10: a walk over the whole file between two commits, for at most 2 % of the time.
  ///
  /// The schedule of an open loop stands still meanwhile.
  private func walkIfDue() throws {
    guard freeAt >= nextWalk else { return }
    let start = clock.nanoseconds()
    let findings = try shared.driver.checkInvariants()
    let end = clock.nanoseconds()
    if let violation = SpaceAccountingCheck.judge(
      findings, place: "after version \(session.version)")
    {
      throw violation
    }
    ledger.count(.spaceAccounting, cost: end - start)
    pausedNanoseconds += end - start
    schedule?.postpone(nanoseconds: end - start)
    freeAt = end
    nextWalk = end + max(1_000_000_000, (end - start) * 50)
  }
}
