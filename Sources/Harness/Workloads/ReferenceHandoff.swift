// The workload reference-handoff: threads that make references to objects, lists and results, and
// others that resolve them, while objects are changed, deleted and made anew. What it answers: what
// a reference costs, and what references on their way keep. Each is resolved once, to what it was
// made for (I9).
internal import Platform

extension WorkloadKind {
  package static let referenceHandoff = WorkloadKind(ReferenceHandoffDescription.self)
}

/// What the tool knows of reference-handoff before it runs.
package enum ReferenceHandoffDescription: WorkloadDescription {
  package static let name = "reference-handoff"
  package static let summary = "threads hand objects, lists and results to others by reference"
  package static let help = """
    Writer threads make references to objects, lists and results ('reference'), reader threads resolve
    them ('resolve'), one in 32 inside of a transaction; no more than --in-flight wait. Before every
    --write-every-th reference a transaction changes --batch objects and puts another object in the
    place of one that was referred to lately: such a reference has to give nil (I9).

      realm-bench run reference-handoff --writers 1 --readers 2 --in-flight 64 --duration 5s
    """
  package static let flags = Flags.table.union(Flags.load).subtracting(["refresh-every"]).union([
    "readers", "writers", "batch", "in-flight", "write-every", "attempts",
    "check-rate",
  ])
  package static let scheduled: Set<Operation> = [.reference]
  package static let unitInFlight = "references"
  package static let invariants: [Invariant] = Invariant.ofSnapshots(and: [.references]).filter {
    $0 != .snapshotStability
  }

  package static func setDefaults(_ settings: inout RunSettings) {
    settings.readers = 2
    settings.inFlight = 64
  }

  package static func operations(_ settings: RunSettings) -> [Operation] {
    [.reference, .write, .resolve]
  }

  package static func shape(_ settings: RunSettings) -> String {
    "\(settings.writers) writers, \(settings.readers) readers, \(settings.inFlight) in flight, "
      + "\(grouped(settings.objects)) objects"
  }

  package static func check(_ settings: RunSettings) throws(UsageError) {
    try refuseNoWriter(settings)
    if settings.readers == 0 { throw UsageError("--readers 0: nobody resolves the references") }
  }

  package static let needs: Set<EngineCapability> = [.references, .forbiddenUses]

  package static func make<Driver: EngineDriver>(
    _ shared: RunShared<Driver>
  ) -> any Workload<Driver> {
    func make<Able: SharingEngine & ForbiddingEngine>(_ engine: Able.Type) -> any Workload<Driver> {
      shared.widened(ReferenceHandoff(shared.narrowed(to: engine)))
    }
    guard let able = Driver.self as? any (SharingEngine & ForbiddingEngine).Type else {
      preconditionFailure("refused before: \(needs)")
    }
    return make(able)
  }
}

/// Writers make references, readers resolve them.
package struct ReferenceHandoff<Driver: SharingEngine & ForbiddingEngine>: Workload {
  package let shared: RunShared<Driver>

  package init(_ shared: RunShared<Driver>) { self.shared = shared }

  package func load(isCancelled: () -> Bool, progress: (Int) -> Void) throws -> UInt64? {
    try loadGroups(shared, isCancelled: isCancelled, progress: progress)
  }

  package var threads: [WorkerPlan] {
    let shared = shared
    let exchange = ReferenceExchange<Driver.Session.Reference>(
      capacity: shared.plan.inFlight, makers: shared.plan.writers,
      isScheduled: shared.plan.openLoad(thread: 1, of: shared.plan.writers) != nil)
    var threads = (1...shared.plan.writers).map { number in
      WorkerPlan("writer \(number)", operations: [.reference, .write]) { handover in
        try ReferenceMaker(number: number, shared: shared, exchange: exchange, handover: handover)
      }
    }
    for number in 1...shared.plan.readers {
      threads.append(
        WorkerPlan("reader \(number)", operations: [.resolve]) { handover in
          try ReferenceResolver(
            number: number, shared: shared, exchange: exchange, handover: handover)
        })
    }
    return threads
  }

  package func checkEnd(_ ledger: inout InvariantLedger) throws {
    try FinalCheck.checkForbidden(
      ForbiddenUse.ofReferences, count: shared.plan.attempts, shared, &ledger)
    try ReadersWriter(shared).checkEnd(&ledger)
  }
}

/// A reference on its way, and what it was made for.
package struct ReferenceTicket<Reference: EngineReference>: Sendable {
  let reference: Reference
  let content: Content
  let version: UInt64
  /// Of an object: how often it was changed, which tells it from the one that replaces it.
  let changes: Int
}

