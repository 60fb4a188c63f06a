// `realm-bench plan`: capacity planning from measured runs.
package import Foundation
internal import Platform

/// The verb `plan`.
package enum PlanVerb: VerbDescription {
  package static let name = "plan"
  package static let arguments = "[--ask QUESTION ...]"
  package static let summary = "capacity planning from runs that it makes, or from earlier ones"
  package static let flags: [FlagDefinition] = [
    .init("ask", "QUESTION", isRepeatable: true, "what is to be found out; see above"),
    .init("budget", "TIME", "make runs for so long (1m; none with --from)"),
    .init("from", "FOLDER", isRepeatable: true, "results folder of earlier runs, or of a plan"),
    .init(
      "partial", nil,
      "take runs of --from that say little, too (debug, --quick, disturbed, interrupted, failed), "
        + "and mark the answers"),
    .init("validate", nil, "predict settings that nothing was fitted to, and run them"),
    .init("settings", "N", "with --validate: how many (20)"),
    .init("seed", "N", "decides keys, and the settings of --validate (1)"),
    .init("output", "DIR", "results folder (realm-bench-results/<utc>-plan-<seed>)"),
    .init("overwrite", nil, "replace the results in the folder when the new ones are complete"),
    .init("format", "text|json|markdown", "form on standard output (text)"),
    .init("dry-run", nil, "print the questions and runs, and stop"),
    .init("quiet", nil, "no progress and no warnings"),
    .init("help", nil, "show this"),
  ]

  package static let usage = """
    realm-bench plan [--ask QUESTION ...] [--budget TIME] [--from FOLDER ...] [--validate]

    Answers questions of capacity by models of causes, fitted to runs that it chooses and makes, and
    checks each answer by a run. Questions:

      METRIC at SETTINGS              file size at pins=200 age=1h rate=500/s objects=5M
                                      p99 at load=70% batch=10      memory at pins=50 pin-every=100
      largest VARIABLE with METRIC<LIMIT at SETTINGS
                                      largest rate with write.response_p99<5ms
                                      largest pins with file size<2GiB at age=10m rate=200/s
      readers at RATE each on N cores readers at 50k reads/s each on 8 cores

    METRIC: file size, memory, growth a commit, held bytes, live bytes, write rate, read rate, p50 to
    p99.9, write. or read. with service_pN or response_pN. VARIABLE: rate, read-rate, pins, age,
    objects, batch. SETTINGS: objects value-size batch pins age pin-every rate load readers read-rate
    writers sync durability arrivals.

    Exit codes: 0 answered, 4 something is extrapolated further than the models can vouch for, or has
    no answer, 1 a run failed, 130 interrupted (what was found out is kept).
    """

  /// What is asked where nothing is.
  private static func usualQuestions() -> [String] {
    let cores = max(1, Int(Processors.usable()))
    return [
      "file size at pins=100 age=10m rate=500/s", "memory at pins=100 age=10m rate=500/s",
      "largest rate with write.response_p99<10ms", "readers at 50k reads/s each on \(cores) cores",
    ]
  }

  package static func hearsSignals(_ arguments: [String]) -> Bool { true }

  package static func perform(_ arguments: [String], console: Console) throws -> ExitCode {
    try run(arguments, console: console, interruption: { SignalInterruption() })
  }

  package static func run(
    _ arguments: [String], console: Console, executable: String = ForbiddenUse.ownExecutable,
    now: Date = Date(), interruption: () -> any Interruption
  ) throws -> ExitCode {
    let values = try FlagValues(foldersSpelledOut(arguments), known: flags)
    if values.has("help") {
      console.printRaw(Help.short(usage, flags))
      return .success
    }
    if let word = values.positional.first {
      throw UsageError("plan: '\(word)' is no flag; a question goes after --ask, in quotes")
    }
    let format: OutputFormat = try values.choice("format") ?? .text
    let isQuiet = values.has("quiet")
    try values.refuse("settings", without: "validate")
    try values.refuse("partial", without: "from")
    let options = try options(values) { if !isQuiet { console.note("warning: \($0)") } }
    let place = ResultsPlace(
      workload: "plan", seed: options.seed, output: values.first("output"), now: now)
    if values.has("dry-run") {
      try values.refuse("overwrite", with: "dry-run", because: "a dry run writes nothing")
      console.printRaw(try dryRun(options, format))
      return .success
    }
    if let output = values.first("output") {
      for path in values.all("from") where FileCalls.overlap(try Baselines.resolve(path), output) {
        // Its own input would be replaced.
        throw UsageError("plan: '\(path)' and the output '\(output)' lie in one another")
      }
    }
    try place.refuseObstacle(overwrites: values.has("overwrite"))
    // Before any thread or child: they leave the signals to us.
    let interruption = interruption()
    let folder: ResultsFolder
    do {
      folder = try place.make(overwrites: values.has("overwrite"), names: KnownNames.ofPlan)
    } catch let error as ResultsError {
      console.note("error: \(error.message)")
      return .failed
    }
    console.keeps(folder.path)
    let runs = PlanRuns(
      executable: executable, folder: folder.path,
      budgetNanoseconds: UInt64((options.budgetSeconds ?? 0) * 1e9), seed: options.seed,
      interruption: interruption, progress: { if !isQuiet { console.note($0) } })
    let machine = otherMachine(options) ?? .measured(folder: folder.path)
    var planner = Planner(options, runs: runs, machine: machine)
    let result: PlanResult
    do {
      result = try planner.run()
    } catch let failure as ExecutableFailure {
      console.note("error: \(failure.message)")
      return folder.end(isComplete: false, otherwise: failure.code, console)
    } catch let error as ResultsError {
      console.note("error: \(error.message)")
      return folder.end(isComplete: false, otherwise: .failed, console)
    }
    let code = try report(result, folder, format, isQuiet: isQuiet, console)
    let isComplete = code == .success || code == .inconclusive
    return folder.end(isComplete: isComplete, otherwise: code, console)
  }

  private static func report(
    _ result: PlanResult, _ folder: ResultsFolder, _ format: OutputFormat, isQuiet: Bool,
    _ console: Console
  ) throws -> ExitCode {
    let isWhole = !result.isInterrupted && result.failure == nil
    let output = PlanOutput(result, folder: isWhole ? folder.destination : folder.path)
    // Shown whatever becomes of the files: it was measured.
    console.printRaw(try output.render(format))
    do {
      try folder.write(output.table().text, to: "plan.csv")
      try folder.write(PlanPage(result).html(), to: "plan.html")
    } catch {
      console.note("error: cannot write to '\(folder.path)': \(error.explanation)")
      return .failed
    }
    if result.isInterrupted {
      console.note("interrupted: the answers are from what was measured until then")
      return .interrupted
    }
    if let failure = result.failure {
      console.note("error: \(failure.message); what was measured until then is shown")
      return failure.code
    }
    let unvouched = result.answers.filter { !$0.isVouched }
    if !isQuiet {
      for answer in unvouched {
        let isFar = answer.extrapolations.contains { !$0.isVouched }
        let reasons = (isFar ? ["it is extrapolated too far"] : []) + answer.weaknesses
        console.note(
          "warning: '\(answer.question.text)' cannot be vouched for: "
            + reasons.joined(separator: "; "))
      }
    }
    return unvouched.isEmpty && result.warnings.isEmpty ? .success : .inconclusive
  }

  // MARK: - Flags

  /// `--from A B C` is `--from A --from B --from C`.
  private static func foldersSpelledOut(_ arguments: [String]) -> [String] {
    var words: [String] = []
    var isAfterFrom = false
    for (position, word) in arguments.enumerated() {
      if word.hasPrefix("-") && !(position > 0 && arguments[position - 1] == "--from") {
        isAfterFrom = word == "--from" || word.hasPrefix("--from=")
      } else if isAfterFrom && position > 0 && arguments[position - 1] != "--from" {
        words.append("--from")
      }
      words.append(word)
    }
    return words
  }

  private static func options(
    _ values: FlagValues, warn: (String) -> Void
  ) throws -> Planner.Options {
    var options = Planner.Options()
    let questions = values.all("ask")
    let isAsked = !questions.isEmpty || values.has("validate")
    options.questions = try (isAsked ? questions : usualQuestions()).map {
      try PlanQuestion($0)
    }
    if let text = values.first("seed") {
      options.seed = try Units.seed(text, below: 1 << 62)
    }
    if let text = values.first("budget") {
      let budget = try Units.nanoseconds(text, flag: "--budget")
      guard budget > 0 else { throw UsageError("--budget is 0; leave it out with --from") }
      options.budgetSeconds = Double(budget) / 1e9
    } else if !values.has("from") || values.has("validate") {
      options.budgetSeconds = 60
    }
    if values.has("validate") {
      let text = values.first("settings") ?? "20"
      options.validations = try Units.count(text, flag: "--settings", minimum: 1, maximum: 1_000)
      if questions.isEmpty {
        // What the models have to know for any setting.
        options.questions = try PlanExperiments.trainingQuestions.map { try PlanQuestion($0) }
      }
    }
    do {
      let runs = try values.all("from").flatMap {
        try wholeRuns(
          in: try Baselines.resolve($0), acceptsPartial: values.has("partial"), warn: warn)
      }
      // It would make the answers look surer than they are.
      try SamePlan.refuseTwice(runs)
      options.earlier += try runs.map {
        try PlanObservation($0, acceptsPartial: values.has("partial"))
      }
      if !values.has("partial") { try options.earlier.forEach { try $0.refuseDoubtful() } }
      warnOfMachines(options, warn)
    } catch let error as ResultsError {
      throw UsageError("plan: \(error.message)")
    } catch let missing as Baselines.Missing {
      throw UsageError("--from: \(missing.message)")
    }
    return options
  }

  /// Of a plan or of replicas that were interrupted, those that had ended; a single run has to be
  /// whole unless partial ones are accepted.
  private static func wholeRuns(
    in folder: String, acceptsPartial: Bool, warn: (String) -> Void
  ) throws -> [MeasuredRun] {
    let runs = try MeasuredRun.all(in: folder)
    let whole = runs.filter { $0.document.status == RunStatus.complete.rawValue }
    if whole.isEmpty {
      for run in runs where acceptsPartial {
        warn("'\(run.folder)' is \(run.document.status): its figures are partial")
      }
      return runs
    }
    for run in runs where run.document.status != RunStatus.complete.rawValue {
      warn("'\(run.folder)' is \(run.document.status): left out")
    }
    return whole
  }

  // MARK: - Machines

  /// Costs of the machine of earlier runs, where all are of one that is not this one, and no others
  /// are made.
  private static func otherMachine(_ options: Planner.Options) -> MachineCosts? {
    let machines = Set(options.earlier.map(\.hardware.words))
    guard options.budgetSeconds == nil, machines.count == 1, machines != [Hardware.here().words]
    else {
      return nil
    }
    return MachineCosts(of: options.earlier)
  }

  private static func warnOfMachines(_ options: Planner.Options, _ warn: (String) -> Void) {
    let here = Hardware.here().words
    let machines = Set(options.earlier.map(\.hardware.words)).subtracting([here]).sorted()
    for machine in machines {
      let count = options.earlier.count { $0.hardware.words == machine }
      let runs = count == 1 ? "a run of --from is" : "\(count) runs of --from are"
      warn(
        "\(runs) of another machine (\(machine); this one: \(here)); "
          + (otherMachine(options) == nil
            ? "times of one say little about another" : "the answers are of that one"))
    }
  }

  // MARK: - Dry run

  private struct DryRun: Codable {
    var question: String
    var commands: [String]
  }

  /// What is known of a run before any: the rate of an open loop follows from a closed one.
  private static func command(_ experiment: PlanExperiment) -> String {
    let command = PlanRuns.command(experiment)
    guard let load = experiment.setting.load else { return command }
    return command
      + "  # and a --rate: \(PlanSetting.count(load * 100))% of what a closed loop does"
  }

  private static func dryRun(
    _ options: Planner.Options, _ format: OutputFormat
  ) throws -> String {
    let chooser = PlanExperiments(
      budgetSeconds: options.budgetSeconds ?? 60, questions: options.questions.count,
      cores: Processors.usable())
    let questions = options.questions.map { question in
      DryRun(
        question: question.text,
        commands: (options.budgetSeconds == nil ? [] : chooser.experiments(for: question))
          .map(command))
    }
    switch format {
    case .json: return try encodeJSON(["questions": questions])
    case .text:
      return questions.map { "\($0.question)\n" + $0.commands.map { "  \($0)\n" }.joined() }
        .joined()
    case .markdown:
      return questions.map { "- \($0.question)\n" + $0.commands.map { "  - `\($0)`\n" }.joined() }
        .joined()
    }
  }
}
