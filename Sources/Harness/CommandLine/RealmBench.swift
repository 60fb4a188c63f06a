// The tool's entry: picks the verb, turns refusals into exit code 64. Unstable: everything public in
// Harness may change between releases; scripts use the command line, which only grows.
internal import Foundation

#if PLANTED_BUGS
  internal import Platform
#endif

/// The command-line tool `realm-bench`.
public enum RealmBench {
  /// Runs the tool with its arguments, without the program's name, and returns the exit code.
  ///
  /// Blocks until the verb is done; `run` starts threads of its own and handles Ctrl-C meanwhile.
  public static func run(_ arguments: [String]) -> Int32 {
    let console = Console.standard()
    do {
      return try dispatch(arguments, console: console).rawValue
    } catch let error as UsageError {
      console.note("realm-bench: \(error.message)")
      return ExitCode.usage.rawValue
    } catch {
      console.note("realm-bench: internal error: \(error)")
      return ExitCode.internalError.rawValue
    }
  }

  /// As `run`, with streams of the caller's choice; refusals are thrown.
  package static func dispatch(_ arguments: [String], console: Console) throws -> ExitCode {
    let rest = Array(arguments.dropFirst())
    switch arguments.first {
    case nil, "help", "--help", "-h":
      console.printRaw(Help.overview)
      return .success
    case "--version":
      console.print(
        "realm-bench \(ResultSchema.toolVersion) (results schema \(ResultSchema.version))")
      return .success
    case "list":
      return try ListVerb.run(rest, console: console, bugs: plantedBugs())
    case "run":
      return try RunVerb.run(
        rest,
        RunVerb.Surroundings(
          console: console, interruption: { SignalInterruption() },
          makeDriver: { try RealmDriver(path: $0, durability: $1) }))
    case "check":
      return try CheckVerb.run(rest, console: console)
    case "inspect":
      return try InspectVerb.run(rest, console: console)
    case ForbiddenUse.verb:
      return try ForbiddenAttempt.run(rest, console: console)
    case let verb?:
      throw refusal(of: verb)
    }
  }

  private static func refusal(of verb: String) -> UsageError {
    if verb == "hunt" || verb == "replay" {
      return UsageError(
        "'\(verb)' is not in this version; it will need the build that 'scripts/hunt' makes")
    }
    if Help.laterVerbs.contains(verb) { return UsageError("'\(verb)' is not in this version") }
    let nearest = nearestName(verb, in: Help.verbs).map { "; did you mean '\($0)'?" } ?? ""
    return UsageError("no verb '\(verb)'\(nearest); 'realm-bench' alone shows help")
  }

  /// The bugs that this build can plant, or nil in an ordinary build.
  private static func plantedBugs() -> [ListVerb.Entry]? {
    #if PLANTED_BUGS
      PlantedBug.allCases.map { bug in
        ListVerb.Entry(
          name: bug.rawValue, summary: bug.facts.summary, place: bug.facts.layer,
          finder: bug.facts.finder)
      }
    #else
      nil
    #endif
  }
}
