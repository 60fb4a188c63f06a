// Strategies that leave orders out have to know what each of the drop-in types does: whatever all
// orders of a small program come to, those that matter come to as well.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct DropInOrderTests {
  typealias Log = @Sendable (Int) -> Void

  /// A small program; what it logs, in order, is what it comes to.
  struct Named: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let body: @Sendable (_ log: @escaping Log) -> Void
    init(_ name: String, _ body: @escaping @Sendable (@escaping Log) -> Void) {
      testDescription = name
      self.body = body
    }
  }

  /// Starts threads and waits for them.
  private static func inThreads(_ bodies: [@Sendable () -> Void]) {
    let threads = bodies.map { body in Thread { body() } }
    for thread in threads { thread.start() }
    for thread in threads { thread.join() }
  }

  static let programs = [
    Named("semaphore") { log in
      let semaphore = DispatchSemaphore(value: 0)
      inThreads([
        { log(semaphore.signal()) },
        { log(semaphore.wait(timeout: .now()) == .success ? 10 : 11) },
      ])
    },
    Named("group") { log in
      let group = DispatchGroup()
      let count = Atomic(0)
      group.enter()
      inThreads([
        {
          count.store(1, ordering: .releasing)
          group.leave()
        },
        { log(group.wait(timeout: .now()) == .success ? 10 : 11) },
        { log(count.load(ordering: .acquiring)) },
      ])
    },
    Named("serial queue") { log in
      let queue = DispatchQueue(label: "queue")
      let done = DispatchGroup()
      inThreads([
        { queue.async(group: done) { log(1) } },
        { queue.sync { log(2) } },
      ])
      done.wait()
    },
    Named("suspended queue") { log in
      let queue = DispatchQueue(label: "queue")
      let word = Atomic(0)
      queue.async { word.add(1, ordering: .relaxed) }
      inThreads([
        {
          queue.suspend()
          log(word.load(ordering: .relaxed))
          queue.resume()
        }
      ])
      queue.sync {}
    },
    Named("work of a queue and a thread") { log in
      let word = Atomic(0)
      let done = DispatchGroup()
      DispatchQueue.global().async(group: done) { log(word.exchange(1, ordering: .relaxed)) }
      inThreads([{ log(10 + word.exchange(2, ordering: .relaxed)) }])
      done.wait()
    },
    Named("lock with a time limit") { log in
      let lock = NSLock()
      inThreads([
        { lock.withLock { log(1) } },
        {
          if lock.lock(before: .distantPast) {
            log(2)
            lock.unlock()
          } else {
            log(3)
          }
        },
      ])
    },
    Named("recursive lock") { log in
      let lock = NSRecursiveLock()
      inThreads([
        { lock.withLock { lock.withLock { log(1) } } },
        { if lock.try() { log(2); lock.unlock() } else { log(3) } },
      ])
    },
    Named("condition lock") { log in
      let lock = NSConditionLock(condition: 0)
      inThreads([
        {
          if lock.tryLock(whenCondition: 0) {
            log(1)
            lock.unlock(withCondition: 1)
          }
        },
        { log(10 + lock.condition) },
      ])
    },
    Named("state of a thread") { log in
      let worker = Thread { log(1) }
      worker.start()
      log(worker.isFinished ? 2 : 3)
      worker.cancel()
      worker.join()
    },
    Named("cancelled thread") { log in
      let word = Atomic(0)
      let worker = Thread {
        log(Thread.current.isCancelled ? 1 : 2)
        word.store(1, ordering: .relaxed)
      }
      worker.start()
      log(10 + word.load(ordering: .relaxed))
      worker.cancel()
      worker.join()
    },
    Named("clock") { log in
      let first = Mutex(DispatchTime.now())
      let second = Mutex(DispatchTime.now())
      inThreads([
        {
          let now = DispatchTime.now(); first.value = now
        },
        {
          let now = DispatchTime.now(); second.value = now
        },
      ])
      log(first.value < second.value ? 1 : 2)
    },
    Named("orders of words") { log in
      let words = [Atomic(0), Atomic(0)]
      inThreads([
        {
          words[0].store(1, ordering: .relaxed)
          log(words[1].load(ordering: .relaxed))
        },
        {
          words[1].store(1, ordering: .relaxed)
          atomicMemoryFence(ordering: .sequentiallyConsistent)
          log(10 + words[0].load(ordering: .relaxed))
        },
      ])
    },
    Named("work item") { log in
      let item = DispatchWorkItem { log(1) }
      inThreads([{ item.perform() }, { item.cancel() }])
    },
  ]

  /// What the program has come to in all schedules.
  private func outcomes(
    _ named: Named, _ strategy: Strategy
  ) throws -> (outcomes: Set<[Int]>, result: Exploration) {
    let seen = Mutex<Set<[Int]>>([])
    let result = try explore(iterations: 100_000, strategy: strategy) {
      // Which thread has logged is seen in the number; the order of lines is no outcome.
      let lines = Mutex<[Int]>([])
      named.body { line in lines.value.append(line) }
      let outcome = lines.value.sorted()
      seen.value.insert(outcome)
    }
    return (seen.value, result)
  }

  @Test(arguments: programs) func nothingIsLeftOut(named: Named) throws {
    let all = try outcomes(named, .depthFirst(preemptions: 100))
    try #require(all.result.isExhaustive)
    let reduced = try outcomes(named, .exhaustive)
    #expect(reduced.result.isExhaustive)
    #expect(reduced.outcomes == all.outcomes)
    #expect(reduced.result.schedules <= all.result.schedules)
  }
}
