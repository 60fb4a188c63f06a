// The workload readers-writer: reader threads by key and writer threads in batches, over one table.
internal import Platform

/// Readers look objects up, writers rewrite batches of them.
package struct ReadersWriter<Driver: EngineDriver>: Workload {
  package let shared: RunShared<Driver>

  package init(_ shared: RunShared<Driver>) { self.shared = shared }

  package var threads: [WorkerPlan] {
    var threads: [WorkerPlan] = []
    let (shared, model) = (shared, shared.plan.model)
    for number in stride(from: 1, through: shared.plan.readers, by: 1) {
      threads.append(
        WorkerPlan("reader \(number)", operations: [.read, .refresh]) { handover in
          try ReadersWriterReader(number: number, shared: shared, handover: handover)
        })
    }
    for number in stride(from: 1, through: shared.plan.writers, by: 1) {
      threads.append(
        WorkerPlan("writer \(number)", operations: [.write]) { handover in
          try BatchWriter(number: number, shared: shared, handover: handover) {
            session, batch, _ in
            try Self.rewrite(session, batch, model)
          }
        })
    }
    return threads
  }

  /// Gives the objects of a batch the content of its transaction, and moves balance between them.
  static func rewrite(
    _ session: Driver.Session, _ batch: ContentModel.Batch, _ model: ContentModel
  ) throws {
    for position in 0..<batch.count {
      let key = batch.key(position)
      var previous = 0
      let isFound = session.update(key, .all) { row in
        previous = row.stamp
        row.balance += batch.amount(position)
        model.fill(&row, stamp: batch.transaction)
      }
      if !isFound { throw AtomicityCheck.missing(key, version: session.version) }
      if previous >= batch.transaction {
        throw Violation(
          .serialOrder, "A transaction found an object written by a later one.",
          witness: [
            "transaction \(batch.transaction) found object \(key) as written by "
              + "transaction \(previous)"
          ])
      }
    }
  }

  /// The whole table against a replay of all transactions.
  package func checkEnd(_ ledger: inout InvariantLedger) throws {
    let check = try FinalCheck(shared, &ledger)
    try check.checkTotal(&ledger)
    let (model, version) = (shared.plan.model, check.session.version)
    if shared.plan.checks(.serialOrder) {
      let replay = ReplayCheck(model: model, transactions: shared.versions.transactions)
      try check.checkObjects(0..<model.objects, &ledger) { row, key in
        replay.judge(row, key: key, version: version)
          ?? row.flatMap { AtomicityCheck.content($0, key: key, model: model, version: version) }
      }
    }
    try check.checkSpace(&ledger)
  }
}
