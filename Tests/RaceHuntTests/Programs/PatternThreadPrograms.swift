// Structures of words, locks and queues as they stand in many libraries, each with the mistake that
// it is known for. `isBroken` plants that.
import RaceHunt

/// A pair that is read without a lock: who reads looks again when somebody has written meanwhile.
final class SequenceLock: Sendable {
  private let sequence = Atomic(0)
  private let values = (0..<2).map { _ in Atomic(0) }
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func write(_ value: Int) {
    sequence.wrappingAdd(1, ordering: .acquiringAndReleasing)
    for word in values { word.store(value, ordering: .relaxed) }
    sequence.wrappingAdd(1, ordering: .releasing)
  }

  func read() -> [Int] {
    while true {
      let before = sequence.load(ordering: .acquiring)
      let seen = values.map { $0.load(ordering: .relaxed) }
      atomicMemoryFence(ordering: .acquiring)
      // The mistake: nobody looks behind the reading.
      let after = isBroken ? before : sequence.load(ordering: .relaxed)
      if before % 2 == 0 && before == after { return seen }
      Thread.yield()
    }
  }
}

/// A lock that is given in the order of the asking.
final class TicketLock: Sendable {
  private let (next, serving) = (Atomic(0), Atomic(0))
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func withLock(_ body: () -> Void) {
    let ticket = next.load(ordering: .relaxed)
    if isBroken {
      next.store(ticket + 1, ordering: .relaxed)
      wait(for: ticket)
    } else {
      wait(for: next.wrappingAdd(1, ordering: .relaxed).oldValue)
    }
    body()
    serving.wrappingAdd(1, ordering: .releasing)
  }

  private func wait(for ticket: Int) {
    while serving.load(ordering: .acquiring) != ticket { Thread.yield() }
  }
}

/// A stack without locks that frees a node once nobody says that it uses it (hazard pointers).
final class HazardStack: @unchecked Sendable {
  // @unchecked: nodes are reached by words.
  final class Node: @unchecked Sendable {
    // @unchecked: as the stack.
    let value: Int
    let next = Atomic<Unmanaged<Node>?>(nil)
    /// Instead of freeing it, so that its use is seen.
    let isFreed = Atomic(false)
    init(_ value: Int) { self.value = value }
  }

  private let head = Atomic<Unmanaged<Node>?>(nil)
  private let hazards = (0..<2).map { _ in Atomic<Unmanaged<Node>?>(nil) }
  private let nodes = Mutex<[Node]>([])
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func push(_ value: Int) {
    let node = Node(value)
    nodes.withLock { $0.append(node) }
    let new = Unmanaged.passUnretained(node)
    var isPushed = false
    while !isPushed {
      let seen = head.load(ordering: .relaxed)
      node.next.store(seen, ordering: .relaxed)
      isPushed =
        head.weakCompareExchange(expected: seen, desired: new, ordering: .releasing).exchanged
    }
  }

  func pop(_ thread: Int) -> Int? {
    defer { hazards[thread].store(nil, ordering: .releasing) }
    while let seen = head.load(ordering: .acquiring) {
      hazards[thread].store(seen)
      // The mistake: it may have been freed before it was said that it is used.
      if !isBroken && head.load()?.toOpaque() != seen.toOpaque() { continue }
      let node = seen.takeUnretainedValue()
      check(!node.isFreed.load(ordering: .relaxed), "a node is used that was freed")
      let next = node.next.load(ordering: .relaxed)
      let (isTaken, _) = head.compareExchange(
        expected: seen, desired: next, ordering: .acquiringAndReleasing)
      guard isTaken else { continue }
      hazards[thread].store(nil)
      let isUsed = hazards.contains { $0.load()?.toOpaque() == seen.toOpaque() }
      if !isUsed { node.isFreed.store(true, ordering: .relaxed) }
      return node.value
    }
    return nil
  }
}

/// A ring for several senders and receivers, with a number for each slot that says whose it is.
final class NumberedRing: Sendable {
  private let numbers: [Atomic<Int>]
  private let values: [Atomic<Int>]
  private let (head, tail) = (Atomic(0), Atomic(0))
  private let isBroken: Bool

