// `hunt --bugs`: how soon each known bug is found, by machine threads and by each strategy.
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

  /// The way to a bug; nil without one in the time.
  private struct Way {
    var schedules: Int
    var seconds: Double
    var isFound: Bool
  }

  static let columns = [
    "schema_version", "run_id", "bug", "strategy", "found", "schedules", "elapsed_s",
  ]

  init(_ settings: HuntSettings, _ folder: ResultsFolder, _ console: Console) {
    self.settings = settings
    self.folder = folder
    self.console = console
  }

  /// Most time for a bug and a strategy.
  private var limit: UInt64 { settings.nanoseconds ?? 2_000_000_000 }

  func run(_ interruption: any Interruption) throws -> ExitCode {
    var table = CSVTable(columns: Self.columns)
    var lines = [
      "| bug | " + strategies.map(\.description).joined(separator: " | ") + " |",
      "|---|" + strategies.map { _ in "---|" }.joined(),
    ]
    var missed: [String] = []
    var measured = 0
    let progress = ProgressLine(console, settings.choices)
    for (position, program) in HuntProgram.broken.enumerated() {
      if interruption.isRequested() { break }
      progress.show(
        "bugs", fraction: Double(position) / Double(HuntProgram.broken.count), program.name)
      var cells: [String] = []
      for strategy in strategies {
        let way = way(to: program, strategy)
        table.append([
          "\(ResultSchema.version)", folder.runID, program.name, strategy.description,
          way.isFound ? "true" : "false", "\(way.schedules)", decimal(way.seconds, places: 4),
        ])
        let figures =
          "\(grouped(way.schedules)), \(decimal(way.seconds, places: way.seconds < 0.1 ? 4 : 2)) s"
        cells.append(way.isFound ? figures : "not in \(figures)")
        if strategy == .explored(.portfolio) && !way.isFound { missed.append(program.name) }
      }
      lines.append("| `\(program.name)` | " + cells.joined(separator: " | ") + " |")
      measured += 1
    }
    progress.clear()
    var text = lines.joined(separator: "\n") + "\n"
    let isWhole = measured == HuntProgram.broken.count
    if !isWhole {
      text += "\nInterrupted: \(measured) of \(HuntProgram.broken.count) bugs were looked for.\n"
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
        ? "all \(HuntProgram.broken.count) bugs are found by the portfolio: \(folder.destination)"
        : "not found: \(missed.joined(separator: ", ")); \(folder.destination)")
    return missed.isEmpty ? .success : .invariantViolated
  }

  private func way(to program: HuntProgram, _ strategy: HuntStrategy) -> Way {
    guard case .explored(let strategy) = strategy else {
      let result = Stress.run(program.program, nanoseconds: limit)
      return Way(
        schedules: result.runs, seconds: result.seconds, isFound: result.failure != nil)
    }
    let ways = (0..<Self.seeds).map { seed in
      var explored = Explorer.Settings()
      explored.iterations = .max
      explored.strategy = strategy
      explored.seed = settings.seed &+ seed
      explored.deadline = MonotonicClock().nanoseconds() + limit
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
    let sorted = ways.sorted {
      ($0.isFound ? 0 : 1, $0.schedules) < ($1.isFound ? 0 : 1, $1.schedules)
    }
    return sorted[sorted.count / 2]
  }
}
