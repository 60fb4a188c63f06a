// Explores a program: runs schedules until one fails, proves that it fails again in the same way,
// and looks for a smaller one.
internal import CRaceHunt
internal import Foundation
internal import Glibc

/// What a run must not exceed.
struct Limits {
  var points = 100_000
  /// How long a task may wait for something outside, in nanoseconds.
  var grace: UInt64 = 2_000_000_000
  /// The number of the step before which the run is ended; -1 for none.
  var lastStep = -1
  /// How long nothing may move, in nanoseconds: more than any step takes on a busy machine.
  ///
  /// A quarter of it in a call of the kernel that ends only when somebody else does something.
  var patience: UInt64 = 20_000_000_000
}

/// One exploration.
package final class Explorer {
  package struct Settings: Sendable {
    package var iterations = 1_000
    package var strategy = Strategy.portfolio
    package var seed: UInt64 = 1
    /// Monotonic nanoseconds after which no schedule begins; 0 for none.
    package var deadline: UInt64 = 0
    /// Asked between schedules; when it says so no further one begins.
    package var isInterrupted: @Sendable () -> Bool = { false }
    /// Of so many schedules one is run twice and compared; 0 for none.
    package var comparesEvery = 100
    /// Whether timeouts come early in every other schedule.
    package var earlyTimeouts = false
    /// Whether a failing schedule is made smaller.
    package var shrinks = true
    /// Whether a smaller program is looked for, by smaller random numbers.
    package var shrinksProgram = false
    /// Why nothing can be explored with them.
    var mistake: String?
    var limits = Limits()
    /// A schedule with more points is taken for one without end.
    package var steps: Int {
      get { limits.points }
      set { limits.points = newValue }
    }
    /// The nanoseconds after which a step that does not end is a hang.
    package var patience: UInt64 {
      get { limits.patience }
      set { limits.patience = newValue }
    }
    package init() {}
  }

  private let program: Program
  private(set) var settings: Settings
  private let pool: WorkerPool
  private let carrier = Carrier()
  private let start = Explorer.nanoseconds()
  private var schedules = 0
  private var points = 0
  private var switches = 0
  private var distinct: Set<UInt64> = []
  /// What schedules did that is not under control.
  private var uncontrolled: [String] = []
  /// Whether it was made by an explored program, for whose threads it would wait.
  private let isInside = Worker.current?.run != nil
  /// How long a smaller schedule is looked for, in nanoseconds: long programs take a while each.
  private static let shrinkingTime: UInt64 = 10_000_000_000
  /// How many points the schedules may have that are tried for a program without end.
  private static let pointsWithoutEnd = 8_000_000
  /// So many differences between two runs of a schedule may be what a program makes once, such as
  /// the content of a cache: a third run shows whether it then stays the same.
  private static let toleratedMost = 2

  package init(_ program: @escaping Program, _ settings: Settings) {
    self.program = program
    self.settings = settings
    _ = Crash.isReported
    _ = JobHooks.areInstalled
    // Tests that explore at once have one seed, and would all have one processor by it.
    let others = race_hunt_count_explorations(1)
    pool = WorkerPool(
      processor: UInt32(truncatingIfNeeded: settings.seed &+ UInt64(max(0, others))))
  }

  deinit {
    pool.end()
    carrier.end()
    _ = race_hunt_count_explorations(-1)
  }

  static func nanoseconds() -> UInt64 {
    var time = timespec()
    Glibc.clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  private var seconds: Double { Double(Self.nanoseconds() - start) / 1e9 }

  private func run(_ schedule: Int, _ chooser: any Chooser) -> Run {
    // One that goes through all schedules of a program goes through those of one program.
    var random = Random(
      seed: settings.seed, schedule: settings.strategy.isEnumeration ? 0 : schedule)
    var seed = random.next() & 0xFFFF_FFFF
    if settings.earlyTimeouts && schedule % 2 == 1 { seed |= Run.seedOfEarlyTimeouts }
    if !settings.strategy.isEnumeration, Run.hasLongRuns(schedule) { seed |= Run.seedOfLongRuns }
    return Run(
      program, seed: seed, number: schedule, chooser: chooser, pool: pool, carrier: carrier,
      limits: settings.limits)
  }

  func rerun(_ schedule: Schedule, _ chooser: (any Chooser)? = nil) -> Run {
    Run(
      program, seed: schedule.seed, draws: schedule.draws, number: 0,
      chooser: chooser ?? ReplayChooser(schedule.turns), pool: pool, carrier: carrier,
      limits: settings.limits)
  }

  // MARK: - Exploring

  /// Explores beside others; once more alone when one of them may be why a program fails.
  ///
  /// A job for an actor that several of them use may be done by another one, or wait for it.
  package func explore() throws(RaceFailure) -> Exploration {
    try check("explore")
    let (result, hadCompany) = Company.ofProcess.beside { () throws(RaceFailure) in
      try exploreOnce()
    }
    guard case .failure(let failure) = result, hadCompany else { return try result.get() }
    return try Company.ofProcess.alone { () throws(RaceFailure) in
      if let failure = failureAlone(failure) { throw failure }
      (schedules, points, switches, distinct, uncontrolled) = (0, 0, 0, [], [])
      return try exploreOnce()
    }
  }

  /// Refuses what no schedule could be run with.
  private func check(_ function: String) throws(RaceFailure) {
    let text: String? =
      if let mistake = settings.mistake {
        mistake
      } else if settings.iterations < 1 {
        "\(function) has no schedule to run: iterations is \(settings.iterations); give at least 1"
      } else if settings.limits.points < 1 {
        "no program ends within \(settings.limits.points) steps; give at least 1 as steps"
      } else if let cure = settings.strategy.misfit {
        "\(settings.strategy) is no strategy; \(cure)"
      } else if isInside {
        "\(function) is called in a program that is explored; call it outside of the closure, and not "
          + "at all in a test with the trait .explored"
      } else {
        nil
      }
    guard let text else { return }
    throw RaceFailure(.init(kind: .thrown, text: text), Schedule(seed: 0, turns: []))
  }

  /// How a program fails in the same way alone, or the failure itself when it cannot be asked; nil
  /// when it does not.
  ///
  /// Beside others steps may be missing in the table: those that another one has done.
  private func failureAlone(_ failure: RaceFailure) -> RaceFailure? {
    if failure.kind == .notReproducible { return nil }
    guard failure.kind != .hang, let schedule = Schedule(failure.schedule),
      let again = execute(rerun(schedule))
    else { return failure }
    guard let violation = again.violation else { return nil }
    let alone = RaceFailure(violation, again.schedule, run: again, found: failure.found)
    return alone.kind == failure.kind ? alone : nil
  }

  private func exploreOnce() throws(RaceFailure) -> Exploration {
    let source = ChooserSource(settings.strategy, seed: settings.seed)
    var compared: (run: Run, isSecond: Bool)?
    var difference: Violation?
    var tolerated = 0
    let batch = Batch(pool) { [self] last in
      if let last {
        if let first = compared {
          compared = nil
          difference = Self.difference(first.run, last)
          if difference != nil {
            if first.isSecond || tolerated == Self.toleratedMost { return nil }
            // The first run may have made what later ones find: then two of those are the same.
            tolerated += 1
            difference = nil
            compared = (last, isSecond: true)
            return rerun(last.schedule)
          }
        } else {
          count(last)
          source.profile.learn(last)
          if last.violation != nil { return nil }
          if settings.comparesEvery > 0 && schedules % settings.comparesEvery == 1
            && !last.hasMadeGlobalInSteps
          {
            compared = (last, isSecond: false)
            return rerun(last.schedule)
          }
        }
      }
      guard schedules < settings.iterations, !isLate, let chooser = source.next(schedule: schedules)
      else { return nil }
      return run(schedules, chooser)
    }
    guard let last = batch.execute(patience: settings.limits.patience) else {
      guard let current = batch.current else { fatalError("a batch hangs without a run") }
      throw hanging(current)
    }
    if let violation = last.violation, violation.kind == .noThread {
      throw RaceFailure(violation, last.schedule)
    }
    if compared != nil {
      // The second run of a schedule that was sound has been ended from within.
      count(last)
      difference = Violation(
        kind: .notReproducible,
        text: "not reproducible: a schedule fails when it is run again: "
          + (last.violation?.text ?? last.uncontrolledText))
    } else if last.isAbandoned {
      count(last)
    }
    if let difference { throw RaceFailure(difference, last.schedule, run: last, found: found) }
    guard let violation = last.violation, last.number == schedules - 1 || last.isAbandoned else {
      return Exploration(
        schedules: schedules, distinct: distinct.count, points: points, switches: switches,
        isExhaustive: source.isExhaustive, seconds: seconds, uncontrolled: uncontrolled)
    }
    throw smallest(last, violation)
  }

  static func forReplay(_ program: @escaping Program, until step: Int?, steps: Int) -> Explorer {
    var settings = Explorer.Settings()
    settings.limits.points = steps
    // Steps are counted from 1.
    settings.limits.lastStep = step.map { max(0, $0 - 1) } ?? -1
    return Explorer(program, settings)
  }

  /// Explores on a thread of its own: one of the pool would be missing there.
  func elsewhere<Value: Sendable>(
    _ work: @escaping @Sendable (Explorer) throws(RaceFailure) -> Value
  ) async throws(RaceFailure) -> Value {
    // Sound: the caller waits, and uses nothing of this before the thread has ended.
    nonisolated(unsafe) let explorer = self
    let result: Result<Value, RaceFailure> = await withCheckedContinuation { continuation in
      let explore: @Sendable () -> Void = {
        let result: Result<Value, RaceFailure>
        do throws(RaceFailure) { result = .success(try work(explorer)) } catch {
          result = .failure(error)
        }
        continuation.resume(returning: result)
      }
      // Where the system has no threads to give, the exploration has none for its program either,
      // and says so.
      if !startThread(explore) { explore() }
    }
    return try result.get()
  }

  private var isLate: Bool {
    // Never before the first schedule: a batch without any would look as if nothing moved.
    guard schedules > 0, schedules % 8 == 0 else { return false }
    return settings.isInterrupted()
      || settings.deadline > 0 && Self.nanoseconds() >= settings.deadline
  }

  private func count(_ run: Run) {
    schedules += 1
    points += run.points
    switches += run.switches
    if distinct.count < 1_000_000 { distinct.insert(run.digest) }
    for step in run.uncontrolled where uncontrolled.count < 8 && !uncontrolled.contains(step) {
      uncontrolled.append(step)
    }
  }

  private var found: RaceFailure.Found {
    .init(schedules: schedules, seconds: seconds, seed: settings.seed, strategy: settings.strategy)
  }

  /// What a run that is given up has done so far.
  ///
  /// Sound: nobody who is in it comes to a step of it any more (`WorkerPool.pass`).
  private func hanging(_ run: Run) -> RaceFailure {
    var found = found
    found.schedules = max(found.schedules, run.number + 1)
    return RaceFailure(
      Violation(kind: .hang, text: run.hangText), run.schedule, run: run, found: found)
  }

  // MARK: - A failing schedule

  func execute(_ run: Run) -> Run? {
    var hasRun = false
    return Batch(pool) { _ in
      if hasRun { return nil }
      hasRun = true
      return run
    }.execute(patience: settings.limits.patience)
  }

  private func smallest(_ run: Run, _ violation: Violation) -> RaceFailure {
    let found = found
    let second = rerun(run.schedule)
    guard var again = withoutWaiting(after: run, { execute(second) }) else {
      return hanging(second)
    }
    if again.violation?.kind == .noThread {
      // As it was found: it cannot be run again.
      return RaceFailure(violation, run.schedule, run: run, found: found)
    }
    if let difference = Self.difference(run, again) {
      guard again.violation?.kind == violation.kind, let third = sameAgain(again) else {
        return RaceFailure(difference, run.schedule, run: again, found: found)
      }
      again = third
    }
    let best = settings.shrinks ? smaller(again) : again
    return RaceFailure(best.violation ?? violation, best.schedule, run: best, found: found)
  }

  /// What another run of the same schedule gives, if that is the same: then the one before the two
  /// has made what programs make once.
  private func sameAgain(_ run: Run) -> Run? {
    guard let again = withoutWaiting(after: run, { execute(rerun(run.schedule)) }),
      again.violation != nil, Self.difference(run, again) == nil
    else { return nil }
    return again
  }

  /// The failure with fewer turns and smaller numbers, if there is one.
  ///
  /// A run that waits for something outside takes as long as that is waited for. If nothing came,
  /// the smaller ones do not wait, and the last one shows that this was right. A quarter of the
  /// time is enough for that, since nothing had come in all of it.
  private func smaller(_ run: Run) -> Run {
    guard run.hasWaitedOutside else { return shrink(withSmallerDraws(run)) }
    if !run.uncontrolledText.isEmpty { return run }
    let small = withoutWaiting(after: run) { shrink(run) }
    let short = settings.limits.grace / 4
    guard small !== run, let shown = withGrace(short, { execute(rerun(small.schedule)) }),
      shown.violation?.kind == run.violation?.kind
    else { return run }
    return shown
  }

  /// Does not wait for what the run has waited for in vain, if nothing at all came from outside.
  private func withoutWaiting<Value>(after run: Run, _ work: () -> Value) -> Value {
    let isInVain = run.hasWaitedOutside && run.uncontrolledText.isEmpty
    return withGrace(isInVain ? 2_000_000 : .max, work)
  }

  /// Waits for something outside for at most so many nanoseconds.
  private func withGrace<Value>(_ most: UInt64, _ work: () -> Value) -> Value {
    let grace = settings.limits.grace
    defer { settings.limits.grace = grace }
    settings.limits.grace = min(grace, most)
    return work()
  }

  /// Looks for a schedule with fewer turns that fails in the same way: first by leaving turns out,
  /// then among all schedules with few turns.
  private func shrink(_ run: Run) -> Run {
    var best = run
    var budget = 800
    let end = Self.nanoseconds() + Self.shrinkingTime
    let isWithoutEnd = [.livelock, .goesOn].contains(run.violation?.kind)
    let lastAttempt = isWithoutEnd ? max(0, budget - Self.pointsWithoutEnd / max(1, run.points)) : 0
    func attempt(_ turns: [Schedule.Turn]) -> ReplayChooser {
      budget = Self.nanoseconds() < end && budget > lastAttempt ? budget - 1 : 0
      let chooser = ReplayChooser(turns)
      let tried = execute(rerun(Schedule(seed: run.seed, draws: run.draws, turns: turns), chooser))
      guard let tried else {
        // It hangs, and what hangs has the threads.
        budget = 0
        return chooser
      }
      if tried.violation?.kind == run.violation?.kind,
        (tried.turns.count, tried.switches) < (best.turns.count, best.switches)
      {
        best = tried
      }
      return chooser
    }
    var size = best.turns.count / 2
    while size >= 1 && budget > 400 {
      var start = 0
      while start < best.turns.count && budget > 400 {
        var turns = best.turns
        turns.removeSubrange(start..<min(start + size, turns.count))
        let before = best
        _ = attempt(turns)
        if before === best { start += size }
      }
      size /= 2
    }
    var waiting: [[Schedule.Turn]] = [[]]
    var position = 0
    while position < waiting.count, waiting[position].count < best.turns.count, budget > 0 {
      let chooser = attempt(waiting[position])
      if waiting.count < 2_000 {
        waiting += chooser.alternatives.map { waiting[position] + [$0] }
      }
      position += 1
    }
    return best
  }

  func replay(_ schedule: Schedule) throws(RaceFailure) -> String {
    try check("replay")
    var chooser = ReplayChooser(schedule.turns)
    var run = rerun(schedule, chooser)
    guard execute(run) != nil else { throw hanging(run) }
    if run.violation == nil && !run.isAbandoned {
      // The failure may have come when what programs make once was there already, as now.
      chooser = ReplayChooser(schedule.turns)
      run = rerun(schedule, chooser)
      guard execute(run) != nil else { throw hanging(run) }
    }
    if let violation = run.violation {
      if violation.kind == .noThread { throw RaceFailure(violation, run.schedule) }
      throw RaceFailure(violation, run.schedule, run: run, found: nil)
    }
    // One that is ended early, for a debugger, does not come to all of its turns.
    let left = run.isAbandoned ? nil : schedule.turns.first { $0.decision >= run.decisions }
    if let misfit = chooser.misfit ?? left.map({ "it has no decision \($0.decision)" }) {
      throw RaceFailure(
        Violation(
          kind: .notReproducible,
          text: "the schedule does not fit: \(misfit); the program is not the one that it was "
            + "found in, and that it does not fail says nothing"),
        run.schedule, run: run)
    }
    return CallLines.resolved(in: ScheduleTable(run).text)
  }

  /// The first step in which two runs of a schedule differ.
  private static func difference(_ first: Run, _ second: Run) -> Violation? {
    let count = min(first.events.count, second.events.count)
    let step =
      (0..<count).first { !first.events[$0].isSame(as: second.events[$0]) }
      ?? (first.events.count == second.events.count
        && first.violation?.kind == second.violation?.kind ? nil : count)
    guard let step else { return nil }
    let uncontrolled = (second.uncontrolledText.isEmpty ? first : second).uncontrolledText
    let cure =
      uncontrolled.isEmpty
      ? "the program must make all of its state anew and draw random numbers by random(below:); a "
        + "dictionary with keys by UUID() has another order each time"
      : "the program depends on when something comes that is not under control"
    return Violation(
      kind: .notReproducible,
      text: "not reproducible: two runs of one schedule differ at step \(step + 1): "
        + "\(first.sentence(step)), and the second time \(second.sentence(step)); \(cure)"
        + uncontrolled)
  }
}

extension Run {
  var schedule: Schedule { Schedule(seed: seed, draws: draws, turns: turns) }

  /// What differs between schedules: the steps, in order.
  var digest: UInt64 {
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    for event in events {
      let word =
        UInt64(event.strand) << 40 | UInt64(event.operation.rawValue) << 32
        | UInt64(UInt32(bitPattern: event.object))
      digest = (digest ^ word) &* 0x9E37_79B9_7F4A_7C15
      digest ^= digest >> 29
    }
    return digest
  }
}
