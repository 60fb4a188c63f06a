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
}
