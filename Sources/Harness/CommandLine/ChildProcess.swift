// A process of this tool that a verb has started and waits for: it is told when the user has
// enough, and may then keep what it has.
internal import Foundation
internal import Glibc
internal import Platform

/// A run, or another verb, in a process of its own.
struct ChildProcess {
  /// How it has ended.
  struct Ending {
    var code: ExitCode
    /// What it said on standard error, where that is gathered.
    var errors: String
    /// As `wait` of the kernel has it: the code, or the number of the signal.
    var status: Int32
    /// The signal that has ended it, if one has.
    var signal: Int32? = nil
    /// Whether it was told to end.
    var isToldToEnd: Bool
    /// Whether it had not ended by itself when its time was over.
    var isLate = false
  }

  private let process: Process
  /// What it says on standard error, once all has been read; nil where it goes on to ours.
  private let errors: Monitor<Data?>?

  /// Starts it.
  ///
  /// - Parameters:
  ///   - isSilent: nothing that it prints is shown; errors are gathered.
  ///   - showsOutput: whether what it prints on standard output goes on to ours, otherwise.
  ///   - environment: what it has in its environment, beside ours.
  /// - Throws: `ExecutableFailure` when it cannot be started.
  init(
    _ executable: String, _ arguments: [String], isSilent: Bool, showsOutput: Bool = true,
    environment: [String: String] = [:]
  ) throws {
    do throws(SystemError) { try ProcessStart.check(toStart: executable) } catch {
      throw Self.notStarted(executable, error)
    }
    process = Process()
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = arguments
    process.environment = Parent.environmentOfChild.merging(environment) { $1 }
    let pipe = isSilent ? Pipe() : nil
    if !showsOutput { process.standardOutput = FileHandle.nullDevice }
    if let pipe {
      process.standardOutput = FileHandle.nullDevice
      process.standardError = pipe
    }
    do {
      try process.start()
    } catch {
      throw Self.notStarted(executable, error)
    }
    guard let pipe else {
      errors = nil
      return
    }
    let gathered = Monitor<Data?>(nil)
    errors = gathered
    let reading = pipe.fileHandleForReading
    let thread = Thread.startIfPossible(name: "errors of a child") {
      let data = reading.readDataToEndOfFile()
      gathered.withLock { $0 = data }
      gathered.notifyAll()
    }
    guard let thread else {
      // The child counts, too, and may have been the last one that the limit has room for.
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      throw Self.notStarted(executable, ProcessStart.noThread(for: executable))
    }
    thread.detach()
  }

  private static func notStarted(_ executable: String, _ error: any Error) -> ExecutableFailure {
    ExecutableFailure(
      message: "cannot start '\(executable)': \(error.explanation)", code: .failed)
  }

  var isRunning: Bool { process.isRunning }

  /// Whether somebody has stopped it (SIGSTOP), so that it does nothing until it is told to go on.
  var isStopped: Bool {
    guard let text = textOfFile("/proc/\(process.processIdentifier)/stat") else { return false }
    // Behind the name, which may hold anything.
    return text.split(separator: ")").last?.hasPrefix(" T ") == true
  }

  /// Tells it to end, and to keep what it has.
  func tell() {
    kill(process.processIdentifier, SIGTERM)
    // Who is stopped hears of nothing else.
    kill(process.processIdentifier, SIGCONT)
  }

  /// Ends it at once.
  func end() { kill(process.processIdentifier, SIGKILL) }

  /// With which code it has ended, if it has by itself.
  var exitCode: ExitCode? {
    guard !process.isRunning, process.terminationReason == .exit else { return nil }
    return ExitCode(rawValue: process.terminationStatus)
  }

  /// Waits for its end, and tells it to end when the user has enough.
  ///
  /// A program of somebody else's may not hear that: it hangs, or is a script that has started the
  /// one that runs.
  /// - Parameters:
  ///   - limit: after how many nanoseconds it is told to end; nil for none.
  ///   - patience: how many nanoseconds it has from then on before it is ended, with all that it
  ///     has started and that is in its group; nil for ever.
  func wait(
    _ interruption: any Interruption, limit: UInt64? = nil, patience: UInt64? = nil
  ) -> Ending {
    let clock = MonotonicClock()
    let start = clock.nanoseconds()
    var (isTold, isLate) = (false, false)
    var told: UInt64?
    while process.isRunning {
      let now = clock.nanoseconds()
      if told == nil {
        isTold = interruption.isRequested()
        isLate = !isTold && limit.map { now - start > $0 } ?? false
        if isTold || isLate {
          told = now
          if patience != nil { kill(-process.processIdentifier, SIGTERM) }
          tell()
        }
      } else if let patience, let told, now - told > patience {
        // Also again: a process may just have been started.
        kill(-process.processIdentifier, SIGKILL)
        end()
      }
      sleep(nanoseconds: 5_000_000)
    }
    var ending = ending(isTold: isTold)
    ending.isLate = isLate
    return ending
  }

  /// How it has ended; waits for that.
  func ending(isTold: Bool = false) -> Ending {
    process.waitUntilExit()
    // Its own children may hold the pipe for longer than it lives.
    _ = errors?.wait(nanoseconds: 1_000_000_000) { $0 != nil }
    let text = errors?.withLock { $0 }.map { String(decoding: $0, as: UTF8.self) } ?? ""
    let code =
      process.terminationReason == .exit
      ? ExitCode(rawValue: process.terminationStatus) ?? .failed : .failed
    return Ending(
      code: code, errors: text.trimmingCharacters(in: .whitespacesAndNewlines),
      status: process.terminationStatus,
      signal: process.terminationReason == .exit ? nil : process.terminationStatus,
      isToldToEnd: isTold)
  }
}
