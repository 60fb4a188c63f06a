// Where text goes: results to standard output, progress and warnings to standard error. Colour and
// the progress bar only on a terminal, unless asked for. A stream that takes no more (a reader that
// has gone away, a full disk, a closed terminal) costs what is shown, never the work: the verb goes
// on, and the tool ends with 1 and says where the results are.
internal import Foundation
internal import Glibc
internal import Platform

/// The two streams of the tool; replaced by collectors in tests.
package final class Console: Sendable {
  /// A stream that took no more.
  package struct Loss: Equatable, Sendable {
    package let stream: String
    package let reason: String
    /// Whether a pipe has lost its reader.
    package let isReaderGone: Bool
  }

  private struct State {
    var losses: [Loss] = []
    var kept: String?
  }

  private let output: @Sendable (String) -> Int32
  private let errors: @Sendable (String) -> Int32
  private let state = Monitor(State())
  /// Whether standard error is a terminal on which a line can be drawn over.
  package let isTerminal: Bool
  private let width: @Sendable () -> Int

  /// How many columns the terminal has now: whoever draws asks each time, so that a change of its
  /// size counts at once.
  package var columns: Int { width() }

  /// - Parameters:
  ///   - columns: the width of the terminal, now.
  ///   - output: writes results; 0, or why it could not (`errno`).
  ///   - errors: the same for progress and warnings.
  package init(
    isTerminal: Bool, columns: @escaping @Sendable () -> Int = { 80 },
    writingOutput output: @escaping @Sendable (String) -> Int32,
    writingErrors errors: @escaping @Sendable (String) -> Int32
  ) {
    self.isTerminal = isTerminal
    width = columns
    self.output = output
    self.errors = errors
  }

  /// With streams that take everything.
  package convenience init(
    isTerminal: Bool, columns: @escaping @Sendable () -> Int = { 80 },
    output: @escaping @Sendable (String) -> Void, errors: @escaping @Sendable (String) -> Void
  ) {
    self.init(
      isTerminal: isTerminal, columns: columns,
      writingOutput: { text in
        output(text)
        return 0
      },
      writingErrors: { text in
        errors(text)
        return 0
      })
  }

  /// The process's own streams.
  ///
  /// Call it first of all. Signals that end a process for what it writes are errors of the writing
  /// from then on, and streams that are closed are taken, so that no file gets their numbers.
  package static func standard() -> Console {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is this one. Nothing can be written there.
      _ = open("/dev/null", O_RDONLY)
    }
    return Console(
      isTerminal: isatty(STDERR_FILENO) == 1 && Self.canDraw(getenv("TERM").map(text)),
      columns: terminalColumns,
      writingOutput: { Self.write($0, to: STDOUT_FILENO) },
      writingErrors: { Self.write($0, to: STDERR_FILENO) })
  }

  private static func text(_ bytes: UnsafeMutablePointer<CChar>) -> String {
    String(cString: bytes)
  }

  /// Whether a terminal of this kind knows how to go back in a line.
  package static func canDraw(_ term: String?) -> Bool {
    guard let term else { return false }
    return !["", "dumb", "unknown"].contains(term)
  }

  /// As the terminal says, else as `COLUMNS` does.
  private static func terminalColumns() -> Int {
    var size = winsize()
    if ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
      return Int(size.ws_col)
    }
    return getenv("COLUMNS").flatMap { Int(text($0)) } ?? 80
  }

  private static func write(_ text: String, to descriptor: Int32) -> Int32 {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written > 0 {
        bytes = bytes.dropFirst(written)
        continue
      }
      switch written == 0 ? ENOSPC : errno {
      case EINTR: break
      case EAGAIN:
        // Another process has made the stream one that does not wait.
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&room, 1, -1)
      case let code: return code
      }
    }
    return 0
  }

  private func write(
    _ text: String, _ stream: String, _ writer: @Sendable (String) -> Int32
  ) {
    // With a hole in it the text would say something else.
    if state.withLock({ $0.losses.contains { $0.stream == stream } }) { return }
    let code = writer(text)
    guard code != 0 else { return }
    let reason = code == EBADF ? "it is closed" : String(cString: strerror(code))
    let loss = Loss(stream: stream, reason: reason, isReaderGone: code == EPIPE)
    state.withLock { $0.losses.append(loss) }
  }

  private func show(_ text: String) { write(text, "standard output", output) }
  private func tell(_ text: String) { write(text, "standard error", errors) }

  /// A line of results.
  package func print(_ line: String) { show(line + "\n") }
  /// Text of results as it is.
  package func printRaw(_ text: String) { show(text) }
  /// A line of progress or warning.
  package func note(_ line: String) { tell(line + "\n") }
  package func noteRaw(_ text: String) { tell(text) }

  /// The same with results on standard error: for what is told as one text of JSON at its end.
  func withResultsAsNotes() -> Console {
    Console(
      isTerminal: isTerminal, columns: width,
      output: { self.tell($0) }, errors: { self.tell($0) })
  }

  // MARK: - What could not be shown

  /// Where the work stands in files, to be told if it cannot be shown.
  package func keeps(_ path: String) { state.withLock { $0.kept = path } }

  /// The streams that took no more.
  package var losses: [Loss] { state.withLock { $0.losses } }

  /// The code to end with, after what could not be shown is told on the stream that is left.
  package func end(with code: ExitCode) -> ExitCode {
    guard let loss = losses.first else { return code }
    let kept = state.withLock { $0.kept }.map { "; the results are in \($0)" }
    // Who reads the first lines alone (`head`, a pager) has what was wanted, and knows of it.
    if !loss.isReaderGone || kept != nil {
      // On standard error only: who reads results by a program does not want it there.
      note(
        "\(Tool.current.name): not everything could be shown, because \(loss.stream) took no more "
          + "(\(loss.reason))\(kept ?? "")")
    }
    return code == .success || code == .inconclusive ? .failed : code
  }
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
    case .auto:
      // An empty one says nothing, as https://no-color.org has it.
      console.isTerminal && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
    }
  }

  /// Draws the bar, at most five times a second.
  package func show(_ phase: String, fraction: Double, _ text: String) {
    guard choices.showsProgress, console.isTerminal else { return }
    let now = clock.nanoseconds()
    guard now >= lastShown + 200_000_000 || fraction >= 1 else { return }
    lastShown = now
    let line = Self.line(phase, fraction: fraction, text, columns: console.columns)
    console.noteRaw("\r\u{1B}[K\(colored(line.name, 36))\(line.rest)")
    isShown = true
  }

  /// What fits into one line: the bar gets shorter first, then the text.
  ///
  /// The last column stays free: terminals go on in the next line from there.
  package static func line(
    _ phase: String, fraction: Double, _ text: String, columns: Int
  ) -> (name: String, rest: String) {
    let room = max(1, columns - 1)
    let name = phase.padding(toLength: max(8, phase.count), withPad: " ", startingAt: 0)
    let share = min(max(fraction, 0), 1)
    let left = room - name.count - 3
    let width = min(24, max(0, left - text.count))
    if width >= 8 || left >= 20 {
      let width = max(8, width)
      let filled = Int((share * Double(width)).rounded())
      let bar =
        String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
      return (name, String("[\(bar)] \(text)".prefix(room - name.count)))
    }
    let short = "\(phase) \(Int(share * 100))%"
    if short.count <= room {
      return (phase, String(" \(Int(share * 100))% \(text)".prefix(room - phase.count)))
    }
    return (String(phase.prefix(room)), "")
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
