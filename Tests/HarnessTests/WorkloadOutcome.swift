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

/// Runs a workload of actors on a thread of its own.
///
/// Tests run on the threads that tasks have, as many as there are cores: two that block them would leave none
/// for the actors.
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
