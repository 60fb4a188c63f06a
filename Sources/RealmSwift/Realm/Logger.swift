// Where the module says what it does: one logger for the process, which programs may replace.
internal import Foundation
internal import Platform

/// How much a logger lets through; each level includes those before it.
public enum LogLevel: UInt, Sendable, Comparable, CaseIterable {
  /// Nothing.
  case off = 0
  /// What ends the process.
  case fatal
  /// What failed.
  case error
  /// What may be wrong.
  case warn
  /// What users may want to know.
  case info
  /// What is done with files.
  case detail
  /// What helps to find errors.
  case debug
  /// Each step.
  case trace
  /// Everything.
  case all

  /// Whether one level lets through less than another.
  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// Receives what the module has to say.
public final class Logger: Sendable {
  private let storedLevel: Monitor<LogLevel>
  private let logFunction: @Sendable (LogLevel, String) -> Void

  /// A logger that hands messages to a function.
  ///
  /// - Parameters:
  ///   - level: what is let through.
  ///   - logFunction: gets a message and its level, on the thread that it comes from.
  @preconcurrency
  public init(level: LogLevel, logFunction: @escaping @Sendable (LogLevel, String) -> Void) {
    storedLevel = Monitor(level)
    self.logFunction = logFunction
  }

  /// What is let through.
  public var level: LogLevel {
    get { storedLevel.withLock { $0 } }
    set { storedLevel.withLock { $0 = newValue } }
  }

  /// The logger of the process; prints to the standard error output unless replaced.
  public static var shared: Logger {
    get { storedLogger.withLock { $0 } }
    set { storedLogger.withLock { $0 = newValue } }
  }

  /// Hands a message on if the level lets it through; it is not made otherwise.
  func log(_ level: LogLevel, _ message: @autoclosure () -> String) {
    if level != .off, level <= self.level { logFunction(level, message()) }
  }
}

private let storedLogger = Monitor(
  Logger(level: .info) { level, message in
    FileHandle.standardError.write(Data("Realm \(level): \(message)\n".utf8))
  })
