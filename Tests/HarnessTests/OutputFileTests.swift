// Single files that verbs write, baselines and histories: nobody's file is replaced, and nothing is
// left half done.
internal import Foundation
internal import Glibc
internal import TestSupport
internal import Testing

@testable internal import Harness

@Suite(.serialized, .ownThreads) struct OutputFileTests {
  private let folder: TemporaryFolder
  init() { folder = TemporaryFolder() }

  /// The tool in a process of its own, whose working directory is the test's folder.
  @discardableResult
  private func tool(_ line: String) throws -> (code: Int32, output: String, errors: String) {
    let process = Process()
    process.executableURL = Bundle.main.executableURL!.deletingLastPathComponent()
      .appendingPathComponent("realm-bench")
    process.arguments = line.split(separator: " ").map(String.init)
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.start()
    // Neither is more than a pipe holds.
    let told = output.fileHandleForReading.readDataToEndOfFile()
    let complained = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (
      process.terminationStatus, String(decoding: told, as: UTF8.self),
      String(decoding: complained, as: UTF8.self)
    )
  }

  private static let run =
    "run readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --ops 200 --quiet "

  private func write(_ text: String, _ name: String) throws {
    try text.write(toFile: folder.file(name), atomically: false, encoding: .utf8)
  }

  private func text(_ name: String) -> String? { textOfFile(folder.file(name)) }

  @Test func comparisonsAndPagesReplaceOnlyTheirOwnFiles() throws {
    try tool(Self.run + "--output a")
    try tool(Self.run + "--output b")
    try write("mine", "notes.txt")
    let forms = ComparisonFormat.allCases.map { "--write \($0.rawValue)=copy.\($0.rawValue)" }
    let all = "compare a b --partial " + forms.joined(separator: " ")
    #expect(try tool(all).code == 0)
    let first = text("copy.markdown")
    #expect(try tool(all).code == 0, "the files that it has written are replaced")
    #expect(text("copy.markdown") == first)
    for flag in [
      "--output ", "--write text=", "--write json=", "--write markdown=", "--write junit=",
    ] {
      let result = try tool("compare a b --partial \(flag)notes.txt")
      #expect(result.code == 64 && result.errors.contains("'notes.txt' is not "), "\(flag)")
    }
    #expect(try tool("compare a b --partial --write json=copy.markdown").code == 64)
    #expect(text("copy.markdown") == first)

    #expect(try tool("report a").code == 0)
    #expect(try tool("report a").code == 64)
    #expect(try tool("report a --overwrite").code == 0)
    for name in ["notes.txt", "a/summary.csv", "a", "a/missing/page.html"] {
      let result = try tool("report a --overwrite -o \(name)")
      #expect(result.code == 64, "\(name): \(result.errors)")
      #expect(try tool("report --trend history a --overwrite -o \(name)").code == 64, "\(name)")
    }
    #expect(text("notes.txt") == "mine")
    #expect(try tool("report --trend history a b -o trend.html").code == 0)
    #expect(try tool("report --trend history --overwrite -o trend.html").code == 0)
    // An empty file loses nothing, as a job's summary page is at first.
    try write("", "empty")
    #expect(try tool("compare a b --partial --write markdown=empty").code == 0)
    #expect(text("empty")?.isEmpty == false)
  }

  @Test func devicesAreWrittenToAndStay() throws {
    try tool(Self.run + "--output a")
    try tool(Self.run + "--output b")
    #expect(try tool("compare a b --partial --output /dev/null --write json=/dev/null").code == 0)
    var description = stat()
    #expect(stat("/dev/null", &description) == 0 && description.st_mode & S_IFMT == S_IFCHR)
    let shown = try tool("compare a b --partial --output /dev/stdout")
    #expect(shown.code == 0 && shown.output.contains(ComparisonOutput.columns[0] + ",metric,"))
  }

