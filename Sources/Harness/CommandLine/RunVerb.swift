// `realm-bench run`: from flags to a results folder and an exit code.
package import Foundation
internal import Platform

/// The verb `run`.
package enum RunVerb: VerbDescription {
  package static let name = "run"
  package static let arguments = "WORKLOAD|PLAN.json [flags]"
  package static let summary = "run, check, write a results folder with CSV files"
  package static let usage = """
    realm-bench run WORKLOAD [flags]
    realm-bench run PLAN.json [flags]

    Runs one workload on a new file, or one plan of phases, background load and faults. Checks what
    the threads see, and writes a results folder.

    \(Help.counted)

    'realm-bench run WORKLOAD --help' shows the flags that a workload uses, with its defaults.
    """
  package static var flags: [FlagDefinition] { RunFlags.known }
  package static var words: [String] { workloads }

  private static var workloads: [String] { WorkloadKind.allCases.map(\.rawValue) }

  /// What a run needs from outside: streams, signals, the time, and the engine by path.
  package struct Surroundings<Driver: EngineDriver>: Sendable {
    package var console: Console
    package var interruption: @Sendable () -> any Interruption
    package var now: Date
    package var makeDriver: @Sendable (_ path: String, DurabilityClass) throws -> Driver
    /// The executable that background processes run.
    package var tool = ForbiddenUse.ownExecutable
    /// How long a run waits for the write lock where nothing else ends; nil = as long as usual.
    package var patienceNanoseconds: UInt64?

    package init(
      console: Console, interruption: @escaping @Sendable () -> any Interruption,
      now: Date = Date(),
      makeDriver: @escaping @Sendable (_ path: String, DurabilityClass) throws -> Driver
    ) {
      self.console = console
      self.interruption = interruption
      self.now = now
      self.makeDriver = makeDriver
    }
  }

  package static func hearsSignals(_ arguments: [String]) -> Bool { true }

  package static func perform(_ arguments: [String], console: Console) throws -> ExitCode {
    try run(
      arguments,
      Surroundings(
        console: console, interruption: { SignalInterruption() },
        makeDriver: { try RealmDriver(path: $0, durability: $1) }))
  }

  package static func run<Driver: EngineDriver>(
    _ arguments: [String], _ surroundings: Surroundings<Driver>
  ) throws -> ExitCode {
    // The names of flags are answered as the workload has them.
    let named = arguments.lazy.compactMap { WorkloadKind(rawValue: $0) }.first
    let flags = try FlagValues(
      arguments, known: RunFlags.known,
      used: named.map { Set(RunFlags.known(for: $0).map(\.name)) })
    if flags.has("help") {
      let name = flags.positional.first
      let isPlan = name?.hasSuffix(".json") ?? false
      if isPlan && flags.positional.count > 1 { throw second(flags.positional[1]) }
      let workload: WorkloadKind? =
        if let name {
          try isPlan ? planFile(name).workload : workload(flags.positional)
        } else { nil }
      surroundings.console.printRaw(Help.run(workload ?? .readersWriter))
      return .success
    }
    let (resolved, choices) = try settings(flags, arguments)
    var settings = resolved
    if let member = try ProcessMember.own() { settings.become(member) }
    settings.patienceNanoseconds = surroundings.patienceNanoseconds ?? settings.patienceNanoseconds
    let place = ResultsPlace(
      workload: settings.workload.rawValue, seed: settings.seed, output: settings.output,
      now: surroundings.now, shard: settings.shard)
    if settings.isDryRun {
      let path = settings.path ?? place.path + "/" + KnownNames.dataFile(settings.engine)
      surroundings.console.printRaw(
        try encodeJSON(
          DryRun(
            workload: settings.workload.rawValue,
            engine: settings.engines.joined(separator: ","),
            command: settings.command,
            settings: SettingsRecord(settings, path: path, output: place.path))))
      return .success
    }
    if settings.member == nil { try refuseOnePlace(settings) }
    try place.refuseObstacle(overwrites: settings.overwrites)
    if let baseline = settings.baseline {
      do { _ = try Baselines.saved(baseline) } catch {
        surroundings.console.note("error: \(error.message)")
        return .baselineMissing
      }
      // Told before the run: afterwards its time would be lost.
      try Baselines.refuseOtherWork(settings, than: baseline)
    }
    if let name = settings.baselineToSave { try Baselines.refuseObstacle(toSaving: name) }
    let file =
      settings.member == nil
      ? try settings.path.map { try RunFile(claiming: $0, engine: settings.engine) } : nil
    let folder: ResultsFolder
    do {
      folder = try place.make(
        overwrites: settings.overwrites, withHistograms: !settings.hasParts,
        names: KnownNames.ofRun(
          isPlan: settings.planText != nil, hasHistory: settings.recordsHistory,
          dataFile: settings.path == nil ? KnownNames.dataFile(settings.engine) : nil))
    } catch {
      file?.giveUp()
      guard let error = error as? ResultsError else { throw error }
      surroundings.console.note("error: \(error.message)")
      return .failed
    }
    defer { file?.giveUp() }
    return try run(
      arguments, settings, choices, folder,
      path: settings.path ?? folder.path + "/" + KnownNames.dataFile(settings.engine),
      surroundings)
  }

  /// Refuses a file that is the results folder, or lies in one that is to be replaced: nothing is
  /// claimed yet.
  private static func refuseOnePlace(_ settings: RunSettings) throws(UsageError) {
    guard let path = settings.path, let output = settings.output,
      FileCalls.overlap(path, output)
    else { return }
    if FileCalls.isSame(path, output) {
      throw UsageError(
        "--path and --output are one place, '\(output)': the one is a file, the other a folder")
    }
    guard settings.overwrites, case .folder? = try? FileCalls.kind(output, followsLinks: true)
    else { return }
    throw UsageError(
      "--path: '\(path)' lies in '\(output)', which is to be replaced; give a path elsewhere, or none: "
        + "then the file is in the folder")
  }

  /// Runs in a folder that is this run's own, and puts the results in their place.
  private static func run<Driver: EngineDriver>(
    _ arguments: [String], _ settings: RunSettings, _ choices: OutputChoices,
    _ folder: ResultsFolder, path: String, _ surroundings: Surroundings<Driver>
  ) throws -> ExitCode {
    let console = surroundings.console
    let code =
      !settings.hasParts
      ? try runOnEngine(settings, choices, folder, path, surroundings, arguments)
      : try ReplicaRuns(arguments, settings: settings, choices: choices, folder: folder).run(
        console, interruption: surroundings.interruption)
    let isComplete = code == .success || code == .inconclusive || code == .thresholdMissed
    let compared =
      isComplete ? useBaselines(settings, choices, folder, console, otherwise: code) : code
    return folder.end(isComplete: isComplete, otherwise: compared, console)
  }

  /// On the engine that is asked for; what the surroundings drive stands for realm.
  private static func runOnEngine<Driver: EngineDriver>(
    _ settings: RunSettings, _ choices: OutputChoices, _ folder: ResultsFolder, _ path: String,
    _ surroundings: Surroundings<Driver>, _ arguments: [String]
  ) throws -> ExitCode {
    guard settings.engine != "realm", let facts = EngineKind.named(settings.engine)?.facts else {
      return try runOnce(settings, choices, folder, path, surroundings, arguments)
    }
    func run<Facts: EngineDescription>(_ facts: Facts.Type) throws -> ExitCode {
      var other = Surroundings(
        console: surroundings.console, interruption: surroundings.interruption,
        now: surroundings.now
      ) { try facts.open(EngineOpening(settings, path: $0, durability: $1)) }
      other.tool = surroundings.tool
      return try runOnce(settings, choices, folder, path, other, arguments)
    }
    return try run(facts)
  }

  private static func runOnce<Driver: EngineDriver>(
    _ settings: RunSettings, _ choices: OutputChoices, _ folder: ResultsFolder, _ path: String,
    _ surroundings: Surroundings<Driver>, _ arguments: [String]
  ) throws -> ExitCode {
    // Where several processes do the work, they have the history.
    guard settings.recordsHistory && settings.processes == 1 else {
      return try WorkloadJob(
        settings: settings, choices: choices, folder: folder, path: path,
        surroundings: surroundings, arguments: arguments
      ).run()
    }
    let (makeDriver, parts) = (surroundings.makeDriver, folder.historyParts)
    var recording = Surroundings(
      console: surroundings.console, interruption: surroundings.interruption,
      now: surroundings.now
    ) { path, durability in
      RecordingDriver(
        try makeDriver(path, durability),
        log: try HistoryLog(
          folder: parts, firstProcess: ((settings.member?.number ?? 1) - 1) * 100_000))
    }
    recording.tool = surroundings.tool
    return try WorkloadJob(
      settings: settings, choices: choices, folder: folder, path: path, surroundings: recording
    ).run()
  }

  /// Saves what --save-baseline names and compares with what --baseline names.
  private static func useBaselines(
    _ settings: RunSettings, _ choices: OutputChoices, _ folder: ResultsFolder, _ console: Console,
    otherwise code: ExitCode
  ) -> ExitCode {
    var compared = code
    do {
      if let name = settings.baseline {
        var rules = ComparisonRules()
        // Whoever asks for it has seen the verdict of the run, and the table says it again.
        rules.acceptsPartial = true
        let comparison = try Comparison(
          baseline: try MeasuredRun.all(in: try Baselines.saved(name)),
          candidate: try MeasuredRun.all(in: folder.path), rules: rules)
        let output = ComparisonOutput(comparison, isStrict: settings.isStrict)
        console.note(try output.render(.text))
        try folder.write(output.table().text, to: "compare.csv")
        let gate = comparison.exitCode(isStrict: settings.isStrict)
        if gate == .thresholdMissed || compared == .success { compared = gate }
      }
      if let name = settings.baselineToSave {
        if compared == .thresholdMissed {
          console.note("error: not saved as baseline '\(name)': the run misses what is asked of it")
        } else {
          for warning in try Baselines.save(folder.path, as: name) where !choices.isQuiet {
            console.note("warning: " + warning)
          }
        }
      }
    } catch {
      console.note("error: \(error.explanation)")
      return .failed
    }
    return compared
  }

  /// Of a workload and its flags, or of a plan file.
  private static func settings(
    _ flags: FlagValues, _ arguments: [String]
  ) throws(UsageError) -> (RunSettings, OutputChoices) {
    guard let name = flags.positional.first, name.hasSuffix(".json") else {
      return try RunFlags.settings(flags, for: workload(flags.positional))
    }
    if flags.positional.count > 1 { throw second(flags.positional[1]) }
    let plan = try planFile(name)
    return try plan.resolve(flags, commandLine: arguments)
  }

  private static func planFile(_ name: String) throws(UsageError) -> PlanFile {
    try PlanFile(path: try LiteralPath.path(name, of: "run"))
  }

  private struct DryRun: Codable {
    var workload: String
    var engine: String
    var command: String
    var settings: SettingsRecord
  }

  private static func workload(_ positional: [String]) throws(UsageError) -> WorkloadKind {
    guard let name = positional.first else {
      throw UsageError("run needs a workload: \(workloads.joined(separator: ", "))")
    }
    guard let workload = WorkloadKind(rawValue: name) else {
      let nearest = nearestName(name, in: workloads).map { "; did you mean '\($0)'?" } ?? ""
      throw UsageError(
        "no workload '\(name)' in this version (\(workloads.joined(separator: ", ")))\(nearest)")
    }
    if positional.count > 1 { throw second(positional[1]) }
    return workload
  }

  /// The refusal of what stands behind the workload or the plan.
  private static func second(_ word: String) -> UsageError {
    UsageError(
      "run takes one workload or one plan, but also got '\(word)'; what is to be run behind it "
        + "needs a command of its own")
  }
}
