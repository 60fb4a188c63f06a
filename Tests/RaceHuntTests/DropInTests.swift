// Programs whose only changed line is the import: the broken ones fail, the sound ones never.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct DropInTests {
  /// A program by its name, broken or not.
  struct Named: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let program: @Sendable (_ isBroken: Bool) -> Program
    init(_ name: String, _ program: @escaping @Sendable (Bool) -> Program) {
      testDescription = name
      self.program = program
    }

    /// The mistake is found, and found again in the same way.
    func checkMistakeIsFound() throws {
      let found = try #require(failure(program(true)))
      #expect(found.kind != .notReproducible && found.kind != .hang, "\(found)")
      #expect(!found.reason.contains("not under control:"), "\(found)")
      let repeated = #expect(throws: RaceFailure.self) {
        try replay(found.schedule, program(true))
      }
      #expect(repeated?.reason == found.reason)
      #expect(repeated?.table == found.table)
    }

    /// Without the mistake nothing is found, where each schedule is run twice and compared.
    func checkItIsSound(by strategy: String) throws {
      var settings = Explorer.Settings()
      settings.iterations = 150
      settings.strategy = try #require(Strategy(strategy))
      settings.comparesEvery = 1
      _ = try Explorer(program(false), settings).explore()
    }
  }

  static let programs = [
    Named("bounded buffer") { isBroken in
      {
        let buffer = BoundedBuffer<Int>(capacity: 1, isBroken: isBroken)
        let threads =
          (0..<2).map { _ in Thread { for item in 1...2 { buffer.put(item) } } }
          + (0..<2).map { _ in Thread { for _ in 1...2 { _ = buffer.take() } } }
        for thread in threads { thread.start() }
        for thread in threads { thread.join() }
      }
    },
    Named("readers and writer") { isBroken in
      {
        let lock = ReadersWriterLock(isBroken: isBroken)
        let value = Mutex(0)
        let writers = Atomic(0)
        let threads =
          (0..<2).map { _ in
            Thread {
              lock.read { check(writers.load(ordering: .acquiring) == 0, "reads while one writes") }
            }
          } + [
            Thread {
              lock.write {
                writers.add(1, ordering: .acquiringAndReleasing)
                value.withLock { $0 += 1 }
                writers.subtract(1, ordering: .acquiringAndReleasing)
              }
            }
          ]
        for thread in threads { thread.start() }
        for thread in threads { thread.join() }
      }
    },
    Named("cache in a queue") { isBroken in
      {
        let cache = QueueCache(isBroken: isBroken)
        let made = Atomic(0)
        let seen = Mutex<Set<Int>>([])
        DispatchQueue.concurrentPerform(iterations: 2) { _ in
          let value = cache.value(7) { made.wrappingAdd(1, ordering: .relaxed).newValue }
          _ = seen.withLock { $0.insert(value) }
        }
        let count = seen.withLock { $0.count }
        check(count == 1, "\(count) values of one key")
      }
    },
    Named("work in queues") { isBroken in
      {
        let sum = collect(3, isBroken: isBroken)
        check(sum == 6, "the sum is \(sum)")
      }
    },
    Named("stack without locks") { isBroken in
      {
        let stack = Stack(isBroken: isBroken)
        let threads = (1...2).map { number in Thread { stack.push(number) } }
        for thread in threads { thread.start() }
        for thread in threads { thread.join() }
        let values = stack.popAll()
        check(values.sorted() == [1, 2], "the stack has \(values)")
      }
    },
    Named("cache of an actor") { isBroken in
      {
        let cache = ValueCache(isBroken: isBroken)
        async let first = cache.value(3)
        async let second = cache.value(3)
        let values = await [first, second]
        check(values == [9, 9], "\(values)")
        let loads = await cache.loads
        check(loads == 1, "loaded \(loads) times")
      }
    },
    Named("semaphore of tasks") { isBroken in
      {
        let semaphore = AsyncSemaphore(1, isBroken: isBroken)
        let inside = Atomic(0)
        let tasks = (1...3).map { _ in
          Task {
            await semaphore.wait()
            check(inside.add(1, ordering: .relaxed).oldValue == 0, "two are inside")
            await Task.yield()
            inside.subtract(1, ordering: .relaxed)
            await semaphore.signal()
          }
        }
        for task in tasks { await task.value }
      }
    },
    Named("cancelled wait") { isBroken in
      {
        let event = Event(isBroken: isBroken)
        let task = Task { await event.wait() }
        let thread = Thread { task.cancel() }
        thread.start()
        event.happen()
        _ = await task.value
        thread.join()
      }
    },
    Named("pipeline") { isBroken in
      {
        let squares = await pipeline(3, isBroken: isBroken)
        check(squares == [1, 4, 9], "\(squares)")
      }
    },
  ]

  @Test(arguments: programs) func theBrokenOneFailsAndIsRepeated(named: Named) throws {
    let program = named.program(true)
    let found = try #require(failure(program))
    #expect(found.kind != .notReproducible && found.kind != .hang, "\(found)")
    let repeated = #expect(throws: RaceFailure.self) { try replay(found.schedule, program) }
    #expect(repeated?.reason == found.reason)
    #expect(repeated?.table == found.table)
  }

  @Test(
    arguments: programs,
    [
      "random", "pct:2", "pct:4", "pos", "uniform", "surw", "depth-first:1", "exhaustive",
      "portfolio",
    ])
  func theSoundOneNeverFails(named: Named, strategy: String) throws {
    for seed in 1...2 as ClosedRange<UInt64> {
      try explore(
        iterations: 300, strategy: try #require(Strategy(strategy)), seed: seed,
        named.program(false))
    }
  }

  @Test func rateLimitersSeeVirtualTime() throws {
    try explore(iterations: 50) {
      let limiter = RateLimiter(limit: 2)
      let passed = Atomic(0)
      let threads = (0..<3).map { _ in
        Thread { if limiter.isAllowed() { passed.add(1, ordering: .relaxed) } }
      }
      for thread in threads { thread.start() }
      for thread in threads { thread.join() }
      check(passed.load(ordering: .relaxed) == 2, "\(passed.load(ordering: .relaxed)) have passed")
      Thread.sleep(forTimeInterval: 1)
      check(limiter.isAllowed(), "nobody passes in the next second")
    }
  }
}
