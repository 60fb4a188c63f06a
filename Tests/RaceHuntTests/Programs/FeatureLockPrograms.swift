// Programs of Foundation's and Dispatch's locks, queues and barriers, and of atomic words with weak
// orders and pairs of words, each with what it is known for. `isBroken` plants that.
import RaceHunt

/// A histogram in a concurrent queue: reads go on together, changes by a barrier.
final class Histogram: @unchecked Sendable {
  // @unchecked: the counts are touched in the queue.
  private let queue = DispatchQueue(label: "histogram", attributes: .concurrent)
  private let counts = (0..<2).map { _ in Atomic(0) }
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  /// One more in both.
  func add() {
    queue.async(flags: isBroken ? [] : .barrier) { [self] in
      for count in counts { count.store(count.load() + 1) }
    }
  }

  func read() -> [Int] { queue.sync { counts.map { $0.load() } } }
}

/// What so many have to arrive at before anyone goes on.
final class Latch: Sendable {
  private let condition = NSCondition()
  private let left: Atomic<Int>
  private let isBroken: Bool

  init(_ count: Int, isBroken: Bool) {
    left = Atomic(count)
    self.isBroken = isBroken
  }

  func arrive() {
    if isBroken {
      // The signal may come between the look and the wait of another one.
      if left.subtract(1).newValue == 0 { condition.broadcast() }
    } else {
      condition.lock()
      if left.subtract(1).newValue == 0 { condition.broadcast() }
      condition.unlock()
    }
  }

  func wait() {
    condition.lock()
    while left.load() > 0 { condition.wait() }
    condition.unlock()
  }
}

/// Folders with a lock each that can be taken again; moving takes two of them.
final class Folder: Sendable {
  private let lock = NSRecursiveLock()
  private let files: Atomic<Int>
  private let number: Int

  init(_ number: Int, files: Int) {
    self.number = number
    self.files = Atomic(files)
  }

  var count: Int { lock.withLock { files.load() } }

  private func change(by count: Int) { lock.withLock { _ = files.add(count) } }

  func move(to other: Folder, isBroken: Bool) {
    let (first, second) = isBroken || number < other.number ? (self, other) : (other, self)
    first.lock.withLock {
      second.lock.withLock {
        guard count > 0 else { return }
        change(by: -1)
        other.change(by: 1)
      }
    }
  }
}

/// Readers together or one writer, by one condition; writers that wait go first.
final class FairLock: Sendable {
  private struct State {
    var readers = 0
    var waitingWriters = 0
    var isWriting = false
  }

  private let state = Mutex(State())
  private let hasChanged = Condition()
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func read<Result: Sendable>(_ body: () -> Result) -> Result {
    state.lock()
    while state.value.isWriting || state.value.waitingWriters > 0 { hasChanged.wait(state) }
    state.value.readers += 1
    state.unlock()
    let result = body()
    state.withLock { $0.readers -= 1 }
    hasChanged.notifyAll()
    return result
  }

  func write(_ body: () -> Void) {
    state.lock()
    state.value.waitingWriters += 1
    // The mistake: who is let in does not look again whether readers are there.
    if isBroken {
      if state.value.isWriting || state.value.readers > 0 { hasChanged.wait(state) }
    } else {
      while state.value.isWriting || state.value.readers > 0 { hasChanged.wait(state) }
    }
    state.value.waitingWriters -= 1
    state.value.isWriting = true
    state.unlock()
    body()
    state.withLock { $0.isWriting = false }
    hasChanged.notifyAll()
  }
}

/// A ring for one sender and one receiver.
final class Ring: Sendable {
  private let slots = (0..<2).map { _ in Atomic(0) }
  private let (head, tail) = (Atomic(0), Atomic(0))
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func send(_ value: Int) -> Bool {
    let position = tail.load(ordering: .relaxed)
    if position - head.load(ordering: .acquiring) == slots.count { return false }
    if isBroken { tail.store(position + 1, ordering: .releasing) }
    slots[position % slots.count].store(value, ordering: .relaxed)
    if !isBroken { tail.store(position + 1, ordering: .releasing) }
    return true
  }

