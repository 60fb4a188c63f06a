// Flags that other benchmarks have: the few that can mean one thing only are taken, the others are
// answered with what does it here.

/// What users of other tools try first.
enum ForeignFlags {
  /// Short for flags of this tool, where a verb has them.
  private static let short: [String: [String]] = [
    "-h": ["--help"], "-?": ["--help"], "-q": ["--quiet"], "--silent": ["--quiet"],
    "-o": ["--output"], "--json": ["--format", "json"], "--markdown": ["--format", "markdown"],
    "--no-color": ["--color", "never"], "--no-colour": ["--color", "never"],
    "--nocolor": ["--color", "never"],
  ]

  /// The arguments with those that are short for others written out; what follows `--` is left.
  static func writtenOut(_ arguments: [String], known: Set<String>) -> [String] {
    guard let end = arguments.firstIndex(of: "--") else {
      return arguments.flatMap { written($0, known) }
    }
    return arguments[..<end].flatMap { written($0, known) } + arguments[end...]
  }

  private static func written(_ word: String, _ known: Set<String>) -> [String] {
    let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
    guard let first = parts.first, let flag = short[first],
      !known.contains(String(first.drop { $0 == "-" })),
      known.contains(String(flag[0].dropFirst(2)))
    else { return [word] }
    if parts.count == 1 { return flag }
    // Of a short form with a value of its own there is only one that has none already.
    return flag.count == 1 ? [flag[0] + "=" + parts[1]] : [word]
  }

  /// Flags of this tool that do the same, the nearest first; or a sentence.
  private enum Answer {
    case flags([String])
    case words(String)
  }

  private static let threads = Answer.flags([
    "threads", "readers", "writers", "queues", "observers", "processes",
  ])
  private static let count = Answer.flags(["ops", "objects"])
  private static let time = Answer.flags(["duration", "budget"])
  private static let files = Answer.words(
    "each run writes CSV files to its results folder, which --output names")
  private static let more = Answer.words(
    "there is no more to say; --quiet says less, and the results folder has every figure")

  /// By name, without hyphens.
  private static let answers: [String: Answer] = {
    var answers: [String: Answer] = [:]
    func add(_ names: String, _ answer: Answer) {
      for name in names.split(separator: " ") { answers[String(name)] = answer }
    }
    add(
      "c client clients connections concurrency jobs j numjobs num-threads threadcount thread-count "
        + "workers parallel P T u users vus", threads)
    add(
      "n N num number count iterations iters loops operations operationcount num-ops requests events "
        + "transactions max-ops", count)
    add(
      "time runtime run-time seconds secs d maxexecutiontime measurement-time length timelimit "
        + "time-limit", time)
    add(
      "t",
      .words(
        "threads are --threads, or --readers and --writers; time is --duration, and a number of "
          + "operations --ops"))
    add("s scale size recordcount records rows table-size table_size items", .flags(["objects"]))
    add(
      "runs run repeat repeats repetitions trials samples sample-size min-runs max-runs r",
      .flags(["replicas", "repetitions"]))
    add("cpus cpu cpu-list cores affinity taskset cpuset", .flags(["processors"]))
    add("rps qps tps R iops rate_iops target target-rate throughput", .flags(["rate"]))
    add("reads-per-second read-qps", .flags(["read-rate"]))
    add(
      "fieldlength field-length value_size bs blocksize payload bytes", .flags(["value-size"]))
    add(
      "warm-up warmup-time warm-up-time warmup-runs warmup_time ramp_time ramp-time w",
      .flags(["warmup"]))
    add("file filename f db database dir directory", .flags(["path"]))
    add("out results output-dir outdir log logdir", .flags(["output"]))
    add("csv export-csv", files)
    add("json markdown output-format export-json export-markdown", .flags(["format", "output"]))
    add("v vv verbose debug D", more)
    add("q quiet silent", .words("it says nothing beside its result"))
    add("V version", .words("the version is shown by '\(Tool.current.name) --version'"))
    add(
      "distribution requestdistribution request-distribution dist random-distribution",
      .flags(["read-keys"]))
    add("sync fsync flush", .flags(["durability"]))
    add("rand-seed random-seed randseed", .flags(["seed"]))
    add("report-interval status-interval reporting-interval progress i", .flags(["interval"]))
    add("workload bench benchmark", .words("the workload is the word after 'run'"))
    add("proportions weights", .flags(["mix"]))
    add("save baseline-save", .flags(["save-baseline"]))
    add("load-baseline compare", .flags(["baseline"]))
    add("latency histogram percentiles", .words("percentiles are always shown and kept"))
    add("force y", .flags(["overwrite"]))
    add("keep no-cleanup", .flags(["keep-file"]))
    return answers
  }()

  /// What does it here, for a verb that knows these flags; nil where nothing is known of it.
  ///
  /// - Parameter used: those of them that mean something to the workload, where one is known.
  static func answer(_ name: String, known: Set<String>, used: Set<String>?) -> String? {
    switch answers[name] {
    case nil: return nil
    case .words(let words): return words
    case .flags(let flags):
      let ours = flags.filter { (used ?? known).contains($0) }
      guard let first = ours.first else { return nil }
      // The first does it, except where threads are of several kinds.
      let isOfThreads = first == "readers" || first == "writers"
      let shown = isOfThreads ? ours.filter { $0 == "readers" || $0 == "writers" } : [first]
      return "here it is " + list(shown)
    }
  }

  // MARK: - Of other workloads

  /// Flags that do in other workloads what this one does in some.
  private static let kinds: [[String]] = [
    ["threads", "readers", "writers", "queues", "observers"],
    ["duration", "ops", "objects"],
    ["rate", "read-rate"],
    ["batch", "group", "mix"],
    ["read-keys", "mix"],
  ]

  /// The flags of a workload that come next to one that it does not have, in words.
  static func substitute(_ name: String, used: Set<String>) -> String? {
    let near = kinds.first { $0.contains(name) }?.filter { used.contains($0) && $0 != name } ?? []
    return near.isEmpty ? nil : list(near)
  }

  private static func list(_ flags: [String]) -> String {
    let names = flags.map { "--" + $0 }
    return names.count < 2
      ? names.joined() : names.dropLast().joined(separator: ", ") + " and " + names[names.count - 1]
  }
}
