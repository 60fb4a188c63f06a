// A trait that turns a test of Swift Testing into an explored one. A module of its own, so that
// RaceHunt does not need Swift Testing.
internal import CRaceHunt
public import RaceHunt
public import Testing

/// Runs each case of a test under many schedules; made by `.explored()` and `.replayed(_:)`.
///
/// The test is the program: its threads, tasks and actors run one step at a time. A failed
/// `#expect`, a thrown error, a deadlock, a lost wake-up or a run without end under one of the
/// schedules is one issue of the test, with the smallest failing schedule as a table.
public struct Explored: TestTrait, SuiteTrait, TestScoping {
  let iterations: Int
  let strategy: Strategy
  let seed: UInt64
  let steps: Int
  /// The only schedule to run.
  let schedule: String?

  /// Of a suite: each of its tests is explored.
  public var isRecursive: Bool { true }

  /// Runs the case.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard let testCase else { return try await function() }
    await withoutActuallyEscaping(function) { function in
      // Threads of a schedule that could not go on keep the function, and never run again.
      defer { Self.forgetOwners(of: function) }
      let failure = await explore { try await inScope(test, testCase, function) }
      if let failure {
        Issue.record(
          Comment(rawValue: failure.description { "@Test(.replayed(\"\($0)\"))" }),
          sourceLocation: test.sourceLocation)
      }
    }
  }

  private func explore(_ program: @escaping Program) async -> RaceFailure? {
    do throws(RaceFailure) {
      if let schedule {
        _ = try await RaceHunt.replay(schedule, steps: steps, program)
      } else {
        _ = try await RaceHunt.explore(
          iterations: iterations, strategy: strategy, seed: seed, steps: steps, program)
      }
      return nil
    } catch { return error }
  }

  /// Runs the case with its issues as failures of the schedule.
  private func inScope(
    _ test: Test, _ testCase: Test.Case, _ function: @escaping @Sendable () async throws -> Void
  ) async throws {
    let noted: IssueHandlingTrait = .compactMapIssues { issue in
      if issue.severity < .error { return nil }
      return Failures.note(Self.text(of: issue)) ? nil : issue
    }
    try await noted.provideScope(for: test, testCase: testCase) { try await function() }
  }

  private static func text(of issue: Issue) -> String {
    let place = issue.sourceLocation.map { "\($0.fileName):\($0.line): " } ?? ""
    return place + "\(issue)"
  }

  private static func forgetOwners(of function: @escaping @Sendable () async throws -> Void) {
    // Sound: a function is two words, its code and its context, an object or null.
    let (_, context) = unsafeBitCast(
      function, to: (UnsafeRawPointer, UnsafeMutableRawPointer?).self)
    race_hunt_forget_owners(context)
  }
}

extension Trait where Self == Explored {
  /// Runs a test under so many schedules.
  ///
  /// - Parameters:
  ///   - strategy: how the next schedule is made.
  ///   - seed: everything follows from it; `RACE_HUNT_SEED` in the environment goes before.
  ///   - steps: a schedule with more points is taken for one without end.
  public static func explored(
    iterations: Int = 1_000, strategy: Strategy = .portfolio, seed: UInt64 = 1,
    steps: Int = 10_000
  ) -> Self {
    Explored(
      iterations: iterations, strategy: strategy, seed: seed, steps: steps, schedule: nil)
  }

  /// Runs a test under the schedule that an issue has named.
  public static func replayed(_ schedule: String, steps: Int = 10_000) -> Self {
    Explored(iterations: 1, strategy: .portfolio, seed: 1, steps: steps, schedule: schedule)
  }
}
