// The fair write lock of one process: first come, first served. In front of the lock that the process
// holds against other processes, which only the head of this queue touches.
internal import Platform

/// Threads that wait to write, in the order in which they came.
final class WriteQueue: Sendable {
  /// One waiting thread; woken by the one before it.
  private final class Waiter: Sendable {
    let isServed = Monitor(false)
  }

  private struct State {
    var isHeld = false
    var waiters: [Waiter] = []
    var head = 0
  }

  private let state = Monitor(State())
  /// Number of waiting threads, readable without the lock.
  private let waiting = Atomic<Int>(0)

  /// Blocks until so many threads wait.
  ///
  /// For tests of the order in which they are served.
  func waitForWaiters(_ count: Int) {
    state.wait(until: { $0.waiters.count - $0.head >= count }, then: { _ in })
  }

  var hasWaiters: Bool { waiting.load(ordering: .relaxed) > 0 }

  /// Waits for its turn.
  func acquire() {
    let waiter: Waiter? = state.withLock { state in
      if !state.isHeld {
        state.isHeld = true
        return nil
      }
      let waiter = Waiter()
      state.waiters.append(waiter)
      waiting.add(1, ordering: .relaxed)
      return waiter
    }
    guard let waiter else { return }
    state.notifyAll()
    waiter.isServed.wait(until: { $0 }, then: { _ in })
  }

  /// Takes the lock if nobody holds it.
  func tryAcquire() -> Bool {
    state.withLock { state in
      if state.isHeld { return false }
      state.isHeld = true
      return true
    }
  }

  /// Hands the lock to the next in line, if any.
  func release() {
    let next: Waiter? = state.withLock { state in
      guard state.head < state.waiters.count else {
        state.isHeld = false
        return nil
      }
      if PlantedBug.unfairLock.isActive {
        state.waiters.swapAt(state.head, state.waiters.count - 1)
      }
      let next = state.waiters[state.head]
      state.head += 1
      if state.head == state.waiters.count {
        state.waiters.removeAll(keepingCapacity: true)
        state.head = 0
      }
      waiting.subtract(1, ordering: .relaxed)
      return next
    }
    guard let next else { return }
    next.isServed.withLock { $0 = true }
    next.isServed.notifyAll()
  }
}
