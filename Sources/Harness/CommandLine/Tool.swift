// The program that runs: realm-bench, or one of a user's own that has the same verbs and workloads
// beside them. Says what it is called, and holds what it adds.
internal import Platform

/// The program that runs; set once, before anything else happens.
package struct Tool: Sendable {
  /// What it is called, in messages and in commands that repeat a run.
  package let name: String
  /// How it was called, for commands to be pasted here.
  package let invocation: String
  /// Its own workloads, in the order in which they are listed.
  package let workloads: [any WorkloadDescription.Type]

  /// - Parameter executable: as the user has called it; without one by its name.
  package init(
    name: String, executable: String? = nil, workloads: [any WorkloadDescription.Type] = []
  ) {
    self.name = name
    invocation = executable.map(LiteralPath.quoted) ?? name
    self.workloads = workloads
  }

  private static let present = Monitor(Tool(name: "realm-bench"))

  package static var current: Tool { present.withLock { $0 } }

  /// Makes the process this tool.
  ///
  /// Call it before a verb is performed; refuses names that mean something already.
  package static func become(_ tool: Tool) throws(UsageError) {
    let taken = WorkloadKind.allCases.map(\.rawValue)
    let flags = Set(RunFlags.known.map(\.name))
    var names = Set(taken)
    var takesValue: [String: Bool] = [:]
    for workload in tool.workloads {
      guard isName(workload.name) else {
        throw UsageError("'\(workload.name)' cannot be a workload's name: \(rule)")
      }
      guard names.insert(workload.name).inserted else {
        throw UsageError(
          "there is a workload '\(workload.name)' already; give this one another name")
      }
      var own: Set<String> = []
      for flag in workload.ownFlags.map(\.definition) {
        let place = "the workload \(workload.name): --\(flag.name)"
        guard isName(flag.name) else { throw UsageError("\(place) cannot be a flag: \(rule)") }
        guard !flags.contains(flag.name) else {
          throw UsageError("\(place) is a flag of every run; give it another name")
        }
        guard own.insert(flag.name).inserted else {
          throw UsageError("\(place) is declared twice")
        }
        // One command line is read before it is known whose it is.
        if let other = takesValue[flag.name], other != (flag.value != nil) {
          throw UsageError("\(place) takes a value in one workload and none in another")
        }
        takesValue[flag.name] = flag.value != nil
      }
    }
    present.withLock { $0 = tool }
  }

  private static let rule = "write small letters, digits and hyphens, with a letter first"

  /// Whether a text can be a name on the command line and in result files.
  package static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= 40 else { return false }
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    return letters.contains(first)
      && text.utf8.allSatisfy {
        letters.contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || $0 == UInt8(ascii: "-")
      }
  }

  /// A text that speaks of realm-bench, speaking of the program that runs.
  ///
  /// Folders and files keep their names.
  package static func named(_ text: String) -> String {
    let name = current.name
    if name == "realm-bench" { return text }
    return text.replacing("realm-bench-results", with: "\u{0}")
      .replacing("realm-bench", with: name)
      .replacing("\u{0}", with: "realm-bench-results")
  }
}

/// A flag that a workload of a program brings with it.
package struct OwnFlag: Sendable {
  package let definition: FlagDefinition
  /// As `canonical` has it; nil for a switch that is not given.
  package let standard: String?
  /// Reads what was given, and writes it as results and repeated commands have it.
  package let canonical: @Sendable (_ text: String) throws(UsageError) -> String

  package init(
    _ definition: FlagDefinition, standard: String?,
    canonical: @escaping @Sendable (_ text: String) throws(UsageError) -> String
  ) {
    self.definition = definition
    self.standard = standard
    self.canonical = canonical
  }
}
