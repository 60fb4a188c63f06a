// A workload of a user's own as the tool runs it: fills the file, and does operations by turns on
// each thread, refreshed, scheduled, timed and checked like those of the tool's own workloads.
internal import Harness
internal import Platform
internal import RealmSwift

/// A run of a workload.
struct OwnWorkload<W: Workload, Driver: EngineDriver>: Harness.Workload {
  private struct State: Sendable {
    var shared: W.Shared?
    var objects = 0
  }

  let shared: RunShared<Driver>
  private let state = Monitor(State())

  init(_ shared: RunShared<Driver>) { self.shared = shared }

  private var configuration: Realm.Configuration {
    guard let driver = shared.driver as? RealmDriver else {
      preconditionFailure("a workload of a user's own runs on RealmSwift")
    }
    return driver.configuration
  }

  var objects: Int { state.withLock { $0.objects } }

  func load(isCancelled: () -> Bool, progress: (Int) -> Void) throws -> UInt64? {
    let realm = try Realm(configuration: configuration)
    let made = try withoutActuallyEscaping(isCancelled) { isCancelled in
      try withoutActuallyEscaping(progress) { progress in
        try W.setUp(
          realm,
          WorkloadSetUp(
            shared.plan, random: shared.random(thread: 0), isCancelled: isCancelled,
            progress: progress))
      }
    }
    if realm.isInWriteTransaction {
      throw ResultsError("the set-up of \(W.name) has left its last transaction open")
    }
    if isCancelled() { return nil }
    let objects = Self.count(realm)
    progress(objects)
    state.withLock { $0 = State(shared: made, objects: objects) }
    return realm.currentVersion
  }

  /// Objects of all classes that have some of their own.
  private static func count(_ realm: Realm) -> Int {
    W.objectTypes.compactMap { $0 as? Object.Type }
      .reduce(0) { $0 + realm.dynamicObjects($1.className()).count }
  }

  private func takeShared() throws -> W.Shared {
    guard let made = state.withLock({ $0.shared }) else {
      throw ResultsError("the set-up of \(W.name) did not end")
    }
    return made
  }

  var threads: [WorkerPlan] {
    let (shared, state, configuration) = (shared, state, configuration)
    let rows = shared.plan.mix.shares.map(\.operation) + [.refresh]
    return (1...shared.plan.threads).map { number in
      WorkerPlan("thread \(number)", operations: rows) { handover in
        let realm = try Realm(configuration: configuration)
        return try OwnWorker<W, Driver>(
          number: number, shared: shared, made: try takeShared(), realm: realm,
          handover: handover
        ) { realm in
          let objects = Self.count(realm)
          state.withLock { $0.objects = objects }
        }
      }
    }
  }

  func checkEnd(_ ledger: inout InvariantLedger) throws {
    let realm = try Realm(configuration: configuration)
    let objects = Self.count(realm)
    state.withLock { $0.objects = objects }
    let end = WorkloadEnd<W>(shared.plan, shared: try takeShared())
    defer { ledger.add(end.ledger) }
    try W.checkEnd(realm, end)
    guard shared.plan.checks(.spaceAccounting) else { return }
    let start = MonotonicClock().nanoseconds()
    let findings = try shared.driver.checkInvariants()
    if let violation = SpaceAccountingCheck.judge(findings, place: "at the end") {
      throw violation
    }
    ledger.count(.spaceAccounting, cost: MonotonicClock().nanoseconds() - start)
  }
}

/// One thread of a run; made and used on it.
struct OwnWorker<W: Workload, Driver: EngineDriver>: Worker {
  private let shared: RunShared<Driver>
  private let number: Int
  private let thread: WorkloadThread<W>
  private let countObjects: (Realm) -> Void
  private let operations: [W.Operation]
  private let clock = MonotonicClock()
  private var workload: W
  private var pace: ThreadPace
  private var random: RandomGenerator
  private var walk: SpaceWalk<Driver>
  private var versions = MonotonicVersionCheck()
  private var sinceRefresh = 0
  private var own = InvariantLedger()

  var ledger: InvariantLedger {
    var ledger = own
    ledger.add(thread.ledger)
    return ledger
  }

  var pausedNanoseconds: UInt64 { pace.pausedNanoseconds }

