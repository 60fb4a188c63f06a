// Programs of threads and queues as people write them: with `import Foundation`, `Dispatch` and
// `Synchronization` in place of the line below they are the same text. `isBroken` plants what they
// are known for.
import RaceHunt

/// A buffer of limited size between threads.
final class BoundedBuffer<Element>: @unchecked Sendable {
  // @unchecked: all is touched under `condition`.
  private let condition = NSCondition()
  private var elements: [Element] = []
  private let capacity: Int
  private let isBroken: Bool

  init(capacity: Int, isBroken: Bool) {
    self.capacity = capacity
    self.isBroken = isBroken
  }

  func put(_ element: Element) {
    condition.lock()
    defer { condition.unlock() }
    while elements.count == capacity { condition.wait() }
    elements.append(element)
    if isBroken { condition.signal() } else { condition.broadcast() }
  }

  func take() -> Element {
    condition.lock()
    defer { condition.unlock() }
    while elements.isEmpty { condition.wait() }
    defer { if isBroken { condition.signal() } else { condition.broadcast() } }
    return elements.removeFirst()
  }
}

/// Many readers or one writer.
final class ReadersWriterLock: @unchecked Sendable {
  // @unchecked: `readers` is touched under `lock`.
  private let lock = NSLock()
  private let turnstile = DispatchSemaphore(value: 1)
  private var readers = 0
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func read<Result>(_ body: () -> Result) -> Result {
    if isBroken {
      // Looks and counts in two steps.
      let isFirst = lock.withLock { readers == 0 }
      if isFirst { turnstile.wait() }
      lock.withLock { readers += 1 }
    } else {
      lock.withLock {
        readers += 1
        if readers == 1 { turnstile.wait() }
      }
    }
    defer {
      lock.withLock {
        readers -= 1
        if readers == 0 { turnstile.signal() }
      }
    }
    return body()
  }

  func write<Result>(_ body: () -> Result) -> Result {
    turnstile.wait()
    defer { turnstile.signal() }
    return body()
  }
}

/// Values behind a concurrent queue with barriers.
final class QueueCache: @unchecked Sendable {
  // @unchecked: `values` is touched in the queue only.
  private let queue = DispatchQueue(label: "cache", attributes: .concurrent)
  private var values: [Int: Int] = [:]
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func value(_ key: Int, make: () -> Int) -> Int {
    if let known = queue.sync(execute: { values[key] }) { return known }
    let made = make()
    if isBroken {
      queue.sync(flags: .barrier) { values[key] = made }
      return made
    }
    return queue.sync(flags: .barrier) {
      if let known = values[key] { return known }
      values[key] = made
      return made
    }
  }
}

/// Work that is spread over queues, and its results.
func collect(_ count: Int, isBroken: Bool) -> Int {
  final class Results: @unchecked Sendable {
    // @unchecked: touched in `results` only.
    var sum = 0
  }
  let group = DispatchGroup()
  let results = DispatchQueue(label: "results")
  let sum = Results()
  for number in 1...count {
    if isBroken {
      DispatchQueue.global().async {
        group.enter()
        results.sync { sum.sum += number }
        group.leave()
      }
    } else {
      DispatchQueue.global().async(group: group) { results.sync { sum.sum += number } }
    }
  }
  group.wait()
  return results.sync { sum.sum }
}

/// Lets so many pass in a second.
final class RateLimiter: Sendable {
  private struct State {
    var left: Int
    var refilled: DispatchTime
  }

  private let state: Mutex<State>
  private let limit: Int

  init(limit: Int) {
    self.limit = limit
    state = Mutex(State(left: limit, refilled: .now()))
  }

  func isAllowed() -> Bool {
    state.withLock { state in
      let now = DispatchTime.now()
      if now >= state.refilled + .seconds(1) {
        state.left = limit
        state.refilled = now
      }
      if state.left == 0 { return false }
      state.left -= 1
      return true
    }
  }
}

/// A stack without locks.
final class Stack: Sendable {
  final class Node: Sendable {
    let value: Int
    let next: Unmanaged<Node>?
    init(_ value: Int, _ next: Unmanaged<Node>?) {
      self.value = value
      self.next = next
    }
  }

  private let head = Atomic<Unmanaged<Node>?>(nil)
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func push(_ value: Int) {
    while true {
      let old = head.load(ordering: .acquiring)
      let node = Unmanaged.passRetained(Node(value, old))
      if isBroken {
        head.store(node, ordering: .releasing)
        return
      }
      if head.compareExchange(expected: old, desired: node, ordering: .acquiringAndReleasing)
        .exchanged
      {
        return
      }
      node.release()
    }
  }

  func popAll() -> [Int] {
    var node = head.exchange(nil, ordering: .acquiringAndReleasing)
    var values: [Int] = []
    while let this = node {
      values.append(this.takeUnretainedValue().value)
      node = this.takeUnretainedValue().next
      this.release()
    }
    return values
  }
}
