// Makes the planner's runs: each a process of its own, with a results folder of its own that
// `--from` can read later.
internal import Foundation
internal import Platform

/// Runs experiments until the budget is used up.
package final class PlanRuns {
  private let executable: String
  private let folder: String
  private let deadline: UInt64
  /// A run that takes longer hangs.
  private let limit: UInt64
  private let interruption: any Interruption
  private let progress: (String) -> Void
  private let clock = MonotonicClock()
  private var number = 0
  private let seed: UInt64
  package private(set) var isInterrupted = false

  /// - Parameter spareNanoseconds: what a run may take beside twice the budget: to fill and check
  ///   its file.
  package init(
    executable: String, folder: String, budgetNanoseconds: UInt64,
    spareNanoseconds: UInt64 = 60_000_000_000, seed: UInt64,
    interruption: any Interruption, progress: @escaping (String) -> Void
  ) {
    self.executable = executable
    self.folder = folder
    self.seed = seed
    deadline = clock.nanoseconds() + budgetNanoseconds
    limit = 2 * budgetNanoseconds + spareNanoseconds
    self.interruption = interruption
    self.progress = progress
  }

  /// Seconds that are left of the budget.
  package var secondsLeft: Double {
    let now = clock.nanoseconds()
    return now >= deadline ? 0 : Double(deadline - now) / 1e9
  }

  /// Makes a run and reads it; nil when the user has enough.
  ///
  /// - Throws: `ExecutableFailure` when it does not end as it should, or not in time.
  package func run(_ experiment: PlanExperiment, for reason: String) throws -> PlanObservation? {
    if interruption.isRequested() { isInterrupted = true }
    if isInterrupted { return nil }
    number += 1
    progress("\(reason): \(experiment.setting.text)")
    let output = "\(folder)/experiments/" + String(format: "%03d", number)
    let run = try ChildRun(
      executable, experiment.flags(seed: seed + UInt64(number)), to: output)
    do {
      let measured = try run.finish(interruption, limit: limit)
      if !interruption.isRequested() { return try PlanObservation(measured) }
    } catch let failure as ExecutableFailure
      where failure.code == .interrupted || interruption.isRequested()
    {
      // What was measured before is kept, and the answers say that the plan was interrupted.
    }
    isInterrupted = true
    return nil
  }

  /// As a user would type it.
  package static func command(_ experiment: PlanExperiment) -> String {
    ([Tool.current.name, "run"] + experiment.flags(seed: 1)).joined(separator: " ")
  }
}
