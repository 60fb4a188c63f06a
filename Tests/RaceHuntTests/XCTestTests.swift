// Exploring in XCTest.
import RaceHunt
import RaceHuntXCTest
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

/// Assertions in explored programs.
final class ExploredTestCaseTests: ExploredTestCase {
  private static let loses: Program = {
    let word = RaceHunt.Atomic(0, name: "word")
    let threads = (1...2).map { _ in RaceHunt.Thread.start { word.store(word.load() + 1) } }
    for thread in threads { thread.join() }
    XCTAssertEqual(word.load(), 2, "an update is lost")
  }

  /// Each schedule failed the test anew, without its steps, and `explore` passed.
  func testAnAssertionFailsTheSchedule() throws {
    try XCTAssertThrowsError(try explore(iterations: 500, Self.loses)) { error in
      guard let failure = error as? RaceFailure else { return XCTFail("\(error)") }
      XCTAssertTrue(failure.reason.contains("an update is lost"), failure.reason)
      XCTAssertTrue(failure.reason.hasPrefix("XCTestTests.swift:"), failure.reason)
      XCTAssertTrue(failure.table.contains("stores word"), failure.table)
      XCTAssertThrowsError(try replay(failure.schedule, Self.loses)) { again in
        XCTAssertEqual((again as? RaceFailure)?.reason, failure.reason)
      }
    }
  }

  func testWhatHoldsPasses() throws {
    try explore(iterations: 100) {
      let word = RaceHunt.Atomic(0)
      RaceHunt.Thread.start { word.add(1) }.join()
      XCTAssertEqual(word.load(), 1)
    }
  }
}
