// The workloads of `run`: their names, what help and `list` say of them, the flags that they use, and
// their defaults.

/// A workload that `run` knows.
package enum WorkloadKind: String, CaseIterable, Sendable {
  case readersWriter = "readers-writer"
  case transfer
  case mixed
  case bulkLoad = "bulk-load"
  case migration = "migration-under-load"
  case notifyStorm = "notify-storm"

  /// One line for `list`.
  package var summary: String {
    switch self {
    case .readersWriter: "reader threads by key and writer threads in batches, over one table"
    case .transfer: "a bank: threads move money between accounts, others add all accounts up"
    case .mixed:
      "threads read, update, insert, scan and read-modify-write single objects (YCSB A to F)"
    case .bulkLoad: "writer threads fill a new file; bytes an object, objects a second, memory"
    case .migration: "a table gets another form of its class while readers hold frozen versions"
    case .notifyStorm:
      "writers insert, change and delete objects; observers keep copies by what they are told"
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
    case .mixed:
      """
      Each thread draws an operation from --mix and an object from --read-keys: a read of all its
      properties, an update of its payload, an insertion, a scan of up to --scan-length objects, or a
      read-modify-write; a transaction each where it writes. Before every --refresh-every-th read its
      Realm is refreshed. With --rate all operations follow a schedule.

        A read:50,update:50   B read:95,update:5   C read:100   D read:95,insert:5 (reads the latest)
        E scan:95,insert:5    F read:50,read-modify-write:50

        realm-bench run mixed --mix B --threads 4 --duration 5s --rate 20000/s
      """
    case .bulkLoad:
      """
      Writer threads insert --objects objects into a new file, --batch in each transaction. The
      summary tells objects a second, bytes an object and memory; growth.csv has them over time.

        realm-bench run bulk-load --objects 1000000 --batch 10000
      """
    case .migration:
      """
      A table of --objects objects gets another form of its class: a property is renamed, one changes
      its type, one goes, one comes and is filled by a migration block. Meanwhile --readers threads
      read frozen versions from before by key, and --pins others are held. The rows of phase 'warmup'
      are the readers before the migration, those of 'measure' during it.

        realm-bench run migration-under-load --objects 1000000 --pins 8
      """
    case .notifyStorm:
      """
      Writer threads delete, insert and rewrite --batch objects in each transaction. Observers, each in a
      place of its own, watch all objects, those of a condition, or all in an order, and keep a copy that
      they change by what they are told; after each call it has to be what they see (I8). Now and then
      one ends and begins again. Operation 'notify' is the time from the begin of a commit to the call.

        realm-bench run notify-storm --observers 4 --writers 2 --batch 16 --duration 5s
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
    case .mixed: return table.union(load).union(["threads", "mix", "scan-length", "read-keys"])
    case .bulkLoad: return table.subtracting(["duration"]).union(["writers", "batch"])
    case .migration:
      return table.subtracting(["duration"]).union(["readers", "batch", "pins", "warmup"])
    case .notifyStorm:
      return table.union(load).union(["observers", "writers", "batch"])
        .subtracting(["refresh-every"])
    }
  }

  /// Operations that `--rate` schedules.
  package var scheduled: Set<Operation> {
    switch self {
    case .readersWriter, .transfer, .notifyStorm: [.write]
    case .mixed: Set(OperationMix.operations)
    case .bulkLoad, .migration: []
    }
  }

  /// Whether a table is filled before anything is measured.
  package var loadsFirst: Bool { self != .bulkLoad }

  /// Whether a run goes on for as long as one likes, so that its figures should settle.
  package var isSteady: Bool { self != .bulkLoad && self != .migration }

  /// What it checks: a load has no readers that could see a version twice, and nobody moves to another
  /// version during a migration.
  package var invariants: [Invariant] {
    switch self {
    case .readersWriter, .transfer, .mixed: Invariant.withoutObservers
    case .bulkLoad: Invariant.withoutObservers.filter { $0 != .snapshotStability }
    case .migration: [.snapshotStability, .atomicity, .serialOrder, .spaceAccounting]
    case .notifyStorm: [.exactChanges, .spaceAccounting]
    }
  }

  func setDefaults(_ settings: inout RunSettings) {
    switch self {
    case .readersWriter: break
    case .transfer:
      settings.writers = 2
      settings.objects = 1_000
      settings.batch = 2
      settings.refreshEvery = 2
    case .mixed:
      settings.readKeys = settings.mix.defaultKeys
      settings.refreshEvery = 1
    case .bulkLoad:
      settings.objects = 1_000_000
      settings.batch = 10_000
      settings.warmupNanoseconds = 0
      settings.intervalNanoseconds = 100_000_000
    case .migration:
      settings.objects = 1_000_000
      settings.readers = 2
      settings.pins = 8
      settings.intervalNanoseconds = 100_000_000
    case .notifyStorm:
      settings.readers = 0
      settings.objects = 1_000
      settings.batch = 8
    }
  }

  /// What `--quick` changes: a smoke run of about three seconds.
  func makeQuick(_ settings: inout RunSettings) {
    settings.isQuick = true
    settings.readers = min(settings.readers, 2)
    settings.threads = min(settings.threads, 2)
    settings.objects = min(settings.objects, isSteady ? 10_000 : 100_000)
    settings.warmupNanoseconds = min(settings.warmupNanoseconds, 500_000_000)
    guard isSteady else { return }
    settings.durationNanoseconds = 2_000_000_000
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
    case .mixed: Mixed(shared)
    case .bulkLoad: BulkLoad(shared)
    case .migration: Migrating(shared)
    case .notifyStorm: NotifyStorm(shared)
    }
  }
}
