// Runs of more threads than get a turn: they end in time, and say what is missing.
import Glibc
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct CrowdTests {
  /// Writers that get the lock long after the end give their transaction up, and are told of.
  @Test(arguments: [WorkloadKind.readersWriter])
  func whoWaitsUntilLongAfterTheEndIsGivenUp(_ workload: WorkloadKind) throws {
    let engine = ModelEngine()
    var settings = RunSettings(workload)
    settings.readers = 0
    settings.writers = 12
    settings.threads = 12
    settings.mix = OperationMix("update:100")!
    settings.objects = 100
    settings.warmupNanoseconds = 0
    settings.durationNanoseconds = 20_000_000
    settings.invariants = [.readYourWrites]
    let shared = RunShared(driver: engine, plan: settings.plan)
    let run = WorkloadRun(
      workload.facts.make(shared), settings: settings, interruption: TimedInterruption(),
      progress: ProgressLine(CollectedOutput().console(), OutputChoices()))
    // Somebody has the lock from the first phase on until long after the end.
    let holder = Thread.start(name: "holder") {
      while shared.control.epoch.phase == .load { sched_yield() }
      let session = ModelSession(engine)
      try? session.write {
        while shared.control.epoch.phase != nil { sched_yield() }
        sleep(nanoseconds: RunControl.graceNanoseconds + 50_000_000)
      }
    }
    let outcome = run.run()
    holder.join()
    #expect(outcome.failure == nil && outcome.violation == nil && outcome.status == .complete)
    let operation: Harness.Operation = workload == .mixed ? .update : .write
    let figures = try #require(outcome.collector.total(.measure, operation))
    #expect(figures.givenUp > 0 && figures.givenUpLongest >= RunControl.graceNanoseconds)
    #expect(figures.errors == 0)
    let reasons = Verdict.reasons(settings: settings, outcome: outcome)
    #expect(
      reasons.contains {
        $0.hasPrefix("\(figures.givenUp) '\(operation.rawValue)' that had begun were given up")
      }, "\(reasons)")
  }

  @Test func threadsWithoutATurnAreSaidToBeTheReason() throws {
    var settings = RunSettings(.readersWriter)
    settings.readers = 256
    settings.writers = 256
    // Of readers alone: none of the writers has had a turn.
    var outcome = HarnessTests.outcome(of: .readersWriter, nil, seconds: 0.05) { $0.writers = 0 }
    let words = "512 threads share"
    outcome.busyThreads = 512
    #expect(
      Verdict.reasons(settings: settings, outcome: outcome).contains {
        $0.hasPrefix("no 'write' was measured; \(words)") && $0.contains("--read-rate")
      })
    outcome.busyThreads = 1
    #expect(
      Verdict.reasons(settings: settings, outcome: outcome).contains("no 'write' was measured"))
  }
}
