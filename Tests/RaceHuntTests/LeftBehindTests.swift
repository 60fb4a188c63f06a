// What a schedule leaves behind that cannot go on, and what must be the same each time.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct LeftBehindTests {
  private static var threads: Int {
    get throws { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count }
  }

  /// Two threads of each of them wait for ever.
  @Test func threadsOfFailingSchedulesEnd() throws {
    let before = try Self.threads
    let explorations = 120
    for seed in 1...explorations {
      let found = try #require(
        failure(seed: UInt64(seed)) {
          let (left, right) = (NSLock(), NSLock())
          let thread = Thread.start(name: "other") { left.withLock { right.withLock {} } }
          right.withLock { left.withLock {} }
          thread.join()
        })
      #expect(found.kind == .deadlock)
    }
    // Also of explorations that end with a failed check, whose threads are idle then.
    for seed in 1...explorations {
      _ = failure(seed: UInt64(seed)) {
        for thread in (1...2).map({ Thread.start(name: "\($0)") {} }) { thread.join() }
        check(false, "always")
      }
    }
    // Other tests have some, too.
    #expect(try Self.threads < before + explorations / 2)
  }

  /// The runtime has a lock of its own while it calls the handler.
  @Test func cancellationHandlersWaitForLocks() throws {
    for seed in 1...3 as ClosedRange<UInt64> {
      try explore(iterations: 300, seed: seed) {
        let state = Mutex(0, name: "state")
        let task = Task {
          await withTaskCancellationHandler {
            for _ in 1...2 {
              state.withLock { $0 += 1 }
              await Task.yield()
            }
            return state.withLock { $0 }
          } onCancel: {
            state.withLock { $0 += 10 }
            state.withLock { $0 += 10 }
          }
        }
        let thread = Thread.start(name: "canceller") { task.cancel() }
        _ = await task.value
        thread.join()
        check([2, 22].contains(state.withLock { $0 }), "\(state.withLock { $0 })")
      }
    }
  }

  /// Two steps of a handler are two steps: another thread comes between them.
  @Test func stepsOfCancellationHandlersAreExplored() throws {
    let found = try #require(
      failure {
        let (first, second) = (Atomic(0, name: "first"), Atomic(0, name: "second"))
        let task = Task {
          await withTaskCancellationHandler {
            await Task.yield()
            check(first.load() == second.load(), "half of the change is seen")
          } onCancel: {
            first.store(1)
            second.store(1)
          }
        }
        let thread = Thread.start(name: "canceller") { task.cancel() }
        await task.value
        thread.join()
      })
    #expect(found.reason == "half of the change is seen")
  }

  /// The order of a set followed from where it lay in memory.
  @Test func setsHaveTheSameOrderInEachRun() throws {
    try explore(iterations: 300) {
      let words = Dictionary(uniqueKeysWithValues: (0..<8).map { ("word \($0)", Atomic($0)) })
      let threads = words.keys.map { key in Thread.start(name: key) { words[key]?.add(1) } }
      for thread in threads { thread.join() }
    }
  }

  @Test func yieldingTasksOfAllKindsAreExplored() throws {
    try explore(iterations: 300) {
      let count = Atomic(0)
      let tasks = [
        Task {
          await Task.yield()
          count.add(1)
        },
        Task.detached {
          await Task.yield()
          count.add(1)
        },
        Task { @MainActor in
          await Task.yield()
          count.add(1)
        },
      ]
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await Task.yield()
          count.add(1)
        }
      }
      for task in tasks { await task.value }
      check(count.load() == 4, "\(count.load())")
    }
  }

  /// Who waits by looking again, and by letting others go first or sleeping in between, comes to an
  /// end whatever the strategy.
  @Test(arguments: ["random", "pct:3", "pos", "uniform", "surw", "depth-first:1", "portfolio"])
  func tasksThatWaitByLookingAgainComeToAnEnd(strategy: String) throws {
    let strategy = try #require(Strategy(strategy))
    try explore(iterations: 100, strategy: strategy) {
      let flag = Atomic(false)
      let waiter = Task { while !flag.load() { await Task.yield() } }
      let setter = Task { flag.store(true) }
      await waiter.value
      await setter.value
    }
    try explore(iterations: 20, strategy: strategy) {
      let flag = Atomic(false)
      let waiter = Task { while !flag.load() { try await Task.sleep(for: .milliseconds(1)) } }
      let setter = Task {
        try await Task.sleep(for: .milliseconds(50))
        flag.store(true)
      }
      try await waiter.value
      try await setter.value
    }
  }

  @Test func aTaskThatLetsOthersGoFirstForEverIsALivelock() throws {
    let found = try #require(failure { while true { await Task.yield() } })
    #expect(found.kind == .livelock)
  }

  /// The clocks of programs that do not import this module.
  @Test func clocksOfTheStandardLibraryAreVirtual() throws {
    try explore(iterations: 100) {
      let clock = Swift.ContinuousClock()
      let begin = clock.now
      try await Task.sleep(for: .seconds(3_600), clock: clock)
      let passed = clock.now - begin
      check(passed >= .seconds(3_600) && passed < .seconds(3_601), "\(passed)")
    }
  }
}
