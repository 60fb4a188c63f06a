// The workloads of `run`: their names, what help and `list` say of them, the flags that they use, and
// their defaults.

/// A workload that `run` knows.
package enum WorkloadKind: String, CaseIterable, Sendable {
  case readersWriter = "readers-writer"
  case transfer

  /// One line for `list`.
  package var summary: String {
    switch self {
    case .readersWriter: "reader threads by key and writer threads in batches, over one table"
    case .transfer: "a bank: threads move money between accounts, others add all accounts up"
    }
  }

  /// What help says before the flags.
  package var help: String {
    switch self {
    case .readersWriter:
      """
      Reader threads look objects up by key and read all their properties; writer threads change
      --batch objects in each transaction. Each reader refreshes every --refresh-every reads. With
      --rate the writers follow a schedule (open loop), the readers stay closed.

        realm-bench run readers-writer --readers 2 --duration 5s --durability full
      """
    case .transfer:
      """
      Writer threads move money between random accounts: one transaction reads and changes --batch of
      them, in pairs, and each change counts. Reader threads add up all accounts (operation 'sum') of a
      refreshed Realm and of frozen copies, --refresh-every times a snapshot. The total never
      changes (I2), and each snapshot counts exactly the changes of its transactions (I7).

        realm-bench run transfer --writers 2 --duration 5s --durability memory
      """
    }
  }

  /// The flags of `RunFlags.load` that mean something to it.
  package var flags: Set<String> {
    let table: Set = ["objects", "value-size", "duration", "durability"]
    let threads: Set = ["readers", "writers", "batch", "pins", "pin-every"]
    let load: Set = ["ops", "warmup", "rate", "arrivals", "refresh-every"]
    switch self {
    case .readersWriter: return table.union(threads).union(load).union(["read-keys"])
    case .transfer: return table.union(threads).union(load)
    }
  }

  /// Operations that `--rate` schedules.
  package var scheduled: Set<Operation> {
    switch self {
    case .readersWriter, .transfer: [.write]
    }
  }

  /// What it checks.
  package var invariants: [Invariant] { Invariant.allCases }

  func setDefaults(_ settings: inout RunSettings) {
    switch self {
    case .readersWriter: break
    case .transfer:
      settings.writers = 2
      settings.objects = 1_000
      settings.batch = 2
      settings.refreshEvery = 2
    }
  }

  /// What `--quick` changes: a smoke run of about three seconds.
  func makeQuick(_ settings: inout RunSettings) {
    settings.isQuick = true
    settings.readers = min(settings.readers, 2)
    settings.objects = min(settings.objects, 10_000)
    settings.durationNanoseconds = 2_000_000_000
    settings.warmupNanoseconds = 500_000_000
    settings.intervalNanoseconds = 500_000_000
  }
}

extension RunSettings {
  /// The workload on an engine.
  package func makeWorkload<Driver: EngineDriver>(_ driver: Driver) -> any Workload<Driver> {
    let shared = RunShared(driver: driver, plan: plan)
    return switch workload {
    case .readersWriter: ReadersWriter(shared)
    case .transfer: Transfer(shared)
    }
  }
}
