// The workload grouped-commit: queues that ask for asynchronous writes, some together, and commit
// them with grouping, while others read and write by blocking. What it answers: how long until a
// commit is accepted and until it is durable, and how many commits share a sync.
internal import Platform

extension WorkloadKind {
  package static let groupedCommit = WorkloadKind(GroupedCommitDescription.self)
}

/// What the tool knows of grouped-commit before it runs.
package enum GroupedCommitDescription: WorkloadDescription {
  package static let name = "grouped-commit"
  package static let summary =
    "queues commit asynchronously in groups; time to accept and to durable"
  package static let help = """
    On each of --queues queues, --group asynchronous writes are asked for together, while no more than
    --in-flight are on their way; each changes --batch objects and commits with grouping (with
    --group 1 without). Operations: 'request' is how long asking blocks, 'begin' the time from there to
    the block, 'accept' the call that commits, 'durable' from the request to the completion,
    'burst' from the first request of a group to the last completion. --readers threads look objects
    up meanwhile, --writers threads commit by blocking. With --rate bursts follow a schedule.

      realm-bench run grouped-commit --group 64 --in-flight 128 --duration 5s
    """
  package static let flags = Flags.table.union(Flags.load).union([
    "queues", "readers", "writers", "batch", "group", "in-flight", "patience", "read-keys",
    "read-rate",
  ])
  package static let scheduled: Set<Operation> = [.burst]
  package static let invariants: [Invariant] = Invariant.ofSnapshots(and: [
    .durablePrefix, .completion,
  ])

  package static func setDefaults(_ settings: inout RunSettings) {
    settings.readers = 1
    settings.writers = 0
    settings.batch = 1
  }

  package static func operations(_ settings: RunSettings) -> [Operation] {
    [.burst, .request, .begin, .accept, .durable]
      + (settings.readers > 0 ? [.read, .refresh] : []) + (settings.writers > 0 ? [.write] : [])
  }

  package static func shape(_ settings: RunSettings) -> String {
    "\(settings.queues) queues, groups of \(settings.group), \(settings.inFlight) in flight, "
      + "\(settings.readers) readers, \(settings.writers) writers, "
      + "\(grouped(settings.objects)) objects"
  }

  /// While one group waits for its sync the next one fills.
  package static func inFlight(_ settings: RunSettings) -> Int { 2 * settings.group }

  package static func check(_ settings: RunSettings) throws(UsageError) {
    if settings.inFlight < settings.group {
      throw UsageError(
        "--in-flight \(settings.inFlight) is less than --group \(settings.group)")
    }
  }

  package static let needs: Set<EngineCapability> = [.queues]

  package static func make<Driver: EngineDriver>(
    _ shared: RunShared<Driver>
  ) -> any Workload<Driver> {
    func make<Able: QueueEngine>(_ engine: Able.Type) -> any Workload<Driver> {
      shared.widened(GroupedCommit(shared.narrowed(to: engine)))
    }
    guard let able = Driver.self as? any QueueEngine.Type else {
      preconditionFailure("refused before: \(needs)")
    }
    return make(able)
  }
}

/// Queues commit asynchronously, threads read and write meanwhile.
package struct GroupedCommit<Driver: QueueEngine>: Workload {
  package let shared: RunShared<Driver>

  package init(_ shared: RunShared<Driver>) { self.shared = shared }

  package var threads: [WorkerPlan] {
    var threads: [WorkerPlan] = []
    let shared = shared
    for number in 1...shared.plan.queues {
      threads.append(
        WorkerPlan(
          "queue \(number)", operations: [.burst, .request, .begin, .accept, .durable]
        ) { handover in
          try GroupedWriter(number: number, shared: shared, handover: handover)
        })
    }
    for number in stride(from: 1, through: shared.plan.readers, by: 1) {
      threads.append(
        WorkerPlan("reader \(number)", operations: [.read, .refresh]) { handover in
          try ReadersWriterReader(number: number, shared: shared, handover: handover)
        })
    }
    for number in stride(from: 1, through: shared.plan.writers, by: 1) {
      threads.append(
        WorkerPlan("writer \(number)", operations: [.write]) { handover in
          try BatchWriter(
            number: number, shared: shared, handover: handover, isScheduled: false,
            change: .rewrite)
        })
    }
    return threads
  }

  package func checkEnd(_ ledger: inout InvariantLedger) throws {
    try ReadersWriter(shared).checkEnd(&ledger)
  }
}

/// A queue that commits asynchronously, and the thread that keeps it busy.
///
/// The thread asks for bursts and takes up what has become of them; everything else happens in
/// blocks of the queue.
package final class GroupedWriter<Driver: QueueEngine>: Worker {
  private enum Figure: Int { case burst, request, begin, accept, durable }

  private let shared: RunShared<Driver>
  private let place: String
  private let clock = MonotonicClock()
  private let desk: CommitDesk<Driver>
  private let checksSpace: Bool
  private var pace: ThreadPace
  private var walk: SpaceWalk<Driver>
  package private(set) var ledger = InvariantLedger()
  package var pausedNanoseconds: UInt64 { pace.pausedNanoseconds }

  package init(number: Int, shared: RunShared<Driver>, handover: Handover) throws {
    self.shared = shared
    place = "queue \(number)"
    let random = shared.random(thread: shared.plan.readers + shared.plan.writers + number)
    desk = try CommitDesk(shared, place: place, random: random)
    checksSpace = number == 1 && shared.plan.checks(.spaceAccounting)
    walk = SpaceWalk(shared)
    pace = ThreadPace(
      control: shared.control, handover: handover,
      openLoad: shared.plan.openLoad(thread: number, of: shared.plan.queues), random: random)
  }

  package func run() throws {
    defer { pace.finish() }
    defer { ledger.add(desk.close()) }
    pace.waitForStart()
    while let turn = pace.nextTurn() {
      // The turn is one commit; the rest of the burst comes from the same budget.
      let group = 1 + (shared.plan.group > 1 ? pace.claimMore(shared.plan.group - 1) : 0)
      desk.request(group, turn)
      try takeUp(untilAtMost: max(0, shared.plan.inFlight - shared.plan.group))
      if checksSpace {
        try walk.runIfDue(after: shared.versions.acknowledgedVersion, &pace, &ledger)
      }
    }
    try takeUp(untilAtMost: 0)
  }

  /// Records what has ended, and waits until no more than so many commits are on their way.
  private func takeUp(untilAtMost count: Int) throws {
    pace.beginWait(Figure.burst.rawValue, since: clock.nanoseconds())
    defer { pace.lockWait.end() }
    let ended = try desk.wait(untilAtMost: count)
    // Before anything is recorded.
    pace.lockWait.end()
    for commit in ended.commits {
      record(.request, commit.requested, commit.returned)
      record(.begin, commit.requested, commit.began)
      record(.accept, commit.committed, commit.accepted)
      record(.durable, commit.requested, commit.durable)
      if commit.hasFailed { pace.measurements.figures[Figure.durable.rawValue].errors += 1 }
    }
    for burst in ended.bursts {
      pace.record(
        Figure.burst.rawValue, burst.turn, start: burst.requested, end: burst.durable)
    }
    if let failure = ended.failure { throw failure }
  }

  private func record(_ figure: Figure, _ start: UInt64, _ end: UInt64) {
    pace.measurements.figures[figure.rawValue].service.record(end - min(start, end))
  }
}
