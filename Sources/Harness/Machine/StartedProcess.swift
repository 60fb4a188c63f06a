// A process that this one has started. The kernel is asked for its end by its number: Foundation
// hears of one from a thread and a run loop of its own, and waits without end where the system has
// no memory, thread or descriptor to give for them.
internal import Foundation
internal import Glibc
internal import Platform

/// A process that was started here, in a group of its own.
///
/// Signals go to it only as long as its end has not been asked for, so that its number is that of
/// nobody else.
final class StartedProcess: Sendable {
  /// How it has ended.
  enum End: Equatable, Sendable {
    case code(Int32)
    case signal(Int32)
  }

  /// Where what it prints goes.
  enum Stream: Sendable {
    case ours, nowhere
    /// Kept here, without a thread that reads: whoever asks whether it runs takes what there is.
    case gathered
  }

  private struct State {
    var end: End?
    var output = Gathered()
    var errors = Gathered()
  }

  let identifier: pid_t
  private let state: Monitor<State>

  /// Starts it.
  ///
  /// - Parameters:
  ///   - hasInput: whether it reads our standard input.
  ///   - environment: what it has in its environment, beside ours.
  /// - Throws: `SystemError` when it cannot be started.
  init(
    _ executable: String, _ arguments: [String], hasInput: Bool = true, output: Stream = .ours,
    errors: Stream = .ours, environment: [String: String] = [:]
  ) throws(SystemError) {
    // Ends of children that nobody wants to hear of are not kept by the kernel.
    signal(SIGCHLD, SIG_DFL)
    var state = State()
    var written: [Int32] = []
    defer { for descriptor in written where descriptor >= 0 { close(descriptor) } }
    do throws(SystemError) {
      written.append(try state.output.open(output, executable))
      written.append(try state.errors.open(errors, executable))
      identifier = try Self.spawn(
        executable, arguments, hasInput: hasInput, streams: [output, errors], written,
        ProcessInfo.processInfo.environment.merging(environment) { $1 })
    } catch {
      state.output.close()
      state.errors.close()
      throw error
    }
    self.state = Monitor(state)
  }