/// Where references wait for whoever resolves them.
package final class ReferenceExchange<Reference: EngineReference>: Sendable {
  private struct State: Sendable {
    var tickets: [ReferenceTicket<Reference>] = []
    var makers: Int
  }

  /// Whether the makers have a schedule.
  let isScheduled: Bool
  private let capacity: Int
  private let state: Monitor<State>

  init(capacity: Int, makers: Int, isScheduled: Bool) {
    self.isScheduled = isScheduled
    self.capacity = capacity
    state = Monitor(State(makers: makers))
  }

  /// False when there is no room for a while.
  func put(_ ticket: ReferenceTicket<Reference>) -> Bool {
    _ = state.wait(nanoseconds: 5_000_000) { $0.tickets.count < self.capacity }
    // Others may have seen the same room.
    let hasRoom = state.withLock { state in
      guard state.tickets.count < capacity else { return false }
      state.tickets.append(ticket)
      return true
    }
    if hasRoom { state.notifyAll() }
    return hasRoom
  }

  /// Any ticket, so that some wait for long; nil when none has come for a while.
  func take(_ random: inout RandomGenerator) -> ReferenceTicket<Reference>? {
    let number = random.next()
    _ = state.wait(nanoseconds: 5_000_000) { !$0.tickets.isEmpty || $0.makers == 0 }
    let ticket = state.withLock { state -> ReferenceTicket<Reference>? in
      guard !state.tickets.isEmpty else { return nil }
      state.tickets.swapAt(Int(number % UInt64(state.tickets.count)), state.tickets.count - 1)
      return state.tickets.removeLast()
    }
    if ticket != nil { state.notifyAll() }
    return ticket
  }

  func makerEnds() {
    state.withLock { $0.makers -= 1 }
    state.notifyAll()
  }

  /// Whether no more references will come.
  var hasNoMakers: Bool { state.withLock { $0.makers == 0 } }

  /// Whether there is nothing to resolve, and will not be.
  var isOver: Bool { state.withLock { $0.makers == 0 && $0.tickets.isEmpty } }
}

/// Writes now and then, and makes references.
package final class ReferenceMaker<Driver: SharingEngine>: SessionThread<Driver> {
  private enum Figure: Int { case reference, write }

  private let exchange: ReferenceExchange<Driver.Session.Reference>
  /// Recently referred to: what is likely to be on its way is deleted.
  private var recent: [Int] = []

  package init(
    number: Int, shared: RunShared<Driver>,
    exchange: ReferenceExchange<Driver.Session.Reference>, handover: Handover
  ) throws {
    self.exchange = exchange
    try super.init(
      "writer \(number)", thread: number, shared, handover,
      openLoad: shared.plan.openLoad(thread: number, of: shared.plan.writers))
  }

  package override func run() throws {
    defer { pace.finish() }
    defer { exchange.makerEnds() }
    try begin()
    var references = 0
    while let turn = pace.nextTurn() {
      if references % shared.plan.writeEvery == 0 { try write(for: turn) }
      references += 1
      guard let ticket = makeReference(turn) else {
        throw Violation(
          .atomicity, "Something that no transaction leaves out was not found.",
          witness: ["\(place), version \(session.version)"])
      }
      // Resolvers go on for as long as there are makers, so that room comes also after the end.
      while !exchange.put(ticket), pace.follow() {}
    }
  }

  private func makeReference(
    _ turn: ThreadPace.Turn
  ) -> ReferenceTicket<Driver.Session.Reference>? {
    let content = nextContent()
    var changes = 0
    if case .object(let key) = content {
      guard session.read(key, .account, into: &row) else { return nil }
      changes = row.changes
      recent.append(key)
      if recent.count > 64 { recent.removeFirst(32) }
    }
    let before = ThreadWork.now()
    let start = clock.nanoseconds()
    guard let reference = session.reference(to: content) else { return nil }
    pace.record(
      Figure.reference.rawValue, turn, start: start, end: clock.nanoseconds(),
      work: .since(before))
    return ReferenceTicket(
      reference: reference, content: content, version: session.version, changes: changes)
  }

  private func nextContent() -> Content {
    switch random.next(upperBound: UInt64(4)) {
    case 0: return .list(Int(random.next(upperBound: UInt64(model.groups))))
    case 1:
      let count = min(8, model.objects)
      let first = Int(random.next(upperBound: UInt64(model.objects - count + 1)))
      return .results(first..<first + count)
    default: return .object(Int(random.next(upperBound: UInt64(model.objects))))
    }
  }

  /// Changes a batch and a group, and puts another object in the place of one.
  private func write(for turn: ThreadPace.Turn) throws {
    var transaction = 0
    let start = clock.nanoseconds()
    pace.beginWait(Figure.write.rawValue, since: start)
    defer { pace.lockWait.end() }
    let before = ThreadWork.now()
    do {
      try session.write {
        try pace.lockWait.end(shared.control, isScheduled: turn.isScheduled)
        transaction = shared.versions.nextTransaction()
        try ReadersWriter<Driver>.rewrite(session, model.batch(of: transaction), model)
        let group = transaction % model.groups
        session.setGroup(
          group, stamp: transaction, members: model.members(of: group, stamp: transaction))
        guard let key = replaced() else { return }
        if !session.replace(key) { throw AtomicityCheck.missing(key, version: session.version) }
      }
    } catch is RunControl.GivenUp {
      pace.giveUp(Figure.write.rawValue, after: clock.nanoseconds() - start)
      return
    } catch {
      pace.measurements.figures[Figure.write.rawValue].errors += 1
      throw error
    }
    record(Figure.write.rawValue, since: start, before)
    try watch.committed(
      session, transaction, key: model.batch(of: transaction).key(0), place: place, &ledger)
  }

  /// Only objects of the upper half are replaced: the others are members of lists.
  private func replaced() -> Int? {
    let candidates = recent.filter { $0 >= max(1, model.objects / 2) }
    guard !candidates.isEmpty else { return nil }
    return candidates[Int(random.next(upperBound: UInt64(candidates.count)))]
  }
}

