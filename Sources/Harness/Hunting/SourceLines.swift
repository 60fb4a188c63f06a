// What makes a failing schedule good to read and to repeat: source lines in the place of addresses,
// and hashes that are the same in each process.
internal import Foundation
internal import Glibc

/// Source lines of this program.
enum SourceLines {
  /// Files in whose lines nobody looks for a place: the seam itself.
  private static let passedOver: Set = ["Atomic.swift", "Synchronization.swift"]

  /// The text with a line of a source file for each `program+0x12ab` of this program.
  ///
  /// Without debug information, or without `llvm-symbolizer` of the toolchain, the text as it is.
  static func named(in text: String) -> String {
    let executable = ForbiddenUse.ownExecutable
    let mark = (executable as NSString).lastPathComponent + "+0x"
    let addresses = Set(
      text.components(separatedBy: mark).dropFirst().map { rest in
        "0x" + rest.prefix { $0.isHexDigit }
      })
    if addresses.isEmpty { return text }
    let ordered = addresses.sorted()
    let command = ["llvm-symbolizer", "-e", executable] + ordered
    // Of a large program it reads hundreds of megabytes.
    let answered = outputOfCommand("/usr/bin/env", command, within: 120_000_000_000)
    guard let answers = answered else { return text }
    var lines: [String: String] = [:]
    // Each answer ends with an empty line.
    for (address, answer) in zip(ordered, answers.components(separatedBy: "\n\n")) {
      lines[address] = place(answer)
    }
    var result = ""
    for (position, part) in text.components(separatedBy: mark).enumerated() {
      if position == 0 {
        result = part
        continue
      }
      let digits = part.prefix { $0.isHexDigit }
      result += (lines["0x" + digits] ?? mark + digits) + part.dropFirst(digits.count)
    }
    return result
  }

  /// The innermost line that is not the seam's: answers have a line for the function and one for
  /// the place, for each inlined call.
  private static func place(_ answer: String) -> String? {
    for line in answer.split(separator: "\n") {
      let parts = line.split(separator: ":")
      guard parts.count == 3, let number = Int(parts[1]), number > 0 else { continue }
      let file = (String(parts[0]) as NSString).lastPathComponent
      if file.hasSuffix(".swift"), !passedOver.contains(file) { return "\(file):\(number)" }
    }
    return nil
  }
}

/// Hashes that do not differ from process to process: the order of a dictionary would make another
/// schedule.
enum FixedHashes {
  private static let variable = "SWIFT_DETERMINISTIC_HASHING"

  /// Begins the process of this tool anew with fixed hashes, if it has others.
  ///
  /// - Parameter verb: that the process was started with; tests run verbs within theirs.
  static func beginAnew(_ verb: String) {
    guard getenv(variable) == nil, CommandLine.arguments.dropFirst().first == verb else { return }
    setenv(variable, "1", 1)
    var words = CommandLine.arguments.map { strdup($0) }
    words.append(nil)
    // Where that cannot be done the verb goes on as it is.
    execv("/proc/self/exe", &words)
  }
}
