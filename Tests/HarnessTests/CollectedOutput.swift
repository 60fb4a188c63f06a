// What surrounds a run in tests: what it prints, and when it is told to stop.
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
}
