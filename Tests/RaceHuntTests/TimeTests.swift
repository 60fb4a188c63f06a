// Who goes on when a time has come: all whose time it is, in any order, and perhaps those whose
// time is near.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct TimeTests {
  /// Adds one in two steps, as often as it is called.
  private final class Sum: Sendable {
    private let word = Atomic(0, name: "sum")
    func add() { word.store(word.load() + 1) }
    var value: Int { word.load() }
  }

  @Test func sleepersOfOneTimeRunBesideEachOther() throws {
    for strategy in [Strategy.portfolio, .randomWalk, .exhaustive] {
      let found = #expect(throws: RaceFailure.self) {
        try explore(iterations: 1_000, strategy: strategy) {
          let sum = Sum()
          let threads = (0..<2).map { _ in
            Thread.start {
              Thread.sleep(forTimeInterval: 1)
              sum.add()
            }
          }
          for thread in threads { thread.join() }
          check(sum.value == 2, "an update is lost")
        }
      }
      #expect(found?.reason == "an update is lost", "\(strategy)")
    }
  }

  @Test func timersOfOneTimeComeInAnyOrder() throws {
    let found = #expect(throws: RaceFailure.self) {
      try explore(iterations: 1_000) {
        let order = Mutex<[Int]>([])
        let queue = DispatchQueue(label: "timers", attributes: .concurrent)
        for number in 0..<2 {
          queue.asyncAfter(deadline: .now() + 1) { order.withLock { $0.append(number) } }
        }
        Thread.sleep(forTimeInterval: 2)
        check(order.withLock { $0 } == [0, 1], "the second one is first")
      }
    }
    #expect(found?.reason == "the second one is first")
  }

  /// A step may take as long as a short time, and another sleeper may be so late.
  @Test(arguments: [1, 9]) func aShortTimeoutComesWhileOthersGoOn(milliseconds: Int) throws {
    let program: Program = {
      let word = Atomic(0)
      let isDone = DispatchSemaphore(value: 0)
      let worker = Thread.start {
        for _ in 0..<5 { word.add(1) }
        isDone.signal()
      }
      let result = isDone.wait(timeout: .now() + .milliseconds(milliseconds))
      check(result == .success || word.load() == 5, "it comes in between")
      worker.join()
    }
    let found = #expect(throws: RaceFailure.self) { try explore(iterations: 1_000, program) }
    #expect(found?.reason == "it comes in between")
    let again = #expect(throws: RaceFailure.self) { try replay(found!.schedule, program) }
    #expect(again?.table == found?.table)
  }

  @Test func aLongTimeoutWaitsForWhoCanGoOn() throws {
    let exploration = try explore(iterations: 2_000) {
      let word = Atomic(0)
      let isDone = DispatchSemaphore(value: 0)
      let worker = Thread.start {
        for _ in 0..<5 { word.add(1) }
        Thread.sleep(forTimeInterval: 0.5)
        isDone.signal()
      }
      check(isDone.wait(timeout: .now() + .milliseconds(600)) == .success, "it comes too soon")
      worker.join()
    }
    #expect(exploration.schedules == 2_000)
  }

  /// What is due does not wait for those who can go on.
  @Test func aSleepOfNothingIsNoLongerThanAYield() throws {
    let found = #expect(throws: RaceFailure.self) {
      try explore(iterations: 1_000) {
        let sum = Sum()
        let sleeper = Task {
          try await Task.sleep(nanoseconds: 0)
          sum.add()
        }
        let thread = Thread.start { sum.add() }
        try await sleeper.value
        thread.join()
        check(sum.value == 2, "an update is lost")
      }
    }
    #expect(found?.reason == "an update is lost")
  }
}
