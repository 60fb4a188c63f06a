// What the tests of queues and actors share.
import Dispatch
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

/// Something that happens once or several times, on any thread, and is waited for.
final class Event: Sendable {
  private struct State {
    var times = 0
    /// Tasks that are suspended until it has happened so often.
    var tasks: [(times: Int, continuation: CheckedContinuation<Bool, Never>, number: Int)] = []
    var lastNumber = 0
  }

  private let state = Monitor(State())

  func happen() {
    let reached = state.withLock { state in
      state.times += 1
      let reached = state.tasks.filter { $0.times <= state.times }
      state.tasks.removeAll { $0.times <= state.times }
      return reached
    }
    state.notifyAll()
    for task in reached { task.continuation.resume(returning: true) }
  }

  /// Blocks until it has happened so often; false when that takes ten minutes.
  ///
  /// So long, because under the thread sanitizer other tests keep the few threads of tasks for
  /// minutes.
  @discardableResult
  func wait(_ times: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) -> Bool {
    let hasHappened = state.wait(nanoseconds: Self.limitNanoseconds) { $0.times >= times }
    #expect(hasHappened, "waited in vain", sourceLocation: sourceLocation)
    return hasHappened
  }

  private static let limitNanoseconds = waitLimitNanoseconds

  var times: Int { state.withLock { $0.times } }

  /// Suspends until it has happened; holds no thread meanwhile, as many tests wait at the same
  /// time.
  func happened(_ times: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async {
    let hasHappened = await withCheckedContinuation { continuation in
      let number = state.withLock { state -> Int? in
        if state.times >= times { return nil }
        state.lastNumber += 1
        state.tasks.append((times, continuation, state.lastNumber))
        return state.lastNumber
      }
      guard let number else { return continuation.resume(returning: true) }
      DispatchQueue.global().asyncAfter(
        deadline: .now() + .nanoseconds(Int(Self.limitNanoseconds))
      ) { [weak self] in self?.giveUp(number) }
    }
    #expect(hasHappened, "waited in vain", sourceLocation: sourceLocation)
  }

  private func giveUp(_ number: Int) {
    let late = state.withLock { state in
      defer { state.tasks.removeAll { $0.number == number } }
      return state.tasks.first { $0.number == number }
    }
    late?.continuation.resume(returning: false)
  }
}

/// Runs the run loop of this thread until something has happened in it.
func runLoop(
  until isDone: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) {
  let hasHappened = eventually {
    if isDone() { return true }
    _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.02))
    return isDone()
  }
  #expect(hasHappened, "waited in vain", sourceLocation: sourceLocation)
}

/// A list that several threads append to.
final class Log: Sendable {
  private let lines = Monitor<[String]>([])
  func add(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
}

extension DispatchQueue {
  /// Runs a body as a block of its own and waits for it; a body that throws fails the test.
  func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      async {
        do { continuation.resume(returning: try body()) } catch {
          fatalError("a block of a test has thrown \(error)")
        }
      }
    }
  }
}

/// Blocks of one queue that share a Realm between them.
final class QueueRealm: @unchecked Sendable {
  // @unchecked: the Realm is touched only by blocks of the queue.
  let queue = DispatchQueue(label: "realm queue")
  let configuration: Realm.Configuration
  var realm: Realm!

  init(_ configuration: Realm.Configuration) async {
    self.configuration = configuration
    await run { $0.realm = try Realm(configuration: configuration, queue: $0.queue) }
  }

  @discardableResult
  func run<Value: Sendable>(_ body: @escaping @Sendable (QueueRealm) throws -> Value) async
    -> Value
  { await queue.run { try body(self) } }
}

/// Opens without `await`, also in asynchronous functions, where Swift prefers the other form.
func openRealm(_ configuration: Realm.Configuration) throws -> Realm {
  try Realm(configuration: configuration)
}
