// One hunt in this process: a slice of time for each program in turn.
internal import Foundation
internal import Glibc
internal import Platform
internal import RaceHunt

/// What has been seen of a program.
struct HuntCount {
  var schedules = 0
  var distinct = 0
  var points = 0
  var switches = 0
  var seconds = 0.0

  mutating func add(_ result: Exploration) {
    schedules += result.schedules
    distinct += result.distinct
    points += result.points
    switches += result.switches
    seconds += result.seconds
  }
}

/// Explores programs in turn.
final class HuntRun {
  private let settings: HuntSettings
  private let folder: ResultsFolder
  private let console: Console
  /// Tells the end of a hunt that a crash ends, which returns to nobody.
  private let tell: (ExitCode) -> Void
  private let progress: ProgressLine
  private let clock = MonotonicClock()
  private let programs: [HuntProgram]
  private let nanoseconds: UInt64
  private var counts: [HuntCount]
  private var isExhausted: [Bool]
  private var samples = CSVTable(columns: HuntRun.sampleColumns)
  private var nextSample: UInt64 = 0

  static let columns = [
    "schema_version", "run_id", "shard", "scenario", "strategy", "seed", "schedules", "distinct",
    "points", "switches", "elapsed_s", "rate_per_s", "failure", "schedule",
  ]
  /// Of the whole hunt as time goes on: whether its memory grows.
  static let sampleColumns = [
    "schema_version", "run_id", "shard", "elapsed_s", "schedules", "resident_bytes",
  ]

  init(
    _ settings: HuntSettings, _ folder: ResultsFolder, _ console: Console,
    tell: @escaping (ExitCode) -> Void
  ) {
    self.tell = tell
    self.settings = settings
    self.folder = folder
    self.console = console
    progress = ProgressLine(console, settings.choices)
    programs =
      settings.scenario.map { [HuntProgram.named($0)!] }
      ?? HuntProgram.sound(for: settings.strategy)
    nanoseconds =
      settings.nanoseconds ?? (settings.scenario == nil ? 120_000_000_000 : 60_000_000_000)
    counts = programs.map { _ in HuntCount() }
    isExhausted = programs.map { _ in false }
  }

  func run(_ interruption: any Interruption) throws -> ExitCode {
    if let fault = canary() { return fault }
    let start = clock.nanoseconds()
    let end = start + nanoseconds
    var round: UInt64 = 0
    while clock.nanoseconds() < end && isExhausted.contains(false) {
      for (position, program) in programs.enumerated() where !isExhausted[position] {
        let now = clock.nanoseconds()
        if now >= end { break }
        if interruption.isRequested() {
          try write(failure: nil)
          console.note("interrupted; what was seen until then is in \(folder.path)")
          return .interrupted
        }
        show(Double(now - start) / Double(nanoseconds), left: programs.count - position - 1)
        sample(now - start)
        let seed = seed(round)
        let slice = min(max((end - now) / UInt64(programs.count) / 4, 50_000_000), end - now)
        if let failure = explore(position, seed, now + slice, interruption) {
          progress.clear()
          return try report(failure, program, seed)
        }
      }
      round += 1
    }
    progress.clear()
    if let fault = canary() { return fault }
    nextSample = 0
    sample(clock.nanoseconds() - start)
    try write(failure: nil)
    let total = total
    console.print(
      "nothing found: \(grouped(total.schedules)) schedules (\(grouped(total.distinct)) distinct) of "
        + "\(programs.count) programs, \(grouped(rate(total)))/s, "
        + "\(decimal(Double(total.switches) / Double(max(total.schedules, 1)), places: 1)) switches a "
        + "schedule; \(folder.destination)")
    return .success
  }

  /// Different in each slice and shard.
  private func seed(_ round: UInt64) -> UInt64 {
    settings.seed &+ (round &* UInt64(settings.shard.count) &+ UInt64(settings.shard.number - 1))
      &* 1_000_003
  }

  private func explore(
    _ position: Int, _ seed: UInt64, _ deadline: UInt64, _ interruption: any Interruption
  ) -> RaceFailure? {
    guard case .explored(let strategy) = settings.strategy else {
      return runFreely(position, deadline, interruption)
    }
    handleCrashes(position, seed)
    defer { Crash.handle(nil) }
    programs[position].prepare()
    var explored = Explorer.Settings()
    explored.iterations = .max
    explored.steps = programs[position].steps
    explored.strategy = strategy
    explored.seed = seed
    explored.deadline = deadline
    explored.shrinksProgram = true
    explored.isInterrupted = { interruption.isRequested() }
    do throws(RaceFailure) {
      let result = try Explorer(programs[position].program, explored).explore()
      counts[position].add(result)
      if result.isExhaustive { isExhausted[position] = true }
      return nil
    } catch {
      counts[position].schedules += error.schedules ?? 0
      counts[position].seconds += error.seconds ?? 0
      return error
    }
  }

  /// A crash is kept like any other failure, and ends the hunt.
  private func handleCrashes(_ position: Int, _ seed: UInt64) {
    let program = programs[position]
    let start = clock.nanoseconds()
    // Sound: the thread of the hunt waits for the exploration in which the crash is, and the
    // process ends here.
    nonisolated(unsafe) let hunt = self
    Crash.handle { failure in
      var failure = failure
      failure.seconds = Double(hunt.clock.nanoseconds() - start) / 1e9
      hunt.counts[position].schedules += failure.schedules ?? 0
      hunt.counts[position].seconds += failure.seconds ?? 0
      hunt.progress.clear()
      let code = try? hunt.report(failure, program, seed)
      let isKept = code == .invariantViolated
      hunt.tell(code ?? .failed)
      let end = hunt.folder.end(isComplete: isKept, otherwise: code ?? .failed, hunt.console)
      fflush(nil)
      _exit(end.rawValue)
    }
  }

