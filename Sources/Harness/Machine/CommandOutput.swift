// What a small command of the system prints; for commands that the tool can do without.
internal import Glibc

/// What a command prints on standard output; nil when it cannot be run, fails, or takes longer.
///
/// - Parameter nanoseconds: how long it may take.
func outputOfCommand(
  _ executable: String, _ arguments: [String], within nanoseconds: UInt64 = 10_000_000_000
) -> String? {
  let process = try? StartedProcess(
    executable, arguments, hasInput: false, output: .gathered, errors: .nowhere)
  guard let process else { return nil }
  guard let end = process.wait(nanoseconds: nanoseconds) else {
    // With all that it has started.
    process.send(SIGKILL, toGroup: true)
    process.stop()
    return nil
  }
  return end == .code(0) ? process.output : nil
}
