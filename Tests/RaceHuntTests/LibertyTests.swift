// What contracts leave open beside the order of steps: whom a signal wakes, that waits end and weak
// exchanges fail for nothing.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct LibertyTests {
  @Test func aSignalWakesAnyOfThoseWhoWait() throws {
    let program: Program = {
      let (woken, lock) = (Mutex<[Int]>([], name: "woken"), NSCondition())
      let waiting = Atomic(0)
      let threads = (1...2).map { number in
        Thread.start(name: "waiter \(number)") {
          lock.lock()
          let place = waiting.wrappingAdd(1).newValue
          lock.wait()
          woken.withLock { $0.append(place) }
          lock.unlock()
        }
      }
      while true {
        lock.lock()
        let areAll = waiting.load() == 2
        lock.unlock()
        if areAll { break }
        Thread.yield()
      }
      lock.signal()
      while woken.withLock({ $0.isEmpty }) { Thread.yield() }
      check(woken.withLock { $0.first } == 1, "the one that came last is woken")
      lock.broadcast()
      for thread in threads { thread.join() }
    }
    let found = try #require(failure(program))
    #expect(found.reason == "the one that came last is woken", "\(found)")
    #expect(!found.table.contains("for nothing"))
    let repeated = #expect(throws: RaceFailure.self) { try replay(found.schedule, program) }
    #expect(repeated?.reason == found.reason)
  }

  @Test func aWaitThatIsNotALoopIsFound() throws {
    let found = try #require(
      failure {
        let lock = NSCondition()
        let word = Atomic(0, name: "word")
        let setter = Thread.start(name: "setter") {
          lock.withLock {
            word.store(1)
            lock.signal()
          }
        }
        lock.lock()
        if word.load() == 0 { lock.wait() }
        check(word.load() == 1, "goes on before it is told")
        lock.unlock()
        setter.join()
      })
    #expect(found.reason == "goes on before it is told")
    #expect(found.table.contains("for nothing"), "\(found)")
  }

  @Test func aWaitOfAnyKindMayEndForNothing() throws {
    let ofModule = failure {
      let (lock, condition) = (Mutex(false, name: "lock"), Condition(name: "condition"))
      let setter = Thread.start(name: "setter") {
        lock.withLock { $0 = true }
        condition.notifyAll()
      }
      lock.lock()
      if !lock.value { condition.wait(lock) }
      check(lock.value, "goes on before it is told")
      lock.unlock()
      setter.join()
    }
    #expect(ofModule?.table.contains("wakes up condition for nothing") == true)
    let ofPosix = failure {
      let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
      let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
      let word = Atomic(0)
      pthread_mutex_init(mutex, nil)
      pthread_cond_init(condition, nil)
      nonisolated(unsafe) let (setMutex, setCondition) = (mutex, condition)
      let setter = Thread.start(name: "setter") {
        pthread_mutex_lock(setMutex)
        word.store(1)
        pthread_cond_signal(setCondition)
        pthread_mutex_unlock(setMutex)
      }
      pthread_mutex_lock(mutex)
      if word.load() == 0 { pthread_cond_wait(condition, mutex) }
      check(word.load() == 1, "goes on before it is told")
      pthread_mutex_unlock(mutex)
      setter.join()
      pthread_cond_destroy(condition)
      pthread_mutex_destroy(mutex)
      condition.deallocate()
      mutex.deallocate()
    }
    #expect(ofPosix?.reason == "goes on before it is told")
  }

  @Test func aWeakExchangeMayFailForNothing() throws {
    let program: Program = {
      let word = Atomic(0, name: "word")
      let other = Thread.start(name: "other") { _ = word.load() }
      check(word.weakCompareExchange(expected: 0, desired: 1).exchanged, "tried once only")
      other.join()
    }
    let found = try #require(failure(program))
    #expect(found.table.contains("fails to exchange word for nothing: 0"), "\(found)")
    let repeated = #expect(throws: RaceFailure.self) { try replay(found.schedule, program) }
    #expect(repeated?.reason == found.reason)
  }

  @Test(arguments: ["random", "pct", "pos", "uniform", "surw", "portfolio"])
  func loopsAreSoundAndEnd(name: String) throws {
    try explore(iterations: 400, strategy: try #require(Strategy(name))) {
      let (lock, count) = (NSCondition(), Atomic(0, name: "count"))
      let threads = (1...3).map { number in
        Thread.start {
          while !count.weakCompareExchange(expected: count.load(), desired: count.load()).exchanged
          {}
          lock.lock()
          while count.load() < 3 {
            if number < 3 || count.load() == 2 {
              count.add(1)
              lock.broadcast()
            }
            if count.load() < 3 { lock.wait() }
          }
          lock.unlock()
        }
      }
      for thread in threads { thread.join() }
      check(count.load() == 3)
    }
  }

  /// Nobody tells the one that waits: its waits that end for nothing end, too.
  @Test func aDeadlockStaysOneAndIsShownWithoutThem() throws {
    let found = try #require(
      failure {
        let lock = NSCondition()
        let word = Atomic(0, name: "word")
        lock.lock()
        while word.load() == 0 { lock.wait() }
        lock.unlock()
      })
    #expect(found.kind == .deadlock, "\(found)")
    #expect(!found.table.contains("for nothing"), "\(found)")
  }
}
