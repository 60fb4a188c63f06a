// What programs of Dispatch, Foundation and POSIX may write, and what ends their process.
import RaceHunt
import TestSupport
import Testing

nonisolated(unsafe) private var staticReadWriteLock = pthread_rwlock_t()
nonisolated(unsafe) private var staticMutex = pthread_mutex_t()

@Suite(.ownThreads) struct DropInRuleTests {
  // MARK: - What compiles

  /// The names of timers in sources from before Swift 4.
  private static let oldNames: Program = {
    let count = Atomic(0)
    let (first, again) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let timers = (0..<2).map { _ in DispatchSource.makeTimerSource() }
    timers[0].scheduleOneshot(deadline: .now() + .milliseconds(1))
    timers[1].scheduleOneshot(wallDeadline: .now() + 1, leeway: .milliseconds(1))
    for timer in timers {
      timer.setEventHandler {
        count.add(1)
        first.signal()
      }
      timer.resume()
    }
    for _ in timers { first.wait() }
    check(count.load() == 2, "each comes once")
    for number in 0..<4 {
      let timer = DispatchSource.makeTimerSource()
      switch number {
      case 0: timer.scheduleRepeating(deadline: .now(), interval: .milliseconds(1))
      case 1: timer.scheduleRepeating(deadline: .now(), interval: 0.001)
      case 2: timer.scheduleRepeating(wallDeadline: .now(), interval: .milliseconds(1))
      default: timer.scheduleRepeating(wallDeadline: .now(), interval: 0.001)
      }
      timer.setEventHandler { again.signal() }
      timer.resume()
      for _ in 1...3 { again.wait() }
      timer.cancel()
    }
    for timer in timers { timer.cancel() }
  }

  @Test func timersHaveTheirOlderNames() async throws {
    try await explore(iterations: 50, Self.oldNames)
    try await Self.oldNames()
  }

  @Test func aQueueOfOperationsReportsProgress() {
    let reporting: any ProgressReporting = OperationQueue()
    #expect(!reporting.progress.isCancelled)
    #expect(DispatchSource.FileSystemEvent.all.contains(.write))
  }

  // MARK: - What ends a process

  private static let end = ", at which Dispatch ends the process"

