// What is logged, and how much of it.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct LoggerTests {
  @Test func levelsAreOrdered() {
    #expect(
      LogLevel.allCases == [.off, .fatal, .error, .warn, .info, .detail, .debug, .trace, .all])
    #expect(LogLevel.allCases == LogLevel.allCases.sorted())
  }

  @Test func aLevelCanBeChanged() {
    let logger = Logger(level: .warn) { _, _ in }
    #expect(logger.level == .warn)
    logger.level = .trace
    #expect(logger.level == .trace)
  }

  @Test func openingIsLogged() async {
    // In a process of its own: the logger is global.
    await #expect(processExitsWith: .success) {
      let lines = Monitor<[String]>([])
      let logger = Logger(level: .info) { level, message in
        lines.withLock { $0.append("\(level) \(message)") }
      }
      Logger.shared = logger
      #expect(Logger.shared === logger)
      func open(_ level: LogLevel) throws -> [String] {
        logger.level = level
        lines.withLock { $0 = [] }
        _ = try memoryRealm([Dog.self])
        return lines.withLock { $0 }
      }
      #expect(try open(.off).isEmpty)
      #expect(try open(.info).isEmpty)
      let details = try open(.detail)
      #expect(details.contains { $0.hasPrefix("detail ") && $0.contains("Details DB:") })
      #expect(!details.contains { $0.contains("Trace DB:") })
      let everything = try open(.all)
      #expect(everything.contains { $0.contains("Details DB:") })
      #expect(everything.contains { $0.hasPrefix("trace ") && $0.contains("Trace DB:") })
    }
  }
}
