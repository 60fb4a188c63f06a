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
  static let lock = NSLock()
  static let value: Int = lock.withLock { 1 }
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
      failure(strategy: .depthFirst(preemptions: 0)) {
        Crossed.lock.withLock {
          let other = Thread.start(name: "other") { check(Crossed.value == 1) }
          Thread.yield()
          check(Crossed.value == 1)
          other.join()
        }
      })
    // Each run that ends here leaves the global as it was.
    #expect(found.kind == .deadlock, "\(found)")
    #expect(found.reason.contains("waits for global 1, held by"), "\(found)")
  }
}
