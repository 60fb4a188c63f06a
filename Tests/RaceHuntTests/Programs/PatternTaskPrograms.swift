// Structures of tasks, actors, streams and observations as they stand in many programs, each with
// the mistake that it is known for. `isBroken` plants that.
import Observation
import RaceHunt

/// What a screen shows.
@MainActor @Observable final class Thermometer {
  var degrees = 0
}

/// The values that one who observes has seen until the last one.
@MainActor func observedDegrees(upTo last: Int) async -> [Int] {
  let thermometer = Thermometer()
  let watcher = Task {
    var seen: [Int] = []
    for await degrees in Observations({ thermometer.degrees }) {
      seen.append(degrees)
      if degrees == last { break }
    }
    return seen
  }
  for degrees in 1...last {
    thermometer.degrees = degrees
    await Task.yield()
  }
  return await watcher.value
}

/// Whether each of the tasks that a group has taken was done, though somebody cancels meanwhile.
func asksAndDeeds(isBroken: Bool) async -> (asked: Int, done: Int) {
  let (asked, done) = (Atomic(0), Atomic(0))
  let work = Task {
    await withTaskGroup(of: Void.self) { group in
      let isFirstTaken = group.addTaskUnlessCancelled { done.add(1) }
      let isSecondTaken = group.addTaskUnlessCancelled { done.add(1) }
      if isFirstTaken { asked.add(1) }
      // The mistake: what was so for the first one need not be so for the next one.
      if isBroken ? isFirstTaken : isSecondTaken { asked.add(1) }
    }
  }
  let thread = Thread { work.cancel() }
  thread.start()
  await work.value
  thread.join()
  return (asked.load(), done.load())
}

nonisolated(nonsending) func pauseHere() async { await Task.yield() }

/// Counts with a pause in between, in which others come to the actor.
actor Meter {
  private(set) var count = 0
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func add() async {
    let seen = count
    if isBroken { await pauseHere() }
    count = seen + 1
    await pauseHere()
  }
}

/// The priority that a task has noted, of which it hears by a handler.
func notedPriority(isBroken: Bool) async -> UInt8 {
  let (noted, isRaised) = (Atomic<UInt8>(0), Atomic(false))
  let task = Task(name: "work", priority: .low) {
    // The mistake: what comes before the handler is not told to it.
    if isBroken { noted.max(Task.currentPriority.rawValue) }
    await withTaskPriorityEscalationHandler {
      if !isBroken { noted.max(Task.currentPriority.rawValue) }
      while !isRaised.load() { await Task.yield() }
    } onPriorityEscalated: { _, now in
      noted.max(now.rawValue)
    }
  }
  let thread = Thread {
    task.escalatePriority(to: .high)
    isRaised.store(true)
  }
  thread.start()
  await task.value
  thread.join()
  return noted.load()
}

