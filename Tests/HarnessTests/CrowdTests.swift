// Runs whose threads do not get their turn, since they are too many or somebody else keeps the
// write lock: they end in time, and say what is missing.
import Glibc
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct CrowdTests {
  /// Writers that get the lock long after the end give their transaction up, and are told of.
  @Test(arguments: [WorkloadKind.readersWriter, .transfer, .mixed])
  func whoWaitsUntilLongAfterTheEndIsGivenUp(_ workload: WorkloadKind) throws {
    let operation: Harness.Operation = workload == .mixed ? .update : .write
    var last: (outcome: RunOutcome, settings: RunSettings)?
    // Longer, when a busy machine gave no turn to whoever wants the lock.
    for factor in [1, 8, 40] as [UInt64] {
      last = Self.runBesideAHolder(workload, nanoseconds: 20_000_000 * factor)
      if (last?.outcome.collector.total(.measure, operation)?.givenUp ?? 0) > 0 { break }
    }
    let (outcome, settings) = try #require(last)
    #expect(outcome.failure == nil && outcome.violation == nil && outcome.status == .complete)
    let figures = try #require(outcome.collector.total(.measure, operation))
    #expect(figures.givenUp > 0 && figures.givenUpLongest >= RunControl.graceNanoseconds)
    #expect(figures.errors == 0)
    let reasons = Verdict.reasons(settings: settings, outcome: outcome)
    #expect(
      reasons.contains {
        $0.hasPrefix("\(figures.givenUp) '\(operation.rawValue)' that had begun were given up")
      }, "\(reasons)")
  }

  /// Somebody has the lock from the first phase on until long after the end.
  private static func runBesideAHolder(
    _ workload: WorkloadKind, nanoseconds: UInt64
  ) -> (outcome: RunOutcome, settings: RunSettings) {
    let engine = ModelEngine()
    var settings = RunSettings(workload)
    settings.readers = 0
    settings.writers = 12
    settings.threads = 12
    settings.mix = OperationMix("update:100")!
    settings.objects = 100
    settings.warmupNanoseconds = 0
    settings.durationNanoseconds = nanoseconds
    settings.invariants = [.readYourWrites]
    let shared = RunShared(driver: engine, plan: settings.plan)
    let run = WorkloadRun(
      workload.facts.make(shared), settings: settings, interruption: TimedInterruption(),
      progress: ProgressLine(CollectedOutput().console(), OutputChoices()))
    let holder = Thread.start(name: "holder") {
      while shared.control.epoch.phase == .load { sched_yield() }
      let session = ModelSession(engine)
      try? session.write {
        while shared.control.epoch.phase != nil { sched_yield() }
        sleep(nanoseconds: RunControl.graceNanoseconds + 50_000_000)
      }
    }
    let outcome = run.run()
    holder.joinInTime()
    return (outcome, settings)
  }

  /// A workload, in a closed or an open loop.
  private struct Load {
    let workload: WorkloadKind
    let isOpen: Bool
  }

  /// All that write, and end by the clock.
  private static let workloads = WorkloadKind.allCases.filter {
    $0 != .bulkLoad && $0 != .migration
  }

  /// Somebody takes the lock and keeps it for as long as the run lasts.
  @Test(arguments: workloads)
  func aLockThatIsNeverFreeEndsNoRunLate(_ workload: WorkloadKind) async throws {
    // Both loops at once: they do little but wait.
    async let closed: Void = endsInTime(Load(workload: workload, isOpen: false))
    if !workload.facts.scheduled.isEmpty {
      try await endsInTime(Load(workload: workload, isOpen: true))
    }
    try await closed
  }

  private func endsInTime(_ load: Load) async throws {
    let box = Monitor<(RunOutcome, RunSettings, UInt64)?>(nil)
    // Longer, when a busy machine gave no turn to whoever wants the lock.
    for factor in [1, 8, 40] as [UInt64] {
      let last = await onOwnThread {
        let (outcome, settings, took) = Self.run(load, nanoseconds: 200_000_000 * factor)
        box.withLock { $0 = (outcome, settings, took) }
        return outcome
      }
      if last.areKeptWaiting { break }
    }
    let (outcome, settings, took) = try #require(box.withLock { $0 })
    #expect(outcome.failure == nil && outcome.violation == nil && outcome.status == .complete)
    #expect(took < 60_000_000_000)
    #expect(outcome.areKeptWaiting && !outcome.unended.isEmpty)
    #expect(!outcome.unended.contains(RunOutcome.finalCheck))
    let reasons = Verdict.reasons(settings: settings, outcome: outcome)
    #expect(reasons.contains { $0.contains("waited for the write lock") }, "\(reasons)")
    if !load.isOpen, load.workload == .readersWriter {
      let count = try #require(outcome.collector.total(.measure, .write)).service.count
      let idle = outcome.idleThreads[.write] ?? 0
      #expect((count == 0) == (idle == 2) && idle <= 2, "\(idle) after \(count)")
    }
    // What was begun or due, and did not come to its end, is counted.
    let missing = outcome.collector.totals.filter { $0.key.phase.isMeasured }.values.reduce(0) {
      $0 + $1.givenUp + ($1.leftOut?.count ?? 0)
    }
    #expect(missing > 0)
    if load.isOpen {
      for operation in settings.openLoop {
        let figures = outcome.collector.total(.measure, operation)
        #expect(figures?.responses?.maximum == nil, "\(operation)")
      }
    }
  }

  private static func run(
    _ load: Load, nanoseconds: UInt64
  ) -> (RunOutcome, RunSettings, nanoseconds: UInt64) {
    var settings = RunSettings(load.workload)
    settings.readers = 2
    settings.threads = 2
    settings.writers = 2
    settings.observers = 1
    settings.objects = 200
    settings.group = 4
    settings.inFlight = 1_000
    settings.writeEvery = 1
    settings.refreshEvery = 1
    settings.mix = OperationMix("update:100")!
    settings.valueSize = ValueSize(minimum: 24, maximum: 24)
    settings.warmupNanoseconds = 0
    settings.durationNanoseconds = nanoseconds
    settings.seed = testSeed()
    if load.isOpen { settings.ratePerSecond = 400 }
    let engine = ModelEngine()
    let workload = settings.makeWorkload(engine)
    let control = workload.shared.control
    let isOver = Monitor(false)
    let holder = Thread.start(name: "holder") {
      _ = eventually { control.epoch.phase != .load }
      engine.state.wait(until: { !$0.isWriting }, then: { $0.isWriting = true })
      _ = isOver.wait(nanoseconds: 120_000_000_000) { $0 }
      engine.state.withLock { $0.isWriting = false }
      engine.state.notifyAll()
    }
    let clock = MonotonicClock()
    let start = clock.nanoseconds()
    let outcome = WorkloadRun(
      workload, settings: settings, interruption: TimedInterruption(),
      progress: ProgressLine(CollectedOutput().console(), OutputChoices())
    ).run()
    let took = clock.nanoseconds() - start
    isOver.withLock { $0 = true }
    isOver.notifyAll()
    holder.joinInTime()
    return (outcome, settings, took)
  }

  /// A user who has enough before the table is filled is not kept waiting by the lock either.
  @Test func anInterruptedLoadDoesNotWaitForTheLock() {
    struct AtOnce: Interruption { func isRequested() -> Bool { true } }
    let engine = ModelEngine()
    engine.state.withLock { $0.isWriting = true }
    let settings = RunSettings(.readersWriter)
    let outcome = WorkloadRun(
      settings.makeWorkload(engine), settings: settings, interruption: AtOnce(),
      progress: ProgressLine(CollectedOutput().console(), OutputChoices())
    ).run()
    #expect(outcome.status == .interrupted && outcome.unended == ["load"])
    engine.state.withLock { $0.isWriting = false }
    engine.state.notifyAll()
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
    // Of readers and a writer: others have waited all the time.
    var mixed = HarnessTests.outcome(of: .readersWriter, nil, seconds: 0.2) { $0.writers = 1 }
    mixed.idleThreads = [.write: 200]
    if mixed.hasDone([.write]) {
      #expect(
        Verdict.reasons(settings: settings, outcome: mixed).contains(
          "of 256 threads that do 'write' 200 never finished one"))
    }
    outcome.busyThreads = 1
    #expect(
      Verdict.reasons(settings: settings, outcome: outcome).contains("no 'write' was measured"))
  }
}
