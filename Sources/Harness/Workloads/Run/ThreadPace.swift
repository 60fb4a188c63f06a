// How a measuring thread keeps step with its run: phases, the budget of operations, the schedule of
// an open loop, and where its figures go. What was due in a phase belongs to it: a thread that is
// late at its end first does what was due, for a time, and says of the rest how long it has waited.
package import Platform

/// One thread's pace; used on that thread only.
package struct ThreadPace {
  /// A thread's part of an open loop.
  package struct OpenLoad: Sendable {
    package let ratePerSecond: Double
    package let arrivals: Arrivals
    /// In gaps; shifts threads against each other.
    package let offset: Double

    package init(ratePerSecond: Double, arrivals: Arrivals, offset: Double) {
      self.ratePerSecond = ratePerSecond
      self.arrivals = arrivals
      self.offset = offset
    }
  }

  /// Which of the run's threads this is: a step of a plan may let some of them rest, and has
  /// schedules of its own.
  package struct Member: Sendable {
    package enum Kind: Sendable {
      case reader
      case writer
      /// A thread that does everything.
      case any
    }

    package let kind: Kind
    /// From 1 on.
    package let number: Int
    package let count: Int

    package init(_ kind: Kind, _ number: Int, of count: Int) {
      self.kind = kind
      self.number = number
      self.count = count
    }
  }

  /// Leave to do one operation.
  package struct Turn {
    /// When it was due; nil in a closed loop.
    package let due: UInt64?
    /// The phase in which it was due; nil stands for the one in which it is recorded.
    fileprivate let phase: Phase?
    package var isScheduled: Bool { due != nil }

    package init(due: UInt64? = nil) { self.init(due: due, in: nil) }

    fileprivate init(due: UInt64?, in phase: Phase?) { (self.due, self.phase) = (due, phase) }
  }

  /// The end of a phase, seen by a thread that may be behind.
  private struct Ending {
    /// What is due from here on is not the phase's.
    var end: UInt64
    /// When the thread gives up what is left.
    let givesUpAt: UInt64
  }

  /// An operation counts as late when it starts this long after it was due.
  package static let lateNanoseconds: UInt64 = 1_000_000
  /// What was due in a phase is waited for as long as the phase has lasted, but no longer than
  /// this.
  package static let catchingUpNanosecondsMax: UInt64 = 5_000_000_000

  /// Figures of the operations of the present phase, in the order of the thread's plan.
  package private(set) var measurements: Measurements
  /// When the thread's last operation ended.
  package private(set) var freeAt: UInt64 = 0
  package private(set) var pausedNanoseconds: UInt64 = 0

  private let control: RunControl
  private var handover: Handover
  /// Where the thread says that it waits for the write lock.
  package let lockWait: LockWait
  private let openLoad: OpenLoad?
  private let member: Member?
  private let arrivals: Arrivals
  /// By operation: its part of those that were due and that nobody started.
  private let skippedShares: [Double]
  /// How much of what was left out each operation still has to get of it.
  private var skippedCredits: [Double]
  private let clock = MonotonicClock()
  private var epoch: RunControl.Epoch
  /// The phase whose operations this thread does; the load before it has begun one.
  private var current = Phase.load
  private var phaseStart: UInt64 = 0
  /// Set when the phase is over, or its budget taken.
  private var ending: Ending?
  private var isOver = false
  private var schedule: ArrivalSchedule?
  /// Turns of the schedule whose operations have not ended.
  private var begun: [Turn] = []
  private var random: RandomGenerator

  package init(
    control: RunControl, handover: Handover, openLoad: OpenLoad? = nil, member: Member? = nil,
    arrivals: Arrivals = .fixed, skippedShares: [Double] = [1], random: RandomGenerator
  ) {
    self.member = member
    self.arrivals = arrivals
    self.control = control
    self.handover = handover
    lockWait = handover.lockWait
    self.openLoad = openLoad
    self.skippedShares = skippedShares
    skippedCredits = skippedShares.map { _ in 0 }
    self.random = random
    measurements = handover.take(phase: .warmup)
    epoch = control.epoch
  }

  // MARK: - Phases

  /// Returns when the first phase has begun; call it once the session is open.
  package mutating func waitForStart() {
    control.waitForStart()
    freeAt = clock.nanoseconds()
  }

  /// Whether the coordinator wants something, or the run is over: then call `follow`.
  package var hasChanged: Bool { control.epoch != epoch }

  /// The phase whose operations this thread does; nil when the run is over for it.
  package var phase: Phase? { isOver ? nil : current }

  /// Whether others may still do what was due in the phase, and need this thread for it.
  ///
  /// No longer than that: a thread that only waits for others must not keep a run from its end.
  package var hasTimeToCatchUp: Bool {
    guard !control.hasNoTime else { return false }
    return ending.map { clock.nanoseconds() < $0.givesUpAt } ?? true
  }

  /// Call it between operations: hands over what was measured when the coordinator wants it, and
  /// goes on to the next phase when nothing is left to do in this one.
  ///
  /// False when the run is over.
  package mutating func follow() -> Bool {
    let present = control.epoch
    if present == epoch && ending == nil { return !isOver }
    return follow(present)
  }

  @inline(never)
  private mutating func follow(_ present: RunControl.Epoch) -> Bool {
    let wantsFigures = present != epoch && current != .load
    epoch = present
    if wantsFigures && (present.phase == current || ending != nil) {
      handover.put(measurements)
      measurements = handover.take(phase: current)
    }
    while epoch.phase != current {
      if ending == nil { close(at: control.end(of: current) ?? clock.nanoseconds()) }
      if isBehind { return true }
      guard moveOn() else {
        isOver = true
        return false
      }
      epoch = control.epoch
    }
    return true
  }

  /// Sees that the phase is over, and that what is due from `end` on is not its own.
  private mutating func close(at end: UInt64) {
    let now = clock.nanoseconds()
    let length = end - min(phaseStart, end)
    ending = Ending(
      end: end, givesUpAt: now + min(length, Self.catchingUpNanosecondsMax))
  }

  /// Whether the phase is over and something that was due in it is still to be done now.
  private var isBehind: Bool {
    guard let ending, let schedule, current.isMeasured, schedule.due < ending.end else {
      return false
    }
    return !control.hasNoTime && clock.nanoseconds() < ending.givesUpAt
  }

  /// Leaves the phase for the one after it; false when there is none.
  private mutating func moveOn() -> Bool {
    guard let next = control.phase(after: current) else { return false }
    if current == .load {
      measurements.phase = next.phase
    } else {
      leave()
      measurements = handover.take(phase: next.phase)
    }
    enter(next)
    if rests(in: current) {
      control.waitForNextPhase(after: current)
    } else {
      startSchedule()
    }
    return true
  }

  private mutating func enter(_ next: (phase: Phase, start: UInt64)) {
    (current, phaseStart) = next
    ending = nil
    schedule = nil
  }

  /// Whether a step of a plan does without this thread.
  private func rests(in phase: Phase) -> Bool {
    guard let member, let step = control.step(of: phase) else { return false }
    return member.number > step.active(member.kind, of: member.count)
  }

  /// Call it when the thread ends, however it ends.
  package mutating func finish() {
    if ending == nil {
      // What falls due while the thread is on its way out belongs to no phase.
      close(at: control.end(of: current) ?? clock.nanoseconds())
    }
    // Some wait for the end of their operations when their last turn was long ago.
    let unended = begun
    begun = []
    for turn in unended { leaveOut(turn) }
    leave()
  }

  // MARK: - Waits for the write lock

  /// Call it before the write lock is asked for: until the wait ends the thread leaves its figures
  /// alone.
  /// - Parameters:
  ///   - operation: the place of the operation in the thread's plan; nil for a check.
  ///   - since: when it was due, or began.
  ///   - mayWork: whether what it does with the lock is done before the wait ends.
  package func beginWait(_ operation: Int?, since start: UInt64, mayWork: Bool = false) {
    tellOwner()
    lockWait.begin(operation, since: start, mayWork: mayWork)
  }

  /// Says whose wait it is that another thread is to begin.
  package func tellOwner() {
    lockWait.owner = LockWait.Owner(
      measurements: measurements, pace: schedule == nil && begun.isEmpty ? nil : self)
  }

  /// Ends the phases in the stead of a thread that does not come back: of all that was due is said
  /// how long it has waited.
  /// - Parameter absorb: gets the figures of each phase, the thread's own first.
  mutating func endInStead(_ absorb: (Measurements) -> Void) {
    let scheduled = zip(measurements.operations, measurements.figures)
      .filter { $0.1.response != nil }
    handover = Handover(measurements.operations, openLoop: Set(scheduled.map(\.0)))
    let unended = begun
    begun = []
    for turn in unended {
      leaveOut(turn)
      handover.collect(absorb)
    }
    while true {
      if ending == nil { close(at: control.end(of: current) ?? clock.nanoseconds()) }
      leave()
      handover.collect(absorb)
      guard let next = control.phase(after: current) else { return }
      measurements = handover.take(phase: next.phase)
      enter(next)
      if !rests(in: current) { startSchedule() }
    }
  }

  /// Gives away the figures of the phase, with what was due in it and is not done.
  private mutating func leave() {
    // The way back ends when the file is short; nothing more is asked of it.
    if let ending, current != .recover {
      let now = clock.nanoseconds()
      var left = schedule
      left?.skip(until: ending.end) { due, count in
        let figures = measurements.figures[nextSkipped()]
        figures.skipped += count
        figures.leftOut?.record(now - min(due, now), times: count)
      }
      schedule = left
    }
    if schedule != nil {
      // What else the thread has done lasted as long.
      for figures in measurements.figures { figures.lastEnd = max(figures.lastEnd, freeAt) }
    }
    handover.put(measurements)
  }

  /// Notes an operation that was begun and has not ended.
  private mutating func leaveOut(_ turn: Turn) {
    guard let due = turn.due else { return }
    let now = clock.nanoseconds()
    let position = nextSkipped()
    record(in: turn.phase) { $0[position].leftOut?.record(now - min(due, now)) }
  }

  /// What was left out would have been of the kinds that the load is made of.
  private mutating func nextSkipped() -> Int {
    guard skippedShares.count > 1 else { return 0 }
    for position in skippedShares.indices { skippedCredits[position] += skippedShares[position] }
    let next = skippedCredits.indices.max { skippedCredits[$0] < skippedCredits[$1] } ?? 0
    skippedCredits[next] -= 1
    return next
  }

  // MARK: - Turns

  /// Takes up to `count` operations from the run's budget, to be done at once; 0 when it is used
  /// up.
  ///
  /// Waits for the measured phase when the budget of the warm-up is taken.
  package mutating func claim(_ count: Int) -> Int {
    while true {
      let claimed = claimMore(count)
      if claimed > 0 || isLast { return claimed }
      guard waitForNextPhase() else { return 0 }
    }
  }

  /// Whether no phase with a budget follows.
  private var isLast: Bool { current != .warmup && current.step == nil }

  /// As `claim`, in the middle of something: never waits.
  package func claimMore(_ count: Int) -> Int {
    // What was due is done, whatever the budget of the next phase.
    if ending != nil && schedule != nil { return count }
    let claimed = control.claim(count, in: current)
    if claimed == 0 { control.budgetIsTaken(isScheduled: schedule != nil) }
    return claimed
  }

  /// Waits until the next operation is due, if there is a schedule; nil when the run is over.
  package mutating func nextTurn() -> Turn? {
    while follow() {
      if ending != nil {
        if isBehind { return takeDue() }
        // The budget is taken, and nothing that was due before is left.
        guard !isLast, waitForNextPhase() else { return nil }
        continue
      }
      if let schedule {
        let (control, epoch) = (control, epoch)
        let isDue = wait(
          until: schedule.due, clock: clock, isCancelled: { control.epoch != epoch })
        if !isDue { continue }
      }
      guard claimMore(1) > 0 else {
        close(at: schedule == nil ? 0 : control.budgetEndsAt)
        continue
      }
      return takeDue()
    }
    return nil
  }

  private mutating func takeDue() -> Turn {
    guard let due = schedule?.due else { return Turn() }
    if ending == nil { control.budgetCovers(due: due) }
    schedule?.advance()
    let turn = Turn(due: due, in: current)
    begun.append(turn)
    return turn
  }

  /// With the budget taken: waits for the phase after this one.
  ///
  /// False when the run is over.
  package mutating func waitForNextPhase() -> Bool {
    guard follow() else { return false }
    control.waitForNextPhase(after: current)
    return follow()
  }

  /// Notes an operation that waited until it made no sense any more.
  package mutating func giveUp(_ operation: Int, after nanoseconds: UInt64) {
    // It was begun in the last phase, whatever the thread was in when it looked last.
    record(in: control.lastPhase ?? current) { figures in
      figures[operation].givenUp += 1
      figures[operation].givenUpLongest = max(figures[operation].givenUpLongest, nanoseconds)
    }
  }

  /// Records an operation, by its place in the thread's plan.
  ///
  /// `began` is when the turn was taken up, if something had to come before the operation;
  /// `excluded` is the time that checks have taken in between; `work` what one thread has done for
  /// it, without them, where the same one has begun and ended it.
  package mutating func record(
    _ operation: Int, _ turn: Turn, began: UInt64? = nil, start: UInt64, end: UInt64,
    excluded: UInt64 = 0, work: ThreadWork? = nil
  ) {
    let free = freeAt
    freeAt = end
    if let due = turn.due, let position = begun.firstIndex(where: { $0.due == due }) {
      begun.remove(at: position)
    }
    record(in: turn.phase) { figures in
      let figures = figures[operation]
      let service = end - start - min(excluded, end - start)
      if let work { figures.record(service, work) } else { figures.service.record(service) }
      guard let due = turn.due else { return }
      let response = end - min(due, end)
      figures.response?.record(response - min(excluded, response))
      figures.lastEnd = max(figures.lastEnd, end)
      let start = began ?? start
      if start > due + Self.lateNanoseconds { figures.late += 1 }
      // What passed although the operation was due and the engine had finished the one before.
      let possible = max(due, free)
      figures.generatorDelay?.record(start > possible ? start - possible : 0)
    }
  }

  /// The phase of a moment.
  package func phase(at time: UInt64) -> Phase? { control.phase(at: time) }

  /// Records what was done elsewhere and not by turns, and ended in a phase.
  package func record(_ operation: Int, in phase: Phase?, lasting nanoseconds: [UInt64]) {
    record(in: phase) { figures in
      for value in nanoseconds { figures[operation].service.record(value) }
    }
  }

  /// Records in the figures of a phase, which the thread may have left since; nil = the present
  /// one.
  @inline(__always)
  private func record(in phase: Phase?, _ body: ([OperationMeasurements]) -> Void) {
    guard let phase, phase != measurements.phase else { return body(measurements.figures) }
    let late = handover.take(phase: phase)
    body(late.figures)
    handover.put(late)
  }

  /// Leaves out the time of a long check, in which the schedule stands still.
  package mutating func pause(from start: UInt64, to end: UInt64) {
    pausedNanoseconds += end - start
    schedule?.postpone(nanoseconds: end - start)
    ending?.end += end - start
    freeAt = end
  }

  private mutating func startSchedule() {
    if let step = control.step(of: current), let member {
      startSchedule(of: step, member)
      return
    }
    guard let openLoad else { return }
    schedule = ArrivalSchedule(
      openLoad.arrivals, ratePerSecond: openLoad.ratePerSecond, start: phaseStart,
      offset: openLoad.offset, random: random.split())
  }

  private mutating func startSchedule(of step: RunStep, _ member: Member) {
    let active = step.active(member.kind, of: member.count)
    guard let rate = step.rate(member.kind), active > 0 else { return }
    let share = rate.share(of: active)
    schedule = ArrivalSchedule(
      arrivals, ratePerSecond: share.fromPerS, start: phaseStart,
      offset: Double(member.number - 1) / Double(active), random: random.split(),
      ramp: step.durationNs.map { (to: share.toPerS, nanoseconds: $0) })
  }
}
