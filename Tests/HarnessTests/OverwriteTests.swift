// `--overwrite`: what earlier runs have written is replaced when the new results are complete, and
// nothing else is ever touched. It began with notes and plots of a user that went with the results
// they lay beside, and with a whole project that held a run.json of its own.
import Foundation
import Glibc
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct OverwriteTests {
  private let folder: TemporaryFolder
  init() { folder = TemporaryFolder() }

  private static let bare =
    "readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --interval 20ms "

  @discardableResult
  private func run(
    _ more: String, to output: String, bug: ModelBug? = nil, isInterrupted: Bool = false
  ) throws -> (code: ExitCode, output: String, errors: String) {
    let collected = CollectedOutput()
    let engine = ModelEngine(bug: bug)
    let surroundings = RunVerb.Surroundings(
      console: collected.console(),
      interruption: { CommitInterruption(engine: engine, commits: isInterrupted ? 20 : .max) },
      makeDriver: { _, _ in engine })
    let words = (Self.bare + more).split(separator: " ").map(String.init)
    let code = try RunVerb.run(words + ["--output", output], surroundings)
    return (code, collected.output, collected.errors)
  }

  private func refusal(to output: String) -> String {
    do {
      try run("--ops 20 --overwrite", to: output)
      return ""
    } catch {
      return (error as? UsageError)?.message ?? "\(error)"
    }
  }

  private func write(_ text: String, _ name: String) throws {
    try text.write(toFile: folder.file(name), atomically: false, encoding: .utf8)
  }

  private func text(_ name: String) -> String? { textOfFile(folder.file(name)) }

  private func seed(_ name: String) -> UInt64? {
    (try? MeasuredRun(folder: folder.file(name)))?.document.seed
  }

  /// Everything in a folder.
  private func names(_ name: String = "out") -> Set<String> {
    Set((try? FileManager.default.subpathsOfDirectory(atPath: folder.file(name))) ?? [])
  }

  private func unfinished(_ name: String = "out") -> [String] {
    names(name).filter { $0.hasPrefix("unfinished-") && !$0.contains("/") }.sorted()
  }

  /// The folder was named in which they had been until they were complete.
  @Test func resultsThatCannotBeShownAreNamedWhereTheyAre() throws {
    let out = folder.file("out")
    try run("--ops 20", to: out)
    let errors = CollectedOutput()
    let console = errors.consoleWithFullOutput()
    let surroundings = RunVerb.Surroundings(
      console: console, interruption: { TimedInterruption() },
      makeDriver: { _, _ in ModelEngine(bug: nil) })
    let words = (Self.bare + "--ops 20 --overwrite").split(separator: " ").map(String.init)
    let code = try RunVerb.run(words + ["--output", out], surroundings)
    #expect(console.end(with: code) == .failed)
    #expect(errors.errors.contains("; the results are in \(out)\n"), "\(errors.errors)")
  }

  // MARK: - What is refused

  @Test func whatNoRunHasWrittenIsRefusedByItsName() throws {
    let out = folder.file("out")
    try run("--ops 20 --seed 1", to: out)
    let before = names()
    try write("mine", "precious")
    func attack(_ what: String, _ words: String, _ body: () throws -> Void) throws {
      try body()
      let message = refusal(to: out)
      #expect(message.contains("holds what no run has written"), "\(what): \(message)")
      #expect(message.contains(words), "\(what): \(message)")
    }
    try attack("notes", "'notes.txt'") { try write("mine", "out/notes.txt") }
    #expect(text("out/notes.txt") == "mine" && seed("out") == 1)
    try FileManager.default.removeItem(atPath: out + "/notes.txt")
    try attack("folder", "the folder 'plots'") { _ = folder.makeFolder("out/plots") }
    rmdir(out + "/plots")
    try attack("plot", "'histograms/read.png'") { try write("mine", "out/histograms/read.png") }
    unlink(out + "/histograms/read.png")
    // Of another name than any run would give, though a run's own name elsewhere.
    try attack("nested", "'histograms/summary.csv'") {
      try write("mine", "out/histograms/summary.csv")
    }
    unlink(out + "/histograms/summary.csv")
    try attack("changed", "'growth.csv', which has been changed since") {
      try write(try #require(text("out/growth.csv")) + "# my remark\n", "out/growth.csv")
    }
    unlink(out + "/growth.csv")
    try attack("folder of a file's name", "the folder 'growth.csv'") {
      _ = folder.makeFolder("out/growth.csv")
    }
    rmdir(out + "/growth.csv")
    try attack("link", "'growth.csv', which is a link") {
      symlink("../precious", out + "/growth.csv")
    }
    unlink(out + "/growth.csv")
    // In Latin 1: no text that the tool could show, and somebody's file all the same.
    let latin =
      out.utf8CString.dropLast() + "/caf".utf8CString.dropLast() + [CChar(bitPattern: 0xe9), 0]
    try attack("name that is no text", "'caf") { close(creat(Array(latin), 0o644)) }
    unlink(Array(latin))
    try attack("changed list", "'run.json', which has been changed since") {
      let document = try #require(text("out/run.json"))
      try write(document.replacing("readers-writer", with: "my-name"), "out/run.json")
    }
    #expect(text("precious") == "mine")
    #expect(names() == before.subtracting(["growth.csv"]))
  }

  @Test func aProjectWithARunDocumentOfItsOwnIsRefused() throws {
    for document in ["{}", "{\"run\": \"npm start\"}", "not JSON"] {
      try? FileManager.default.removeItem(atPath: folder.file("project"))
      _ = folder.makeFolder("project")
      try write(document, "project/run.json")
      #expect(refusal(to: folder.file("project")).contains("'run.json'"))
      #expect(text("project/run.json") == document)
    }
    // A results folder of the tool's, with a project around it.
    try FileManager.default.removeItem(atPath: folder.file("project"))
    try run("--ops 20", to: folder.file("project"))
    try FileManager.default.createDirectory(
      atPath: folder.file("project/Sources/App"), withIntermediateDirectories: true)
    try write("mine", "project/Sources/App/main.swift")
    #expect(refusal(to: folder.file("project")).contains("the folder 'Sources'"))
    #expect(text("project/Sources/App/main.swift") == "mine")
  }

  @Test func linksAreFollowedAndStay() throws {
    let out = folder.file("out")
    try run("--ops 20 --seed 1", to: out)
    symlink("out", folder.file("link"))
    #expect(try run("--ops 20 --seed 2 --overwrite", to: folder.file("link")).code == .success)
    #expect(seed("out") == 2 && unfinished() == [])
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("link")) == "out")
    symlink("nowhere", folder.file("dangling"))
    #expect(refusal(to: folder.file("dangling")).contains("is a link to nothing"))
    #expect(throws: UsageError.self) { try run("--ops 20", to: folder.file("dangling")) }
    #expect(!FileManager.default.fileExists(atPath: folder.file("nowhere")))
    try write("mine", "file")
    #expect(refusal(to: folder.file("file")).contains("is a file, or below one"))
    #expect(refusal(to: folder.file("file/below")).contains("is a file, or below one"))
    #expect(text("file") == "mine")
  }

  @Test func aRealmFileOfARunThatSomebodyUsesIsLeftAlone() throws {
    let out = folder.file("out")
    let run = line + ["--ops", "20", "--keep-file"]
    #expect(end(try start(run)) == 0)
    let file = out + "/data.realm"
    // Who looks at it changes nothing.
    for verb in ["check", "inspect"] { #expect(end(try start([verb, file])) == 0) }
    #expect(end(try start(run + ["--overwrite"])) == 0)
    do {
      let driver = try RealmDriver(path: file, durability: .full)
      #expect(refusal(to: out).contains("'data.realm', which is open"))
      driver.close()
    }
    // What is written to it after the run is somebody's work.
    var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    bytes[bytes.count - 1] ^= 1
    try bytes.write(to: URL(fileURLWithPath: file))
    #expect(refusal(to: out).contains("'data.realm', which has been changed since"))
    unlink(file)
    #expect(end(try start(run + ["--overwrite"])) == 0)
  }

  // MARK: - When earlier results go

  @Test func completeResultsTakeThePlaceOfEarlierOnes() throws {
    let out = folder.file("out")
    try run("--ops 20 --seed 1 --history", to: out)
    #expect(names().contains("history.jsonl"))
    let inode = try FileManager.default.attributesOfItem(atPath: out)[.systemFileNumber] as? Int
    #expect(try run("--ops 20 --seed 2 --overwrite", to: out + "/").code == .success)
    #expect(seed("out") == 2)
    #expect(!names().contains("history.jsonl"), "a file of the earlier run is left")
    #expect(unfinished() == [])
    // Who has the folder open or has given it rights of its own keeps them.
    let after = try FileManager.default.attributesOfItem(atPath: out)[.systemFileNumber] as? Int
    #expect(inode == after)
    let document = try MeasuredRun(folder: out).document
    #expect(document.settings.path == out + "/data.realm" && document.settings.output == out)
    #expect(try run("--ops 20 --seed 3 --overwrite", to: out).code == .success)
    #expect(seed("out") == 3)
  }

  @Test(arguments: [true, false])
  func whatDoesNotComeToItsEndLeavesCompleteResultsAlone(isInterrupted: Bool) throws {
    let out = folder.file("out")
    try run("--ops 20 --seed 1", to: out)
    let before = names()
    let result = try run(
      "--duration 1h --seed 2 --overwrite", to: out, bug: isInterrupted ? nil : .halfRow,
      isInterrupted: isInterrupted)
    #expect(result.code == (isInterrupted ? .interrupted : .invariantViolated))
    #expect(seed("out") == 1)
    let name = try #require(unfinished().first)
    #expect(names().filter { !$0.hasPrefix(name) } == before)
    #expect(result.errors.contains("'\(out)' still holds the earlier results"))
    #expect(result.errors.contains("'\(out)/\(name)'"))
    let partial = try MeasuredRun(folder: out + "/" + name).document
    #expect(partial.seed == 2 && partial.status == (isInterrupted ? "interrupted" : "failed"))
    // It is in nobody's way, and goes with the results that the next run replaces.
    #expect(try run("--ops 20 --seed 3 --overwrite", to: out).code == .success)
    #expect(seed("out") == 3 && unfinished() == [])
  }

  @Test func partialResultsReplacePartialOnes() throws {
    let out = folder.file("out")
    try run("--duration 1h --seed 1", to: out, isInterrupted: true)
    let second = try run("--duration 1h --seed 2 --overwrite", to: out, isInterrupted: true)
    #expect(second.code == .interrupted)
    #expect(seed("out") == 2 && unfinished() == [])
  }

  @Test func whatIsPutIntoTheFolderMeanwhileStays() throws {
    let out = folder.file("out")
    try run("--ops 20 --seed 1", to: out)
    struct Writer: Interruption {
      let path: String
      func isRequested() -> Bool {
        try? "mine".write(toFile: path, atomically: false, encoding: .utf8)
        return false
      }
    }
    func runBeside(_ name: String, seed: Int) throws -> (code: ExitCode, errors: String) {
      let collected = CollectedOutput()
      let surroundings = RunVerb.Surroundings(
        console: collected.console(), interruption: { Writer(path: out + "/" + name) },
        makeDriver: { _, _ in ModelEngine(bug: nil) })
      let line = Self.bare + "--ops 3000 --seed \(seed) --overwrite --output \(out)"
      let code = try RunVerb.run(line.split(separator: " ").map(String.init), surroundings)
      return (code, collected.errors)
    }
    #expect(try runBeside("notes.txt", seed: 2).code == .success)
    #expect(text("out/notes.txt") == "mine" && seed("out") == 2)
    unlink(out + "/notes.txt")
    let second = try runBeside("summary.csv", seed: 3)
    #expect(second.code == .failed && second.errors.contains("has been made or changed meanwhile"))
    #expect(text("out/summary.csv") == "mine")
    let name = try #require(unfinished().first)
    #expect(seed("out/" + name) == 3)
  }

  // MARK: - Processes that are killed, and two at once

  private static let tool = Bundle.main.executableURL!.deletingLastPathComponent()
    .appendingPathComponent("realm-bench")

  private func start(_ words: [String]) throws -> Process {
    let process = Process()
    process.executableURL = Self.tool
    process.arguments = words
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.start()
    return process
  }

  private func end(_ process: Process) -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }

  private var line: [String] {
    ["run"] + Self.bare.split(separator: " ").map(String.init) + ["--output", "out"]
  }

  @Test func aKilledRunLeavesTheEarlierResultsAndIsInNobodysWay() throws {
    #expect(end(try start(line + ["--ops", "20", "--seed", "1"])) == 0)
    let before = names()
    let process = try start(line + ["--duration", "1h", "--seed", "2", "--overwrite"])
    #expect(
      eventually {
        unfinished().first.map { names().contains($0 + "/growth.csv") } ?? false
      })
    // While it runs nobody else gets the folder.
    #expect(end(try start(line + ["--ops", "20", "--seed", "3", "--overwrite"])) == 64)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    #expect(seed("out") == 1)
    #expect(names().filter { !$0.hasPrefix("unfinished-") } == before)
    #expect(end(try start(line + ["--ops", "20", "--seed", "4", "--overwrite"])) == 0)
    #expect(seed("out") == 4 && unfinished() == [])
  }

  @Test func aRunThatIsKilledInANewFolderCanBeReplaced() throws {
    let process = try start(line + ["--duration", "1h"])
    #expect(eventually { names().contains("manifest.json") })
    #expect(end(try start(line + ["--ops", "20", "--overwrite"])) == 64)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    #expect(end(try start(line + ["--ops", "20", "--seed", "5", "--overwrite"])) == 0)
    #expect(seed("out") == 5 && !names().contains("manifest.json"))
  }

  /// The part of a run whose own process is gone may still be written to.
  @Test func aReplicaWhoseParentWasKilledIsNotTakenAway() throws {
    let parent = try start(line + ["--duration", "1h", "--replicas", "2"])
    #expect(eventually { names().contains("replica-001/growth.csv") })
    let child = try #require(Self.child(of: parent.processIdentifier))
    kill(parent.processIdentifier, SIGKILL)
    parent.waitUntilExit()
    #expect(refusal(to: folder.file("out")).contains("'replica-001', to which a run is writing"))
    kill(child, SIGKILL)
    #expect(eventually { kill(child, 0) != 0 })
    #expect(end(try start(line + ["--ops", "20", "--seed", "6", "--overwrite"])) == 0)
    #expect(seed("out") == 6 && !names().contains("replica-001"))
  }

  /// The process that another one has started.
  private static func child(of parent: Int32) -> Int32? {
    let path = "/proc/\(parent)/task/\(parent)/children"
    return textOfFile(path)?.split(separator: " ").first.flatMap { Int32($0) }
  }

  /// What a process leaves that is killed just while it puts results in their place.
  @Test func resultsThatWereJustBeingReplacedAreKnown() throws {
    let out = folder.file("out")
    try run("--ops 20 --seed 1 --history", to: out)
    try run("--ops 20 --seed 2", to: folder.file("new"))
    let inner = out + "/unfinished-20260101T000000Z-readers-writer-2"
    try FileManager.default.moveItem(atPath: folder.file("new"), toPath: inner)
    // The earlier list has gone first; one file is replaced, and the others are as they were.
    mkdir(inner + "-earlier", 0o777)
    for name in ["run.json", "summary.csv"] {
      #expect(rename(out + "/" + name, inner + "-earlier/" + name) == 0)
    }
    #expect(rename(inner + "/summary.csv", out + "/summary.csv") == 0)
    #expect(throws: ResultsError.self) { try MeasuredRun(folder: out) }
    try write("mine", "out/notes.txt")
    #expect(refusal(to: out).contains("written: 'notes.txt';"))
    unlink(out + "/notes.txt")
    #expect(try run("--ops 20 --seed 3 --overwrite", to: out).code == .success)
    #expect(seed("out") == 3 && unfinished() == [] && !names().contains("history.jsonl"))
  }

  /// More of what killed processes leave, from where `rename` and `unlink` were made to kill.
  @Test func whatKilledProcessesLeaveIsKnown() throws {
    let out = folder.file("out")
    try run("--ops 20 --seed 1", to: out)
    func inner(_ number: Int, _ names: String...) throws {
      let path = out + "/unfinished-\(number)"
      mkdir(path, 0o777)
      for name in names {
        try FileManager.default.createDirectory(
          atPath: (path + "/" + name as NSString).deletingLastPathComponent,
          withIntermediateDirectories: true)
        if !name.hasSuffix("/") { try write("x", "out/unfinished-\(number)/" + name) }
      }
    }
    try inner(1)
    try inner(2, "manifest.json.partial")
    try inner(3, "histograms/", "experiments/001/histograms/")
    #expect(unfinished().count == 3)
    #expect(try run("--ops 20 --seed 2 --overwrite", to: out).code == .success)
    #expect(seed("out") == 2 && unfinished() == [])
    try inner(4, "experiments/001/notes.txt")
    #expect(refusal(to: out).contains("the folder 'unfinished-4', which holds no results"))
    #expect(text("out/unfinished-4/experiments/001/notes.txt") == "x")
  }

  @Test func runsThatBeginAtOnceHaveAFolderEach() throws {
    let words = ["run"] + Self.bare.split(separator: " ").map(String.init) + ["--ops", "20"]
    let processes = try (0..<6).map { _ in try start(words) }
    #expect(processes.map(end) == [0, 0, 0, 0, 0, 0])
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: folder.file("realm-bench-results"))
    #expect(folders.count == 6)
    let runs = try folders.map {
      try MeasuredRun(folder: folder.file("realm-bench-results/" + $0)).document.runId
    }
    #expect(Set(runs) == Set(folders), "a run is named as its folder is")
  }

  @Test func ofRunsThatNameOneFileOrFolderOneGetsIt() throws {
    let words = ["run"] + Self.bare.split(separator: " ").map(String.init) + ["--ops", "2000"]
    for more in [["--path", "one.realm"], ["--output", "one"]] {
      let processes = try (0..<3).map { _ in try start(words + more) }
      #expect(processes.map(end).sorted() == [0, 64, 64], "\(more)")
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("one.realm")))
    // Nor is a file of the engine's beside a new one taken away.
    try write("mine", "two.realm.lock")
    #expect(end(try start(words + ["--path", "two.realm"])) == 64)
    #expect(text("two.realm.lock") == "mine")
  }

  // MARK: - Folders of the other verbs

  private func verb(_ line: String) throws -> (code: ExitCode, output: String) {
    let collected = CollectedOutput()
    let code = try RealmBench.dispatch(
      line.split(separator: " ").map(String.init), console: collected.console())
    return (code, collected.output + collected.errors)
  }

  @Test func huntsPlansAndMergesReplaceTheirOwnFoldersOnly() throws {
    let hunt = "hunt --scenario lost-update --no-progress --output \(folder.path)/hunt"
    #expect(try verb(hunt).code == .invariantViolated)
    let again = try verb(hunt + " --overwrite")
    #expect(again.code == .invariantViolated)
    #expect(again.output.contains("realm-bench replay \(folder.path)/hunt\n"))
    #expect(try verb("replay \(folder.path)/hunt").code == .invariantViolated)
    try write("mine", "hunt/notes.txt")
    #expect(throws: UsageError.self) { try verb(hunt + " --overwrite") }
    #expect(text("hunt/notes.txt") == "mine")

    try run("--ops 200 --seed 1", to: folder.file("a"))
    try run("--ops 200 --seed 2", to: folder.file("b"))
    try write("mine", "a/notes.txt")
    let merge = "merge \(folder.path)/a \(folder.path)/b --quiet -o \(folder.path)/joined"
    #expect(try verb(merge).code == .success)
    #expect(!names("joined").contains("replica-001/notes.txt"))
    #expect(try verb(merge + " --overwrite").code == .success)
    try write("mine", "joined/replica-001/notes.txt")
    #expect(throws: UsageError.self) { try verb(merge + " --overwrite") }

    let plan =
      "plan --validate --from \(folder.path)/a --quiet --overwrite --output \(folder.path)/"
    #expect(throws: UsageError.self) { try verb(plan + "a") }
    #expect(throws: UsageError.self) { try verb(plan + "a/deeper") }
    #expect(seed("a") == 1 && text("a/notes.txt") == "mine")
  }

  @Test func foldersOfEarlierVersionsAreKnownByTheNamesInThem() throws {
    let out = folder.file("out")
    try run("--ops 20 --seed 1", to: out)
    // As versions wrote it that had no list.
    var document = try RunDocument(path: out + "/run.json")
    document.files = nil
    try write(try document.json(), "out/run.json")
    try write("mine", "out/notes.txt")
    #expect(refusal(to: out).contains("'notes.txt'"))
    unlink(out + "/notes.txt")
    #expect(try run("--ops 20 --seed 2 --overwrite", to: out).code == .success)
    #expect(seed("out") == 2)

    // A plan that had failed left nothing but its experiments.
    _ = folder.makeFolder("plan")
    _ = folder.makeFolder("plan/experiments")
    try FileManager.default.copyItem(atPath: out, toPath: folder.file("plan/experiments/001"))
    #expect(try run("--ops 20 --seed 3 --overwrite", to: folder.file("plan")).code == .success)
    #expect(!names("plan").contains("experiments"))

    // What only looks so is left alone.
    _ = folder.makeFolder("tables")
    try write("a,b\n1,2\n", "tables/plan.csv")
    #expect(refusal(to: folder.file("tables")).contains("'plan.csv'"))
  }

  @Test func aFolderThatCannotBeWrittenToLosesNothing() throws {
    // root may write anywhere: only a file system that refuses it shows this.
    let collected = CollectedOutput()
    let surroundings = RunVerb.Surroundings(
      console: collected.console(), interruption: { TimedInterruption() },
      makeDriver: { _, _ in ModelEngine(bug: nil) })
    let words = (Self.bare + "--ops 20 --output /proc/self/results").split(separator: " ")
    let error = #expect(throws: UsageError.self) {
      try RunVerb.run(words.map(String.init), surroundings)
    }
    #expect(
      error?.message.contains("cannot make the results folder '/proc/self/results'") == true)
  }
}
