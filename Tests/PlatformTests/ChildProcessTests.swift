// What tests expect of the processes that they start.
import Foundation
import TestSupport
import Testing

@Suite(.ownThreads) struct ChildProcessTests {
  /// swift-backtrace has kept whole test runs waiting.
  @Test func aStoppedChildMakesNoBacktrace() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { fatalError("on purpose") }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("on purpose"))
    #expect(!text.contains("Program crashed"), "\(text)")
  }

  /// The setting is one of children, and does not overrule a caller's.
  @Test func childrenInheritTheSetting() throws {
    #expect(ProcessInfo.processInfo.environment["SWIFT_BACKTRACE"] != nil)
  }
}
