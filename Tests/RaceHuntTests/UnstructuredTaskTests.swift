// Tasks without a preferred executor, sleeping ones, and the main actor's, in one program with
// threads.
import RaceHunt
import TestSupport
import Testing

private actor Counter {
  private(set) var count = 0
  func set(_ value: Int) { count = value }
}

@MainActor private final class Screen {
  var shown = 0
}

@Suite(.ownThreads) struct UnstructuredTaskTests {
  @Test func hopsOfTasksThatPreferNoExecutorAreExplored() throws {
    let program: Program = {
      let counter = Counter()
      let tasks = (1...2).map { number in
        Task {
          let count = await counter.count
          await counter.set(count + 1)
        }
      }
      let detached = Task.detached {
        let count = await counter.count
        await counter.set(count + 1)
      }
      for task in tasks { await task.value }
      await detached.value
      let count = await counter.count
      check(count == 3, "an update is lost: \(count)")
    }
    let found = try #require(failure(program))
    #expect(found.reason.hasPrefix("an update is lost"))
    for _ in 1...10 {
      let repeated = #expect(throws: RaceFailure.self) { try replay(found.schedule, program) }
      #expect(repeated?.table == found.table)
    }
  }

  @Test func sleepingTasksTakeVirtualTime() throws {
    let clock = Swift.ContinuousClock()
    let begin = clock.now
    try explore(iterations: 200) {
      let order = Mutex<[Int]>([])
      let late = Task {
        try await Task.sleep(for: .seconds(7_200))
        order.withLock { $0.append(2) }
      }
      let detached = Task.detached {
        try await Task.sleep(nanoseconds: 3_600_000_000_000)
        order.withLock { $0.append(1) }
      }
      let thread = Thread { order.withLock { $0.append(0) } }
      thread.start()
      try await late.value
      try await detached.value
      let seen = order.withLock { $0 }
      check(seen == [0, 1, 2], "\(seen)")
    }
    #expect(clock.now - begin < .seconds(3_600))
  }

  @Test func aTimeoutAgainstWorkIsExplored() throws {
    let seen = Mutex<Set<String>>([])
    try explore(iterations: 300) {
      let first = try await withThrowingTaskGroup(of: String.self) { group in
        group.addTask {
          try await Task.sleep(for: .seconds(random(below: 3)))
          return "answer"
        }
        group.addTask {
          try await Task.sleep(for: .seconds(1))
          return "timeout"
        }
        let first = try await group.next()
        group.cancelAll()
        return first
      }
      _ = seen.withLock { $0.insert(first ?? "") }
    }
    #expect(seen.value == ["answer", "timeout"])
  }

  @Test func theMainActorIsExploredWithThreads() throws {
    let found = try #require(
      failure {
        let screen = Screen()
        let wished = Atomic(0, name: "wished")
        let thread = Thread.start(name: "wisher") { wished.store(1) }
        let task = Task { @MainActor in
          MainActor.assertIsolated()
          screen.shown = wished.load()
        }
        await task.value
        thread.join()
        let shown = await screen.shown
        check(shown == 1, "shows \(shown)")
      })
    #expect(found.reason == "shows 0")
    #expect(found.table.contains("main actor"))
  }

  @Test func theMainActorRunsOneAfterTheOther() throws {
    try explore(iterations: 300) {
      let inside = Atomic(0)
      await withTaskGroup(of: Void.self) { group in
        for _ in 1...3 {
          group.addTask { @MainActor in
            check(inside.add(1).oldValue == 0, "two on the main actor")
            inside.subtract(1)
          }
        }
      }
    }
  }

  @Test func tasksOfOthersAreLeftAlone() async throws {
    let program: Program = {
      let counter = Counter()
      async let first: Void = counter.set(1)
      await Task { await counter.set(2) }.value
      await first
    }
    // Tasks that no exploration has begun, and several explorations, at the same time.
    let others = Task.detached {
      var sum = 0
      for number in 0..<2_000 {
        sum += await Task {
          await Task.yield(); return number
        }.value
      }
      try await Task.sleep(nanoseconds: 1_000_000)
      await MainActor.run { sum += 1 }
      return sum
    }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for seed in 1...4 as ClosedRange<UInt64> {
        group.addTask { try await explore(iterations: 300, seed: seed, program).schedules }
      }
      for try await schedules in group { #expect(schedules == 300) }
    }
    #expect(try await others.value == 1_999_000 + 1)
  }

  @Test func aLoopThatGoesOnBehindTheProgramIsNoFailure() throws {
    try explore(iterations: 50) {
      let beats = Atomic(0)
      Task {
        while true {
          try await Task.sleep(for: .seconds(1))
          beats.add(1)
        }
      }
      try await Task.sleep(for: .seconds(10))
      check(beats.load() >= 9, "the heart does not beat: \(beats.load())")
    }
  }

  @Test func clocksAreVirtual() throws {
    try explore(iterations: 20) {
      let clock = ContinuousClock()
      let passed = try await clock.measure { try await Task.sleep(for: .seconds(100)) }
      check(passed >= .seconds(100) && passed < .seconds(101), "\(passed)")
      let suspending = SuspendingClock()
      let deadline = suspending.now.advanced(by: .seconds(5))
      try await Task.sleep(until: deadline, clock: suspending)
      check(suspending.now >= deadline, "too early")
    }
  }
}
