// Swift's own random numbers follow from the schedule in explored programs, and nowhere else.
import RaceHunt
import Synchronization
import TestSupport
import Testing

@Suite(.ownThreads) struct RandomNumberTests {
  private static let program: Program = {
    let word = Atomic(0, name: "word")
    let threads = (1...2).map { _ in Thread.start { word.add(1) } }
    // So many steps as it draws.
    for _ in 0..<Int.random(in: 1...5) { _ = word.load() }
    for thread in threads { thread.join() }
    let order = [1, 2, 3, 4].shuffled()
    var generator = SystemRandomNumberGenerator()
    let bits: UInt64 = generator.next()
    check(Int.random(in: 0..<20) != 7, "seven: \(order), \(bits)")
  }

  @Test func aScheduleDrawsTheSameNumbersAgain() throws {
    let found = #expect(throws: RaceFailure.self) {
      try explore(iterations: 1_000, Self.program)
    }
    let failure = try #require(found)
    #expect(failure.reason.hasPrefix("seven: "), "\(failure)")
    let again = #expect(throws: RaceFailure.self) { try replay(failure.schedule, Self.program) }
    #expect(again?.reason == failure.reason)
    #expect(again?.table == failure.table)
  }

  @Test func schedulesDrawDifferentNumbers() throws {
    let seen = Synchronization.Mutex<Set<UInt64>>([])
    try explore(iterations: 50) {
      let number = UInt64.random(in: .min ... .max)
      seen.withLock { _ = $0.insert(number) }
    }
    #expect(seen.withLock { $0.count } >= 40)
  }

  @Test func outsideOfExplorationsTheyAreRandom() {
    #expect(Set((0..<8).map { _ in UInt64.random(in: .min ... .max) }).count == 8)
  }

  /// Glibc looks at the time only when it has to wait.
  @Test func aWrongTimeMattersOnlyToWhoHasToWait() throws {
    try explore(iterations: 20) {
      let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
      defer { mutex.deallocate() }
      pthread_mutex_init(mutex, nil)
      defer { pthread_mutex_destroy(mutex) }
      var time = timespec(tv_sec: 0, tv_nsec: -1)
      check(pthread_mutex_timedlock(mutex, &time) == 0, "it is free")
      // Sound: the thread ends before the memory does.
      nonisolated(unsafe) let locked = mutex
      Thread.start {
        var time = timespec(tv_sec: 0, tv_nsec: 1_000_000_000)
        check(pthread_mutex_timedlock(locked, &time) == EINVAL, "it is locked")
      }.join()
      pthread_mutex_unlock(mutex)
    }
  }
}
