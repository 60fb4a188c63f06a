// The clocks of Swift and of POSIX show one time: what one says is a deadline for the other.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct ClockTests {
  /// The clock that a program names, and the one that it gets by default, were a second apart.
  @Test func aDeadlineOfAClockIsOneOfItsTask() throws {
    let exploration = try explore(iterations: 50) {
      let begin = ContinuousClock.now
      try await Task.sleep(until: ContinuousClock.now + .milliseconds(100))
      let slept = begin.duration(to: .now)
      check(slept >= .milliseconds(100) && slept < .milliseconds(150), "\(slept)")
      try await ContinuousClock().sleep(until: .now + .milliseconds(500))
      let both = begin.duration(to: ContinuousClock().now)
      check(both >= .milliseconds(600) && both < .milliseconds(650), "\(both)")
    }
    #expect(exploration.schedules == 50)
  }

  @Test func soItIsWithTheClockThatSuspends() throws {
    let exploration = try explore(iterations: 50) {
      let begin = SuspendingClock.now
      try await Task.sleep(until: SuspendingClock.now + .seconds(1), clock: .suspending)
      try await SuspendingClock().sleep(until: .now + .seconds(1), tolerance: .zero)
      let slept = begin.duration(to: Swift.SuspendingClock.now)
      check(slept >= .seconds(2) && slept < .seconds(3), "\(slept)")
    }
    #expect(exploration.schedules == 50)
  }

  @Test func theClocksOfTheModuleAreSwifts() throws {
    @Sendable func sleep(by clock: RaceHunt.ContinuousClock) async throws {
      try await clock.sleep(for: .seconds(10))
    }
    @Sendable func sleep(by clock: RaceHunt.SuspendingClock) async throws {
      try await clock.sleep(for: .seconds(10))
    }
    try explore(iterations: 20) {
      let begin = RaceHunt.ContinuousClock.now
      try await sleep(by: RaceHunt.ContinuousClock.continuous)
      try await sleep(by: RaceHunt.SuspendingClock.suspending)
      check(begin.duration(to: .now) >= .seconds(20))
    }
  }

  @Test func sleepingByAClockOfPosixIsVirtual() throws {
    let exploration = try explore(iterations: 20) {
      let begin = ContinuousClock.now
      var duration = timespec(tv_sec: 3_600, tv_nsec: 0)
      check(clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nil) == 0)
      var then = timespec()
      clock_gettime(CLOCK_REALTIME, &then)
      then.tv_sec += 3_600
      check(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &then, nil) == 0)
      var now = timespec()
      clock_gettime(CLOCK_REALTIME, &now)
      check(0...1 ~= now.tv_sec - then.tv_sec, "\(now.tv_sec - then.tv_sec)")
      // What lies in the past takes no time.
      check(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &then, nil) == 0)
      let slept = begin.duration(to: .now)
      check(slept >= .seconds(7_200) && slept < .seconds(7_205), "\(slept)")
      duration.tv_nsec = 1_000_000_000
      check(clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nil) == EINVAL)
    }
    #expect(exploration.schedules == 20)
  }
}
