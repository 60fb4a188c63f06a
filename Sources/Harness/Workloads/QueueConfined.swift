// The workload queue-confined: serial queues, each with a Realm of its own that follows new
// versions by itself, do the operations of a mix as jobs. What it answers: what a hop to a queue
// and the confinement to it cost. At the end forbidden uses are tried in processes of their own
// (I11).
internal import Dispatch
internal import Platform

extension WorkloadKind {
  package static let queueConfined = WorkloadKind(QueueConfinedDescription.self)
}

/// What the tool knows of queue-confined before it runs.
package enum QueueConfinedDescription: WorkloadDescription {
  package static let name = "queue-confined"
  package static let summary = "serial queues with a Realm each do a mix of operations, one a job"
  package static let help = """
    Each of --queues serial queues has a Realm confined to it and does the operations of --mix, one a
    job; operation 'hop' is the time from handing a job to the queue to its begin. Realms follow
    new versions by themselves between jobs. At the end --attempts uses from wrong threads, queues
    and actors are tried, each in a process of its own, which has to stop (I11).

      realm-bench run queue-confined --queues 4 --mix B --duration 5s
    """
  package static let flags = Flags.table.union(Flags.load).union([
    "check-rate",
    "queues", "mix", "scan-length", "read-keys", "attempts",
  ])
  package static let scheduled: Set<Operation> = Set(OperationMix.operations)
  package static let invariants: [Invariant] = Invariant.ofSnapshots(and: [.confinement])
  package static let rule = ContentModel.Rule.rewritePayload

  package static func setDefaults(_ settings: inout RunSettings) {
    settings.queues = 4
    settings.readKeys = settings.mix.defaultKeys
    settings.refreshEvery = 16
  }

  package static func operations(_ settings: RunSettings) -> [Operation] {
    settings.mix.shares.map(\.operation) + [.refresh, .hop]
  }

  package static func threads(of operation: Operation, _ settings: RunSettings) -> Int {
    settings.queues
  }

  package static func shape(_ settings: RunSettings) -> String {
    "\(settings.queues) queues, mix \(settings.mix.text), \(grouped(settings.objects)) objects, "
      + settings.readKeys.text
  }

  package static let needs: Set<EngineCapability> = [.queues, .forbiddenUses]

  package static func make<Driver: EngineDriver>(
    _ shared: RunShared<Driver>
  ) -> any Workload<Driver> {
    func make<Able: QueueEngine & ForbiddingEngine>(_ engine: Able.Type) -> any Workload<Driver> {
      shared.widened(QueueConfined(shared.narrowed(to: engine)))
    }
    guard let able = Driver.self as? any (QueueEngine & ForbiddingEngine).Type else {
      preconditionFailure("refused before: \(needs)")
    }
    return make(able)
  }
}

/// Queues that do a mix of operations, one a job.
package struct QueueConfined<Driver: QueueEngine & ForbiddingEngine>: Workload {
  package let shared: RunShared<Driver>
  private let table: MixedTable

  package init(_ shared: RunShared<Driver>) {
    self.shared = shared
    table = MixedTable(objects: shared.plan.model.objects)
  }

  package var objects: Int { table.objects }

  package var threads: [WorkerPlan] {
    let (shared, table) = (shared, table)
    return (1...shared.plan.queues).map { number in
      WorkerPlan(
        "queue \(number)", operations: shared.plan.mix.shares.map(\.operation) + [.refresh, .hop]
      ) { handover in
        let queue = DispatchQueue(label: "queue \(number)")
        return try MixedThread(
          number: number, shared: shared, table: table, handover: handover, queue: queue
        ) { try queue.sync { try shared.driver.openSession(on: queue) } }
      }
    }
  }

  package func checkEnd(_ ledger: inout InvariantLedger) throws {
    try MixedCheck.judge(shared, table, &ledger)
    try FinalCheck.checkForbidden(
      ForbiddenUse.places, count: shared.plan.attempts, shared, &ledger)
  }
}
