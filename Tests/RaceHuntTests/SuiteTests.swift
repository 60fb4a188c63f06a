// The programs of the suite: that each of them fails, in the way that it says, and that strategies
// which know what steps are done with find what a random walk does not.
import RaceHunt
import RacePrograms
import TestSupport
import Testing

@Suite(.ownThreads) struct SuiteTests {
  /// Too rare for a test that runs with all others.
  private static let rare: Set<String> = ["misc.safestack"]

  @Test(arguments: SuiteProgram.all.map(\.name).filter { !rare.contains($0) })
  func everyProgramFailsAndIsRepeated(name: String) throws {
    let program = try #require(SuiteProgram.all.first { $0.name == name })
    let found = try #require(failure(iterations: 20_000, program.program))
    #expect([.check, .deadlock, .lostWakeUp].contains(found.kind), "\(found)")
    let repeated = #expect(throws: RaceFailure.self) {
      try replay(found.schedule, program.program)
    }
    #expect(repeated?.reason == found.reason)
  }

  @Test func namesAreThoseOfOneProgramEach() {
    let names = SuiteProgram.all.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(names.count >= 30)
    #expect(SuiteProgram.all.contains { $0.published != nil })
  }

  /// Half a change, behind many other steps, that a short thread has to see: in a random walk that
  /// one has ended long before.
  @Test func selectedStepsComeInAllOrders() throws {
    let program: Program = {
      let (a, b) = (Atomic(0, name: "a"), Atomic(0, name: "b"))
      let long = Thread.start(name: "long") {
        let own = Atomic(0, name: "own")
        for _ in 1...40 { own.add(1) }
        a.store(1)
        b.store(1)
      }
      let short = Thread.start(name: "short") {
        if a.load() == 1 { check(b.load() == 1, "half of the change is seen") }
      }
      long.join()
      short.join()
    }
    for seed in 1...3 as ClosedRange<UInt64> {
      #expect(throws: Never.self) {
        try explore(iterations: 1_000, strategy: .randomWalk, seed: seed, program)
      }
      let found = try #require(
        failure(iterations: 200, strategy: .selectivelyUniform, seed: seed, program))
      #expect(found.reason == "half of the change is seen")
    }
  }

  /// Words without a name, used in another order in each schedule: they are known again by who has
  /// made them, so that the one that matters is not taken for another one.
  @Test func wordsWithoutNamesAreKnownAgain() throws {
    let program: Program = {
      let (a, b) = (Atomic(0), Atomic(0))
      let own = (0..<8).map { _ in Atomic(0) }
      let threads = (0..<8).map { number in
        Thread.start {
          for _ in 1...5 { own[number].add(1) }
          if number == 0 {
            a.store(1)
            b.store(1)
          } else if number == 1 {
            if a.load() == 1 { check(b.load() == 1, "half of the change is seen") }
          }
        }
      }
      for thread in threads { thread.join() }
    }
    var schedules = 0
    for seed in 1...10 as ClosedRange<UInt64> {
      let found = try #require(
        failure(iterations: 1_000, strategy: .selectivelyUniform, seed: seed, program))
      schedules += found.schedules ?? 1_000
    }
    #expect(schedules < 150, "\(schedules) schedules in 10 searches")
  }

  /// Orders of the steps on one word alone do not show it: others have to come between the steps on
  /// another one, too.
  @Test func selectiveWalksSwitchBetweenOtherSteps() throws {
    let program = try #require(SuiteProgram.all.first { $0.name == "radbench.bug4" })
    for seed in 1...5 as ClosedRange<UInt64> {
      let found = failure(
        iterations: 200, strategy: .selectivelyUniform, seed: seed, program.program)
      #expect(found != nil, "seed \(seed)")
    }
  }

  /// What has many orders is looked at more often than the many words that two threads use once.
  @Test func wordsWithManyOrdersAreLikelier() throws {
    let program: Program = {
      let word = Atomic(0)
      let seldom = (0..<20).map { _ in Atomic(0) }
      let threads = (1...2).map { _ in
        Thread.start {
          for word in seldom { word.add(1) }
          for _ in 1...3 { word.store(word.load() + 1) }
        }
      }
      for thread in threads { thread.join() }
      check(word.load() > 2, "most updates are lost")
    }
    var schedules = 0
    for seed in 1...10 as ClosedRange<UInt64> {
      let found = failure(iterations: 2_000, strategy: .selectivelyUniform, seed: seed, program)
      schedules += found?.schedules ?? 2_000
    }
    #expect(schedules < 6_000, "\(schedules) schedules in 10 searches")
  }

  /// A thread with few steps beside one with many: it comes last as often as first.
  @Test func uniformWalksLetShortThreadsComeLate() throws {
    let program: Program = {
      let word = Atomic(0, name: "word")
      let long = Thread.start(name: "long") { for _ in 1...20 { word.add(1) } }
      let short = Thread.start(name: "short") {
        let seen = word.load()
        check(seen < 20, "the long thread has ended before")
      }
      long.join()
      short.join()
    }
    for seed in 1...3 as ClosedRange<UInt64> {
      let found = try #require(
        failure(iterations: 500, strategy: .uniform, seed: seed, program))
      #expect((found.schedules ?? 500) < 200)
      #expect(throws: Never.self) {
        try explore(iterations: 500, strategy: .randomWalk, seed: seed, program)
      }
    }
  }

  /// A thread that would only begin to wait for a lock is no choice.
  @Test func whoWouldOnlyWaitIsNotChosen() throws {
    var settings = Explorer.Settings()
    settings.strategy = .randomWalk
    settings.shrinks = false
    for seed in 1...20 as ClosedRange<UInt64> {
      settings.seed = seed
      let program: Program = {
        let lock = Mutex(0, name: "lock")
        let word = Atomic(0, name: "word")
        let threads = (1...3).map { _ in
          Thread.start { lock.withLock { _ in word.store(1) } }
        }
        for thread in threads { thread.join() }
        check(false, "always")
      }
      let found = #expect(throws: RaceFailure.self) {
        _ = try Explorer(program, settings).explore()
      }
      #expect(found?.reason == "always")
      #expect(found?.table.contains("waits to lock") == false, "\(found?.table ?? "")")
    }
  }
}

@Suite(.ownThreads) struct ScenarioTests {
  @Test(arguments: HuntScenario.all.map(\.name))
  func theBugIsFoundAndTheMendedProgramIsSound(name: String) throws {
    let scenario = try #require(HuntScenario.named(name))
    let found = try #require(failure(iterations: 20_000, scenario.program(true)))
    #expect([.check, .deadlock, .lostWakeUp].contains(found.kind), "\(found)")
    #expect(throws: Never.self) { try explore(iterations: 2_000, scenario.program(false)) }
  }

  @Test func thereAreFortyAndNamesAreThoseOfOneEach() {
    let names = HuntScenario.all.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(names.count >= 40)
  }
}
