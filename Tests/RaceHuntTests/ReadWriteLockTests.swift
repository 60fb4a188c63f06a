// Read-write locks of POSIX: those that prefer writers, and what their owner is answered.
import RaceHunt
import TestSupport
import Testing

/// A lock in memory of its own.
private final class Lock: @unchecked Sendable {
  // @unchecked: the lock itself is made for threads.
  let pointer = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)

  init(prefersWriters: Bool) {
    var attributes = pthread_rwlockattr_t()
    pthread_rwlockattr_init(&attributes)
    if prefersWriters {
      pthread_rwlockattr_setkind_np(
        &attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
    }
    pthread_rwlock_init(pointer, &attributes)
    pthread_rwlockattr_destroy(&attributes)
  }

  deinit {
    pthread_rwlock_destroy(pointer)
    pointer.deallocate()
  }
}

@Suite(.ownThreads) struct ReadWriteLockTests {
  /// A reader reads again while a writer waits.
  private static func readsTwice(prefersWriters: Bool) -> Program {
    {
      let lock = Lock(prefersWriters: prefersWriters)
      let writer = Thread.start(name: "writer") {
        pthread_rwlock_wrlock(lock.pointer)
        pthread_rwlock_unlock(lock.pointer)
      }
      let reader = Thread.start(name: "reader") {
        pthread_rwlock_rdlock(lock.pointer)
        pthread_rwlock_rdlock(lock.pointer)
        pthread_rwlock_unlock(lock.pointer)
        pthread_rwlock_unlock(lock.pointer)
      }
      writer.join()
      reader.join()
    }
  }

  @Test func whoReadsTwiceWaitsForAWriterThatIsPreferred() throws {
    let found = try #require(failure(Self.readsTwice(prefersWriters: true)))
    #expect(found.kind == .deadlock, "\(found)")
    try explore(iterations: 300, Self.readsTwice(prefersWriters: false))
  }

  @Test func aWriterThatGivesUpLetsReadersIn() throws {
    try explore(iterations: 300) {
      let lock = Lock(prefersWriters: true)
      pthread_rwlock_rdlock(lock.pointer)
      let writer = Thread.start(name: "writer") {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        time.tv_sec += 1
        check(pthread_rwlock_timedwrlock(lock.pointer, &time) == ETIMEDOUT, "it writes")
      }
      let reader = Thread.start(name: "reader") {
        check(pthread_rwlock_rdlock(lock.pointer) == 0)
        pthread_rwlock_unlock(lock.pointer)
      }
      writer.join()
      reader.join()
      pthread_rwlock_unlock(lock.pointer)
    }
  }

  private static let owner: Program = {
    let lock = Lock(prefersWriters: false)
    check(pthread_rwlock_wrlock(lock.pointer) == 0)
    check(pthread_rwlock_rdlock(lock.pointer) == EDEADLK, "it reads")
    check(pthread_rwlock_wrlock(lock.pointer) == EDEADLK, "it writes twice")
    check(pthread_rwlock_tryrdlock(lock.pointer) == EBUSY, "it reads")
    pthread_rwlock_unlock(lock.pointer)
  }

  @Test func theWriterIsAnsweredThatItWaitsForItself() async throws {
    try await explore(iterations: 20, Self.owner)
    try await Self.owner()
  }
}
