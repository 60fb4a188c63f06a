// What the tool knows of a verb: name, texts and flags. Each verb's file has its description; this
// list is what dispatch, help, completion and the man page are made of.

/// A verb as dispatch, help and completion know it.
package protocol VerbDescription: Sendable {
  /// As on the command line.
  static var name: String { get }
  /// What follows the name, as help shows it.
  static var arguments: String { get }
  /// One line for the overview.
  static var summary: String { get }
  /// What help says before the flags.
  static var usage: String { get }
  static var flags: [FlagDefinition] { get }
  /// Words that the first argument can be; empty where it is a path or a name of the user's.
  static var words: [String] { get }
  /// Whether it looks for signals, as soon as it can, when it is asked for this.
  static func hearsSignals(_ arguments: [String]) -> Bool
  /// Runs it with the process's own signals.
  static func perform(_ arguments: [String], console: Console) throws -> ExitCode
}

extension VerbDescription {
  package static var words: [String] { [] }
  package static func hearsSignals(_ arguments: [String]) -> Bool { false }

  /// What `--help` prints.
  package static var help: String { Help.short(usage, flags) }
}

/// All verbs of this version.
package enum Verbs {
  /// In the order of the overview.
  package static let all: [any VerbDescription.Type] = [
    ListVerb.self, RunVerb.self, CheckVerb.self, InspectVerb.self, ExplainVerb.self,
    CompareVerb.self, PlanVerb.self, ReportVerb.self, MergeVerb.self, DoctorVerb.self,
    HuntVerb.self, ReplayVerb.self, CompletionVerb.self,
  ]

  package static func named(_ name: String) -> (any VerbDescription.Type)? {
    all.first { $0.name == name }
  }
}
