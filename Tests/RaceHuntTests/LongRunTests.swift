// One thread that goes on for long while others could, and ones that wait by looking again: nobody
// is kept from any order, and nobody waits for ever for one that sleeps.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct LongRunTests {
  /// A thread was made to let others go first after a hundred steps, whatever the strategy.
  @Test func manyStepsComeBeforeTheNextOneOfAnother() {
    let found = failure(iterations: 20_000) {
      let (own, flag) = (Atomic(0), Atomic(false))
      let worker = Thread.start {
        for _ in 0..<1_000 { own.add(1) }
        flag.store(true)
      }
      check(!flag.load(), "the worker was done first")
      worker.join()
    }
    #expect(found?.reason == "the worker was done first")
  }

  /// Who lets others go first need not let them: nobody else may be there in time.
  @Test(arguments: [Strategy.exhaustive, .uniform, .selectivelyUniform, .partialOrder, .portfolio])
  func aYieldMayReturnAtOnce(strategy: Strategy) {
    let found = failure(strategy: strategy) {
      let word = Atomic(0)
      let worker = Thread.start {
        Thread.yield()
        word.store(1)
      }
      check(word.load() == 0, "it was stored first")
      worker.join()
    }
    #expect(found?.reason == "it was stored first")
  }

  /// It was called exhaustive, although nothing behind a thousand decisions had been varied.
  @Test func whatIsTooLongIsNotCalledExhaustive() throws {
    for strategy in [Strategy.exhaustive, .depthFirst(preemptions: 0)] {
      let result = try explore(iterations: 3, strategy: strategy) {
        let word = Atomic(0)
        let threads = (1...2).map { _ in
          Thread.start {
            let own = Atomic(0)
            for _ in 0..<1_200 { own.add(1) }
            word.add(1)
          }
        }
        for thread in threads { thread.join() }
      }
      #expect(!result.isExhaustive, "\(strategy)")
    }
  }

  // MARK: - Waiting for one that sleeps

  /// Time passed only when nobody could go on: these were livelocks.
  @Test func threadsThatLookAgainSeeWhoHasSlept() throws {
    try explore(iterations: 50) {
      let isDone = Atomic(false)
      let worker = Thread.start {
        Thread.sleep(forTimeInterval: 5)
        isDone.store(true)
      }
      while !isDone.load() { Thread.yield() }
      worker.join()
    }
  }

  @Test func tasksThatLookAgainSeeWhoHasSlept() async throws {
    try await explore(iterations: 50) {
      let isDone = Atomic(false)
      let worker = Task {
        try await Task.sleep(for: .seconds(5))
        isDone.store(true)
      }
      while !isDone.load() { await Task.yield() }
      try await worker.value
    }
  }

  /// A spin lock is tried again and again, which changes it, while its owner sleeps.
  @Test func whoTriesToLockSeesWhoHasSlept() throws {
    try explore(iterations: 20) {
      let lock = Atomic(0)
      let threads = (1...2).map { _ in
        Thread.start {
          while !lock.compareExchange(expected: 0, desired: 1).exchanged { Thread.yield() }
          Thread.sleep(forTimeInterval: 1)
          lock.store(0)
        }
      }
      for thread in threads { thread.join() }
    }
  }

  /// Long limits of time stay for those whose work goes on.
  @Test func aLimitOfTimeIsNotUsedUpByWorkThatGoesOn() throws {
    try explore(iterations: 20) {
      let (turn, isDone) = (Atomic(0), DispatchSemaphore(value: 0))
      let threads = (0...1).map { number in
        Thread.start {
          for round in 0..<40 {
            while turn.load() != 2 * round + number { Thread.yield() }
            turn.add(1)
          }
          isDone.signal()
        }
      }
      for _ in threads { check(isDone.wait(timeout: .now() + 10) == .success, "late") }
      for thread in threads { thread.join() }
    }
  }

  /// Who had slept with a lock was not chosen as long as anybody else could go on.
  @Test func whoHasSleptWithALockGoesOnAsOthersDo() {
    let found = failure(iterations: 5_000) {
      let (lock, word) = (NSLock(), Atomic(0))
      let first = Thread.start {
        lock.lock()
        Thread.sleep(forTimeInterval: 1)
        word.store(1)
        lock.unlock()
      }
      let second = Thread.start {
        Thread.sleep(forTimeInterval: 1)
        check(word.load() == 0, "the first one was sooner")
      }
      first.join()
      second.join()
    }
    #expect(found?.reason == "the first one was sooner")
  }
}
