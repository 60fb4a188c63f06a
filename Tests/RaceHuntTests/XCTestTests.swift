// Exploring in XCTest.
import RaceHunt
import XCTest

final class XCTestTests: XCTestCase {
  func testSynchronously() throws {
    let result = try explore(iterations: 50) {
      let word = RaceHunt.Atomic(0)
      let thread = RaceHunt.Thread { word.add(1, ordering: .relaxed) }
      thread.start()
      thread.join()
      check(word.load(ordering: .relaxed) == 1, "the thread has not run")
    }
    XCTAssertEqual(result.schedules, 50)
  }

  func testAsynchronously() async throws {
    do {
      try await explore {
        let word = RaceHunt.Atomic(0)
        async let first: Void = word.store(word.load() + 1)
        async let second: Void = word.store(word.load() + 1)
        _ = await (first, second)
        check(word.load() == 2, "an update is lost")
      }
      XCTFail("no failure")
    } catch {
      XCTAssertEqual(error.reason, "an update is lost")
    }
  }
}
