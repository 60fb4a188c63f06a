// The workload queue-confined: serial queues, each with a Realm of its own that follows new versions by
// itself, do the operations of a mix as jobs. What it answers: what a hop to a queue and the confinement
// to it cost. At the end forbidden uses are tried in processes of their own (I11).
internal import Dispatch
internal import Platform

/// Queues that do a mix of operations, one a job.
package struct QueueConfined<Driver: EngineDriver>: Workload {
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
        try MixedThread(
          number: number, shared: shared, table: table, handover: handover,
          queue: DispatchQueue(label: "queue \(number)"))
      }
    }
  }

  package func checkEnd(_ ledger: inout InvariantLedger) throws {
    try MixedCheck.judge(shared, table, &ledger)
    try FinalCheck.checkForbidden(
      ForbiddenUse.places, count: shared.plan.attempts, shared, &ledger)
  }
}
