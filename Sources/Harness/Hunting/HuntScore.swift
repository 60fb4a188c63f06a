// `hunt --bugs`: how soon each known bug is found, by machine threads and by each strategy. Bugs of
// the engine, and all by machine threads, are looked for by hunts in processes of their own, since
// what they break may end one: a real Mutex, for example, stops a process at a deadlock.
internal import Foundation
internal import Platform
internal import RaceHunt

/// Measures the way to each bug.
struct HuntScore {
  private let settings: HuntSettings
  private let folder: ResultsFolder
  private let console: Console
  private let strategies: [HuntStrategy] = [
    .machine, .explored(.randomWalk), .explored(.pct(depth: 3)), .explored(.portfolio),
  ]
  /// A strategy's figures are the medians over so many seeds.
  private static let seeds: UInt64 = 5

  /// The way to a bug.
  private struct Way {
    /// Nil where a crash has taken the count with it.
    var schedules: Int?
    var seconds: Double
    var isFound: Bool

    /// The last place is for what was not found.
    var order: (Int, Double) { (isFound ? 0 : 1, seconds) }
  }

  /// A bug, and what finds it.
  private struct Bug {
    let name: String
    let way: (HuntStrategy, UInt64) throws -> Way
  }

  static let columns = [
    "schema_version", "run_id", "bug", "strategy", "found", "schedules", "elapsed_s", "shard",
  ]

  init(_ settings: HuntSettings, _ folder: ResultsFolder, _ console: Console) {
    self.settings = settings
    self.folder = folder
    self.console = console
  }

  /// Most time for a bug and a strategy.
  ///
  /// The score is that of the machine's threads and of the portfolio; the strategies which that is
  /// made of get a third, as most of an hour went there.
  private func limit(_ strategy: HuntStrategy) -> UInt64 {
    let limit = settings.nanoseconds ?? 2_000_000_000
    return strategy == .machine || strategy == .explored(.portfolio) ? limit : limit / 3
  }

  /// Those of the shard.
  private func bugs(_ interruption: any Interruption) -> [Bug] {
    let all =
      HuntProgram.broken.map { program in
        Bug(name: program.name) { strategy, seed in
          guard case .explored(let explored) = strategy else {
            return try way(inProcess: program.name, strategy, seed, interruption)
          }
          return way(to: program, explored, seed)
        }
      }
      + EngineBug.all.map { bug in
        Bug(name: bug.title) { strategy, seed in
          try way(
            inProcess: bug.program, strategy, seed, interruption,
            environment: ["REALM_PLANTED_BUG": bug.name])
        }
      }
    let shard = settings.shard
    return stride(from: shard.number - 1, to: all.count, by: shard.count).map { all[$0] }
  }

  func run(_ interruption: any Interruption) throws -> ExitCode {
    var table = CSVTable(columns: Self.columns)
    var lines = [
      "| bug | " + strategies.map(\.description).joined(separator: " | ") + " |",
      "|---|" + strategies.map { _ in "---|" }.joined(),
    ]
    var missed: [String] = []
    var measured = 0
    let bugs = bugs(interruption)
    let progress = ProgressLine(console, settings.choices)
    for (position, bug) in bugs.enumerated() {
      progress.show("bugs", fraction: Double(position) / Double(bugs.count), bug.name)
      var cells: [String] = []
      for strategy in strategies {
        if interruption.isRequested() { break }
        let way = try way(to: bug, strategy, interruption)
        table.append([
          "\(ResultSchema.version)", folder.runID, bug.name, strategy.description,
          way.isFound ? "true" : "false", way.schedules.map { "\($0)" },
          decimal(way.seconds, places: 4), settings.shard.text,
        ])
        cells.append(Self.text(way))
        if strategy == .explored(.portfolio) && !way.isFound { missed.append(bug.name) }
      }
      // Not a bug that was looked for half the time.
      if interruption.isRequested() { break }
      lines.append("| `\(bug.name)` | " + cells.joined(separator: " | ") + " |")
      measured += 1
      // An hour's work is not lost with the process.
      try folder.write(table.text, to: "bugs.csv")
    }
    progress.clear()
    var text = lines.joined(separator: "\n") + "\n"
    let isWhole = measured == bugs.count
    if !isWhole {
      text += "\nInterrupted: \(measured) of \(bugs.count) bugs were looked for.\n"
    }
    // Shown before it is written: on a full disk it is not lost.
    console.printRaw(text)
    try folder.write(table.text, to: "bugs.csv")
    try folder.write(text, to: "bugs.md")
    if !isWhole {
      console.note("interrupted; what was seen until then is in \(folder.path)")
      return .interrupted
    }
    console.print(
      missed.isEmpty
        ? "all \(bugs.count) bugs are found by the portfolio: \(folder.destination)"
        : "not found: \(missed.joined(separator: ", ")); \(folder.destination)")
    return missed.isEmpty ? .success : .invariantViolated
  }

