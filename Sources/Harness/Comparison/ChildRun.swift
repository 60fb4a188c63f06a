// A run of realm-bench in a process of its own, for those that compare and plan: begun, awaited,
// read. What its figures mean is the callers' matter.
internal import Foundation

/// An executable that did not do what it was asked for.
package struct ExecutableFailure: ErrorInWords, Sendable {
  package let message: String
  package let code: ExitCode
  package var words: String { message }
}

/// A run that has begun.
struct ChildRun {
  /// Keeps a process on a core.
  static let pinningTool = "/usr/bin/taskset"

  private let process: ChildProcess
  private let executable: String
  private let words: [String]
  private let output: String

  /// Begins a run.
  /// - Parameters:
  ///   - plan: the words after `run`.
  ///   - output: the results folder that it makes.
  ///   - core: the only one that it may use; nil for all.
  ///   - takesTurns: whether it is stopped now and then for the other side.
  /// - Throws: `ExecutableFailure` when it cannot be started.
  init(
    _ executable: String, _ plan: [String], to output: String, core: Int? = nil,
    takesTurns: Bool = false
  ) throws {
    self.executable = executable
    words = ["run"] + plan
    self.output = output
    let arguments = words + ["--output", output, "--quiet"]
    let environment = takesTurns ? [TurnTaking.variable: "1"] : [:]
    process =
      if let core {
        try ChildProcess(
          Self.pinningTool, ["-c", String(core), executable] + arguments, isSilent: true,
          environment: environment)
      } else {
        try ChildProcess(executable, arguments, isSilent: true, environment: environment)
      }
  }

  var isRunning: Bool { process.isRunning }
  func pause() { process.pause() }
  func resume() { process.resume() }

  /// How many nanoseconds a run that is told to end has for that.
  ///
  /// Nothing that it writes then is used.
  private static let patience: UInt64 = 10_000_000_000

  /// Waits for its end.
  /// - Parameter limit: after how many nanoseconds it counts as one that hangs; nil for never.
  /// - Returns: what it measured.
  /// - Throws: `ExecutableFailure` when it ends in another way than a run that can be used, with
  ///   its code, `interrupted` when the user had enough, or has left no folder that can be read.
  func finish(_ interruption: any Interruption, limit: UInt64? = nil) throws -> MeasuredRun {
    let ending = process.wait(interruption, limit: limit, patience: Self.patience)
    if ending.isLate, let limit {
      throw ExecutableFailure(
        message: "'\(executable) \(words.joined(separator: " "))' had not ended after "
          + "\(readableDuration(limit)), which is more than twice the budget: it hangs, or needs "
          + "more --budget", code: .failed)
    }
    guard ending.code == .success || ending.code == .inconclusive else {
      let end = ending.signal.map { "was ended by signal \($0)" } ?? "ended with \(ending.status)"
      throw ExecutableFailure(
        message: "'\(executable) \(words.joined(separator: " "))' \(end)"
          + ([ending.errors, missed(ending)].filter { !$0.isEmpty }.map { ": " + $0 }.joined()),
        code: ending.isToldToEnd ? .interrupted : ending.code)
    }
    do { return try MeasuredRun(folder: output) } catch let error as ResultsError {
      throw ExecutableFailure(
        message: "'\(executable) \(words.joined(separator: " "))' has left no results: "
          + error.message, code: .failed)
    }
  }

  /// What it misses of that which is asked of it: its own words go to standard output.
  private func missed(_ ending: ChildProcess.Ending) -> String {
    guard ending.code == .thresholdMissed,
      let document = try? RunDocument(path: output + "/run.json")
    else { return "" }
    return document.thresholds.filter { !$0.isMet }.map { threshold in
      "'\(threshold.condition)' does not hold"
        + (threshold.value.map { ", it is \(decimal($0, places: 3))" } ?? "")
    }.joined(separator: "; ")
  }
}
