// Locks, conditions and values by thread of POSIX: programs that use them had a real lock under a
// thread that was switched away from, and were told as hangs.
import RaceHunt
import TestSupport
import Testing

/// A mutex and a condition.
private final class PosixMonitor: @unchecked Sendable {
  // @unchecked: what the pointers point to is made for threads.
  let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init(kind: Int = PTHREAD_MUTEX_NORMAL) {
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, Int32(kind))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(condition)
    mutex.deallocate()
    condition.deallocate()
  }

  func withLock<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}

/// Values that many read, with a read-write lock.
private final class PosixCache: @unchecked Sendable {
  // @unchecked: the values are touched with the lock.
  private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
  private var values: [Int: Int] = [:]
  let isBroken: Bool

  init(isBroken: Bool) {
    self.isBroken = isBroken
    pthread_rwlock_init(lock, nil)
  }

  deinit {
    pthread_rwlock_destroy(lock)
    lock.deallocate()
  }

  func value(_ key: Int, _ make: () -> Int) -> Int {
    pthread_rwlock_rdlock(lock)
    let known = values[key]
    pthread_rwlock_unlock(lock)
    if let known { return known }
    pthread_rwlock_wrlock(lock)
    defer { pthread_rwlock_unlock(lock) }
    if !isBroken, let known = values[key] { return known }
    let made = make()
    values[key] = made
    return made
  }

  /// Both in one thread, one inside of the other.
  func upgrade() {
    pthread_rwlock_rdlock(lock)
    if isBroken { pthread_rwlock_wrlock(lock) }
    if isBroken { pthread_rwlock_unlock(lock) }
    pthread_rwlock_unlock(lock)
  }

  var canWrite: Bool {
    guard pthread_rwlock_trywrlock(lock) == 0 else { return false }
    pthread_rwlock_unlock(lock)
    return true
  }

  func read(_ body: () -> Void) {
    pthread_rwlock_rdlock(lock)
    body()
    pthread_rwlock_unlock(lock)
  }
}

private func inThreads(_ bodies: [@Sendable () -> Void]) {
  let threads = bodies.map { body in Thread { body() } }
  for thread in threads { thread.start() }
  for thread in threads { thread.join() }
}

@Suite(.ownThreads) struct PosixTests {
  private static let strategies = ["random", "pct:3", "surw", "exhaustive", "portfolio"]

