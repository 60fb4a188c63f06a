// `run --replicas N`: the same run in N processes, one after the other, each with a folder of its
// own below the results folder, and one summary.csv of them all.
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
    for number in 1...settings.replicas {
      if !progress.isQuiet { console.note("replica \(number) of \(settings.replicas)") }
      let output = "\(folder.path)/replica-" + String(format: "%03d", number)
      let code: ExitCode
      do {
        code = try runOne(to: output, interruption)
      } catch let failure as ExecutableFailure {
        console.note("error: \(failure.message)")
        return failure.code
      }
      if code == .interrupted {
        console.note(
          "interrupted: \(number - 1) of \(settings.replicas) replicas are whole, in "
            + "\(folder.path); what there is of another one is in \(output), and not in summary.csv"
        )
        return .interrupted
      }
      if let text = textOfFile(output + "/summary.csv"), let rows = CSVTable.parse(text) {
        for row in rows.dropFirst() where row.count == summary.columns.count {
          var cells: [String?] = row.map { $0.isEmpty ? nil : $0 }
          cells[2] = String(number)
          summary.append(cells)
        }
        try folder.write(summary.text, to: "summary.csv")
      }
      if code == .thresholdMissed || worst == .success { worst = code }
      // It ends the replicas, so it is what they end with, whatever those before have missed.
      if ![.success, .inconclusive, .thresholdMissed].contains(code) { return code }
      if interruption.isRequested() { return .interrupted }
    }
    console.print("\(settings.replicas) replicas in \(folder.destination)")
    return worst
  }

  /// Everything that was asked for but what concerns all replicas together.
  private func runOne(
    to output: String, _ interruption: any Interruption
  ) throws -> ExitCode {
    var words: [String] = []
    var skipsValue = false
    for word in arguments {
      if skipsValue {
        skipsValue = false
        continue
      }
      let name = word.split(separator: "=", maxSplits: 1).first.map(String.init) ?? word
      if ["--replicas", "--output", "--baseline", "--save-baseline"].contains(name) {
        skipsValue = !word.contains("=")
        continue
      }
      if word != "--overwrite" { words.append(word) }
    }
    let process = try ChildProcess(
      ForbiddenUse.ownExecutable, ["run"] + words + ["--output", output], isSilent: false)
    let ending = process.wait(interruption)
    // A whole run that could only not be shown counts; we meet the same stream, and say so.
    if ending.code == .failed, let run = try? MeasuredRun(folder: output),
      run.document.status == RunStatus.complete.rawValue, run.document.failure == nil,
      !run.rows.isEmpty
    {
      return .success
    }
    return ending.isToldToEnd && ending.code != .success ? .interrupted : ending.code
  }
}
