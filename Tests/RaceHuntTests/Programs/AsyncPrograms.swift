// Programs of tasks as people write them, with what goes wrong when they are cancelled, sleep or
// wait for a callback. `isBroken` plants what they are known for.
import RaceHunt

/// Lets so many tasks in at once; who is cancelled stops waiting.
final class CancellableSemaphore: Sendable {
  private struct State {
    var free: Int
    var last = 0
    var waiters: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    var cancelled: Set<Int> = []
  }

  private let state: Mutex<State>
  private let isBroken: Bool

  init(_ free: Int, isBroken: Bool) {
    state = Mutex(State(free: free))
    self.isBroken = isBroken
  }

  /// False when the task was cancelled before it was let in.
  func wait() async -> Bool {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Bool? in
          if state.cancelled.remove(number) != nil { return false }
          if state.free > 0 {
            state.free -= 1
            return true
          }
          state.waiters.append((number, continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
        if let place = state.waiters.firstIndex(where: { $0.number == number }) {
          return state.waiters.remove(at: place).continuation
        }
        // It may not have begun to wait yet.
        if !isBroken { state.cancelled.insert(number) }
        return nil
      }
      waiter?.resume(returning: false)
    }
  }

  func signal() {
    let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      if state.waiters.isEmpty {
        state.free += 1
        return nil
      }
      return state.waiters.removeFirst().continuation
    }
    waiter?.resume(returning: true)
  }
}

/// Does something when nobody has asked again for a second.
@MainActor final class Debouncer {
  private var task: Task<Void, Never>?
  private(set) var runs = 0
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  func ask() {
    task?.cancel()
    task = Task {
      if isBroken {
        // An end by cancellation looks like the end of the time.
        try? await Task.sleep(for: .seconds(1))
        runs += 1
      } else if (try? await Task.sleep(for: .seconds(1))) != nil {
        runs += 1
      }
    }
  }

  func settle() async { await task?.value }
}

/// Connections that have to be closed.
actor Connections {
  private(set) var open = 0
  func begin() { open += 1 }
  func end() { open -= 1 }
}

/// The first answer of two servers.
func fastest(_ connections: Connections, isBroken: Bool) async throws -> Int {
  try await withThrowingTaskGroup(of: Int.self) { group in
    for server in 1...2 {
      group.addTask {
        await connections.begin()
        do {
          try await Task.sleep(for: .milliseconds(Int(random(below: 3))))
        } catch {
          if !isBroken { await connections.end() }
          throw error
        }
        await connections.end()
        return server
      }
    }
    let first = try await group.next()!
    group.cancelAll()
    while let _ = await group.nextResult() {}
    return first
  }
}

/// What a screen shows of the newest search.
@MainActor final class SearchScreen {
  private(set) var shown = ""
  private var newest = 0
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  nonisolated private func answer(_ text: String) async -> String {
    await Task.yield()
    return "results for \(text)"
  }

  func search(_ text: String) -> Task<Void, Never> {
    newest += 1
    let number = newest
    return Task {
      let answer = await answer(text)
      // The answer of an older search may come later.
      if isBroken || number == newest { shown = answer }
    }
  }
}

/// The sum of what producers send, through a stream of so many places.
func sumOfStream(isBroken: Bool) async -> Int {
  let (stream, input) = AsyncStream.makeStream(
    of: Int.self, bufferingPolicy: isBroken ? .bufferingNewest(1) : .unbounded)
  let consumer = Task {
    var sum = 0
    for await number in stream { sum += number }
    return sum
  }
  await withTaskGroup(of: Void.self) { group in
    for number in 1...3 {
      group.addTask {
        await Task.yield()
        input.yield(number)
      }
    }
  }
  input.finish()
  return await consumer.value
}

/// Waits for the callback of one who works in a queue.
func answerOfCallback(_ number: Int, isBroken: Bool) async -> Int {
  final class Worker: @unchecked Sendable {
    // @unchecked: touched in the queue, but for the mistake.
    let queue = DispatchQueue(label: "worker")
    let result = Atomic(0)
    func start(_ number: Int, isBroken: Bool, _ done: @escaping @Sendable (Int) -> Void) {
      if isBroken {
        queue.async { [self] in result.store(number * 2) }
        done(result.load())
      } else {
        queue.async { [self] in
          result.store(number * 2)
          done(result.load())
        }
      }
    }
  }
  let worker = Worker()
  return await withCheckedContinuation { continuation in
    worker.start(number, isBroken: isBroken) { continuation.resume(returning: $0) }
  }
}

/// Money moves between accounts; nobody else may see it on its way.
actor Bank {
  private var balances = [100, 0]
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  private func note(_ text: String) async { await Task.yield() }

  func transfer(_ amount: Int) async {
    if isBroken {
      guard balances[0] >= amount else { return }
      // Another transfer may come in here.
      await note("moves \(amount)")
      balances[0] -= amount
    } else {
      await note("moves \(amount)")
      guard balances[0] >= amount else { return }
      balances[0] -= amount
    }
    balances[1] += amount
  }

  var lowest: Int { balances.min()! }
}