  func receive() -> Int? {
    let position = head.load(ordering: .relaxed)
    if position == tail.load(ordering: .acquiring) { return nil }
    let value = slots[position % slots.count].exchange(0, ordering: .acquiringAndReleasing)
    head.store(position + 1, ordering: .releasing)
    return value
  }
}

/// A list of free slots whose head has a count beside it, so that it is never the same twice.
final class FreeList: Sendable {
  private let head = Atomic(WordPair(first: 1, second: 0))
  private let nexts = [0, 2, 3, 0].map { Atomic<UInt>($0) }
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  /// 0 when there is none.
  func take() -> Int {
    var seen = head.load(ordering: .acquiring)
    while seen.first != 0 {
      let next = nexts[Int(seen.first)].load(ordering: .relaxed)
      let (isTaken, now) = head.weakCompareExchange(
        expected: seen, desired: WordPair(first: next, second: seen.second + (isBroken ? 0 : 1)),
        successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
      if isTaken { return Int(seen.first) }
      seen = now
    }
    return 0
  }

  func give(_ slot: Int) {
    var seen = head.load(ordering: .relaxed)
    while true {
      nexts[slot].store(seen.first, ordering: .relaxed)
      let (isGiven, now) = head.compareExchange(
        expected: seen,
        desired: WordPair(first: UInt(slot), second: seen.second + (isBroken ? 0 : 1)),
        ordering: .sequentiallyConsistent)
      if isGiven { return }
      seen = now
    }
  }
}

/// Counts what happens; who finds the lock taken keeps it for later.
final class LazyCounter: Sendable {
  private let count = Mutex(0)
  private let kept = Atomic(0)
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func add() {
    let isAdded: Void? = count.withLockIfAvailable { $0 += 1 }
    if isAdded != nil { return }
    if isBroken {
      kept.store(kept.load(ordering: .relaxed) + 1, ordering: .relaxed)
    } else {
      kept.wrappingAdd(1, ordering: .relaxed)
    }
  }

  var total: Int { count.withLock { $0 } + kept.load(ordering: .relaxed) }
}

/// A thread of its own class that works until it is told to end.
final class Pump: Thread, @unchecked Sendable {
  // @unchecked: the counts are atomic.
  private let items = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)
  private let isBroken: Bool
  private let asked = Atomic(0)
  let done = Atomic(0)

  init(isBroken: Bool) {
    self.isBroken = isBroken
    super.init()
    name = "pump"
    stackSize = 1 << 20
    qualityOfService = .utility
  }

  override func main() {
    while true {
      items.wait()
      if isCancelled { break }
      done.add(1)
    }
    // The mistake: what came before the end is left.
    while !isBroken && done.load() < asked.load() { done.add(1) }
    hasEnded.signal()
  }

  func put() {
    asked.add(1)
    items.signal()
  }

  func end() {
    cancel()
    items.signal()
    hasEnded.wait()
  }
}

/// Work that is put off until nobody has asked for a while.
final class Saver: @unchecked Sendable {
  // @unchecked: all is touched in the queue, but for the mistake.
  private let queue = DispatchQueue(label: "saver")
  private let saves = Atomic(0)
  private var planned: DispatchWorkItem?
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func ask() {
    queue.async { [self] in
      if !isBroken { planned?.cancel() }
      let item = DispatchWorkItem { [self] in saves.add(1) }
      planned = item
      queue.asyncAfter(deadline: .now() + .milliseconds(50), execute: item)
    }
  }

  func count(after milliseconds: Int) -> Int {
    let group = DispatchGroup()
    group.enter()
    queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { group.leave() }
    group.wait()
    return saves.load()
  }
}
