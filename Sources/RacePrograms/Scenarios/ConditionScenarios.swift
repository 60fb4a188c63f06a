// Programs that wait wrongly.
internal import RaceHunt

extension HuntScenario {
  static let conditionScenarios = [
    HuntScenario("bounded-buffer", "wakes one of producers and consumers, perhaps the wrong one") {
      hasBug in
      {
        let buffer = Mutex<[Int]>([], name: "buffer")
        let changes = Condition(name: "changes")
        @Sendable func tell() { if hasBug { changes.notifyOne() } else { changes.notifyAll() } }
        let producers = (1...2).map { number in
          Thread.start(name: "producer \(number)") {
            for item in 0..<2 {
              buffer.lock()
              while buffer.value.count == 1 { changes.wait(buffer) }
              buffer.value.append(item)
              tell()
              buffer.unlock()
            }
          }
        }
        let consumers = (1...2).map { number in
          Thread.start(name: "consumer \(number)") {
            for _ in 0..<2 {
              buffer.lock()
              while buffer.value.isEmpty { changes.wait(buffer) }
              buffer.value.removeFirst()
              tell()
              buffer.unlock()
            }
          }
        }
        for thread in producers + consumers { thread.join() }
      }
    },
    HuntScenario("wait-without-loop", "takes a wake-up for the truth of the condition") { hasBug in
      {
        let items = Mutex(0, name: "items")
        let arrives = Condition(name: "arrives")
        let takers = (1...2).map { number in
          Thread.start(name: "taker \(number)") {
            items.lock()
            if hasBug {
              if items.value == 0 { arrives.wait(items) }
            } else {
              while items.value == 0 { arrives.wait(items) }
            }
            check(items.value > 0, "taker \(number) takes what is not there")
            items.value -= 1
            items.unlock()
          }
        }
        for _ in 1...2 {
          items.withLock { $0 += 1 }
          arrives.notifyAll()
        }
        for taker in takers { taker.join() }
      }
    },
    HuntScenario("lost-wake-up", "looks at the flag, and waits without looking again") { hasBug in
      {
        let ready = Mutex(false, name: "ready")
        let becomesReady = Condition(name: "becomes ready")
        let waiter = Thread.start(name: "waiter") {
          if hasBug {
            if ready.withLock({ $0 }) { return }
            ready.lock()
            becomesReady.wait(ready)
          } else {
            ready.lock()
            while !ready.value { becomesReady.wait(ready) }
          }
          ready.unlock()
        }
        ready.withLock { $0 = true }
        becomesReady.notifyAll()
        waiter.join()
      }
    },
    HuntScenario("barrier-reuse", "counts who leaves a barrier by the counter of who comes") {
      hasBug in
      {
        let barrier = Barrier(count: 2, hasRounds: !hasBug)
        let round = (0..<2).map { Atomic(0, name: "done by \($0)") }
        let threads = (0..<2).map { number in
          Thread.start(name: "worker \(number)") {
            for count in 1...2 {
              round[number].store(count)
              barrier.arrive()
              let other = round[1 - number].load()
              check(other >= count, "worker \(number) is a round ahead")
            }
          }
        }
        for thread in threads { thread.join() }
      }
    },
    HuntScenario("stop-flag", "stops a worker that is about to wait for work") { hasBug in
      {
        let queue = Mutex(0, name: "queue")
        let isStopped = Atomic(false, name: "is stopped")
        let changes = Condition(name: "changes")
        let worker = Thread.start(name: "worker") {
          queue.lock()
          while queue.value == 0 && !isStopped.load() { changes.wait(queue) }
          queue.unlock()
        }
        // Without the lock the flag may change between the worker's look and its wait.
        if hasBug { isStopped.store(true) } else { queue.withLock { _ in isStopped.store(true) } }
        changes.notifyAll()
        worker.join()
      }
    },
  ]
}

/// Lets threads go on when all have come.
private final class Barrier: Sendable {
  private struct State {
    var arrived = 0
    var round = 0
  }

  private let state = Mutex(State(), name: "barrier")
  private let opens = Condition(name: "opens")
  private let count: Int
  private let hasRounds: Bool

  init(count: Int, hasRounds: Bool) {
    self.count = count
    self.hasRounds = hasRounds
  }

  func arrive() {
    state.lock()
    defer { state.unlock() }
    let round = state.value.round
    state.value.arrived += 1
    if state.value.arrived == count {
      state.value.round += 1
      if hasRounds { state.value.arrived = 0 }
      opens.notifyAll()
      return
    }
    if hasRounds {
      while state.value.round == round { opens.wait(state) }
    } else {
      while state.value.arrived < count { opens.wait(state) }
      state.value.arrived = 0
    }
  }
}
