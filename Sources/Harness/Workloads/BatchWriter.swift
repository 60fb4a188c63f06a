// One thread that commits transactions in a closed or open loop, the pins of --pins, and the checks
// that only a writer can make (I4 on its own Realm, I10 between commits). What a transaction
// changes is the workload's; which objects it changes follows from its number. Its content is made
// before it begins, and what a check takes inside of it is left out of its time.
internal import Platform

/// A writer; made and used on its own thread.
package struct BatchWriter<Driver: EngineDriver>: Worker {
  /// Makes the changes of one transaction, inside it, and the checks that belong there.
  package enum Change {
    /// Rewrites the objects of a prepared batch.
    case rewrite
    /// What a workload does otherwise.
    case custom(CustomChange)
  }

  package typealias CustomChange = (
    _ session: Driver.Session, _ batch: ContentModel.Batch, _ ledger: inout InvariantLedger
  ) throws -> Void

  private let shared: RunShared<Driver>
  private let number: Int
  private let place: String
  private let clock = MonotonicClock()
  private let model: ContentModel
  private let session: Driver.Session
  private let change: Change
  private var random: RandomGenerator
  package private(set) var ledger = InvariantLedger()
  package var pausedNanoseconds: UInt64 { pace.pausedNanoseconds }

  private var pace: ThreadPace
  private var row = Row()
  private var prepared = PreparedBatch()
  private var walk: SpaceWalk<Driver>
  private var watch: SessionWatch<Driver>
  private var commits: UInt64 = 0
  /// With pins by time: when the next one is due.
  private var nextPin: UInt64 = 0
  /// Nil in workloads that end with the measured phase.
  private let recovery: Recovery<Driver>?

  package init(
    number: Int, shared: RunShared<Driver>, handover: Handover, isScheduled: Bool = true,
    recovery: Recovery<Driver>? = nil, change: Change
  ) throws {
    self.recovery = recovery
    self.shared = shared
    self.number = number
    self.change = change
    place = "writer \(number)"
    model = shared.plan.model
    random = shared.random(thread: shared.plan.readers + number)
    walk = SpaceWalk(shared)
    watch = SessionWatch(shared)
    session = try shared.driver.openSession()
    pace = ThreadPace(
      control: shared.control, handover: handover,
      openLoad: isScheduled
        ? shared.plan.openLoad(thread: number, of: shared.plan.writers) : nil,
      member: .init(.writer, number, of: shared.plan.writers), arrivals: shared.plan.arrivals,
      random: random.split())
  }

  package init(
    number: Int, shared: RunShared<Driver>, handover: Handover, isScheduled: Bool = true,
    change: @escaping CustomChange
  ) throws {
    try self.init(
      number: number, shared: shared, handover: handover, isScheduled: isScheduled,
      change: .custom(change))
  }

  /// Commits until the run stops.
  package mutating func run() throws {
    defer { pace.finish() }
    pace.waitForStart()
    while let turn = nextTurn() {
      if pace.phase == .recover {
        guard try recover(turn) else { break }
        continue
      }
      try commit(turn)
      if number == 1 && shared.plan.walksSpace && shared.plan.checks(.spaceAccounting) {
        try walk.runIfDue(after: session.version, &pace, &ledger)
      }
    }
  }

  private mutating func nextTurn() -> ThreadPace.Turn? {
    // Before it is due. With several writers another one may get this number; then it is made
    // inside.
    if case .rewrite = change { prepared.prepare(shared.versions.transactions + 1, model) }
    if let turn = pace.nextTurn() { return turn }
    guard recovery != nil, pace.waitForNextPhase() else { return nil }
    return pace.nextTurn()
  }

  /// Commits while the file is longer than it need be; false when that is over.
  private mutating func recover(_ turn: ThreadPace.Turn) throws -> Bool {
    guard number == 1, let recovery else { return false }
    if !recovery.hasBegun { try recovery.begin(&ledger) }
    guard try !recovery.isOver else {
      pace.measurements.figures[1].service.record(recovery.elapsedNanoseconds)
      if recovery.hasFailed { pace.measurements.figures[1].errors += 1 }
      return false
    }
    try commit(turn)
    recovery.commits += 1
    return true
  }

  // MARK: - One transaction

  private mutating func commit(_ turn: ThreadPace.Turn) throws {
    let acknowledged = shared.versions.acknowledgedTransaction
    let checksBase = shared.plan.checks(.readYourWrites) && commits & 7 == 0 && acknowledged > 0
    var transaction = 0
    var excluded: (nanoseconds: UInt64, work: ThreadWork) = (0, ThreadWork())
    let (lockWait, control) = (pace.lockWait, shared.control)
    let start = clock.nanoseconds()
    pace.beginWait(0, since: turn.due ?? start)
    defer { lockWait.end() }
    let before = ThreadWork.now()
    do {
      try session.write {
        try lockWait.end(control, isScheduled: turn.isScheduled)
        // Numbered inside the write lock: transaction numbers follow the order of commits.
        transaction = nextTransaction()
        if checksBase || prepared.transaction != transaction {
          excluded = try begin(transaction, basedOn: checksBase ? acknowledged : nil)
        }
        switch change {
        case .rewrite: try ReadersWriter<Driver>.rewrite(session, prepared)
        case .custom(let change): try change(session, model.batch(of: transaction), &ledger)
        }
      }
    } catch is RunControl.GivenUp {
      pace.giveUp(0, after: clock.nanoseconds() - start)
      return
    } catch {
      pace.measurements.figures[0].errors += 1
      throw error
    }
    let end = clock.nanoseconds()
    pace.record(
      0, turn, start: start, end: end, excluded: excluded.nanoseconds,
      work: ThreadWork.since(before).without(excluded.work))
    let batch = model.batch(of: transaction)
    try watch.committed(
      session, transaction, key: batch.key(Int(random.next(upperBound: UInt64(batch.count)))),
      place: place, &ledger)
    commits += 1
    let isPinning = shared.plan.pins > 0 && (recovery == nil || pace.phase == .measure)
    if isPinning && isPinDue(after: transaction) { try keepPin(transaction) }
  }

  /// Inside a transaction: its number.
  private mutating func nextTransaction() -> Int {
    if shared.plan.processes == 1 { return shared.versions.nextTransaction() }
    // A process that dies in a transaction has its number, and may have committed.
    return shared.versions.nextTransaction { last in
      session.read(model.batch(of: last).key(0), .account, into: &row) && row.stamp == last
    }
  }

  /// Inside a transaction: what is not the engine's work; returns what that takes.
  private mutating func begin(
    _ transaction: Int, basedOn acknowledged: Int?
  ) throws -> (nanoseconds: UInt64, work: ThreadWork) {
    let before = ThreadWork.now()
    let start = clock.nanoseconds()
    if case .rewrite = change { prepared.prepare(transaction, model) }
    if let acknowledged {
      let checked = clock.nanoseconds()
      try checkBase(acknowledged)
      ledger.count(.readYourWrites, cost: clock.nanoseconds() - checked)
    }
    return (clock.nanoseconds() - start, .since(before))
  }

  private mutating func isPinDue(after transaction: Int) -> Bool {
    guard let interval = shared.plan.pinIntervalNanoseconds else {
      return transaction % shared.plan.pinEvery == 0
    }
    // The first writer has the clock, however many there are.
    guard number == 1, pace.freeAt >= nextPin else { return false }
    nextPin = (nextPin == 0 ? pace.freeAt : nextPin) + interval
    // What a long transaction has missed is not made up for.
    nextPin = max(nextPin, pace.freeAt)
    return true
  }

  // MARK: - Checks

  /// I4: a write that begins after another returned stands on it.
  private mutating func checkBase(_ acknowledged: Int) throws {
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

  /// Keeps this version; its reads are repeated before it leaves the ring.
  private mutating func keepPin(_ transaction: Int) throws {
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
    for left in shared.pins.keep(KeptPin(pin: pin, rows: rows)) ?? []
    where shared.plan.checks(.snapshotStability) {
      let start = clock.nanoseconds()
      if let violation = left.verify(place: "pin released by \(place)") { throw violation }
      ledger.count(
        .snapshotStability, checks: left.checks, cost: clock.nanoseconds() - start)
    }
  }
}
