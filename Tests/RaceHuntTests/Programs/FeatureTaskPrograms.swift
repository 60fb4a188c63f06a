// Programs of structured and unstructured tasks, streams, task-local values and executors, each
// with what it is known for. `isBroken` plants that.
import RaceHunt

/// Values of a sensor as a stream, which ends when nobody listens any more.
final class Sensor: Sendable {
  private struct State {
    var listeners: [Int: AsyncStream<Int>.Continuation] = [:]
    var last = 0
  }

  private let state = Mutex(State())
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func values() -> AsyncStream<Int> {
    AsyncStream(bufferingPolicy: .bufferingNewest(10)) { continuation in
      let number = state.withLock { state in
        state.last += 1
        state.listeners[state.last] = continuation
        return state.last
      }
      continuation.onTermination = { [self] _ in
        if !isBroken { state.withLock { $0.listeners[number] = nil } }
      }
    }
  }

  func send(_ value: Int) {
    let listeners = state.withLock { $0.listeners }
    for number in listeners.keys.sorted() { listeners[number]?.yield(value) }
  }

  var listenerCount: Int { state.withLock { $0.listeners.count } }
}

/// Files that are kept all together or not at all.
actor Archive {
  private(set) var files: [String] = []
  func add(_ file: String) { files.append(file) }
  func addAll(_ new: [String]) { files += new }
}

struct Unreachable: Error {}

func fetch(_ name: String) async throws -> String {
  try await Task.sleep(for: .milliseconds(random(below: 2)))
  if name == "bad" { throw Unreachable() }
  return name
}

func download(_ names: [String], into archive: Archive, isBroken: Bool) async throws {
  try await withThrowingTaskGroup(of: String.self) { group in
    for name in names {
      group.addTask {
        let file = try await fetch(name)
        if isBroken { await archive.add(file) }
        return file
      }
    }
    var files: [String] = []
    for try await file in group { files.append(file) }
    if !isBroken { await archive.addAll(files.sorted()) }
  }
}

/// Pictures that are loaded once, whoever asks for them meanwhile.
actor PictureCache {
  private var pictures: [String: Int] = [:]
  private var loading: [String: Task<Int, Never>] = [:]
  private(set) var loads = 0
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  private func load(_ name: String) async -> Int {
    loads += 1
    await Task.yield()
    return name.count
  }

  func picture(_ name: String) async -> Int {
    if let known = pictures[name] { return known }
    if isBroken {
      let made = await load(name)
      pictures[name] = made
      return made
    }
    if let task = loading[name] { return await task.value }
    let task = Task { await load(name) }
    loading[name] = task
    let made = await task.value
    pictures[name] = made
    loading[name] = nil
    return made
  }
}

enum Request {
  @TaskLocal static var number = 0
}

/// What the log says of two requests that run at once.
func logRequests(isBroken: Bool) async -> [Int] {
  let log = Mutex<[Int]>([])
  final class Current: Sendable { let number = Atomic(0) }
  // The mistake: a variable for all of them.
  let current = Current()
  await withTaskGroup(of: Void.self) { group in
    for number in 1...2 {
      group.addTask {
        current.number.store(number)
        await Request.$number.withValue(number) {
          let inner = Task {
            await Task.yield()
            let seen = isBroken ? current.number.load() : Request.number
            log.withLock { $0.append(seen) }
          }
          await inner.value
        }
      }
    }
  }
  return log.withLock { $0.sorted() }
}

/// Runs the work, or throws when it takes too long; what it has begun is ended in both cases.
func withTimeout<Value: Sendable>(
  _ time: Duration, isBroken: Bool, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  if isBroken {
    // Nobody waits for the work that is too late.
    let answer = Mutex<CheckedContinuation<Value, any Error>?>(nil)
    return try await withCheckedThrowingContinuation { continuation in
      answer.withLock { $0 = continuation }
      Task {
        let result = try await work()
        answer.withLock { $0.take() }?.resume(returning: result)
      }
      Task {
        try await Task.sleep(for: time)
        answer.withLock { $0.take() }?.resume(throwing: CancellationError())
      }
    }
  }
  return try await withThrowingTaskGroup(of: Value.self) { group in
    group.addTask { try await work() }
    group.addTask {
      try await Task.sleep(for: time)
      throw CancellationError()
    }
    defer { group.cancelAll() }
    return try await group.next()!
  }
}

