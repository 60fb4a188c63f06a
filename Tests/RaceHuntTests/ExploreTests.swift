// What an exploration finds, and that it repeats what it has found.
import RaceHunt
import TestSupport
import Testing

/// Reads a counter and stores one more: two steps.
@Sendable private func lostUpdate() {
  let counter = Atomic(0, name: "counter")
  let threads = (1...2).map { number in
    Thread.start(name: "adder \(number)") { counter.store(counter.load() + 1) }
  }
  for thread in threads { thread.join() }
  let count = counter.load()
  check(count == 2, "an update is lost: the counter is \(count)")
}

/// The failure of a program.
func failure(
  iterations: Int = 2_000, strategy: Strategy = .portfolio, seed: UInt64 = 1,
  sourceLocation: SourceLocation = #_sourceLocation, _ program: @escaping Program
) -> RaceFailure? {
  do {
    try explore(iterations: iterations, strategy: strategy, seed: seed, program)
    Issue.record("no failure in \(iterations) schedules", sourceLocation: sourceLocation)
    return nil
  } catch { return error }
}

@Suite(.ownThreads) struct ExploreTests {
  @Test(arguments: [
    "random", "pct", "pct:2", "pos", "uniform", "surw", "depth-first", "exhaustive", "portfolio",
  ])
  func everyStrategyFindsALostUpdate(name: String) throws {
    let strategy = try #require(Strategy(name))
    for seed in 1...5 as ClosedRange<UInt64> {
      let found = try #require(failure(strategy: strategy, seed: seed, lostUpdate))
      #expect(found.kind == .check)
      #expect(found.reason == "an update is lost: the counter is 1")
      // One preemption suffices.
      #expect(found.turns == 1, "\(found)")
    }
  }

