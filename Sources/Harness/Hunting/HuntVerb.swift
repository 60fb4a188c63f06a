// `realm-bench hunt`: explores programs until one fails or the time is over.
package import Foundation
internal import Platform
internal import RaceHunt

/// The verb `hunt`.
package enum HuntVerb: VerbDescription {
  package static let name = "hunt"
  package static let arguments = "[flags]"
  package static let summary = "small programs under many schedules, until one fails"
  package static var flags: [FlagDefinition] { HuntSettings.flags }
  package static let usage = """
    realm-bench hunt [flags]

    Runs small programs of threads, tasks and actors under many schedules, one step at a time, and
    prints the smallest failing one; 'realm-bench replay FOLDER' repeats it. With --scenario a program
    whose bug is known. docs/hunting.md is the guide.
    Exit codes: 0 nothing found, 3 a program fails, 4 kept schedules are left out, 70 the tool is at
    fault.
    """

  /// A kept schedule is soon repeated, and nobody looks for signals meanwhile: they end it.
  package static func hearsSignals(_ arguments: [String]) -> Bool {
    !arguments.contains("--replay-corpus")
  }

  package static func perform(_ arguments: [String], console: Console) throws -> ExitCode {
    FixedHashes.beginAnew(name)
    return try run(arguments, console: console, interruption: { SignalInterruption() })
  }

  package static func run(
    _ arguments: [String], console: Console, interruption: () -> any Interruption,
    now: Date = Date()
  ) throws -> ExitCode {
    let values = try FlagValues(
      arguments, known: HuntSettings.flags, refused: HuntSettings.refused)
    if values.has("help") {
      console.printRaw(help)
      return .success
    }
    let settings = try HuntSettings(values)
    let name = settings.showsScore ? "hunt-bugs" : "hunt"
    let place = ResultsPlace(
      workload: name, seed: settings.seed, output: settings.output, now: now)
    if settings.replaysCorpus { return try replayCorpus(form: settings.form, console) }
    let folder: ResultsFolder
    do {
      folder = try place.make(overwrites: settings.overwrites, names: KnownNames.ofHunt)
    } catch let error as ResultsError {
      console.note("error: \(error.message)")
      return .failed
    }
    console.keeps(folder.path)
    let code: ExitCode
    do {
      // The shards of several processes have one each.
      if settings.processes == 1 {
        try folder.write(try encodeJSON(HuntRecord(settings)), to: HuntRecord.fileName)
      }
      code = try run(
        settings, folder, settings.form == .json ? console.withResultsAsNotes() : console,
        tell: { showJSON(settings, folder, $0, console) }, interruption())
    } catch let error where error is CocoaError || error is SystemError {
      console.note("error: cannot write to '\(folder.path)': \(error.explanation)")
      return .failed
    }
    // A failure that was found is what a hunt is for: only a hunt without a table has no end.
    let hasTable = ["hunt.csv", "bugs.csv"].contains {
      FileManager.default.fileExists(atPath: folder.path + "/" + $0)
    }
    let isComplete = hasTable && code != .interrupted && code != .failed
    showJSON(settings, folder, code, console)
    return folder.end(isComplete: isComplete, otherwise: code, console)
  }

  private static func run(
    _ settings: HuntSettings, _ folder: ResultsFolder, _ console: Console,
    tell: @escaping (ExitCode) -> Void, _ interruption: any Interruption
  ) throws -> ExitCode {
    if settings.showsScore { return try HuntScore(settings, folder, console).run(interruption) }
    if settings.processes > 1 {
      return try HuntProcesses(settings, folder).run(console, interruption)
    }
    return try HuntRun(settings, folder, console, tell: tell).run(interruption)
  }

  /// The one object of `--format json`.
  private static func showJSON(
    _ settings: HuntSettings, _ folder: ResultsFolder, _ code: ExitCode, _ console: Console
  ) {
    guard settings.form == .json else { return }
    // Of an interrupted hunt it stays where it is.
    let isWhole = code != .interrupted && code != .failed
    let report = HuntReport(
      folder.path, destination: isWhole ? folder.destination : folder.path,
      isScore: settings.showsScore, processes: settings.processes, code)
    do { console.printRaw(try encodeJSON(report)) } catch {
      console.note("error: no JSON: \(error.explanation)")
    }
  }

  /// Repeats what earlier hunts have kept; names what this build cannot repeat, and goes on.
  package static func replayCorpus(
    in folder: String = HuntBundle.corpus, form: ToldForm = .text, _ console: Console
  ) throws -> ExitCode {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let paths = names.filter { $0.hasSuffix(".json") }.sorted().map { folder + "/" + $0 }
    // Those that may end this process come last, so that they leave none of the others out.
    let crashes = paths.filter {
      (try? HuntBundle.read($0))?.kind == RaceFailure.Kind.crash.rawValue
    }
    var (failing, leftOut) = (0, 0)
    let told = form == .json ? console.withResultsAsNotes() : console
    for path in paths.filter({ !crashes.contains($0) }) + crashes {
      do {
        let code = try ReplayVerb.run(
          [path, "--format", form.rawValue], isOneOfMany: true, console: console)
        if code != .success { failing += 1 }
      } catch let error as UsageError {
        leftOut += 1
        console.note("warning: '\(path)' is left out: \(error.message)")
      }
    }
    told.print(
      "\(paths.count) kept schedules, \(failing) of them fail"
        + (leftOut == 0 ? "" : ", \(leftOut) of them are left out") + ": \(folder)")
    if failing > 0 { return .invariantViolated }
    return leftOut > 0 ? .inconclusive : .success
  }
}

