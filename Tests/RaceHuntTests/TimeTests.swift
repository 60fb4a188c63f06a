// Who goes on when a time has come: all whose time it is, in any order, and perhaps those whose
// time is near.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct TimeTests {
  /// Adds one in two steps, as often as it is called.
  private final class Sum: Sendable {
    private let word = Atomic(0, name: "sum")
    func add() { word.store(word.load() + 1) }
    var value: Int { word.load() }
  }

  @Test func sleepersOfOneTimeRunBesideEachOther() throws {
    for strategy in [Strategy.portfolio, .randomWalk, .exhaustive] {
      let found = #expect(throws: RaceFailure.self) {
        try explore(iterations: 1_000, strategy: strategy) {
          let sum = Sum()
          let threads = (0..<2).map { _ in
            Thread.start {
              Thread.sleep(forTimeInterval: 1)
              sum.add()
            }
          }
          for thread in threads { thread.join() }
          check(sum.value == 2, "an update is lost")
        }
      }
      #expect(found?.reason == "an update is lost", "\(strategy)")
    }
  }

  @Test func timersOfOneTimeComeInAnyOrder() throws {
    let found = #expect(throws: RaceFailure.self) {
      try explore(iterations: 1_000) {
        let order = Mutex<[Int]>([])
        let queue = DispatchQueue(label: "timers", attributes: .concurrent)
        for number in 0..<2 {
          queue.asyncAfter(deadline: .now() + 1) { order.withLock { $0.append(number) } }
        }
        Thread.sleep(forTimeInterval: 2)
        check(order.withLock { $0 } == [0, 1], "the second one is first")
      }
    }
    #expect(found?.reason == "the second one is first")
  }

  /// A step may take as long as a short time, and another sleeper may be so late.
  @Test(arguments: [1, 9]) func aShortTimeoutComesWhileOthersGoOn(milliseconds: Int) throws {
    let program: Program = {
      let word = Atomic(0)
      let isDone = DispatchSemaphore(value: 0)
      let worker = Thread.start {
        for _ in 0..<5 { word.add(1) }
        isDone.signal()
      }
      let result = isDone.wait(timeout: .now() + .milliseconds(milliseconds))
      check(result == .success || word.load() == 5, "it comes in between")
      worker.join()
    }
    let found = #expect(throws: RaceFailure.self) { try explore(iterations: 1_000, program) }
    #expect(found?.reason == "it comes in between")
    let again = #expect(throws: RaceFailure.self) { try replay(found!.schedule, program) }
    #expect(again?.table == found?.table)
  }

  @Test func aLongTimeoutWaitsForWhoCanGoOn() throws {
    let exploration = try explore(iterations: 2_000) {
      let word = Atomic(0)
      let isDone = DispatchSemaphore(value: 0)
      let worker = Thread.start {
        for _ in 0..<5 { word.add(1) }
        Thread.sleep(forTimeInterval: 0.5)
        isDone.signal()
      }
      check(isDone.wait(timeout: .now() + .milliseconds(600)) == .success, "it comes too soon")
      worker.join()
    }
    #expect(exploration.schedules == 2_000)
  }

  /// What is due does not wait for those who can go on.
  @Test func aSleepOfNothingIsNoLongerThanAYield() throws {
    let found = #expect(throws: RaceFailure.self) {
      try explore(iterations: 1_000) {
        let sum = Sum()
        let sleeper = Task {
          try await Task.sleep(nanoseconds: 0)
          sum.add()
        }
        let thread = Thread.start { sum.add() }
        try await sleeper.value
        thread.join()
        check(sum.value == 2, "an update is lost")
      }
    }
    #expect(found?.reason == "an update is lost")
  }

  /// The runtime takes another way for them.
  @Test func sleepsWithAToleranceAreVirtual() throws {
    let exploration = try explore(iterations: 200) {
      let took = try await ContinuousClock().measure {
        try await Task.sleep(for: .seconds(3_600), tolerance: .seconds(1))
        try await SuspendingClock().sleep(for: .seconds(60), tolerance: .zero)
      }
      check(took >= .seconds(3_660) && took < .seconds(3_700), "it took \(took)")
    }
    #expect(exploration.schedules == 200)
  }

  @Test func whoSleepsWithAToleranceRunsBesideOthers() throws {
    let program: Program = {
      let sum = Sum()
      let sleepers = (0..<2).map { _ in
        Task {
          try await Task.sleep(for: .milliseconds(20), tolerance: .milliseconds(5))
          sum.add()
        }
      }
      for sleeper in sleepers { try await sleeper.value }
      check(sum.value == 2, "an update is lost")
    }
    let found = #expect(throws: RaceFailure.self) { try explore(iterations: 1_000, program) }
    #expect(found?.reason == "an update is lost")
    #expect(found?.description.contains("not under control") == false)
    let again = #expect(throws: RaceFailure.self) { try replay(found!.schedule, program) }
    #expect(again?.table == found?.table)
  }

  /// Who waits by looking at the calendar waited in the machine's time, and slept in virtual time:
  /// a livelock.
  @Test func datesAreVirtual() throws {
    let start = Date()
    try explore(iterations: 100) {
      let deadline = Date().addingTimeInterval(3_600)
      var looks = 0
      while Date() < deadline {
        Thread.sleep(forTimeInterval: 60)
        looks += 1
      }
      check(59...61 ~= looks, "\(looks) looks")
      check(-deadline.timeIntervalSinceNow < 61)
      let condition = NSCondition()
      condition.lock()
      let end = Date(timeIntervalSinceNow: 100)
      // It may be woken for nothing.
      while condition.wait(until: end) {}
      condition.unlock()
      check(Date().timeIntervalSince(deadline) > 99)
    }
    // Outside of explorations they are the machine's.
    #expect(Date().timeIntervalSince(start) < 1_000)
  }

  @Test func theClocksOfPosixAreVirtual() throws {
    try explore(iterations: 20) {
      var (before, after) = (timespec(), timespec())
      clock_gettime(CLOCK_MONOTONIC, &before)
      sleep(50)
      clock_gettime(CLOCK_MONOTONIC, &after)
      check(50...51 ~= after.tv_sec - before.tv_sec)
      var day = timeval()
      gettimeofday(&day, nil)
      check(0...1 ~= abs(time(nil) - day.tv_sec))
      check(abs(Date().timeIntervalSince1970 - Double(day.tv_sec)) < 2)
      // A deadline that was computed from it.
      let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
      let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
      defer {
        mutex.deallocate()
        condition.deallocate()
      }
      pthread_mutex_init(mutex, nil)
      pthread_cond_init(condition, nil)
      pthread_mutex_lock(mutex)
      var deadline = timespec(tv_sec: day.tv_sec + 100, tv_nsec: 0)
      // It may be woken for nothing.
      while pthread_cond_timedwait(condition, mutex, &deadline) != ETIMEDOUT {}
      pthread_mutex_unlock(mutex)
      check(99...102 ~= time(nil) - day.tv_sec)
      pthread_cond_destroy(condition)
      pthread_mutex_destroy(mutex)
    }
  }
}
