// What a small command of the system prints; for commands that the tool can do without.
internal import Foundation

/// What a command prints on standard output; nil when it cannot be run or fails.
func outputOfCommand(_ executable: String, _ arguments: [String]) -> String? {
  guard (try? ProcessStart.check(toStart: executable)) != nil else { return nil }
  let process = Process()
  process.executableURL = URL(fileURLWithPath: executable)
  process.arguments = arguments
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = FileHandle.nullDevice
  guard (try? process.run()) != nil else { return nil }
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return process.terminationStatus == 0 ? String(decoding: data, as: UTF8.self) : nil
}
