// The workload migration-under-load: a table gets another form of its class while readers hold
// frozen versions of the first one. What it answers: how long it takes, what it costs in memory and
// file, what readers notice. What they hold must not change (I1), and nothing may be lost on the
// way (I2, I7).
internal import Platform

extension WorkloadKind {
  package static let migration = WorkloadKind(MigratingDescription.self)
}

/// What the tool knows of migration-under-load before it runs.
package enum MigratingDescription: WorkloadDescription {
  package static let name = "migration-under-load"
  package static let summary =
    "a table gets another form of its class while readers hold frozen versions"
  package static let help = """
    A table of --objects objects gets another form of its class: a property is renamed, one changes
    its type, one goes, one comes and is filled by a migration block. Meanwhile --readers threads
    read frozen versions from before by key, and --pins others are held. The rows of phase 'warmup'
    are the readers before the migration, those of 'measure' during it.

      realm-bench run migration-under-load --objects 1000000 --pins 8
    """
  package static let flags = Flags.table.subtracting(["duration"]).union([
    "readers", "batch", "pins", "warmup",
  ])
  package static let scheduled: Set<Operation> = []
  package static let isSteady = false
  /// Nobody moves to another version during a migration.
  package static let invariants: [Invariant] = [
    .snapshotStability, .atomicity, .serialOrder, .spaceAccounting,
  ]

  package static func setDefaults(_ settings: inout RunSettings) {
    settings.objects = 1_000_000
    settings.readers = 2
    settings.pins = 8
    settings.intervalNanoseconds = 100_000_000
  }

  package static func operations(_ settings: RunSettings) -> [Operation] {
    (settings.readers > 0 ? [.read] : []) + [.migrate]
  }

  package static func shape(_ settings: RunSettings) -> String {
    "\(settings.readers) readers, \(settings.pins) pins, \(grouped(settings.objects)) objects"
  }

  package static func operationsOfPhase(_ settings: RunSettings) -> Int? {
    1
  }

  package static let needs: Set<EngineCapability> = [.migrations]

  package static func make<Driver: EngineDriver>(
    _ shared: RunShared<Driver>
  ) -> any Workload<Driver> {
    func make<Able: MigratingEngine>(_ engine: Able.Type) -> any Workload<Driver> {
      shared.widened(Migrating(shared.narrowed(to: engine)))
    }
    guard let able = Driver.self as? any MigratingEngine.Type else {
      preconditionFailure("refused before: \(needs)")
    }
    return make(able)
  }
}

/// One thread migrates, others read versions from before.
package struct Migrating<Driver: MigratingEngine>: Workload {
  package let shared: RunShared<Driver>

  package init(_ shared: RunShared<Driver>) { self.shared = shared }

  package var threads: [WorkerPlan] {
    let shared = shared
    var threads = [
      WorkerPlan("migration", operations: [.migrate]) { handover in
        try MigratingThread(shared: shared, handover: handover)
      }
    ]
    for number in stride(from: 1, through: shared.plan.readers, by: 1) {
      threads.append(
        WorkerPlan("reader \(number)", operations: [.read]) { handover in
          try FrozenReader(number: number, shared: shared, handover: handover)
        })
    }
    return threads
  }

  package func checkEnd(_ ledger: inout InvariantLedger) throws {
    try FinalCheck<Driver>.checkPins(shared, &ledger)
    let model = shared.plan.model
    let replay = ReplayCheck(model: model, transactions: shared.versions.transactions)
    let version = try shared.driver.statistics().newestVersion
    let clock = MonotonicClock()
    let start = clock.nanoseconds()
    var total = TableTotal()
    try shared.driver.readMigrated { migrated in
      let key = total.count
      if shared.plan.checks(.serialOrder) {
        ledger.count(.serialOrder)
        if let violation = replay.judge(migrated.row, key: key, version: version)
          ?? MigrationCheck.content(migrated, key: key, model: model, version: version)
        {
          throw violation
        }
      }
      total.add(
        balance: migrated.row.balance, changes: migrated.row.changes, stamp: migrated.row.stamp)
    }
    ledger.count(.serialOrder, checks: 0, cost: clock.nanoseconds() - start)
    if shared.plan.checks(.atomicity) {
      ledger.count(.atomicity)
      if let violation = AtomicityCheck.total(total, model: model, version: version) {
        throw violation
      }
    }
    try FinalCheck<Driver>.checkSpace(shared, &ledger)
  }
}

/// Judges objects in their new form.
package enum MigrationCheck {
  /// What the migration keeps, converts and makes is what the object was.
  package static func content(
    _ migrated: MigratedRow, key: Int, model: ContentModel, version: UInt64
  ) -> Violation? {
    var row = migrated.row
    // The new form has no score.
    var expected = model.initialRow(key)
    model.fill(&expected, stamp: row.stamp)
    row.score = expected.score
    if let violation = AtomicityCheck.content(row, key: key, model: model, version: version) {
      return violation
    }
    guard migrated.label != MigratedRow.label(of: expected) else { return nil }
    return Violation(
      .serialOrder, "A migration left an object out, or made something else of it.",
      witness: [
        "version \(version), object \(key): label '\(migrated.label)', expected "
          + "'\(MigratedRow.label(of: expected))'"
      ])
  }
}