  private static func text(_ way: Way) -> String {
    let seconds = "\(decimal(way.seconds, places: way.seconds < 0.1 ? 4 : 2)) s"
    let figures = way.schedules.map { "\(grouped($0)), \(seconds)" } ?? seconds
    return way.isFound ? figures : "not in \(figures)"
  }

  /// The median over the seeds; threads of the machine have none.
  private func way(
    to bug: Bug, _ strategy: HuntStrategy, _ interruption: any Interruption
  ) throws -> Way {
    guard case .explored = strategy else { return try bug.way(strategy, settings.seed) }
    var ways: [Way] = []
    for seed in 0..<Self.seeds where ways.isEmpty || !interruption.isRequested() {
      ways.append(try bug.way(strategy, settings.seed &+ seed))
      // The median is not found, whatever the others come to.
      if 2 * ways.count(where: { !$0.isFound }) > Self.seeds { break }
    }
    ways.sort { $0.order < $1.order }
    return ways[ways.count / 2]
  }

  private func way(to program: HuntProgram, _ strategy: Strategy, _ seed: UInt64) -> Way {
    var explored = Explorer.Settings()
    explored.iterations = .max
    explored.strategy = strategy
    explored.seed = seed
    explored.deadline = MonotonicClock().nanoseconds() + limit(.explored(strategy))
    explored.shrinks = false
    do throws(RaceFailure) {
      let result = try Explorer(program.program, explored).explore()
      return Way(schedules: result.schedules, seconds: result.seconds, isFound: false)
    } catch {
      return Way(
        schedules: error.schedules ?? 0, seconds: error.seconds ?? 0,
        isFound: error.kind != .notReproducible && error.kind != .hang)
    }
  }

  /// A hunt of one program in a process of its own.
  private func way(
    inProcess program: String, _ strategy: HuntStrategy, _ seed: UInt64,
    _ interruption: any Interruption, environment: [String: String] = [:]
  ) throws -> Way {
    let path = folder.path + "/hunt"
    let start = MonotonicClock().nanoseconds()
    let child = try ChildProcess(
      ForbiddenUse.ownExecutable,
      [
        "hunt", "--scenario", program, "--strategy", strategy.description, "--seed", "\(seed)",
        "--duration", Units.text(nanoseconds: limit(strategy)), "--output", path, "--quiet",
        "--no-progress",
      ],
      isSilent: true,
      environment: environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { given, _ in given })
    let ending = child.wait(interruption)
    let seconds = Double(MonotonicClock().nanoseconds() - start) / 1e9
    let rows = textOfFile(path + "/hunt.csv").flatMap { CSVTable.parse($0) } ?? []
    try? FileManager.default.removeItem(atPath: path)
    let position = { (name: String) in HuntRun.columns.firstIndex(of: name) ?? 0 }
    guard rows.count == 2, ending.code == .invariantViolated || ending.code == .success else {
      // Threads of the machine that crash take all with them.
      return Way(schedules: nil, seconds: seconds, isFound: ending.signal != nil)
    }
    return Way(
      schedules: Int(rows[1][position("schedules")]),
      seconds: Double(rows[1][position("elapsed_s")]) ?? seconds,
      isFound: ending.code == .invariantViolated)
  }
}
