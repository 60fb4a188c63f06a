// The workloads of `run`: their names, what help and `list` say of them, the flags that they use, and
// their defaults.

/// A workload that `run` knows.
package enum WorkloadKind: String, CaseIterable, Sendable {
  case readersWriter = "readers-writer"
  case transfer
  case mixed
  case bulkLoad = "bulk-load"
  case migration = "migration-under-load"
  case actorHops = "actor-hops"

  /// One line for `list`.
  package var summary: String {
    switch self {
    case .readersWriter: "reader threads by key and writer threads in batches, over one table"
    case .transfer: "a bank: threads move money between accounts, others add all accounts up"
    case .mixed:
      "threads read, update, insert, scan and read-modify-write single objects (YCSB A to F)"
    case .bulkLoad: "writer threads fill a new file; bytes an object, objects a second, memory"
    case .migration: "a table gets another form of its class while readers hold frozen versions"
    case .actorHops: "chains of actors hand objects on as references, frozen and as values"
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
    case .actorHops:
      """
      Each of --threads chains has --readers actors, each with a Realm of its own. A letter goes through
      the chain (operation 'chain', in hops from one actor to the next): an object as a reference, as a
      frozen object or as plain values, which each actor checks. After each --refresh-every-th letter
      the last actor commits --batch objects by asyncWrite. With --rate the letters follow a schedule.

        realm-bench run actor-hops --threads 2 --readers 4 --duration 5s --rate 2000/s
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
    case .actorHops: return table.union(load).union(["threads", "readers", "batch"])
    }
  }

  /// Operations that `--rate` schedules.
  package var scheduled: Set<Operation> {
    switch self {
    case .readersWriter, .transfer: [.write]
    case .mixed: Set(OperationMix.operations)
    case .bulkLoad, .migration: []
    case .actorHops: [.chain]
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
    case .readersWriter, .transfer, .mixed: Invariant.ofSnapshots
    case .bulkLoad: Invariant.ofSnapshots.filter { $0 != .snapshotStability }
    case .actorHops: Invariant.allCases
    case .migration: [.snapshotStability, .atomicity, .serialOrder, .spaceAccounting]
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
    case .actorHops:
      settings.threads = 2
      settings.readers = 4
      settings.objects = 10_000
      settings.batch = 1
      settings.refreshEvery = 16
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
    case .actorHops: ActorHops(shared)
    }
  }
}