  private static func spawn(
    _ executable: String, _ arguments: [String], hasInput: Bool, streams: [Stream],
    _ written: [Int32], _ environment: [String: String]
  ) throws(SystemError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    // A signal of the terminal is for us, who tell it.
    posix_spawnattr_setpgroup(&attributes, 0)
    // It inherits neither the signals that this process blocks, by which it is told to end, nor
    // those that this process has chosen to ignore (`Console`).
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    sigaddset(&signals, SIGXFSZ)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    if !hasInput {
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    for (position, stream) in streams.enumerated() {
      let descriptor = STDOUT_FILENO + Int32(position)
      switch stream {
      case .ours: break
      case .nowhere:
        posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
      case .gathered: posix_spawn_file_actions_adddup2(&actions, written[position], descriptor)
      }
    }
    // Not all that is open here closes by itself. One that has gone meanwhile does no harm.
    for name in (try? FileCalls.names(in: "/proc/self/fd")) ?? [] {
      guard let descriptor = Int32(name), descriptor > STDERR_FILENO else { continue }
      posix_spawn_file_actions_addclose(&actions, descriptor)
    }
    var words = ([executable] + arguments).map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var identifier: pid_t = 0
    var tries = 0
    while true {
      let code = posix_spawn(&identifier, executable, &actions, &attributes, &words, &variables)
      if code == 0 { return identifier }
      // Somebody has it open for writing still: also a process that is just being started, and has
      // inherited that from whoever has written it.
      tries += 1
      guard code == ETXTBSY, tries < 100 else {
        throw SystemError(call: startCall, path: executable, code: code)
      }
      sleep(nanoseconds: 10_000_000)
    }
  }

  deinit {
    state.withLock { state in
      state.output.close()
      state.errors.close()
    }
  }

  private static let startCall = "start"

  /// What is missing, in words that say what to do; nil of other errors.
  static func words(_ error: SystemError) -> String? {
    guard error.call == startCall, [EAGAIN, ENOMEM].contains(error.code) else { return nil }
    return "the system has no more processes to give, or no memory for one (see 'ulimit -u' and "
      + "'ulimit -v')"
  }

  // MARK: - Its end

  /// How it has ended; nil as long as it runs.
  var end: End? {
    state.withLock { state in
      if state.end == nil {
        var status: Int32 = 0
        let found = waitpid(identifier, &status, WNOHANG)
        if found == identifier {
          state.end = status & 0x7f == 0 ? .code(status >> 8 & 0xff) : .signal(status & 0x7f)
        } else if found < 0 && errno != EINTR {
          // Somebody else has asked for its end: nobody knows it any more.
          state.end = .code(ExitCode.failed.rawValue)
        }
      }
      // After the question: what it has written before its end is there.
      state.output.take()
      state.errors.take()
      return state.end
    }
  }

  var isRunning: Bool { end == nil }

  /// Waits for its end, but not for longer than so many nanoseconds; nil when it goes on.
  ///
  /// It sleeps in between, shortly at first: the kernel wakes nobody at the end of one of several
  /// children without a signal or a descriptor, which other threads may have taken.
  func wait(nanoseconds: UInt64) -> End? {
    let clock = MonotonicClock()
    let start = clock.nanoseconds()
    var pause: UInt64 = 100_000
    while true {
      if let end { return end }
      guard clock.nanoseconds() - start < nanoseconds else { return nil }
      sleep(nanoseconds: pause)
      pause = min(pause * 2, 5_000_000)
    }
  }

  /// Sends it a signal, if it runs; its whole group, where it is asked for.
  func send(_ number: Int32, toGroup: Bool = false) {
    guard isRunning else { return }
    state.withLock { state in
      if state.end == nil { _ = kill(toGroup ? -identifier : identifier, number) }
    }
  }

  /// Ends it at once, and waits until it has gone; for some seconds, if the kernel keeps it.
  func stop() {
    send(SIGKILL)
    _ = wait(nanoseconds: 10_000_000_000)
  }

  // MARK: - Those that go on without us

  /// Programs of others, that do not end by themselves when this process does.
  private static let foreign = Monitor<[pid_t: StartedProcess]>([:])

  /// Waits for a program of others, which is noted as one as long as that takes.
  func asForeign<Result>(_ wait: () -> Result) -> Result {
    Self.foreign.withLock { $0[identifier] = self }
    defer { Self.foreign.withLock { _ = $0.removeValue(forKey: identifier) } }
    return wait()
  }

  /// Ends programs of others at once, with all that is in their groups.
  static func endForeign() {
    for process in foreign.withLock({ Array($0.values) }) { process.send(SIGKILL, toGroup: true) }
  }

  // MARK: - What it has printed

  /// On standard output, until it was asked for last.
  var output: String { state.withLock { $0.output.text } }
  var errors: String { state.withLock { $0.errors.text } }

  /// One of its streams, as far as it has come.
  private struct Gathered {
    private var reading: Int32 = -1
    private var bytes: [UInt8] = []

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Makes a pipe, if it is to be gathered; returns the end that is written to, or -1.
    mutating func open(
      _ stream: Stream, _ executable: String
    ) throws(SystemError) -> Int32 {
      guard case .gathered = stream else { return -1 }
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else {
        throw SystemError(call: "pipe", path: executable, code: errno)
      }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
      reading = ends[0]
      return ends[1]
    }

    /// Takes what is there: its own children may hold the other end for longer than it lives.
    mutating func take() {
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while reading >= 0 {
        let count = read(reading, &buffer, buffer.count)
        if count > 0 {
          bytes += buffer[..<count]
        } else if count == 0 {
          close()
        } else if errno != EINTR {
          return
        }
      }
    }

    mutating func close() {
      if reading >= 0 { _ = Glibc.close(reading) }
      reading = -1
    }
  }
}
