// `realm-bench list`: what workloads, invariants, engines and planted bugs there are.
internal import Foundation

/// The verb `list`.
package enum ListVerb: VerbDescription {
  package static let name = "list"
  package static let arguments = "[\(subjects.joined(separator: "|"))]"
  package static let summary = "what there is"
  package static let usage = """
    realm-bench list \(arguments) [flags]

    Workloads of 'run', scenarios of 'hunt', invariants that are checked, bugs that a build can
    plant in the engine, and engines; without a word all of them. Bugs are listed only by builds
    that have them: 'scripts/hunt list bugs' makes one and asks it.
    """
  package static var words: [String] { subjects }

  package static let flags: [FlagDefinition] = [
    .init("format", "text|json|markdown", "form of the list (text)"),
    .init("help", nil, "show this"),
  ]

  /// An entry of a list.
  package struct Entry: Codable, Sendable {
    package var name: String
    package var summary: String
    package var place: String?
    /// The test that finds a bug.
    package var finder: String?
    /// The workload that shows a bug while it runs.
    package var workload: String?
    /// What else is to be known, a line each.
    package var notes: [String]?
    /// The flags that shape a workload, with their defaults.
    package var parameters: [Parameter]?

    package init(
      name: String, summary: String, place: String? = nil, finder: String? = nil,
      workload: String? = nil, parameters: [Parameter]? = nil
    ) {
      self.name = name
      self.summary = summary
      self.workload = workload
      self.place = place
      self.finder = finder
      self.parameters = parameters
    }
  }

  /// A flag of a workload.
  package struct Parameter: Codable, Sendable {
    package var flag: String
    package var value: String?
    package var summary: String
  }

  private static let subjects = ["workloads", "scenarios", "invariants", "bugs", "engines"]

  package static func perform(_ arguments: [String], console: Console) throws -> ExitCode {
    try run(arguments, console: console, bugs: RealmBench.plantedBugs())
  }

  /// `bugs` is nil in a build without the trait PlantedBugs.
  package static func run(
    _ arguments: [String], console: Console, bugs: [Entry]?
  ) throws -> ExitCode {
    let flags = try FlagValues(arguments, known: Self.flags)
    if flags.has("help") {
      console.printRaw(help)
      return .success
    }
    guard flags.positional.count <= 1 else {
      throw UsageError("list takes one of \(subjects.joined(separator: ", "))")
    }
    let subject = flags.positional.first
    if let subject, !subjects.contains(subject) {
      let nearest = nearestName(subject, in: subjects).map { "; did you mean '\($0)'?" } ?? ""
      throw UsageError(
        "list: '\(subject)' is not one of \(subjects.joined(separator: ", "))\(nearest)")
    }
    if subject == "bugs" && bugs == nil {
      throw UsageError(
        "list: this build has no planted bugs; 'scripts/hunt list bugs' makes one that has, and "
          + "lists them (its own command is 'swift build -c release --product realm-bench --traits "
          + "Jemalloc,PlantedBugs,ControlledScheduling')")
    }
    let format: FileFormat = try flags.choice("format") ?? .text
    let lists = entries(bugs: bugs).filter { subject == nil || $0.0 == subject }
    switch format {
    case .json:
      let table = Dictionary(uniqueKeysWithValues: lists)
      console.printRaw(try encodeJSON(table))
    case .markdown:
      for (name, entries) in lists {
        let table = TextTable(
          header: [name, "what it is"],
          rows: entries.map { entry in
            [entry.name, ([entry.summary] + (entry.notes ?? [])).joined(separator: "; ")]
          })
        console.printRaw(table.markdown + "\n")
      }
    case .text:
      for (position, (name, entries)) in lists.enumerated() {
        if position > 0 { console.print("") }
        if lists.count > 1 { console.print(name) }
        let indent = lists.count > 1 ? "  " : ""
        let width = max(16, (entries.map(\.name.count).max() ?? 0) + 2)
        for entry in entries {
          let padded = entry.name.padding(toLength: width, withPad: " ", startingAt: 0)
          console.print(indent + padded + entry.summary)
          for parameter in entry.parameters ?? [] {
            let flag = "--\(parameter.flag)" + (parameter.value.map { " \($0)" } ?? "")
            let column = flag.padding(
              toLength: max(28, flag.count + 2), withPad: " ", startingAt: 0)
            console.print(indent + "    " + column + parameter.summary)
          }
          for note in entry.notes ?? [] { console.print(indent + "    " + note) }
        }
      }
    }
    return .success
  }

  private static func entries(bugs: [Entry]?) -> [(String, [Entry])] {
    var lists: [(String, [Entry])] = [
      (
        "workloads",
        WorkloadKind.allCases.map { workload in
          Entry(
            name: workload.rawValue, summary: workload.facts.summary,
            parameters: RunFlags.shaping(workload).map {
              Parameter(flag: $0.name, value: $0.value, summary: $0.help)
            })
        }
      ),
      (
        "scenarios",
        (HuntProgram.broken + HuntProgram.sound).map { Entry(name: $0.name, summary: $0.summary) }
      ),
      (
        "invariants",
        Invariant.allCases.map { Entry(name: $0.name, summary: $0.summary, place: $0.place) }
      ),
      ("engines", EngineKind.allCases.map(\.listed)),
    ]
    if let bugs { lists.append(("bugs", bugs)) }
    return lists
  }
}
