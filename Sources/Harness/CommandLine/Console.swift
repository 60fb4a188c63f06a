// Where text goes: results to standard output, progress and warnings to standard error. Colour and
// the progress bar only on a terminal, unless asked for.
internal import Foundation
internal import Glibc
internal import Platform

/// The two streams of the tool; replaced by collectors in tests.
package final class Console: Sendable {
  private let output: @Sendable (String) -> Void
  private let errors: @Sendable (String) -> Void
  package let isTerminal: Bool

  package init(
    isTerminal: Bool, output: @escaping @Sendable (String) -> Void,
    errors: @escaping @Sendable (String) -> Void
  ) {
    self.isTerminal = isTerminal
    self.output = output
    self.errors = errors
  }

  /// The process's own streams.
  package static func standard() -> Console {
    Console(
      isTerminal: isatty(STDERR_FILENO) == 1,
      output: { Self.write($0, to: STDOUT_FILENO) }, errors: { Self.write($0, to: STDERR_FILENO) })
  }

  private static func write(_ text: String, to descriptor: Int32) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0 && errno == EINTR { continue }
      if written <= 0 { return }
      bytes = bytes.dropFirst(written)
    }
  }

  /// A line of results.
  package func print(_ line: String) { output(line + "\n") }
  /// Text of results as it is.
  package func printRaw(_ text: String) { output(text) }
  /// A line of progress or warning.
  package func note(_ line: String) { errors(line + "\n") }
  package func noteRaw(_ text: String) { errors(text) }
}

/// Shows how a run goes: a bar on a terminal, nothing elsewhere.
package final class ProgressLine {
  private let console: Console
  private let choices: OutputChoices
  private let clock = MonotonicClock()
  private var lastShown: UInt64 = 0
  private var isShown = false

  package init(_ console: Console, _ choices: OutputChoices) {
    self.console = console
    self.choices = choices
  }

  private var usesColor: Bool {
    switch choices.color {
    case .always: true
    case .never: false
    case .auto: console.isTerminal && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
    }
  }

  /// Draws the bar, at most five times a second.
  package func show(_ phase: String, fraction: Double, _ text: String) {
    guard choices.showsProgress, console.isTerminal else { return }
    let now = clock.nanoseconds()
    guard now >= lastShown + 200_000_000 || fraction >= 1 else { return }
    lastShown = now
    let width = 24
    let filled = Int((min(max(fraction, 0), 1) * Double(width)).rounded())
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
    let name = phase.padding(toLength: 8, withPad: " ", startingAt: 0)
    console.noteRaw("\r\u{1B}[K\(colored(name, 36))[\(bar)] \(text)")
    isShown = true
  }

  /// Takes the bar away.
  package func clear() {
    if isShown { console.noteRaw("\r\u{1B}[K") }
    isShown = false
  }

  /// A step of the run, for logs without a terminal too.
  package func step(_ text: String) {
    guard choices.showsProgress else { return }
    clear()
    console.note(text)
  }

  package func warn(_ text: String) {
    guard !choices.isQuiet else { return }
    clear()
    console.note(colored("warning: ", 33) + text)
  }

  /// What ends the run badly; shown even when quiet.
  package func fail(_ text: String) {
    clear()
    console.note(colored("error: ", 31) + text)
  }

  private func colored(_ text: String, _ code: Int) -> String {
    usesColor ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}

/// Whether the user wants the run to end early.
package protocol Interruption: Sendable {
  func isRequested() -> Bool
}

/// Ctrl-C and SIGTERM.
///
/// While it watches, the first signal asks the run to stop; a second one, when the results take
/// long to write, ends the process as usual.
package final class SignalInterruption: Interruption {
  private let requested = Monitor(false)

  /// Blocks the signals for this thread and every thread started after.
  package init() {
    var signals = Self.signals()
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  package func isRequested() -> Bool {
    if requested.withLock({ $0 }) { return true }
    var signals = Self.signals()
    var none = timespec()
    guard sigtimedwait(&signals, nil, &none) > 0 else { return false }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    requested.withLock { $0 = true }
    return true
  }

  private static func signals() -> sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    return signals
  }
}
