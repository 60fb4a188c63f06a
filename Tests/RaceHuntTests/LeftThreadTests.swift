// Threads that still wait when the program has ended and nobody can go on: which of them are
// failures.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct LeftThreadTests {
  /// Work for a thread that waits for more of it as long as the process lives.
  private final class Pool: Sendable {
    private let tasks = Mutex<[@Sendable () -> Void]>([], name: "tasks")
    private let isThere = DispatchSemaphore(value: 0)

    func work() {
      while true {
        isThere.wait()
        let task = tasks.withLock { $0.removeFirst() }
        task()
      }
    }

    func run(_ work: @escaping @Sendable () -> Void) {
      let isDone = DispatchSemaphore(value: 0)
      tasks.withLock {
        $0.append {
          work()
          isDone.signal()
        }
      }
      isThere.signal()
      isDone.wait()
    }
  }

  private final class Worker: RaceHunt.Thread, @unchecked Sendable {
    // @unchecked: the pool is Sendable, and set once.
    private let pool: Pool

    init(_ pool: Pool) {
      self.pool = pool
      super.init()
    }

    override func main() { pool.work() }
  }

  private static let detached: @Sendable (Pool) -> Void = { pool in
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { pool in
        Unmanaged<Pool>.fromOpaque(pool!).takeUnretainedValue().work()
        return nil
      }, Unmanaged.passUnretained(pool).toOpaque())
    pthread_detach(thread)
  }

  /// Every schedule was a deadlock.
  @Test(
    arguments: [
      { pool in RaceHunt.Thread.detachNewThread { pool.work() } },
      { pool in RaceHunt.Thread { pool.work() }.start() },
      { pool in Worker(pool).start() },
      detached,
    ] as [@Sendable (Pool) -> Void])
  private func threadsOfAPoolMayWaitForEver(start: @escaping @Sendable (Pool) -> Void) throws {
    for strategy in [Strategy.portfolio, .depthFirst(preemptions: 1)] {
      let exploration = try explore(iterations: 200, strategy: strategy) {
        let pool = Pool()
        for _ in 0..<2 { start(pool) }
        let word = Atomic(0)
        for _ in 0..<2 { pool.run { word.add(1) } }
        check(word.load() == 2)
        withExtendedLifetime(pool) {}
      }
      #expect(exploration.schedules > 20)
    }
  }

  @Test func soMayThreadsThatWaitForConditionsOrSleepAgainAndAgain() throws {
    let exploration = try explore(iterations: 200) {
      let condition = NSCondition()
      RaceHunt.Thread.detachNewThread {
        condition.lock()
        while true { condition.wait() }
      }
      RaceHunt.Thread.detachNewThread { while true { RaceHunt.Thread.sleep(forTimeInterval: 1) } }
      RaceHunt.Thread.sleep(forTimeInterval: 5)
    }
    #expect(exploration.schedules == 200)
  }

  /// No lock is given back by somebody who will never run.
  @Test func locksInDifferentOrderAreADeadlockInThemToo() throws {
    let found = try #require(
      failure {
        let (left, right) = (NSLock(), NSLock())
        RaceHunt.Thread.detachNewThread { left.withLock { right.withLock {} } }
        RaceHunt.Thread.detachNewThread { right.withLock { left.withLock {} } }
      })
    #expect(found.kind == .deadlock)
  }

  /// Their program says that it waits for them.
  @Test func threadsThatAreToBeJoinedMayNot() throws {
    let found = try #require(
      failure {
        let semaphore = DispatchSemaphore(value: 0)
        RaceHunt.Thread.start(name: "left") { semaphore.wait() }
      })
    #expect(found.kind == .deadlock)
    #expect(found.reason.contains("left waits for"))
    let joined = try #require(
      failure {
        let semaphore = DispatchSemaphore(value: 0)
        let thread = RaceHunt.Thread { semaphore.wait() }
        thread.start()
        thread.join()
      })
    #expect(joined.kind == .deadlock)
  }
}
