// Conditions and locks with conditions: who may wait and unlock, and what their deadlocks are
// called.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct ConditionRuleTests {
  // MARK: - Waiting without the lock

  @Test func whoWaitsHasToHaveTheLock() throws {
    let ofFoundation = failure {
      let lock = NSCondition()
      lock.name = "ready"
      lock.wait()
    }
    #expect(
      ofFoundation?.reason
        == "program waits for ready and has not locked mutex 1, which it waits with")
    let ofModule = failure {
      let (lock, condition) = (Mutex(0, name: "lock"), Condition(name: "condition"))
      let other = Thread.start(name: "other") {
        condition.wait(lock)
        lock.unlock()
      }
      lock.withLock { _ in condition.notifyAll() }
      other.join()
    }
    #expect(ofModule?.kind == .check)
    #expect(ofModule?.reason.hasPrefix("other waits for condition and has not locked") == true)
    let ofPosix = failure {
      var (mutex, condition) = (pthread_mutex_t(), pthread_cond_t())
      pthread_mutex_init(&mutex, nil)
      pthread_cond_init(&condition, nil)
      pthread_cond_wait(&condition, &mutex)
    }
    #expect(ofPosix?.reason.contains("and has not locked") == true)
  }

  // MARK: - Locks with a condition

  @Test func aConditionLockIsUnlockedByItsOwner() throws {
    let twice = failure {
      let lock = NSConditionLock(condition: 0)
      lock.name = "lock"
      lock.lock()
      lock.unlock()
      lock.unlock(withCondition: 1)
    }
    #expect(twice?.reason == "program unlocks lock, which it has not locked")
    let foreign = failure {
      let lock = NSConditionLock(condition: 0)
      lock.name = "lock"
      lock.lock()
      Thread.start(name: "other") { lock.unlock(withCondition: 1) }.join()
    }
    #expect(foreign?.reason == "other unlocks lock, which it has not locked")
  }

  @Test func aConditionLockIsNotLockedTwice() throws {
    for isConditional in [false, true] {
      let found = failure {
        let lock = NSConditionLock(condition: 0)
        lock.name = "lock"
        lock.lock()
        if isConditional { lock.lock(whenCondition: 0) } else { lock.lock() }
      }
      #expect(found?.reason == "deadlock: program locks lock, which it has locked")
    }
    try explore(iterations: 20) {
      let lock = NSConditionLock(condition: 0)
      lock.lock()
      check(!lock.try() && !lock.tryLock(whenCondition: 0), "it is taken twice")
      check(!lock.lock(whenCondition: 0, before: Date() + 1), "it is taken twice")
      check(!lock.lock(before: Date() + 1), "it is taken twice")
      lock.unlock()
      check(!lock.tryLock(whenCondition: 1), "it is taken with another condition")
      check(lock.tryLock(whenCondition: 0), "it is not taken")
      lock.unlock(withCondition: 1)
      check(lock.condition == 1)
    }
  }

  @Test func aDeadlockOfConditionLocksIsCalledSo() throws {
    let crossed = try #require(
      failure {
        let (a, b) = (NSConditionLock(condition: 0), NSConditionLock(condition: 0))
        (a.name, b.name) = ("a", "b")
        let first = Thread.start(name: "first") {
          a.lock(whenCondition: 0)
          b.lock()
          b.unlock()
          a.unlock()
        }
        let second = Thread.start(name: "second") {
          b.lock()
          a.lock()
          a.unlock()
          b.unlock()
        }
        first.join()
        second.join()
      })
    #expect(crossed.kind == .deadlock, "\(crossed)")
    #expect(crossed.reason.contains("first waits for b, held by second"))
    let unmet = try #require(
      failure {
        let lock = NSConditionLock(condition: 0)
        lock.name = "lock"
        let other = Thread.start(name: "other") {
          lock.lock(whenCondition: 2)
          lock.unlock()
        }
        lock.lock()
        lock.unlock(withCondition: 1)
        other.join()
      })
    #expect(unmet.kind == .deadlock, "\(unmet)")
    #expect(unmet.reason.contains("other waits for lock with the condition 2"))
  }

  @Test func turnsByConditionsAreSound() throws {
    try explore(iterations: 300) {
      let lock = NSConditionLock(condition: 0)
      let order = Mutex<[Int]>([])
      let threads = (0..<3).map { number in
        Thread.start {
          lock.lock(whenCondition: number)
          order.withLock { $0.append(number) }
          lock.unlock(withCondition: number + 1)
        }
      }
      for thread in threads { thread.join() }
      check(order.withLock { $0 } == [0, 1, 2])
      check(lock.condition == 3)
    }
  }

  // MARK: - Lost wake-ups, and what is none

  /// The notification was of a change that the one who waits has seen.
  @Test func aDeadlockBehindAnEarlierNotificationIsNoLostWakeUp() throws {
    let found = try #require(
      failure {
        let (count, grows) = (Mutex(0, name: "count"), Condition(name: "grows"))
        count.withLock { $0 += 1 }
        grows.notifyAll()
        Thread.start(name: "waiter") {
          count.lock()
          while count.value < 2 { grows.wait(count) }
          count.unlock()
        }.join()
      })
    #expect(found.kind == .deadlock, "\(found)")
  }

  /// Two take from one who gives once: the second one waits for what the first one has taken.
  @Test func whatAnotherOneHasTakenWasNotLost() throws {
    let found = try #require(
      failure(strategy: .depthFirst(preemptions: 0)) {
        let (items, comes) = (Mutex(0, name: "items"), Condition(name: "comes"))
        let takers = (1...2).map { number in
          Thread.start(name: "taker \(number)") {
            items.lock()
            while items.value == 0 { comes.wait(items) }
            items.value -= 1
            items.unlock()
          }
        }
        items.withLock { $0 += 1 }
        comes.notifyAll()
        for taker in takers { taker.join() }
      })
    #expect(found.kind == .deadlock, "\(found)")
  }

  @Test func aLookWithoutTheLockLosesAWakeUp() throws {
    let found = try #require(
      failure {
        let (lock, comes) = (Mutex((), name: "lock"), Condition(name: "comes"))
        let flag = Atomic(false, name: "flag")
        let waiter = Thread.start(name: "waiter") {
          if flag.load() { return }
          lock.lock()
          comes.wait(lock)
          lock.unlock()
        }
        flag.store(true)
        lock.withLock { _ in comes.notifyAll() }
        waiter.join()
      })
    #expect(found.kind == .lostWakeUp, "\(found)")
    let blind = try #require(
      failure {
        let (lock, comes) = (Mutex((), name: "lock"), Condition(name: "comes"))
        let waiter = Thread.start(name: "waiter") {
          lock.lock()
          comes.wait(lock)
          lock.unlock()
        }
        lock.withLock { _ in comes.notifyAll() }
        waiter.join()
      })
    #expect(blind.kind == .lostWakeUp, "\(blind)")
  }
}
