// Runs a workload on the model engine, small and short.
import Harness
import Platform
import TestSupport

/// What a run of a workload on the model engine gives.
func outcome(
  of workload: WorkloadKind, _ bug: ModelBug?, seconds: Double = 5,
  _ change: (inout RunSettings) -> Void = { _ in }
) -> RunOutcome {
  var settings = RunSettings(workload)
  settings.readers = 2
  settings.objects = 200
  settings.valueSize = ValueSize(minimum: 24, maximum: 24)
  settings.warmupNanoseconds = 0
  settings.durationNanoseconds = UInt64(seconds * 1e9)
  settings.intervalNanoseconds = 50_000_000
  settings.seed = testSeed()
  change(&settings)
  let output = CollectedOutput()
  return WorkloadRun(
    settings.makeWorkload(ModelEngine(bug: bug)), settings: settings,
    interruption: TimedInterruption(),
    progress: ProgressLine(output.console(), OutputChoices())
  ).run()
}

/// Runs a workload for longer and longer, until it has failed or done enough.
///
/// How much a machine does in some time is no matter of right or wrong: on a busy one a thread may
/// have had no turn at all.
func outcome(
  of workload: WorkloadKind, _ bug: ModelBug?, seconds: Double,
  until isEnough: (RunOutcome) -> Bool, _ change: (inout RunSettings) -> Void = { _ in }
) -> RunOutcome {
  var factor = 1.0
  while true {
    let result = outcome(of: workload, bug, seconds: seconds * factor) {
      change(&$0)
      $0.warmupNanoseconds = UInt64(Double($0.warmupNanoseconds) * factor)
    }
    let isLast = seconds * factor > 100
    if result.status != .complete || isEnough(result) || isLast { return result }
    factor *= 4
  }
}

/// Runs a workload on an engine with a bug until it was found.
func outcome(
  of workload: WorkloadKind, finding bug: ModelBug, seconds: Double,
  _ change: (inout RunSettings) -> Void = { _ in }
) -> RunOutcome {
  outcome(of: workload, bug, seconds: seconds, until: { _ in false }, change)
}

extension RunOutcome {
  /// Whether each of some operations was done in each of some phases.
  func hasDone(_ operations: [Operation], in phases: [Phase] = [.measure]) -> Bool {
    phases.allSatisfy { phase in
      operations.allSatisfy { (collector.total(phase, $0)?.service.count ?? 0) > 0 }
    }
  }

  /// How many operations fell due by the schedule of some threads.
  ///
  /// A thread's schedule stands still during its long checks, and a slow machine ends the time
  /// late.
  func expectedDue(ratePerSecond: Double, threads: Int = 1) -> Double {
    let paused = Double(pausedNanoseconds) / 1e9 / Double(threads)
    return ratePerSecond * (phase(.measure)!.elapsedSeconds - paused)
  }

  /// Whether each of some invariants was checked.
  func hasChecked(_ invariants: some Sequence<Invariant>) -> Bool {
    invariants.allSatisfy { ledger[$0].checks > 0 }
  }
}

/// Runs a workload of actors on a thread of its own.
///
/// Tests run on the threads that tasks have, as many as there are cores: two that block them would
/// leave none for the actors.
func onOwnThread(_ body: @escaping @Sendable () -> RunOutcome) async -> RunOutcome {
  final class Box: @unchecked Sendable {
    // @unchecked: written by the thread before it resumes the only one who reads it.
    var outcome: RunOutcome?
  }
  let box = Box()
  await withCheckedContinuation { continuation in
    Thread.start(name: "workload") {
      box.outcome = body()
      continuation.resume()
    }.detach()
  }
  return box.outcome!
}
