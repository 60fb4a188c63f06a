// `realm-bench compare`: whether a candidate got worse than a baseline.
internal import Foundation

/// The verb `compare`.
package enum CompareVerb: VerbDescription {
  package static let name = "compare"
  package static let arguments = "BASELINE CANDIDATE"
  package static let summary = "whether figures got worse: folders, baselines or executables"
  package static let flags: [FlagDefinition] = [
    .init("baseline", "DIR", isRepeatable: true, "a further results folder of the baseline"),
    .init("candidate", "DIR", isRepeatable: true, "a further results folder of the candidate"),
    .init(
      "partial", nil,
      "take runs that were interrupted, failed, are not valid or only smoke runs (--quick), and say so"
    ),
    .init(
      "across", "SETTING", isRepeatable: true,
      "a setting in which the two differ on purpose, such as durability"),
    .init(
      "executables", nil,
      "BASELINE and CANDIDATE are executables: run both by turns, WORKLOAD and its flags after --"),
    .init(
      "candidate-flags", "FLAGS",
      "with --executables: flags that the candidate's runs have beside or instead of the plan's, such "
        + "as '--batch 10'"),
    .init(
      "duet", nil,
      "with --executables: both at once, each on a core; for one thread that does not sync"),
    .init(
      "turns", "TIME",
      "with --executables: both at once, stopped by turns of so long, such as 5ms, so that what "
        + "disturbs the machine meets both alike"),
    .init(
      "budget", "TIME",
      "with --executables: stop after this time (10m; with --blocks when these have been run)"),
    .init(
      "blocks", "N",
      "with --executables: run so many, decided or not, if --budget does not end it before; with "
        + "--resample: at most so many a gate"),
    .init(
      "every-row", nil, "go on until every gate row is decided, although one is worse"),
    .init(
      "resample", "FILE",
      "tell what a gate here can see: draws gates from the blocks of --write runs=FILE"),
    .init("gates", "N", "with --resample: how many (1000)"),
    .init(
      "max-regression", "ROW=SHARE", isRepeatable: true,
      "gate a row at a tolerance of your own, such as 'read.service_p99_ns=10%'; "
        + "without a row for all (2%)"),
    .init("accept", "ROW", isRepeatable: true, "a known regression of this row does not fail"),
    .init("reason", "TEXT", isRepeatable: true, "why, one for each --accept"),
    .init(
      "accepted", "FILE",
      "lines ROW: REASON of accepted regressions; what --accept accepts is added there"),
    .init("seed", "N", "with --executables: order of the blocks (1)"),
    .init(
      "output", "FILE",
      "where compare.csv goes (compare.csv); the files of --executables lie beside it meanwhile"),
    .init("strict", nil, "exit 4 when a gate row cannot be told"),
    .init(
      "format", ComparisonFormat.allCases.map(\.rawValue).joined(separator: "|"),
      "form on standard output (text)"),
    .init(
      "write", "FORMAT=FILE", isRepeatable: true,
      "the same in another form to a file, such as markdown=gate.md"),
    .init("quiet", nil, "no progress and no warnings"),
    .init("help", nil, "show this"),
  ]

  package static let usage = """
    realm-bench compare BASELINE CANDIDATE [flags]
    realm-bench compare --executables BASELINE CANDIDATE [flags] -- WORKLOAD [flags of run]
    realm-bench compare --resample FILE [--gates N] [--blocks N]

    Compares results folders of one plan. Each row shows both medians; the ratio of the geometric
    means as a change for the worse, with its interval (Welch's, of the logarithms); how far two runs
    of one side are apart (noise); and the smallest change that would have been called worse in four
    of five tries (could see). A figure is worse when the whole interval lies above the tolerance,
    the same when it lies within, else nobody can tell. What one side has and the other lacks is
    never left out: nobody can tell of it. BASELINE and CANDIDATE may be names saved by 'run
    --save-baseline NAME'. Times are compared on one machine only, counters everywhere; those that
    follow from the plan alone (syncs a commit of one writer with --ops; allocations of one reader
    without writers with --ops, --invariants none and one seed) need one run a side, and any growth
    of them is worse. At most 12 rows decide, beside such allocations; the others are named.

    Runs that were interrupted, failed, are not valid or only smoke runs are refused without
    --partial, runs that did other work always.

    With --executables both are run by turns on this machine, in fresh processes and files, until
    every gate row is decided, one is worse, or the budget is used up: the way to compare two commits.
    Then the ratio is the mean of the paired ratios, from 30 blocks on without the weight of those
    that are far off (Huber's estimate), and its interval a confidence sequence: looking after each
    block does no harm. Figures that vary take 9 to 13 blocks at least. --write runs=FILE keeps the
    figures of each block; two settings are compared by one executable twice and --candidate-flags, or
    by folders and --across. --resample draws many gates from them, by chance and with repetition, and
    tells how often each row is called worse, and after how many blocks: false alarms, when both
    executables were the same, and power, when one was not.
    Exit codes: 0 no regression, 2 a regression, 4 cannot tell (with --strict), 5 no such baseline.
    """

  package static func hearsSignals(_ arguments: [String]) -> Bool {
    arguments.contains("--executables")
  }

  package static func perform(_ arguments: [String], console: Console) throws -> ExitCode {
    try run(arguments, console: console, interruption: { SignalInterruption() })
  }

  package static func run(
    _ arguments: [String], console: Console, interruption: () -> any Interruption
  ) throws -> ExitCode {
    let values = try FlagValues(arguments, known: flags)
    if values.has("help") {
      console.printRaw(help)
      return .success
    }
    let rules = try rules(values)
    if let path = values.first("resample") { return try resample(path, values, rules, console) }
    try values.refuse("gates", without: "resample")
    let format: ComparisonFormat = try values.choice("format") ?? .text
    let copies = try values.all("write").map(Self.copy)
    let table = try OutputFile(
      values.first("output") ?? "compare.csv", flag: "--output", .comparison(nil), replaces: true)
    let files = [table] + copies.map(\.file)
    for (position, file) in files.enumerated() {
      if let other = files[..<position].first(where: { file.isSame(as: $0) }) {
        throw UsageError("compare: '\(other.path)' and '\(file.path)' are one file")
      }
    }
    let comparison: Comparison
    do {
      if values.has("executables") {
        comparison = try compareExecutables(
          values, rules, in: table.folder, console, interruption())
      } else {
        let folders = try values.paths("compare")
        guard folders.count == 2 else {
          throw UsageError(
            "compare needs two results folders: BASELINE and CANDIDATE"
              + RecentResults.compareExample(folders))
        }
        try values.refuse("duet", without: "executables")
        try values.refuse("turns", without: "executables")
        try values.refuse("budget", without: "executables")
        try values.refuse("blocks", without: "executables")
        try values.refuse("every-row", without: "executables")
        try values.refuse("seed", without: "executables")
        try values.refuse("candidate-flags", without: "executables")
        let before = [try Baselines.resolve(folders[0])] + values.all("baseline")
        let after = [try candidate(folders[1])] + values.all("candidate")
        comparison = try Comparison(
          baseline: before.flatMap { try runs(in: $0, rules) },
          candidate: after.flatMap { try runs(in: $0, rules) }, rules: rules)
      }
    } catch let error as ResultsError {
      throw UsageError("compare: \(error.message)")
    } catch let missing as Baselines.Missing {
      console.note("error: \(missing.message)")
      return .baselineMissing
    } catch let failure as ExecutableFailure {
      console.note(
        failure.code == .interrupted
          ? "interrupted before the first block had ended; nothing was compared"
          : "error: \(failure.message)")
      return failure.code
    }
    let isStrict = values.has("strict")
    let output = ComparisonOutput(comparison, isStrict: isStrict)
    // Shown before it is written: on a full disk it is not lost.
    console.printRaw(try output.render(format))
    let texts =
      [(table, output.table().text)]
      + (try copies.map { ($0.file, try output.render($0.format)) })
    for (file, text) in texts {
      do {
        try file.write(text)
      } catch let error as UsageError {
        throw error
      } catch {
        console.note("error: cannot write '\(file.path)': \(error.explanation)")
        return .failed
      }
    }
    console.keeps(table.path)
    do { try keepAccepted(comparison, rules, values, console) } catch {
      console.note("error: cannot write '\(values.first("accepted")!)': \(error.explanation)")
      return .failed
    }
    if comparison.isInterrupted {
      console.note("interrupted: compared is what was measured until then")
    } else if let failure = comparison.failure {
      console.note("error: \(failure.message); compared is what was measured until then")
    } else if !comparison.undecided.isEmpty && !values.has("quiet") {
      console.note(
        "warning: cannot tell for " + comparison.undecided.map(\.row.name).joined(separator: ", "))
    }
    return comparison.exitCode(isStrict: isStrict)
  }

  /// The runs of a folder, whose replicas have to be all that were asked for.
  private static func runs(in folder: String, _ rules: ComparisonRules) throws -> [MeasuredRun] {
    try MeasuredRun.all(in: folder, acceptsPartial: rules.acceptsPartial)
  }

  /// The folder of the candidate; exit code 5 is for baselines.
  private static func candidate(_ text: String) throws -> String {
    do { return try Baselines.resolve(text) } catch let missing as Baselines.Missing {
      throw UsageError("compare: \(missing.message)")
    }
  }

  /// A form and the file that it goes to.
  private static func copy(
    _ text: String
  ) throws(UsageError) -> (format: ComparisonFormat, file: OutputFile) {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    let names = ComparisonFormat.allCases.map(\.rawValue)
    guard parts.count == 2, !parts[1].isEmpty else {
      throw UsageError("--write: '\(text)' is not of the form markdown=gate.md")
    }
    guard let format = ComparisonFormat(rawValue: parts[0]) else {
      let nearest = nearestName(parts[0], in: names).map { "; did you mean '\($0)'?" } ?? ""
      throw UsageError(
        "--write: '\(parts[0])' is not one of \(names.joined(separator: ", "))\(nearest)")
    }
    let path = try LiteralPath.path(parts[1], of: "--write")
    return (
      format, try OutputFile(path, flag: "--write", .comparison(format), replaces: true)
    )
  }

  private static func seed(_ values: FlagValues) throws(UsageError) -> UInt64 {
    guard let text = values.first("seed") else { return 1 }
    return try Units.seed(text)
  }

  private static func blockCount(_ text: String) throws(UsageError) -> Int {
    let count = try Units.count(text, flag: "--blocks", minimum: 0, maximum: 1_000_000)
    guard count >= PairedJudge.blocksMin else {
      throw UsageError(
        "--blocks: fewer than \(PairedJudge.blocksMin) decide nothing, so not \(text)")
    }
    return count
  }

  // MARK: - Resampling

  private static func resample(
    _ path: String, _ values: FlagValues, _ rules: ComparisonRules, _ console: Console
  ) throws -> ExitCode {
    for flag in [
      "executables", "duet", "turns", "budget", "baseline", "candidate", "across",
      "candidate-flags", "write", "output",
    ] {
      try values.refuse(flag, with: "resample", because: "nothing is run or written")
    }
    for flag in ["partial", "strict"] {
      try values.refuse(flag, with: "resample", because: "it tells of gates, and is none")
    }
    guard values.positional.isEmpty else {
      throw UsageError(
        "compare --resample takes one file; '\(values.positional[0])' is one too many")
    }
    let gates =
      try values.first("gates").map {
        try Units.count($0, flag: "--gates", minimum: 1, maximum: 1_000_000)
      } ?? 1_000
    let format = try values.choice("format") ?? ComparisonFormat.text
    guard [.text, .markdown, .json].contains(format) else {
      throw UsageError("compare --resample: --format is text, markdown or json")
    }
    let blocksMax = try values.first("blocks").map(blockCount)
    do {
      let blocks = try RunFigures(ofFile: try LiteralPath.path(path, of: "--resample"))
      let trials = try GateTrials(
        blocks, gates: gates, blocksMax: blocksMax, seed: try seed(values), rules: rules)
      console.printRaw(
        format == .json
          ? try encodeJSON(trials.summary) : trials.text(isMarkdown: format == .markdown))
    } catch let error as ResultsError {
      throw UsageError("compare --resample: \(error.message)")
    }
    return .success
  }

  // MARK: - Executables

  private static func compareExecutables(
    _ values: FlagValues, _ rules: ComparisonRules, in place: String, _ console: Console,
    _ interruption: any Interruption
  ) throws -> Comparison {
    for flag in ["partial", "baseline", "candidate"] {
      try values.refuse(
        flag, with: "executables", because: "the runs are made now, and have to be whole")
    }
    guard values.positional.count >= 3 else {
      throw UsageError(
        "compare --executables needs BASELINE CANDIDATE -- WORKLOAD, and the workload's flags")
    }
    try values.refuse(
      "across", with: "executables", because: "--candidate-flags says what differs")
    let plan = Array(values.positional.dropFirst(2))
    let candidateFlags = (values.first("candidate-flags") ?? "").split(separator: " ").map(
      String.init)
    let given = [
      "--output", "--overwrite", "--path", "--format", "--replicas", "--baseline",
      "--save-baseline",
      "--dry-run", "--quiet", "--help", "--keep-file",
    ]
    for flag in given
    where (plan + candidateFlags).contains(where: { $0 == flag || $0.hasPrefix(flag + "=") }) {
      throw UsageError("compare --executables: \(flag) is not for the runs it makes")
    }
    for (position, word) in plan.enumerated() {
      let isValue = position > 0 && plan[position - 1] == "--engine"
      if (isValue || word.hasPrefix("--engine=")) && word.contains(",") {
        throw UsageError("compare --executables: --engine takes one engine only")
      }
    }
    let budget = try values.first("budget").map { try Units.nanoseconds($0, flag: "--budget") }
    if let budget {
      guard budget > 0 else {
        let instead = values.has("blocks") ? "all of --blocks" : "10m"
        throw UsageError("--budget is 0; leave it out for \(instead)")
      }
      try refuseShort(budget, plan, isDuet: values.has("duet"))
    }
    let seed = try seed(values)
    let turns = try turns(values, plan + candidateFlags)
    // The candidate's own command line is checked by it; what --duet needs is checked here.
    if values.has("duet") {
      try values.refuse(
        "candidate-flags", with: "duet", because: "both sides of a duet do the same")
      let flags = try FlagValues(plan, known: RunFlags.known)
      guard let workload = flags.positional.first.flatMap(WorkloadKind.init(rawValue:)) else {
        let name = flags.positional.first ?? ""
        throw UsageError(
          name.hasSuffix(".json")
            ? "compare --duet takes no plan file: its phases may have several threads; name a workload, "
              + "such as mixed --threads 1"
            : "compare --duet: '\(name)' is no workload")
      }
      let settings = try RunFlags.settings(flags, for: workload).0
      let cores = Processors.allowedCount
      if let obstacle = PairedBlocks.obstacleToDuet(settings, cores: cores) {
        throw UsageError("compare: \(obstacle)")
      }
    }
    let blocks = try PairedBlocks(
      baseline: try LiteralPath.path(values.positional[0], of: "compare"),
      candidate: try LiteralPath.path(values.positional[1], of: "compare"), plan: plan,
      candidateFlags: candidateFlags,
      in: place, budgetNanoseconds: budget ?? usualBudget(hasCount: values.has("blocks")),
      seed: seed, rules: rules, isDuet: values.has("duet"), turnNanoseconds: turns,
      isOfOneThread: candidateFlags.isEmpty && settings(of: plan)?.threadsInAll == 1,
      count: try values.first("blocks").map(blockCount))
    return try blocks.run(interruption: interruption) { line in
      if !values.has("quiet") { console.note(line) }
    }
  }

  /// What a plan is, as far as this tool knows it.
  private static func settings(of plan: [String]) -> RunSettings? {
    guard let flags = try? FlagValues(plan, known: RunFlags.known),
      let workload = flags.positional.first.flatMap(WorkloadKind.init(rawValue:))
    else { return nil }
    return (try? RunFlags.settings(flags, for: workload))?.0
  }

  /// How long the turns of `--turns` are, in nanoseconds.
  private static func turns(_ values: FlagValues, _ plan: [String]) throws(UsageError) -> UInt64? {
    guard let text = values.first("turns") else { return nil }
    try values.refuse("duet", with: "turns", because: "a duet has a core for each side")
    if let obstacle = PairedBlocks.obstacleToTurns(plan) {
      throw UsageError("compare: \(obstacle)")
    }
    let turns = try Units.nanoseconds(text, flag: "--turns")
    guard (1_000_000...1_000_000_000).contains(turns) else {
      throw UsageError("--turns is from 1ms to 1s, not \(text)")
    }
    return turns
  }

  /// How long blocks are run where nobody has said it: a number of them takes what it takes.
  package static func usualBudget(hasCount: Bool) -> UInt64 { hasCount ? .max : 600_000_000_000 }

  /// Refuses a budget in which not even one block can end.
  ///
  /// A plan that this tool does not know, or that ends by its operations, may take any time.
  private static func refuseShort(
    _ budget: UInt64, _ plan: [String], isDuet: Bool
  ) throws(UsageError) {
    guard let settings = settings(of: plan) else { return }
    let warmup = settings.warmupOperations == nil ? settings.warmupNanoseconds : 0
    let measured = settings.operationsOfPhase == nil ? settings.durationNanoseconds : 0
    let block = (warmup + measured) * (isDuet ? 1 : 2)
    guard budget < block else { return }
    throw UsageError(
      "--budget \(Units.text(nanoseconds: budget)) is less than one block, a run of each side, takes: "
        + "\(Units.text(nanoseconds: block)); nothing is decided in less than "
        + "\(PairedJudge.blocksMin) blocks, so give at least "
        + "\(PairedBlocks.budget(forBlocksOf: block, count: PairedJudge.blocksMin)), or make the "
        + "runs shorter by --duration")
  }
}
