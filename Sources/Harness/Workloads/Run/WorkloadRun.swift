// The coordinator of a run: fills the table, starts the workload's threads, moves them through the
// phases, collects their figures, and has the final state checked. It runs on the caller's thread
// and touches the engine only for statistics.
internal import Glibc
internal import Platform

/// Runs a workload on an engine.
package final class WorkloadRun<Driver: EngineDriver> {
  private let workload: any Workload<Driver>
  private let settings: RunSettings
  private let interruption: any Interruption
  private let progress: ProgressLine
  private let series: (([Sample], GrowthPoint) -> Void)?
  private let companions: Companions?
  private let control: RunControl
  private let ledgers = Monitor(InvariantLedger())
  private let pauses = Monitor(UInt64(0))
  private let probe: StatisticsProbe<Driver>
  private var lock: LockWatch<Driver>
  private let clock = MonotonicClock()
  private var handovers: [Handover] = []
  private var threads: [(thread: Thread, plan: WorkerPlan)] = []
  /// Numbers of the threads that have ended.
  private let ended = Monitor<Set<Int>>([])
  private var outcome: RunOutcome
  /// Numbers of the threads that have finished an operation of the measured phase.
  private var workers: Set<Int> = []
  private var began: UInt64 = 0
  private var lastInterval: UInt64 = 0
  /// The length of the phases behind the present one, as far as they end by time.
  private var laterNanoseconds: UInt64 = 0
  private var isInterrupted = false
  /// Nothing falls due any more; threads do what was due before.
  private var isEnding = false
  /// An interval has ended since.
  private var hasEndedInterval = false
  /// How far a phase that ends by its operations has come, and when it got there.
  private var progressSeen: [Int]?
  private var progressAt: UInt64 = 0

  /// - Parameter series: gets each interval's figures as soon as it ends, on the caller's thread.
  package init(
    _ workload: any Workload<Driver>, settings: RunSettings, interruption: any Interruption,
    progress: ProgressLine, companions: Companions? = nil,
    series: (([Sample], GrowthPoint) -> Void)? = nil
  ) {
    self.companions = companions
    self.series = series
    self.workload = workload
    self.settings = settings
    self.interruption = interruption
    self.progress = progress
    control = workload.shared.control
    probe = StatisticsProbe(workload.shared.driver)
    lock = LockWatch(workload.shared.driver)
    outcome = RunOutcome(collector: Collector(openLoop: settings.openLoop))
  }

  /// Runs everything; failures and violations are part of what is returned.
  package func run() -> RunOutcome {
    began = clock.nanoseconds()
    probe.start()
    defer { probe.end() }
    defer { companions?.end() }
    if load() && startCompanions() {
      startThreads()
      if waitUntilReady() {
        waitForOtherProcesses()
        goingFirst { measurePhases() }
      }
      if canCheckEnd { checkEnd() }
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

  /// Waits until all threads have opened their sessions; false when the user had enough before.
  private func waitUntilReady() -> Bool {
    while !control.waitUntilReady(threads: threads.count, nanoseconds: 50_000_000) {
      if interruption.isRequested() {
        isInterrupted = true
        control.abort()
      } else if let words = lock.complaint(
        after: settings.patienceNanoseconds, at: clock.nanoseconds())
      {
        control.fail("a thread cannot begin: \(words)")
      } else {
        continue
      }
      stopThreads(after: .load)
      return false
    }
    return true
  }

  /// Whether the table can be looked at: threads that still wait for the write lock say that the
  /// check would, too.
  private var canCheckEnd: Bool {
    !isInterrupted && control.violation == nil && control.failure == nil
      && outcome.unended.isEmpty
  }

  /// Of several processes all begin together.
  private func waitForOtherProcesses() {
    guard let member = settings.member, control.failure == nil else { return }
    if !member.board.waitForBegin(interruption) { isInterrupted = true }
  }

  // MARK: - Load

  /// False when the run ends here.
  private func load() -> Bool {
    // Of several processes the one that has started them has filled the table.
    if settings.member != nil { return true }
    let before = statistics(withinNanoseconds: 10_000_000_000)
    let start = clock.nanoseconds()
    let end = SetUp(workload, settings, interruption, progress)
      .run(&lock, loaded: &outcome.loadedObjects)
    switch end {
    case .whole: break
    case .interrupted: isInterrupted = true
    case .left, .stuck:
      outcome.unended.append("load")
      if case .stuck(let words) = end { control.fail("loading the table: \(words)") }
      isInterrupted = control.failure == nil
      return false
    case .failed(let words): control.fail("loading the table: \(words)")
    }
    endPhase(.load, start: start, before: before)
    return !isInterrupted && control.failure == nil
  }

  /// False when the run ends here.
  private func startCompanions() -> Bool {
    do {
      try companions?.start()
      return true
    } catch {
      control.fail(error.explanation)
      return false
    }
  }

  // MARK: - Threads

  private func startThreads() {
    for plan in workload.threads {
      guard start(plan) else { return }
      let waits = plan.operations.first.map { settings.openLoop.contains($0) || $0 == .notify }
      if waits == false { outcome.busyThreads += 1 }
    }
  }

  /// What a thread has found; the engine's own failure comes first: what is seen after it says
  /// nothing.
  private static func report(
    _ error: any Error, of thread: String, _ driver: Driver, to control: RunControl
  ) {
    if let failure = driver.failure {
      control.fail("\(thread): \(failure.explanation)")
    } else if let violation = error as? Violation {
      control.report(violation, thread: thread)
    } else {
      control.fail("\(thread): \(error.explanation)")
    }
  }

  /// False when the system has no thread to give: the run has failed then.
  private func start(_ plan: WorkerPlan) -> Bool {
    let handover = Handover(plan.operations, openLoop: settings.openLoop)
    let (control, ledgers, pauses, ended) = (control, ledgers, pauses, ended)
    let driver = workload.shared.driver
    let number = threads.count
    let thread = Thread.startIfPossible(name: plan.name) {
      defer {
        ended.withLock { _ = $0.insert(number) }
        control.threadFinished()
      }
      do {
        var worker = try plan.make(handover)
        defer {
          let (ledger, paused) = (worker.ledger, worker.pausedNanoseconds)
          ledgers.withLock { $0.add(ledger) }
          pauses.withLock { $0 += paused }
        }
        try ThreadWork.countingInstructions { try worker.run() }
      } catch is RunControl.GivenUp {
        // Nobody waits for it any more.
      } catch {
        Self.report(error, of: plan.name, driver, to: control)
      }
    }
    guard let thread else {
      control.fail(
        "\(plan.name) cannot be started: the system has no more threads to give; \(number) of "
          + "\(workload.threads.count) run (see 'ulimit -u' and 'ulimit -v')")
      return false
    }
    handovers.append(handover)
    threads.append((thread, plan))
    return true
  }

  /// Called once: a thread must not be joined twice.
  ///
  /// Those with a schedule first do what was due in the phase; its intervals go on meanwhile.
  /// - Parameter length: how long that phase has lasted.
  private func stopThreads(after phase: Phase, length: UInt64 = 0) {
    let start = clock.nanoseconds()
    // When those are given up that wait for the write lock, which others may keep for ever.
    let catchingUp =
      settings.openLoop.isEmpty ? 0 : min(length, ThreadPace.catchingUpNanosecondsMax)
    let abandonsAt =
      start + catchingUp + RunControl.graceNanoseconds + RunControl.givingUpNanoseconds
    var isTold = false
    /// When those that do not end are given up: nobody knows how long they are kept.
    var givesUpAt: UInt64?
    while !control.areFinished(threads: threads.count) {
      collect()
      sleep(nanoseconds: 1_000_000)
      if !isInterrupted && interruption.isRequested() {
        isInterrupted = true
        control.abort()
      }
      let now = clock.nanoseconds()
      if control.hasNoTime {
        givesUpAt = givesUpAt ?? now + RunControl.endingNanoseconds
        if now > givesUpAt! { break }
      } else if areKeptWaiting() && now > abandonsAt {
        outcome.keeper = lock.keeper(for: 0, at: now)
        control.abandonWaits()
        outcome.areKeptWaiting = true
        break
      }
      if !isTold && now - start > 500_000_000 {
        progress.step("the time is over; waiting for what was begun or due ...")
        isTold = true
      }
      if now - min(lastInterval, now) >= settings.intervalNanoseconds {
        control.tick()
        endInterval(phase, at: now, waitsForThreads: true)
      }
    }
    let ended = ended.withLock { $0 }
    for (number, (thread, plan)) in threads.enumerated() {
      if ended.contains(number) {
        thread.join()
        collect(number)
        continue
      }
      thread.detach()
      outcome.unended.append(plan.name)
      takeOver(number, plan, in: phase)
    }
  }

  /// Whether every thread that has not ended waits for the write lock, so that none of them has it.
  ///
  /// - Parameter start: and has done so since then.
  private func areKeptWaiting(since start: UInt64 = .max) -> Bool {
    let ended = ended.withLock { $0 }
    // Asked each time: it knows since when.
    let keeper = lock.keeper(for: RunControl.givingUpNanoseconds, at: clock.nanoseconds())
    return handovers.indices.allSatisfy { number in
      if ended.contains(number) { return true }
      guard let wait = handovers[number].lockWait.present, wait.since <= start else { return false }
      return !wait.mayWork || keeper != nil
    }
  }

  /// Takes what a thread has measured that nobody waits for, with all that was due and is not done.
  ///
  /// Only while it waits for the write lock does it leave its figures alone.
  private func takeOver(_ number: Int, _ plan: WorkerPlan, in phase: Phase) {
    let isWhole = handovers[number].lockWait.takeOver { wait, owner in
      collect(number)
      if let position = wait.operation, plan.operations.indices.contains(position) {
        countGivenUp(position, plan, since: wait.since, in: phase)
      }
      if var pace = owner.pace {
        pace.endInStead { absorb($0, of: number) }
      } else {
        absorb(owner.measurements, of: number)
      }
    }
    if isWhole { return }
    collect(number)
    for operation in plan.operations { outcome.collector.truncate(phase, operation) }
  }

  private func countGivenUp(
    _ position: Int, _ plan: WorkerPlan, since start: UInt64, in phase: Phase
  ) {
    let now = clock.nanoseconds()
    let measurements = Measurements(plan.operations, openLoop: settings.openLoop)
    // It may have waited through the phases since then.
    measurements.phase = control.phase(at: start) ?? phase
    measurements.figures[position].givenUp = 1
    measurements.figures[position].givenUpLongest = now - min(start, now)
    outcome.collector.absorb(measurements)
  }

  // MARK: - Figures

  /// Takes what the threads have handed over.
  private func collect() { for number in handovers.indices { collect(number) } }

  private func collect(_ number: Int) {
    handovers[number].collect { absorb($0, of: number) }
  }

  private func absorb(_ measurements: Measurements, of number: Int) {
    if measurements.phase.isMeasured, measurements.figures.contains(where: { $0.service.count > 0 })
    {
      workers.insert(number)
    }
    outcome.collector.absorb(measurements)
  }

  /// Counts the threads of a closed loop that have waited through the whole phase.
  private func countIdle() {
    guard settings.operationsOfPhase == nil, settings.script.steps.isEmpty else { return }
    for (number, (_, plan)) in threads.enumerated() where !workers.contains(number) {
      guard let operation = plan.operations.first, operation.commits,
        !settings.openLoop.contains(operation)
      else { continue }
      outcome.idleThreads[operation, default: 0] += 1
    }
  }

  // MARK: - Phases

  /// Runs a body before all other threads, where the system allows it.
  ///
  /// Among hundreds of busy ones the coordinator must get a processor when a phase is over. What it
  /// starts meanwhile would go first, too.
  private func goingFirst(_ body: () -> Void) {
    guard companions == nil else { return body() }
    let thread = __priority_which_t(PRIO_PROCESS.rawValue)
    let usual = getpriority(thread, 0)
    let isFirst = setpriority(thread, 0, usual - 10) == 0
    defer { if isFirst { setpriority(thread, 0, usual) } }
    body()
  }

  private func measurePhases() {
    var phases: [(Phase, UInt64, Int?)] = []
    if settings.warmupNanoseconds > 0 || settings.warmupOperations != nil {
      phases.append((.warmup, settings.warmupNanoseconds, settings.warmupOperations))
    }
    if settings.script.steps.isEmpty {
      phases.append((.measure, settings.durationNanoseconds, settings.operationsOfPhase))
    }
    for (number, step) in settings.script.steps.enumerated() {
      phases.append((.step(number), step.durationNs ?? 0, step.operations))
    }
    // Ends by itself: the time is only for a file that never gets short.
    if settings.workload.facts.recovers { phases.append((.recover, 60_000_000_000, nil)) }
    var running: (phase: Phase, start: UInt64, before: EngineStatistics)?
    for (position, (phase, length, operations)) in phases.enumerated() {
      laterNanoseconds = phases[(position + 1)...].filter { $0.2 == nil && $0.0 != .recover }
        .reduce(0) { $0 + $1.1 }
      let before = statistics(withinNanoseconds: 10_000_000_000)
      let start = clock.nanoseconds()
      if let running {
        let end = control.stoppedAt
        // The same counters: what happens while they are asked for again would be of both phases.
        endPhase(
          running.phase, start: running.start, before: running.before, after: before,
          end: end == 0 ? start : end)
      }
      control.begin(phase, at: start, operations: operations)
      if let running { endInterval(running.phase, at: start, waitsForThreads: true) }
      lastInterval = start
      running = (phase, start, before)
      if phase == .measure || phase == .step(0) {
        workload.shared.note(fileBytesBefore: before.fileBytes)
        companions?.begin(at: start)
        settings.member?.board.noteMeasured()
      }
      guard follow(phase, start: start, length: operations == nil ? length : nil, operations)
      else { break }
    }
    guard let running else { preconditionFailure("a run has at least the measured phase") }
    if isInterrupted { control.abort() } else { control.stop() }
    let stopped = control.stoppedAt
    let end = stopped == 0 ? clock.nanoseconds() : stopped
    isEnding = true
    stopThreads(after: running.phase, length: end - min(running.start, end))
    endPhase(running.phase, start: running.start, before: running.before, end: end)
    endInterval(running.phase, at: clock.nanoseconds())
    joinSteps()
    countIdle()
    let measured = outcome.phases.filter { $0.phase != .load && $0.phase.step == nil }
    let seconds = measured.reduce(0) { $0 + $1.elapsedSeconds }
    outcome.threadNanoseconds = UInt64(seconds * 1e9) * UInt64(threads.count)
  }

  /// The steps of a plan together are the measured phase.
  private func joinSteps() {
    let steps = outcome.phases.filter { $0.phase.step != nil }
    guard let first = steps.first, let last = steps.last else { return }
    outcome.phases.append(
      PhaseOutcome(
        phase: .measure, start: first.start,
        elapsedSeconds: steps.reduce(0) { $0 + $1.elapsedSeconds },
        before: first.before, after: last.after))
  }

  /// How often the coordinator looks.
  private static var lookNanoseconds: UInt64 { 10_000_000 }

  /// Watches a phase to its end; false when the run has to stop.
  private func follow(
    _ phase: Phase, start: UInt64, length: UInt64?, _ operations: Int?
  ) -> Bool {
    (progressSeen, progressAt) = (nil, start)
    while true {
      let asleep = clock.nanoseconds()
      sleep(nanoseconds: Self.lookNanoseconds)
      let now = clock.nanoseconds()
      if phase.isMeasured {
        // Whoever stops the process stops this thread, too, which does little else than sleep.
        let late = now - min(asleep + Self.lookNanoseconds, now)
        outcome.longestStandstill = max(outcome.longestStandstill, late)
      }
      collect()
      if interruption.isRequested() {
        isInterrupted = true
        return false
      }
      do { try companions?.follow(at: now) } catch { control.fail(error.explanation) }
      if control.violation != nil || control.failure != nil { return false }
      if control.epoch.phase == nil || control.areFinished(threads: threads.count) { return false }
      // Nothing recovers while somebody else keeps the write lock.
      let patience = RunControl.graceNanoseconds + RunControl.givingUpNanoseconds
      if phase == .recover, now - start > patience, areKeptWaiting(since: start) { return false }
      if let length, now - start >= length { return true }
      if length == nil || operations != nil, phase != .recover, isStuck(at: now) { return false }
      // In a phase that ends by the clock alone, threads without work only rest.
      if length == nil || operations != nil, control.areWaiting(threads: threads.count) {
        return true
      }
      if now - lastInterval >= settings.intervalNanoseconds {
        control.tick()
        endInterval(phase, at: now, waitsForThreads: true)
      }
      let loaded =
        settings.workload.facts.loadsFirst ? 0 : Double(workload.objects) / Double(settings.objects)
      showProgress(
        phase, fraction: length.map { Double(now - start) / Double($0) } ?? loaded,
        nanosecondsLeft: length.map { $0 - min($0, now - start) + laterNanoseconds })
    }
  }

  /// Whether a phase that ends by its operations gets no nearer to its end for as long as the run
  /// is ready to wait, since somebody else keeps the write lock.
  private func isStuck(at now: UInt64) -> Bool {
    let done = control.budgetLeft + [workload.shared.versions.transactions]
    if done != progressSeen { (progressSeen, progressAt) = (done, now) }
    let patience = settings.patienceNanoseconds
    // Asked each time: it knows since when.
    let keeper = lock.keeper(for: patience, at: now)
    guard now - min(progressAt, now) >= patience else { return false }
    return keeper != nil || areKeptWaiting(since: now - min(patience, now))
  }

  private func endPhase(
    _ phase: Phase, start: UInt64, before: EngineStatistics, after: EngineStatistics? = nil,
    end: UInt64? = nil
  ) {
    outcome.phases.append(
      PhaseOutcome(
        // Whoever fails before a phase begins has stopped the run earlier than that.
        phase: phase, start: start,
        elapsedSeconds: Double(max(end ?? clock.nanoseconds(), start) - start) / 1e9,
        before: before, after: after ?? statistics(withinNanoseconds: 10_000_000_000)))
  }

  private func endInterval(_ phase: Phase, at now: UInt64, waitsForThreads: Bool = false) {
    if waitsForThreads {
      // The threads answer between two operations; who is in a long one is counted next time.
      sleep(nanoseconds: 2_000_000)
      collect()
    }
    // A thread may have stopped the run before the last interval was noted.
    let now = max(now, lastInterval + 1)
    let elapsed = Double(now - began) / 1e9
    lastRates = rates(seconds: Double(now - lastInterval) / 1e9)
    let length = Double(now - lastInterval) / 1e9
    if phase == .measure && !(isEnding && hasEndedInterval) {
      hasEndedInterval = isEnding
      // The last one counts for the judgement of steadiness only as the one that is left out.
      for operation in settings.operationsMeasured {
        let count = Double(outcome.collector.intervalCount(operation, in: phase))
        outcome.rates[operation, default: []].append(count / length)
      }
    }
    // What is left over at the end of a phase may be too short for a rate.
    let isWhole = length * 4e9 >= Double(settings.intervalNanoseconds)
    let samples = outcome.collector.endInterval(
      of: phase, elapsedSeconds: elapsed, lengthSeconds: isWhole ? length : 0,
      expecting: isEnding ? [] : settings.operationsMeasured.filter { $0.phase == .measure })
    outcome.sampleCount += samples.count
    lastInterval = now
    let resident = residentBytes()
    let point = GrowthPoint(
      phase: phase, elapsedSeconds: elapsed,
      statistics: statistics(withinNanoseconds: min(100_000_000, settings.intervalNanoseconds)),
      pins: workload.pinsKept, objects: workload.objects,
      transactions: workload.shared.versions.transactions,
      residentBytes: resident == 0 ? nil : resident,
      allocatedBytes: Allocator.shared.allocatedBytes(),
      walkedBytes: workload.shared.takeWalkedBytes())
    outcome.growth.append(point)
    series?(samples, point)
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
    let (workload, isMember) = (workload, settings.member != nil)
    let end = EndCheck.run(settings, control, interruption, &lock) { ledger in
      if isMember {
        // The others may still write: the whole is judged by the process that has started them.
        try FinalCheck.checkPins(workload.shared, &ledger)
      } else {
        try workload.checkEnd(&ledger)
      }
    }
    ledgers.withLock { $0.add(end.ledger) }
    if let error = end.error {
      Self.report(error, of: "final check", workload.shared.driver, to: control)
    }
    isInterrupted = end.isInterrupted
    end.note(in: &outcome)
  }

  // MARK: - Progress

  private var lastRates = ""

  private func rates(seconds: Double) -> String {
    guard seconds > 0 else { return "" }
    return settings.operationsMeasured.filter { !$0.isMinor }.map { operation in
      let rate = Double(outcome.collector.intervalCount(operation)) / seconds
      let tail = outcome.collector.intervalP99(operation).map { " p99 \(readableDuration($0))" }
      return "\(grouped(Int(rate))) \(operation.rawValue)s/s\(tail ?? "")"
    }.joined(separator: ", ")
  }

  private func showProgress(_ phase: Phase, fraction: Double, nanosecondsLeft: UInt64?) {
    var parts = lastRates.isEmpty ? [] : [lastRates]
    if let point = outcome.growth.last {
      parts.append("file \(readableBytes(point.statistics.fileBytes))")
      if point.pins > 0 { parts.append("\(grouped(point.pins)) pins") }
    }
    if let nanosecondsLeft {
      parts.append("\(readableSeconds(nanosecondsLeft)) left")
    }
    progress.show(
      settings.name(of: phase), fraction: fraction, parts.joined(separator: ", "))
  }
}
