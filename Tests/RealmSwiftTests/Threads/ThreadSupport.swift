// What the tests of queues and actors share.
import Dispatch
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

/// Something that happens once, on any thread, and is waited for.
final class Event: Sendable {
  private let count = Monitor(0)

  func happen() {
    count.withLock { $0 += 1 }
    count.notifyAll()
  }

  /// Blocks until it has happened so often; false when that takes ten minutes.
  ///
  /// So long, because under the thread sanitizer other tests keep the few threads of tasks for minutes.
  @discardableResult
  func wait(_ times: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) -> Bool {
    let hasHappened = count.wait(nanoseconds: 600_000_000_000) { $0 >= times }
    #expect(hasHappened, "waited in vain", sourceLocation: sourceLocation)
    return hasHappened
  }

  var times: Int { count.withLock { $0 } }

  /// Suspends until it has happened.
  func happened(_ times: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        self.wait(times, sourceLocation: sourceLocation)
        continuation.resume()
      }
    }
  }
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
