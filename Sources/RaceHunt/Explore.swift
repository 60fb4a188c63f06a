// The way in: runs a program under many schedules, and a failing one again.

/// A program to explore: makes all of its state anew, starts threads, tasks and actors, waits for
/// them, and checks what has come of it.
public typealias Program = @Sendable () async throws -> Void

/// What an exploration without a failure has seen.
public struct Exploration: Sendable {
  /// How many schedules were run.
  public let schedules: Int
  /// How many of them differ, counted up to a million.
  public let distinct: Int
  /// Points of all schedules.
  public let points: Int
  /// Changes from one thread or task to another one in all schedules.
  public let switches: Int
  /// Whether these were all schedules that the strategy has.
  public let isExhaustive: Bool
  /// The seconds that it took.
  public let seconds: Double
  /// What the program did that is not under control, at most eight of it; empty when all of it is.
  ///
  /// Others may come there in orders that no schedule has tried.
  public let uncontrolled: [String]
}

/// Runs a program under many schedules until one fails.
///
/// The program's own `Thread`, `Mutex`, `Condition`, `Atomic` and `Channel` of this module, its
/// tasks and its actors run one step at a time; before each step the strategy chooses who goes on.
/// A failed `check`, an error that is thrown, a deadlock, a lost wake-up and a program without end
/// are failures; the error shows the smallest schedule that was found, and the call of `replay`
/// that repeats it.
///
/// - Parameters:
///   - iterations: how many schedules; `RACE_HUNT_ITERATIONS` in the environment goes before.
///   - seed: everything follows from it; `RACE_HUNT_SEED` in the environment goes before.
///   - steps: a schedule with more points is taken for one without end.
///   - earlyTimeouts: whether a wait with a limit of time, however long, may end in vain while
///     others can go on, in every other schedule.
@discardableResult
public func explore(
  iterations: Int = 1_000, strategy: Strategy = .portfolio, seed: UInt64 = 1,
  steps: Int = 100_000, earlyTimeouts: Bool = false, _ program: @escaping Program
) throws(RaceFailure) -> Exploration {
  let settings = Explorer.Settings(
    iterations: iterations, strategy: strategy, seed: seed, steps: steps,
    earlyTimeouts: earlyTimeouts)
  return try Explorer(program, settings).explore()
}

/// As the one for functions that are not async, and leaves the calling thread to other tasks.
@discardableResult
public func explore(
  iterations: Int = 1_000, strategy: Strategy = .portfolio, seed: UInt64 = 1,
  steps: Int = 100_000, earlyTimeouts: Bool = false, _ program: @escaping Program
) async throws(RaceFailure) -> Exploration {
  let settings = Explorer.Settings(
    iterations: iterations, strategy: strategy, seed: seed, steps: steps,
    earlyTimeouts: earlyTimeouts)
  return try await Explorer(program, settings).elsewhere { explorer throws(RaceFailure) in
    try explorer.explore()
  }
}

/// Runs a program under the schedule that a failure has named.
///
/// - Parameters:
///   - schedule: as the failure prints it.
///   - step: ends the schedule before the step with this number; a debugger stops there with a
///     breakpoint on `race_hunt_stopped`.
/// - Returns: the table of the schedule, if it does not fail.
@discardableResult
public func replay(
  _ schedule: String, until step: Int? = nil, steps: Int = 100_000, _ program: @escaping Program
) throws(RaceFailure) -> String {
  let parsed = try Schedule.parsed(schedule)
  return try Explorer.forReplay(program, until: step, steps: steps).replay(parsed)
}

/// As the one for functions that are not async, and leaves the calling thread to other tasks.
@discardableResult
public func replay(
  _ schedule: String, until step: Int? = nil, steps: Int = 100_000, _ program: @escaping Program
) async throws(RaceFailure) -> String {
  let parsed = try Schedule.parsed(schedule)
  let explorer = Explorer.forReplay(program, until: step, steps: steps)
  return try await explorer.elsewhere { explorer throws(RaceFailure) in try explorer.replay(parsed)
  }
}

/// What code beside this module reports.
package enum Failures {
  /// Fails the schedule with this sentence; false outside of explorations.
  package static func note(_ text: String) -> Bool {
    guard let run = Worker.current?.run else { return false }
    run.violate(.check, text)
    return true
  }

  /// Keeps bytes with the failure of the running schedule, if it fails; nothing outside of
  /// explorations.
  package static func attach(_ name: String, _ bytes: @autoclosure () -> [UInt8]) {
    guard let run = Worker.current?.run else { return }
    run.attachments.append((name, bytes()))
  }
}

/// The executor that the program of the running exploration prefers; nil outside of one.
public var controlledExecutor: (any TaskExecutor)? { Worker.current?.run?.executor }
