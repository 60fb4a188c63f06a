// Test cases of XCTest whose assertions fail the schedule in which they do not hold. A module of
// its own, so that RaceHunt does not need XCTest.
internal import RaceHunt
public import XCTest

/// A test case whose assertions are seen by `explore`.
///
/// In an explored program a failed `XCTAssert` fails the schedule, as `check` does: its steps are
/// shown, made fewer and can be repeated, and the test fails once, by the error that
/// `explore` throws. Elsewhere assertions are those of `XCTestCase`.
open class ExploredTestCase: XCTestCase {
  open override func recordFailure(
    withDescription description: String, inFile filePath: String, atLine lineNumber: Int,
    expected: Bool
  ) {
    let file = filePath.split(separator: "/").last.map(String.init) ?? filePath
    if Failures.note("\(file):\(lineNumber): \(description)") { return }
    super.recordFailure(
      withDescription: description, inFile: filePath, atLine: lineNumber, expected: expected)
  }
}
