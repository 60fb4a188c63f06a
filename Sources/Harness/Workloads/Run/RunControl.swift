// How the coordinator steers the measuring threads, and how they report back: one word that each
// thread loads between operations, a budget of operations, and the first thing that went wrong.
internal import Platform

/// Steers the threads of one run.
package final class RunControl: Sendable {
  /// What the word says: phase and interval.
  ///
  /// Threads hand over their figures when it changes.
  package struct Epoch: Equatable, Sendable {
    package let rawValue: UInt64
    fileprivate static let codeBits: UInt64 = 6
    fileprivate static let codes: UInt64 = 1 << codeBits - 1
    fileprivate static let stopCode = codes

    /// Nil when the threads are to stop.
    package var phase: Phase? {
      let code = rawValue & Self.codes
      return code == Self.stopCode ? nil : Phase(rawValue: UInt8(code))
    }
  }

  private struct Reports: Sendable {
    var violation: (violation: Violation, thread: String)?
    var failure: String?
    var readyThreads = 0
    var finishedThreads = 0
    var waitingThreads = 0
    /// Every phase that has begun, and when.
    var begun: [(phase: Phase, start: UInt64)] = []
  }

  private let word = Atomic<UInt64>(UInt64(Phase.load.rawValue))
  private let warmupBudget = Atomic<Int>(Int.max)
  private let measureBudget = Atomic<Int>(Int.max)
  private let stopTime = Atomic<UInt64>(0)
  private let isAborted = Atomic<Bool>(false)
  /// What is due from here on is beyond the budget of the phase.
  private let budgetEnd = Atomic<UInt64>(0)
  private let clock = MonotonicClock()
  private let reports = Monitor(Reports())
  /// Whether what still waits for the write lock is not waited for.
  private let isAbandoned = Atomic<Bool>(false)
  /// Where threads wait for the next phase.
  private let gate = Gate()

  /// The steps of a plan's measured phase, if there is one.
  package let steps: [RunStep]

  package init(steps: [RunStep] = []) { self.steps = steps }

  // MARK: - Threads

  /// What the plan says of a phase.
  package func step(of phase: Phase?) -> RunStep? { phase?.step.map { steps[$0] } }

  /// The present epoch.
  ///
  /// Acquiring: pairs with the releasing stores of `begin` and `stop`, so that the phase's start
  /// and budget are seen with it.
  package var epoch: Epoch { Epoch(rawValue: word.load(ordering: .acquiring)) }

  /// The phase that followed on `phase` and when it began; of none and of the load, the first one.
  ///
  /// A thread goes through all of them, however long an operation has kept it from looking.
  package func phase(after phase: Phase?) -> (phase: Phase, start: UInt64)? {
    reports.withLock { reports in
      let next = reports.begun.firstIndex { $0.phase == phase }.map { $0 + 1 } ?? 0
      return next < reports.begun.count ? reports.begun[next] : nil
    }
  }

  /// The phase of a moment; nil before the first one.
  package func phase(at time: UInt64) -> Phase? {
    reports.withLock { $0.begun.last { $0.start <= time }?.phase }
  }

  /// The phase that has begun last.
  package var lastPhase: Phase? { reports.withLock { $0.begun.last?.phase } }

  /// When a phase ended; nil while it goes on.
  package func end(of phase: Phase?) -> UInt64? {
    if let next = self.phase(after: phase) { return next.start }
    return epoch.phase == nil ? stoppedAt : nil
  }

  /// How long after the end what a closed loop has begun is waited for.
  package static var graceNanoseconds: UInt64 { 1_000_000_000 }
  /// How much longer threads may take to see that they have given up, before nobody waits for them.
  package static var givingUpNanoseconds: UInt64 { 1_000_000_000 }

  /// How long a thread may take to end once nothing is to be finished any more.
  package static var endingNanoseconds: UInt64 { 5_000_000_000 }

  /// The run was over long before the transaction could begin.
  package struct GivenUp: ErrorInWords {
    package init() {}
    package var words: String { "the run was over before the transaction could begin" }
  }

  /// At the begin of a transaction: nobody is to wait for hundreds of threads that have waited for
  /// each other, and what is not waited for changes nothing any more.
  package func checkNotOverdue(isScheduled: Bool) throws {
    guard epoch.phase == nil else { return }
    if hasAbandonedWaits { throw GivenUp() }
    // What was due is done as long as there is time for it.
    if isScheduled { return }
    let stopped = stoppedAt
    if stopped > 0 && clock.nanoseconds() > stopped + Self.graceNanoseconds { throw GivenUp() }
  }

  /// Between two steps of the final check: the user may have enough.
  package func checkNotLeft() throws { if hasNoTime { throw GivenUp() } }

  /// Whether threads that still wait for the write lock are on their own.
  package var hasAbandonedWaits: Bool { isAbandoned.load(ordering: .sequentiallyConsistent) }

  /// Leaves threads that wait for the write lock to themselves.
  ///
  /// One that gets it later finds so, and changes nothing.
  package func abandonWaits() { isAbandoned.store(true, ordering: .sequentiallyConsistent) }

  /// Whether nothing is to be finished any more: the run has failed, or the user has enough.
  package var hasNoTime: Bool { isAborted.load(ordering: .relaxed) }

  /// Takes up to `count` operations from the budget of the thread's phase.
  ///
  /// 0 means that all are taken. Warm-up and the measured phase have a budget each.
  package func claim(_ count: Int, in phase: Phase?) -> Int {
    switch phase {
    case .warmup: Self.claim(count, of: warmupBudget)
    case .some(let phase) where phase.isMeasured: Self.claim(count, of: measureBudget)
    default: count
    }
  }

  /// What is left of both budgets: as long as it gets less, a phase comes to its end.
  var budgetLeft: [Int] {
    [warmupBudget.load(ordering: .relaxed), measureBudget.load(ordering: .relaxed)]
  }

  private static func claim(_ count: Int, of budget: borrowing Atomic<Int>) -> Int {
    // Relaxed: a counter that orders nothing else.
    if budget.load(ordering: .relaxed) == .max { return count }
    let left = budget.subtract(count, ordering: .relaxed).oldValue
    return max(0, min(count, left))
  }

  /// Called by each thread once its session is open; returns when the first phase has begun.
  package func waitForStart() {
    reports.withLock { $0.readyThreads += 1 }
    reports.notifyAll()
    gate.wait { epoch.phase != .load }
  }

  /// Called by a thread that found the budget taken.
  ///
  /// It ends by itself; the others still have operations that they took. `isScheduled`: whether
  /// its operations were due, and told by `budgetCovers`.
  package func budgetIsTaken(isScheduled: Bool) {
    let now = clock.nanoseconds()
    stopTime.max(now, ordering: .relaxed)
    if !isScheduled { budgetEnd.max(now, ordering: .relaxed) }
  }

  /// Called by a thread that took an operation of the budget which was due then.
  package func budgetCovers(due: UInt64) {
    if measureBudget.load(ordering: .relaxed) != .max { budgetEnd.max(due, ordering: .relaxed) }
  }

  /// With the budget taken: what was due before belongs to the phase, whoever took the last one.
  package var budgetEndsAt: UInt64 { budgetEnd.load(ordering: .relaxed) }

  /// Called by a thread that found the budget of its phase taken and goes on in the next one.
  package func waitForNextPhase(after phase: Phase?) {
    reports.withLock { if epoch.phase == phase { $0.waitingThreads += 1 } }
    gate.wait { epoch.phase != phase }
  }

  package func threadFinished() {
    reports.withLock { $0.finishedThreads += 1 }
    reports.notifyAll()
  }

  /// Keeps the first violation and stops the run.
  package func report(_ violation: Violation, thread: String) {
    reports.withLock { reports in
      if reports.violation == nil { reports.violation = (violation, thread) }
    }
    abort()
  }

  /// Keeps the first failure of the engine and stops the run.
  package func fail(_ text: String) {
    reports.withLock { reports in
      if reports.failure == nil { reports.failure = text }
    }
    abort()
  }

  // MARK: - Coordinator

  package var violation: (violation: Violation, thread: String)? {
    reports.withLock { $0.violation }
  }

  package var failure: String? { reports.withLock { $0.failure } }

  /// When the run was first told to stop, or the last thread found the budget taken.
  ///
  /// 0 while it goes on.
  package var stoppedAt: UInt64 { stopTime.load(ordering: .relaxed) }

  /// Waits until that many threads are ready or have failed; false when the time is over.
  package func waitUntilReady(threads: Int, nanoseconds: UInt64) -> Bool {
    reports.wait(nanoseconds: nanoseconds) { $0.readyThreads + $0.finishedThreads >= threads }
  }

  package func areFinished(threads: Int) -> Bool {
    reports.withLock { $0.finishedThreads >= threads }
  }

  /// Whether all threads that have not finished wait for the next phase.
  package func areWaiting(threads: Int) -> Bool {
    reports.withLock { $0.waitingThreads > 0 && $0.waitingThreads + $0.finishedThreads >= threads }
  }

  /// Begins a phase, with a number of operations or without an end of its own.
  package func begin(_ phase: Phase, at now: UInt64, operations: Int? = nil) {
    if epoch.phase != nil { stopTime.store(0, ordering: .relaxed) }
    budgetEnd.store(0, ordering: .relaxed)
    switch phase {
    case .warmup: warmupBudget.store(operations ?? .max, ordering: .relaxed)
    case _ where phase.isMeasured: measureBudget.store(operations ?? .max, ordering: .relaxed)
    default: break
    }
    reports.withLock { reports in
      // Before the word: who sees the phase finds it here.
      if epoch.phase != nil { reports.begun.append((phase, now)) }
      move { previous in
        previous & Epoch.codes == Epoch.stopCode ? nil : next(previous, UInt64(phase.rawValue))
      }
      // Who waited for this phase is counted no more, even if it wakes late.
      reports.waitingThreads = 0
    }
    gate.open()
  }

  /// Makes every thread hand over what it has measured.
  package func tick() {
    move { previous in next(previous, previous & Epoch.codes) }
  }

  /// As `stop`, but nothing that was due is waited for.
  package func abort() {
    isAborted.store(true, ordering: .relaxed)
    stop()
  }

  /// Makes every thread stop after its present operation, and after those that were due before.
  package func stop() {
    _ = stopTime.compareExchange(expected: 0, desired: clock.nanoseconds(), ordering: .relaxed)
    move { previous in next(previous, Epoch.stopCode) }
    gate.open()
  }

  private func next(_ previous: UInt64, _ code: UInt64) -> UInt64 {
    ((previous >> Epoch.codeBits) &+ 1) << Epoch.codeBits | code
  }

  private func move(_ change: (UInt64) -> UInt64?) {
    var current = word.load(ordering: .relaxed)
    while let wanted = change(current) {
      let (exchanged, original) = word.compareExchange(
        expected: current, desired: wanted, ordering: .acquiringAndReleasing)
      if exchanged { return }
      current = original
    }
  }
}
