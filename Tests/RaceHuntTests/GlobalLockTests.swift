// Locks of globals outlive the schedules: one that is ended where it was, with locks that nobody
// gives back, leaves them free for the next one.
import RaceHunt
import TestSupport
import Testing

private let left = Mutex((), name: "left")
private let right = Mutex((), name: "right")
private let spun = Mutex(0, name: "spun")
private let kept = Mutex(0, name: "kept")
private let shared = Mutex([Int: Int]())
private let low = Mutex(0, name: "low")
private let high = Mutex(0, name: "high")
private let waitedWith = Mutex(false, name: "waited with")
private let waitedFor = Condition(name: "waited for")
private let recursive = NSRecursiveLock()
private let numbered = NSConditionLock(condition: 0)

@Suite(.ownThreads) struct GlobalLockTests {
  private enum Cache {
    static let lock = NSLock()
    // Without points: another exploration may be there at the same time.
    static let inside = Synchronization.Atomic(0)
    static let overlaps = Synchronization.Atomic(0)
  }

  /// Only a `Mutex` did: what a lock of Foundation protects was changed by both at once.
  @Test func locksOfFoundationKeepExplorationsApart() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for seed in 1...2 as ClosedRange<UInt64> {
        group.addTask {
          _ = try await explore(iterations: 500, seed: seed) {
            let threads = (0..<2).map { _ in
              Thread.start {
                for _ in 0..<10 {
                  Cache.lock.withLock {
                    let before = Cache.inside.wrappingAdd(1, ordering: .relaxed).oldValue
                    if before > 0 { Cache.overlaps.wrappingAdd(1, ordering: .relaxed) }
                    for _ in 0..<200 { _ = Cache.inside.load(ordering: .relaxed) }
                    Cache.inside.wrappingSubtract(1, ordering: .relaxed)
                  }
                }
              }
            }
            for thread in threads { thread.join() }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(Cache.overlaps.load(ordering: .relaxed) == 0)
  }

  /// Whether it fails, and again in the same way.
  private func found(_ program: @escaping Program) throws -> RaceFailure {
    let found = try #require(failure(program))
    let repeated = #expect(throws: RaceFailure.self) { try replay(found.schedule, program) }
    #expect(repeated?.reason == found.reason)
    return found
  }

  @Test func locksInDifferentOrderAreADeadlock() throws {
    for _ in 1...3 {
      let found = try found {
        let first = Thread.start(name: "first") { left.withLock { _ in right.withLock { _ in } } }
        let second = Thread.start(name: "second") { right.withLock { _ in left.withLock { _ in } } }
        first.join()
        second.join()
      }
      #expect(found.kind == .deadlock, "\(found)")
      #expect(found.reason.contains("first waits for right, held by second"))
    }
    left.withLock { _ in right.withLock { _ in } }
  }

  @Test func aTaskThatIsLeftWithALockIsToo() throws {
    let found = try found {
      let first = Task { left.withLock { _ in right.withLock { _ in } } }
      let second = Task { right.withLock { _ in left.withLock { _ in } } }
      await first.value
      await second.value
    }
    #expect(found.kind == .deadlock, "\(found)")
  }

  @Test func whoSpinsWithALockIsALivelock() throws {
    let flag = Atomic(false)
    let found = try found {
      Thread.start(name: "spinner") {
        spun.withLock { _ in while !flag.load() { Thread.yield() } }
      }.join()
    }
    #expect(found.kind == .livelock, "\(found)")
    spun.withLock { $0 = 1 }
  }

  @Test func aLockThatIsNeverGivenBackIsFreeInTheNextSchedule() throws {
    try explore(iterations: 50) {
      Thread.start(name: "keeper") { kept.lock() }.join()
      check(kept.withLockIfAvailable { _ in } == nil, "it is free in the schedule itself")
    }
    try explore(iterations: 50) {
      Thread.start(name: "exiting") {
        kept.lock()
        Thread.exit()
      }.join()
      check(kept.withLockIfAvailable { _ in } == nil, "it is free in the schedule itself")
    }
    kept.withLock { $0 = 1 }
  }

  @Test func whoWaitsWithItHasGivenItBack() throws {
    let found = try found {
      Thread.start(name: "waiter") {
        waitedWith.lock()
        while !waitedWith.value { waitedFor.wait(waitedWith) }
        waitedWith.unlock()
      }.join()
    }
    #expect(found.kind == .deadlock, "\(found)")
    waitedWith.withLock { $0 = true }
  }

  /// What is locked is not changed by another exploration of the process meanwhile.
  @Test func explorationsShareAGlobalLock() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for seed in 1...3 as ClosedRange<UInt64> {
        group.addTask {
          _ = try await explore(iterations: 100, seed: seed) {
            let threads = (0..<2).map { number in
              Thread.start {
                for key in 0..<5 { shared.withLock { $0[key, default: 0] += number } }
              }
            }
            for thread in threads { thread.join() }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(shared.withLock { $0.count } == 5)
  }

  /// Each of them would have one lock and wait for the other's.
  @Test func explorationsThatLockInDifferentOrderDoNotWaitForEachOther() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (first, second) in [(low, high), (high, low)] {
        for seed in 1...2 as ClosedRange<UInt64> {
          group.addTask {
            _ = try await explore(iterations: 300, seed: seed) {
              let threads = (0..<2).map { _ in
                Thread.start {
                  first.withLock { value in
                    value += 1
                    second.withLock { $0 += 1 }
                  }
                }
              }
              for thread in threads { thread.join() }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    // Some schedules are run twice, and compared.
    let counts = (low.withLock { $0 }, high.withLock { $0 })
    #expect(counts.0 == counts.1 && counts.0 >= 2_400)
  }

  @Test func aRecursiveLockIsCountedAnew() throws {
    let program: Program = {
      let other = Mutex(0, name: "other")
      let first = Thread.start(name: "first") {
        recursive.withLock { recursive.withLock { other.withLock { _ in } } }
      }
      let second = Thread.start(name: "second") {
        other.withLock { _ in recursive.withLock {} }
      }
      first.join()
      second.join()
    }
    #expect(try found(program).kind == .deadlock)
    try explore(iterations: 50) {
      recursive.withLock {}
      Thread.start { recursive.withLock {} }.join()
    }
  }

  @Test func aConditionLockIsFreeAnew() throws {
    let program: Program = {
      let other = Mutex(0, name: "other")
      let first = Thread.start(name: "first") {
        numbered.lock()
        other.withLock { _ in }
        numbered.unlock()
      }
      let second = Thread.start(name: "second") {
        other.withLock { _ in
          numbered.lock()
          numbered.unlock()
        }
      }
      first.join()
      second.join()
    }
    #expect(try found(program).kind == .deadlock)
  }
}
