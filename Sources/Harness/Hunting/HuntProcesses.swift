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
    var processes: [StartedProcess] = []
    do {
      for number in 1...settings.processes {
        processes.append(
          try StartedProcess(
            ForbiddenUse.ownExecutable, arguments(number),
            environment: Parent.environmentOfChild))
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
      guard case .code(let code)? = process.end else { return ExitCode.failed }
      return ExitCode(rawValue: code) ?? .failed
    }
    let place = isInterrupted ? folder.path : folder.destination
    if isInterrupted {
      console.print("\(settings.processes) shards in \(place)")
      return .interrupted
    }
    // Who is killed says nothing by itself.
    var lost = 0
    for (number, process) in zip(1..., processes) {
      guard case .signal(let signal)? = process.end else { continue }
      lost += 1
      console.note(
        "error: shard \(number) of \(settings.processes) was ended by signal \(signal): what it had "
          + "explored is not counted; what there is of it is in "
          + "\(place)/\(Shard.folderName(number))")
    }
    console.print(
      lost == 0
        ? "\(settings.processes) shards in \(place)"
        : "\(settings.processes - lost) of \(settings.processes) shards in \(place), the others were "
          + "ended by signals")
    // The shards have named the places that they leave now.
    for (number, code) in zip(1..., codes) where folder.replaces && code == .invariantViolated {
      let place = "\(folder.destination)/\(Shard.folderName(number))"
      console.print("\(Tool.current.invocation) replay \(LiteralPath.quoted(place))")
    }
    return codes.first { $0 == .invariantViolated } ?? codes.first { $0 != .success } ?? .success
  }

  /// Ends the shards that run: they may keep what they have found, for at most five seconds.
  private static func end(_ processes: [StartedProcess]) {
    for process in processes { process.send(SIGTERM) }
    for _ in 0..<50 where processes.contains(where: \.isRunning) { usleep(100_000) }
    for process in processes { process.stop() }
  }

  private func shard(_ number: Int) -> String {
    "\(folder.path)/\(Shard.folderName(number))"
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
