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

  /// However often others have looked meanwhile.
  @Test func norByMuchOfIt() throws {
    try explore(iterations: 5, steps: 1_000_000) {
      let (turn, done) = (Atomic(0), DispatchSemaphore(value: 0))
      let threads = (0...1).map { me in
        Thread.start {
          for round in 0..<5_000 {
            while turn.load() != 2 * round + me { Thread.yield() }
            turn.add(1)
          }
          done.signal()
        }
      }
      for _ in threads { check(done.wait(timeout: .now() + 60) == .success, "late") }
      for thread in threads { thread.join() }
    }
  }

  /// What is locked to look at it is a change, too, as far as one can tell.
  @Test func whoLooksUnderALockSeesWhoHasSlept() throws {
    try explore(iterations: 20) {
      let isDone = Mutex(false)
      let worker = Thread.start {
        Thread.sleep(forTimeInterval: 5)
        isDone.withLock { $0 = true }
      }
      while !isDone.withLock({ $0 }) { Thread.yield() }
      worker.join()
    }
  }

  @Test func exhaustiveSaysWhenSomeWereNoChoice() {
    let result = try? explore(iterations: 10_000, strategy: .exhaustive) {
      let (own, flag) = (Atomic(0), Atomic(false))
      let worker = Thread.start {
        for _ in 0..<400 { own.add(1) }
        flag.store(true)
      }
      check(!flag.load(), "the worker was done first")
      worker.join()
    }
    #expect(result?.isExhaustive != true)
  }

  @Test func whoSleepsForEverCanBeCancelled() async throws {
    try await explore(iterations: 10) {
      let sleeper = Task { try? await Task.sleep(nanoseconds: .max) }
      let other = Task { try? await Task.sleep(for: .seconds(20_000_000_000)) }
      await Task.yield()
      sleeper.cancel()
      other.cancel()
      await sleeper.value
      await other.value
    }
  }

  /// Each schedule drew another program, of which one order was gone through.
  @Test func exhaustiveGoesThroughOneProgram() {
    for seed in 1...20 as ClosedRange<UInt64> {
      let numbers = Synchronization.Mutex<[Int]>([])
      let result = try? explore(strategy: .exhaustive, seed: seed) {
        let number = random(below: 1_000)
        numbers.withLock { $0.append(number) }
        let word = Atomic(0)
        let worker = Thread.start { word.store(1) }
        check(number % 2 == 0 || word.load() == 0, "it was stored first")
        worker.join()
      }
      let drawn = numbers.withLock { $0 }
      // A failing one is tried with smaller numbers, too.
      #expect((result == nil) == (drawn[0] % 2 == 1), "seed \(seed)")
      if result != nil { #expect(Set(drawn).count == 1, "seed \(seed)") }
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
