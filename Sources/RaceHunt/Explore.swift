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
}

/// Runs a program under many schedules until one fails.
///
/// The program's own `Thread`, `Mutex`, `Condition`, `Atomic` and `Channel` of this module, its
/// tasks and its actors run one step at a time; before each step the strategy chooses who goes on.
/// A failed `check`, an error that is thrown, a deadlock, a lost wake-up and a program without end
/// are failures; the error shows the smallest schedule that was found, and the call of `replay`
/// that repeats it.
///
/// Tasks have to be children of the program's task (`async let`, task groups) or to prefer
/// `controlledExecutor`: of tasks made by `Task {}` not all switches at actors are explored.
///
/// - Parameters:
///   - seed: everything follows from it; `RACE_HUNT_SEED` in the environment goes before.
///   - steps: a schedule with more points is taken for one without end.
@discardableResult
public func explore(
  iterations: Int = 1_000, strategy: Strategy = .portfolio, seed: UInt64 = 1,
  steps: Int = 10_000, _ program: @escaping Program
) throws(RaceFailure) -> Exploration {
  var settings = Explorer.Settings()
  settings.iterations = iterations
  settings.strategy = strategy
  settings.seed = Explorer.seedOfEnvironment ?? seed
  settings.limits.points = steps
  return try Explorer(program, settings).explore()
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
  _ schedule: String, until step: Int? = nil, steps: Int = 10_000, _ program: @escaping Program
) throws(RaceFailure) -> String {
  guard let parsed = Schedule(schedule) else {
    throw RaceFailure(
      .init(kind: .thrown, text: "'\(schedule)' is not a schedule, as 1f:3>2,5>1"),
      Schedule(seed: 0, turns: []))
  }
  var settings = Explorer.Settings()
  settings.limits.points = steps
  settings.limits.lastStep = step ?? -1
  return try Explorer(program, settings).replay(parsed)
}

/// The executor under which the tasks of the running exploration are controlled; nil outside of
/// one.
///
/// For tasks that are no children: `Task(executorPreference: controlledExecutor) { ... }`.
public var controlledExecutor: (any TaskExecutor)? { Worker.current?.run?.executor }
