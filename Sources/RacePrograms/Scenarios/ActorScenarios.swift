// Programs of tasks and actors: no data races, and wrong all the same.
internal import RaceHunt

extension HuntScenario {
  static let actorScenarios = [
    HuntScenario("actor-check-then-act", "asks an actor, awaits, and acts on the answer") {
      hasBug in
      {
        let account = Account()
        await withTaskGroup(of: Void.self) { group in
          for _ in 1...3 {
            group.addTask {
              if hasBug {
                let balance = await account.balance
                note("sees \(balance)")
                if balance >= 100 { await account.withdraw(100) }
              } else {
                await account.withdrawIfThere(100)
              }
            }
          }
        }
        let balance = await account.balance
        check(balance >= 0, "the account is overdrawn: \(balance)")
      }
    },
    HuntScenario("actor-reentrancy", "another call runs while an actor's method waits") { hasBug in
      {
        let cache = Cache(remembersTask: !hasBug)
        async let first = cache.value
        async let second = cache.value
        _ = await (first, second)
        let loads = await cache.loads
        check(loads == 1, "the value is loaded \(loads) times")
      }
    },
    HuntScenario("double-completion", "an answer and a timeout both resume a waiting task") {
      hasBug in
      {
        let isDone = Atomic(false, name: "is done")
        let completions = Atomic(0, name: "completions")
        @Sendable func complete() {
          if hasBug {
            if isDone.load() { return }
            isDone.store(true)
          } else if isDone.exchange(true) {
            return
          }
          completions.add(1)
        }
        let answer = Thread.start(name: "answer") { complete() }
        async let timeout: Void = complete()
        await timeout
        answer.join()
        let count = completions.load()
        check(count == 1, "completed \(count) times")
      }
    },
    HuntScenario("cancelled-too-late", "does its work although it was cancelled before") { hasBug in
      {
        let (isStopped, works) = (Atomic(false, name: "is stopped"), Atomic(0, name: "works"))
        let gate = Mutex((), name: "gate")
        let worker = Task(executorPreference: controlledExecutor) {
          await Task.yield()
          if hasBug {
            if Task.isCancelled { return }
            let wasStopped = isStopped.load()
            works.add(wasStopped ? 1 : 0)
          } else {
            gate.withLock { _ in
              if Task.isCancelled { return }
              let wasStopped = isStopped.load()
              works.add(wasStopped ? 1 : 0)
            }
          }
        }
        await Task.yield()
        if hasBug {
          worker.cancel()
          isStopped.store(true)
        } else {
          gate.withLock { _ in
            worker.cancel()
            isStopped.store(true)
          }
        }
        await worker.value
        let count = works.load()
        check(count == 0, "the worker works after it was stopped")
      }
    },
  ]
}

private actor Account {
  private(set) var balance = 100
  func withdraw(_ amount: Int) { balance -= amount }
  func withdrawIfThere(_ amount: Int) { if balance >= amount { balance -= amount } }
}

/// Loads a value once, or so it seems.
private actor Cache {
  private let remembersTask: Bool
  private var stored: Int?
  private var loading: Task<Int, Never>?
  private(set) var loads = 0

  init(remembersTask: Bool) { self.remembersTask = remembersTask }

  var value: Int {
    get async {
      if let stored { return stored }
      if let loading { return await loading.value }
      loads += 1
      let task = Task(executorPreference: controlledExecutor) {
        await Task.yield()
        return 42
      }
      if remembersTask { loading = task }
      let loaded = await task.value
      stored = loaded
      return loaded
    }
  }
}