/// The verb `replay`.
package enum ReplayVerb: VerbDescription {
  package static let name = "replay"
  package static let arguments = "BUNDLE"
  package static let summary = "repeat a failure that a hunt has found"
  package static let usage = """
    realm-bench replay BUNDLE [flags]

    Repeats the failure that a hunt has left in a folder, step by step the same.
    A crash ends this process, too, and Swift's runtime shows where it is.
    Exit codes: 3 it fails as before, 0 it does not fail, 1 it fails in another way.
    """

  package static let flags: [FlagDefinition] = [
    .init("until", "STEP", "end before the step with this number; breakpoint race_hunt_stopped"),
    .init("trace", nil, "show the steps although nothing fails"),
    .init(
      "format", "text|json",
      "form on standard output (text); json: one object at the end, the text on standard error"),
    .init("help", nil, "show this"),
  ]

  package static func perform(_ arguments: [String], console: Console) throws -> ExitCode {
    FixedHashes.beginAnew(name)
    return try run(arguments, console: console)
  }

  /// - Parameter isOneOfMany: tells JSON in one line, so that a crash leaves those before it whole.
  static func run(
    _ arguments: [String], isOneOfMany: Bool = false, console: Console
  ) throws -> ExitCode {
    let values = try FlagValues(arguments, known: flags)
    if values.has("help") {
      console.printRaw(help)
      return .success
    }
    let paths = try values.paths("replay")
    guard paths.count == 1, let path = paths.first else {
      throw UsageError("replay needs the folder of one failure")
    }
    let isJSON = try values.choice("format", ToldForm.self) == .json
    let step = try values.first("until").map {
      try Units.count($0, flag: "--until", minimum: 0)
    }
    let bundle: HuntBundle
    do { bundle = try HuntBundle.read(path) } catch { throw UsageError("replay: \(error.message)") }
    guard let program = HuntProgram.named(bundle.scenario),
      program.canRun(.explored(.portfolio))
    else {
      throw UsageError(
        "replay: this build has no program '\(bundle.scenario)'; 'scripts/hunt replay "
          + "\(LiteralPath.quoted(path))' makes the build that has all of them")
    }
    guard !bundle.schedule.isEmpty else {
      throw UsageError("replay: the failure has no schedule: \(bundle.reason)")
    }
    try plant(bundle)
    defer { removePlanted(bundle) }
    let told = isJSON ? console.withResultsAsNotes() : console
    var report = ReplayReport(bundle, in: path)
    Crash.handle { [report] failure in
      told.printRaw(failure.reason + "\n\n" + failure.table + "\n")
      let isSame = bundle.kind == RaceFailure.Kind.crash.rawValue
      told.print(bundle.scenario + (isSame ? ": crashes as before" : ": crashes"))
      guard isJSON else { return }
      // The process ends as the crash has it, with no code of ours.
      var report = report
      report.outcome = isSame ? .failsAsBefore : .failsOtherwise
      report.reason = failure.reason
      report.steps = failure.table
      report.exitCode = nil
      if let text = try? encodeJSON(report, inOneLine: isOneOfMany) { console.printRaw(text) }
    }
    defer { Crash.handle(nil) }
    var code = ExitCode.success
    do throws(RaceFailure) {
      program.prepare()
      let table = try replay(
        bundle.schedule, until: step, steps: program.steps, program.program)
      report.steps = SourceLines.named(in: table)
      if step != nil || values.has("trace") { told.printRaw(report.steps) }
      if let step {
        report.outcome = .stopped
        told.print("\(bundle.scenario): stopped before step \(step)")
      } else {
        told.print("\(bundle.scenario): does not fail")
      }
    } catch {
      if error.kind == .noThread {
        console.note("error: \(error.reason)")
        return .failed
      }
      report.steps = SourceLines.named(in: error.table)
      told.printRaw(error.reason + "\n\n" + report.steps + "\n")
      let isSame = error.kind.rawValue == bundle.kind
      told.print(
        isSame
          ? "\(bundle.scenario): fails as before"
          : "\(bundle.scenario): fails in another way than before: \(bundle.reason)")
      report.outcome = isSame ? .failsAsBefore : .failsOtherwise
      report.reason = error.reason
      code = isSame ? .invariantViolated : .failed
    }
    report.exitCode = code.rawValue
    if isJSON { console.printRaw(try encodeJSON(report, inOneLine: isOneOfMany)) }
    return code
  }

  /// Leaves the engine whole for what is repeated next.
  private static func removePlanted(_ bundle: HuntBundle) {
    #if PLANTED_BUGS
      if bundle.plantedBug != nil { PlantedBug.removeAll() }
    #endif
  }

  /// Plants the bug that was in the engine when the failure was found.
  private static func plant(_ bundle: HuntBundle) throws {
    guard let name = bundle.plantedBug else { return }
    #if PLANTED_BUGS
      guard let bug = PlantedBug(rawValue: name) else {
        throw UsageError("replay: this build has no planted bug '\(name)'")
      }
      bug.plant()
    #else
      throw UsageError(
        "replay: the planted bug '\(name)' is needed; 'scripts/hunt replay' makes the build that has it"
      )
    #endif
  }
}
