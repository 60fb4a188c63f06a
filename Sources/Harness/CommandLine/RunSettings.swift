// Every setting of a run, resolved: what the flags said and what they left to defaults. Written to
// run.json as it stands, and turned back into the command that repeats the run.
internal import Foundation

/// Whether commits reach the disk before they return.
package enum DurabilityClass: String, CaseIterable, Sendable, Codable {
  case full
  case memory
}

/// Form of the summary on standard output.
package enum OutputFormat: String, CaseIterable, Sendable, Codable {
  case text
  case json
  case markdown
}

/// Settings of `run`; a workload leaves those that it does not use at their defaults.
package struct RunSettings: Sendable {
  package let workload: WorkloadKind
  package var engine = "realm"
  package var readers = 4
  package var writers = 1
  package var observers = 4
  package var objects = 100_000
  package var valueSize = ValueSize(minimum: 100, maximum: 100)
  package var durationNanoseconds: UInt64 = 10_000_000_000
  /// Ends the measured phase after that many reads and writes of all threads; nil = by duration.
  package var operations: Int?
  package var warmupNanoseconds: UInt64 = 2_000_000_000
  package var batch = 10
  /// Writes a second of all writers together; nil = closed loop.
  package var ratePerSecond: Double?
  package var arrivals = Arrivals.fixed
  package var readKeys = KeyDistribution.uniform
  /// Threads of the workload mixed, which all do the same.
  package var threads = 4
  package var mix = OperationMix.updateHeavy
  package var scanLength = 100
  package var durability = DurabilityClass.full
  package var pins = 0
  package var pinEvery = 100
  /// Frozen values in the cache of freeze-cache; the flag is --pins there, too.
  package var cacheSize = 1_000
  /// References between two transactions.
  package var writeEvery = 16
  package var pinAgeNanoseconds: UInt64?
  package var release = ReleaseOrder.oldest
  package var queues = 1
  package var group = 64
  package var inFlight = 128
  package var patienceNanoseconds: UInt64 = 30_000_000_000
  package var cached = Set(CachedKind.allCases)
  package var churn = 0.01
  package var attempts = 24
  package var seed: UInt64 = 1
  package var intervalNanoseconds: UInt64 = 1_000_000_000
  package var path: String?
  package var keepsFile = false
  package var output: String?
  package var overwrites = false
  package var format = OutputFormat.text
  package var thresholds: [Threshold] = []
  package var refreshEvery = 16
  package var invariants: [Invariant]
  package var isQuick = false
  package var isDryRun = false
  package var isStrict = false

  package init(_ workload: WorkloadKind = .readersWriter) {
    self.workload = workload
    invariants = workload.invariants
    workload.setDefaults(&self)
  }

  /// Commits on their way by default: while one group waits for its sync the next one fills.
  var defaultInFlight: Int { workload == .groupedCommit ? 2 * group : 0 }

  /// What `--quick` changes.
  package mutating func makeQuick() { workload.makeQuick(&self) }

  /// Operations that could follow a schedule.
  package var scheduled: Set<Operation> { workload.scheduled }

  /// Operations that follow a schedule.
  package var openLoop: Set<Operation> { ratePerSecond == nil ? [] : scheduled }

  /// Operations that this run has rows for.
  package var operationsMeasured: [Operation] {
    switch workload {
    case .readersWriter: (readers > 0 ? [.read, .refresh] : []) + (writers > 0 ? [.write] : [])
    case .transfer: (readers > 0 ? [.sum, .refresh, .freeze] : []) + (writers > 0 ? [.write] : [])
    case .mixed: mix.shares.map(\.operation) + [.refresh]
    case .bulkLoad: [.write]
    case .migration: (readers > 0 ? [.read] : []) + [.migrate]
    case .actorHops: [.chain, .hop, .write]
    case .groupedCommit:
      [.burst, .request, .begin, .accept, .durable] + (readers > 0 ? [.read, .refresh] : [])
        + (writers > 0 ? [.write] : [])
    case .freezeCache:
      (readers > 0 ? [.read, .refresh, .freeze] : []) + (writers > 0 ? [.write] : [])
    case .pinnedGrowth: [.write, .recover]
    case .queueConfined: mix.shares.map(\.operation) + [.refresh, .hop]
    case .referenceHandoff: [.reference, .write, .resolve]
    case .notifyStorm: (observers > 0 ? [.notify] : []) + [.write]
    }
  }

  /// How many threads do an operation.
  package func threads(of operation: Operation) -> Int {
    switch operation {
    case .migrate, .recover: 1
    case _ where workload == .mixed || workload == .actorHops: threads
    case _ where workload == .queueConfined: queues
    case .burst, .request, .begin, .accept, .durable: queues
    case .write, .reference: writers
    case .notify: observers
    default: readers
    }
  }

  /// Threads and sizes in words.
  package var shape: String {
    switch workload {
    case .readersWriter, .transfer:
      "\(readers) readers, \(writers) writers, \(grouped(objects)) "
        + "\(workload == .transfer ? "accounts" : "objects"), batch \(batch)"
    case .mixed:
      "\(threads) threads, mix \(mix.text), \(grouped(objects)) objects, \(readKeys.text)"
    case .bulkLoad: "\(writers) writers, \(grouped(objects)) objects, batch \(batch)"
    case .migration: "\(readers) readers, \(pins) pins, \(grouped(objects)) objects"
    case .actorHops:
      "\(threads) chains of \(readers) actors, \(grouped(objects)) objects, batch \(batch)"
    case .groupedCommit:
      "\(queues) queues, groups of \(group), \(inFlight) in flight, \(readers) readers, "
        + "\(writers) writers, \(grouped(objects)) objects"
    case .freezeCache:
      "\(readers) readers, \(writers) writers, cache of \(grouped(cacheSize)) "
        + "\(CachedKind.text(cached)), churn \(churn), \(grouped(objects)) objects"
    case .pinnedGrowth:
      "\(writers) writers, \(grouped(pins)) pins, one every \(pinEvery), \(release.rawValue) goes "
        + "first, \(grouped(objects)) objects"
    case .queueConfined:
      "\(queues) queues, mix \(mix.text), \(grouped(objects)) objects, \(readKeys.text)"
    case .referenceHandoff:
      "\(writers) writers, \(readers) readers, \(inFlight) in flight, \(grouped(objects)) objects"
    case .notifyStorm:
      "\(observers) observers, \(writers) writers, \(grouped(objects)) objects, batch \(batch)"
    }
  }

  package var model: ContentModel {
    let rule: ContentModel.Rule =
      switch workload {
      case .readersWriter, .transfer, .migration, .groupedCommit, .freezeCache, .pinnedGrowth,
        .referenceHandoff, .actorHops, .notifyStorm:
        .rewrite
      case .mixed, .queueConfined: .rewritePayload
      case .bulkLoad: .insert
      }
    return ContentModel(
      seed: seed, objects: objects, batch: min(batch, objects), valueSize: valueSize, rule: rule)
  }

  /// What ends the measured phase after a number of operations; nil = by time.
  package var operationsOfPhase: Int? {
    switch workload {
    case .bulkLoad: (objects + batch - 1) / batch
    case .migration: 1
    default: operations
    }
  }

  /// The part that the threads need.
  package var plan: RunPlan {
    var plan = RunPlan(model: model)
    plan.readers = readers
    plan.writers = writers
    plan.observers = observers
    plan.refreshEvery = refreshEvery
    plan.readKeys = readKeys
    plan.threads = threads
    plan.mix = mix
    plan.scanLength = scanLength
    plan.pins = pins
    plan.pinEvery = pinEvery
    plan.cacheSize = cacheSize
    plan.writeEvery = writeEvery
    plan.pinAgeNanoseconds = pinAgeNanoseconds
    plan.release = release
    plan.queues = queues
    plan.group = group
    plan.inFlight = inFlight
    plan.patienceNanoseconds = patienceNanoseconds
    plan.cached = cached
    plan.churn = churn
    plan.attempts = attempts
    plan.ratePerSecond = ratePerSecond
    plan.arrivals = arrivals
    plan.invariants = Set(invariants)
    plan.seed = seed
    return plan
  }

  /// The command that repeats this run, with every setting that shapes the load.
  package var command: String {
    var words = ["realm-bench", "run", workload.rawValue]
    func add(_ name: String, _ value: some CustomStringConvertible) {
      if !RunFlags.isUsed(name, by: workload) { return }
      words += ["--" + name, value.description]
    }
    add("seed", seed)
    add("readers", readers)
    add("writers", writers)
    add("observers", observers)
    add("threads", threads)
    add("mix", mix.text)
    add("scan-length", scanLength)
    add("objects", objects)
    add("value-size", Units.text(valueSize))
    if let operations {
      add("ops", operations)
    } else {
      add("duration", Units.text(nanoseconds: durationNanoseconds))
    }
    add("warmup", Units.text(nanoseconds: warmupNanoseconds))
    add("batch", batch)
    if let ratePerSecond {
      add("rate", Units.text(ratePerSecond: ratePerSecond))
      add("arrivals", arrivals.rawValue)
    }
    add("read-keys", readKeys.text)
    add("refresh-every", refreshEvery)
    add("durability", durability.rawValue)
    if workload == .freezeCache {
      add("pins", cacheSize)
    } else if pins > 0 || RunSettings(workload).pins > 0 {
      add("pins", pins)
      add("pin-every", pinEvery)
    }
    if let pinAgeNanoseconds { add("pin-age", Units.text(nanoseconds: pinAgeNanoseconds)) }
    add("release", release.rawValue)
    add("queues", queues)
    add("group", group)
    add("in-flight", inFlight)
    add("patience", Units.text(nanoseconds: patienceNanoseconds))
    add("cached", CachedKind.text(cached))
    add("churn", decimal(churn, places: 6))
    add("write-every", writeEvery)
    add("attempts", attempts)
    if invariants != workload.invariants {
      add(
        "invariants",
        invariants.isEmpty ? "none" : invariants.map(\.name).joined(separator: ","))
    }
    return words.joined(separator: " ")
  }
}

