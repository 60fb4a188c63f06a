// Programs of tasks and actors as people write them. They need no import of this package at all,
// but for the locks. `isBroken` plants what they are known for.
import RaceHunt

/// Loads each value once.
actor ValueCache {
  private var tasks: [Int: Task<Int, Never>] = [:]
  private var values: [Int: Int] = [:]
  private(set) var loads = 0
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  private func load(_ key: Int) async -> Int {
    loads += 1
    await Task.yield()
    return key * key
  }

  func value(_ key: Int) async -> Int {
    if let known = values[key] { return known }
    if isBroken {
      // Others come in while this waits.
      let made = await load(key)
      values[key] = made
      return made
    }
    if let running = tasks[key] { return await running.value }
    let task = Task { await load(key) }
    tasks[key] = task
    let made = await task.value
    values[key] = made
    tasks[key] = nil
    return made
  }
}

/// Lets so many tasks in at once.
actor AsyncSemaphore {
  private var count: Int
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private let isBroken: Bool

  init(_ count: Int, isBroken: Bool) {
    self.count = count
    self.isBroken = isBroken
  }

  func wait() async {
    if count > 0 {
      count -= 1
      return
    }
    await withCheckedContinuation { waiters.append($0) }
  }

  func signal() {
    if isBroken {
      // Who waits is let in, and the next one, too.
      count += 1
      if !waiters.isEmpty { waiters.removeFirst().resume() }
    } else if waiters.isEmpty {
      count += 1
    } else {
      waiters.removeFirst().resume()
    }
  }
}

/// Waits for an event; a task that is cancelled stops waiting.
final class Event: Sendable {
  private enum State {
    case pending(CheckedContinuation<Bool, Never>?)
    case over
  }

  private let state = Mutex<State>(.pending(nil))
  private let isBroken: Bool

  init(isBroken: Bool) { self.isBroken = isBroken }

  /// True for the event, false when the task was cancelled before.
  func wait() async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if isBroken {
          // Forgets that the end may have come before.
          state.withLock { $0 = .pending(continuation) }
          return
        }
        let isOver = state.withLock { state in
          if case .over = state { return true }
          state = .pending(continuation)
          return false
        }
        if isOver { continuation.resume(returning: !Task.isCancelled) }
      }
    } onCancel: {
      end(false)
    }
  }

  func happen() { end(true) }

  private func end(_ hasHappened: Bool) {
    let waiting = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      defer { state = .over }
      if case .pending(let waiting) = state { return waiting }
      return nil
    }
    waiting?.resume(returning: hasHappened)
  }
}

/// Squares of numbers, by a producer, workers and a consumer.
func pipeline(_ count: Int, isBroken: Bool) async -> [Int] {
  let (numbers, input) = AsyncStream.makeStream(of: Int.self)
  let (squares, output) = AsyncStream.makeStream(of: Int.self)
  return await withTaskGroup(of: [Int].self) { group in
    group.addTask {
      for number in 1...count { input.yield(number) }
      input.finish()
      return []
    }
    group.addTask {
      if isBroken {
        // Ends the output when the input has ended, not when its work has.
        for await number in numbers { Task { output.yield(number * number) } }
      } else {
        for await number in numbers { output.yield(number * number) }
      }
      output.finish()
      return []
    }
    group.addTask {
      var seen: [Int] = []
      for await square in squares { seen.append(square) }
      return seen
    }
    var all: [Int] = []
    for await part in group { all += part }
    return all
  }
}
