// The verbs `hunt` and `replay`, and that each known bug is found and each mended program is sound.
import Foundation
import Harness
import RaceHunt
import RacePrograms
import TestSupport
import Testing

@Suite(.ownThreads) struct HuntTests {
  private let folder = TemporaryFolder()

  private struct Result {
    var code: ExitCode
    var output: String
    var errors: String
  }

  private func hunt(
    _ line: String, interruption: () -> any Interruption = { TimedInterruption() }
  ) throws -> Result {
    let collected = CollectedOutput()
    let code = try HuntVerb.run(
      line.split(separator: " ").map(String.init), console: collected.console(),
      interruption: interruption)
    return Result(code: code, output: collected.output, errors: collected.errors)
  }

  private func replay(_ line: String) throws -> Result {
    let collected = CollectedOutput()
    let code = try ReplayVerb.perform(
      line.split(separator: " ").map(String.init), console: collected.console())
    return Result(code: code, output: collected.output, errors: collected.errors)
  }

  @Test(arguments: HuntScenario.all.map(\.name))
  func everyKnownBugIsFoundAndItsMendedProgramIsSound(name: String) throws {
    let scenario = try #require(HuntScenario.named(name))
    do throws(RaceFailure) {
      try explore(iterations: 5_000, scenario.program(true))
      Issue.record("the bug of \(name) is not found")
    } catch {
      #expect(error.kind != .notReproducible && error.kind != .hang, "\(error)")
      let repeated = #expect(throws: RaceFailure.self) {
        try RaceHunt.replay(error.schedule, scenario.program(true))
      }
      #expect(repeated?.reason == error.reason)
      #expect(repeated?.table == error.table)
    }
    try explore(iterations: 400, scenario.program(false))
  }

  @Test func aFailureIsPrintedInOrderAndCanBeRepeated() throws {
    let path = folder.path + "/out"
    let found = try hunt("--scenario lost-update --output \(path) --no-progress")
    #expect(found.code == .invariantViolated)
    let lines = found.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "lost-update: an update is lost: the counter is 1, not 2")
    #expect(lines.contains { $0.hasPrefix("seed 1, schedule ") })
    #expect(lines.suffix(2) == ["realm-bench replay \(path)", path])
    let text = try #require(textOfFile(path + "/hunt.csv"))
    let rows = try #require(CSVTable.parse(text))
    #expect(rows.count == 2)
    #expect(rows[1][3] == "lost-update")
    #expect(textOfFile(path + "/schedule.txt")?.contains("FAILS") == true)

    let repeated = try replay(path)
    #expect(repeated.code == .invariantViolated)
    #expect(repeated.output.contains("fails as before"))
    let stopped = try replay("\(path) --until 5")
    #expect(stopped.code == .success)
    #expect(stopped.output.contains("stopped before step 5"))
  }

  private func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test func aProgramReadsWhatAHuntHasFound() throws {
    let path = folder.path + "/json"
    let found = try hunt(
      "--scenario lost-update --output \(path) --no-progress --format json")
    #expect(found.code == .invariantViolated)
    // Who looks on sees it, too.
    #expect(found.errors.contains("lost-update: an update is lost: the counter is 1, not 2"))
    let report = try object(found.output)
    #expect(report["exit_code"] as? Int == 3 && report["folder"] as? String == path)
    let rows = try #require(report["rows"] as? [[String: Any]])
    #expect(rows.count == 1 && rows[0]["scenario"] as? String == "lost-update")
    let failures = try #require(report["failures"] as? [[String: Any]])
    #expect(failures.count == 1)
    #expect(failures[0]["reason"] as? String == "an update is lost: the counter is 1, not 2")
    #expect(failures[0]["replay"] as? String == "realm-bench replay \(path)")
    #expect((failures[0]["steps"] as? String)?.contains("FAILS") == true)

    let repeated = try replay("\(path) --format json")
    #expect(repeated.code == .invariantViolated)
    #expect(repeated.errors.contains("fails as before"))
    let told = try object(repeated.output)
    #expect(told["outcome"] as? String == "fails as before" && told["exit_code"] as? Int == 3)
    #expect(told["reason"] as? String == failures[0]["reason"] as? String)

    let nothing = try hunt(
      "--scenario lost-update/mended --duration 50ms --output \(folder.path)/none --format json")
    let empty = try object(nothing.output)
    #expect(nothing.code == .success && (empty["failures"] as? [Any])?.isEmpty == true)
    #expect((empty["rows"] as? [[String: Any]])?.first?["schedules"] as? Int ?? 0 > 0)
    #expect(throws: UsageError.self) { try hunt("--scenario lost-update --format jsn") }
  }

  @Test func aSoundProgramIsExploredForTheTime() throws {
    let path = folder.path + "/sound"
    let result = try hunt(
      "--scenario lost-update/mended --duration 100ms --output \(path) --no-progress")
    #expect(result.code == .success)
    #expect(result.output.hasPrefix("nothing found: "))
  }

  /// Whether a long hunt grows is seen from its own samples.
  @Test func aHuntNotesItsMemory() throws {
    let path = folder.path + "/memory"
    _ = try hunt(
      "--scenario lost-update/mended --duration 1200ms --output \(path) --no-progress")
    let text = try #require(textOfFile(path + "/hunt-samples.csv"))
    let rows = try #require(CSVTable.parse(text))
    #expect(rows[0].suffix(3) == ["elapsed_s", "schedules", "resident_bytes"])
    #expect(rows.count >= 3)
    let last = try #require(rows.last)
    let (schedules, bytes) = (Int(last[4]) ?? 0, Int(last[5]) ?? 0)
    #expect(schedules > 0 && bytes > 1_000_000)
  }

  /// In a build without the scheduler under the engine threads of the machine run its programs.
  @Test(arguments: HuntProgram.sound.filter(\.needsControlledEngine).map(\.name))
  func threadsOfTheMachineRunProgramsOfTheEngine(name: String) throws {
    let path = folder.path + "/engine"
    let result = try hunt(
      "--scenario \(name) --strategy machine --duration 200ms --output \(path) --no-progress")
    #expect(result.code == .success, "\(result.output)")
    let program = try #require(HuntProgram.named(name))
    if !program.canRun(.explored(.portfolio)) {
      #expect(throws: UsageError.self) { try hunt("--scenario \(name)") }
    }
  }

  /// One program has the whole time in a few slices, and is interrupted within one.
  @Test(arguments: ["portfolio", "machine"])
  func anInterruptionEndsALongHuntOfOneProgram(strategy: String) throws {
    let path = folder.path + "/interrupted-\(strategy)"
    let result = try hunt(
      "--scenario lost-update/mended --strategy \(strategy) --duration 1h --output \(path) "
        + "--no-progress", interruption: { TimedInterruption(afterNanoseconds: 200_000_000) })
    #expect(result.code == .interrupted)
    #expect(result.errors.contains("interrupted; what was seen until then is in \(path)"))
    #expect(textOfFile(path + "/hunt.csv") != nil)
  }

  @Test func allProgramsAreHuntedInTurn() throws {
    let path = folder.path + "/all"
    let result = try hunt("--duration 1s --seed 3 --shard 2/3 --output \(path) --no-progress")
    #expect(result.code == .success, "\(result.output)")
    let text = try #require(textOfFile(path + "/hunt.csv"))
    let rows = try #require(CSVTable.parse(text))
    #expect(rows.count == 1 + HuntProgram.sound(for: .explored(.portfolio)).count)
    #expect(rows[1][2] == "2/3")
  }

  @Test func aProgramThatIsExhaustedEndsTheHunt() throws {
    let path = folder.path + "/exhausted"
    let result = try hunt(
      "--scenario published-before-written/mended --strategy depth-first:9 --duration 1h "
        + "--output \(path) --no-progress")
    #expect(result.code == .success)
  }

  @Test(
    arguments: [
      "lost-update", "--strategy walk", "--scenario nothing", "--shard 3/2", "--shard 0/2",
      "--seed x", "--duration 3", "--duration 0s", "--sanitizer thread",
      "--bugs --scenario lost-update",
      "--processes 0", "--processes 2 --shard 1/2", "--replay-corpus --duration 1s",
    ])
  func wrongFlagsAreRefused(line: String) {
    #expect(throws: UsageError.self) { try hunt(line) }
  }

  @Test func aShardOfTheScoreHasItsBugsAlone() throws {
    let path = folder.path + "/score"
    let result = try hunt("--bugs --shard 2/1000 --duration 20ms --output \(path) --quiet")
    #expect(result.code == .success || result.code == .invariantViolated, "\(result.output)")
    let rows = try #require(textOfFile(path + "/bugs.csv").flatMap { CSVTable.parse($0) })
    #expect(Set(rows.dropFirst().map { $0[2] }) == [HuntProgram.broken[1].name])
    #expect(rows.count == 1 + 4)
  }

  @Test func anInterruptedScoreIsWrittenAndSaysSo() throws {
    let path = folder.path + "/score"
    let result = try hunt("--bugs --output \(path) --no-progress") {
      TimedInterruption(afterNanoseconds: 0)
    }
    #expect(result.code == .interrupted && result.errors.contains("interrupted; "))
    #expect(textOfFile(path + "/bugs.md")?.contains("Interrupted: 0 of ") == true)
    let rows = try #require(textOfFile(path + "/bugs.csv").flatMap(CSVTable.parse))
    #expect(rows.count == 1)
  }

  @Test func aFailureThatCannotBeWrittenIsShown() throws {
    let path = folder.path + "/gone"
    let result = try hunt("--scenario lost-update --output \(path) --no-progress") {
      // The folder was made a moment ago.
      #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: path) }
      return TimedInterruption()
    }
    #expect(result.code == .failed && result.errors.contains("cannot write to '\(path)'"))
    #expect(result.output.contains("an update is lost") && result.output.contains("schedule "))
  }

  /// On a busy machine a slice of time could be over before it had begun, and the program that it
  /// was meant for was called hanging.
  @Test func aDeadlineThatHasPassedIsNoHang() throws {
    var settings = Explorer.Settings()
    settings.deadline = 1
    let program = try #require(HuntProgram.named("lost-update/mended"))
    #expect(try Explorer(program.program, settings).explore().schedules >= 1)
  }

  @Test func keptFailuresDoNotReplaceEachOther() throws {
    let path = folder.path + "/out"
    _ = try hunt("--scenario lost-update --output \(path) --no-progress")
    var bundle = try HuntBundle.read(path)
    let corpus = folder.path + "/corpus"
    func kept() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: corpus) }
    try bundle.keep(in: corpus)
    try bundle.keep(in: corpus)
    #expect(try kept().count == 1)
    let first = bundle.schedule
    bundle.schedule += ",9999>1"
    try bundle.keep(in: corpus)
    let schedules = try kept().map { try HuntBundle.read(corpus + "/" + $0).schedule }
    #expect(Set(schedules) == [first, bundle.schedule])
  }

  /// One that this build cannot repeat kept all behind it from being repeated.
  @Test func keptSchedulesAreRepeatedAndThoseThatCannotBeAreNamed() throws {
    let path = folder.path + "/out"
    _ = try hunt("--scenario lost-update --output \(path) --no-progress")
    var bundle = try HuntBundle.read(path)
    let corpus = folder.path + "/corpus"
    try bundle.keep(in: corpus)
    bundle.scenario = "a-program-that-is-gone"
    try bundle.keep(in: corpus)
    try "{".write(toFile: corpus + "/aaa.json", atomically: true, encoding: .utf8)
    let collected = CollectedOutput()
    let code = try HuntVerb.replayCorpus(in: corpus, collected.console())
    #expect(code == .invariantViolated)
    #expect(collected.output.contains("lost-update: fails as before"))
    #expect(collected.output.contains("3 kept schedules, 1 of them fail, 2 of them are left out"))
    let named = ["/aaa.json' is left out: ", "this build has no program 'a-program-that-is-gone'"]
    for words in named {
      #expect(collected.errors.contains(words), "\(collected.errors)")
    }
    // Nothing fails, but not all was looked at.
    for name in try FileManager.default.contentsOfDirectory(atPath: corpus)
    where name.hasPrefix("lost-update") {
      try FileManager.default.removeItem(atPath: corpus + "/" + name)
    }
    let rest = try HuntVerb.replayCorpus(in: corpus, CollectedOutput().console())
    #expect(rest == .inconclusive)
    let none = try HuntVerb.replayCorpus(in: folder.path + "/none", CollectedOutput().console())
    #expect(none == .success)
  }

  @Test func failuresOfPlantedBugsAreNotKept() throws {
    let path = folder.path + "/out"
    _ = try hunt("--scenario lost-update --output \(path) --no-progress")
    var bundle = try HuntBundle.read(path)
    let (broken, sound) = (
      try #require(HuntProgram.named("lost-update")),
      try #require(HuntProgram.named("lost-update/mended"))
    )
    bundle.plantedBug = nil
    #expect(bundle.isToBeKept(of: sound) && !bundle.isToBeKept(of: broken))
    bundle.plantedBug = "loseCommit"
    #expect(!bundle.isToBeKept(of: sound))
    (bundle.plantedBug, bundle.schedule) = (nil, "")
    #expect(!bundle.isToBeKept(of: sound))
  }

  @Test func aNearNameIsNamed() {
    #expect(
      throws: UsageError("--scenario: there is no 'lost-updat'; did you mean 'lost-update'?")
    ) { try hunt("--scenario lost-updat") }
  }

  @Test func aBundleOfALaterVersionIsRefused() throws {
    let path = folder.path + "/out"
    _ = try hunt("--scenario lost-update --output \(path) --no-progress")
    var bundle = try HuntBundle.read(path)
    #expect(try replay(path).code == .invariantViolated)
    bundle.schemaVersion += 1
    try encodeJSON(bundle).write(
      toFile: path + "/bundle.json", atomically: true, encoding: .utf8)
    let error = #expect(throws: UsageError.self) { try replay(path) }
    #expect(error?.message.contains("has schema version 2; this tool knows up to 1") == true)
    bundle.schemaVersion = 0
    try encodeJSON(bundle).write(
      toFile: path + "/bundle.json", atomically: true, encoding: .utf8)
    let none = #expect(throws: UsageError.self) { try replay(path) }
    #expect(none?.message.contains("has schema version 0, which no hunt has written") == true)
  }

  /// Ctrl-C did nothing until the last schedule was repeated.
  @Test func signalsEndTheRepetitionOfKeptSchedules() {
    #expect(HuntVerb.hearsSignals(["--duration", "1s"]))
    #expect(!HuntVerb.hearsSignals(["--replay-corpus"]))
  }

  @Test func foldersThatAreNoBundleAreRefused() throws {
    #expect(throws: UsageError.self) { try replay(folder.path) }
    try Data("{}".utf8).write(to: URL(fileURLWithPath: folder.path + "/bundle.json"))
    #expect(throws: UsageError.self) { try replay(folder.path) }
  }

  @Test func aScheduleThatIsNoneIsRefused() throws {
    let path = folder.path + "/out"
    _ = try hunt("--scenario lost-update --output \(path) --no-progress")
    var bundle = try HuntBundle.read(path)
    bundle.schedule = "1>2"
    try encodeJSON(bundle).write(
      toFile: path + "/bundle.json", atomically: true, encoding: .utf8)
    let error = #expect(throws: UsageError.self) { try replay(path) }
    #expect(error?.message.contains("'1>2' is not a schedule, such as 1f:3>2,5>1") == true)
  }

  @Test func anExistingFolderIsRefused() throws {
    try FileManager.default.createDirectory(
      atPath: folder.path + "/there/x", withIntermediateDirectories: true)
    #expect(throws: UsageError.self) { try hunt("--output \(folder.path)/there") }
  }
}