  @Test func aWorkItemIsWaitedForOnce() throws {
    let twice = failure {
      let item = DispatchWorkItem {}
      item.perform()
      item.wait()
      item.wait()
    }
    #expect(
      twice?.reason
        == "program waits for a DispatchWorkItem that was waited for already" + Self.end)
    let atOnce = failure {
      let item = DispatchWorkItem {}
      let threads = (1...2).map { number in
        Thread.start(name: "waiter \(number)") { item.wait() }
      }
      Thread.sleep(for: .seconds(1))
      item.perform()
      for thread in threads { thread.join() }
    }
    #expect(
      atOnce?.reason.hasSuffix(
        "waits for a DispatchWorkItem that was waited for already" + Self.end) == true)
    try explore(iterations: 50) {
      let item = DispatchWorkItem {}
      let queue = DispatchQueue(label: "queue")
      for _ in 1...2 { check(item.wait(timeout: .now()) == .timedOut) }
      queue.async(execute: item)
      check(item.wait(wallTimeout: .now() + 60) == .success)
      let again = DispatchWorkItem {}
      for _ in 1...2 { queue.async(execute: again) }
      queue.sync {}
    }
  }

  @Test func aWorkItemIsDoneOnceWhereItsEndMatters() throws {
    let performed = failure {
      let item = DispatchWorkItem {}
      item.perform()
      item.wait()
      item.perform()
    }
    #expect(
      performed?.reason
        == "program performs a DispatchWorkItem again that was waited for" + Self.end)
    let waited = failure {
      let item = DispatchWorkItem {}
      for _ in 1...2 { item.perform() }
      item.wait()
    }
    #expect(
      waited?.reason
        == "program waits for a DispatchWorkItem that was performed 2 times" + Self.end)
    let observed = failure {
      let item = DispatchWorkItem {}
      for _ in 1...2 { item.perform() }
      item.notify(queue: .global()) {}
    }
    #expect(
      observed?.reason
        == "program asks for the end of a DispatchWorkItem that was performed 2 times" + Self.end)
  }

  /// Foundation's stops the process there, also once the thread has ended.
  @Test func aThreadThatHasEndedIsNotStartedAgain() {
    let found = failure {
      let thread = Thread {}
      thread.start()
      thread.join()
      thread.start()
    }
    #expect(found?.reason == "program starts thread 1 a second time")
  }

  @Test func aQueueWithoutALabelIsNamedInSentences() {
    let found = failure { DispatchQueue(label: "").resume() }
    #expect(found?.reason == "a queue without a label is resumed and was not suspended")
  }

  /// Both were "worker", and a deadlock of one with itself.
  @Test func threadsOfOneNameAreToldApart() {
    let found = failure {
      let (left, right) = (Mutex((), name: "left"), Mutex((), name: "right"))
      let threads = [
        Thread.start(name: "worker") { left.withLock { _ in right.withLock { _ in } } },
        Thread.start(name: "worker") { right.withLock { _ in left.withLock { _ in } } },
      ]
      for thread in threads { thread.join() }
    }
    #expect(
      found?.reason.contains("worker waits for right, held by worker (thread 2)") == true,
      "\(String(describing: found))")
  }

  // MARK: - Explorations that run at the same time

  /// Explores the program twice at once.
  private func exploreTwice(_ program: @escaping Program) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for seed in 1...2 as ClosedRange<UInt64> {
        group.addTask { _ = try await explore(iterations: 200, seed: seed, program) }
      }
      try await group.waitForAll()
    }
  }

  private enum StaticLock: CaseIterable {
    case readsAndWrites, isTried

    nonisolated(unsafe) private static let readWriteLock = withUnsafeMutablePointer(
      to: &staticReadWriteLock
    ) { $0 }
    nonisolated(unsafe) private static let mutex = withUnsafeMutablePointer(to: &staticMutex) { $0 }
    // Without points: another exploration may be there at the same time.
    static let inside = Synchronization.Atomic(0)
    static let overlaps = Synchronization.Atomic(0)

    private func lock() {
      switch self {
      case .readsAndWrites: pthread_rwlock_wrlock(Self.readWriteLock)
      case .isTried: while pthread_mutex_trylock(Self.mutex) != 0 { Thread.yield() }
      }
    }

    private func unlock() {
      switch self {
      case .readsAndWrites: pthread_rwlock_unlock(Self.readWriteLock)
      case .isTried: pthread_mutex_unlock(Self.mutex)
      }
    }

    func use() {
      lock()
      let before = Self.inside.wrappingAdd(1, ordering: .relaxed).oldValue
      if before > 0 { Self.overlaps.wrappingAdd(1, ordering: .relaxed) }
      for _ in 0..<200 { _ = Self.inside.load(ordering: .relaxed) }
      Self.inside.wrappingSubtract(1, ordering: .relaxed)
      unlock()
    }
  }

  /// Only `pthread_mutex_lock` did: what the others protect was changed by both at once.
  @Test func staticLocksOfPosixKeepExplorationsApart() async throws {
    for lock in StaticLock.allCases {
      try await exploreTwice {
        let threads = (0..<2).map { _ in Thread.start { for _ in 0..<10 { lock.use() } } }
        for thread in threads { thread.join() }
      }
      #expect(StaticLock.overlaps.load(ordering: .relaxed) == 0, "\(lock)")
    }
  }

  /// Both changed the values of the one main queue without a lock.
  @Test func valuesOfTheMainQueueAreKeptByOneAtATime() async throws {
    try await exploreTwice {
      let key = DispatchSpecificKey<Int>()
      for number in 1...20 {
        DispatchQueue.main.setSpecific(key: key, value: number)
        check(DispatchQueue.main.getSpecific(key: key) == number)
      }
      DispatchQueue.main.setSpecific(key: key, value: nil)
      check(DispatchQueue.main.getSpecific(key: key) == nil)
    }
  }
}
