// The workload mixed: each thread reads, updates, inserts, scans and read-modify-writes objects of
// one table in the proportions of a mix, one object an operation, as cloud serving benchmarks do.
internal import Platform

extension WorkloadKind {
  package static let mixed = WorkloadKind(MixedDescription.self)
}

/// What the tool knows of mixed before it runs.
package enum MixedDescription: WorkloadDescription {
  package static let name = "mixed"
  package static let summary =
    "threads read, update, insert, scan and read-modify-write single objects (YCSB A to F)"
  package static let help = """
    Each thread draws an operation from --mix and an object from --read-keys: a read of all its
    properties, an update of its payload, an insertion, a scan of up to --scan-length objects, or a
    read-modify-write; a transaction each where it writes. Before every --refresh-every-th read its
    Realm is refreshed. With --rate all operations follow a schedule.

      A read:50,update:50   B read:95,update:5   C read:100   D read:95,insert:5 (reads the latest)
      E scan:95,insert:5    F read:50,read-modify-write:50

      realm-bench run mixed --mix B --threads 4 --duration 5s --rate 20000/s
    """
  package static let flags = Flags.table.union(Flags.load).union([
    "threads", "mix", "scan-length", "read-keys", "check-rate", "history",
  ])
  package static let scheduled: Set<Operation> = Set(OperationMix.operations)
  package static let takesSteps = true
  package static let rule = ContentModel.Rule.rewritePayload

  package static func setDefaults(_ settings: inout RunSettings) {
    settings.readKeys = settings.mix.defaultKeys
    settings.refreshEvery = 1
  }

  package static func operations(_ settings: RunSettings) -> [Operation] {
    settings.mix.shares.map(\.operation) + [.refresh]
  }

  package static func threads(of operation: Operation, _ settings: RunSettings) -> Int {
    settings.threads
  }

  package static func shape(_ settings: RunSettings) -> String {
    "\(settings.threads) threads, mix \(settings.mix.text), \(grouped(settings.objects)) objects, "
      + settings.readKeys.text
  }

  package static func make<Driver: EngineDriver>(
    _ shared: RunShared<Driver>
  ) -> any Workload<Driver> { Mixed(shared) }
}

/// Threads that all do the same mix of operations.
package struct Mixed<Driver: EngineDriver>: Workload {
  package let shared: RunShared<Driver>
  private let table: MixedTable

  package init(_ shared: RunShared<Driver>) {
    self.shared = shared
    table = MixedTable(objects: shared.plan.model.objects)
  }

  package var objects: Int { table.objects }

  package var threads: [WorkerPlan] {
    let (shared, table) = (shared, table)
    return (1...shared.plan.threads).map { number in
      WorkerPlan(
        "thread \(number)", operations: shared.plan.mix.shares.map(\.operation) + [.refresh]
      ) { handover in
        try MixedThread(number: number, shared: shared, table: table, handover: handover) {
          try shared.driver.openSession()
        }
      }
    }
  }

  package func checkEnd(_ ledger: inout InvariantLedger) throws {
    try MixedCheck.judge(shared, table, &ledger)
  }
}

/// Judges the table after the last operation of a mix.
enum MixedCheck {
  static func judge<Driver: EngineDriver>(
    _ shared: RunShared<Driver>, _ table: MixedTable, _ ledger: inout InvariantLedger
  ) throws {
    let check = try FinalCheck(shared, &ledger)
    let (model, version) = (shared.plan.model, check.session.version)
    if shared.plan.checks(.atomicity) {
      ledger.count(.atomicity)
      let count = check.session.total().count
      if count != table.objects {
        throw AtomicityCheck.count(count, expected: table.objects, version: version)
      }
    }
    try check.checkObjects(0..<table.objects, &ledger) { row, key in
      table.expected.judgeEnd(row, key: key, version: version)
        ?? row.flatMap { AtomicityCheck.content($0, key: key, model: model, version: version) }
    }
    try check.checkSpace(&ledger)
  }
}

/// What the threads of one run know of their table.
package final class MixedTable: Sendable {
  package let expected: ExpectedState
  private let nextKey: Atomic<Int>
  private let acknowledged: Atomic<Int>

  package init(objects: Int) {
    expected = ExpectedState(objects: objects)
    nextKey = Atomic(objects)
    acknowledged = Atomic(objects)
  }

  /// A key for a new object; call it inside the write lock, so that keys follow the order of
  /// commits.
  package func takeKey() -> Int { nextKey.add(1, ordering: .relaxed).oldValue }

  /// Says that the insertion of an object has returned.
  package func acknowledge(_ key: Int) {
    // Releasing: pairs with the acquiring load below; who sees the number must see the commit.
    acknowledged.max(key + 1, ordering: .releasing)
  }

  /// How many objects everyone has to see who looks now.
  package var objects: Int { acknowledged.load(ordering: .acquiring) }
}
