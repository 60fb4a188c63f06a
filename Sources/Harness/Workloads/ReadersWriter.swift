// The workload readers-writer: reader threads by key and writer threads in batches, over one table.
internal import Platform

extension WorkloadKind {
  package static let readersWriter = WorkloadKind(ReadersWriterDescription.self)
}

/// What the tool knows of readers-writer before it runs.
package enum ReadersWriterDescription: WorkloadDescription {
  package static let name = "readers-writer"
  package static let summary = "reader threads by key and writer threads in batches, over one table"
  package static let help = """
    Reader threads look objects up by key and read all their properties; writer threads change
    --batch objects in each transaction. Each reader refreshes every --refresh-every reads. With
    --rate the writers follow a schedule (open loop), the readers stay closed.

      realm-bench run readers-writer --readers 2 --duration 5s --durability full
    """
  package static let flags = Flags.table.union(Flags.threads).union(Flags.load).union([
    "read-keys", "read-rate", "check-rate", "history",
  ])
  package static let takesProcesses = true
  package static let scheduled: Set<Operation> = [.write]
  package static let takesSteps = true

  package static func operations(_ settings: RunSettings) -> [Operation] {
    (settings.readers > 0 ? [.read, .refresh] : []) + (settings.writers > 0 ? [.write] : [])
  }

  package static func shape(_ settings: RunSettings) -> String {
    readersAndWriters(settings, of: "objects")
  }

  package static func check(_ settings: RunSettings) throws(UsageError) {
    try refuseNobody(settings)
  }

  package static func make<Driver: EngineDriver>(
    _ shared: RunShared<Driver>
  ) -> any Workload<Driver> { ReadersWriter(shared) }
}

/// Readers look objects up, writers rewrite batches of them.
package struct ReadersWriter<Driver: EngineDriver>: Workload {
  package let shared: RunShared<Driver>

  package init(_ shared: RunShared<Driver>) { self.shared = shared }

  package var threads: [WorkerPlan] {
    var threads: [WorkerPlan] = []
    let shared = shared
    for number in stride(from: 1, through: shared.plan.readers, by: 1) {
      threads.append(
        WorkerPlan("reader \(number)", operations: [.read, .refresh]) { handover in
          try ReadersWriterReader(number: number, shared: shared, handover: handover)
        })
    }
    for number in stride(from: 1, through: shared.plan.writers, by: 1) {
      threads.append(
        WorkerPlan("writer \(number)", operations: [.write]) { handover in
          try BatchWriter(number: number, shared: shared, handover: handover, change: .rewrite)
        })
    }
    return threads
  }

  /// Gives the objects of a batch the content of its transaction, and moves balance between them.
  static func rewrite(
    _ session: Driver.Session, _ batch: ContentModel.Batch, _ model: ContentModel
  ) throws {
    var prepared = PreparedBatch()
    prepared.prepare(batch.transaction, model)
    try rewrite(session, prepared)
  }

  /// The same with content that was made before.
  static func rewrite(_ session: Driver.Session, _ batch: PreparedBatch) throws {
    let transaction = batch.transaction
    for position in 0..<batch.count {
      let key = batch.keys[position]
      var previous = 0
      let isFound = session.update(key, .all) { row in
        previous = row.stamp
        batch.apply(position, to: &row)
      }
      if !isFound { throw AtomicityCheck.missing(key, version: session.version) }
      if previous >= transaction {
        throw Violation(
          .serialOrder, "A transaction found an object written by a later one.",
          witness: [
            "transaction \(transaction) found object \(key) as written by "
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
