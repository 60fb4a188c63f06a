// A failure of a program that is made from its seed comes with a smaller program: fewer threads and
// operations, by smaller random numbers. Its schedule names them, and repeats the failure.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct SmallerProgramTests {
  /// Several threads that each add several numbers, in an order from the seed, and lose updates.
  private static let additions: Program = {
    let sum = Atomic(0)
    let counts = (0..<2 + random(below: 4)).map { _ in 1 + random(below: 8) }
    let threads = counts.map { count in
      Thread.start {
        for _ in 0..<count { sum.store(sum.load() + 1) }
      }
    }
    for thread in threads { thread.join() }
    let (done, wanted) = (sum.load(), counts.reduce(0, +))
    check(done == wanted, "\(counts.count) threads of \(counts) add \(done) instead of \(wanted)")
  }

  @Test func aFailureHasFewThreadsAndOperations() throws {
    let failure = try #require(throws: RaceFailure.self) {
      try explore(iterations: 5_000, seed: 3, Self.additions)
    }
    #expect(failure.reason.contains("2 threads of [1, 1]"), "\(failure)")
    let schedule = failure.schedule
    #expect(schedule.contains("="), "\(schedule)")
    let again = try #require(throws: RaceFailure.self) {
      try replay(schedule, Self.additions)
    }
    #expect(again.reason == failure.reason && again.schedule == schedule)
  }

  @Test(arguments: ["1f.:", "1f.0:", "1f.0=:", "1f.0=1.0=2:", "1f.-1=2:", "1f.0=-2:", ".0=1:"])
  func wrongNumbersAreRefused(schedule: String) throws {
    let failure = try #require(throws: RaceFailure.self) { try replay(schedule) {} }
    #expect(failure.reason.contains("is not a schedule"), "\(failure)")
  }
}