  init(capacity: Int, isBroken: Bool) {
    numbers = (0..<capacity).map { Atomic($0) }
    values = (0..<capacity).map { _ in Atomic(0) }
    self.isBroken = isBroken
  }

  func send(_ value: Int) -> Bool {
    var position = tail.load(ordering: .relaxed)
    while true {
      let slot = position % numbers.count
      let ahead = numbers[slot].load(ordering: .acquiring) - position
      if ahead < 0 { return false }
      guard ahead == 0 else {
        position = tail.load(ordering: .relaxed)
        continue
      }
      let (isMine, now) = tail.weakCompareExchange(
        expected: position, desired: position + 1, ordering: .relaxed)
      guard isMine else {
        position = now
        continue
      }
      // The mistake: the slot is said to be full before it is.
      if isBroken { numbers[slot].store(position + 1, ordering: .releasing) }
      values[slot].store(value, ordering: .relaxed)
      if !isBroken { numbers[slot].store(position + 1, ordering: .releasing) }
      return true
    }
  }

  func receive() -> Int? {
    var position = head.load(ordering: .relaxed)
    while true {
      let slot = position % numbers.count
      let ahead = numbers[slot].load(ordering: .acquiring) - (position + 1)
      if ahead < 0 { return nil }
      guard ahead == 0 else {
        position = head.load(ordering: .relaxed)
        continue
      }
      let (isMine, now) = head.weakCompareExchange(
        expected: position, desired: position + 1, ordering: .relaxed)
      guard isMine else {
        position = now
        continue
      }
      let value = values[slot].exchange(0, ordering: .relaxed)
      numbers[slot].store(position + numbers.count, ordering: .releasing)
      return value
    }
  }
}

/// Threads with a queue each; who has nothing to do takes from another one's.
final class StealingPool: @unchecked Sendable {
  // @unchecked: the queues are touched with the condition's lock, the threads by who starts.
  private let condition = NSCondition()
  private var queues: [[@Sendable () -> Void]]
  private var isStopped = false
  private var threads: [Thread] = []
  private let isBroken: Bool

  init(_ count: Int, isBroken: Bool) {
    queues = Array(repeating: [], count: count)
    self.isBroken = isBroken
  }

  func start() {
    threads = queues.indices.map { number in Thread { [self] in work(number) } }
    for thread in threads { thread.start() }
  }

  func add(to number: Int, _ job: @escaping @Sendable () -> Void) {
    condition.withLock {
      queues[number].append(job)
      condition.signal()
    }
  }

  func stop() {
    condition.withLock {
      isStopped = true
      condition.broadcast()
    }
    for thread in threads { thread.join() }
  }

  private func work(_ number: Int) { while let job = next(number) { job() } }

  private func next(_ number: Int) -> (@Sendable () -> Void)? {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if !queues[number].isEmpty { return queues[number].removeFirst() }
      // The mistake: the signal may wake one who does not take from others.
      if !isBroken, let other = queues.indices.first(where: { !queues[$0].isEmpty }) {
        return queues[other].removeLast()
      }
      if isStopped { return nil }
      condition.wait()
    }
  }
}

/// Asks somebody who may be late, for so long.
final class ImpatientClient: Sendable {
  private let (answer, hasAnswer) = (Atomic(0), DispatchSemaphore(value: 0))
  private let server = DispatchQueue(label: "server")
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func ask(_ number: Int) -> Int? {
    // The mistake: one place for all answers, to which one that is late comes, too.
    let answer = isBroken ? self.answer : Atomic(0)
    let hasAnswer = isBroken ? self.hasAnswer : DispatchSemaphore(value: 0)
    server.async {
      Thread.sleep(forTimeInterval: 0.004)
      answer.store(number)
      hasAnswer.signal()
    }
    let result = hasAnswer.wait(timeout: .now() + .milliseconds(5))
    return result == .success ? answer.load() : nil
  }
}

