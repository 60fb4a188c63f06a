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

  private let process: StartedProcess

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
    do throws(SystemError) {
      process = try StartedProcess(
        executable, arguments, output: isSilent || !showsOutput ? .nowhere : .ours,
        errors: isSilent ? .gathered : .ours,
        environment: Parent.environmentOfChild.merging(environment) { $1 })
    } catch {
      throw Self.notStarted(executable, error)
    }
  }

  private static func notStarted(_ executable: String, _ error: any Error) -> ExecutableFailure {
    ExecutableFailure(
      message: "cannot start '\(executable)': \(error.explanation)", code: .failed)
  }

  var isRunning: Bool { process.isRunning }

  /// Whether somebody has stopped it (SIGSTOP), so that it does nothing until it is told to go on.
  var isStopped: Bool {
    guard let text = textOfFile("/proc/\(process.identifier)/stat") else { return false }
    // Behind the name, which may hold anything.
    return text.split(separator: ")").last?.hasPrefix(" T ") == true
  }

  /// Tells it to end, and to keep what it has.
  func tell() {
    process.send(SIGTERM)
    // Who is stopped hears of nothing else.
    process.send(SIGCONT)
  }

  /// Stops it, with all that is in its group, until it is resumed.
  func pause() { process.send(SIGSTOP, toGroup: true) }
  func resume() { process.send(SIGCONT, toGroup: true) }

  /// Ends it at once.
  func end() { process.send(SIGKILL) }

  /// With which code it has ended, if it has by itself.
  var exitCode: ExitCode? {
    guard case .code(let code)? = process.end else { return nil }
    return ExitCode(rawValue: code)
  }

  /// Waits for its end, and tells it to end when the user has enough.
  ///
  /// A program of somebody else's may not hear that: it hangs, or is a script that has started the
  /// one that runs. With `patience` it is taken for one, and does not survive this process either
  /// when a second signal ends that.
  /// - Parameters:
  ///   - limit: after how many nanoseconds it is told to end; nil for none.
  ///   - patience: how many nanoseconds it has from then on before it is ended, with all that it
  ///     has started and that is in its group; nil for ever.
  func wait(
    _ interruption: any Interruption, limit: UInt64? = nil, patience: UInt64? = nil
  ) -> Ending {
    let wait = { waitForEnd(interruption, limit: limit, patience: patience) }
    let (isTold, isLate) = patience == nil ? wait() : process.asForeign(wait)
    var ending = ending(isTold: isTold)
    ending.isLate = isLate
    return ending
  }

  private func waitForEnd(
    _ interruption: any Interruption, limit: UInt64?, patience: UInt64?
  ) -> (isTold: Bool, isLate: Bool) {
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
          if patience != nil { process.send(SIGTERM, toGroup: true) }
          tell()
        }
      } else if let patience, let told, now - told > patience {
        // Also again: a process may just have been started.
        process.send(SIGKILL, toGroup: true)
        end()
      }
      sleep(nanoseconds: 5_000_000)
    }
    return (isTold, isLate)
  }

  /// How it has ended; waits for that where it was ended at once, but not without end.
  func ending(isTold: Bool = false) -> Ending {
    let end = process.wait(nanoseconds: Self.endingNanosecondsMax) ?? .signal(SIGKILL)
    let errors = process.errors.trimmingCharacters(in: .whitespacesAndNewlines)
    switch end {
    case .code(let code):
      return Ending(
        code: ExitCode(rawValue: code) ?? .failed, errors: errors, status: code,
        isToldToEnd: isTold)
    case .signal(let number):
      return Ending(
        code: .failed, errors: errors, status: number, signal: number, isToldToEnd: isTold)
    }
  }

  /// How long the end of one that was ended at once is waited for: the kernel may keep it.
  private static let endingNanosecondsMax: UInt64 = 30_000_000_000
}
