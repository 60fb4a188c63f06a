// Programs of tasks and actors.
import RaceHunt
import TestSupport
import Testing

/// Pays out what is there, in two steps.
private actor Account {
  private(set) var balance = 100
  func withdraw(_ amount: Int) { balance -= amount }
}

@Suite(.ownThreads) struct TaskTests {
  @Test func checkThenActOverTwoAwaits() throws {
    let program: Program = {
      let account = Account()
      await withTaskGroup(of: Void.self) { group in
        for _ in 1...2 {
          group.addTask {
            let balance = await account.balance
            note("sees \(balance)")
            // The balance may be another one when the money is taken.
            if balance >= 100 { await account.withdraw(100) }
          }
        }
      }
      let balance = await account.balance
      check(balance >= 0, "the account is overdrawn: \(balance)")
    }
    let found = try #require(failure(program))
    #expect(found.reason == "the account is overdrawn: -100")
    let repeated = #expect(throws: RaceFailure.self) { try replay(found.schedule, program) }
    #expect(repeated?.table == found.table)
  }

  @Test func tasksThatPreferTheExecutorAreControlled() throws {
    let found = try #require(
      failure {
        let word = Atomic(0, name: "word")
        let tasks = (1...2).map { _ in
          Task(executorPreference: controlledExecutor!) {
            let value = word.load()
            await Task.yield()
            word.store(value + 1)
          }
        }
        for task in tasks { await task.value }
        check(word.load() == 2, "an update is lost")
      })
    #expect(found.reason == "an update is lost")
    #expect(found.table.contains("task 2"))
  }

  @Test func tasksAndThreadsMeet() throws {
    let found = try #require(
      failure {
        let word = Atomic(0, name: "word")
        let thread = Thread.start(name: "thread") { word.store(word.load() + 1) }
        async let sum: Void = { word.store(word.load() + 1) }()
        await sum
        thread.join()
        check(word.load() == 2, "an update is lost")
      })
    #expect(found.table.contains("thread"))
  }

  @Test func cancellationAtEachSuspensionIsExplored() throws {
    let seen = Mutex<Set<Int>>([])
    try explore(iterations: 300) {
      let steps = Atomic(0)
      let task = Task(executorPreference: controlledExecutor!) {
        for _ in 0..<3 {
          if Task.isCancelled { return }
          steps.add(1)
          await Task.yield()
        }
      }
      await Task.yield()
      task.cancel()
      await task.value
      let count = steps.load()
      seen.value.insert(count)
    }
    #expect(seen.value == [0, 1, 2, 3])
  }
}
