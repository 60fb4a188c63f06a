// Tests that a trait explores.
import RaceHunt
import RaceHuntTesting
import Synchronization
import TestSupport
import Testing

/// Expects that a test has one issue with these texts.
private struct ExpectsIssue: TestTrait, TestScoping {
  let texts: [String]
  /// What it does not contain.
  let absent: String?

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard let testCase else { return try await function() }
    let seen = Synchronization.Mutex<[String]>([])
    let gathers: IssueHandlingTrait = .compactMapIssues { issue in
      if issue.isFailure { seen.withLock { $0.append("\(issue)") } }
      return nil
    }
    try await gathers.provideScope(for: test, testCase: testCase, performing: function)
    let issues = seen.withLock { $0 }
    #expect(issues.count == 1)
    for text in texts { #expect(issues.first?.contains(text) == true, "\(issues)") }
    if let absent { #expect(issues.first?.contains(absent) == false, "\(issues)") }
  }
}

extension Trait where Self == ExpectsIssue {
  fileprivate static func expects(_ texts: String..., without absent: String? = nil) -> Self {
    ExpectsIssue(texts: texts, absent: absent)
  }
}

private actor Account {
  private(set) var balance = 100
  func withdraw(_ amount: Int) { balance -= amount }
}

/// A call: without one between them the compiler makes one step of two on an actor.
@inline(never) private func suffices(_ balance: Int) -> Bool { balance >= 100 }

@Suite(.ownThreads) struct TraitTests {
  @Test(.explored(iterations: 200)) func aSoundTestPasses() async throws {
    let counter = RaceHunt.Mutex(0)
    async let first: Void = counter.withLock { $0 += 1 }
    async let second: Void = counter.withLock { $0 += 1 }
    _ = await (first, second)
    #expect(counter.withLock { $0 } == 2)
  }

  @Test(
    .expects(
      "(balance → -100) >= 0", "step | program", "@Test(.replayed(\"",
      "RACE_HUNT_REPLAY=", "RaceHuntTests.TraitTests/aFailedExpectationShowsTheSchedule",
      "TraitTests.swift"),
    .explored(iterations: 1_000))
  func aFailedExpectationShowsTheSchedule() async {
    let account = Account()
    let tasks = (1...2).map { _ in
      Task { if suffices(await account.balance) { await account.withdraw(100) } }
    }
    for task in tasks { await task.value }
    let balance = await account.balance
    #expect(balance >= 0)
  }

  @Test(.expects("is nil", without: "ExpectationFailedError"), .explored())
  func aRequirementThatDoesNotHoldIsOneIssue() throws {
    let word = RaceHunt.Atomic(0)
    let thread = RaceHunt.Thread { word.store(1, ordering: .relaxed) }
    thread.start()
    let seen: Int? = word.load(ordering: .relaxed) == 0 ? nil : 1
    thread.join()
    _ = try #require(seen, "is nil")
  }

  @Test(.expects("throws Refused"), .explored()) func aThrownErrorIsAnIssue() throws {
    struct Refused: Error {}
    throw Refused()
  }

  @Test(.expects("deadlock: "), .explored()) func aDeadlockIsAnIssue() {
    let (left, right) = (RaceHunt.NSLock(), RaceHunt.NSLock())
    let thread = RaceHunt.Thread { left.withLock { right.withLock {} } }
    thread.start()
    right.withLock { left.withLock {} }
    thread.join()
  }

  @Test(.explored(iterations: 50), arguments: [1, 2, 3])
  func casesAreExploredOneByOne(count: Int) async {
    let counter = RaceHunt.Atomic(0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<count { group.addTask { counter.add(1, ordering: .relaxed) } }
    }
    #expect(counter.load(ordering: .relaxed) == count)
  }

  @MainActor @Test(.explored(iterations: 50)) func testsOfTheMainActorAreExplored() async {
    MainActor.assertIsolated()
    await Task { @MainActor in }.value
  }

  @Test(.explored(iterations: 50)) func knownIssuesFailNoSchedule() async {
    let count = RaceHunt.Atomic(0)
    withKnownIssue { #expect(count.load() == 1) }
    await withTaskGroup(of: Void.self) { group in
      for _ in 1...2 { group.addTask { count.add(1) } }
    }
    withKnownIssue(isIntermittent: true) { #expect(count.load() == 2) }
  }

  @Test(
    .expects("Known issue was not recorded"), .explored())
  func aKnownIssueThatDoesNotOccurFailsTheSchedule() {
    let word = RaceHunt.Atomic(0)
    let thread = RaceHunt.Thread.start(name: "other") { word.store(1) }
    withKnownIssue { #expect(word.load() == 1) }
    thread.join()
  }

  @Test(.expects("3 is even", "argument"), .explored(iterations: 20), arguments: [3])
  func aFailingCaseNamesItsArgument(number: Int) async {
    let isEven = await Task { number % 2 == 0 }.value
    #expect(isEven, "3 is even, says the argument \(number)")
  }

  @Test(.explored(iterations: 50)) func confirmationsCountInEachSchedule() async {
    await confirmation("both have run", expectedCount: 2) { hasRun in
      await withTaskGroup(of: Void.self) { group in
        for _ in 1...2 { group.addTask { hasRun() } }
      }
    }
  }

  @Test(.expects("was confirmed 0 times", "step | program"), .explored())
  func aConfirmationThatDoesNotComeIsAnIssue() async {
    await confirmation("nobody was first") { isRight in
      let word = RaceHunt.Atomic(0)
      let task = Task { word.store(1) }
      if word.load() == 0 { isRight() }
      await task.value
    }
  }

  @Test(.expects("is not a schedule"), .replayed("nonsense")) func aScheduleIsChecked() {}

  @Test(.expects("never 1", "repeat"), .replayed("1:")) func aScheduleIsReplayed() {
    #expect(RaceHunt.random(below: 1) == 1, "never 1")
  }

  @Suite(.explored(iterations: 20)) struct Inner {
    private let word = RaceHunt.Atomic(0)

    @Test func eachScheduleHasAnInstanceOfItsOwn() {
      #expect(word.add(1, ordering: .relaxed).oldValue == 0)
    }
  }

  /// Its end is a part of the schedule, too.
  @Suite(.explored(iterations: 20)) final class WithEnd {
    private let word = RaceHunt.Atomic(0)
    private let isOver = RaceHunt.DispatchSemaphore(value: 0)
    private let thread: RaceHunt.Thread

    init() async {
      let (word, isOver) = (word, isOver)
      thread = RaceHunt.Thread.start {
        isOver.wait()
        word.add(1)
      }
      await Task.yield()
    }

    deinit {
      isOver.signal()
      thread.join()
      check(word.load() == 1, "the thread goes on")
    }

    @Test(arguments: [1, 2], ["a", "b"]) func eachCaseHasAnInstance(number: Int, text: String) {
      #expect(word.load() == 0 && number > 0 && !text.isEmpty)
    }
  }
}