/// The thread that migrates: first makes and pins some versions, then changes the form of the
/// class.
package final class MigratingThread<Driver: MigratingEngine>: Worker {
  private let shared: RunShared<Driver>
  private let clock = MonotonicClock()
  private var pace: ThreadPace
  package private(set) var ledger = InvariantLedger()
  package var pausedNanoseconds: UInt64 { 0 }

  package init(shared: RunShared<Driver>, handover: Handover) throws {
    self.shared = shared
    pace = ThreadPace(
      control: shared.control, handover: handover, random: shared.random(thread: 0))
    try pinVersions()
  }

  package func run() throws {
    defer { pace.finish() }
    pace.waitForStart()
    // The readers alone first, for as long as the warm-up lasts.
    while pace.follow(), pace.phase != .measure { sleep(nanoseconds: 1_000_000) }
    guard pace.phase == .measure else { return }
    let start = clock.nanoseconds()
    pace.beginWait(0, since: start, mayWork: true)
    let before = ThreadWork.now()
    do {
      defer { pace.lockWait.end() }
      try shared.driver.migrate()
    } catch {
      pace.measurements.figures[0].errors += 1
      throw error
    }
    // The figures were written down without it.
    if shared.control.hasAbandonedWaits { throw RunControl.GivenUp() }
    pace.record(
      0, ThreadPace.Turn(), start: start, end: clock.nanoseconds(), work: .since(before))
    shared.control.stop()
  }

  /// Makes `--pins` versions, each of `--batch` objects, and keeps all of them; the session goes.
  private func pinVersions() throws {
    let model = shared.plan.model
    let session = try shared.driver.openSession()
    for _ in 0..<shared.plan.pins {
      var transaction = 0
      try session.write {
        transaction = shared.versions.nextTransaction()
        try ReadersWriter<Driver>.rewrite(session, model.batch(of: transaction), model)
      }
      shared.versions.acknowledge(version: session.version, transaction: transaction)
      let pin = session.pin()
      var row = Row()
      var rows: [Row] = []
      let batch = model.batch(of: transaction)
      for position in 0..<min(batch.count, 16) where pin.read(batch.key(position), into: &row) {
        rows.append(row)
      }
      // There is room for all of them.
      _ = shared.pins.keep(KeptPin(pin: pin, rows: rows))
    }
  }
}

/// A thread that reads a frozen version, whatever happens to the file.
package final class FrozenReader<Driver: MigratingEngine>: Worker {
  private let shared: RunShared<Driver>
  private let place: String
  private let clock = MonotonicClock()
  private let model: ContentModel
  private let pin: Driver.Session.Pin
  private var random: RandomGenerator
  private var pace: ThreadPace
  private var row = Row()
  package private(set) var ledger = InvariantLedger()
  package var pausedNanoseconds: UInt64 { 0 }

  package init(number: Int, shared: RunShared<Driver>, handover: Handover) throws {
    self.shared = shared
    place = "reader \(number)"
    model = shared.plan.model
    random = shared.random(thread: number)
    // Nothing but the frozen version is kept: a migration needs the file for itself.
    pin = try shared.driver.openSession().pin()
    pace = ThreadPace(control: shared.control, handover: handover, random: random)
  }

  package func run() throws {
    var remembered: [Row] = []
    defer { pace.finish() }
    pace.waitForStart()
    var reads = 0
    while pace.follow() {
      let key = Int(random.next(upperBound: UInt64(model.objects)))
      let before = ThreadWork.now()
      let start = clock.nanoseconds()
      let isFound = pin.read(key, into: &row)
      let end = clock.nanoseconds()
      pace.measurements.figures[0].record(end - start, .since(before))
      if shared.plan.checks(.atomicity) {
        guard isFound else { throw AtomicityCheck.missing(key, version: pin.version) }
        if let violation = AtomicityCheck.content(
          row, key: key, model: model, version: pin.version)
        {
          throw violation
        }
        ledger.count(.atomicity, cost: clock.nanoseconds() - end)
      }
      reads += 1
      guard shared.plan.checks(.snapshotStability) else { continue }
      if remembered.count < 64 {
        remembered.append(row)
      } else if reads & 15 == 0 {
        try readAgain(remembered[reads / 16 & 63])
      }
    }
  }

  private func readAgain(_ first: Row) throws {
    let start = clock.nanoseconds()
    let isFound = pin.read(first.id, into: &row)
    if let violation = SnapshotStabilityCheck.compare(
      first: first, again: isFound ? row : nil, version: pin.version, place: place)
    {
      throw violation
    }
    ledger.count(.snapshotStability, cost: clock.nanoseconds() - start)
  }
}