/// The settings in run.json; those that the workload does not use are left out.
package struct SettingsRecord: Codable, Sendable {
  package var readers: Int?
  package var writers: Int?
  package var observers: Int?
  package var threads: Int?
  package var mix: String?
  package var scanLength: Int?
  package var objects: Int
  package var valueSize: String
  package var durationNs: UInt64?
  package var operations: Int?
  package var warmupNs: UInt64?
  package var batch: Int?
  package var load: String
  package var ratePerS: Double?
  package var arrivals: String?
  package var readKeys: String?
  package var durability: String
  package var pins: Int?
  package var pinEvery: Int?
  package var pinAgeNs: UInt64?
  package var release: String?
  package var queues: Int?
  package var group: Int?
  package var inFlight: Int?
  package var patienceNs: UInt64?
  package var cached: String?
  package var churn: Double?
  package var writeEvery: Int?
  package var attempts: Int?
  package var seed: UInt64
  package var intervalNs: UInt64
  package var path: String
  package var keepFile: Bool
  package var output: String
  package var overwrite: Bool
  package var format: String
  package var thresholds: [String]
  package var refreshEvery: Int?
  package var invariants: [String]
  package var quick: Bool
  package var strict: Bool

  package init(_ settings: RunSettings, path: String, output: String) {
    func used<Value>(_ flag: String, _ value: Value) -> Value? {
      RunFlags.isUsed(flag, by: settings.workload) ? value : nil
    }
    readers = used("readers", settings.readers)
    writers = used("writers", settings.writers)
    observers = used("observers", settings.observers)
    threads = used("threads", settings.threads)
    mix = used("mix", settings.mix.text)
    scanLength = used("scan-length", settings.scanLength)
    objects = settings.objects
    valueSize = Units.text(settings.valueSize)
    durationNs =
      settings.operations == nil ? used("duration", settings.durationNanoseconds) : nil
    operations = settings.operations
    warmupNs = used("warmup", settings.warmupNanoseconds)
    batch = used("batch", settings.batch)
    load = settings.ratePerSecond == nil ? "closed" : "open"
    ratePerS = settings.ratePerSecond
    arrivals = settings.ratePerSecond == nil ? nil : settings.arrivals.rawValue
    readKeys = used("read-keys", settings.readKeys.text)
    durability = settings.durability.rawValue
    pins = used("pins", settings.workload == .freezeCache ? settings.cacheSize : settings.pins)
    pinEvery = settings.pins > 0 ? used("pin-every", settings.pinEvery) : nil
    pinAgeNs = settings.pinAgeNanoseconds
    release = used("release", settings.release.rawValue)
    queues = used("queues", settings.queues)
    group = used("group", settings.group)
    inFlight = used("in-flight", settings.inFlight)
    patienceNs = used("patience", settings.patienceNanoseconds)
    cached = used("cached", CachedKind.text(settings.cached))
    churn = used("churn", settings.churn)
    writeEvery = used("write-every", settings.writeEvery)
    attempts = used("attempts", settings.attempts)
    seed = settings.seed
    intervalNs = settings.intervalNanoseconds
    self.path = path
    keepFile = settings.keepsFile
    self.output = output
    overwrite = settings.overwrites
    format = settings.format.rawValue
    thresholds = settings.thresholds.map(\.text)
    refreshEvery = used("refresh-every", settings.refreshEvery)
    invariants = settings.invariants.map(\.name)
    quick = settings.isQuick
    strict = settings.isStrict
  }
}