  /// A shell that redirects standard output has a file there, and goes on with it.
  @Test func standardOutputThatIsAFileKeepsAllThatIsPrinted() throws {
    try tool(Self.run + "--output a")
    try tool(Self.run + "--output b")
    try write("first\n", "all.txt")
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("all.txt")))
    try file.seekToEnd()
    let process = Process()
    process.executableURL = Bundle.main.executableURL!.deletingLastPathComponent()
      .appendingPathComponent("realm-bench")
    process.arguments = [
      "compare", "a", "b", "--partial", "--output", "/dev/stdout", "--write", "json=/dev/fd/1",
    ]
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.standardOutput = file
    process.standardError = FileHandle.nullDevice
    try process.start()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let all = try #require(text("all.txt"))
    #expect(all.hasPrefix("first\n1 baseline and 1 candidate runs"))
    #expect(all.contains("\nrow,metric,baseline") && all.hasSuffix("}\n"))
  }

  @Test func linksToFilesAreFollowedAndStay() throws {
    try tool(Self.run + "--output a")
    try tool("report a -o real.html")
    symlink("real.html", folder.file("link.html"))
    #expect(try tool("report a --overwrite -o link.html").code == 0)
    #expect(
      try FileManager.default.destinationOfSymbolicLink(
        atPath: folder.file("link.html")) == "real.html")
    symlink("nothing", folder.file("dangling.html"))
    #expect(try tool("report a --overwrite -o dangling.html").code == 64)
    #expect(text("nothing") == nil)
  }

  @Test func aFileOfTheNameOfAHalfWrittenOneStays() throws {
    try tool(Self.run + "--output a")
    try tool(Self.run + "--output other")
    for name in ["report.html", "compare.csv"] { try write("mine", name + ".partial") }
    #expect(try tool("report a").code == 0 && tool("compare a other --partial").code == 0)
    #expect(try tool("report a --overwrite").code == 0)
    for name in ["report.html", "compare.csv"] { #expect(text(name + ".partial") == "mine") }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(left.filter { $0.contains("partial") }.count == 2)
    // Nor is a copy of a baseline in the way that a killed process has left half done.
    try FileManager.default.createDirectory(
      atPath: folder.file("results/baselines/main/unfinished-copy"),
      withIntermediateDirectories: true)
    #expect(try tool(Self.run + "--output b --save-baseline main").code == 0)
    #expect(replicas("main") == ["replica-001", "unfinished-copy"])
  }

  @Test func oneFileForTwoFormsIsRefused() throws {
    try tool(Self.run + "--output a")
    try tool(Self.run + "--output b")
    for words in ["--output x --write json=./x", "--write json=x --write text=x"] {
      let result = try tool("compare a b --partial \(words)")
      #expect(result.code == 64 && result.errors.contains("are one file"), "\(words)")
    }
    #expect(text("x") == nil)
    #expect(
      try tool("compare a b --partial --write json=/dev/null --write text=/dev/null").code == 0)
  }

  @Test func measuringTheDiskLeavesTheFilesOfOthersAlone() throws {
    try write("mine", "raw-sync.tmp")
    #expect(try tool(Self.run + "--output a --path b.realm").code == 0)
    #expect(text("raw-sync.tmp") == "mine")
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(Set(left) == ["a", "raw-sync.tmp"])
  }

  // MARK: - Baselines

  private func replicas(_ name: String) -> [String] {
    let path = folder.file("results/baselines/" + name)
    return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  @Test func baselinesAreNamesAndHaveNumbersOfTheirOwn() throws {
    try tool(Self.run + "--output a --save-baseline main")
    try tool(Self.run + "--output b --save-baseline main")
    #expect(replicas("main") == ["replica-001", "replica-002"])
    // Someone has thrown one away: the next one takes no number that is there.
    try FileManager.default.removeItem(
      atPath: folder.file("results/baselines/main/replica-001"))
    let kept = text("results/baselines/main/replica-002/run.json")
    #expect(try tool(Self.run + "--output c --save-baseline main").code == 0)
    #expect(replicas("main") == ["replica-002", "replica-003"])
    #expect(text("results/baselines/main/replica-002/run.json") == kept)

    // A folder of that name in the working directory is no baseline.
    _ = folder.makeFolder("other")
    #expect(try tool(Self.run + "--output d --baseline other").code == 5)
    #expect(!FileManager.default.fileExists(atPath: folder.file("d")))
    _ = folder.makeFolder("main")
    #expect(try tool(Self.run + "--output d --baseline main").code != 5)
    let both = try tool("compare main a")
    #expect(both.code == 64 && both.errors.contains("'./main' or 'results/baselines/main'"))
    rmdir(folder.file("main"))
    #expect(try tool("compare main a").code != 5)
    #expect(try tool("compare ../baselines/main a").code == 5, "a name is no path")
    #expect(try tool(Self.run + "--output e --save-baseline ../x").code == 64)

    // Nor does a run take its folder.
    let taken = try tool(Self.run + "--output results/baselines/main --overwrite")
    #expect(taken.code == 64 && taken.errors.contains("the folder 'replica-002'"))
  }

  @Test(arguments: ["9223372036854775807", "-9223372036854775808", "99999999999999999999"])
  func aNumberThatIsTooHighIsNotGoneOnFrom(_ number: String) throws {
    for part in ["results", "results/baselines", "results/baselines/main"] {
      _ = folder.makeFolder(part)
    }
    _ = folder.makeFolder("results/baselines/main/replica-" + number)
    let result = try tool(Self.run + "--output a --save-baseline main")
    #expect(result.code == 0, "\(result.errors)")
    #expect(Set(replicas("main")) == ["replica-001", "replica-" + number])
  }

  @Test func aNameThatIsTooLongForABaselineIsRefusedBeforeTheRun() throws {
    let name = String(repeating: "n", count: 256)
    let result = try tool(Self.run + "--output a --save-baseline " + name)
    #expect(result.code == 64 && result.errors.contains("at most 255 letters"), "\(result.errors)")
    #expect(!FileManager.default.fileExists(atPath: folder.file("a")))
  }

  @Test func aBaselineThatCannotBeSavedLeavesNothingAndSaysSo() throws {
    _ = folder.makeFolder("results")
    try write("mine", "results/baselines")
    let result = try tool(Self.run + "--output a --save-baseline main")
    #expect(result.code == 64 && result.errors.contains("'results/baselines' is no folder"))
    #expect(text("results/baselines") == "mine")
    #expect(!FileManager.default.fileExists(atPath: folder.file("a")), "told before the run")
    unlink(folder.file("results/baselines"))
    _ = folder.makeFolder("results/baselines")
    try write("mine", "results/baselines/main")
    let taken = try tool(Self.run + "--output a --save-baseline main")
    #expect(taken.code == 64 && taken.errors.contains("'results/baselines/main' is no folder"))
    unlink(folder.file("results/baselines/main"))
    // A run that misses what is asked of it is no measure for others.
    let missed = try tool(
      Self.run + "--output b --save-baseline main --threshold read.count>900000000")
    #expect(missed.code == 2 && missed.errors.contains("not saved as baseline 'main'"))
    #expect(replicas("main") == [])
  }

  @Test func aBaselineOfOtherWorkIsRefusedBeforeTheRun() throws {
    try tool(Self.run + "--output a --save-baseline main")
    for (flags, words) in [
      ("--batch 3", "batch is 10 and 3"), ("--durability memory", "durability is full and memory"),
      ("--invariants none", "invariants is"),
    ] {
      let result = try tool(Self.run + "--output b --baseline main \(flags)")
      #expect(
        result.code == 64 && result.errors.contains("--baseline main")
          && result.errors.contains(words),
        "\(result.errors)")
      #expect(!FileManager.default.fileExists(atPath: folder.file("b")))
    }
    #expect(try tool(Self.run + "--output b --seed 2 --baseline main").code != 64)
  }

  @Test func runsThatDidNotEndAreNoBaselines() throws {
    try runOnModel(
      "readers-writer --readers 1 --objects 50 --warmup 0s --ops 200 --output \(folder.path)/a")
    var document = try RunDocument(path: folder.file("a/run.json"))
    document.status = "failed"
    try write(try document.sealed(), "a/run.json")
    let error = #expect(throws: ResultsError.self) {
      try Baselines.save(folder.file("a"), as: "never-saved")
    }
    #expect(error?.message.contains("is failed") == true)
  }

  // MARK: - At the same time

  /// Both have found nothing there: the one that comes later must not take the other one's place.
  @Test func ofTwoThatMakeOneFileOneDoes() throws {
    func file(_ name: String, replaces: Bool) throws -> OutputFile {
      try OutputFile(
        folder.file(name), flag: "--output", replaces ? .comparison(nil) : .page,
        replaces: replaces)
    }
    let (first, second) = (
      try file("page", replaces: false), try file("page", replaces: false)
    )
    try first.write("first")
    let error = #expect(throws: UsageError.self) { try second.write("second") }
    #expect(error?.message.contains("made by another process meanwhile") == true)
    #expect(text("page") == "first")
    // What may be replaced is replaced when it is the verb's own, and nobody's notes are.
    let (table, other) = (
      try file("table", replaces: true), try file("table", replaces: true)
    )
    let own = CSVTable(columns: ComparisonOutput.columns).text
    try table.write(own)
    try other.write(own + "more")
    #expect(text("table") == own + "more")
    let late = try file("notes", replaces: true)
    try write("mine", "notes")
    #expect(throws: UsageError.self) { try late.write(own) }
    #expect(text("notes") == "mine")
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(left.sorted() == ["notes", "page", "table"], "\(left)")
  }

  // MARK: - Histories

  @Test func runsOfOneSecondAreBothInTheHistory() throws {
    let now = Date(timeIntervalSince1970: 1_000_000_000)
    for name in ["a", "b"] {
      let surroundings = RunVerb.Surroundings(
        console: CollectedOutput().console(), interruption: { TimedInterruption() }, now: now,
        makeDriver: { _, _ in ModelEngine(bug: nil) })
      let line = "readers-writer --readers 1 --objects 50 --warmup 0s --ops 2000 --output "
      _ = try RunVerb.run(
        (line + folder.file(name)).split(separator: " ").map(String.init), surroundings)
    }
    var history = try TrendHistory(folder: folder.file("history"))
    let runs = try ["a", "b"].map { try MeasuredRun(folder: folder.file($0)) }
    #expect(runs[0].document.runId == runs[1].document.runId)
    try history.append(runs)
    try history.append(runs)
    #expect(history.entries.count == 2)
    #expect(try TrendHistory(folder: folder.file("history")).entries == history.entries)
  }
}
