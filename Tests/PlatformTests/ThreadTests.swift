// Thread tokens, names and clocks.
import Platform
import TestSupport
import Testing

struct ThreadTests {
  @Test func tokensAreStablePerThreadAndNeverReused() {
    let seen = Monitor<[ThreadToken]>([])
    // One after the other, so that the system may reuse its own thread numbers.
    for _ in 0..<100 {
      Thread.start(name: "token") {
        let token = ThreadToken.current
        #expect(token == ThreadToken.current)
        #expect(token.rawValue != 0)
        seen.withLock { $0.append(token) }
      }.joinInTime()
    }
    seen.withLock { #expect(Set($0).count == 100) }
    #expect(seen.withLock { !$0.contains(ThreadToken.current) })
  }

  @Test func aTokenKnowsItsThread() {
    let mine = ThreadToken.current
    #expect(mine.isCurrent)
    // The other thread is asked before it has a token of its own, then after.
    Thread.start(name: "other") {
      #expect(!mine.isCurrent)
      #expect(ThreadToken.current.isCurrent)
      #expect(!mine.isCurrent)
    }.joinInTime()
  }

  /// A token read before a suspension must not be kept by the optimiser for the code behind it.
  @Test func tokensAreReadAgainBehindAnAwait() async {
    for _ in 0..<1000 {
      let before = ThreadToken.current
      let numberBefore = currentThreadDescription()
      await Task.yield()
      await hop()
      let after = ThreadToken.current
      let numberAfter = currentThreadDescription()
      #expect((before == after) == (numberBefore == numberAfter))
    }
  }

  @concurrent private func hop() async { await Task.yield() }

  @Test func descriptionsCarryNameAndNumber() {
    let text = Monitor("")
    Thread.start(name: "reader-with-a-long-name") {
      let description = currentThreadDescription()
      text.withLock { $0 = description }
    }.joinInTime()
    let description = text.withLock { $0 }
    #expect(description.hasPrefix("thread 'reader-with-a-long-name' ("))
    #expect(description.hasSuffix(")"))
  }

  /// Under an async main the main actor may run on any thread, so this cannot ask for the main one.
  @MainActor @Test func onlyTheMainThreadIsMarked() {
    let description = currentThreadDescription()
    let isMain = description.hasSuffix("(\(processIdentifier))")
    #expect(description.hasPrefix("main thread") == isMain)
  }

  @Test func theMonotonicClockGoesForward() {
    let clock = MonotonicClock()
    var last = clock.nanoseconds()
    for _ in 0..<1000 {
      let now = clock.nanoseconds()
      #expect(now >= last)
      last = now
    }
  }

  @Test func theManualClockMovesWhenTold() {
    let clock = ManualClock(nanoseconds: 5)
    #expect(clock.nanoseconds() == 5)
    clock.advance(nanoseconds: 1_000_000_000)
    #expect(clock.nanoseconds() == 1_000_000_005)
  }
}