/// Resolves references.
package final class ReferenceResolver<Driver: SharingEngine>: SessionThread<Driver> {
  private let exchange: ReferenceExchange<Driver.Session.Reference>
  private var rows: [Row] = []
  private var taken: UInt64 = 0
  /// Which references have the content of what they are resolved to checked.
  private var contents: CheckSampler

  package init(
    number: Int, shared: RunShared<Driver>,
    exchange: ReferenceExchange<Driver.Session.Reference>, handover: Handover
  ) throws {
    self.exchange = exchange
    var random = shared.random(thread: shared.plan.writers + number)
    contents = CheckSampler(rate: shared.plan.checkRate, &random)
    try super.init(
      "reader \(number)", thread: shared.plan.writers + number, shared, handover)
  }

  package override func run() throws {
    defer { pace.finish() }
    try begin()
    // What is on its way at the end is released unresolved.
    while pace.follow() ? !exchange.isOver : isWaitedFor {
      guard let ticket = exchange.take(&random) else { continue }
      taken += 1
      // One in 64 is released unresolved.
      if taken & 63 == 0 { continue }
      try resolve(ticket)
    }
  }

  /// Behind the end: whether makers still do what was due, and wait for room meanwhile.
  private var isWaitedFor: Bool {
    exchange.isScheduled && !exchange.hasNoMakers && pace.hasTimeToCatchUp
  }

  private func resolve(_ ticket: ReferenceTicket<Driver.Session.Reference>) throws {
    if taken & 31 == 1 {
      // In a transaction too: there it is resolved at the version that the transaction makes.
      let start = clock.nanoseconds()
      pace.beginWait(0, since: start)
      defer { pace.lockWait.end() }
      do {
        try session.write {
          // Whoever has a schedule waits for it behind the end, too.
          try pace.lockWait.end(shared.control, isScheduled: exchange.isScheduled)
          try resolveHere(ticket)
        }
      } catch is RunControl.GivenUp {
        pace.giveUp(0, after: clock.nanoseconds() - start)
        return
      } catch {
        pace.measurements.figures[0].errors += 1
        throw error
      }
    } else {
      try resolveHere(ticket)
    }
    try watch.observe(session, place: place, &ledger)
  }

  private func resolveHere(_ ticket: ReferenceTicket<Driver.Session.Reference>) throws {
    let before = ThreadWork.now()
    let start = clock.nanoseconds()
    let isFound = session.resolve(ticket.reference, into: &rows)
    let end = clock.nanoseconds()
    pace.measurements.figures[0].record(end - start, .since(before))
    if shared.plan.checks(.references) {
      if let violation = judge(ticket, isFound) { throw violation }
      ledger.count(.references, cost: clock.nanoseconds() - end)
    }
    guard isFound, shared.plan.checks(.atomicity), contents.isDue(&random) else { return }
    let checked = clock.nanoseconds()
    defer {
      ledger.count(
        .atomicity, checks: UInt64(rows.count), cost: clock.nanoseconds() - checked)
    }
    for row in rows {
      if let violation = AtomicityCheck.content(
        row, key: row.id, model: model, version: session.version)
      {
        throw violation
      }
    }
  }

  private func judge(
    _ ticket: ReferenceTicket<Driver.Session.Reference>, _ isFound: Bool
  ) -> Violation? {
    let version = session.version
    if let violation = ReferenceCheck.version(version, reference: ticket.version, place: place)
      ?? ReferenceCheck.once(isResolved: ticket.reference.isResolved, place: place)
    {
      return violation
    }
    switch ticket.content {
    case .object(let key):
      let isThere = session.read(key, .account, into: &row)
      return ReferenceCheck.object(
        found: isFound ? rows.first : nil, key: key, changes: ticket.changes,
        current: isThere ? row : nil, version: version, place: place)
    case .list(let group):
      let stamp = session.groupStamp(group) ?? 0
      return ReferenceCheck.members(
        isFound ? rows.map(\.id) : nil, expected: model.members(of: group, stamp: stamp),
        of: ticket.content, version: version, place: place)
    case .results(let keys):
      return ReferenceCheck.members(
        isFound ? rows.map(\.id) : nil, expected: Array(keys), of: ticket.content,
        version: version, place: place)
    }
  }
}
