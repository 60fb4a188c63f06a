// An exploration to which the system gives no threads says so, and never waits without end.
import RaceHunt
import TestSupport
import Testing

@Suite struct NoThreadTests {
  @Test func anExplorationSaysThatThereAreNone() async {
    await #expect(processExitsWith: .success) {
      becomeNobody()
      forbidThreads()
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
      becomeNobody()
      forbidThreads()
      await #expect {
        try await explore(iterations: 10) { await Task {}.value }
      } throws: {
        "\($0)".contains("the system has no more threads to give")
      }
    }
  }
}
