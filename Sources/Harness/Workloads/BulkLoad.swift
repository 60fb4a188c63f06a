// The workload bulk-load: writer threads fill a new file, --batch objects a transaction, until all
// objects are there. What it answers: objects a second, bytes an object, memory.
internal import Platform

/// Writers fill an empty table.
package struct BulkLoad<Driver: EngineDriver>: Workload {
  package let shared: RunShared<Driver>

  package init(_ shared: RunShared<Driver>) { self.shared = shared }

  private var model: ContentModel { shared.plan.model }

  package var objects: Int {
    min(model.objects, shared.versions.acknowledgedTransaction * model.batch)
  }

  /// Nothing: filling the table is what is measured.
  package func load(isCancelled: () -> Bool, progress: (Int) -> Void) throws -> UInt64? {
    try shared.driver.openSession().version
  }

  package var threads: [WorkerPlan] {
    let (shared, model) = (shared, shared.plan.model)
    return (1...shared.plan.writers).map { number in
      WorkerPlan("writer \(number)", operations: [.write]) { handover in
        var row = Row()
        return try BatchWriter(number: number, shared: shared, handover: handover) {
          session, batch, _ in
          for position in 0..<batch.count {
            model.fillInitially(&row, id: batch.key(position))
            model.fill(&row, stamp: batch.transaction)
            session.insert(row)
          }
        }
      }
    }
  }

  /// Each object is there, as the transaction of its place has written it.
  package func checkEnd(_ ledger: inout InvariantLedger) throws {
    let check = try FinalCheck(shared, &ledger)
    try check.checkTotal(&ledger)
    let (model, version) = (model, check.session.version)
    let expected = ReplayCheck(model: model, transactions: shared.versions.transactions)
    try check.checkObjects(0..<model.objects, &ledger) { row, key in
      expected.judge(row, key: key, version: version)
        ?? row.flatMap { AtomicityCheck.content($0, key: key, model: model, version: version) }
    }
    try check.checkSpace(&ledger)
  }
}
