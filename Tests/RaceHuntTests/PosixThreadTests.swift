// Threads, semaphores, barriers and spin locks of POSIX: programs of pthreads change one import.
import RaceHunt
import TestSupport
import Testing

/// What threads of POSIX share, given to them as their argument.
private final class Shared: @unchecked Sendable {
  // @unchecked: each test says which lock its counter has; what the pointers point to is made for
  // threads.
  let counter = Atomic(0, name: "counter")
  let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  let barrier = UnsafeMutablePointer<pthread_barrier_t>.allocate(capacity: 1)
  let spin = UnsafeMutablePointer<pthread_spinlock_t>.allocate(capacity: 1)
  let once = UnsafeMutablePointer<pthread_once_t>.allocate(capacity: 1)
  let makesBarrierWait: Bool

  init(permits: UInt32 = 1, makesBarrierWait: Bool = true) {
    sem_init(semaphore, 0, permits)
    pthread_barrier_init(barrier, nil, 2)
    pthread_spin_init(spin, 0)
    once.initialize(to: pthread_once_t())
    self.makesBarrierWait = makesBarrierWait
  }

  deinit {
    sem_destroy(semaphore)
    pthread_barrier_destroy(barrier)
    pthread_spin_destroy(spin)
    semaphore.deallocate()
    barrier.deallocate()
    spin.deallocate()
    once.deallocate()
  }

  var argument: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  static func of(_ argument: UnsafeMutableRawPointer?) -> Shared {
    Unmanaged.fromOpaque(argument!).takeUnretainedValue()
  }

  /// Adds one in two steps.
  func add() { counter.store(counter.load() + 1) }

  /// Starts threads with this as their argument, and waits for their ends.
  func run(_ bodies: PosixBody...) -> [UnsafeMutableRawPointer?] {
    let threads = bodies.map { body in
      var thread = pthread_t()
      check(pthread_create(&thread, nil, body, argument) == 0)
      return thread
    }
    return threads.map { thread in
      var result: UnsafeMutableRawPointer?
      check(pthread_join(thread, &result) == 0)
      return result
    }
  }
}

@Suite(.ownThreads) struct PosixThreadTests {
  private static let adding: PosixBody = { argument in
    Shared.of(argument).add()
    return nil
  }

  @Test func lostUpdatesOfThreadsAreFoundAndRepeated() throws {
    let program: Program = {
      let shared = Shared()
      _ = shared.run(Self.adding, Self.adding)
      check(shared.counter.load() == 2, "an update is lost")
    }
    let found = try #require(failure(program))
    #expect(found.reason == "an update is lost")
    let again = #expect(throws: RaceFailure.self) { try replay(found.schedule, program) }
    #expect(again?.reason == found.reason)
    #expect(found.description.contains("PosixThreadTests.swift:"), "\(found)")
  }

  private static let bySemaphore: PosixBody = { argument in
    let shared = Shared.of(argument)
    sem_wait(shared.semaphore)
    shared.add()
    sem_post(shared.semaphore)
    return nil
  }

  private static let bySpinLock: PosixBody = { argument in
    let shared = Shared.of(argument)
    pthread_spin_lock(shared.spin)
    shared.add()
    pthread_spin_unlock(shared.spin)
    return nil
  }

  private static let byTrying: PosixBody = { argument in
    let shared = Shared.of(argument)
    while pthread_spin_trylock(shared.spin) != 0 { sched_yield() }
    shared.add()
    pthread_spin_unlock(shared.spin)
    while sem_trywait(shared.semaphore) != 0 {
      check(errno == EAGAIN)
      sched_yield()
    }
    sem_post(shared.semaphore)
    return nil
  }

  @Test(arguments: [bySemaphore, bySpinLock, byTrying].indices)
  func locksOfThreadsHold(number: Int) throws {
    let body = [Self.bySemaphore, Self.bySpinLock, Self.byTrying][number]
    let exploration = try explore(iterations: 100) {
      let shared = Shared()
      _ = shared.run(body, body)
      check(shared.counter.load() == 2, "an update is lost")
    }
    #expect(exploration.distinct > 1)
  }

