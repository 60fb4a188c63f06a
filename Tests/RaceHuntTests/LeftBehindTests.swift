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
    let explorations = 300
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
}
