// Globals and static properties, which are made when they are first used, once a process.
import RaceHunt
import TestSupport
import Testing

private final class Settings: @unchecked Sendable {
  static let shared = Settings()
  private let values = Mutex<[String: Int]>([:], name: "values")
  private let reads = NSLock()

  private init() {
    reads.withLock { set("a", random(below: 1) + 1) }
    set("b", 2)
  }

  func set(_ key: String, _ value: Int) { values.withLock { $0[key] = value } }
  func get(_ key: String) -> Int? { reads.withLock { values.withLock { $0[key] } } }
}

/// Needs a lock that its users have, too.
private enum Crossed {
  static let lock = Mutex(0, name: "the lock")
  static let value: Int = lock.withLock { $0 + 1 }
}

@Suite(.ownThreads) struct GlobalTests {
  @Test func aSingletonThatLocksWhileItIsMadeIsSound() throws {
    try explore(iterations: 200) {
      let threads = (0..<2).map { number in
        Thread.start(name: "user \(number)") {
          check(Settings.shared.get("a") == 1)
          check(Settings.shared.get("b") == 2)
        }
      }
      for thread in threads { thread.join() }
    }
  }

  @Test func whoNeedsAGlobalThatWaitsIsSeenToWait() throws {
    let found = try #require(
      failure(strategy: .exhaustive) {
        let first = Thread.start(name: "first") { check(Crossed.value == 1) }
        let second = Thread.start(name: "second") {
          Crossed.lock.withLock { _ in check(Crossed.value == 1) }
        }
        first.join()
        second.join()
      })
    // Each run that ends here leaves the global as it was.
    #expect(found.kind == .deadlock, "\(found)")
    #expect(found.reason.contains("waits for global 1, held by"), "\(found)")
  }
}
