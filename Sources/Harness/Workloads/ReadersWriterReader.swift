// One reader thread of the readers-writer workload: reads by key, refreshes, and checks I1 to I4
// from where a reader stands. Timed operations hold engine calls only; every check is outside of
// them and knows what it costs. What is cheap is checked at every read, the rest at a share of them
// (--check-rate).
internal import Platform

/// A reader; made and used on its own thread.
package struct ReadersWriterReader<Driver: EngineDriver>: Worker {
  private let shared: RunShared<Driver>
  private let place: String
  private let clock = MonotonicClock()
  private let keys: KeyGenerator
  private let model: ContentModel
  private let checksStability: Bool
  private let checksAtomicity: Bool
  private let checksVersions: Bool
  private let checksAcknowledged: Bool
  /// Whether reads follow a schedule.
  private let isScheduled: Bool
  private let openedAfter: SessionWatch<Driver>.Acknowledged
  private var random: RandomGenerator
  // Nil only while it is being opened again: the old one has to go first.
  private var session: Driver.Session!
  package private(set) var ledger = InvariantLedger()
  package var pausedNanoseconds: UInt64 { 0 }

  private var pace: ThreadPace
  private var watch: SessionWatch<Driver>
  private var row = Row()
  private var other = Row()
  private var now: UInt64 = 0

  private var reads: UInt64 = 0
  private var contentCost: UInt64 = 0
  /// Which reads have their content checked, and of which of these another object of their
  /// transaction is.
  private var contents: CheckSampler
  private var siblings: CheckSampler
  /// In which cycles an object is read again.
  private var repeats: CheckSampler
  /// How many times rarer than with everything checked in full the costly checks are.
  private let thrift: UInt64
  private var costs = CostSampler()
  private var cycles: UInt64 = 0
  private var remembered: Row?
  private var held: (object: Driver.Session.Held, key: Int)?
  private var frozenCopies: FrozenCopyCheck<Driver>
  private var nextTotal: UInt64 = 0
  private var nextReopening: UInt64 = 0

  package init(number: Int, shared: RunShared<Driver>, handover: Handover) throws {
    self.shared = shared
    place = "reader \(number)"
    model = shared.plan.model
    keys = KeyGenerator(shared.plan.readKeys, model: model)
    random = shared.random(thread: number)
    watch = SessionWatch(shared)
    openedAfter = watch.acknowledged()
    session = try shared.driver.openSession()
    checksStability = shared.plan.checks(.snapshotStability)
    checksAtomicity = shared.plan.checks(.atomicity)
    checksVersions = shared.plan.checks(.monotonicVersions)
    checksAcknowledged = shared.plan.checks(.readYourWrites)
    frozenCopies = FrozenCopyCheck(now: 0, shared.plan, random: &random)
    let rate = shared.plan.checks(.atomicity) ? shared.plan.checkRate : 0
    contents = CheckSampler(rate: rate, &random)
    siblings = CheckSampler(rate: 1.0 / (shared.plan.checksFully ? 16 : 8), &random)
    repeats = CheckSampler(rate: min(1, shared.plan.checkRate * 2), &random)
    thrift = shared.plan.checksFully ? 1 : 8
    let load = shared.plan.openReads(thread: number)
    isScheduled = load != nil || shared.plan.steps.contains { $0.readRate != nil }
    pace = ThreadPace(
      control: shared.control, handover: handover, openLoad: load,
      member: .init(.reader, number, of: shared.plan.readers), arrivals: shared.plan.arrivals,
      random: random)
  }

  private var version: UInt64 { watch.version }
  private var snapshotTransaction: Int? { watch.transaction }

  /// Reads until the run stops.
  package mutating func run() throws {
    defer {
      ledger.count(.atomicity, checks: reads, cost: contentCost)
      pace.finish()
    }
    pace.waitForStart()
    now = pace.freeAt
    frozenCopies = FrozenCopyCheck(now: now, shared.plan, random: &random)
    nextTotal = now + random.next(upperBound: 200_000_000)
    nextReopening = now + random.next(upperBound: 60_000_000)
    try checkAfterMove(openedAfter, place: "\(place), opened")
    while isScheduled {
      guard try scheduledCycle() else { return }
    }
    while pace.follow() {
      let count = pace.claim(shared.plan.refreshEvery)
      if count == 0 { break }
      try cycle(count)
    }
  }

  // MARK: - Operations

  private mutating func cycle(_ count: Int) throws {
    let chosen = positionToRemember(of: max(16, count))
    for position in 0..<count {
      let key = keys.next(&random, newestTransaction: snapshotTransaction ?? 0)
      let before = ThreadWork.now()
      let start = clock.nanoseconds()
      let isFound = session.read(key, into: &row)
      now = clock.nanoseconds()
      pace.measurements.figures[0].record(now &- start, .since(before))
      try checkRead(key, isFound)
      if position == chosen { remembered = row }
      if pace.hasChanged {
        // What was claimed for one phase is not carried into the next.
        let phase = pace.phase
        guard pace.follow(), pace.phase == phase else { return }
      }
    }
    try checkBeforeRefresh()
    try refresh()
  }

  /// Which read of a cycle is made once more at its end; -1 = none.
  private mutating func positionToRemember(of count: Int) -> Int {
    guard checksStability, repeats.isDue(&random) else { return -1 }
    return Int(random.next(upperBound: UInt64(count)))
  }

  /// Reads when reads are due, then refreshes; false when the run is over.
  private mutating func scheduledCycle() throws -> Bool {
    let chosen = positionToRemember(of: max(1, shared.plan.refreshEvery))
    for position in 0..<shared.plan.refreshEvery {
      guard let turn = pace.nextTurn() else { return false }
      let key = keys.next(&random, newestTransaction: snapshotTransaction ?? 0)
      let before = ThreadWork.now()
      let start = clock.nanoseconds()
      let isFound = session.read(key, into: &row)
      now = clock.nanoseconds()
      pace.record(0, turn, start: start, end: now, work: .since(before))
      try checkRead(key, isFound)
      if position == chosen { remembered = row }
    }
    try checkBeforeRefresh()
    try refresh()
    return true
  }

  private mutating func refresh() throws {
    let acknowledged = watch.acknowledged()
    let before = ThreadWork.now()
    let start = clock.nanoseconds()
    _ = session.refresh()
    now = clock.nanoseconds()
    pace.measurements.figures[1].record(now &- start, .since(before))
    cycles += 1
    try checkAfterMove(acknowledged, place: place)
    try runOccasionalChecks()
  }

  // MARK: - Checks of reads (I2)

  private mutating func checkRead(_ key: Int, _ isFound: Bool) throws {
    guard checksAtomicity else { return }
    guard isFound else { throw AtomicityCheck.missing(key, version: version) }
    reads += 1
    // At every read: the object that was asked for, of no later transaction.
    let newest = snapshotTransaction ?? .max
    if row.id != key || row.stamp > newest { throw wrongRead(key) }
    if contents.isDue(&random) { try checkContent(key) }
  }

  @inline(never)
  private func wrongRead(_ key: Int) -> Violation {
    AtomicityCheck.content(row, key: key, model: model, version: version)
      ?? AtomicityCheck.notNewer(
        row, thanTransaction: snapshotTransaction ?? .max, version: version)
      ?? AtomicityCheck.missing(key, version: version)
  }

  @inline(never)
  private mutating func checkContent(_ key: Int) throws {
    let start = costs.begin()
    if let violation = AtomicityCheck.content(row, key: key, model: model, version: version) {
      throw violation
    }
    contentCost += costs.end(start)
    if siblings.isDue(&random) { try checkSibling() }
  }

  /// Another object of the transaction that wrote the row must show that transaction or a later
  /// one.
  private mutating func checkSibling() throws {
    guard row.stamp > 0, model.batch > 1 else { return }
    let start = costs.begin()
    defer { contentCost += costs.end(start) }
    let position = Int(random.next(upperBound: UInt64(model.batch)))
    let key = model.batch(of: row.stamp).key(position)
    guard session.read(key, into: &other) else {
      throw AtomicityCheck.missing(key, version: version)
    }
    if let violation = AtomicityCheck.member(
      other, ofTransaction: row.stamp, seenIn: "object \(row.id) shows transaction \(row.stamp)",
      version: version)
    {
      throw violation
    }
  }

  // MARK: - Checks around a refresh (I1, I3, I4)

  private mutating func checkBeforeRefresh() throws {
    guard let first = remembered else { return }
    remembered = nil
    let start = clock.nanoseconds()
    let isFound = session.read(first.id, into: &other)
    if let violation = SnapshotStabilityCheck.compare(
      first: first, again: isFound ? other : nil, version: version, place: place)
    {
      throw violation
    }
    ledger.count(.snapshotStability, cost: clock.nanoseconds() - start)
  }

  /// After a refresh or an opening: where the session is, and whether it may be there.
  private mutating func checkAfterMove(
    _ acknowledged: SessionWatch<Driver>.Acknowledged, place: String
  ) throws {
    let isMoved = try watch.moved(
      session, since: acknowledged, place: place, readingWith: &random,
      readsObject: cycles % (8 * thrift) == 1, &ledger)
    guard isMoved, checksAtomicity, cycles % (4 * thrift) == 0 else { return }
    try checkNewestTransaction()
  }

  /// The snapshot must show all of the transaction that made it.
  private mutating func checkNewestTransaction() throws {
    guard let newest = snapshotTransaction, newest > 0 else { return }
    let start = clock.nanoseconds()
    let batch = model.batch(of: newest)
    let step = cycles & 63 == 0 ? 1 : max(1, batch.count / 2)
    for position in stride(from: 0, to: batch.count, by: step) {
      let key = batch.key(position)
      guard session.read(key, into: &other) else {
        throw AtomicityCheck.missing(key, version: version)
      }
      if let violation = AtomicityCheck.member(
        other, ofTransaction: newest, seenIn: "it was committed by transaction \(newest)",
        version: version)
        ?? AtomicityCheck.notNewer(
          other, thanTransaction: newest, version: version)
      {
        throw violation
      }
    }
    ledger.count(.atomicity, cost: clock.nanoseconds() - start)
  }

  // MARK: - Occasional checks

  private mutating func runOccasionalChecks() throws {
    if checksStability {
      try frozenCopies.follow(
        session, keys: model.objects, now: now, place: place, &random, &ledger)
    }
    if checksStability && shared.pins.hasOneDue { try verifyDuePin() }
    if checksAtomicity && cycles % (16 * thrift) == 0 { try checkHeld() }
    if checksAtomicity && now >= nextTotal { try checkTotal() }
    if (checksAcknowledged || checksVersions) && now >= nextReopening { try reopen() }
  }

  private mutating func verifyDuePin() throws {
    guard let pin = shared.pins.takeDue() else { return }
    let start = clock.nanoseconds()
    if let violation = pin.verify(place: "pin read again by \(place)") { throw violation }
    ledger.count(
      .snapshotStability, checks: pin.checks, cost: clock.nanoseconds() - start)
  }

  /// An object kept over refreshes shows what a look-up shows.
  private mutating func checkHeld() throws {
    let start = clock.nanoseconds()
    if let held {
      session.read(held.object, into: &row)
      guard session.read(held.key, into: &other) else {
        throw AtomicityCheck.missing(held.key, version: version)
      }
      if let violation = AtomicityCheck.held(row, lookup: other, version: version) {
        throw violation
      }
    }
    let isTimeForAnother = cycles % 256 == 0
    if held == nil || isTimeForAnother {
      // A recently written object is likely to be written again soon.
      let recent = snapshotTransaction ?? 0
      let key =
        recent > 0
        ? model.batch(of: recent).key(0) : Int(random.next(upperBound: UInt64(model.objects)))
      held = session.hold(key).map { ($0, key) }
    }
    ledger.count(.atomicity, cost: clock.nanoseconds() - start)
  }

  /// The table's total; at most 2 % of the thread's time, an eighth of that by default.
  private mutating func checkTotal() throws {
    let start = clock.nanoseconds()
    if let violation = AtomicityCheck.total(session.total(), model: model, version: version) {
      throw violation
    }
    let cost = clock.nanoseconds() - start
    ledger.count(.atomicity, cost: cost)
    nextTotal = start + max(cost * 50 * thrift, 200_000_000)
  }

  /// A Realm opened now sees every write that has returned, and nothing older than the last one.
  private mutating func reopen() throws {
    let start = clock.nanoseconds()
    let acknowledged = watch.acknowledged()
    held = nil
    session = nil
    session = try shared.driver.openSession()
    // What the first read of a session finds out belongs to its opening, not to a read.
    _ = session.read(0, into: &other)
    let cost = clock.nanoseconds() - start
    ledger.count(
      checksAcknowledged ? .readYourWrites : .monotonicVersions, checks: 0, cost: cost)
    try checkAfterMove(acknowledged, place: "\(place), opened again")
    nextReopening =
      start
      + max(cost * 100, 20_000_000 + random.next(upperBound: 40_000_000)) * thrift
  }
}
