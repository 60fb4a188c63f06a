// Programs whose locks are wrong.
internal import RaceHunt

extension HuntScenario {
  static let lockScenarios = [
    HuntScenario("lost-update", "reads a counter and stores one more, without a lock") { hasBug in
      {
        let counter = Atomic(0, name: "counter")
        let threads = (1...2).map { number in
          Thread.start(name: "adder \(number)") {
            if hasBug { counter.store(counter.load() + 1) } else { counter.add(1) }
          }
        }
        for thread in threads { thread.join() }
        let count = counter.load()
        check(count == 2, "an update is lost: the counter is \(count), not 2")
      }
    },
    // After figure 5 of Burckhardt and others, A Randomized Scheduler with Probabilistic Guarantees
    // of Finding Bugs, ASPLOS 2010: a walk comes to it once in 2^20 schedules, PCT in every other.
    HuntScenario("taken-for-slow", "takes a thread that has many steps for one that has not ended")
    {
      hasBug in
      {
        let steps = Atomic(0, name: "steps")
        let hasEnded = Mutex(false, name: "has ended")
        @Sendable func work() {
          for _ in 0..<20 { steps.add(1) }
          hasEnded.withLock { $0 = true }
        }
        let isOver: Bool
        let worker: Thread
        if hasBug {
          worker = Thread.start(name: "worker") { work() }
          isOver = hasEnded.withLock { $0 }
        } else {
          isOver = hasEnded.withLock { $0 }
          worker = Thread.start(name: "worker") { work() }
        }
        worker.join()
        check(!isOver, "the worker has come to its end before anybody looked")
      }
    },
    HuntScenario("dining-philosophers", "each takes the left fork first") { hasBug in
      {
        let count = 4
        let forks = (0..<count).map { Mutex(0, name: "fork \($0)") }
        let philosophers = (0..<count).map { number in
          Thread.start(name: "philosopher \(number)") {
            let (left, right) = (number, (number + 1) % count)
            // One order for all forks lets nobody wait in a circle.
            let first = hasBug ? left : min(left, right)
            let second = left + right - first
            forks[first].withLock { _ in forks[second].withLock { $0 += 1 } }
          }
        }
        for philosopher in philosophers { philosopher.join() }
      }
    },
    HuntScenario("transfer", "locks two accounts in the order of the transfer") { hasBug in
      {
        let accounts = (0..<3).map { Mutex(100, name: "account \($0)") }
        @Sendable func transfer(from: Int, to: Int) {
          let first = hasBug ? from : min(from, to)
          let second = from + to - first
          accounts[first].withLock { _ in
            accounts[second].withLock { _ in
              accounts[from].value -= 10
              accounts[to].value += 10
            }
          }
        }
        let threads = [(0, 1), (1, 2), (2, 0)].map { from, to in
          Thread.start(name: "\(from) to \(to)") { transfer(from: from, to: to) }
        }
        for thread in threads { thread.join() }
        let sum = accounts.reduce(0) { $0 + $1.value }
        check(sum == 300, "the accounts hold \(sum), not 300")
      }
    },
    HuntScenario("read-write-upgrade", "two readers wait for each other to become the writer") {
      hasBug in
      {
        let lock = UpgradableLock(allowsTwoUpgrades: hasBug)
        let threads = (1...2).map { number in
          Thread.start(name: "reader \(number)") {
            lock.read()
            if lock.upgrade() { lock.endWrite() } else { lock.endRead() }
          }
        }
        for thread in threads { thread.join() }
      }
    },
    HuntScenario("double-checked-locking", "says that a value is made before it is") { hasBug in
      {
        let isMade = Atomic(false, name: "is made")
        let value = Atomic(0, name: "value")
        let lock = Mutex((), name: "lock")
        @Sendable func get() -> Int {
          if !isMade.load() {
            lock.withLock { _ in
              if isMade.load() { return }
              if hasBug { isMade.store(true) }
              value.store(42)
              if !hasBug { isMade.store(true) }
            }
          }
          return value.load()
        }
        let threads = (1...2).map { number in
          Thread.start(name: "user \(number)") {
            let seen = get()
            check(seen == 42, "user \(number) gets \(seen): the value is not made yet")
          }
        }
        for thread in threads { thread.join() }
      }
    },
    HuntScenario("peterson", "looks at the other's wish before it states its own") { hasBug in
      {
        let wants = [Atomic(false, name: "0 wants"), Atomic(false, name: "1 wants")]
        let turn = Atomic(0, name: "turn")
        let inside = Atomic(0, name: "inside")
        let threads = (0...1).map { me in
          Thread.start(name: "\(me)") {
            let other = 1 - me
            if !hasBug { wants[me].store(true) }
            turn.store(other)
            while wants[other].load() && turn.load() == other { Thread.yield() }
            if hasBug { wants[me].store(true) }
            let others = inside.add(1).oldValue
            check(others == 0, "both are inside")
            inside.add(-1)
            wants[me].store(false)
          }
        }
        for thread in threads { thread.join() }
      }
    },
  ]
}

/// A lock for many readers of which one may become the writer.
private final class UpgradableLock: Sendable {
  private struct State {
    var readers = 0
    var isUpgrading = false
  }

  private let state = Mutex(State(), name: "state")
  private let changes = Condition(name: "changes")
  private let allowsTwoUpgrades: Bool

  init(allowsTwoUpgrades: Bool) { self.allowsTwoUpgrades = allowsTwoUpgrades }

  func read() {
    state.lock()
    while state.value.isUpgrading && !allowsTwoUpgrades { changes.wait(state) }
    state.value.readers += 1
    state.unlock()
  }

  /// Waits until no other reader is left; false when another one is before.
  func upgrade() -> Bool {
    state.lock()
    defer { state.unlock() }
    if state.value.isUpgrading && !allowsTwoUpgrades { return false }
    state.value.isUpgrading = true
    while state.value.readers > 1 { changes.wait(state) }
    return true
  }

  func endRead() {
    state.withLock { $0.readers -= 1 }
    changes.notifyAll()
  }

  func endWrite() {
    state.withLock {
      $0.readers -= 1
      $0.isUpgrading = false
    }
    changes.notifyAll()
  }
}
