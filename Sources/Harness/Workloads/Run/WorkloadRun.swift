// The coordinator of a run: fills the table, starts the workload's threads, moves them through the
// phases, collects their figures, and has the final state checked. It runs on the caller's thread and
// touches the engine only for statistics.
internal import Platform

/// Runs a workload on an engine.
package final class WorkloadRun<Driver: EngineDriver> {
  private let workload: any Workload<Driver>
  private let settings: RunSettings
  private let interruption: any Interruption
  private let progress: ProgressLine
  private let control: RunControl
  private let ledgers = Monitor(InvariantLedger())
  private let pauses = Monitor(UInt64(0))
  private let probe: StatisticsProbe<Driver>
  private let clock = MonotonicClock()
  private var handovers: [Handover] = []
  private var threads: [Thread] = []
  private var outcome: RunOutcome
  private var began: UInt64 = 0
  private var lastInterval: UInt64 = 0
  private var isInterrupted = false

  package init(
    _ workload: any Workload<Driver>, settings: RunSettings, interruption: any Interruption,
    progress: ProgressLine
  ) {
    self.workload = workload
    self.settings = settings
    self.interruption = interruption
    self.progress = progress
    control = workload.shared.control
    probe = StatisticsProbe(workload.shared.driver)
    outcome = RunOutcome(collector: Collector(openLoop: settings.openLoop))
  }

  /// Runs everything; failures and violations are part of what is returned.
  package func run() -> RunOutcome {
    began = clock.nanoseconds()
    probe.start()
    defer { probe.end() }
    if load() {
      startThreads()
      control.waitUntilReady(threads: threads.count)
      measurePhases()
      if !isInterrupted && control.violation == nil && control.failure == nil { checkEnd() }
    }
    outcome.violation = control.violation
    outcome.failure = control.failure
    if let violation = outcome.violation?.violation {
      var ledger = InvariantLedger()
      ledger.countViolation(violation.invariant)
      outcome.ledger.add(ledger)
    }
    outcome.ledger.add(ledgers.withLock { $0 })
    outcome.pausedNanoseconds = pauses.withLock { $0 }
    outcome.objects = workload.objects
    outcome.transactions = workload.shared.versions.transactions
    if outcome.violation != nil || outcome.failure != nil {
      outcome.status = .failed
    } else if isInterrupted {
      outcome.status = .interrupted
    }
    return outcome
  }

  // MARK: - Load

  /// False when the run ends here.
  private func load() -> Bool {
    let loaded = Monitor(0)
    let isCancelled = Monitor(false)
    let isDone = Monitor(false)
    let (workload, control, versions) = (workload, control, workload.shared.versions)
    let before = statistics(withinNanoseconds: 10_000_000_000)
    let start = clock.nanoseconds()
    let thread = Thread.start(name: "load") {
      do {
        let version = try workload.load(
          isCancelled: { isCancelled.withLock { $0 } },
          progress: { count in loaded.withLock { $0 = count } })
        // Transaction 0: whoever opens the file now has to see at least the load.
        if let version { versions.acknowledge(version: version, transaction: 0) }
      } catch {
        control.fail("loading the table: \(error.explanation)")
      }
      isDone.withLock { $0 = true }
      isDone.notifyAll()
    }
    while !isDone.wait(nanoseconds: 50_000_000, until: { $0 }) {
      let count = loaded.withLock { $0 }
      progress.show(
        "load", fraction: Double(count) / Double(settings.objects), "\(grouped(count)) objects")
      if interruption.isRequested() {
        isInterrupted = true
        isCancelled.withLock { $0 = true }
      }
    }
    thread.join()
    outcome.loadedObjects = loaded.withLock { $0 }
    endPhase(.load, start: start, before: before)
    return !isInterrupted && control.failure == nil
  }

  // MARK: - Threads

  private func startThreads() {
    for plan in workload.threads { start(plan) }
  }

  private func start(_ plan: WorkerPlan) {
    let handover = Handover(plan.operations, openLoop: settings.openLoop)
    handovers.append(handover)
    let (control, ledgers, pauses) = (control, ledgers, pauses)
    threads.append(
      Thread.start(name: plan.name) {
        defer { control.threadFinished() }
        do {
          let worker = try plan.make(handover)
          defer {
            ledgers.withLock { $0.add(worker.ledger) }
            pauses.withLock { $0 += worker.pausedNanoseconds }
          }
          try worker.run()
        } catch let violation as Violation {
          control.report(violation, thread: plan.name)
        } catch {
          control.fail("\(plan.name): \(error.explanation)")
        }
      })
  }

  /// Called once: a thread must not be joined twice.
  private func stopThreads() {
    control.stop()
    while !control.areFinished(threads: threads.count) {
      for handover in handovers { handover.collect(outcome.collector.absorb) }
      sleep(nanoseconds: 1_000_000)
    }
    for thread in threads { thread.join() }
    for handover in handovers { handover.collect(outcome.collector.absorb) }
  }

  // MARK: - Phases

  private func measurePhases() {
    var phases: [(Phase, UInt64, Int?)] = []
    if settings.warmupNanoseconds > 0 {
      phases.append((.warmup, settings.warmupNanoseconds, nil))
    }
    phases.append((.measure, settings.durationNanoseconds, settings.operationsOfPhase))
    // Ends by itself: the time is only for a file that never gets short.
    if settings.workload.recovers { phases.append((.recover, 60_000_000_000, nil)) }
    var running: (phase: Phase, start: UInt64, before: EngineStatistics)?
    for (phase, length, operations) in phases {
      let before = statistics(withinNanoseconds: 10_000_000_000)
      let start = clock.nanoseconds()
      if let running {
        let end = control.stoppedAt
        endPhase(
          running.phase, start: running.start, before: running.before, end: end == 0 ? start : end)
      }
      control.begin(phase, at: start, operations: operations)
      if running == nil { lastInterval = start }
      running = (phase, start, before)
      guard follow(phase, start: start, length: operations == nil ? length : nil, operations)
      else { break }
    }
    guard let running else { preconditionFailure("a run has at least the measured phase") }
    control.stop()
    let stopped = control.stoppedAt
    let end = stopped == 0 ? clock.nanoseconds() : stopped
    stopThreads()
    endPhase(running.phase, start: running.start, before: running.before, end: end)
    endInterval(running.phase, at: end)
    let measured = outcome.phases.filter { $0.phase != .load }
    let seconds = measured.reduce(0) { $0 + $1.elapsedSeconds }
    outcome.threadNanoseconds = UInt64(seconds * 1e9) * UInt64(threads.count)
  }

  /// Watches a phase to its end; false when the run has to stop.
  private func follow(
    _ phase: Phase, start: UInt64, length: UInt64?, _ operations: Int?
  ) -> Bool {
    while true {
      sleep(nanoseconds: 10_000_000)
      for handover in handovers { handover.collect(outcome.collector.absorb) }
      let now = clock.nanoseconds()
      if interruption.isRequested() {
        isInterrupted = true
        return false
      }
      if control.violation != nil || control.failure != nil { return false }
      if control.epoch.phase == nil || control.areFinished(threads: threads.count) { return false }
      if let length, now - start >= length { return true }
      if control.areWaiting(threads: threads.count) { return true }
      if now - lastInterval >= settings.intervalNanoseconds {
        control.tick()
        // The threads answer between two operations; who is in a long one is counted next time.
        sleep(nanoseconds: 2_000_000)
        for handover in handovers { handover.collect(outcome.collector.absorb) }
        endInterval(phase, at: now)
      }
      let loaded =
        settings.workload.loadsFirst ? 0 : Double(workload.objects) / Double(settings.objects)
      showProgress(phase, fraction: length.map { Double(now - start) / Double($0) } ?? loaded)
    }
  }

  private func endPhase(
    _ phase: Phase, start: UInt64, before: EngineStatistics, end: UInt64? = nil
  ) {
    outcome.phases.append(
      PhaseOutcome(
        phase: phase, elapsedSeconds: Double((end ?? clock.nanoseconds()) - start) / 1e9,
        before: before, after: statistics(withinNanoseconds: 10_000_000_000)))
  }

  private func endInterval(_ phase: Phase, at now: UInt64) {
    // A thread may have stopped the run before the last interval was noted.
    let now = max(now, lastInterval + 1)
    let elapsed = Double(now - began) / 1e9
    lastRates = rates(seconds: Double(now - lastInterval) / 1e9)
    outcome.samples += outcome.collector.endInterval(
      elapsedSeconds: elapsed, lengthSeconds: Double(now - lastInterval) / 1e9)
    lastInterval = now
    let resident = residentBytes()
    outcome.growth.append(
      GrowthPoint(
        phase: phase, elapsedSeconds: elapsed,
        statistics: statistics(withinNanoseconds: min(100_000_000, settings.intervalNanoseconds)),
        objects: workload.objects, residentBytes: resident == 0 ? nil : resident,
        allocatedBytes: Allocator.shared.allocatedBytes(),
        walkedBytes: workload.shared.takeWalkedBytes()))
  }

  private func statistics(withinNanoseconds nanoseconds: UInt64) -> EngineStatistics {
    do {
      return try probe.statistics(withinNanoseconds: nanoseconds)
    } catch {
      control.fail("statistics: \(error.explanation)")
      return EngineStatistics()
    }
  }

  // MARK: - End

  private func checkEnd() {
    progress.step("checking the whole table and file ...")
    let start = clock.nanoseconds()
    let (workload, control, ledgers) = (workload, control, ledgers)
    Thread.start(name: "final check") {
      var ledger = InvariantLedger()
      do {
        try workload.checkEnd(&ledger)
      } catch let violation as Violation {
        control.report(violation, thread: "final check")
      } catch {
        control.fail("final check: \(error.explanation)")
      }
      ledgers.withLock { [ledger] in $0.add(ledger) }
    }.join()
    outcome.threadNanoseconds += clock.nanoseconds() - start
  }

  // MARK: - Progress

  private var lastRates = ""

  private func rates(seconds: Double) -> String {
    guard seconds > 0 else { return "" }
    return settings.operationsMeasured.filter { !$0.isMinor }.map { operation in
      let rate = Double(outcome.collector.intervalCount(operation)) / seconds
      return "\(grouped(Int(rate))) \(operation.rawValue)s/s"
    }.joined(separator: ", ")
  }

  private func showProgress(_ phase: Phase, fraction: Double) {
    let file = outcome.growth.last.map { ", file \(readableBytes($0.statistics.fileBytes))" } ?? ""
    progress.show(phase.name, fraction: fraction, lastRates + file)
  }
}
