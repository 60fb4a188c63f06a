// Waits with a limit of time that end in vain although others can go on, where the author wants it.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct EarlyTimeoutTests {
  /// Who has waited in vain takes the worker for dead, and what it does then comes between two of
  /// the worker's steps.
  private static let program: Program = {
    let count = Atomic(0, name: "count")
    let isDone = DispatchSemaphore(value: 0)
    let worker = Thread.start(name: "worker") {
      count.store(count.load() + 1)
      isDone.signal()
    }
    let isInTime = isDone.wait(timeout: .now() + 30) == .success
    if !isInTime { count.add(10) }
    worker.join()
    check(count.load() == (isInTime ? 1 : 11), "an update is lost")
  }

  @Test func aLongTimeoutComesWhereItIsWanted() throws {
    #expect(try explore(iterations: 1_000, Self.program).schedules == 1_000)
    let found = #expect(throws: RaceFailure.self) {
      try explore(iterations: 1_000, earlyTimeouts: true, Self.program)
    }
    #expect(found?.reason == "an update is lost")
    #expect(found?.table.contains("times out") == true)
    // The schedule says it.
    let again = #expect(throws: RaceFailure.self) { try replay(found!.schedule, Self.program) }
    #expect(again?.table == found?.table)
  }

  @Test func conditionsAndGroupsEndInVainToo() throws {
    for strategy in [Strategy.portfolio, .randomWalk, .partialOrder] {
      let condition = #expect(throws: RaceFailure.self) {
        try explore(iterations: 4_000, strategy: strategy, earlyTimeouts: true) {
          let isReady = Atomic(false)
          let condition = NSCondition()
          let thread = Thread.start {
            condition.lock()
            isReady.store(true)
            condition.signal()
            condition.unlock()
          }
          condition.lock()
          while !isReady.load(), condition.wait(until: Date(timeIntervalSinceNow: 60)) {}
          check(isReady.load(), "it is not ready")
          condition.unlock()
          thread.join()
        }
      }
      #expect(condition?.reason == "it is not ready", "\(strategy)")
      let group = #expect(throws: RaceFailure.self) {
        try explore(iterations: 1_000, strategy: strategy, earlyTimeouts: true) {
          let group = DispatchGroup()
          let word = Atomic(0)
          DispatchQueue.global().async(group: group) { for _ in 0..<3 { word.add(1) } }
          check(group.wait(timeout: .now() + 60) == .success, "it is not done")
        }
      }
      #expect(group?.reason == "it is not done", "\(strategy)")
    }
  }

  @Test func sleepsAreAsLongAsTheySay() throws {
    let exploration = try explore(iterations: 1_000, earlyTimeouts: true) {
      let word = Atomic(0)
      let isDone = DispatchSemaphore(value: 0)
      let worker = Thread.start {
        for _ in 0..<5 { word.add(1) }
        isDone.wait()
      }
      Thread.sleep(forTimeInterval: 1)
      check(word.load() == 5, "it wakes up too soon")
      try await Task.sleep(for: .seconds(1))
      isDone.signal()
      worker.join()
    }
    #expect(exploration.schedules == 1_000)
  }
}
