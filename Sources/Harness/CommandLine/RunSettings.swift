// Every setting of a run, resolved: what the flags said and what they left to defaults. Written to
// run.json as it stands, and turned back into the command that repeats the run.
internal import Foundation
internal import Platform

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
  /// The engines that run by turns, each in processes of its own where there are several.
  package var engines = ["realm"]
  package var engine: String { engines[0] }
  package var readers = 4
  package var writers = 1
  package var observers = 4
  package var objects = 100_000
  package var valueSize = ValueSize(minimum: 100, maximum: 100)
  package var durationNanoseconds: UInt64 = 10_000_000_000
  /// Ends the measured phase after that many reads and writes of all threads; nil = by duration.
  package var operations: Int?
  package var warmupNanoseconds: UInt64 = 2_000_000_000
  /// Ends the warm-up after that many operations of all threads; nil = by time.
  package var warmupOperations: Int?
  package var batch = 10
  /// Writes a second of all writers together; nil = closed loop.
  package var ratePerSecond: Double?
  /// Reads a second of all readers together; nil = closed loop.
  package var readRatePerSecond: Double?
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
  /// Time between two pins; nil = by transactions.
  package var pinIntervalNanoseconds: UInt64?
  package var pinAgeNanoseconds: UInt64?
  package var release = ReleaseOrder.oldest
  package var queues = 1
  package var group = 64
  package var inFlight = 128
  package var patienceNanoseconds: UInt64 = 30_000_000_000
  package var cached = Set(CachedKind.allCases)
  package var churn = 0.01
  package var attempts = 24
  /// Values of the flags that only this workload has, by name.
  package var own: [String: String] = [:]
  package var seed: UInt64 = 1
  package var shard: Shard?
  package var recordsHistory = false
  package var intervalNanoseconds: UInt64 = 1_000_000_000
  package var path: String?
  package var keepsFile = false
  package var output: String?
  package var overwrites = false
  /// Processes that run the same, one after the other.
  package var replicas = 1
  /// Processes that work on the file together.
  package var processes = 1
  /// Processors that all of them use; nil = those that they may.
  package var processorList: [Int]?
  /// Which of them this one is; nil in that of the user.
  package var member: ProcessMember?
  /// Names of baselines to compare with, and to save the results under.
  package var baseline: String?
  package var baselineToSave: String?
  package var format = OutputFormat.text
  package var thresholds: [Threshold] = []
  package var refreshEvery = 16
  /// From one actor to the next; nil = through a chain once.
  package var hops: Int?
  package var invariants: [Invariant]
  /// Share of the reads whose content is checked in full; 1 with --invariants full.
  package var checkRate = CheckSampler.usualRate
  /// Phases, background load and faults of a plan.
  package var script = RunScript()
  /// Where the plan came from, and what it says.
  package var planPath: String?
  package var planText: String?
  /// How many of the thresholds are its own: the first ones.
  package var planThresholds = 0
  package var isQuick = false
  package var isDryRun = false
  package var isStrict = false

  package init(_ workload: WorkloadKind = .readersWriter) {
    self.workload = workload
    invariants = workload.invariants
    for flag in workload.facts.ownFlags { own[flag.definition.name] = flag.standard }
    workload.facts.setDefaults(&self)
  }

  /// What `--quick` changes: a smoke run of about three seconds.
  package mutating func makeQuick() {
    isQuick = true
    readers = min(readers, 2)
    threads = min(threads, 2)
    queues = min(queues, 2)
    observers = min(observers, 2)
    objects = min(objects, workload.facts.isSteady ? 10_000 : 100_000)
    warmupNanoseconds = min(warmupNanoseconds, 500_000_000)
    guard workload.facts.isSteady else { return }
    durationNanoseconds = 2_000_000_000
    intervalNanoseconds = 500_000_000
  }

  /// Whether it is made of runs in processes and folders of their own.
  package var hasParts: Bool { replicas > 1 || engines.count > 1 }

  /// Operations that could follow a schedule.
  package var scheduled: Set<Operation> { workload.facts.scheduled }

  /// Operations that follow a schedule.
  package var openLoop: Set<Operation> {
    let hasRate = ratePerSecond != nil || script.steps.contains { $0.rate != nil }
    let hasReadRate = readRatePerSecond != nil || script.steps.contains { $0.readRate != nil }
    return (hasRate ? scheduled : []).union(hasReadRate ? [.read] : [])
  }

  /// A phase's name in the results.
  package func name(of phase: Phase) -> String {
    phase.step.map { script.steps[$0].name } ?? phase.name
  }

  /// What an operation's schedule asks for, if it has one.
  package func ratePerSecond(of operation: String, in phase: Phase = .measure) -> Double? {
    if let step = phase.step.map({ script.steps[$0] }) {
      let isRead = operation == Operation.read.rawValue && step.readRate != nil
      // Of a ramp it is the mean over the time.
      return (isRead ? step.readRate : step.rate).map { ($0.fromPerS + $0.toPerS) / 2 }
    }
    return operation == Operation.read.rawValue && readRatePerSecond != nil
      ? readRatePerSecond : ratePerSecond
  }

  /// How many processors' time this process may use.
  var processors: Double { Processors.usable(of: processorList?.count) }

  /// Operations that this run has rows for.
  package var operationsMeasured: [Operation] { workload.facts.operations(self) }

  /// How many threads do an operation.
  package func threads(of operation: Operation) -> Int {
    workload.facts.threads(of: operation, self) * processes
  }

  /// How many of them work in a phase: a step of a plan may let some of them rest.
  package func threads(of operation: Operation, in phase: Phase) -> Int {
    guard let step = phase.step.map({ script.steps[$0] }) else { return threads(of: operation) }
    var working = self
    working.readers = step.active(.reader, of: readers)
    working.writers = step.active(.writer, of: writers)
    return working.threads(of: operation)
  }

  /// Makes them those of one of several processes: its part of what all do together.
  package mutating func become(_ member: ProcessMember) {
    self.member = member
    keepsFile = true
    // A plan that asks for processes is read again by each of them.
    processes = 1
    // What is asked of all together is judged by the one that has started them.
    thresholds = []
    planThresholds = 0
    operations = operations.map(member.share)
    warmupOperations = warmupOperations.map(member.share)
    ratePerSecond = ratePerSecond.map { $0 / Double(member.count) }
    readRatePerSecond = readRatePerSecond.map { $0 / Double(member.count) }
  }

  /// Measuring threads, where readers and writers are all that there are; nil = others too.
  package var threadsInAll: Int? {
    let known = workload.facts.flags
    if !known.isDisjoint(with: ["observers", "queues"]) { return nil }
    if known.contains("threads") { return threads }
    return (known.contains("readers") ? readers : 0) + (known.contains("writers") ? writers : 1)
  }

  /// Threads and sizes in words.
  package var shape: String { workload.facts.shape(self) }

  /// What keys, content and order follow from: each shard has a seed of its own.
  package var effectiveSeed: UInt64 {
    shard.map { Harness.mix(seed ^ Harness.mix(UInt64($0.number) << 32 | UInt64($0.count))) }
      ?? seed
  }

  package var model: ContentModel {
    ContentModel(
      seed: effectiveSeed, objects: objects, batch: min(batch, objects), valueSize: valueSize,
      rule: workload.facts.rule)
  }

  /// What ends the measured phase after a number of operations; nil = by time.
  package var operationsOfPhase: Int? {
    guard let operations = workload.facts.operationsOfPhase(self) else { return nil }
    // What was given by a flag is divided by now; the rest is of the whole table.
    return self.operations == nil ? member?.share(of: operations) ?? operations : operations
  }

  /// The part that the threads need.
  package var plan: RunPlan {
    var plan = RunPlan(model: model)
    plan.readers = readers
    plan.writers = writers
    plan.observers = observers
    plan.refreshEvery = refreshEvery
    plan.hops = hops
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
    plan.readRatePerSecond = readRatePerSecond
    plan.pinIntervalNanoseconds = pinIntervalNanoseconds
    plan.arrivals = arrivals
    plan.invariants = Set(invariants)
    plan.checkRate = checkRate
    // Content follows from the model's seed, which is one for all processes.
    plan.seed =
      member.map { Harness.mix(effectiveSeed ^ Harness.mix(UInt64($0.number))) }
      ?? effectiveSeed
    plan.walksSpace = member.map { $0.number == 1 } ?? true
    plan.processes = member?.count ?? processes
    plan.own = own
    plan.steps = script.steps
    return plan
  }

  /// Whether its patience belongs to what describes the run: where writes may be forgotten, and
  /// where it is not the usual one.
  fileprivate var namesPatience: Bool {
    workload.facts.flags.contains("patience")
      || patienceNanoseconds != RunSettings().patienceNanoseconds
  }

  /// Whether somebody does what threads of a kind do: some, where the workload has that kind.
  private func hasThreads(_ flag: String, _ count: Int) -> Bool {
    count > 0 || !workload.facts.flags.contains(flag)
  }

  /// A flag of a program's own as it has to be written for its value.
  private static func words(of flag: FlagDefinition, _ value: String) -> [String] {
    guard flag.value != nil else { return ["--" + flag.name] }
    // Nobody can give an empty text: it is what stands where nothing is given.
    if value.isEmpty { return [] }
    let quoted = LiteralPath.quoted(value)
    return value.hasPrefix("-") ? ["--\(flag.name)=" + quoted] : ["--" + flag.name, quoted]
  }

  /// The command that repeats this run, with every setting that shapes the load.
  package var command: String {
    var words = [Tool.current.name, "run", planPath.map(LiteralPath.quoted) ?? workload.rawValue]
    func add(_ name: String, _ value: some CustomStringConvertible) {
      if !RunFlags.isUsed(name, by: workload) { return }
      words += ["--" + name, value.description]
    }
    add("seed", seed)
    // A plan may say otherwise where the usual was asked for: then it has to be said again.
    let isPlan = planPath != nil
    if isPlan || engines != ["realm"] { add("engine", engines.joined(separator: ",")) }
    if processes > 1 || isPlan && workload.facts.takesProcesses { add("processes", processes) }
    if let processorList { add("processors", Processors.text(processorList)) }
    if let shard { add("shard", shard.text) }
    if recordsHistory { words.append("--history") }
    add("readers", readers)
    add("writers", writers)
    add("observers", observers)
    add("threads", threads)
    // The shares that a workload of a program has by itself need not add up to 100, as those of the
    // flag do; they need no words.
    if OperationMix(mix.text, of: workload.facts.mixed) == mix { add("mix", mix.text) }
    add("scan-length", scanLength)
    add("objects", objects)
    add("value-size", Units.text(valueSize))
    if !script.steps.isEmpty {
      // Its phases say how long it takes.
    } else if let operations {
      add("ops", operations)
    } else {
      add("duration", Units.text(nanoseconds: durationNanoseconds))
    }
    if let warmupOperations {
      add("warmup-ops", warmupOperations)
    } else {
      add("warmup", Units.text(nanoseconds: warmupNanoseconds))
    }
    // What nobody does shapes nothing; such flags are refused.
    let (reads, writes) = (hasThreads("readers", readers), hasThreads("writers", writers))
    if writes { add("batch", batch) }
    if let ratePerSecond {
      add("rate", Units.text(ratePerSecond: ratePerSecond))
    }
    if let readRatePerSecond { add("read-rate", Units.text(ratePerSecond: readRatePerSecond)) }
    if !openLoop.isEmpty { add("arrivals", arrivals.rawValue) }
    if reads { add("read-keys", readKeys.text) }
    if reads { add("refresh-every", refreshEvery) }
    if let hops { add("hops", hops) }
    add("durability", durability.rawValue)
    if workload.facts.pinsFillCache {
      add("pins", cacheSize)
    } else if pins > 0 || isPlan || RunSettings(workload).pins > 0 {
      add("pins", pins)
      if let pinIntervalNanoseconds {
        add("pin-interval", Units.text(nanoseconds: pinIntervalNanoseconds))
      } else {
        add("pin-every", pinEvery)
      }
    }
    if let pinAgeNanoseconds { add("pin-age", Units.text(nanoseconds: pinAgeNanoseconds)) }
    add("release", release.rawValue)
    add("queues", queues)
    add("group", group)
    add("in-flight", inFlight)
    if namesPatience { add("patience", Units.text(nanoseconds: patienceNanoseconds)) }
    add("cached", CachedKind.text(cached))
    add("churn", Units.text(share: churn))
    add("write-every", writeEvery)
    add("attempts", attempts)
    for flag in workload.facts.ownFlags.map(\.definition) {
      guard let value = own[flag.name] else { continue }
      words += Self.words(of: flag, value)
    }
    let checksAll = invariants == workload.invariants
    if checkRate == 1 && checksAll {
      add("invariants", "full")
    } else if checkRate != CheckSampler.usualRate || isPlan && reads && !invariants.isEmpty {
      add("check-rate", Units.text(share: checkRate))
    }
    if !checksAll {
      add(
        "invariants",
        invariants.isEmpty ? "none" : invariants.map(\.name).joined(separator: ","))
    } else if isPlan && checkRate != 1 {
      add("invariants", "all")
    }
    if replicas > 1 { add("replicas", replicas) }
    if isQuick { words.append("--quick") }
    var usual = RunSettings(workload)
    if isQuick { usual.makeQuick() }
    // A plan may have another one, which the command line then has to replace.
    if intervalNanoseconds != usual.intervalNanoseconds || planPath != nil {
      add("interval", Units.text(nanoseconds: intervalNanoseconds))
    }
    // Those of a plan are in it.
    for threshold in thresholds.dropFirst(planThresholds) {
      add("threshold", LiteralPath.quoted(threshold.text.filter { $0 != " " }))
    }
    if isStrict { words.append("--strict") }
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
  package var warmupOps: Int?
  package var batch: Int?
  package var load: String
  package var ratePerS: Double?
  package var readRatePerS: Double?
  package var arrivals: String?
  package var readKeys: String?
  package var durability: String
  package var pins: Int?
  package var pinEvery: Int?
  package var pinIntervalNs: UInt64?
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
  package var shard: String?
  /// Nil where there is one.
  package var processes: Int?
  package var processors: String?
  package var history: Bool?
  package var intervalNs: UInt64
  package var path: String
  package var keepFile: Bool
  package var output: String
  package var overwrite: Bool
  package var format: String
  package var thresholds: [String]
  package var refreshEvery: Int?
  /// Nil where letters go through a chain once.
  package var hops: Int?
  package var invariants: [String]
  /// Nil in runs of versions that checked every read in full.
  package var checkRate: Double?
  package var quick: Bool
  package var strict: Bool
  /// Values of the flags that only this workload has.
  package var own: [String: String]?
  /// Of a plan file.
  package var script: RunScript?

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
      settings.operations == nil && settings.script.steps.isEmpty
      ? used("duration", settings.durationNanoseconds) : nil
    operations = settings.operations
    warmupNs =
      settings.warmupOperations == nil ? used("warmup", settings.warmupNanoseconds) : nil
    warmupOps = settings.warmupOperations
    batch = used("batch", settings.batch)
    load = settings.openLoop.isEmpty ? "closed" : "open"
    ratePerS = settings.ratePerSecond
    readRatePerS = settings.readRatePerSecond
    arrivals = settings.openLoop.isEmpty ? nil : settings.arrivals.rawValue
    readKeys = used("read-keys", settings.readKeys.text)
    durability = settings.durability.rawValue
    pins = used("pins", settings.workload.facts.pinsFillCache ? settings.cacheSize : settings.pins)
    let pinsByCount = settings.pins > 0 && settings.pinIntervalNanoseconds == nil
    pinEvery = pinsByCount ? used("pin-every", settings.pinEvery) : nil
    pinIntervalNs = settings.pinIntervalNanoseconds
    pinAgeNs = settings.pinAgeNanoseconds
    release = used("release", settings.release.rawValue)
    queues = used("queues", settings.queues)
    group = used("group", settings.group)
    inFlight = used("in-flight", settings.inFlight)
    patienceNs = settings.namesPatience ? settings.patienceNanoseconds : nil
    cached = used("cached", CachedKind.text(settings.cached))
    churn = used("churn", settings.churn)
    writeEvery = used("write-every", settings.writeEvery)
    attempts = used("attempts", settings.attempts)
    seed = settings.seed
    shard = settings.shard?.text
    processes = settings.processes > 1 ? settings.processes : nil
    processors = settings.processorList.map(Processors.text)
    history = settings.recordsHistory ? true : nil
    intervalNs = settings.intervalNanoseconds
    self.path = path
    keepFile = settings.keepsFile
    self.output = output
    overwrite = settings.overwrites
    format = settings.format.rawValue
    thresholds = settings.thresholds.map(\.text)
    refreshEvery = used("refresh-every", settings.refreshEvery)
    hops = settings.hops
    invariants = settings.invariants.map(\.name)
    checkRate = used("check-rate", settings.checkRate)
    quick = settings.isQuick
    strict = settings.isStrict
    own = settings.own.isEmpty ? nil : settings.own
    script = settings.script == RunScript() ? nil : settings.script
  }
}
