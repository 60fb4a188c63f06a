// The thread of asynchronous commits: it finds every entry, whether it was told to expect one or
// not, and ends when there are none for long.
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Storage

@Suite(.ownThreads) struct AsynchronousCommitsTests {
  /// Starts the thread's work; what it has found is in `found`.
  private func start(_ commits: AsynchronousCommits, _ found: Monitor<[Version]>) {
    Thread.start(name: "commits") {
      while commits.waitForEntry() {
        let entries = commits.state.withLock { state in
          defer { state.entries = [] }
          return state.entries
        }
        found.withLock { $0 += entries.map(\.version) }
        found.notifyAll()
      }
    }.detach()
  }

  @Test(arguments: testSeeds(3)) func everyEntryIsFound(seed: UInt64) {
    var random = RandomGenerator(seed: seed)
    let commits = AsynchronousCommits()
    let found = Monitor<[Version]>([])
    let waiting = AsynchronousCommits.Waiting(awaitsMore: false) { _ in }
    for number in 1...2_000 as ClosedRange<UInt64> {
      // Told of none, one or several that are about to come, at once or so late that it sleeps
      // again.
      for _ in 0..<random.next() % 3 { commits.expectEntry() }
      for _ in 0..<random.next() % 3_000 { pauseProcessor() }
      let entry = AsynchronousCommits.Entry(
        version: Version(number), waiting: waiting, store: nil)
      // The first one; later when the machine has kept this thread from running for long.
      if commits.add(entry) { start(commits, found) }
      if random.next() % 4 > 0 {
        let isFound = found.wait(nanoseconds: waitLimitNanoseconds) { $0.count == Int(number) }
        #expect(isFound, "seed \(seed), entry \(number)")
      }
    }
    let isAll = found.wait(nanoseconds: waitLimitNanoseconds) { $0.count == 2_000 }
    #expect(isAll)
    #expect(found.withLock { $0 } == (1...2_000).map { Version($0) }, "seed \(seed)")
  }

  @Test func theThreadEndsThoughAnEntryWasExpected() {
    let commits = AsynchronousCommits()
    let found = Monitor<[Version]>([])
    let waiting = AsynchronousCommits.Waiting(awaitsMore: false) { _ in }
    #expect(commits.add(.init(version: Version(1), waiting: waiting, store: nil)))
    start(commits, found)
    #expect(found.wait(nanoseconds: waitLimitNanoseconds) { $0.count == 1 })
    commits.expectEntry()
    #expect(eventually { commits.state.withLock { !$0.isRunning } })
  }
}
