// `hunt --processes N`: the shards of a hunt, each a process of its own with a folder below.
internal import Foundation
internal import Glibc
internal import Platform

/// Runs the shards of a hunt side by side.
struct HuntProcesses {
  private let settings: HuntSettings
  private let folder: ResultsFolder

  init(_ settings: HuntSettings, _ folder: ResultsFolder) {
    self.settings = settings
    self.folder = folder
  }

  func run(_ console: Console, _ interruption: any Interruption) throws -> ExitCode {
    var processes: [Process] = []
    do {
      for number in 1...settings.processes {
        try ProcessStart.check(toStart: ForbiddenUse.ownExecutable)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: ForbiddenUse.ownExecutable)
        process.arguments = arguments(number)
        process.environment = Parent.environmentOfChild
        try process.start()
        processes.append(process)
      }
    } catch {
      Self.end(processes)
      throw error
    }
    var isInterrupted = false
    while !isInterrupted, processes.contains(where: \.isRunning) {
      isInterrupted = interruption.isRequested()
      usleep(100_000)
    }
    if isInterrupted { Self.end(processes) }
    try joinTables()
    let codes = processes.map { process in
      process.terminationReason == .exit
        ? ExitCode(rawValue: process.terminationStatus) ?? .failed : .failed
    }
    let place = isInterrupted ? folder.path : folder.destination
    if isInterrupted {
      console.print("\(settings.processes) shards in \(place)")
      return .interrupted
    }
    // Who is killed says nothing by itself.
    let killed = processes.map { $0.terminationReason == .uncaughtSignal }
    for (number, process) in zip(1..., processes) where killed[number - 1] {
      console.note(
        "error: shard \(number) of \(settings.processes) was ended by signal "
          + "\(process.terminationStatus): what it had explored is not counted; what there is of it is "
          + "in \(place)/\(name(number))")
    }
    let lost = killed.count { $0 }
    console.print(
      lost == 0
        ? "\(settings.processes) shards in \(place)"
        : "\(settings.processes - lost) of \(settings.processes) shards in \(place), the others were "
          + "ended by signals")
    // The shards have named the places that they leave now.
    for (number, code) in zip(1..., codes) where folder.replaces && code == .invariantViolated {
      let place = "\(folder.destination)/\(name(number))"
      console.print("\(Tool.current.invocation) replay \(LiteralPath.quoted(place))")
    }
    return codes.first { $0 == .invariantViolated } ?? codes.first { $0 != .success } ?? .success
  }

  /// Ends the shards that run: they may keep what they have found, for at most five seconds.
  private static func end(_ processes: [Process]) {
    for process in processes where process.isRunning { process.terminate() }
    for _ in 0..<50 where processes.contains(where: \.isRunning) { usleep(100_000) }
    for process in processes where process.isRunning {
      kill(process.processIdentifier, SIGKILL)
    }
    for process in processes { process.waitUntilExit() }
  }

  private func name(_ number: Int) -> String { "shard-" + String(format: "%03d", number) }

  private func shard(_ number: Int) -> String {
    "\(folder.path)/\(name(number))"
  }

  private func arguments(_ number: Int) -> [String] {
    var words = [
      "hunt", "--shard", "\(number)/\(settings.processes)", "--seed", "\(settings.seed)",
      "--strategy", settings.strategy.description, "--output", shard(number), "--no-progress",
    ]
    if let time = settings.nanoseconds { words += ["--duration", Units.text(nanoseconds: time)] }
    if let scenario = settings.scenario { words += ["--scenario", scenario] }
    if settings.choices.isQuiet { words.append("--quiet") }
    return words
  }

  /// The rows of all shards, one after the other.
  private func joinTables() throws {
    var joined = CSVTable(columns: HuntRun.columns)
    for number in 1...settings.processes {
      guard let text = textOfFile(shard(number) + "/hunt.csv"), let rows = CSVTable.parse(text)
      else { continue }
      for row in rows.dropFirst() where row.count == joined.columns.count {
        joined.append(row.map { $0.isEmpty ? nil : $0 })
      }
    }
    try folder.write(joined.text, to: "hunt.csv")
  }
}
