// The terminal: keys one by one, the size, and its old settings at the end, however that comes.
import Dispatch
import Foundation

/// How many lines and columns there are; 0 where that is not known.
struct TerminalSize: Equatable {
  var lines = 0
  var columns = 0
}

@MainActor
enum Terminal {
  private static var original = termios()
  /// Through which signals come to the main queue.
  // nonisolated(unsafe): written once, before there is a handler that reads it.
  private nonisolated(unsafe) static var signalPipe: Int32 = -1
  private static var sources: [any DispatchSourceProtocol] = []
  /// The first bytes of a character whose others are still to come.
  private static var incomplete: [UInt8] = []

  /// Gives keys to `press` until that says that it was the last one, and has the screen drawn at
  /// first and when the terminal gets another size.
  static func run(
    _ press: @escaping @MainActor (String) -> Bool,
    draw: @escaping @MainActor (TerminalSize) -> Void
  ) -> Never {
    tcgetattr(STDIN_FILENO, &original)
    let keys = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .main)
    on(keys) {
      guard let keys = pressed(), keys.allSatisfy(press) else { end() }
      draw(size())
    }
    var pipe: [Int32] = [0, 0]
    Foundation.pipe(&pipe)
    signalPipe = pipe[1]
    on(DispatchSource.makeReadSource(fileDescriptor: pipe[0], queue: .main)) {
      var number: UInt8 = 0
      _ = read(pipe[0], &number, 1)
      if Int32(number) == SIGWINCH { draw(size()) } else { end() }
    }
    for number in [SIGINT, SIGTERM, SIGHUP, SIGWINCH] {
      signal(number) { number in
        var number = UInt8(number)
        _ = write(Terminal.signalPipe, &number, 1)
      }
    }
    var settings = original
    // Keys come one by one, and are not echoed.
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    draw(size())
    dispatchMain()
  }

  private static func on(
    _ source: some DispatchSourceProtocol, _ body: @escaping @MainActor () -> Void
  ) {
    source.setEventHandler { MainActor.assumeIsolated(body) }
    source.resume()
    sources.append(source)
  }

  private static func end() -> Never {
    tcsetattr(STDIN_FILENO, TCSANOW, &original)
    print()
    exit(0)
  }

  /// What was pressed, a text a key; nil when nothing can come any more.
  private static func pressed() -> [String]? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(STDIN_FILENO, &bytes, bytes.count)
    if count <= 0 { return nil }
    bytes = incomplete + bytes.prefix(count)
    // Keys without a character of their own are an escape, a bracket and a letter.
    let last = bytes.lastIndex { $0 & 0b1100_0000 != 0b1000_0000 } ?? 0
    let length = max(1, (~bytes[last]).leadingZeroBitCount)
    let isComplete = bytes.count - last >= length || length > 4
    incomplete = isComplete ? [] : Array(bytes[last...])
    let characters = Array(
      String(decoding: isComplete ? bytes[...] : bytes[..<last], as: UTF8.self))
    var keys: [String] = []
    var next = 0
    while next < characters.count {
      let isSequence =
        characters[next] == "\u{1b}" && next + 2 < characters.count && characters[next + 1] == "["
      keys.append(String(characters[next..<next + (isSequence ? 3 : 1)]))
      next += isSequence ? 3 : 1
    }
    return keys
  }

  private static func size() -> TerminalSize {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 else { return TerminalSize() }
    return TerminalSize(lines: Int(size.ws_row), columns: Int(size.ws_col))
  }
}
