// Programs that do not end: deadlocks, lost wake-ups, livelocks; and that time is virtual.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct BlockingTests {
  @Test func locksInDifferentOrderAreADeadlock() throws {
    let found = try #require(
      failure {
        let (left, right) = (Mutex(0, name: "left"), Mutex(0, name: "right"))
        let first = Thread.start(name: "first") { left.withLock { _ in right.withLock { _ in } } }
        let second = Thread.start(name: "second") { right.withLock { _ in left.withLock { _ in } } }
        first.join()
        second.join()
      })
    #expect(found.kind == .deadlock)
    #expect(found.reason.contains("first waits for right, held by second"))
    #expect(found.reason.contains("second waits for left, held by first"))
  }

  @Test func lockingTwiceIsADeadlock() throws {
    let found = failure {
      let lock = Mutex(0, name: "lock")
      lock.withLock { _ in lock.withLock { _ in } }
    }
    #expect(found?.reason == "deadlock: program locks lock, which it has locked")
  }

  @Test func aNotificationBeforeTheWaitIsLost() throws {
    let found = try #require(
      failure {
        let ready = Mutex(false, name: "ready")
        let becomesReady = Condition(name: "becomes ready")
        let waiter = Thread.start(name: "waiter") {
          if ready.withLock({ $0 }) { return }
          // Between both: the notification.
          ready.lock()
          becomesReady.wait(ready)
          ready.unlock()
        }
        ready.withLock { $0 = true }
        becomesReady.notifyAll()
        waiter.join()
      })
    #expect(found.kind == .lostWakeUp)
    #expect(
      found.reason.hasPrefix("lost wake-up: waiter waits for becomes ready, which was notified"))
  }

  @Test func conditionsThatAreLookedAtAgainAreSound() throws {
    try explore(iterations: 500) {
      let count = Mutex(0, name: "count")
      let grows = Condition(name: "grows")
      let waiters = (0..<2).map { number in
        Thread.start {
          count.lock()
          while count.value <= number { grows.wait(count) }
          count.unlock()
        }
      }
      for _ in 0..<2 {
        count.withLock { $0 += 1 }
        grows.notifyAll()
      }
      for waiter in waiters { waiter.join() }
    }
  }

  @Test func aLoopWithoutEndIsALivelock() throws {
    let found = try #require(
      failure {
        let flag = Atomic(false, name: "flag")
        Thread.start(name: "spinner") { while !flag.load() { Thread.yield() } }.join()
      })
    #expect(found.kind == .livelock)
    #expect(found.reason.contains("spinner"))
  }

  @Test(arguments: ["random", "pct", "pos", "uniform", "surw", "depth-first:1", "portfolio"])
  func aLoopThatWaitsForAnotherThreadEnds(name: String) throws {
    try explore(iterations: 100, strategy: try #require(Strategy(name))) {
      let flag = Atomic(false)
      // Does not say that it waits.
      let spinner = Thread.start { while !flag.load() {} }
      flag.store(true)
      spinner.join()
    }
  }

  @Test func timeIsVirtual() throws {
    let clock = ContinuousClock()
    let begin = clock.now
    try explore(iterations: 50) {
      let word = Atomic(0)
      let late = Thread.start {
        Thread.sleep(for: .seconds(3_600))
        word.store(2)
      }
      word.store(1)
      late.join()
      check(word.load() == 2, "who sleeps comes last")
    }
    #expect(clock.now - begin < .seconds(3_600))
  }

  @Test func aTaskThatNothingResumesIsNamed() throws {
    let kept = Kept()
    let found = failure { await withCheckedContinuation { kept.continuation.append($0) } }
    #expect(found?.kind == .stuckTask)
  }

  /// Something outside might resume the program, which the scheduler waits for: that is no step of
  /// those who are blocked.
  @Test func aDeadlockOfTasksThatAreAwaitedShowsTheirStepsOnly() throws {
    let program: Program = {
      let (left, right) = (NSLock(), NSLock())
      let first = Task { left.withLock { right.withLock {} } }
      let second = Task { right.withLock { left.withLock {} } }
      await first.value
      await second.value
    }
    let found = try #require(failure(program))
    #expect(found.kind == .deadlock)
    #expect(found.reason.contains("task 1 waits for mutex 2, held by task 2"))
    #expect(found.reason.contains("task 2 waits for mutex 1, held by task 1"))
    #expect(!found.table.contains("sleeps"))
    let again = #expect(throws: RaceFailure.self) { try replay(found.schedule, program) }
    #expect(again?.table == found.table)
  }

  /// Continuations that nobody resumes while they are looked at.
  private final class Kept: @unchecked Sendable {
    // @unchecked: appended to by one run at a time.
    var continuation: [CheckedContinuation<Void, Never>] = []
    deinit { for waiting in continuation { waiting.resume() } }
  }

  @Test func channelsKeepOrderAndEnd() throws {
    try explore(iterations: 300) {
      let channel = Channel<Int>(capacity: 1, name: "numbers")
      let sender = Thread.start {
        for number in 1...3 { check(channel.send(number), "\(number) is not sent") }
        channel.close()
      }
      var received: [Int] = []
      while let number = channel.receive() { received.append(number) }
      sender.join()
      check(received == [1, 2, 3], "received: \(received)")
      check(!channel.send(4), "a closed channel takes a value")
    }
  }

  @Test func aChannelThatNobodyReadsIsADeadlock() throws {
    let found = failure {
      let channel = Channel<Int>(capacity: 1, name: "numbers")
      for number in 1...2 { channel.send(number) }
    }
    #expect(found?.reason == "deadlock: program waits to send to numbers")
  }

  @Test func unlockingWhatOneHasNotLockedIsAFailure() throws {
    let found = failure {
      let lock = Mutex(0, name: "lock")
      lock.lock()
      Thread.start(name: "other") { lock.unlock() }.join()
    }
    #expect(found?.reason == "other unlocks lock, which it has not locked")
  }

  @Test func outsideOfExplorationsTheTypesAreTheSystems() {
    let count = Mutex(0)
    let hasGrown = Condition()
    let channel = Channel<Int>(capacity: 1)
    let threads = (0..<2).map { number in
      Thread.start {
        count.withLock { $0 += 1 }
        hasGrown.notifyAll()
        channel.send(number)
      }
    }
    count.lock()
    while count.value < 2 { hasGrown.wait(count) }
    count.unlock()
    #expect(Set([channel.receive(), channel.receive()]) == [0, 1])
    for thread in threads { thread.join() }
  }
}