  @Test func aSemaphoreOfTwoLetsTwoPass() throws {
    let found = try #require(
      failure {
        let shared = Shared(permits: 2)
        _ = shared.run(Self.bySemaphore, Self.bySemaphore)
        check(shared.counter.load() == 2, "an update is lost")
      })
    #expect(found.reason == "an update is lost")
  }

  @Test func semaphoresEndWithTheirTimeAndTellTheirCount() throws {
    try explore(iterations: 20) {
      let shared = Shared(permits: 0)
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      time.tv_sec += 1_000
      check(sem_timedwait(shared.semaphore, &time) == -1 && errno == ETIMEDOUT)
      sem_post(shared.semaphore)
      var count: Int32 = 0
      sem_getvalue(shared.semaphore, &count)
      check(count == 1)
    }
  }

  private static let beforeBarrier: PosixBody = { argument in
    let shared = Shared.of(argument)
    shared.counter.store(1)
    let answer = shared.makesBarrierWait ? pthread_barrier_wait(shared.barrier) : 0
    return UnsafeMutableRawPointer(bitPattern: answer == PTHREAD_BARRIER_SERIAL_THREAD ? 1 : 0)
  }

  private static let behindBarrier: PosixBody = { argument in
    let shared = Shared.of(argument)
    let answer = shared.makesBarrierWait ? pthread_barrier_wait(shared.barrier) : 0
    check(shared.counter.load() == 1, "it was read before it was set")
    return UnsafeMutableRawPointer(bitPattern: answer == PTHREAD_BARRIER_SERIAL_THREAD ? 1 : 0)
  }

  @Test func barriersOrderWhatIsOnTheirSides() throws {
    try explore(iterations: 100) {
      let results = Shared().run(Self.beforeBarrier, Self.behindBarrier)
      check(results.count { $0 != nil } == 1, "one of them is told apart")
    }
    let found = failure {
      _ = Shared(makesBarrierWait: false).run(Self.beforeBarrier, Self.behindBarrier)
    }
    #expect(found?.reason == "it was read before it was set")
  }

  @Test func aBarrierThatNobodyElseComesToIsADeadlock() throws {
    let found = try #require(
      failure {
        let shared = Shared()
        _ = shared.run(Self.beforeBarrier)
      })
    #expect(found.kind == .deadlock)
    #expect(found.reason.contains("thread 1 waits for barrier 1"), "\(found)")
  }

  private static let onceEach: PosixBody = { argument in
    let shared = Shared.of(argument)
    pthread_once(shared.once) { Onces.made.withLock { $0?.add() } }
    check(shared.counter.load() == 1, "it is not done")
    return nil
  }

  /// What a closure without context makes.
  private enum Onces {
    static let made = Mutex<Shared?>(nil)
  }

  @Test func whatIsDoneOnceIsDoneBeforeOthersGoOn() throws {
    let exploration = try explore(iterations: 100) {
      let shared = Shared()
      Onces.made.withLock { $0 = shared }
      _ = shared.run(Self.onceEach, Self.onceEach)
      check(shared.counter.load() == 1)
      Onces.made.withLock { $0 = nil }
    }
    #expect(exploration.distinct > 1)
  }

  @Test func threadsEndWithAResultWhereTheyAre() throws {
    try explore(iterations: 50) {
      let shared = Shared()
      let results = shared.run { argument in
        Shared.of(argument).counter.store(Int(pthread_self()))
        pthread_exit(UnsafeMutableRawPointer(bitPattern: 7))
      }
      check(results == [UnsafeMutableRawPointer(bitPattern: 7)])
      check(pthread_equal(pthread_t(shared.counter.load()), pthread_self()) == 0)
    }
  }

  @Test func wrongUsesAreNamed() throws {
    func reason(_ program: @escaping Program) -> String? { failure(program)?.reason }
    #expect(
      reason {
        var thread = pthread_t()
        pthread_create(&thread, nil, { _ in nil }, nil)
        pthread_join(thread, nil)
        pthread_join(thread, nil)
      } == "program joins thread 1, which was joined")
    #expect(
      reason {
        var thread = pthread_t()
        pthread_create(&thread, nil, { _ in nil }, nil)
        pthread_detach(thread)
        pthread_join(thread, nil)
      } == "program joins thread 1, which was detached")
    #expect(
      reason { pthread_join(77, nil) } == "pthread_join is given a thread that there is not")
    #expect(
      reason { pthread_cancel(pthread_self()) }?.hasPrefix(
        "program calls pthread_cancel, which is not explored") == true)
    #expect(
      reason { pthread_exit(nil) }
        == "program calls pthread_exit, but its thread is not one that it has started")
  }

  @Test func valuesByThreadAreDestroyedAtItsEnd() throws {
    try explore(iterations: 50) {
      let shared = Shared()
      _ = shared.run { argument in
        var key = pthread_key_t()
        pthread_key_create(&key) { Shared.of($0).add() }
        pthread_setspecific(key, argument)
        return nil
      }
      check(shared.counter.load() == 1, "the value was not destroyed")
    }
  }

  @Test func sleepingIsVirtual() throws {
    try explore(iterations: 20) {
      var day = timespec(tv_sec: 86_400, tv_nsec: 0)
      check(nanosleep(&day, nil) == 0)
      day.tv_nsec = 1_000_000_000
      check(nanosleep(&day, nil) == -1 && errno == EINVAL)
    }
  }

  /// The same program without an exploration: the system's threads.
  @Test func outsideOfExplorationsTheyAreTheSystems() {
    let shared = Shared()
    _ = shared.run(Self.bySemaphore, Self.bySpinLock)
    let results = shared.run(Self.beforeBarrier, Self.behindBarrier)
    #expect(results.count { $0 != nil } == 1)
    #expect(pthread_equal(pthread_self(), pthread_self()) != 0)
  }
}