  @Test func mutexesInDifferentOrderAreADeadlock() throws {
    let found = try #require(
      failure {
        let (left, right) = (PosixMonitor(), PosixMonitor())
        inThreads([
          { left.withLock { right.withLock {} } }, { right.withLock { left.withLock {} } },
        ])
      })
    #expect(found.kind == .deadlock)
    #expect(found.table.contains("PosixTests.swift:"), "\(found)")
  }

  @Test(arguments: strategies) func aConditionUnderItsMutexLosesNothing(strategy: String) throws {
    try explore(iterations: 300, strategy: try #require(Strategy(strategy))) {
      let (monitor, isReady) = (PosixMonitor(), Atomic(false))
      inThreads([
        {
          monitor.withLock {
            while !isReady.load() { pthread_cond_wait(monitor.condition, monitor.mutex) }
          }
        },
        {
          monitor.withLock { isReady.store(true) }
          pthread_cond_signal(monitor.condition)
        },
      ])
    }
  }

  @Test func aSignalBeforeTheWaitIsLost() throws {
    let found = failure {
      let monitor = PosixMonitor()
      inThreads([
        { monitor.withLock { _ = pthread_cond_wait(monitor.condition, monitor.mutex) } },
        { monitor.withLock { _ = pthread_cond_broadcast(monitor.condition) } },
      ])
    }
    #expect(found?.kind == .lostWakeUp)
  }

  @Test func aTimedWaitEndsInVirtualTime() throws {
    try explore(iterations: 50) {
      let monitor = PosixMonitor()
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      time.tv_sec += 1_000
      let answer = monitor.withLock {
        while true {
          let answer = pthread_cond_timedwait(monitor.condition, monitor.mutex, &time)
          // It may be woken for nothing.
          if answer != 0 { return answer }
        }
      }
      check(answer == ETIMEDOUT, "\(answer)")
    }
  }

  @Test func mutexesOfAllKindsAnswerAsTheSystemDoes() throws {
    try explore(iterations: 20) {
      let recursive = PosixMonitor(kind: PTHREAD_MUTEX_RECURSIVE)
      recursive.withLock { recursive.withLock {} }
      check(pthread_mutex_unlock(recursive.mutex) == EPERM, "it is unlocked once more")
      let checked = PosixMonitor(kind: PTHREAD_MUTEX_ERRORCHECK)
      checked.withLock { check(pthread_mutex_lock(checked.mutex) == EDEADLK, "locked twice") }
      checked.withLock { check(pthread_mutex_trylock(checked.mutex) == EBUSY, "locked twice") }
      inThreads([{ check(pthread_mutex_unlock(checked.mutex) == EPERM, "unlocked by another") }])
    }
    let found = failure {
      let monitor = PosixMonitor()
      monitor.withLock { monitor.withLock {} }
    }
    #expect(found?.kind == .deadlock)
    // And outside of explorations.
    let monitor = PosixMonitor(kind: PTHREAD_MUTEX_RECURSIVE)
    monitor.withLock { monitor.withLock {} }
  }

  @Test(arguments: strategies) func aCacheWithAReadWriteLock(strategy: String) throws {
    func program(isBroken: Bool) -> Program {
      {
        let (cache, made) = (PosixCache(isBroken: isBroken), Atomic(0, name: "made"))
        let get: @Sendable () -> Void = { _ = cache.value(1) { made.add(1).newValue } }
        inThreads([get, get])
        check(made.load() == 1, "made \(made.load()) times")
      }
    }
    let strategy = try #require(Strategy(strategy))
    #expect(failure(strategy: strategy, program(isBroken: true))?.kind == .check)
    try explore(iterations: 300, strategy: strategy, program(isBroken: false))
  }

  @Test func readersReadTogetherAndWritersAlone() throws {
    let together = Mutex<Set<Int>>([])
    try explore(iterations: 300) {
      let (cache, readers) = (PosixCache(isBroken: false), Atomic(0))
      let read: @Sendable () -> Void = {
        cache.read {
          let count = readers.add(1).newValue
          _ = together.withLock { $0.insert(count) }
          readers.subtract(1)
        }
      }
      let write: @Sendable () -> Void = {
        _ = cache.value(1) {
          check(readers.load() == 0, "one reads while another one writes")
          return 1
        }
      }
      inThreads([read, read, write])
    }
    #expect(together.withLock { $0 } == [1, 2])
  }

  @Test(arguments: strategies) func whoTriesFindsReaders(strategy: String) throws {
    let found = failure(strategy: try #require(Strategy(strategy))) {
      let cache = PosixCache(isBroken: false)
      inThreads([{ cache.read {} }, { check(cache.canWrite, "somebody reads") }])
    }
    #expect(found?.reason == "somebody reads")
  }

  @Test func aReaderThatWantsToWriteIsADeadlock() throws {
    let found = failure { PosixCache(isBroken: true).upgrade() }
    #expect(found?.reason == "deadlock: program waits for read-write lock 1, held by program")
  }

  /// Threads of the machine serve one thread of a schedule after the other.
  @Test func valuesByThreadAreThoseOfTheThread() throws {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    defer { pthread_key_delete(key) }
    let made = key
    try explore(iterations: 200) {
      let body: @Sendable () -> Void = {
        check(pthread_getspecific(made) == nil, "a thread has the value of another one")
        pthread_setspecific(made, UnsafeRawPointer(bitPattern: 8))
        Thread.yield()
        check(pthread_getspecific(made) == UnsafeMutableRawPointer(bitPattern: 8), "it is lost")
      }
      inThreads([body, body])
      inThreads([body])
    }
  }
}
