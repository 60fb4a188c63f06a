// What was due before the end of a phase of an open loop is in its figures, however the phase ends.
//
// Once a stall that lasted to the end of a run was hidden: what was due and not begun was counted
// as skipped, and the percentiles of the others, and the verdict, looked well.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct OpenLoopEndTests {
  /// What a run gives while another user of the engine takes its write lock.
  struct StalledRun {
    var outcome: RunOutcome
    var settings: RunSettings
    /// For how long the lock was held.
    var stallNanoseconds: UInt64
    /// Rows of samples.csv that tell of an interval in which no scheduled operation ended.
    var emptyIntervals: Int

    var scheduled: [OperationMeasurements] {
      settings.openLoop.compactMap { outcome.collector.total(.measure, $0) }
    }
    /// What has ended and what was left out, in all.
    var due: UInt64 {
      scheduled.reduce(0) { $0 + $1.response!.count + $1.leftOut!.count }
    }
  }

  /// Runs a workload whose write lock is taken after some commits, until a moment of the run; nil
  /// stands for its end.
  static func run(
    _ workload: WorkloadKind, stalledAfter commits: UInt64 = 60,
    until isReleased: (@Sendable (RunControl) -> Bool)?,
    _ change: (inout RunSettings) -> Void = { _ in }
  ) -> StalledRun {
    var settings = RunSettings(workload)
    settings.readers = 2
    settings.threads = 1
    settings.writers = workload == .groupedCommit ? 0 : 1
    settings.objects = 200
    settings.pins = 0
    settings.group = 4
    // Fewer than fall due in a stall: who hands over has to find room after the end, too.
    settings.inFlight = 16
    settings.writeEvery = 1
    settings.refreshEvery = 1
    settings.mix = OperationMix("update:100")!
    settings.valueSize = ValueSize(minimum: 24, maximum: 24)
    settings.warmupNanoseconds = 0
    settings.durationNanoseconds = 600_000_000
    settings.intervalNanoseconds = 50_000_000
    settings.ratePerSecond = 400
    settings.seed = testSeed()
    change(&settings)
    let engine = ModelEngine(bug: nil)
    let made = settings.makeWorkload(engine)
    let (control, clock) = (made.shared.control, MonotonicClock())
    let (stall, isOver) = (Monitor<UInt64>(0), Monitor(false))
    let holder = Thread.start(name: "holder") {
      guard eventually({ engine.commits >= commits || control.epoch.phase == nil }) else { return }
      engine.state.wait(until: { !$0.isWriting }, then: { $0.isWriting = true })
      let start = clock.nanoseconds()
      if let isReleased {
        _ = eventually { isReleased(control) }
      } else {
        _ = isOver.wait(nanoseconds: 120_000_000_000) { $0 }
      }
      // Before the lock is given back: this thread may sleep at once afterwards.
      let length = clock.nanoseconds() - start
      engine.state.withLock { $0.isWriting = false }
      engine.state.notifyAll()
      stall.withLock { $0 = length }
    }
    var emptyIntervals = 0
    let outcome = WorkloadRun(
      made, settings: settings, interruption: TimedInterruption(),
      progress: ProgressLine(CollectedOutput().console(), OutputChoices()),
      series: { samples, _ in
        emptyIntervals +=
          samples.filter {
            $0.metric == "count" && $0.value == "0" && settings.openLoop.contains($0.operation)
          }.count
      }
    ).run()
    isOver.withLock { $0 = true }
    isOver.notifyAll()
    holder.joinInTime()
    return StalledRun(
      outcome: outcome, settings: settings, stallNanoseconds: stall.withLock { $0 },
      emptyIntervals: emptyIntervals)
  }

  private static let scheduled = WorkloadKind.allCases.filter { !$0.facts.scheduled.isEmpty }

  @Test(arguments: scheduled)
  func aStallAtTheEndIsWaitedForAndShown(_ workload: WorkloadKind) async {
    let box = Monitor<StalledRun?>(nil)
    // Longer, when a busy machine could not catch up in time.
    for factor in [1, 4, 16] as [UInt64] {
      _ = await onOwnThread {
        let run = Self.run(workload, until: { $0.end(of: .measure) != nil }) {
          $0.durationNanoseconds = 600_000_000 * factor
        }
        box.withLock { $0 = run }
        return run.outcome
      }
      if box.withLock({ $0?.scheduled.allSatisfy { $0.leftOut!.count == 0 } }) == true { break }
    }
    guard let run = box.withLock({ $0 }) else { return }
    #expect(run.outcome.status == .complete, "\(run.outcome.failure ?? "")")
    let expected = run.outcome.expectedDue(ratePerSecond: 400)
    #expect(abs(Double(run.due) - expected) < 5, "\(run.due) of \(expected) were due")
    let longest = run.scheduled.compactMap { $0.responses!.maximum }.max() ?? 0
    // Whatever waits for the lock next was due within some gaps.
    #expect(longest + 100_000_000 > run.stallNanoseconds, "\(longest) of \(run.stallNanoseconds)")
    #expect(run.scheduled.allSatisfy { $0.leftOut!.count == 0 && $0.skipped == 0 })
    // Those that came meanwhile have waited too.
    let late = run.scheduled.reduce(0) { $0 + $1.response!.count(above: 20_000_000) }
    #expect(late > 10)
    let reasons = Verdict.reasons(settings: run.settings, outcome: run.outcome)
    #expect(!reasons.contains { $0.contains("were not done") }, "\(reasons)")
    // In an interval without any there is a row that says so.
    #expect(run.emptyIntervals > 0 || run.stallNanoseconds < 200_000_000)
  }

  /// The same for a thread by itself, however the times are drawn.
  @Test(arguments: Arrivals.allCases)
  func aThreadDoesWhatWasDueBeforeTheEnd(arrivals: Arrivals) {
    let (control, clock) = (RunControl(), MonotonicClock())
    let handover = Handover([.read, .refresh], openLoop: [.read])
    var pace = ThreadPace(
      control: control, handover: handover,
      openLoad: ThreadPace.OpenLoad(ratePerSecond: 1_000, arrivals: arrivals, offset: 0.5),
      random: RandomGenerator(seed: testSeed()))
    let start = clock.nanoseconds() - 2_000_000_000
    control.begin(.measure, at: start)
    pace.waitForStart()
    #expect(pace.nextTurn()?.due.map { $0 < start + 100_000_000 } == true)
    control.stop()
    let end = control.stoppedAt
    var (turns, last) = (1, start)
    while let turn = pace.nextTurn() {
      turns += 1
      #expect(turn.due! >= last && turn.due! < end && pace.phase == .measure)
      last = turn.due!
      let now = clock.nanoseconds()
      pace.record(0, turn, start: now, end: now)
    }
    #expect(pace.phase == nil)
    pace.finish()
    let sum = OperationMeasurements(isOpenLoop: true)
    handover.collect { sum.add($0.figures[0]) }
    // The first one was begun and never recorded.
    #expect(sum.response!.count == UInt64(turns - 1) && sum.skipped == 0)
    #expect(sum.leftOut!.count == 1 && sum.leftOut!.maximum > 1_900_000_000)
    let due = Double(end - start) / 1e6
    #expect(abs(Double(turns) - due) < (arrivals == .fixed ? 2 : 8 * due.squareRoot()))
  }

  /// Also within a plan: a thread may sleep through a whole phase.
  @Test func aStallThroughAWholePhaseOfAPlanIsNotLost() {
    let run = Self.run(.readersWriter, until: { $0.epoch.phase == .step(2) }) {
      for name in ["a", "b", "c"] {
        var step = RunStep(name: name)
        step.durationNs = 300_000_000
        step.rate = RateRamp(fromPerS: 400, toPerS: 400)
        $0.script.steps.append(step)
      }
    }
    for number in 0..<3 {
      let phase = run.outcome.phase(.step(number))!
      let figures = run.outcome.collector.total(.step(number), .write)!
      let due = Double(figures.response!.count + figures.leftOut!.count)
      #expect(abs(due - 400 * phase.elapsedSeconds) < 4, "phase \(number): \(due)")
      if number < 2 { #expect(figures.response!.maximum + 100_000_000 > 300_000_000) }
    }
    let sum = run.outcome.collector.total(.measure, .write)!
    #expect(abs(Double(sum.response!.count) - run.outcome.expectedDue(ratePerSecond: 400)) < 8)
  }

  /// The warm-up's own are let go; what is due from the measured phase on counts from then.
  @Test func aStallOfTheWarmUpIsSeenInTheMeasuredPhase() {
    let clock = MonotonicClock()
    let run = Self.run(
      .readersWriter,
      until: { control in
        guard control.epoch.phase == .measure, let start = control.phase(after: .warmup)?.start
        else { return control.epoch.phase == nil }
        return clock.nanoseconds() > start + 200_000_000
      }
    ) { $0.warmupNanoseconds = 300_000_000 }
    let figures = run.outcome.collector.total(.measure, .write)!
    #expect(figures.response!.maximum > 150_000_000)
    #expect(run.outcome.collector.total(.warmup, .write)!.skipped > 0)
    let cautions = Verdict.cautions(settings: run.settings, outcome: run.outcome)
    #expect(cautions.contains { $0.contains("due in the warm-up") }, "\(cautions)")
  }

  @Test func theTimesOfABudgetHaveNothingLeftOut() {
    for (readers, writers) in [(0, 1), (0, 3), (2, 1)] {
      let run = Self.run(
        .readersWriter, stalledAfter: 150,
        until: { [clock = MonotonicClock()] control in
          guard let start = control.phase(after: nil)?.start else { return false }
          return clock.nanoseconds() > start + 700_000_000
        }
      ) {
        ($0.readers, $0.writers) = (readers, writers)
        $0.operations = readers == 0 ? 200 : 20_000
      }
      let figures = run.outcome.collector.total(.measure, .write)!
      #expect(figures.leftOut!.count == 0 && figures.skipped == 0)
      if writers == 1 && readers == 0 { #expect(figures.service.count == 200) }
      if readers == 0 {
        // What was due before the last one of another thread is done, too.
        #expect(
          figures.service.count >= 200 && figures.service.count <= 310,
          "\(figures.service.count) of \(writers)")
        #expect(figures.response!.maximum > 100_000_000)
      }
    }
  }

  /// Asks for a stop when the lock has been held for some time, so that the writer waits for it.
  private struct StopWhenHeld: Interruption {
    let heldSince = Monitor<UInt64>(.max)
    func isRequested() -> Bool {
      let (start, now) = (heldSince.withLock { $0 }, MonotonicClock().nanoseconds())
      return now > start && now - start > 400_000_000
    }
  }

  /// Interrupted or failed, nothing is waited for; but nobody says that it went well.
  @Test func whatAnEarlyEndLeavesOutIsNotKnown() {
    let engine = ModelEngine(bug: nil)
    let stop = StopWhenHeld()
    var settings = RunSettings(.readersWriter)
    settings.readers = 0
    settings.objects = 200
    settings.warmupNanoseconds = 0
    settings.durationNanoseconds = 3_600_000_000_000
    settings.ratePerSecond = 400
    let made = settings.makeWorkload(engine)
    let control = made.shared.control
    let holder = Thread.start(name: "holder") {
      _ = eventually { engine.commits >= 50 }
      engine.state.wait(until: { !$0.isWriting }, then: { $0.isWriting = true })
      stop.heldSince.withLock { $0 = MonotonicClock().nanoseconds() }
      _ = eventually { control.epoch.phase == nil }
      engine.state.withLock { $0.isWriting = false }
      engine.state.notifyAll()
    }
    let outcome = WorkloadRun(
      made, settings: settings, interruption: stop,
      progress: ProgressLine(CollectedOutput().console(), OutputChoices())
    ).run()
    holder.joinInTime()
    let figures = outcome.collector.total(.measure, .write)!
    let due = Double(figures.response!.count + figures.leftOut!.count)
    #expect(outcome.status == .interrupted)
    #expect(abs(due - outcome.expectedDue(ratePerSecond: 400)) < 5)
    #expect(figures.skipped > 50 && figures.responses!.value(at: .p90) == nil)
    #expect(figures.responses!.maximum == nil)
    let reasons = Verdict.reasons(settings: settings, outcome: outcome)
    #expect(reasons.contains { $0.contains("were not done") }, "\(reasons)")
  }

  /// A user who has enough of a stall gets what there is, and is not told that it is all.
  @Test func aThreadThatDoesNotEndCostsNoResults() {
    let engine = ModelEngine(bug: nil)
    let stop = StopWhenHeld()
    let holder = Thread.start(name: "holder") {
      _ = eventually { engine.commits > 1_500 }
      engine.state.wait(until: { !$0.isWriting }, then: { $0.isWriting = true })
      stop.heldSince.withLock { $0 = MonotonicClock().nanoseconds() }
    }
    var settings = RunSettings(.readersWriter)
    settings.readers = 1
    settings.objects = 200
    settings.warmupNanoseconds = 0
    settings.durationNanoseconds = 3_600_000_000_000
    settings.intervalNanoseconds = 20_000_000
    settings.ratePerSecond = 4_000
    let outcome = WorkloadRun(
      settings.makeWorkload(engine), settings: settings, interruption: stop,
      progress: ProgressLine(CollectedOutput().console(), OutputChoices())
    ).run()
    holder.joinInTime()
    #expect(outcome.status == .interrupted && outcome.unended == ["writer 1"])
    let figures = outcome.collector.total(.measure, .write)!
    #expect(figures.service.count > 1_000)
    #expect(figures.responses!.value(at: .p50) == nil && figures.responses!.isUnknown(.p99))
    #expect(figures.responses!.maximum == nil)
    #expect(outcome.collector.total(.measure, .read)!.service.count > 0)
    let reasons = Verdict.reasons(settings: settings, outcome: outcome)
    #expect(reasons.contains { $0.hasPrefix("writer 1 did not end in time") }, "\(reasons)")
    // The thread goes on to its end.
    engine.state.withLock { $0.isWriting = false }
    engine.state.notifyAll()
  }

  /// Nothing that it has measured is lost, and all that was due behind it is counted.
  @Test(arguments: [true, false])
  func aThreadThatNobodyWaitsForLosesNothing(isOpen: Bool) {
    let run = Self.run(.readersWriter, until: nil) {
      // It hands nothing over by itself.
      $0.intervalNanoseconds = 3_600_000_000_000
      if !isOpen { $0.ratePerSecond = nil }
    }
    #expect(run.outcome.status == .complete && run.outcome.unended == ["writer 1"])
    let figures = run.outcome.collector.total(.measure, .write)!
    #expect(Int(figures.service.count) == run.outcome.transactions && run.outcome.transactions > 40)
    #expect(figures.givenUp == 1 && !figures.isTruncated)
    let reasons = Verdict.reasons(settings: run.settings, outcome: run.outcome)
    #expect(
      reasons.contains {
        $0.hasPrefix("1 'write' that had begun were given up after the end, having waited up to ")
          && $0.contains(": the longest times are not known")
      }, "\(reasons)")
    guard isOpen else { return }
    let expected = run.outcome.expectedDue(ratePerSecond: 400)
    #expect(abs(Double(run.due) - expected) < 5, "\(run.due) of \(expected) were due")
    #expect(figures.skipped > 20 && figures.leftOut!.count == figures.skipped + 1)
    #expect(figures.responses!.maximum == nil)
  }

  @Test func anOperationThatFailsIsAmongThoseThatWereDue() {
    let outcome = outcome(of: .readersWriter, .failingWrite, seconds: 600) {
      $0.readers = 0
      $0.ratePerSecond = 1_000
    }
    let figures = outcome.collector.total(.measure, .write)!
    #expect(figures.errors == 1 && figures.leftOut!.count == figures.skipped + 1)
    #expect(figures.responses!.maximum == nil)
  }

  // MARK: - What is known

  private let folder = TemporaryFolder()

  /// A run that cannot do what is asked of it.
  private func overloaded(
    _ name: String, _ more: String = ""
  ) throws -> (path: String, code: ExitCode, output: String, errors: String) {
    let output = CollectedOutput()
    let path = "\(folder.path)/\(name)"
    let words =
      "readers-writer --readers 0 --objects 100 --warmup 0s --duration 200ms --interval 20ms "
      + "--rate 10000000/s --output \(path) \(more)"
    let code = try output.run(words) { _, _ in ModelEngine(bug: nil) }
    return (path, code, output.output, output.errors)
  }

  private func cells(_ path: String, _ operation: String) throws -> [String: String] {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let rows = try #require(CSVTable.parse(text))
    let row = try #require(rows.first { $0[7] == operation && $0[8] == "measure" })
    return Dictionary(uniqueKeysWithValues: zip(rows[0], row))
  }

  @Test func aThresholdOnWhatIsNotKnownIsMissed() throws {
    for condition in ["write.response_p99_ns<900000000000", "write.response_p99_ns>0"] {
      let run = try overloaded("run-\(condition.count)", "--threshold \(condition)")
      #expect(run.code == .thresholdMissed)
      #expect(run.output.contains("MISSED, not known, because"), "\(run.output)")
      #expect(run.output.contains("not valid") && run.output.contains(">= "))
      #expect(run.errors.contains("s after the measured phase of"))
    }
    #expect(try overloaded("strict", "--strict").code == .inconclusive)
    let path = folder.path + "/strict"
    let row = try cells(path + "/summary.csv", "write")
    #expect(row["response_p99_ns"] == "" && row["response_max_ns"] == "")
    #expect(Int(row["skipped"]!)! > 1_000 && row["service_p50_ns"] != "")
    // Waited for in vain, but the time is not hidden.
    #expect(Double(row["elapsed_s"]!)! > 0.35)
    let document = try MeasuredRun(folder: path).document
    #expect(document.leftOut?["write"] == UInt64(row["skipped"]!))
    #expect(!document.verdict.isValid)
    func histogram(_ name: String) throws -> LatencyHistogram {
      let text = try String(contentsOfFile: "\(path)/histograms/\(name).hgrm", encoding: .utf8)
      return try #require(LatencyHistogram(percentileText: text))
    }
    let leftOut = try histogram("write-left-out")
    #expect(leftOut.count == UInt64(row["skipped"]!))
    let all = try histogram("write-response")
    #expect(all.count == leftOut.count + (try histogram("write").count))
    let samples = try String(contentsOfFile: path + "/samples.csv", encoding: .utf8)
    let last = CSVTable.parse(samples)!.last { $0[8] == "response_p50" }
    #expect(last?.last == "")
  }

  @Test func mergedRunsDoNotKnowItEither() throws {
    let parts = try (1...2).map { try overloaded("part-\($0)", "--seed \($0)").path }
    let (output, joined) = (CollectedOutput(), folder.path + "/joined")
    #expect(try MergeVerb.perform(parts + ["-o", joined], console: output.console()) == .success)
    let row = try cells(joined + "/merged.csv", "write")
    #expect(row["response_p99_ns"] == "" && row["response_max_ns"] == "")
    #expect(row["service_p50_ns"] != "")
    let sum = try parts.reduce(0) { $0 + Int(try cells("\($1)/summary.csv", "write")["skipped"]!)! }
    #expect(row["skipped"] == String(sum))
    // The parts keep all that they had: they were copied without this file.
    #expect(
      FileManager.default.fileExists(
        atPath: joined + "/replica-001/histograms/write-left-out.hgrm"))
    // Folders of earlier versions do not tell for how long it had waited.
    for part in parts {
      try FileManager.default.removeItem(atPath: part + "/histograms/write-left-out.hgrm")
    }
    let again = folder.path + "/again"
    #expect(try MergeVerb.perform(parts + ["-o", again], console: output.console()) == .success)
    #expect(try cells(again + "/merged.csv", "write")["response_p99_ns"] == "")
  }

  @Test func comparedRunsCannotBeToldApartByIt() throws {
    let runs = try (1...4).map { try overloaded("side-\($0)").path }
    func compare(_ more: [String]) throws -> (code: ExitCode, output: String, errors: String) {
      let output = CollectedOutput()
      let words = [
        runs[0], runs[1], "--baseline", runs[2], "--candidate", runs[3],
        "--output", folder.path + "/compare.csv", "--max-regression", "write.response_p99_ns=10%",
        "--partial",
      ]
      let code = try CompareVerb.run(
        words + more, console: output.console(), interruption: { TimedInterruption() })
      return (code, output.output, output.errors)
    }
    let strict = try compare(["--strict"])
    #expect(strict.code == .inconclusive || strict.code == .thresholdMissed)
    #expect(strict.output.contains("write.response_p99_ns: not known in 2 of 2 baseline"))
    #expect(strict.errors.contains("write.response_p99_ns") || strict.code == .thresholdMissed)
    for format in ComparisonFormat.allCases {
      #expect(!(try compare(["--format", format.rawValue]).output.contains("nan")))
    }
  }

  @Test func aPercentileIsKnownWhereNothingLeftOutCanChangeIt() {
    let (done, leftOut) = (LatencyHistogram(), LatencyHistogram())
    for value in 1...900 { done.record(UInt64(value)) }
    #expect(ResponseTimes(done: done, leftOut: leftOut).value(at: .p90) == 810)
    // They are among the slowest tenth, whatever they would have taken.
    for _ in 0..<100 { leftOut.record(5_000) }
    let slow = ResponseTimes(done: done, leftOut: leftOut)
    #expect(slow.value(at: .p50) == 500 && slow.value(at: .p90) == 900)
    #expect(slow.value(at: .p99) == nil && slow.isUnknown(.p99) && slow.firstUnknown == .p99)
    #expect(slow.maximum == nil && slow.least(at: .p99)! >= 5_000)
    // Hardly begun: any of them may be anywhere.
    let young = LatencyHistogram()
    for _ in 0..<100 { young.record(1) }
    let open = ResponseTimes(done: done, leftOut: young)
    #expect(open.value(at: .p50) == nil && open.least(at: .p50)! < 500)
    // More than nine tenths would have to be known.
    for _ in 0..<100 { leftOut.record(5_000) }
    #expect(ResponseTimes(done: done, leftOut: leftOut).value(at: .p90) == nil)
    // Too few are not unknown for this reason.
    #expect(!ResponseTimes(done: done, leftOut: leftOut).isUnknown(.p99_99))
  }
}
