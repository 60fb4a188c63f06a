// `realm-bench doctor`: what makes figures unreliable on this machine.
internal import Foundation

/// The verb `doctor`.
package enum DoctorVerb: VerbDescription {
  package static let name = "doctor"
  package static let arguments = "[flags]"
  package static let summary = "what makes figures unreliable on this machine"
  package static let usage = """
    realm-bench doctor [flags]

    Looks at clock, wake-ups, governor, cores, limits of the container, memory, disk, whether a sync
    reaches the disk, pressure and steal, and the build, and says of each whether figures can be
    relied on, why not, and what to do. Writes a file of 1 MB below --path and removes it.
    Exit codes: 0 done, 4 something is bad (with --strict).
    """

  package static let flags: [FlagDefinition] = [
    .init("path", "DIR", "the folder that data will go to (.)"),
    .init("duration", "TIME", "how long it measures and watches (2s)"),
    .init("format", "text|json|markdown", "form of the result (text)"),
    .init("strict", nil, "exit 4 when something is bad"),
    .init("help", nil, "show this"),
  ]

  private struct Report: Codable {
    var worst: MachineFinding.Level
    var findings: [MachineFinding]
    var facts: MachineFacts
    var toolVersion = ResultSchema.toolVersion
  }

  package static func hearsSignals(_ arguments: [String]) -> Bool { true }

  package static func perform(_ arguments: [String], console: Console) throws -> ExitCode {
    try run(arguments, console: console, interruption: SignalInterruption())
  }

  /// - Parameters:
  ///   - root: where `/proc` and `/sys` are.
  ///   - interruption: whether the user has enough; the file on which the disk is measured is
  ///     removed before the end.
  package static func run(
    _ arguments: [String], console: Console, root: String = "",
    interruption: (any Interruption)? = nil
  ) throws -> ExitCode {
    let values = try FlagValues(arguments, known: flags)
    if values.has("help") {
      console.printRaw(help)
      return .success
    }
    if let word = values.positional.first {
      throw UsageError("doctor takes no argument, but got '\(word)'; a folder is given by --path")
    }
    let format: OutputFormat = try values.choice("format") ?? .text
    var nanoseconds: UInt64 = 2_000_000_000
    if let text = values.first("duration") {
      nanoseconds = try Units.nanoseconds(text, flag: "--duration")
      guard nanoseconds >= 100_000_000, nanoseconds <= 3_600_000_000_000 else {
        throw UsageError("--duration: from 100ms to 1h")
      }
    }
    let folder = values.first("path") ?? "."
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue
    else { throw UsageError("--path: '\(folder)' is no folder") }
    var facts = MachineFacts(folder: folder, root: root)
    facts.measure(nanoseconds: nanoseconds, interruption)
    if interruption?.isRequested() == true {
      console.note("interrupted: nothing is told of what was not measured to its end")
      return .interrupted
    }
    let findings = facts.findings()
    let worst = findings.map(\.level).max() ?? .fine
    switch format {
    case .json:
      console.printRaw(try encodeJSON(Report(worst: worst, findings: findings, facts: facts)))
    case .text: console.printRaw(text(findings, worst))
    case .markdown: console.printRaw(markdown(findings, worst))
    }
    return values.has("strict") && worst == .bad ? .inconclusive : .success
  }

  private static func verdict(_ findings: [MachineFinding], _ worst: MachineFinding.Level) -> String
  {
    let names = findings.filter { $0.level == worst }.map(\.subject).joined(separator: ", ")
    return switch worst {
    case .fine: "figures of this machine can be relied on"
    case .caution: "figures can be used with care: \(names)"
    case .bad: "figures of this machine, as it is now, are unreliable: \(names)"
    }
  }

  package static func text(
    _ findings: [MachineFinding], _ worst: MachineFinding.Level
  ) -> String {
    var text = ""
    for finding in findings {
      text +=
        finding.level.rawValue.padding(toLength: 9, withPad: " ", startingAt: 0)
        + finding.subject.padding(toLength: 11, withPad: " ", startingAt: 0) + finding.found + "\n"
      if let advice = finding.advice { text += String(repeating: " ", count: 20) + advice + "\n" }
    }
    return text + "\n" + verdict(findings, worst) + "\n"
  }

  package static func markdown(
    _ findings: [MachineFinding], _ worst: MachineFinding.Level
  ) -> String {
    var text =
      "**\(verdict(findings, worst))**\n\n| subject | | found | what to do |\n|---|---|---|---|\n"
    for finding in findings {
      let cells = [finding.subject, finding.level.rawValue, finding.found, finding.advice ?? ""]
      text += "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |\n"
    }
    return text
  }
}