  private func runFreely(
    _ position: Int, _ deadline: UInt64, _ interruption: any Interruption
  ) -> RaceFailure? {
    let now = clock.nanoseconds()
    let result = Stress.run(
      programs[position].program, nanoseconds: deadline > now ? deadline - now : 0,
      isInterrupted: interruption.isRequested)
    counts[position].schedules += result.runs
    counts[position].seconds += result.seconds
    return result.failure.map {
      RaceFailure(unscheduled: $0, schedules: result.runs, seconds: result.seconds)
    }
  }

  /// A known bug has to be found, or nothing that is said is worth anything.
  private func canary() -> ExitCode? {
    guard case .explored(let strategy) = settings.strategy else { return nil }
    var explored = Explorer.Settings()
    explored.iterations = 10_000
    explored.strategy = strategy
    explored.seed = settings.seed
    let canary = HuntProgram.named("lost-update")!
    do throws(RaceFailure) {
      _ = try Explorer(canary.program, explored).explore()
    } catch {
      if error.kind == .check { return nil }
      if let code = giveUp(error) { return code }
    }
    progress.clear()
    console.note("internal error: the known bug of 'lost-update' is not found")
    return .internalError
  }

  // MARK: - What comes out

  private var total: HuntCount {
    counts.reduce(into: HuntCount()) { total, count in
      total.schedules += count.schedules
      total.distinct += count.distinct
      total.points += count.points
      total.switches += count.switches
      total.seconds += count.seconds
    }
  }

  private func rate(_ count: HuntCount) -> Int {
    count.seconds > 0 ? Int(Double(count.schedules) / count.seconds) : 0
  }

  /// Notes what memory the process has, once a second and at most some hundred times.
  private func sample(_ elapsed: UInt64) {
    if elapsed < nextSample { return }
    nextSample = elapsed + max(nanoseconds / 500, 1_000_000_000)
    let resident = residentBytes()
    samples.append([
      "\(ResultSchema.version)", folder.runID,
      settings.shard.text, decimal(Double(elapsed) / 1e9, places: 3),
      "\(total.schedules)", resident == 0 ? nil : "\(resident)",
    ])
  }

  private func show(_ fraction: Double, left: Int) {
    let total = total
    progress.show(
      "hunting", fraction: fraction,
      "\(grouped(total.schedules)) schedules, \(grouped(total.distinct)) distinct, "
        + "\(grouped(rate(total)))/s, \(left) programs left in this round")
  }

  /// The end of a hunt that cannot go on, which is no failure of a program.
  private func giveUp(_ failure: RaceFailure) -> ExitCode? {
    guard failure.kind == .noThread else { return nil }
    progress.clear()
    console.note("error: \(failure.reason)")
    return .failed
  }

  /// Prints and keeps a failure.
  private func report(
    _ failure: RaceFailure, _ program: HuntProgram, _ seed: UInt64
  ) throws -> ExitCode {
    if let code = giveUp(failure) {
      try write(failure: nil)
      return code
    }
    let bundle = HuntBundle(failure, of: program, strategy: settings.strategy, seed: seed)
    // Shown before it is written: on a full disk it is not lost.
    console.print(program.name + ": " + failure.reason)
    let table = failure.kind == .crash ? failure.table : SourceLines.named(in: failure.table)
    if !table.isEmpty { console.printRaw("\n" + table) }
    console.print("")
    console.print(
      "seed \(seed), schedule \(failure.schedule.isEmpty ? "none" : failure.schedule), found by "
        + "\(settings.strategy) after \(grouped(failure.schedules ?? 0)) schedules, "
        + "\(decimal(failure.seconds ?? 0, places: 3)) s")
    try bundle.write(to: folder, failure, table: table)
    try write(failure: (program, failure))
    if bundle.isToBeKept(of: program) { keep(bundle) }
    if !failure.schedule.isEmpty {
      console.print("\(Tool.current.invocation) replay \(LiteralPath.quoted(folder.destination))")
    }
    console.print(folder.destination)
    return failure.kind == .notReproducible || failure.kind == .hang
      ? .internalError : .invariantViolated
  }

  /// Adds it to those that `--replay-corpus` repeats; the results are elsewhere, and whole.
  private func keep(_ bundle: HuntBundle) {
    do { try bundle.keep() } catch {
      console.note("warning: not kept in '\(HuntBundle.corpus)': \(error.explanation)")
    }
  }

  private func write(failure: (program: HuntProgram, failure: RaceFailure)?) throws {
    var table = CSVTable(columns: Self.columns)
    for (program, count) in zip(programs, counts) {
      let failed = failure?.program.name == program.name ? failure?.failure : nil
      table.append([
        "\(ResultSchema.version)", folder.runID,
        settings.shard.text, program.name,
        settings.strategy.description, "\(settings.seed)", "\(count.schedules)",
        count.distinct > 0 ? "\(count.distinct)" : nil, count.points > 0 ? "\(count.points)" : nil,
        count.switches > 0 ? "\(count.switches)" : nil, decimal(count.seconds, places: 3),
        count.seconds > 0 ? decimal(Double(count.schedules) / count.seconds, places: 1) : nil,
        failed?.reason, failed?.schedule,
      ])
    }
    try folder.write(table.text, to: "hunt.csv")
    try folder.write(samples.text, to: "hunt-samples.csv")
  }
}
