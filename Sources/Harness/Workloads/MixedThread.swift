// One thread of the workloads mixed and queue-confined: draws an operation and a key, does it in a
// closed or open loop, there itself or in a job of its queue, and checks what it saw (I1 to I4,
// I7). Timed operations hold engine calls only, and what a transaction has to know inside the write
// lock.
package import Dispatch
internal import Platform

/// A thread; made and used on it, and by blocks of its queue while it waits for them.
package final class MixedThread<Driver: EngineDriver>: Worker, @unchecked Sendable {
  // @unchecked: at most one block of the queue runs at a time, and the thread waits for its end.

  private let shared: RunShared<Driver>
  private let table: MixedTable
  private let number: Int
  private let place: String
  private let clock = MonotonicClock()
  private let model: ContentModel
  private let mix: OperationMix
  private let keys: KeyGenerator
  /// Place of `refresh` in the thread's plan.
  private let refreshPosition: Int
  /// Nil when I7 is not checked.
  private let expected: ExpectedState?
  private let openedAfter: SessionWatch<Driver>.Acknowledged
  /// Where the session belongs; nil = the thread.
  private let queue: DispatchQueue?
  // Nil only at the end: a session goes where it belongs.
  private var session: Driver.Session!
  private var random: RandomGenerator
  package private(set) var ledger = InvariantLedger()
  package var pausedNanoseconds: UInt64 { pace.pausedNanoseconds }

  private var pace: ThreadPace
  private var watch: SessionWatch<Driver>
  private var walk: SpaceWalk<Driver>
  private var frozenCopies: FrozenCopyCheck<Driver>
  private var row = Row()
  private var rows: [Row] = []
  /// How many objects the session has to show.
  private var known: Int
  private var operations: UInt64 = 0
  private var sinceRefresh = 0
  private var remembered: Row?
  /// Which reads have their content checked.
  private var contents: CheckSampler
  private var costs = CostSampler()
  /// The content of the next write, made before it begins.
  private var prepared = Row()

  /// - Parameter open: opens the session where it belongs.
  package init(
    number: Int, shared: RunShared<Driver>, table: MixedTable, handover: Handover,
    queue: DispatchQueue? = nil, open: () throws -> Driver.Session
  ) throws {
    self.shared = shared
    self.table = table
    self.number = number
    place = "thread \(number)"
    model = shared.plan.model
    mix = shared.plan.mix
    keys = KeyGenerator(shared.plan.readKeys, model: model)
    refreshPosition = mix.shares.count
    expected = shared.plan.checks(.serialOrder) ? table.expected : nil
    random = shared.random(thread: number)
    contents = CheckSampler(rate: shared.plan.checkRate, &random)
    watch = SessionWatch(shared)
    walk = SpaceWalk(shared)
    frozenCopies = FrozenCopyCheck(
      now: MonotonicClock().nanoseconds(), shared.plan, random: &random)
    openedAfter = watch.acknowledged()
    known = table.objects
    self.queue = queue
    let threads = queue == nil ? shared.plan.threads : shared.plan.queues
    pace = ThreadPace(
      control: shared.control, handover: handover,
      openLoad: shared.plan.openLoad(thread: number, of: threads),
      member: .init(.any, number, of: threads), arrivals: shared.plan.arrivals,
      skippedShares: mix.shares.indices.map(mix.part), random: random.split())
    session = try open()
  }

  /// Works until the run stops.
  package func run() throws {
    defer { pace.finish() }
    defer { try? inPlace { [self] in session = nil } }
    pace.waitForStart()
    try inPlace { [self] in
      try watch.moved(
        session, since: openedAfter, place: "\(place), opened", readingWith: &random,
        readsObject: false, &ledger)
    }
    while let turn = pace.nextTurn() {
      let began = clock.nanoseconds()
      try inPlace { [self] in
        if queue != nil { try beginJob(began) }
        try operate(turn, began)
      }
    }
  }

  /// Runs a body where the session belongs, and waits for its end.
  private func inPlace(_ body: @escaping @Sendable () throws -> Void) throws {
    guard let queue else { return try body() }
    // Not `sync`, which would run it on this thread whenever the queue is idle.
    let result = Monitor<Result<Void, any Error>?>(nil)
    queue.async {
      let outcome = Result { try body() }
      result.withLock { $0 = outcome }
      result.notifyAll()
    }
    try result.wait(until: { $0 != nil }, then: { $0! }).get()
  }

  /// A job of the queue has begun: the session may have moved between two of them, never within
  /// one.
  private func beginJob(_ handed: UInt64) throws {
    pace.measurements.figures[refreshPosition + 1].service.record(clock.nanoseconds() - handed)
    let before = watch.version
    try watch.observe(session, place: place, &ledger)
    if watch.version != before { remembered = nil }
  }

  private func operate(_ turn: ThreadPace.Turn, _ began: UInt64) throws {
    let position = mix.next(&random)
    switch mix.shares[position].operation {
    case .read: try read(position, turn, began)
    case .scan: try scan(position, turn, began)
    case .update: try update(position, turn, began, .payload)
    case .readModifyWrite: try update(position, turn, began, .record)
    case .insert: try insert(position, turn, began)
    default: preconditionFailure("a mix has no such operation")
    }
    operations += 1
    if operations & 63 == 0 { try checkOccasionally() }
  }

  // MARK: - Reading

  private func read(_ position: Int, _ turn: ThreadPace.Turn, _ began: UInt64) throws {
    try refreshIfDue()
    let key = keys.next(&random, objects: known)
    let before = ThreadWork.now()
    let start = clock.nanoseconds()
    let isFound = session.read(key, into: &row)
    pace.record(
      position, turn, began: began, start: start, end: clock.nanoseconds(), work: .since(before))
    if operations & 15 == 0 && isFound { remembered = row }
    guard shared.plan.checks(.atomicity) else { return }
    let checkStart = costs.begin()
    guard isFound else { throw AtomicityCheck.missing(key, version: watch.version) }
    try check(row, key)
    ledger.count(.atomicity, cost: costs.end(checkStart))
  }

  private func scan(_ position: Int, _ turn: ThreadPace.Turn, _ began: UInt64) throws {
    try refreshIfDue()
    let first = keys.next(&random, objects: known)
    let length = 1 + Int(random.next(upperBound: UInt64(shared.plan.scanLength)))
    if rows.count > length {
      rows.removeLast(rows.count - length)
    } else {
      while rows.count < length { rows.append(Row()) }
    }
    let before = ThreadWork.now()
    let start = clock.nanoseconds()
    let found = session.scan(from: first, into: &rows)
    pace.record(
      position, turn, began: began, start: start, end: clock.nanoseconds(), work: .since(before))
    guard shared.plan.checks(.atomicity) else { return }
    let checkStart = clock.nanoseconds()
    if found < min(length, known - first) {
      throw AtomicityCheck.missing(first + found, version: watch.version)
    }
    for offset in 0..<found { try check(rows[offset], first + offset) }
    ledger.count(.atomicity, checks: UInt64(found), cost: clock.nanoseconds() - checkStart)
  }

  private func refreshIfDue() throws {
    sinceRefresh += 1
    guard sinceRefresh >= shared.plan.refreshEvery else { return }
    sinceRefresh = 0
    try readAgain()
    let acknowledged = watch.acknowledged()
    let objects = table.objects
    let before = ThreadWork.now()
    let start = clock.nanoseconds()
    _ = session.refresh()
    pace.measurements.figures[refreshPosition].record(
      clock.nanoseconds() - start, .since(before))
    known = objects
    try watch.moved(
      session, since: acknowledged, place: place, readingWith: &random, readsObject: false,
      &ledger)
  }

  // MARK: - Writing

  /// A blind write of the payload, or a read-modify-write that also counts the change.
  private func update(
    _ position: Int, _ turn: ThreadPace.Turn, _ began: UInt64, _ parts: RowParts
  ) throws {
    let key = keys.next(&random, objects: known)
    prepared.id = key
    model.fill(&prepared, stamp: shared.versions.transactions + 1)
    try write(position, turn, began) { transaction in
      var violation: Violation?
      // Another thread took the number: then it is made here.
      if prepared.stamp != transaction { model.fill(&prepared, stamp: transaction) }
      let isFound = session.update(key, parts) { row in
        violation = expected?.judge(row, readBy: transaction)
        if parts == .record { row.changes += 1 }
        (row.age, row.score, row.payload) = (prepared.age, prepared.score, prepared.payload)
        row.stamp = transaction
        expected?.store(row)
      }
      if let violation { throw violation }
      if !isFound { throw AtomicityCheck.missing(key, version: session.version) }
      return key
    }
  }

  private func insert(_ position: Int, _ turn: ThreadPace.Turn, _ began: UInt64) throws {
    let key = try write(position, turn, began) { transaction in
      var row = model.initialRow(table.takeKey())
      model.fill(&row, stamp: transaction)
      session.insert(row)
      expected?.store(row)
      return row.id
    }
    guard let key else { return }
    table.acknowledge(key)
    known = max(known, key + 1)
  }

  /// One transaction; `body` gets its number and returns the key of the object that it stored.
  ///
  /// Nil when the run was over before it could begin.
  @discardableResult
  private func write(
    _ position: Int, _ turn: ThreadPace.Turn, _ began: UInt64, _ body: (Int) throws -> Int
  ) throws -> Int? {
    // A write begins on the newest version: what was read is left behind.
    try readAgain()
    var (transaction, key) = (0, 0)
    let lockWait = pace.lockWait
    let start = clock.nanoseconds()
    pace.beginWait(position, since: turn.due ?? start)
    defer { lockWait.end() }
    let before = ThreadWork.now()
    do {
      try session.write {
        try lockWait.end(shared.control, isScheduled: turn.isScheduled)
        transaction = shared.versions.nextTransaction()
        key = try body(transaction)
      }
    } catch is RunControl.GivenUp {
      pace.giveUp(position, after: clock.nanoseconds() - start)
      return nil
    } catch {
      pace.measurements.figures[position].errors += 1
      throw error
    }
    pace.record(
      position, turn, began: began, start: start, end: clock.nanoseconds(), work: .since(before))
    if expected != nil { ledger.count(.serialOrder) }
    try watch.committed(session, transaction, key: key, place: place, &ledger)
    if number == 1 && shared.plan.checks(.spaceAccounting) {
      try walk.runIfDue(after: session.version, &pace, &ledger)
    }
    return key
  }

  // MARK: - Checks

  private func check(_ row: Row, _ key: Int) throws {
    if row.id != key || contents.isDue(&random),
      let violation = AtomicityCheck.content(row, key: key, model: model, version: watch.version)
    {
      throw violation
    }
    if let newest = watch.transaction,
      let violation = AtomicityCheck.notNewer(row, thanTransaction: newest, version: watch.version)
    {
      throw violation
    }
  }

  /// I1: an object that was read is read again before the session moves.
  private func readAgain() throws {
    guard let first = remembered, shared.plan.checks(.snapshotStability) else { return }
    remembered = nil
    let start = clock.nanoseconds()
    let isFound = session.read(first.id, into: &row)
    if let violation = SnapshotStabilityCheck.compare(
      first: first, again: isFound ? row : nil, version: watch.version, place: place)
    {
      throw violation
    }
    ledger.count(.snapshotStability, cost: clock.nanoseconds() - start)
  }

  private func checkOccasionally() throws {
    guard shared.plan.checks(.snapshotStability) else { return }
    try frozenCopies.follow(
      session, keys: known, now: pace.freeAt, place: place, &random, &ledger)
  }
}