/// A counter of a queue, whose functions call each other there.
final class QueueCounter: @unchecked Sendable {
  // @unchecked: keys are constants.
  private let queue: DispatchQueue
  private let key = DispatchSpecificKey<Bool>()
  private let count = Atomic(0)
  private let isBroken: Bool

  init(_ queue: DispatchQueue, isBroken: Bool) {
    self.queue = queue
    self.isBroken = isBroken
    queue.setSpecific(key: key, value: true)
  }

  private func perform<Result>(_ body: () -> Result) -> Result {
    DispatchQueue.getSpecific(key: key) == true ? body() : queue.sync(execute: body)
  }

  var value: Int { perform { count.load() } }

  func add() {
    if isBroken {
      let next = value + 1
      perform { count.store(next) }
    } else {
      perform { count.store(value + 1) }
    }
  }
}

/// Work that is done later unless somebody calls it off: whether one look has told which.
func lateWork(isBroken: Bool) -> Bool {
  let (isDone, isOver) = (Atomic(false), DispatchSemaphore(value: 0))
  let queue = DispatchQueue(label: "later")
  let item = DispatchWorkItem { isDone.store(true) }
  let group = DispatchGroup()
  item.notify(queue: .global()) { isOver.signal() }
  queue.async(group: group, execute: item)
  group.notify(queue: queue) { isOver.signal() }
  item.cancel()
  func waitForBoth() { for _ in 1...2 { isOver.wait() } }
  // The mistake: what has begun is not called off.
  if !isBroken { waitForBoth() }
  let wasDone = isDone.load()
  if isBroken { waitForBoth() }
  return wasDone == isDone.load()
}

/// Who is asked first makes it, and all get that one.
final class SharedSettings: Sendable {
  final class Settings: Sendable {}
  private let reference = AtomicLazyReference<Settings>()
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func get() -> Settings {
    if let known = reference.load() { return known }
    let mine = Settings()
    let kept = reference.storeIfNil(mine)
    return isBroken ? mine : kept
  }
}

/// Something that one owner has, and that is closed once.
struct Handle: ~Copyable {
  private var number: Int
  init(_ number: Int) { self.number = number }
  var isOpen: Bool { number >= 0 }
  mutating func close() -> Bool {
    defer { number = -1 }
    return number >= 0
  }
}

final class SharedHandle: Sendable {
  private let handle = Mutex(Handle(3))
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  /// Whether it was closed by this call.
  func close() -> Bool {
    guard isBroken else { return handle.withLock { $0.close() } }
    guard handle.withLock({ $0.isOpen }) else { return false }
    _ = handle.withLock { $0.close() }
    return true
  }
}

/// Objects that live as long as somebody else has them.
final class WeakCache: Sendable {
  final class Picture: Sendable {}
  private struct Box { weak var picture: Picture? }
  private let box = Mutex(Box())
  private let hits = Atomic(0)
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func keep(_ picture: Picture) { box.withLock { $0.picture = picture } }

  /// Whether it was there, and what was got.
  func look() -> (isThere: Bool, picture: Picture?) {
    if isBroken {
      let isThere = box.withLock { $0.picture != nil }
      // The mistake: the last owner may go now.
      return (isThere, box.withLock { $0.picture })
    }
    let picture = box.withLock { $0.picture }
    hits.add(1)
    return (picture != nil, picture)
  }
}

/// Waits until somebody says by a notification that it is so.
final class Announcement: Sendable {
  private static let name = Notification.Name("is ready")
  private let center = NotificationCenter()
  private let isReady = Atomic(false)
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func announce() {
    isReady.store(true)
    center.post(name: Self.name, object: nil)
  }

  func wait() {
    let isTold = DispatchSemaphore(value: 0)
    // The mistake: it may be announced between the look and the listening.
    if isBroken && isReady.load() { return }
    let token = center.addObserver(forName: Self.name, object: nil, queue: nil) { _ in
      isTold.signal()
    }
    if isBroken || !isReady.load() { isTold.wait() }
    center.removeObserver(token)
  }
}