/// The values of two sequences as they come.
struct Merged<First: AsyncSequence & Sendable, Second: AsyncSequence & Sendable>: AsyncSequence
where
  First.Element == Second.Element, First.Element: Sendable, First.Failure == Never,
  Second.Failure == Never, First.AsyncIterator: SendableMetatype,
  Second.AsyncIterator: SendableMetatype
{
  typealias Element = First.Element

  let first: First
  let second: Second
  let isBroken: Bool

  func makeAsyncIterator() -> AsyncStream<Element>.Iterator {
    let (first, second, isBroken) = (self.first, self.second, self.isBroken)
    let stream = AsyncStream<Element> { continuation in
      let task = Task {
        await withTaskGroup(of: Void.self) { group in
          group.addTask {
            for await value in first { continuation.yield(value) }
            // The mistake: the other one may have more.
            if isBroken { continuation.finish() }
          }
          group.addTask { for await value in second { continuation.yield(value) } }
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
    return stream.makeAsyncIterator()
  }
}

/// Counts from one number to another one, with pauses.
struct Countdown: AsyncSequence, Sendable {
  let start: Int

  struct Iterator: AsyncIteratorProtocol {
    var left: Int
    mutating func next() async -> Int? {
      await Task.yield()
      guard left > 0 else { return nil }
      defer { left -= 1 }
      return left
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(left: start) }
}

/// Values that are handed from one task to another one, each when both are there.
actor Handover<Element: Sendable> {
  private var senders: [(value: Element, waiting: CheckedContinuation<Void, Never>)] = []
  private var receivers: [CheckedContinuation<Element?, Never>] = []
  private var isClosed = false
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func send(_ value: Element) async {
    if isClosed { return }
    if !receivers.isEmpty { return receivers.removeFirst().resume(returning: value) }
    await withCheckedContinuation { senders.append((value, $0)) }
  }

  func receive() async -> Element? {
    if !senders.isEmpty {
      let sender = senders.removeFirst()
      sender.waiting.resume()
      return sender.value
    }
    return isClosed ? nil : await withCheckedContinuation { receivers.append($0) }
  }

  func close() {
    isClosed = true
    for receiver in receivers { receiver.resume(returning: nil) }
    receivers = []
    // The mistake: those who send would wait for ever.
    if isBroken { return }
    for sender in senders { sender.waiting.resume() }
    senders = []
  }
}

/// Connections that are lent, and those who wait for one.
actor ConnectionPool {
  private var idle: [Int]
  private var waiting: [CheckedContinuation<Int, Never>] = []
  private let isBroken: Bool

  init(_ connections: [Int], isBroken: Bool) {
    idle = connections
    self.isBroken = isBroken
  }

  private func take() async -> Int {
    if let connection = idle.popLast() { return connection }
    return await withCheckedContinuation { waiting.append($0) }
  }

  private func give(_ connection: Int) {
    // The mistake: it is idle, and somebody has it.
    if waiting.isEmpty || isBroken { idle.append(connection) }
    if !waiting.isEmpty { waiting.removeFirst().resume(returning: connection) }
  }

  nonisolated func with<Result: Sendable>(
    _ body: @Sendable (Int) async -> Result
  ) async -> Result {
    let connection = await take()
    let result = await body(connection)
    await give(connection)
    return result
  }
}

/// Lets one pass every 100 ms.
actor PaceMaker {
  private let clock = ContinuousClock()
  private var next = ContinuousClock.now
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func wait() async throws {
    if isBroken {
      // The mistake: several may wait for the same time.
      try await clock.sleep(until: next)
      next = clock.now + .milliseconds(100)
    } else {
      let turn = max(next, clock.now)
      next = turn + .milliseconds(100)
      try await clock.sleep(until: turn)
    }
  }
}

/// A download that can be stopped from anywhere.
final class StoppableDownload: Sendable {
  private struct State {
    var task: Task<Bool, Never>?
    var waiting: CheckedContinuation<Bool, Never>?
    var isStopped = false
  }

  private let state = Mutex(State())
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  /// Whether it was stopped.
  func start() -> Task<Bool, Never> {
    let task = Task {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let isStopped = state.withLock { state in
            if !state.isStopped { state.waiting = continuation }
            return state.isStopped
          }
          if isStopped { continuation.resume(returning: true) }
        }
      } onCancel: {
        let waiting = state.withLock { state in
          state.isStopped = true
          return state.waiting.take()
        }
        waiting?.resume(returning: true)
      }
    }
    state.withLock { $0.task = task }
    return task
  }

  func stop() {
    // The mistake: the handler is called here, and needs the lock.
    if isBroken {
      state.withLock { state in if let task = state.task { task.cancel() } }
    } else {
      state.withLock { $0.task }?.cancel()
    }
  }
}

/// The first even values of a stream, ten times as large.
func evenValues(isBroken: Bool) async -> [Int] {
  // The mistake: what is not taken in time is gone.
  let (stream, input) = AsyncStream.makeStream(
    of: Int.self, bufferingPolicy: isBroken ? .bufferingNewest(2) : .unbounded)
  let producer = Task {
    for value in 1...4 { input.yield(value) }
    input.finish()
  }
  var seen: [Int] = []
  for await value in stream.filter({ $0 % 2 == 0 }).map({ $0 * 10 }).prefix(2) {
    seen.append(value)
  }
  await producer.value
  return seen
}

/// Two children that begin at once, in their parent's step.
func immediateSum(isBroken: Bool) async -> Int {
  let word = Atomic(0)
  await withTaskGroup(of: Void.self) { group in
    for _ in 1...2 {
      group.addImmediateTask {
        let seen = word.load()
        if isBroken {
          await Task.yield()
          word.store(seen + 1)
        } else {
          word.add(1)
          await Task.yield()
        }
      }
    }
  }
  return word.load()
}

/// Does what was asked for last, once in a while.
@MainActor final class Throttle {
  private(set) var done: [Int] = []
  private var isPaused = false
  private var latest: Int?
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func ask(_ number: Int) async {
    latest = number
    if isPaused {
      // The mistake: nobody does what comes in the pause.
      if isBroken { latest = nil }
      return
    }
    isPaused = true
    while let next = latest {
      latest = nil
      done.append(next)
      try? await Task.sleep(for: .milliseconds(50))
    }
    isPaused = false
  }
}
