// The flags of `run` and how they become settings.
internal import Foundation

/// When standard error is coloured.
package enum ColorChoice: String, CaseIterable, Sendable {
  case auto
  case always
  case never
}

/// Flags that say how much is printed.
package struct OutputChoices: Equatable, Sendable {
  package var isQuiet = false
  package var showsProgress = true
  package var color = ColorChoice.auto

  package init() {}
}

/// Reads the flags of `run`.
package enum RunFlags {
  /// The flags of all workloads.
  package static var known: [FlagDefinition] {
    var own: [FlagDefinition] = []
    for flag in Tool.current.workloads.flatMap({ $0.ownFlags.map(\.definition) })
    where !own.contains(where: { $0.name == flag.name }) {
      own.append(flag)
    }
    return own + builtIn
  }

  private static let builtIn = load(RunSettings()) + common(RunSettings())
  private static let commonNames = Set(common(RunSettings()).map(\.name))

  /// The flags that a workload uses, with its defaults.
  package static func known(for workload: WorkloadKind) -> [FlagDefinition] {
    shaping(workload)
      + common(RunSettings(workload)).filter {
        $0.name != "processes" || workload.facts.takesProcesses
      }
  }

  /// Those that shape its load.
  package static func shaping(_ workload: WorkloadKind) -> [FlagDefinition] {
    workload.facts.ownFlags.map(\.definition)
      + load(RunSettings(workload)).filter { workload.facts.flags.contains($0.name) }
  }

  package static func isUsed(_ name: String, by workload: WorkloadKind) -> Bool {
    workload.facts.flags.contains(name) || commonNames.contains(name)
      || workload.facts.ownFlags.contains { $0.definition.name == name }
  }

  /// Flags that shape the load: each workload uses some.
  private static func load(_ settings: RunSettings) -> [FlagDefinition] {
    let duration = Units.text(nanoseconds: settings.durationNanoseconds)
    let warmup = Units.text(nanoseconds: settings.warmupNanoseconds)
    return [
      .init("readers", "N", "reader threads (\(settings.readers))"),
      .init("writers", "N", "writer threads (\(settings.writers))"),
      .init("observers", "N", "observers, each with a thread of its own (\(settings.observers))"),
      .init("threads", "N", "threads (\(settings.threads))"),
      .init(
        "hops", "N",
        "hops of a letter from one actor to the next (\(settings.readers - 1), each once)"),
      .init("mix", "MIX", mixText(settings)),
      .init("scan-length", "N", "objects of the longest scan (\(settings.scanLength))"),
      .init(
        "objects", "N",
        (settings.workload.facts.storesOwnClasses
          ? "size of what it sets up" : "objects in the table") + " (\(settings.objects))"),
      .init(
        "value-size", "SIZE",
        "payload: 100B, uniform:10B..200B, or percentiles: as inspect --profile names them "
          + "(\(Units.text(settings.valueSize)))"),
      .init("duration", "TIME", "length of the measured phase (\(duration))"),
      .init("ops", "N", "or: end after N operations of all threads, refreshes not counted"),
      .init("warmup", "TIME", "time before measuring begins (\(warmup))"),
      .init("warmup-ops", "N", "or: end the warm-up after N operations, so that counters repeat"),
      .init("batch", "N", "objects that one transaction writes (\(settings.batch))"),
      .init(
        "rate", "N/s", "open loop: \(scheduledText(settings)) a second of all threads together"),
      .init("read-rate", "N/s", "open loop for readers: reads a second of all together"),
      .init(
        "arrivals", "fixed|poisson", "spacing of an open loop (\(settings.arrivals.rawValue))"),
      .init(
        "read-keys", "DIST",
        "uniform, zipf:0.99, latest, hotspot:PART:SHARE (\(readKeysText(settings)))"),
      .init(
        "refresh-every", "N",
        (settings.workload.facts.storesOwnClasses
          ? "operations of a thread between two refreshes of its Realm"
          : "reads between two refreshes of a reader") + " (\(settings.refreshEvery))"),
      .init(
        "durability", "full|memory",
        "whether a commit waits for the disk (\(settings.durability.rawValue))"),
      .init("pins", "N", pinsText(settings)),
      .init("pin-every", "N", "transactions between two pins (\(settings.pinEvery))"),
      .init("pin-interval", "TIME", "or: time between two pins"),
      .init("pin-age", "TIME", "and none older than this (no limit)"),
      .init(
        "release", ReleaseOrder.allCases.map(\.rawValue).joined(separator: "|"),
        "which pin goes when there are too many (\(settings.release.rawValue))"),
      .init("queues", "N", "serial queues with a Realm each (\(settings.queues))"),
      .init("group", "N", "commits that are asked for together (\(settings.group))"),
      .init(
        "in-flight", "N",
        settings.workload.facts.unitInFlight
          + " on their way at most (\(inFlightText(settings)))"),
      .init("cached", "LIST", "of objects, lists, results (all)"),
      .init("churn", "SHARE", "look-ups that replace what they find, of 1 (\(settings.churn))"),
      .init("write-every", "N", "references between two transactions (\(settings.writeEvery))"),
      .init(
        "check-rate", "SHARE",
        "reads (or references) whose content is checked in full, of 1 "
          + "(1/\(Int(1 / CheckSampler.usualRate)))"),
      .init(
        "history", nil, "note transactions and reads in history.jsonl, as Jepsen's checkers read"),
      .init("attempts", "N", "forbidden uses tried at the end (\(settings.attempts))"),
    ]
  }

  private static func mixText(_ settings: RunSettings) -> String {
    settings.workload.facts.mixed == OperationMix.operations
      ? "A to F, or shares such as read:70,update:30 (\(settings.mix.text))"
      : "shares of the operations, 100 in all (\(settings.mix.text))"
  }

  /// The keys that are read, where they follow from the mix for one of its names.
  private static func readKeysText(_ settings: RunSettings) -> String {
    let facts = settings.workload.facts
    guard facts.flags.contains("mix"), facts.mixed == OperationMix.operations,
      let latest = OperationMix("D", of: facts.mixed)?.defaultKeys, latest != settings.readKeys
    else { return settings.readKeys.text }
    return "\(settings.readKeys.text); \(latest.text) with --mix D"
  }

  /// What is on its way, which grows with what is asked for together.
  private static func inFlightText(_ settings: RunSettings) -> String {
    settings.workload.facts.inFlight(settings) > 0
      ? "\(settings.inFlight), or two groups where these are more" : "\(settings.inFlight)"
  }

  private static func scheduledText(_ settings: RunSettings) -> String {
    switch settings.scheduled {
    case [.write]: "writes"
    case [.burst]: "bursts"
    case [.reference]: "references"
    default: "operations"
    }
  }

  private static func pinsText(_ settings: RunSettings) -> String {
    settings.workload.facts.pinsFillCache
      ? "frozen values in the cache (\(settings.cacheSize))"
      : "frozen versions that are kept (\(settings.pins))"
  }

  /// Flags of every workload.
  private static func common(_ settings: RunSettings) -> [FlagDefinition] {
    let interval = Units.text(nanoseconds: settings.intervalNanoseconds)
    let patience = Units.text(nanoseconds: settings.patienceNanoseconds)
    return [
      .init("seed", "N", "decides keys and content (\(settings.seed))"),
      .init(
        "invariants", "LIST",
        "all, none, full (all, and every read in full), or a list such as I1,I2 (all)"),
      .init(
        "threshold", "COND", isRepeatable: true,
        "exit 2 unless it holds, such as 'write.service_p99_ns<2000000' "
          + "('PHASE.write...' of a plan)"),
      .init("interval", "TIME", "spacing of samples.csv and growth.csv (\(interval))"),
      .init(
        "patience", "TIME",
        "wait so long for a lock that others keep, and for a write of which nothing is heard "
          + "(\(patience))"),
      .init("allocator", "NAME", "refuse to run with another one: jemalloc or system (any)"),
      .init("engine", "LIST", "engine to drive, or several: realm,sqlite,lmdb (realm)"),
      .init("path", "FILE", "where the Realm file is made (in the results folder)"),
      .init("keep-file", nil, "leave the Realm file behind"),
      .init("output", "DIR", "results folder (realm-bench-results/<utc>-<workload>-<seed>)"),
      .init("replicas", "N", "runs of the same, each in a process of its own (1)"),
      .init("processors", "LIST", "processors of all its threads, such as 0-3,6 (all it may use)"),
      .init("processes", "N", "processes that work on one file, each with all those threads (1)"),
      .init("shard", "K/N", "the K-th of N parts of one run, for 'merge': its own keys and order"),
      .init("save-baseline", "NAME", "keep the results as results/baselines/NAME for 'compare'"),
      .init(
        "baseline", "NAME", "compare with this baseline afterwards: 2 when worse, 5 if missing"),
      .init("overwrite", nil, "replace the results in the folder when the new ones are complete"),
      .init("format", "text|json|markdown", "form of the summary on standard output (text)"),
      .init("quick", nil, "a smoke run of 3 seconds: smaller defaults, flags still count"),
      .init("strict", nil, "exit 4 when the verdict is not valid"),
      .init("dry-run", nil, "print the resolved plan as JSON and stop"),
      .init("quiet", nil, "no progress and no warnings"),
      .init("no-progress", nil, "no progress bar"),
      .init("color", "auto|always|never", "colour on standard error (auto)"),
      .init("help", nil, "show this"),
    ]
  }

  /// Turns flags into settings; refuses what contradicts.
  package static func settings(
    _ flags: FlagValues, for workload: WorkloadKind = .readersWriter,
    script: RunScript = RunScript()
  ) throws(UsageError) -> (RunSettings, OutputChoices) {
    for name in flags.names where !isUsed(name, by: workload) {
      let instead = ForeignFlags.substitute(name, used: workload.facts.flags)
      throw UsageError(
        "--\(name): the workload \(workload.rawValue) does not use this flag"
          + (instead.map { "; it has \($0)" } ?? ""))
    }
    var settings = RunSettings(workload)
    settings.script = script
    if flags.has("quick") { settings.makeQuick() }
    try refuseContradictions(flags, settings)
    try readLoad(flags, &settings)
    try readMeasurement(flags, &settings)
    try readFiles(flags, &settings)
    try checkTogether(settings)
    try refuseIdle(flags, settings)
    for threshold in settings.thresholds { try threshold.validate(for: settings) }
    return (settings, try outputChoices(flags))
  }

  /// --quiet, --no-progress and --color.
  package static func outputChoices(_ flags: FlagValues) throws(UsageError) -> OutputChoices {
    var choices = OutputChoices()
    choices.isQuiet = flags.has("quiet")
    choices.showsProgress = !flags.has("no-progress") && !choices.isQuiet
    choices.color = try flags.choice("color") ?? .auto
    return choices
  }

  private static func refuseContradictions(
    _ flags: FlagValues, _ defaults: RunSettings
  ) throws(UsageError) {
    try flags.refuse("duration", with: "ops", because: "a run ends by time or by count")
    try flags.refuse(
      "warmup", with: "warmup-ops", because: "a warm-up ends by time or by count")
    if !flags.has("read-rate") && defaults.openLoop.isEmpty {
      try flags.refuse("arrivals", without: "rate")
    }
    try flags.refuse(
      "pin-every", with: "pin-interval", because: "pins come by transactions or by time")
    if defaults.pins == 0 { try flags.refuse("pin-interval", without: "pins") }
    if defaults.pins == 0 { try flags.refuse("pin-every", without: "pins") }
    try flags.refuse("overwrite", with: "dry-run", because: "a dry run writes nothing")
  }

  private static func readLoad(
    _ flags: FlagValues, _ settings: inout RunSettings
  ) throws(UsageError) {
    func count(_ name: String, _ minimum: Int, _ maximum: Int) throws(UsageError) -> Int? {
      guard let text = flags.first(name) else { return nil }
      return try Units.count(text, flag: "--" + name, minimum: minimum, maximum: maximum)
    }
    settings.readers = try count("readers", 0, 1_024) ?? settings.readers
    settings.writers = try count("writers", 0, 1_024) ?? settings.writers
    settings.observers = try count("observers", 0, 1_024) ?? settings.observers
    settings.threads = try count("threads", 1, 1_024) ?? settings.threads
    settings.scanLength = try count("scan-length", 1, 1_000_000) ?? settings.scanLength
    if let text = flags.first("mix") {
      let operations = settings.workload.facts.mixed
      guard let mix = OperationMix(text, of: operations) else {
        let names = operations.map(\.rawValue).joined(separator: ", ")
        throw UsageError(
          operations == OperationMix.operations
            ? "--mix: '\(text)' is neither A to F nor shares that add up to 100, such as "
              + "read:70,update:30 (of \(names))"
            : "--mix: '\(text)' is not shares that add up to 100, such as "
              + "\(OperationMix.example(operations)) (of \(names))")
      }
      settings.mix = mix
      settings.readKeys = mix.defaultKeys
    }
    settings.objects = try count("objects", 1, ContentModel.objectsMax) ?? settings.objects
    settings.batch = try count("batch", 1, 1_000_000) ?? min(settings.batch, settings.objects)
    settings.refreshEvery = try count("refresh-every", 1, 1 << 30) ?? settings.refreshEvery
    settings.hops = try count("hops", 1, 1_000_000)
    if settings.workload.facts.pinsFillCache {
      settings.cacheSize = try count("pins", 1, 1_000_000) ?? settings.cacheSize
    } else {
      settings.pins = try count("pins", 0, 1_000_000) ?? settings.pins
    }
    settings.pinEvery = try count("pin-every", 1, 1 << 30) ?? settings.pinEvery
    if let text = flags.first("value-size") {
      settings.valueSize = try Units.valueSize(text, flag: "--value-size")
      guard settings.valueSize.maximum <= ValueSize.most else {
        throw UsageError("--value-size: at most 16MiB")
      }
    }
    if let text = flags.first("rate") {
      settings.ratePerSecond = try Units.ratePerSecond(text, flag: "--rate")
    }
    if let text = flags.first("read-rate") {
      settings.readRatePerSecond = try Units.ratePerSecond(text, flag: "--read-rate")
    }
    if let text = flags.first("pin-interval") {
      settings.pinIntervalNanoseconds = try Units.nanoseconds(text, flag: "--pin-interval")
      guard settings.pinIntervalNanoseconds! > 0 else { throw UsageError("--pin-interval is 0") }
    }
    try readThreads(flags, &settings)
    for flag in settings.workload.facts.ownFlags {
      let name = flag.definition.name
      if flags.has(name) { settings.own[name] = try flag.canonical(flags.first(name) ?? "") }
    }
    settings.arrivals = try flags.choice("arrivals") ?? settings.arrivals
    settings.durability = try flags.choice("durability") ?? settings.durability
    if let text = flags.first("read-keys") { settings.readKeys = try keyDistribution(text) }
    if let text = flags.first("seed") {
      settings.seed = try Units.seed(text)
    }
  }

  /// Flags of the workloads of queues, frozen values and references.
  private static func readThreads(
    _ flags: FlagValues, _ settings: inout RunSettings
  ) throws(UsageError) {
    func count(_ name: String, _ maximum: Int) throws(UsageError) -> Int? {
      guard let text = flags.first(name) else { return nil }
      return try Units.count(
        text, flag: "--" + name, minimum: name == "attempts" ? 0 : 1, maximum: maximum)
    }
    settings.queues = try count("queues", 1_024) ?? settings.queues
    settings.group = try count("group", 1_000_000) ?? settings.group
    settings.inFlight =
      try count("in-flight", 10_000_000)
      ?? max(settings.inFlight, settings.workload.facts.inFlight(settings))
    settings.writeEvery = try count("write-every", 1 << 30) ?? settings.writeEvery
    settings.attempts = try count("attempts", 10_000) ?? settings.attempts
    settings.release = try flags.choice("release") ?? settings.release
    if let text = flags.first("pin-age") {
      settings.pinAgeNanoseconds = try Units.nanoseconds(text, flag: "--pin-age")
    }
    if let text = flags.first("patience") {
      settings.patienceNanoseconds = try Units.nanoseconds(text, flag: "--patience")
      guard settings.patienceNanoseconds > 0 else { throw UsageError("--patience is 0") }
    }
    if let text = flags.first("churn") {
      guard let churn = Units.share(text), churn <= 1 else {
        throw UsageError("--churn needs a share from 0 to 1, not '\(text)'")
      }
      settings.churn = churn
    }
    if let text = flags.first("cached") {
      settings.cached = []
      for name in text.split(separator: ",", omittingEmptySubsequences: false) {
        guard let kind = CachedKind(rawValue: String(name)) else {
          throw UsageError("--cached: '\(name)' is not one of objects, lists, results")
        }
        guard settings.cached.insert(kind).inserted else {
          throw UsageError("--cached: '\(name)' is named twice")
        }
      }
    }
  }

  private static func readMeasurement(
    _ flags: FlagValues, _ settings: inout RunSettings
  ) throws(UsageError) {
    if let text = flags.first("duration") {
      settings.durationNanoseconds = try Units.nanoseconds(text, flag: "--duration")
      guard settings.durationNanoseconds > 0 else { throw UsageError("--duration is 0") }
    }
    if let text = flags.first("ops") {
      settings.operations = try Units.count(text, flag: "--ops", minimum: 1)
    }
    if let text = flags.first("warmup") {
      settings.warmupNanoseconds = try Units.nanoseconds(text, flag: "--warmup")
    }
    if let text = flags.first("warmup-ops") {
      settings.warmupOperations = try Units.count(text, flag: "--warmup-ops", minimum: 1)
    }
    if let text = flags.first("interval") {
      settings.intervalNanoseconds = try Units.nanoseconds(text, flag: "--interval")
      guard settings.intervalNanoseconds >= 10_000_000 else {
        throw UsageError("--interval: at least 10ms")
      }
    }
    if let text = flags.first("check-rate") {
      guard let rate = Units.share(text), rate <= 1 else {
        throw UsageError("--check-rate needs a share from 0 to 1, not '\(text)'")
      }
      settings.checkRate = rate
    }
    if let text = flags.first("invariants") {
      settings.invariants = try invariants(text, settings.workload)
      if settings.invariants.isEmpty && flags.has("check-rate") {
        throw UsageError(
          "--check-rate and --invariants none contradict each other: nothing is checked")
      }
      if text == "full" {
        if flags.has("check-rate") {
          throw UsageError(
            "--check-rate and --invariants full contradict each other: full checks every read")
        }
        settings.checkRate = 1
      }
    }
    if let wanted = try flags.choice("allocator", AllocatorChoice.self) {
      try wanted.check(Allocator.shared.name)
    }
    let measured = settings.operationsMeasured.map(\.rawValue)
    for text in flags.all("threshold") {
      settings.thresholds.append(try Threshold(text, suggesting: measured))
    }
    settings.isStrict = flags.has("strict")
    settings.isDryRun = flags.has("dry-run")
  }

  private static func readFiles(
    _ flags: FlagValues, _ settings: inout RunSettings
  ) throws(UsageError) {
    if let text = flags.first("engine") {
      settings.engines = try EngineKind.list(text).map(\.name)
    }
    settings.path = flags.first("path")
    settings.keepsFile = flags.has("keep-file")
    settings.output = flags.first("output")
    settings.overwrites = flags.has("overwrite")
    if let text = flags.first("replicas") {
      settings.replicas = try Units.count(text, flag: "--replicas", minimum: 1, maximum: 1_000)
    }
    if let text = flags.first("processes") {
      settings.processes = try Units.count(
        text, flag: "--processes", minimum: 1, maximum: ProcessBoard.mostProcesses)
    }
    try checkProcesses(settings)
    if let text = flags.first("processors") {
      settings.processorList = try Processors.list(text, flag: "--processors")
    }
    if let text = flags.first("shard") { settings.shard = try Shard(text, flag: "--shard") }
    settings.recordsHistory = flags.has("history")
    settings.baseline = flags.first("baseline")
    settings.baselineToSave = flags.first("save-baseline")
    for name in [settings.baseline, settings.baselineToSave].compactMap(\.self) {
      if let obstacle = Baselines.obstacle(name) { throw UsageError(obstacle) }
    }
    if settings.replicas > 1 && settings.path != nil {
      throw UsageError("--path: each of --replicas needs a file of its own")
    }
    try checkEngines(settings)
    settings.format = try flags.choice("format") ?? settings.format
  }

  private static func checkProcesses(_ settings: RunSettings) throws(UsageError) {
    guard settings.processes > 1 else { return }
    let able = WorkloadKind.allCases.filter { $0.facts.takesProcesses }.map(\.rawValue)
    guard settings.workload.facts.takesProcesses else {
      throw UsageError(
        "--processes: \(settings.workload.rawValue) keeps what it expects of the table, or of its "
          + "pins, in the memory of one process; \(able.joined(separator: ", ")) can")
    }
    if settings.script != RunScript() {
      throw UsageError(
        "--processes: a plan with phases, background load or faults takes one process")
    }
    if let operations = settings.operationsOfPhase, operations < settings.processes {
      let source =
        settings.operations != nil
        ? "--ops \(operations)"
        : "--objects \(settings.objects) in transactions of --batch \(settings.batch)"
      throw UsageError(
        "--processes \(settings.processes): \(source) leaves some without an operation")
    }
    if let operations = settings.warmupOperations, operations < settings.processes {
      throw UsageError(
        "--processes \(settings.processes): --warmup-ops \(operations) leaves some without an "
          + "operation")
    }
  }

  private static func checkEngines(_ settings: RunSettings) throws(UsageError) {
    for name in settings.engines {
      if let obstacle = EngineKind.named(name)?.obstacle(to: settings.workload) {
        throw UsageError(
          "--engine: \(name) cannot run \(settings.workload.rawValue), which \(obstacle); "
            + "'\(Tool.current.invocation) list engines' says what it can")
      }
      if name != "realm" && settings.processes > 1 {
        throw UsageError(
          "--processes: writers of \(name) queue within one process; it works on the file alone")
      }
      if name != "realm" && !settings.script.background.isEmpty {
        throw UsageError(
          "--engine: the background load of a plan is of realm; \(name) has none")
      }
    }
    guard settings.engines.count > 1 else { return }
    if settings.path != nil { throw UsageError("--path: each of --engine needs a file of its own") }
    if settings.baseline != nil || settings.baselineToSave != nil {
      throw UsageError("--baseline and --save-baseline are of one engine: name one with --engine")
    }
  }

  private static func checkTogether(_ settings: RunSettings) throws(UsageError) {
    if settings.batch > settings.objects {
      throw UsageError("--batch \(settings.batch) is more than --objects \(settings.objects)")
    }
    if settings.readRatePerSecond != nil && settings.readers == 0 {
      throw UsageError("--read-rate needs a reader: --readers is 0")
    }
    try settings.workload.facts.check(settings)
  }

  /// Refuses what only threads or pins would use that there are none of.
  private static func refuseIdle(
    _ flags: FlagValues, _ settings: RunSettings
  ) throws(UsageError) {
    let used = settings.workload.facts.flags
    func refuse(_ names: [String], _ noun: String, _ flag: String) throws(UsageError) {
      guard let name = names.first(where: flags.has) else { return }
      throw UsageError("--\(name) needs a \(noun): --\(flag) is 0")
    }
    if used.contains("readers"), settings.readers == 0 {
      try refuse(["refresh-every", "read-keys", "check-rate"], "reader", "readers")
    }
    if used.contains("writers"), settings.writers == 0 {
      try refuse(["batch"], "writer", "writers")
    }
    if settings.pins == 0, !settings.workload.facts.pinsFillCache {
      try refuse(["pin-interval", "pin-age"], "pin", "pins")
    }
  }

  private static func keyDistribution(_ text: String) throws(UsageError) -> KeyDistribution {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    switch (parts[0], parts.count) {
    case ("uniform", 1): return .uniform
    case ("latest", 1): return .latest
    case ("zipf", 2):
      guard let exponent = Units.share(parts[1]), exponent > 0, exponent <= 10 else { break }
      return .zipf(exponent: exponent)
    case ("hotspot", 3):
      guard let part = Units.share(parts[1]), let share = Units.share(parts[2]),
        part > 0, part <= 1, share <= 1
      else { break }
      return .hotspot(part: part, share: share)
    default: break
    }
    throw UsageError(
      "--read-keys: '\(text)' is not one of uniform, zipf:0.99, latest, hotspot:0.2:0.8")
  }

  private static func invariants(
    _ text: String, _ workload: WorkloadKind
  ) throws(UsageError) -> [Invariant] {
    if text == "all" || text == "full" { return workload.invariants }
    if text == "none" { return [] }
    var chosen: Set<Invariant> = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let invariant = workload.invariants.first(where: { $0.name == name }) else {
        let names = workload.invariants.map(\.name).joined(separator: ", ")
        throw UsageError(
          "--invariants: '\(name)' is not checked by this workload (all, none, full, or of \(names))"
        )
      }
      guard chosen.insert(invariant).inserted else {
        throw UsageError("--invariants: '\(name)' is named twice")
      }
    }
    return workload.invariants.filter(chosen.contains)
  }
}