@globalActor actor Trade {
  static let shared = Trade()
}

/// A shop in a global actor.
@Trade final class Shop {
  private(set) var stock = 1
  private let isBroken: Bool

  nonisolated init(isBroken: Bool) { self.isBroken = isBroken }

  var isInStock: Bool { stock > 0 }
  private func take() { stock -= 1 }

  nonisolated func buy() async -> Bool {
    if isBroken {
      guard await isInStock else { return false }
      await Task.yield()
      await take()
      return true
    }
    return await buyAtOnce()
  }

  private func buyAtOnce() -> Bool {
    guard isInStock else { return false }
    take()
    return true
  }
}

/// An actor whose work a thread of the program does.
final class ThreadExecutor: SerialExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    var isStopped = false
  }

  private let state = Mutex(State())
  private let hasChanged = Condition()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.jobs.append(job) }
    hasChanged.notifyOne()
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  func run() {
    while true {
      state.lock()
      while state.value.jobs.isEmpty && !state.value.isStopped { hasChanged.wait(state) }
      let job = state.value.jobs.isEmpty ? nil : state.value.jobs.removeFirst()
      state.unlock()
      guard let job else { return }
      job.runSynchronously(on: asUnownedSerialExecutor())
    }
  }

  func stop() {
    state.withLock { $0.isStopped = true }
    hasChanged.notifyAll()
  }
}

/// An actor whose work a queue does.
final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "executor")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }
}

actor CountingActor {
  nonisolated let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  private(set) var count = 0

  init(_ executor: any SerialExecutor) { self.executor = executor }

  func add() { count += 1 }
  func set(_ count: Int) { self.count = count }
}

/// Two tasks that count in an actor with an executor of its own.
func count(_ counter: CountingActor, isBroken: Bool) async -> Int {
  await withTaskGroup(of: Void.self) { group in
    for _ in 1...2 {
      group.addTask {
        if isBroken {
          let seen = await counter.count
          await Task.yield()
          await counter.set(seen + 1)
        } else {
          await counter.add()
        }
      }
    }
  }
  return await counter.count
}

/// Looks after something every second until it is told to stop.
@MainActor final class Poller {
  private(set) var polls = 0
  private var task: Task<Void, Never>?
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func start() {
    task = Task {
      let clock = ContinuousClock()
      var next = clock.now + .seconds(1)
      while !Task.isCancelled {
        try? await clock.sleep(until: next, tolerance: .milliseconds(100))
        // The mistake: a sleep that was cancelled is taken for one that has ended.
        if !isBroken && Task.isCancelled { return }
        polls += 1
        next += .seconds(1)
      }
    }
  }

  func stop() -> Int {
    task?.cancel()
    return polls
  }

  func settle() async { await task?.value }
}

/// Takes values of a stream that fails in the end.
func lastValues(isBroken: Bool) async -> [Int] {
  let (stream, input) = AsyncThrowingStream.makeStream(of: Int.self, throwing: (any Error).self)
  let producer = Task.detached(priority: .high) {
    input.yield(1)
    await Task.yield()
    input.yield(2)
    input.finish(throwing: Unreachable())
  }
  let consumer = Task(priority: .low) {
    var seen: [Int] = []
    do { for try await value in stream { seen.append(value) } } catch { seen.append(-1) }
    return seen
  }
  if isBroken {
    // Ends it although the producer may not have sent all.
    await Task.yield()
    input.finish()
  }
  await producer.value
  return await consumer.value
}
