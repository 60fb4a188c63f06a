// What else is asked of a thread of POSIX by its number, which the system does not know.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct PosixThreadCallTests {
  private static let nothing: PosixBody = { _ in nil }

  /// The system took the number for an address, and the process crashed.
  @Test func numbersOfThreadsDoNotReachTheSystem() async {
    await #expect(processExitsWith: .success) {
      try explore(iterations: 20) {
        var thread = pthread_t()
        pthread_create(&thread, nil, Self.nothing, nil)
        for thread in [thread, pthread_self()] {
          check(pthread_kill(thread, 0) == 0)
          var clock = clockid_t()
          check(pthread_getcpuclockid(thread, &clock) == 0)
          var time = timespec()
          check(clock_gettime(clock, &time) == 0)
          var (policy, parameter) = (Int32(-1), sched_param())
          check(pthread_getschedparam(thread, &policy, &parameter) == 0)
          check(policy == SCHED_OTHER && parameter.sched_priority == 0)
          parameter.sched_priority = 3
          check(pthread_setschedparam(thread, SCHED_RR, &parameter) == 0)
          check(pthread_setschedprio(thread, 5) == 0)
          check(pthread_getschedparam(thread, &policy, &parameter) == 0)
          check(policy == SCHED_RR && parameter.sched_priority == 5)
        }
        check(pthread_join(thread, nil) == 0)
      }
    }
  }

  @Test func aSignalForAThreadIsNotExplored() {
    let found = failure {
      var thread = pthread_t()
      pthread_create(&thread, nil, Self.nothing, nil)
      pthread_kill(thread, SIGUSR1)
      pthread_join(thread, nil)
    }
    #expect(found?.reason.contains("pthread_kill, which is not explored") == true)
  }

  @Test func aThreadThatWasJoinedIsNotAsked() {
    let found = failure {
      var thread = pthread_t()
      pthread_create(&thread, nil, Self.nothing, nil)
      pthread_join(thread, nil)
      pthread_kill(thread, 0)
    }
    #expect(found?.reason == "program calls pthread_kill for thread 1, which was joined")
  }
}
