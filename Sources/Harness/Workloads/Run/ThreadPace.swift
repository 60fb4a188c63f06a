// How a measuring thread keeps step with its run: phases, the budget of operations, the schedule of
// an open loop, and where its figures go.
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

    package init(due: UInt64?) { self.due = due }
  }

  /// An operation counts as late when it starts this long after it was due.
  package static let lateNanoseconds: UInt64 = 1_000_000

  /// Figures of the operations of the present phase, in the order of the thread's plan.
  package private(set) var measurements: Measurements
  /// When the thread's last operation ended.
  package private(set) var freeAt: UInt64 = 0
  package private(set) var pausedNanoseconds: UInt64 = 0

  private let control: RunControl
  private let handover: Handover
  private let openLoad: OpenLoad?
  private let member: Member?
  private let arrivals: Arrivals
  /// By operation: its part of those that were due and that nobody started.
  private let skippedShares: [Double]
  private let clock = MonotonicClock()
  private var epoch: RunControl.Epoch
  private var schedule: ArrivalSchedule?
  private var random: RandomGenerator

  package init(
    control: RunControl, handover: Handover, openLoad: OpenLoad? = nil, member: Member? = nil,
    arrivals: Arrivals = .fixed, skippedShares: [Double] = [1], random: RandomGenerator
  ) {
    self.member = member
    self.arrivals = arrivals
    self.control = control
    self.handover = handover
    self.openLoad = openLoad
    self.skippedShares = skippedShares
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

  package var phase: Phase? { epoch.phase }

  /// Call it between operations: hands over what was measured when the coordinator wants it.
  ///
  /// False when the run is over.
  package mutating func follow() -> Bool {
    let current = control.epoch
    if current == epoch { return epoch.phase != nil }
    let previous = epoch.phase
    epoch = current
    guard let phase = current.phase else { return false }
    if previous == .load {
      measurements.phase = phase
    } else {
      if phase != previous { countSkipped(until: control.phaseStart) }
      handover.put(measurements)
      measurements = handover.take(phase: phase)
    }
    if phase != previous {
      if rests(in: phase) {
        schedule = nil
        control.waitForNextPhase(after: phase)
        return follow()
      }
      startSchedule()
    }
    return true
  }

  /// Whether a step of a plan does without this thread.
  private func rests(in phase: Phase) -> Bool {
    guard let member, let step = control.step(of: phase) else { return false }
    return member.number > step.active(member.kind, of: member.count)
  }

  /// Call it when the thread ends, however it ends.
  package mutating func finish() {
    // What falls due while the thread is on its way out belongs to no phase.
    let stopped = control.stoppedAt
    countSkipped(until: stopped == 0 ? clock.nanoseconds() : stopped)
    handover.put(measurements)
  }

  // MARK: - Turns

  /// Takes up to `count` operations from the run's budget, to be done at once; 0 when it is used
  /// up.
  ///
  /// Waits for the measured phase when the budget of the warm-up is taken.
  package mutating func claim(_ count: Int) -> Int {
    while true {
      let claimed = claimMore(count)
      let isLast = epoch.phase != .warmup && epoch.phase?.step == nil
      if claimed > 0 || isLast { return claimed }
      guard waitForNextPhase() else { return 0 }
    }
  }

  /// As `claim`, in the middle of something: never waits.
  package func claimMore(_ count: Int) -> Int {
    let claimed = control.claim(count, in: epoch.phase)
    if claimed == 0 { control.budgetIsTaken() }
    return claimed
  }

  /// Waits until the next operation is due, if there is a schedule; nil when the run is over.
  package mutating func nextTurn() -> Turn? {
    var isClaimed = false
    while follow() {
      var due: UInt64?
      if let schedule {
        let (control, epoch) = (control, epoch)
        let isDue = wait(
          until: schedule.due, clock: clock, isCancelled: { control.epoch != epoch })
        if !isDue { continue }
        due = schedule.due
      }
      if !isClaimed {
        let phase = epoch.phase
        guard claim(1) > 0 else { return nil }
        isClaimed = true
        // The warm-up ended meanwhile: the next phase has a schedule of its own.
        if epoch.phase != phase { continue }
      }
      schedule?.advance()
      return Turn(due: due)
    }
    return nil
  }

  /// With the budget taken: waits for the phase after this one.
  ///
  /// False when the run is over.
  package mutating func waitForNextPhase() -> Bool {
    guard follow() else { return false }
    control.waitForNextPhase(after: epoch.phase)
    return follow()
  }

  /// Records an operation, by its place in the thread's plan.
  ///
  /// `began` is when the turn was taken up, if something had to come before the operation;
  /// `excluded` is the time that checks have taken in between.
  package mutating func record(
    _ operation: Int, _ turn: Turn, began: UInt64? = nil, start: UInt64, end: UInt64,
    excluded: UInt64 = 0
  ) {
    let figures = measurements.figures[operation]
    figures.service.record(end - start - min(excluded, end - start))
    if let due = turn.due {
      let response = end - min(due, end)
      figures.response?.record(response - min(excluded, response))
      let start = began ?? start
      if start > due + Self.lateNanoseconds { figures.late += 1 }
      // What passed although the operation was due and the engine had finished the one before.
      let possible = max(due, freeAt)
      figures.generatorDelay?.record(start > possible ? start - possible : 0)
    }
    freeAt = end
  }

  /// Leaves out the time of a long check, in which the schedule stands still.
  package mutating func pause(from start: UInt64, to end: UInt64) {
    pausedNanoseconds += end - start
    schedule?.postpone(nanoseconds: end - start)
    freeAt = end
  }

  private mutating func startSchedule() {
    if let step = control.step(of: epoch.phase), let member {
      startSchedule(of: step, member)
      return
    }
    guard let openLoad else { return }
    schedule = ArrivalSchedule(
      openLoad.arrivals, ratePerSecond: openLoad.ratePerSecond, start: control.phaseStart,
      offset: openLoad.offset, random: random.split())
  }

  private mutating func startSchedule(of step: RunStep, _ member: Member) {
    schedule = nil
    let active = step.active(member.kind, of: member.count)
    guard let rate = step.rate(member.kind), active > 0 else { return }
    let share = rate.share(of: active)
    schedule = ArrivalSchedule(
      arrivals, ratePerSecond: share.fromPerS, start: control.phaseStart,
      offset: Double(member.number - 1) / Double(active), random: random.split(),
      ramp: step.durationNs.map { (to: share.toPerS, nanoseconds: $0) })
  }

  /// What was skipped would have been of the kinds that the load is made of.
  private mutating func countSkipped(until end: UInt64) {
    guard let skipped = schedule?.skip(until: end), skipped > 0 else { return }
    var left = skipped
    for (position, share) in skippedShares.enumerated() {
      let part = min(left, UInt64((Double(skipped) * share).rounded()))
      measurements.figures[position].skipped += part
      left -= part
    }
    measurements.figures[0].skipped += left
  }
}