  @Test func aFailureIsRepeatedByItsSchedule() throws {
    let found = try #require(failure(lostUpdate))
    for _ in 1...20 {
      let repeated = #expect(throws: RaceFailure.self) {
        try replay(found.schedule, lostUpdate)
      }
      #expect(repeated?.reason == found.reason)
      #expect(repeated?.table == found.table)
    }
  }

  @Test func theSameSeedFindsTheSame() throws {
    let first = try #require(failure(seed: 7, lostUpdate))
    let second = try #require(failure(seed: 7, lostUpdate))
    #expect(first.schedule == second.schedule)
    #expect(first.schedules == second.schedules)
    #expect(first.table == second.table)
  }

  @Test func theTableShowsColumnsAndSwitches() throws {
    let found = try #require(failure(lostUpdate))
    let lines = found.table.split(separator: "\n")
    #expect(lines[0].contains("| adder 1"))
    #expect(lines[0].contains("| adder 2"))
    let stores = lines.filter { $0.contains("stores counter = 1") }
    #expect(stores.count == 2)
    #expect(stores.allSatisfy { $0.contains("ExploreTests.swift:") })
    #expect(lines.contains { $0.hasPrefix(">") })
    #expect(found.description.contains("replay(\"\(found.schedule)\")"))
  }

  @Test func aSoundProgramHasNoFailure() throws {
    let result = try explore(iterations: 500) {
      let counter = Mutex(0, name: "counter")
      let threads = (0..<3).map { _ in
        Thread.start { counter.withLock { $0 += 1 } }
      }
      for thread in threads { thread.join() }
      check(counter.value == 3, "the counter is \(counter.value)")
    }
    #expect(result.schedules == 500)
    #expect(result.distinct > 50)
    #expect(!result.isExhaustive)
  }

  @Test func aSmallProgramIsExploredWhole() throws {
    let program: Program = {
      let word = Atomic(0)
      let thread = Thread.start { word.store(1) }
      word.store(2)
      thread.join()
    }
    let result = try explore(iterations: 10_000, strategy: .depthFirst(preemptions: 10), program)
    #expect(result.isExhaustive)
    #expect(result.schedules < 50)
    // No order is missed that a random walk comes to.
    let drawn = try explore(iterations: 500, strategy: .randomWalk, program)
    #expect(drawn.distinct == result.distinct)
  }

  @Test func errorsOfProgramsAndThreadsAreFailures() throws {
    struct Refused: Error {}
    #expect(failure { throw Refused() }?.kind == .error)
    let thrown = failure { Thread.start(name: "worker") { throw Refused() }.join() }
    #expect(thrown?.kind == .error)
    #expect(thrown?.reason.contains("worker throws Refused") == true)
  }

  @Test func errorsAreToldByTheirDescription() {
    struct Refused: LocalizedError { var errorDescription: String? { "all seats are taken" } }
    #expect(failure { throw Refused() }?.reason == "the program throws all seats are taken")
    let thrown = failure { Thread.start(name: "worker") { throw Refused() }.join() }
    #expect(thrown?.reason == "worker throws all seats are taken")
  }

  @Test func aProgramThatIsNotTheSameTwiceIsNamed() throws {
    let calls = Atomic(0)
    let found = failure(iterations: 10_000) {
      let word = Atomic(0)
      if calls.add(1).oldValue % 7 < 3 { word.store(1) } else { _ = word.load() }
    }
    #expect(found?.kind == .notReproducible)
    #expect(found?.reason.contains("differ at step") == true)
    #expect(found?.reason.contains("random(below:)") == true)
    #expect(found?.reason.contains("keys by UUID()") == true)
    // Where the two steps are.
    #expect(found?.reason.contains("(ExploreTests.swift:") == true)
  }

  @Test func aCacheThatAnEarlierScheduleHasFilledIsNoDifference() throws {
    // What the first schedules make takes steps that later ones have not.
    let cache = Mutex<[Int: Int]>([:])
    @Sendable func square(_ number: Int) -> Int {
      if let known = cache.withLock({ $0[number] }) { return known }
      return cache.withLock { cache in
        cache[number] = number * number
        return number * number
      }
    }
    try explore(iterations: 500) {
      let threads = (1...2).map { number in Thread.start { _ = square(number) } }
      for thread in threads { thread.join() }
    }
    cache.withLock { $0 = [:] }
    let program: Program = {
      let sum = Atomic(0)
      let threads = (1...2).map { number in
        Thread.start { sum.store(sum.load() + square(number)) }
      }
      for thread in threads { thread.join() }
      check(sum.load() == 5, "the sum is \(sum.load())")
    }
    let found = failure(program)
    #expect(found?.kind == .check)
    // In a process in which nothing is cached yet, too.
    cache.withLock { $0 = [:] }
    #expect(throws: RaceFailure.self) { try replay(found?.schedule ?? "", program) }
  }

  @Test func aReplayEndsBeforeTheStepThatIsNamed() throws {
    let found = try #require(failure(lostUpdate))
    let table = try replay(found.schedule, until: 6, lostUpdate)
    #expect(found.table.hasPrefix(table.split(separator: "\n")[0].prefix(6)))
    #expect(table.split(separator: "\n").count == 1 + 5)
  }

  @Test func drawnNumbersFollowFromTheSchedule() throws {
    let found = try #require(failure { check(random(below: 10) != 7, "it is 7") })
    let repeated = #expect(throws: RaceFailure.self) {
      try replay(found.schedule) { check(random(below: 10) != 7, "it is 7") }
    }
    #expect(repeated?.reason == "it is 7")
  }

  @Test(arguments: ["", "1", "x:1>2", "1:2>1,1>2", "1:2", "1:2>", "1:-1>2", "1:1>2:3"])
  func textsThatAreNoScheduleAreRefused(text: String) {
    let refused = #expect(throws: RaceFailure.self) { try replay(text) {} }
    #expect(refused?.reason.contains("is not a schedule") == true)
  }

  @Test func aLongTextThatIsNoScheduleIsShownInPart() {
    let refused = #expect(throws: RaceFailure.self) {
      try replay(String(repeating: "7", count: 100_000)) {}
    }
    #expect(refused.map { $0.reason.count < 200 } == true)
  }

  @Test func numbersThatMeanNothingAreRefused() {
    func refusal(
      _ iterations: Int = 1, _ strategy: Strategy = .portfolio, steps: Int = 100
    ) -> String? {
      #expect(throws: RaceFailure.self) {
        try explore(iterations: iterations, strategy: strategy, steps: steps) {}
      }?.reason
    }
    #expect(refusal(0) == "explore has no schedule to run: iterations is 0; give at least 1")
    #expect(refusal(-5) == "explore has no schedule to run: iterations is -5; give at least 1")
    #expect(refusal(steps: 0) == "no program ends within 0 steps; give at least 1 as steps")
    #expect(refusal(1, .pct(depth: 0)) == "pct:0 is no strategy; give a depth from 1 to 100")
    #expect(
      refusal(1, .depthFirst(preemptions: -1))
        == "depth-first:-1 is no strategy; give 0 to 100 preemptions")
  }

  /// Each one has its number at once: 20,000 took minutes when all were counted for each.
  @Test func wordsWithoutNamesAreNumbered() throws {
    let count = 20_000
    let found = #expect(throws: RaceFailure.self) {
      try explore(iterations: 1, steps: 2 * count) {
        let words = (0..<count).map { _ in Atomic(0) }
        for word in words { word.store(1) }
        check(false, "it ends")
      }
    }
    #expect(found?.reason == "it ends")
    #expect(found?.table.contains("stores atomic \(count) = 1") == true)
  }

  /// It would wait for the threads that it has itself, until that is told as a hang.
  @Test func anExplorationInsideOfAnotherOneIsRefused() async throws {
    let inner: @Sendable () throws -> Void = { try explore(iterations: 1) {} }
    let programs: [Program] = [
      { try inner() }, { try await explore(iterations: 1) {} }, { try await replay("1:") {} },
    ]
    for program in programs {
      let refused = await #expect(throws: RaceFailure.self) {
        try await explore(iterations: 2, program)
      }
      #expect(refused?.reason.contains("is called in a program that is explored") == true)
    }
  }

  @Test(arguments: [
    "", "pct:0", "pct:x", "random:2", "depth-first:-1", "pct:2:3", "walk", "pos:1", "surw:2",
  ])
  func namesThatAreNoStrategyAreRefused(name: String) { #expect(Strategy(name) == nil) }

  @Test(arguments: [
    "random", "pct:4", "pos", "uniform", "surw", "depth-first:1", "exhaustive", "portfolio",
  ])
  func strategiesHaveNames(name: String) { #expect(Strategy(name)?.description == name) }

  /// What the program says is in the table however long the schedule is, and in the history.
  @Test func whatTheProgramNotesAndKeepsIsWithTheFailure() throws {
    let found = try #require(
      failure {
        note("it begins")
        for _ in 0..<2_000 { RaceHunt.Thread.yield() }
        Failures.attach("state", [1, 2, 3])
        check(false, "it fails")
      })
    #expect(found.table.split(separator: "\n").count < 200)
    #expect(found.table.contains("it begins"))
    let lines = found.history.split(separator: "\n").map { $0.split(separator: "\t").dropFirst() }
    #expect(lines.map(Array.init) == [["program", "it begins"], ["program", "FAILS: it fails"]])
    #expect(found.attachments.count == 1 && found.attachments[0].name == "state")
    #expect(found.attachments[0].bytes == [1, 2, 3])
  }

  /// A word that lies in two maps is one.
  @Test func whoWaitsForAWordIsWokenByItsOtherMap() throws {
    func waits(noting: Bool) throws -> UInt64 {
      let passed = Mutex<UInt64>(0)
      try explore(iterations: 20) {
        let words = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 8)
        defer { words.deallocate() }
        let address = UInt(bitPattern: words)
        let begin = Control.nanoseconds ?? 0
        if noting {
          Control.noteSharedWords(words, length: 16, ofMemory: 7)
          Control.noteSharedWords(words + 32, length: 16, ofMemory: 7)
        }
        words.storeBytes(of: 0, as: Int.self)
        let thread = Thread.start(name: "waiter") {
          let word = UnsafeRawPointer(bitPattern: address + 8)!
          Control.wait(forWord: word, nanoseconds: 1_000_000_000) {
            // A look is no point: nothing comes between it and the wait.
            UnsafeRawPointer(bitPattern: address)!.load(as: Int.self) == 1
          }
        }
        RaceHunt.Thread.yield()
        words.storeBytes(of: 1, as: Int.self)
        Control.wake(word: words + 40)
        thread.join()
        let end = Control.nanoseconds ?? 0
        passed.withLock { $0 = max($0, end - begin) }
      }
      return passed.withLock { $0 }
    }
    #expect(try waits(noting: true) < 1_000_000_000)
    #expect(try waits(noting: false) >= 1_000_000_000, "else the test shows nothing")
  }
}
