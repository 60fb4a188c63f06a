// An exploration to which the system gives no threads says so, and never waits without end.
import Glibc
import RaceHunt
import TestSupport
import Testing

@Suite struct NoThreadTests {
  @Test func anExplorationSaysThatThereAreNone() async {
    await #expect(processExitsWith: .success) {
      withoutThreads()
      #expect {
        try explore(iterations: 10) { await Task {}.value }
      } throws: {
        "\($0)".contains("the system has no more threads to give")
      }
    }
  }

  /// The form that does not block its thread explores on another one.
  @Test func soDoesOneThatIsAwaited() async {
    await #expect(processExitsWith: .success) {
      withoutThreads()
      await #expect {
        try await explore(iterations: 10) { await Task {}.value }
      } throws: {
        "\($0)".contains("the system has no more threads to give")
      }
    }
  }
}

/// From here on this process may start no thread: the limit does not hold for the superuser.
private func withoutThreads() {
  if getuid() == 0 { #expect(setgid(65534) == 0 && setuid(65534) == 0) }
  var limit = rlimit(rlim_cur: 0, rlim_max: 0)
  // Of processes and threads; Swift sees no name for it.
  #expect(setrlimit(__rlimit_resource_t(6), &limit) == 0)
}
