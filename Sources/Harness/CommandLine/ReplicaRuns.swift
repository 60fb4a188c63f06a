// `run --replicas N` and `run --engine LIST`: the same run in processes of their own, one after the
// other, the engines by turns, each with a folder below the results folder, and one summary.csv of
// them all.
internal import Foundation

/// Runs the replicas of one plan.
struct ReplicaRuns {
  private let arguments: [String]
  private let settings: RunSettings
  private let progress: OutputChoices
  private let folder: ResultsFolder

  /// - Parameter arguments: those of `run`, as given.
  init(
    _ arguments: [String], settings: RunSettings, choices: OutputChoices, folder: ResultsFolder
  ) {
    self.arguments = arguments
    self.settings = settings
    progress = choices
    self.folder = folder
  }

  func run(_ console: Console, interruption: () -> any Interruption) throws -> ExitCode {
    let interruption = interruption()
    console.keeps(folder.path)
    var worst = ExitCode.success
    var summary = CSVTable(columns: ResultSchema.summaryColumns)
    var whole = 0
    for part in parts {
      if !progress.isQuiet { console.note(part.words) }
      let output = folder.path + "/" + part.folder
      let code: ExitCode
      do {
        let ending = try runOne(part, to: output, interruption)
        if let signal = ending.signal, ending.code == .failed {
          console.note(
            "error: \(part.words) was ended by signal \(signal): \(whole) of \(parts.count) runs are "
              + "whole, in \(folder.path); what there is of this one is in \(output), and not in "
              + "summary.csv; no other was begun")
          return .failed
        }
        code = ending.code
      } catch let failure as ExecutableFailure {
        console.note("error: \(failure.message)")
        return failure.code
      }
      if code == .interrupted {
        console.note(
          "interrupted: \(whole) of \(parts.count) runs are whole, in "
            + "\(folder.path); what there is of another one is in \(output), and not in summary.csv"
        )
        return .interrupted
      }
      whole += 1
      if let text = textOfFile(output + "/summary.csv"), let rows = CSVTable.parse(text) {
        for row in rows.dropFirst() where row.count == summary.columns.count {
          var cells: [String?] = row.map { $0.isEmpty ? nil : $0 }
          cells[2] = String(part.replica)
          summary.append(cells)
        }
        try folder.write(summary.text, to: "summary.csv")
      }
      if code == .thresholdMissed || worst == .success { worst = code }
      // It ends the runs, so it is what they end with, whatever those before have missed.
      if ![.success, .inconclusive, .thresholdMissed].contains(code) { return code }
      if interruption.isRequested() { return .interrupted }
    }
    // One document, where each run of its own would print another.
    if settings.engines.count > 1 || settings.format == .json {
      let table = EngineTable(try MeasuredRun.all(in: folder.path))
      console.printRaw(try table.render(settings, source: folder.path, folder: folder.destination))
    } else {
      console.print("\(settings.replicas) replicas in \(folder.destination)")
    }
    return worst
  }

  private struct Part {
    let replica: Int
    /// Nil where there is one engine only.
    let engine: String?
    let words: String

    var folder: String {
      "replica-" + String(format: "%03d", replica) + (engine.map { "-" + $0 } ?? "")
    }
  }

  /// In the order in which they run: the engines by turns.
  private var parts: [Part] {
    (1...settings.replicas).flatMap { replica in
      let words = "replica \(replica) of \(settings.replicas)"
      if settings.engines.count == 1 { return [Part(replica: replica, engine: nil, words: words)] }
      return settings.engines.map { engine in
        Part(
          replica: replica, engine: engine,
          words: "engine \(engine)" + (settings.replicas > 1 ? ", " + words : ""))
      }
    }
  }

  /// Everything that was asked for but what concerns all replicas together.
  private func runOne(
    _ part: Part, to output: String, _ interruption: any Interruption
  ) throws -> ChildProcess.Ending {
    var dropped: Set = ["replicas", "output", "baseline", "save-baseline", "overwrite"]
    if part.engine != nil { dropped.insert("engine") }
    var words = FlagValues.words(arguments, without: dropped, known: RunFlags.known)
    // In front: behind a '--' of the user's they would be words like its workload.
    if let engine = part.engine { words = ["--engine", engine] + words }
    let process = try ChildProcess(
      ForbiddenUse.ownExecutable, ["run", "--output", output] + words, isSilent: false,
      showsOutput: part.engine == nil && settings.format != .json)
    var ending = process.wait(interruption)
    // A whole run that could only not be shown counts; we meet the same stream, and say so.
    if ending.code == .failed, let run = try? MeasuredRun(folder: output),
      run.document.status == RunStatus.complete.rawValue, run.document.failure == nil,
      !run.rows.isEmpty
    {
      ending.code = .success
    } else if ending.isToldToEnd && ending.code != .success {
      ending.code = .interrupted
    }
    return ending
  }
}
