// The workload notify-storm: writers insert, change and delete objects, observers in places of
// their own keep a copy of what they observe by what they are told. After each call the copy has to
// be what the engine shows (I8).
internal import Platform

extension WorkloadKind {
  package static let notifyStorm = WorkloadKind(NotifyStormDescription.self)
}

/// What the tool knows of notify-storm before it runs.
package enum NotifyStormDescription: WorkloadDescription {
  package static let name = "notify-storm"
  package static let summary =
    "writers insert, change and delete objects; observers keep copies by what they are told"
  package static let help = """
    Writer threads delete, insert and rewrite --batch objects in each transaction. Observers, each in a
    place of its own, watch all objects, those of a condition, or all in an order, and keep a copy that
    they change by what they are told; after each call it has to be what they see (I8). Now and then
    one ends and begins again. Operation 'notify' is the time from the begin of a commit to the call.

      realm-bench run notify-storm --observers 4 --writers 2 --batch 16 --duration 5s
    """
  package static let flags = Flags.table.union(Flags.load).union(["observers", "writers", "batch"])
    .subtracting(["refresh-every"])
  package static let scheduled: Set<Operation> = [.write]
  package static let invariants: [Invariant] = [.exactChanges, .spaceAccounting]

  package static func setDefaults(_ settings: inout RunSettings) {
    settings.readers = 0
    settings.objects = 1_000
    settings.batch = 8
  }

  package static func operations(_ settings: RunSettings) -> [Operation] {
    (settings.observers > 0 ? [.notify] : []) + [.write]
  }

  package static func shape(_ settings: RunSettings) -> String {
    "\(settings.observers) observers, \(settings.writers) writers, "
      + "\(grouped(settings.objects)) objects, batch \(settings.batch)"
  }

  package static func check(_ settings: RunSettings) throws(UsageError) {
    try refuseNoWriter(settings)
  }

  package static let needs: Set<EngineCapability> = [.observers]

  package static func make<Driver: EngineDriver>(
    _ shared: RunShared<Driver>
  ) -> any Workload<Driver> {
    func make<Able: ObservingEngine>(_ engine: Able.Type) -> any Workload<Driver> {
      shared.widened(NotifyStorm(shared.narrowed(to: engine)))
    }
    guard let able = Driver.self as? any ObservingEngine.Type else {
      preconditionFailure("refused before: \(needs)")
    }
    return make(able)
  }
}

/// Writers change a table that others observe.
package struct NotifyStorm<Driver: ObservingEngine>: Workload {
  package let shared: RunShared<Driver>
  private let commits = CommitBegins()

  package init(_ shared: RunShared<Driver>) { self.shared = shared }

  package var threads: [WorkerPlan] {
    var threads: [WorkerPlan] = []
    let (shared, commits, model) = (shared, commits, shared.plan.model)
    for number in stride(from: 1, through: shared.plan.observers, by: 1) {
      threads.append(
        WorkerPlan("observer \(number)", operations: [.notify]) { handover in
          try StormObserver(number: number, shared: shared, commits: commits, handover: handover)
        })
    }
    for number in stride(from: 1, through: shared.plan.writers, by: 1) {
      threads.append(
        WorkerPlan("writer \(number)", operations: [.write]) { handover in
          try BatchWriter(number: number, shared: shared, handover: handover) {
            session, batch, _ in
            Self.change(session, batch, model)
            commits.note(batch.transaction)
          }
        })
    }
    return threads
  }

  /// Deletes the first objects of a batch that are there, inserts those that are not, and rewrites
  /// the others.
  private static func change(
    _ session: Driver.Session, _ batch: ContentModel.Batch, _ model: ContentModel
  ) {
    var row = Row()
    for position in 0..<batch.count {
      let key = batch.key(position)
      if position < (batch.count + 3) / 4, session.delete(key) { continue }
      let isFound = session.update(key, .all) { model.fill(&$0, stamp: batch.transaction) }
      if isFound { continue }
      model.fillInitially(&row, id: key)
      model.fill(&row, stamp: batch.transaction)
      session.insert(row)
    }
  }

  package func checkEnd(_ ledger: inout InvariantLedger) throws {
    let check = try FinalCheck(shared, &ledger)
    try check.checkSpace(&ledger)
  }
}

/// When the newest transactions began to commit.
package final class CommitBegins: Sendable {
  private struct Begin: Sendable {
    var transaction = 0
    var time: UInt64 = 0
  }

  /// How many of them are remembered.
  package static let count = 65_536
  private let begins = Monitor([Begin](repeating: Begin(), count: count))
  private let clock = MonotonicClock()

  package init() {}

  package func note(_ transaction: Int) {
    let begin = Begin(transaction: transaction, time: clock.nanoseconds())
    begins.withLock { $0[transaction % Self.count] = begin }
  }

  /// When a transaction began to commit; nil when that is not known any more: another one has its
  /// place.
  package func time(of transaction: Int) -> UInt64? {
    let begin = begins.withLock { $0[transaction % Self.count] }
    return begin.transaction == transaction && begin.time > 0 ? begin.time : nil
  }
}
