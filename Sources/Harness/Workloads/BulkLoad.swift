// The workload bulk-load: writer threads fill a new file, --batch objects a transaction, until all
// objects are there. What it answers: objects a second, bytes an object, memory.
internal import Platform

extension WorkloadKind {
  package static let bulkLoad = WorkloadKind(BulkLoadDescription.self)
}

/// What the tool knows of bulk-load before it runs.
package enum BulkLoadDescription: WorkloadDescription {
  package static let name = "bulk-load"
  package static let summary =
    "writer threads fill a new file; bytes an object, objects a second, memory"
  package static let help = """
    Writer threads insert --objects objects into a new file, --batch in each transaction. The
    summary tells objects a second, bytes an object and memory; growth.csv has them over time.

      realm-bench run bulk-load --objects 1000000 --batch 10000
    """
  package static let flags = Flags.table.subtracting(["duration"]).union(["writers", "batch"])
  package static let takesProcesses = true
  package static let scheduled: Set<Operation> = []
  package static let loadsFirst = false
  package static let isSteady = false
  /// A load has no readers that could see a version twice.
  package static let invariants: [Invariant] = Invariant.ofSnapshots.filter {
    $0 != .snapshotStability
  }
  package static let rule = ContentModel.Rule.insert

  package static func setDefaults(_ settings: inout RunSettings) {
    settings.objects = 1_000_000
    settings.batch = 10_000
    settings.warmupNanoseconds = 0
    settings.intervalNanoseconds = 100_000_000
  }

  package static func operations(_ settings: RunSettings) -> [Operation] {
    [.write]
  }

  package static func shape(_ settings: RunSettings) -> String {
    "\(settings.writers) writers, \(grouped(settings.objects)) objects, batch \(settings.batch)"
  }

  package static func operationsOfPhase(_ settings: RunSettings) -> Int? {
    (settings.objects + settings.batch - 1) / settings.batch
  }

  package static func check(_ settings: RunSettings) throws(UsageError) {
    try refuseNoWriter(settings)
  }

  package static func make<Driver: EngineDriver>(
    _ shared: RunShared<Driver>
  ) -> any Workload<Driver> { BulkLoad(shared) }
}

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

  /// The objects of the transactions that were committed.
  ///
  /// One process fills the whole table, or its run ends before this is asked; of several one may
  /// have died, and what it did not come to is missing by right.
  private var expectedObjects: Int {
    guard shared.plan.processes > 1 else { return model.objects }
    return min(model.objects, shared.versions.transactions * model.batch)
  }

  /// Each object is there, as the transaction of its place has written it.
  package func checkEnd(_ ledger: inout InvariantLedger) throws {
    let check = try FinalCheck(shared, &ledger)
    let objects = expectedObjects
    try check.checkTotal(&ledger, objects: objects)
    let (model, version) = (model, check.session.version)
    let expected = ReplayCheck(model: model, transactions: shared.versions.transactions)
    try check.checkObjects(0..<objects, &ledger) { row, key in
      expected.judge(row, key: key, version: version)
        ?? row.flatMap { AtomicityCheck.content($0, key: key, model: model, version: version) }
    }
    try check.checkSpace(&ledger)
  }
}
