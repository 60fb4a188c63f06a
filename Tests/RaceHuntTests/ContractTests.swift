// What Dispatch, Foundation and POSIX promise of their queues, sources, semaphores, operations and
// keys, where explored programs saw something else.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct ContractTests {
  // MARK: - Sources

  @Test func handlersOfASourceComeOneAtATime() throws {
    try explore(iterations: 500) {
      let (running, total, done) = (Atomic(0), Atomic(0), DispatchSemaphore(value: 0))
      let source = DispatchSource.makeUserDataAddSource()
      source.setEventHandler { [unowned source] in
        check(running.add(1).newValue == 1, "the handler runs twice at once")
        let sum = total.add(Int(source.data)).newValue
        running.subtract(1)
        if sum == 2 { done.signal() }
      }
      source.setCancelHandler { check(running.load() == 0, "it is cancelled in its handler") }
      source.resume()
      source.add(data: 1)
      source.add(data: 1)
      done.wait()
      source.cancel()
    }
  }

  /// A timer that is cancelled while it is suspended, and who waits for its end.
  private static func timer(goesOnFirst: Bool) -> Program {
    {
      let hasEnded = DispatchSemaphore(value: 0)
      let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "timer"))
      timer.setCancelHandler { hasEnded.signal() }
      timer.resume()
      timer.suspend()
      timer.cancel()
      if goesOnFirst { timer.resume() }
      hasEnded.wait()
      if !goesOnFirst { timer.resume() }
    }
  }

  @Test func aSuspendedSourceTellsOfItsEndOnceItGoesOn() throws {
    try explore(iterations: 50, Self.timer(goesOnFirst: true))
    let found = failure(iterations: 50, Self.timer(goesOnFirst: false))
    #expect(found?.kind == .deadlock || found?.kind == .lostWakeUp, "\(String(describing: found))")
  }

  @Test func ofNothingNothingIsTold() throws {
    try explore(iterations: 50) {
      let queue = DispatchQueue(label: "queue")
      let source = DispatchSource.makeUserDataAddSource(queue: queue)
      source.setEventHandler { check(false, "told of nothing") }
      source.resume()
      source.add(data: 0)
      queue.sync {}
      source.cancel()
    }
  }

  @Test func sourcesOfFilesAreSourcesToo() {
    let source: any DispatchSourceProtocol = DispatchSource.makeReadSource(fileDescriptor: 0)
    source.setEventHandler(handler: DispatchWorkItem {})
    source.setCancelHandler {}
    source.activate()
    source.cancel()
    #expect(source.isCancelled)
  }

  // MARK: - Queues

  @Test func aSuspendedQueueKeepsItsWorkBehindABusyTarget() throws {
    try explore(iterations: 100) {
      let target = DispatchQueue(label: "target")
      let child = DispatchQueue(label: "child", target: target)
      let (gate, order) = (DispatchSemaphore(value: 0), Mutex<[Int]>([]))
      target.async { gate.wait() }
      for number in 1...3 { child.async { order.withLock { $0.append(number) } } }
      child.suspend()
      gate.signal()
      target.sync {}
      check(order.withLock { $0.isEmpty }, "work of a suspended queue has run")
      child.resume()
      child.sync {}
      check(order.withLock { $0 } == [1, 2, 3], "out of order")
    }
  }

  /// A suspended child does not keep others from their target.
  @Test func theTargetGoesOnMeanwhile() throws {
    try explore(iterations: 100) {
      let target = DispatchQueue(label: "target")
      let children = (0...1).map { DispatchQueue(label: "child \($0)", target: target) }
      let (gate, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      target.async { gate.wait() }
      children[0].async { done.signal() }
      children[1].async { done.signal() }
      children[0].suspend()
      gate.signal()
      done.wait()
      children[0].resume()
      done.wait()
    }
  }

  // MARK: - Semaphores

  @Test func eachSignalWakesOneThatWaits() throws {
    try explore(iterations: 200) {
      let semaphore = DispatchSemaphore(value: 0)
      let threads = (1...3).map { _ in Thread.start { semaphore.wait() } }
      Thread.sleep(forTimeInterval: 1)
      while semaphore.signal() != 0 {}
      for thread in threads { thread.join() }
      // The last signal was for nobody, and stays.
      check(semaphore.wait(timeout: .now()) == .success, "it is lost")
      check(semaphore.wait(timeout: .now()) == .timedOut, "it counts twice")
    }
  }

  @Test func aSignalIsNotLostToOneWhoseTimeIsUp() throws {
    try explore(iterations: 500) {
      let (semaphore, passed) = (DispatchSemaphore(value: 0), Atomic(0))
      let threads = (1...2).map { _ in
        Thread.start {
          if semaphore.wait(timeout: .now() + .milliseconds(5)) == .success { passed.add(1) }
        }
      }
      Thread.sleep(forTimeInterval: 0.004)
      semaphore.signal()
      for thread in threads { thread.join() }
      if semaphore.wait(timeout: .now()) == .success { passed.add(1) }
      check(passed.load() == 1, "\(passed.load()) have passed")
    }
  }

  /// Who waits for a group goes on when it was empty once, whatever comes then.
  @Test func aGroupThatIsUsedAgainLetsGo() throws {
    try explore(iterations: 500) {
      let (group, released) = (DispatchGroup(), DispatchSemaphore(value: 0))
      group.enter()
      let waiter = Thread.start {
        group.wait()
        released.signal()
      }
      Thread.sleep(forTimeInterval: 1)
      group.leave()
      group.enter()
      released.wait()
      group.leave()
      waiter.join()
    }
  }

  // MARK: - Operations

  @Test func operationsThatComeTogetherAreOrderedByPriority() throws {
    try explore(iterations: 50) {
      let order = Mutex<[Int]>([])
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let low = BlockOperation { order.withLock { $0.append(1) } }
      let high = BlockOperation { order.withLock { $0.append(2) } }
      (low.queuePriority, high.queuePriority) = (.veryLow, .veryHigh)
      queue.addOperations([low, high], waitUntilFinished: true)
      check(order.withLock { $0 } == [2, 1], "the low one was first")
    }
  }

  @Test func aCompletionMayBeSetTooLate() {
    let found = failure(iterations: 10_000, strategy: .exhaustive) {
      let (queue, word) = (OperationQueue(), Atomic(0))
      let isDone = DispatchSemaphore(value: 0)
      let operation = BlockOperation {}
      queue.addOperation(operation)
      word.store(1)
      operation.completionBlock = { isDone.signal() }
      isDone.wait()
    }
    #expect(found?.kind == .deadlock || found?.kind == .lostWakeUp, "\(String(describing: found))")
  }

  @Test func aNotificationNeedsNoQueue() {
    let center = NotificationCenter()
    let count = Atomic(0)
    func watch(_ queue: OperationQueue?) -> any NSObjectProtocol {
      center.addObserver(forName: nil, object: nil, queue: queue) { _ in count.add(1) }
    }
    let tokens = [watch(nil), watch(OperationQueue())]
    center.post(name: Notification.Name("something"), object: nil)
    #expect(count.load() == 2)
    for token in tokens { center.removeObserver(token) }
  }

  @Test func aThreadIsNotExecutingBeforeItHasBegun() {
    let found = failure {
      let thread = Thread {}
      thread.start()
      check(thread.isExecuting || thread.isFinished, "it has not begun")
      while !thread.isFinished { Thread.yield() }
    }
    #expect(found?.reason == "it has not begun")
  }

  // MARK: - POSIX

  /// There are 1,024 of them in a process.
  @Test func keysAreThoseOfTheirSchedule() async {
    await #expect(processExitsWith: .success) {
      try explore(iterations: 2_000) {
        var key = pthread_key_t()
        check(pthread_key_create(&key, nil) == 0, "no key")
      }
    }
  }

  private enum Local {
    static let key: pthread_key_t = {
      var key = pthread_key_t()
      pthread_key_create(&key, nil)
      return key
    }()
  }

  @Test func keysOfGlobalsStay() throws {
    try explore(iterations: 10) {
      _ = Local.key
      var other = pthread_key_t()
      pthread_key_create(&other, nil)
      check(other != Local.key, "two keys are one")
    }
  }

  @Test func aNewKeyHasNoValue() throws {
    try explore(iterations: 10) {
      var (old, new) = (pthread_key_t(), pthread_key_t())
      pthread_key_create(&old, nil)
      pthread_setspecific(old, UnsafeRawPointer(bitPattern: 8))
      pthread_key_delete(old)
      pthread_key_create(&new, nil)
      check(pthread_getspecific(new) == nil, "it has another key's value")
      pthread_key_delete(new)
    }
  }

  /// A carry that was forgotten.
  @Test func aSecondHasSoManyNanoseconds() throws {
    try explore(iterations: 5) {
      let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
      let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
      let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
      let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
      sem_init(semaphore, 0, 0)
      pthread_mutex_init(mutex, nil)
      pthread_cond_init(condition, nil)
      pthread_rwlock_init(lock, nil)
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      time.tv_nsec = 1_000_000_000
      check(sem_timedwait(semaphore, &time) == -1 && errno == EINVAL)
      pthread_mutex_lock(mutex)
      check(pthread_cond_timedwait(condition, mutex, &time) == EINVAL)
      pthread_mutex_unlock(mutex)
      check(pthread_rwlock_timedrdlock(lock, &time) == EINVAL)
      check(pthread_rwlock_timedwrlock(lock, &time) == EINVAL)
      sem_destroy(semaphore)
      pthread_mutex_destroy(mutex)
      pthread_cond_destroy(condition)
      pthread_rwlock_destroy(lock)
      semaphore.deallocate()
      mutex.deallocate()
      condition.deallocate()
      lock.deallocate()
    }
  }
}
