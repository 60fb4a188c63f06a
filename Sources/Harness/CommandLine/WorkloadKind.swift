// The workloads of `run`: their names, the flags that they use, what they check, and their defaults. What
// help and `list` say of them is in WorkloadKind+Texts.swift.

/// A workload that `run` knows.
package enum WorkloadKind: String, CaseIterable, Sendable {
  case readersWriter = "readers-writer"
  case transfer
  case mixed
  case bulkLoad = "bulk-load"
  case migration = "migration-under-load"
  case actorHops = "actor-hops"
  case groupedCommit = "grouped-commit"
  case freezeCache = "freeze-cache"
  case pinnedGrowth = "pinned-growth"
  case queueConfined = "queue-confined"
  case referenceHandoff = "reference-handoff"
  case notifyStorm = "notify-storm"

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
    case .groupedCommit:
      return table.union(load).union([
        "queues", "readers", "writers", "batch", "group", "in-flight", "patience", "read-keys",
      ])
    case .freezeCache:
      return table.union(load).subtracting(["refresh-every"]).union([
        "readers", "writers", "batch", "pins", "pin-age", "churn", "cached", "read-keys",
        "attempts",
      ])
    case .pinnedGrowth:
      return table.union(load).subtracting(["refresh-every"]).union([
        "writers", "batch", "pins", "pin-every", "pin-age", "release",
      ])
    case .queueConfined:
      return table.union(load).union(["queues", "mix", "scan-length", "read-keys", "attempts"])
    case .referenceHandoff:
      return table.union(load).subtracting(["refresh-every"]).union([
        "readers", "writers", "batch", "in-flight", "write-every", "attempts",
      ])
    case .notifyStorm:
      return table.union(load).union(["observers", "writers", "batch"])
        .subtracting(["refresh-every"])
    }
  }

  /// Operations that `--rate` schedules.
  package var scheduled: Set<Operation> {
    switch self {
    case .readersWriter, .transfer, .freezeCache, .pinnedGrowth, .notifyStorm: [.write]
    case .mixed, .queueConfined: Set(OperationMix.operations)
    case .bulkLoad, .migration: []
    case .actorHops: [.chain]
    case .groupedCommit: [.burst]
    case .referenceHandoff: [.reference]
    }
  }

  /// Whether a table is filled before anything is measured.
  package var loadsFirst: Bool { self != .bulkLoad }

  /// Whether a run goes on for as long as one likes, so that its figures should settle.
  package var isSteady: Bool { self != .bulkLoad && self != .migration }

  /// Whether it ends with a phase in which the file gets short again.
  package var recovers: Bool { self == .pinnedGrowth }

  /// What it checks: a load has no readers that could see a version twice, and nobody moves to another
  /// version during a migration.
  package var invariants: [Invariant] {
    switch self {
    case .readersWriter, .transfer, .mixed: Invariant.ofSnapshots
    case .bulkLoad: Invariant.ofSnapshots.filter { $0 != .snapshotStability }
    case .actorHops: Self.snapshots(and: [.references])
    case .migration: [.snapshotStability, .atomicity, .serialOrder, .spaceAccounting]
    case .groupedCommit: Self.snapshots(and: [.durablePrefix, .completion])
    case .freezeCache:
      Self.snapshots(and: [.frozenImmutability]).filter { $0 != .snapshotStability }
    case .pinnedGrowth: Invariant.ofSnapshots
    case .queueConfined: Self.snapshots(and: [.confinement])
    case .referenceHandoff:
      Self.snapshots(and: [.references]).filter { $0 != .snapshotStability }
    case .notifyStorm: [.exactChanges, .spaceAccounting]
    }
  }

  private static func snapshots(and more: [Invariant]) -> [Invariant] {
    Invariant.allCases.filter { Invariant.ofSnapshots.contains($0) || more.contains($0) }
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
    case .groupedCommit:
      settings.readers = 1
      settings.writers = 0
      settings.batch = 1
    case .freezeCache:
      settings.readers = 2
    case .pinnedGrowth:
      settings.batch = 1
      settings.pins = 100
      settings.pinEvery = 200
    case .queueConfined:
      settings.queues = 4
      settings.readKeys = settings.mix.defaultKeys
      settings.refreshEvery = 16
    case .referenceHandoff:
      settings.readers = 2
      settings.inFlight = 64
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
    settings.queues = min(settings.queues, 2)
    settings.observers = min(settings.observers, 2)
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
    case .groupedCommit: GroupedCommit(shared)
    case .freezeCache: FreezeCache(shared)
    case .pinnedGrowth: PinnedGrowth(shared)
    case .queueConfined: QueueConfined(shared)
    case .referenceHandoff: ReferenceHandoff(shared)
    case .notifyStorm: NotifyStorm(shared)
    }
  }
}