  init(
    number: Int, shared: RunShared<Driver>, made: W.Shared, realm: Realm, handover: Handover,
    countObjects: @escaping (Realm) -> Void
  ) throws {
    self.shared = shared
    self.number = number
    self.countObjects = countObjects
    var random = shared.random(thread: number)
    thread = WorkloadThread(
      shared.plan, shared: made, number: number, realm: realm, random: random.split())
    let mix = shared.plan.mix
    let rows = OwnNames<W>.operations
    operations = mix.shares.compactMap { share in
      rows.first { $0.row == share.operation }?.operation
    }
    walk = SpaceWalk(shared)
    pace = ThreadPace(
      control: shared.control, handover: handover,
      openLoad: shared.plan.openLoad(thread: number, of: shared.plan.threads),
      member: .init(.any, number, of: shared.plan.threads), arrivals: shared.plan.arrivals,
      skippedShares: mix.shares.indices.map(mix.part), random: random.split())
    self.random = random
    workload = try W(thread)
  }

  mutating func run() throws {
    defer { pace.finish() }
    pace.waitForStart()
    while let turn = pace.nextTurn() {
      let began = clock.nanoseconds()
      try refreshIfDue()
      let position = shared.plan.mix.next(&random)
      try perform(position, turn, began)
    }
  }

  private mutating func perform(
    _ position: Int, _ turn: ThreadPace.Turn, _ began: UInt64
  ) throws {
    let operation = operations[position]
    thread.untimedNanoseconds = 0
    thread.untimedWork = ThreadWork()
    // Nobody knows when it has the lock, so it may be at work all the time.
    if operation.writes { pace.beginWait(position, since: turn.due ?? began, mayWork: true) }
    let before = ThreadWork.now()
    let start = clock.nanoseconds()
    do {
      // Before anything is recorded.
      defer { if operation.writes { pace.lockWait.end() } }
      try workload.perform(operation)
      // The figures were written down without it.
      if shared.control.hasAbandonedWaits { throw RunControl.GivenUp() }
    } catch let givenUp as RunControl.GivenUp {
      throw givenUp
    } catch {
      if error is Violation { throw error }
      pace.measurements.figures[position].errors += 1
      throw ResultsError("the operation '\(operation.rawValue)' failed: \(explained(error))")
    }
    pace.record(
      position, turn, began: began, start: start, end: clock.nanoseconds(),
      excluded: thread.untimedNanoseconds,
      work: ThreadWork.since(before).without(thread.untimedWork))
    if thread.realm.isInWriteTransaction {
      throw ResultsError(
        "the operation '\(operation.rawValue)' has left its write transaction open")
    }
    if operation.writes { try committed() }
  }

  private mutating func committed() throws {
    let version = thread.realm.currentVersion
    shared.versions.acknowledge(
      version: version, transaction: shared.versions.nextTransaction())
    try observe(version)
    guard number == 1, shared.plan.checks(.spaceAccounting) else { return }
    let before = pace.pausedNanoseconds
    try walk.runIfDue(after: version, &pace, &own)
    // As rare as the walk.
    if pace.pausedNanoseconds != before { countObjects(thread.realm) }
  }

  private mutating func refreshIfDue() throws {
    sinceRefresh += 1
    guard sinceRefresh >= shared.plan.refreshEvery else { return }
    sinceRefresh = 0
    let acknowledged = shared.versions.acknowledgedVersion
    let before = ThreadWork.now()
    let start = clock.nanoseconds()
    _ = thread.realm.refresh()
    pace.measurements.figures[operations.count].record(
      clock.nanoseconds() - start, .since(before))
    let version = thread.realm.currentVersion
    if shared.plan.checks(.readYourWrites) {
      own.count(.readYourWrites)
      if let violation = ReadYourWritesCheck.reached(
        version, acknowledged: acknowledged, place: place)
      {
        throw violation
      }
    }
    try observe(version)
  }

  private mutating func observe(_ version: UInt64) throws {
    guard shared.plan.checks(.monotonicVersions) else { return }
    own.count(.monotonicVersions)
    if let violation = versions.observe(version, place: place) { throw violation }
  }

  private var place: String { "thread \(number)" }
}
