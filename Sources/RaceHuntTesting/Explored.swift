// A trait that turns a test of Swift Testing into an explored one. A module of its own, so that
// RaceHunt does not need Swift Testing.
internal import CRaceHunt
public import RaceHunt
internal import Synchronization
public import Testing

/// Runs each case of a test under many schedules; made by `.explored()` and `.replayed(_:)`.
///
/// The test is the program: its threads, tasks and actors run one step at a time. A failed
/// `#expect`, a thrown error, a deadlock, a lost wake-up or a run without end under one of the
/// schedules is one issue of the test, with the smallest failing schedule as a table and the line
/// that repeats it. A known issue and a warning fail no schedule; the first one
/// is shown.
public struct Explored: TestTrait, SuiteTrait, TestScoping {
  let iterations: Int
  let strategy: Strategy
  let seed: UInt64
  let steps: Int
  let earlyTimeouts: Bool
  /// The only schedule to run.
  let schedule: String?
  /// The step before which that ends.
  let end: Int?
  /// Tells it from others with the same settings.
  private let identity = Identity()

  private final class Identity: Sendable {}

  /// Of a suite: each of its tests is explored.
  public var isRecursive: Bool { true }

  /// Runs the case.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    // Of several, such as the suite's and the test's own, the nearest one counts.
    let all = test.traits.compactMap { $0 as? Explored }
    guard testCase != nil, all.last.map({ $0.identity === identity }) ?? true else {
      return try await function()
    }
    let issues = Self.issuesAsFailures()
    await withoutActuallyEscaping(function) { function in
      let borrowed = Borrowed(function)
      defer { borrowed.end() }
      let failure = await explore(test) {
        do {
          try await issues.provideScope(for: test, testCase: testCase) {
            try await borrowed.call()
          }
        } catch is ExpectationFailedError {
          // Its issue has failed the schedule, or is known.
        }
      }
      if let failure { Self.record(failure, of: test) }
    }
  }

  private func explore(_ test: Test, _ program: @escaping Program) async -> RaceFailure? {
    let environment = ExplorationEnvironment()
    do throws(RaceFailure) {
      if let mistake = environment.mistake {
        Issue.record(Comment(rawValue: mistake), sourceLocation: test.sourceLocation)
      } else if let schedule = environment.schedule ?? schedule {
        let end = environment.lastStep ?? end
        let table = try await RaceHunt.replay(schedule, until: end, steps: steps, program)
        if let end { print(table + "stopped before step \(end)") }
      } else {
        let explored = try await RaceHunt.explore(
          iterations: iterations, strategy: strategy, seed: seed, steps: steps,
          earlyTimeouts: earlyTimeouts, program)
        Self.warn(of: explored.uncontrolled, test)
      }
      return nil
    } catch { return error }
  }

  /// A test that passes says what it has not explored.
  private static func warn(of uncontrolled: [String], _ test: Test) {
    guard !uncontrolled.isEmpty else { return }
    Issue.record(
      Comment(
        rawValue: "not everything was explored; not under control: "
          + uncontrolled.joined(separator: ", ")),
      severity: .warning, sourceLocation: test.sourceLocation)
  }

  /// Issues of the test fail the schedule in which they occur.
  private static func issuesAsFailures() -> IssueHandlingTrait {
    let others = OtherIssues()
    return .compactMapIssues { issue in
      if issue.isFailure { return Failures.note(text(of: issue)) ? nil : issue }
      // What is known or a warning would be said by each schedule again.
      return others.areShown.exchange(true, ordering: .relaxed) ? nil : issue
    }
  }

  private final class OtherIssues: Sendable {
    let areShown = Synchronization.Atomic(false)
  }

  private static func text(of issue: Issue) -> String {
    let place = issue.sourceLocation.map { "\($0.fileName):\($0.line): " } ?? ""
    return place + "\(issue)"
  }

  private static func record(_ failure: RaceFailure, of test: Test) {
    let text = failure.description { schedule in
      "RACE_HUNT_REPLAY='\(schedule)' swift test --filter '\(filter(of: test))', or "
        + "@Test(.replayed(\"\(schedule)\"\(failure.stepsArgument)))"
    }
    Issue.record(Comment(rawValue: text), sourceLocation: test.sourceLocation)
  }

  /// What selects the test and no other one: its identity begins with module, suites and name, as
  /// in `Module.Suite/name()/File.swift:1:2`, and the filter is a regular expression.
  private static func filter(of test: Test) -> String {
    let identity = "\(test.id)"
    return "^" + (identity.firstIndex(of: "(").map { identity[..<$0] + "\\(" } ?? identity)
  }
}

/// A function that only those who call it own: what is left of an exploration may go later.
private struct Borrowed: @unchecked Sendable {
  // @unchecked: written by `init` and `end`, before and behind all calls.
  private struct Words {
    let function: @Sendable () async throws -> Void
  }

  private let words = UnsafeMutablePointer<Words>.allocate(capacity: 1)

  init(_ function: @escaping @Sendable () async throws -> Void) {
    words.initialize(to: Words(function: function))
  }

  func call() async throws { try await words.pointee.function() }

  /// Strands of a schedule that could not go on are in a call for ever, and never run again: they
  /// own the function no more.
  func end() {
    // Sound: a stored function is two words, its code and its context, an object or null.
    let (_, context) = unsafeBitCast(
      words.pointee, to: (UnsafeRawPointer, UnsafeMutableRawPointer?).self)
    words.deinitialize(count: 1)
    words.deallocate()
    race_hunt_forget_owners(context)
  }
}

extension Trait where Self == Explored {
  /// Runs a test under so many schedules (`RACE_HUNT_ITERATIONS` in the environment says how many
  /// instead); `RACE_HUNT_REPLAY` replaces them by the one that it names.
  ///
  /// What the test does that is not under control is a warning, when it passes.
  ///
  /// - Parameters:
  ///   - strategy: how the next schedule is made.
  ///   - seed: everything follows from it; `RACE_HUNT_SEED` in the environment goes before.
  ///   - steps: a schedule with more points is taken for one without end.
  ///   - earlyTimeouts: whether a wait with a limit of time, however long, may end in vain while
  ///     others can go on, in every other schedule.
  public static func explored(
    iterations: Int = 1_000, strategy: Strategy = .portfolio, seed: UInt64 = 1,
    steps: Int = 100_000, earlyTimeouts: Bool = false
  ) -> Self {
    Explored(
      iterations: iterations, strategy: strategy, seed: seed, steps: steps,
      earlyTimeouts: earlyTimeouts, schedule: nil, end: nil)
  }

  /// Runs a test under the schedule that an issue has named.
  ///
  /// - Parameters:
  ///   - schedule: as the issue prints it.
  ///   - step: ends the schedule before the step with this number and shows it; a debugger stops
  ///     there with a breakpoint on `race_hunt_stopped`. `RACE_HUNT_UNTIL` in the environment goes
  ///     before.
  ///   - steps: a schedule with more points is taken for one without end.
  public static func replayed(
    _ schedule: String, until step: Int? = nil, steps: Int = 100_000
  ) -> Self {
    Explored(
      iterations: 1, strategy: .portfolio, seed: 1, steps: steps, earlyTimeouts: false,
      schedule: schedule, end: step)
  }
}
