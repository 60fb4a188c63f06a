// What surrounds a run in tests: what it prints, and when it is told to stop.
import Glibc
import Harness
import Platform

/// Asks for a stop when a time is over, or never.
struct TimedInterruption: Interruption {
  let deadline: UInt64
  init(afterNanoseconds: UInt64? = nil) {
    deadline = afterNanoseconds.map { MonotonicClock().nanoseconds() + $0 } ?? .max
  }
  func isRequested() -> Bool { MonotonicClock().nanoseconds() >= deadline }
}

/// Collects what a verb prints.
final class CollectedOutput: Sendable {
  private let texts = Monitor((output: "", errors: ""))
  var output: String { texts.withLock { $0.output } }
  var errors: String { texts.withLock { $0.errors } }

  func console(isTerminal: Bool = false) -> Console {
    Console(
      isTerminal: isTerminal, output: { text in self.texts.withLock { $0.output += text } },
      errors: { text in self.texts.withLock { $0.errors += text } })
  }

  /// One whose standard output takes nothing, as on a full disk.
  func consoleWithFullOutput() -> Console {
    Console(
      isTerminal: false, writingOutput: { _ in ENOSPC },
      writingErrors: { text in
        self.texts.withLock { $0.errors += text }
        return 0
      })
  }

  /// Runs a line of `run`, such as `readers-writer --ops 10`, in this process.
  func run<Driver: EngineDriver>(
    _ line: String,
    until interruption: @escaping @Sendable () -> any Interruption = { TimedInterruption() },
    _ makeDriver: @escaping @Sendable (_ path: String, DurabilityClass) throws -> Driver
  ) throws -> ExitCode {
    try RunVerb.run(
      line.split(separator: " ").map(String.init),
      RunVerb.Surroundings(
        console: console(), interruption: interruption, makeDriver: makeDriver))
  }
}
