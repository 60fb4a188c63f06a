// What RaceHunt does not know of by itself: points that the program tells of, and what a pass says
// that has not explored everything.
import Glibc
import RaceHunt
import RaceHuntTesting
import Synchronization
import TestSupport
import Testing

/// A number that nothing protects, and that RaceHunt does not see.
private final class Tally: @unchecked Sendable {
  // @unchecked: explored threads run one at a time.
  var count = 0
}

/// Uses a queue of Foundation, which RaceHunt sees only from outside.
private func operate() {
  let queue = Foundation.OperationQueue()
  queue.addOperation {}
  queue.waitUntilAllOperationsAreFinished()
}

/// The processors that the calling thread may use, as in `0-1`.
private func processorsOfThread() -> String {
  guard let file = fopen("/proc/thread-self/status", "r") else { return "" }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 4_096)
  while fgets(&line, Int32(line.count), file) != nil {
    let text = line.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    if text.hasPrefix("Cpus_allowed_list:") { return String(text.dropFirst(18)) }
  }
  return ""
}

/// Expects one warning with this text, and no failure.
private struct ExpectsWarning: TestTrait, TestScoping {
  let text: String

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard let testCase else { return try await function() }
    let seen = Synchronization.Mutex<[(isFailure: Bool, text: String)]>([])
    let gathers: IssueHandlingTrait = .compactMapIssues { issue in
      seen.withLock { $0.append((issue.isFailure, "\(issue)")) }
      return nil
    }
    try await gathers.provideScope(for: test, testCase: testCase, performing: function)
    let issues = seen.withLock { $0 }
    #expect(issues.count == 1 && issues.allSatisfy { !$0.isFailure }, "\(issues)")
    #expect(issues.first?.text.contains(text) == true, "\(issues)")
  }
}

@Suite(.ownThreads) struct OwnPointTests {
  private func failure(_ add: @escaping @Sendable (Tally) -> Void) -> RaceFailure? {
    do throws(RaceFailure) {
      try explore(iterations: 200) {
        let tally = Tally()
        let threads = (1...2).map { number in
          Thread.start(name: "adder \(number)") { add(tally) }
        }
        for thread in threads { thread.join() }
        check(tally.count == 2, "an update is lost: \(tally.count)")
      }
      return nil
    } catch { return error }
  }

  @Test func othersComeBeforeAPointOfTheProgram() throws {
    // Nobody knows of the accesses.
    #expect(failure { $0.count += 1 } == nil)
    let found = try #require(
      failure { tally in
        point("reads the count", on: tally, writes: false)
        let count = tally.count
        point("writes the count", on: tally)
        tally.count = count + 1
      })
    #expect(found.reason == "an update is lost: 1")
    #expect(found.table.contains("reads the count") && found.table.contains("writes the count"))
    #expect(found.table.contains("OwnPointTests.swift:"), "\(found)")
    // Without an object it is an access to everything.
    #expect(
      failure { tally in
        let count = tally.count
        point("writes")
        tally.count = count + 1
      } != nil)
    // Outside of explorations it is nothing.
    point("nothing")
  }

  /// Whose points are of different objects need not be tried in each order.
  @Test func pointsOfDifferentObjectsAreIndependent() throws {
    func schedules(_ isShared: Bool, writes: Bool) throws -> Int {
      try explore(iterations: 10_000, strategy: .exhaustive) {
        let tallies = [Tally(), Tally()]
        let threads = (0..<2).map { number in
          Thread.start {
            for _ in 0..<3 { point("uses", on: tallies[isShared ? 0 : number], writes: writes) }
          }
        }
        for thread in threads { thread.join() }
      }.schedules
    }
    let all = try schedules(true, writes: true)
    #expect(try schedules(false, writes: true) < all)
    #expect(try schedules(true, writes: false) < all)
  }

  @Test func aPassNamesWhatWasNotUnderControl() throws {
    let words = "the program calls dispatch_async, as OperationQueue does"
    let result = try explore(iterations: 3) { operate() }
    #expect(result.uncontrolled.contains { $0.contains(words) }, "\(result.uncontrolled)")
    let controlled = try explore(iterations: 3) { Thread.start {}.join() }
    #expect(controlled.uncontrolled.isEmpty)
  }

  @Test(
    ExpectsWarning(text: "not under control: the program calls dispatch_async"),
    .explored(iterations: 3))
  func aTestThatPassesWarns() { operate() }

  /// A seed that could not be read was left out without a word.
  @Test func theEnvironmentGoesBeforeTheTestOrIsRefused() {
    let told = ["RACE_HUNT_SEED": "7", "RACE_HUNT_ITERATIONS": "30", "RACE_HUNT_UNTIL": "4"]
    let environment = ExplorationEnvironment { told[$0] }
    #expect(environment.seed == 7 && environment.iterations == 30 && environment.lastStep == 4)
    #expect(environment.mistake == nil && environment.schedule == nil)
    for (name, text) in [
      ("RACE_HUNT_SEED", "today"), ("RACE_HUNT_ITERATIONS", "0"), ("RACE_HUNT_UNTIL", "-1"),
    ] {
      let mistake = ExplorationEnvironment { $0 == name ? text : nil }.mistake
      #expect(mistake?.hasPrefix("\(name) is a whole number from ") == true)
      #expect(mistake?.hasSuffix("not '\(text)'") == true)
    }
  }

  @Test func aWrongEnvironmentExploresNothing() async throws {
    try await #require(processExitsWith: .success) {
      setenv("RACE_HUNT_ITERATIONS", "many", 1)
      let refused = #expect(throws: RaceFailure.self) { try explore { check(false, "explored") } }
      #expect(
        refused?.reason == "RACE_HUNT_ITERATIONS is a whole number from 1 on, not 'many'")
    }
  }

  /// Tests that explored at once shared one processor of however many.
  @Test func explorationsOfOneSeedHaveProcessorsOfTheirOwn() async throws {
    try await #require(processExitsWith: .success) {
      let seen = Synchronization.Mutex<Set<String>>([])
      var settings = Explorer.Settings()
      settings.iterations = 2
      let program: Program = { seen.withLock { _ = $0.insert(processorsOfThread()) } }
      let explorers = (0..<2).map { _ in Explorer(program, settings) }
      for explorer in explorers { _ = try explorer.explore() }
      let hasSeveral = processorsOfThread().contains { "-,".contains($0) }
      #expect(seen.withLock { $0.count } == (hasSeveral ? 2 : 1))
    }
  }
}
