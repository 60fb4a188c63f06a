// Classic programs of threads, as people write them with Foundation and Synchronization; the import
// is the changed line. `isBroken` plants what they are known for.
import RaceHunt

/// Each philosopher takes two forks.
func dine(isBroken: Bool) {
  let forks = (0..<3).map { _ in NSLock() }
  let philosophers = (0..<3).map { seat in
    Thread {
      let (left, right) = (forks[seat], forks[(seat + 1) % 3])
      // The last one takes them in the other order, so that there is no circle.
      let (first, second) = isBroken || seat < 2 ? (left, right) : (right, left)
      first.lock()
      second.lock()
      second.unlock()
      first.unlock()
    }
  }
  for philosopher in philosophers { philosopher.start() }
  for philosopher in philosophers { philosopher.join() }
}

/// Many readers or one writer; a reader can become the writer.
final class UpgradableLock: @unchecked Sendable {
  // @unchecked: all is touched under `condition`.
  private let condition = NSCondition()
  private var readers = 0
  private var isWriting = false
  private var isUpgrading = false
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func beginRead() {
    condition.lock()
    while isWriting { condition.wait() }
    readers += 1
    condition.unlock()
  }

  func endRead() {
    condition.lock()
    readers -= 1
    condition.broadcast()
    condition.unlock()
  }

  /// False, and still a reader, when another one is about to become the writer.
  func upgrade() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    if isUpgrading && !isBroken { return false }
    isUpgrading = true
    while readers > 1 { condition.wait() }
    isUpgrading = false
    readers -= 1
    isWriting = true
    return true
  }

  func endWrite() {
    condition.lock()
    isWriting = false
    condition.broadcast()
    condition.unlock()
  }
}

/// A stack of the numbers of its slots, without locks.
final class SlotStack: Sendable {
  // Slot in the low half, number of changes in the high one.
  private let head = Atomic(0)
  private let nexts = [Atomic(1), Atomic(2), Atomic(-1)]
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  private func slot(_ word: Int) -> Int { (word & 0xFF) - (word & 0x80) * 2 }
  private func word(_ slot: Int, after old: Int) -> Int {
    (slot & 0xFF) | (isBroken ? 0 : (old >> 8) + 1) << 8
  }

  func pop() -> Int? {
    while true {
      let old = head.load(ordering: .acquiring)
      let top = slot(old)
      if top < 0 { return nil }
      let next = nexts[top].load(ordering: .acquiring)
      if head.compareExchange(
        expected: old, desired: word(next, after: old), ordering: .acquiringAndReleasing
      ).exchanged {
        return top
      }
    }
  }

  func push(_ slot: Int) {
    while true {
      let old = head.load(ordering: .acquiring)
      nexts[slot].store(self.slot(old), ordering: .releasing)
      if head.compareExchange(
        expected: old, desired: word(slot, after: old), ordering: .acquiringAndReleasing
      ).exchanged {
        return
      }
    }
  }
}

/// Its owner pushes and pops at one end, thieves take from the other one.
final class WorkQueue: Sendable {
  private let top = Atomic(0)
  private let bottom = Atomic(0)
  private let items = (0..<4).map { _ in Atomic(0) }
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func push(_ item: Int) {
    let end = bottom.load(ordering: .relaxed)
    items[end % 4].store(item, ordering: .relaxed)
    bottom.store(end + 1, ordering: .releasing)
  }

  func pop() -> Int? {
    let end = bottom.load(ordering: .relaxed) - 1
    bottom.store(end, ordering: .sequentiallyConsistent)
    let begin = top.load(ordering: .sequentiallyConsistent)
    if begin > end {
      bottom.store(begin, ordering: .relaxed)
      return nil
    }
    let item = items[end % 4].load(ordering: .relaxed)
    // A thief may be after the last one, too.
    if begin == end && !isBroken {
      let isMine = top.compareExchange(
        expected: begin, desired: begin + 1, ordering: .sequentiallyConsistent
      ).exchanged
      bottom.store(begin + 1, ordering: .relaxed)
      return isMine ? item : nil
    }
    return item
  }

  func steal() -> Int? {
    let begin = top.load(ordering: .acquiring)
    let end = bottom.load(ordering: .acquiring)
    if begin >= end { return nil }
    let item = items[begin % 4].load(ordering: .relaxed)
    return top.compareExchange(
      expected: begin, desired: begin + 1, ordering: .sequentiallyConsistent
    ).exchanged ? item : nil
  }
}

/// A value that is made when it is first asked for.
final class Lazily: Sendable {
  private let isMade = Atomic(false)
  private let value = Atomic(0)
  private let lock = NSLock()
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func get() -> Int {
    if isMade.load(ordering: .acquiring) { return value.load(ordering: .relaxed) }
    return lock.withLock {
      if isMade.load(ordering: .relaxed) { return value.load(ordering: .relaxed) }
      if isBroken { isMade.store(true, ordering: .releasing) }
      value.store(42, ordering: .relaxed)
      if !isBroken { isMade.store(true, ordering: .releasing) }
      return 42
    }
  }
}

/// At most two jobs at a time; the sum of what they give.
func runLimited(isBroken: Bool) -> (sum: Int, most: Int) {
  let queue = DispatchQueue(label: "jobs", attributes: .concurrent)
  let (limit, group) = (DispatchSemaphore(value: 2), DispatchGroup())
  let (running, most, sum) = (Atomic(0), Atomic(0), Mutex(0))
  for number in 1...3 {
    if !isBroken { limit.wait() }
    group.enter()
    queue.async {
      if isBroken { limit.wait() }
      let now = running.wrappingAdd(1, ordering: .relaxed).newValue
      most.max(now, ordering: .relaxed)
      // Others may begin before this has left.
      if isBroken { limit.signal() }
      sum.withLock { $0 += number }
      running.wrappingSubtract(1, ordering: .relaxed)
      if !isBroken { limit.signal() }
      group.leave()
    }
  }
  group.wait()
  return (sum.withLock { $0 }, most.load(ordering: .relaxed))
}
