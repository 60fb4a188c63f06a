// The tool's entry: picks the verb, turns refusals into exit code 64. Unstable: everything public
// in Harness may change between releases; scripts use the command line, which only grows.
internal import Foundation
internal import Platform

/// The command-line tool `realm-bench`.
public enum RealmBench {
  /// Runs the tool with its arguments, without the program's name, and returns the exit code.
  ///
  /// Blocks until the verb is done; `run` starts threads of its own and handles Ctrl-C meanwhile.
  public static func run(_ arguments: [String]) -> Int32 {
    let console = Console.standard()
    Parent.recognize()
    ProcessMember.recognize()
    return console.end(with: code(arguments, console)).rawValue
  }

  private static func code(_ arguments: [String], _ console: Console) -> ExitCode {
    do {
      return try dispatch(arguments, console: console)
    } catch let error as UsageError {
      console.note("\(Tool.current.name): \(error.message)")
      return .usage
    } catch  where error is CocoaError || error is POSIXError || error is SystemError {
      // Of a file: a full disk, a folder that has gone.
      console.note("\(Tool.current.name): error: \(error.explanation)")
      return .failed
    } catch {
      console.note("\(Tool.current.name): internal error: \(error.explanation)")
      return .internalError
    }
  }

  /// The same with the arguments of the process, as the tool that realm-bench is.
  public static func runProcess() -> Int32 {
    runProcess { Tool(name: Tool.current.name, executable: CommandLine.arguments.first) }
  }

  /// The same as a tool with workloads of its own.
  ///
  /// A word that is no UTF-8 is refused: as text it would name another file.
  package static func runProcess(as tool: () throws -> Tool) -> Int32 {
    SignalInterruption.makeQuitUsual()
    // First of all: whoever ends a verb in its first moments is heard as later.
    let words = CommandLine.arguments.dropFirst()
    if let verb = words.first.flatMap(Verbs.named), verb.hearsSignals(Array(words.dropFirst())) {
      SignalInterruption.hold()
    }
    do {
      try Tool.become(try tool())
    } catch {
      // A mistake of whoever has written the tool.
      Console.standard().note("\(Tool.current.name): \(error.explanation)")
      return ExitCode.usage.rawValue
    }
    if let words = StackLimit.objection {
      Console.standard().note("\(Tool.current.name): error: \(words)")
      return ExitCode.failed.rawValue
    }
    for position in 1..<max(1, Int(CommandLine.argc)) {
      guard let word = CommandLine.unsafeArgv[position] else { continue }
      if String(validatingCString: word) == nil {
        Console.standard().note(
          "\(Tool.current.name): '\(String(cString: word))' is no UTF-8 text, so it cannot be taken as it "
            + "is; rename what it names")
        return ExitCode.usage.rawValue
      }
    }
    return run(Array(CommandLine.arguments.dropFirst()))
  }

  /// As `run`, with streams of the caller's choice; refusals are thrown.
  package static func dispatch(_ arguments: [String], console: Console) throws -> ExitCode {
    let rest = Array(arguments.dropFirst())
    switch arguments.first {
    case "help" where rest.first.map { ["help", "version", "-h", "--help"].contains($0) } ?? false:
      console.printRaw(Help.overview)
      return .success
    case "help" where !rest.isEmpty:
      guard let verb = Verbs.named(rest[0]) else { throw refusal(of: rest[0]) }
      return try verb.perform(rest.dropFirst() + ["--help"], console: console)
    case "--help" where !rest.isEmpty, "-h" where !rest.isEmpty:
      guard let verb = Verbs.named(rest[0]) else { throw refusal(of: rest[0]) }
      return try verb.perform(rest.dropFirst() + ["--help"], console: console)
    case nil, "help", "--help", "-h", "-?":
      console.printRaw(Help.overview)
      return .success
    case "version", "--version", "-V", "-v":
      if let word = rest.first {
        guard ["help", "-h", "--help"].contains(word) else {
          throw UsageError("\(arguments[0]) takes nothing behind it, but got '\(word)'")
        }
        console.printRaw(Help.overview)
        return .success
      }
      console.print(
        Tool.current.name == "realm-bench"
          ? "realm-bench \(ResultSchema.toolVersion) (results schema \(ResultSchema.version))"
          : "\(Tool.current.name): realm-bench \(ResultSchema.toolVersion) (results schema "
            + "\(ResultSchema.version))")
      return .success
    case ForbiddenUse.verb:
      return try ForbiddenAttempt.run(rest, console: console)
    case BackgroundVerb.name:
      return try BackgroundVerb.run(rest, console: console)
    case let name?:
      guard let verb = Verbs.named(name) else { throw refusal(of: name) }
      if rest == ["help"] && verb.flags.contains(where: { $0.name == "help" }) && !exists("help") {
        return try verb.perform(["--help"], console: console)
      }
      for warning in LiteralPath.warnings(rest) where !rest.contains("--quiet") {
        console.note("warning: " + warning)
      }
      return try verb.perform(rest, console: console)
    }
  }

  /// Whether the word may name a file of the user's.
  private static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
  }

  private static func refusal(of verb: String) -> UsageError {
    let nearest = nearestName(verb, in: Help.verbs).map { "; did you mean '\($0)'?" } ?? ""
    func refusal(_ what: String, _ command: String) -> UsageError {
      UsageError("no verb '\(verb)'; \(what): \(Tool.current.invocation) \(command)")
    }
    let quoted = LiteralPath.quoted(verb)
    if WorkloadKind(rawValue: verb) != nil { return refusal("it is a workload", "run \(verb)") }
    if verb.hasSuffix(".json") { return refusal("a plan is run so", "run \(quoted)") }
    if verb.hasSuffix(".realm") { return refusal("a file is checked so", "check \(quoted)") }
    if ["man", "manual"].contains(verb) { return refusal("the man page is", "completion man") }
    if exists(verb + "/run.json") {
      return refusal("results are shown so", "report \(quoted) -o report.html")
    }
    if verb.hasPrefix("-") {
      return UsageError(
        "no verb '\(verb)'; a verb comes first, then its flags; '\(Tool.current.name)' alone shows "
          + "help")
    }
    return UsageError("no verb '\(verb)'\(nearest); '\(Tool.current.name)' alone shows help")
  }

  /// The bugs that this build can plant, or nil in an ordinary build.
  static func plantedBugs() -> [ListVerb.Entry]? {
    #if PLANTED_BUGS
      PlantedBug.allCases.map { bug in
        ListVerb.Entry(
          name: bug.rawValue, summary: bug.facts.summary, place: bug.facts.layer,
          finder: bug.facts.finder, workload: bug.invariant == nil ? nil : bug.workload)
      }
    #else
      nil
    #endif
  }
}
