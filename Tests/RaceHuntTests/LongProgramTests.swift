// Programs with many steps, and those without end: how they are told apart, and what is said.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct LongProgramTests {
  @Test func aProgramOfManyStepsIsNoLivelock() throws {
    let exploration = try explore(iterations: 20) {
      let count = Atomic(0, name: "count")
      let threads = (1...4).map { _ in
        Thread.start { for _ in 0..<3_000 { count.add(1) } }
      }
      for thread in threads { thread.join() }
      check(count.load() == 12_000)
    }
    #expect(exploration.schedules == 20)
  }

  @Test func aLivelockSaysHowToGoOn() throws {
    let flag: Program = {
      let flag = Atomic(false, name: "flag")
      Thread.start(name: "spinner") { while !flag.load() { Thread.yield() } }.join()
    }
    let found = #expect(throws: RaceFailure.self) { try explore(steps: 500, flag) }
    #expect(found?.kind == .livelock)
    #expect(found?.reason.hasPrefix("livelock: no end after 500 steps, ") == true)
    #expect(found?.reason.hasSuffix("of spinner; more for a long program: steps: 5000") == true)
  }

  /// Without the number `replay` ended a long program before it failed, and took another limit for
  /// one without end.
  @Test func whatRepeatsAFailureNamesTheSteps() throws {
    let long: Program = {
      let count = Atomic(0, name: "count")
      for _ in 0..<100_100 { count.add(1) }
      check(count.load() == 0, "at the end")
    }
    let found = #expect(throws: RaceFailure.self) {
      try explore(iterations: 1, steps: 200_000, long)
    }
    let schedule = try #require(found?.schedule)
    #expect(found?.description.contains("try replay(\"\(schedule)\", steps: 200000) {") == true)
    let repeated = #expect(throws: RaceFailure.self) { try replay(schedule, steps: 200_000, long) }
    #expect(repeated?.reason == "at the end")
    let ended = #expect(throws: RaceFailure.self) {
      try explore(iterations: 1, steps: 500) {
        let flag = Atomic(false, name: "flag")
        while !flag.load() { Thread.yield() }
      }
    }
    #expect(ended?.description.contains(", steps: 500) {") == true)
    let usual = #expect(throws: RaceFailure.self) {
      try explore(iterations: 1, steps: 500) { check(Atomic(0).load() == 1, "it is 0") }
    }
    #expect(usual?.description.contains("\(usual?.schedule ?? "")\") {") == true)
  }
}
