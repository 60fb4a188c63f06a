// `report --trend`: the history only grows, changes of level are found where they are, and noise
// shows none.
import Foundation
import Glibc
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct TrendTests {
  private let folder: TemporaryFolder
  init() { folder = TemporaryFolder() }

  private func noise(_ random: inout RandomGenerator) -> Double {
    (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &random) }
  }

  @Test func levelsAreFoundWhereTheyChange() {
    var random = RandomGenerator(seed: testSeed())
    let levels =
      (0..<20).map { _ in 100 + noise(&random) } + (0..<15).map { _ in 120 + noise(&random) }
      + (0..<15).map { _ in 90 + noise(&random) }
    let found = ChangePoints.find(levels)
    #expect(
      found.contains { abs($0 - 20) <= 1 } && found.contains { abs($0 - 35) <= 1 }, "\(found)")
    #expect(ChangePoints.find([1, 1, 1, 1, 1, 1, 1, 1, 1]).isEmpty)
    // One slow run is no change.
    #expect(ChangePoints.find([1, 1, 1, 1, 1, 9, 1, 1, 1, 1, 1, 1]).isEmpty)
    #expect(ChangePoints.find([]).isEmpty && ChangePoints.find([1, 2]).isEmpty)
  }

  @Test(arguments: [12, 13, 17, 30, 90]) func noiseAloneHardlyEverShowsAChange(count: Int) {
    var random = RandomGenerator(seed: testSeed())
    let alarms = (0..<200).filter { _ in
      !ChangePoints.find((0..<count).map { _ in noise(&random) }).isEmpty
    }
    // One in 200 is expected; more than eight have a chance below 1 in 100,000.
    #expect(alarms.count <= 8, "\(alarms.count) of 200")
  }

  /// It took 8 runs behind it after 12, and 12 after 90.
  @Test func aChangeIsSeenSoon() {
    for (before, behind) in [(6, 6), (8, 5), (15, 5), (20, 5), (95, 5), (195, 5), (495, 5)] {
      let values = (0..<before + behind).map { $0 < before ? 100.0 : 110 }
      #expect(ChangePoints.find(values) == [before], "\(before) and \(behind)")
      // One fewer might be chance.
      #expect(!ChangePoints.find(values.dropLast()).contains(before))
    }
  }

  /// Five replicas of one night looked like a new level of a commit that changed nothing.
  @Test func replicasOfOneNightCountOnce() throws {
    var table = CSVTable(columns: TrendHistory.columns)
    for night in 0..<15 {
      for replica in 0..<5 {
        var row = cells(night, (night == 14 ? 440 : 400) + replica)
        row[1] = "run-\(night)-\(replica)"
        table.append(row)
      }
    }
    func changes() throws -> String {
      try report(
        ["--trend", try write(table.text), "-o", folder.file("trend.html"), "--overwrite"]
      ).output
    }
    #expect(!(try changes()).contains("changed by"))
    for night in 15..<19 { table.append(cells(night, 442)) }
    #expect(try changes().contains("changed by 10.0 % at commit14 (run-14-0)"))
  }

  private func makeRun(_ name: String) throws -> String {
    let path = folder.path + "/" + name
    let output = CollectedOutput()
    let surroundings = RunVerb.Surroundings(
      console: output.console(), interruption: { TimedInterruption() },
      makeDriver: { _, _ in ModelEngine(bug: nil) })
    let line =
      "readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --ops 2000 --output \(path)"
    _ = try RunVerb.run(line.split(separator: " ").map(String.init), surroundings)
    // A debug build is never valid.
    try FigureFolders.edit(path) { $0.verdict.isValid = true }
    return path
  }

  private func report(
    _ words: [String]
  ) throws -> (code: ExitCode, output: String, errors: String) {
    let output = CollectedOutput()
    let code = try ReportVerb.run(words, console: output.console())
    return (code, output.output, output.errors)
  }

  private func cells(
    _ number: Int, _ value: Int, machine: String = "a machine, 2 cores", valid: String = "yes"
  ) -> [String?] {
    [
      "1", "run-\(number)", "2026-01-\(number + 10)", "commit\(number)", "no", machine,
      "readers-writer", "realm-bench run readers-writer", valid, "read.service_p50_ns=\(value)",
    ]
  }

  /// Writes a history by hand.
  private func write(_ text: String) throws -> String {
    let history = folder.file("written")
    try FileManager.default.createDirectory(
      atPath: history, withIntermediateDirectories: true)
    try text.write(toFile: history + "/history.csv", atomically: true, encoding: .utf8)
    return history
  }

  private func page() throws -> String {
    try String(contentsOfFile: folder.file("trend.html"), encoding: .utf8)
  }

  /// A phase of a plan may be called `r=500`.
  @Test func namesWithASignAreReadAgain() throws {
    var table = CSVTable(columns: TrendHistory.columns)
    for number in 0..<19 {
      var row = cells(number, 0)
      row[9] = "r=500.write.service_p50_ns=\(number < 14 ? 400 : 450)"
      table.append(row)
    }
    let result = try report([
      "--trend", try write(table.text), "-o", folder.file("trend.html"), "--overwrite",
    ])
    #expect(!result.errors.contains("left out"), "\(result.errors)")
    #expect(result.output.contains("r=500.write.service_p50_ns"), "\(result.output)")
  }

  /// Lines that were added to it could not be read again.
  @Test func aHistoryThatCannotBeReadIsNotAddedTo() throws {
    let run = try makeRun("run")
    let history = try write("")
    let file = history + "/history.csv"
    let words = ["--trend", history, run, "-o", folder.path + "/trend.html", "--overwrite"]
    func refusal() throws -> String {
      let error = #expect(throws: UsageError.self) { try report(words) }
      return error?.message ?? ""
    }
    let line = CSVTable.line(cells(1, 100)).replacing("readers-writer", with: "readers\u{e9}")
    let latin = Array((CSVTable.line(TrendHistory.columns) + line).unicodeScalars)
      .map { UInt8(truncatingIfNeeded: $0.value) }
    try Data(latin).write(to: URL(fileURLWithPath: file))
    #expect(try refusal().contains("'\(file)' cannot be read: it is no UTF-8 text"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data(latin))

    // Nobody writes to it: whoever opened it would wait without end.
    try FileManager.default.removeItem(atPath: file)
    mkfifo(file, 0o600)
    #expect(try refusal().contains("is a device, pipe or socket"))
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
    #expect(try refusal().contains("'\(file)' cannot be read"))
    rmdir(file)
    symlink("nowhere", file)
    #expect(try refusal().contains("'\(file)' cannot be read"))
    #expect(!FileManager.default.fileExists(atPath: history + "/nowhere"))
    unlink(file)
    #expect(try report(words).code == .success)
  }

  @Test func aHistoryOnlyGrows() throws {
    let history = folder.path + "/history"
    let page = folder.path + "/trend.html"
    #expect(throws: UsageError.self) { try report(["--trend", history, "-o", page]) }
    let first = try makeRun("first")
    #expect(try report(["--trend", history, first, "-o", page]).code == .success)
    let file = history + "/history.csv"
    let before = try String(contentsOfFile: file, encoding: .utf8)
    #expect(CSVTable.parse(before)?.count == 2)
    #expect(CSVTable.parse(before)?.first == TrendHistory.columns)
    #expect(throws: UsageError.self) { try report(["--trend", history, "-o", page]) }
    // A run that is there already, and a new one of the same plan.
    let second = try makeRun("second")
    try FigureFolders.edit(second) { $0.runId += "-later" }
    let words = ["--trend", history, first, second, "-o", page, "--overwrite"]
    #expect(try report(words).code == .success)
    let after = try String(contentsOfFile: file, encoding: .utf8)
    #expect(after.hasPrefix(before) && CSVTable.parse(after)?.count == 3)
    let html = try String(contentsOfFile: page, encoding: .utf8)
    #expect(html.contains("readers-writer, 2 runs") && html.contains("<polyline"))
    #expect(!html.contains("http://") && !html.contains("https://"))
    try "nonsense\n".write(toFile: file, atomically: true, encoding: .utf8)
    #expect(throws: UsageError.self) { try report(words) }
  }

  @Test func aChangeNamesItsCommit() throws {
    var table = CSVTable(columns: TrendHistory.columns)
    for number in 0..<20 {
      table.append(cells(number, number < 12 ? 402 - number % 3 : 502 - number % 3))
    }
    let result = try report(["--trend", try write(table.text), "-o", folder.file("trend.html")])
    #expect(result.output.contains("read.service_p50_ns changed by 24.9 % at commit12 (run-12)"))
  }

  /// A night that found one ended as all others, so that nobody was told.
  @Test(arguments: [false, true]) func aNewChangeForTheWorseIsToldOnce(isBetter: Bool) throws {
    let run = try makeRun("tonight")
    let page = folder.file("trend.html")
    let made = folder.path + "/made"
    #expect(try report(["--trend", made, run, "-o", page]).code == .success)
    let line = try #require(
      CSVTable.parse(try String(contentsOfFile: made + "/history.csv", encoding: .utf8))?.last)
    let figure = "read.service_p50_ns"
    let tonight = try #require(TrendHistory(folder: made).entries.first?.figures[figure])
    var table = CSVTable(columns: TrendHistory.columns)
    for night in 0..<14 {
      var row: [String?] = line
      row[1] = "run-\(night)"
      row[2] = "2020-01-\(night + 10)"
      row[3] = "commit\(night)"
      row[9] = "\(figure)=\(night < 10 ? tonight * (isBetter ? 2 : 0.5) : tonight)"
      table.append(row)
    }
    let words = ["--trend", try write(table.text), "-o", page, "--overwrite", "--strict"]
    #expect(try report(words).code == .success)
    let found = try report(words + [run])
    #expect(found.output.contains("\(figure) changed by"), "\(found.output)")
    #expect(found.code == (isBetter ? .success : .thresholdMissed))
    #expect(
      found.errors.contains("error: \(figure) has got worse since commit10 (run-10)") != isBetter,
      "\(found.errors)")
    // It is known from then on.
    #expect(try report(words + [run]).code == .success)
    #expect(throws: UsageError.self) { try report([run, "-o", page, "--overwrite", "--strict"]) }
  }

  /// Runs that are not valid were drawn, and judged, as all others.
  @Test func runsThatAreNotValidDrawNoLevel() throws {
    var table = CSVTable(columns: TrendHistory.columns)
    for number in 0..<20 {
      table.append(
        cells(number, number < 10 ? 402 - number % 3 : 502, valid: number < 10 ? "yes" : "no"))
    }
    let history = try write(table.text)
    let result = try report(["--trend", history, "-o", folder.file("trend.html")])
    #expect(!result.output.contains("changed by"))
    #expect(try page().contains("10 more are left out: they are not valid"))
    let run = try makeRun("invalid")
    try FigureFolders.edit(run) {
      $0.verdict.isValid = false
      $0.verdict.reasons = ["too slow"]
    }
    let added = try report(
      ["--trend", history, run, "-o", folder.file("trend.html"), "--overwrite"])
    #expect(added.code == .success && added.errors.contains("it is not valid (too slow)"))
    #expect(try TrendHistory(folder: history).entries.count == 21)
  }

  /// As histories of two branches come out that were joined line by line.
  @Test func linesInAnotherOrderAndTwiceAreTheSameHistory() throws {
    var table = CSVTable(columns: TrendHistory.columns)
    for number in 0..<20 { table.append(cells(number, (number < 12 ? 402 : 502) - number % 3)) }
    let lines = table.text.split(separator: "\n").map(String.init)
    let (early, late) = (lines[1...12], lines[13...])
    let joined = [lines[0]] + late + early + early.suffix(3)
    let text = joined.joined(separator: "\n") + "\n"
    let history = try write(text)
    let result = try report(["--trend", history, "-o", folder.file("trend.html")])
    #expect(result.output.contains("read.service_p50_ns changed by 24.9 % at commit12 (run-12)"))
    #expect(result.errors.isEmpty, "\(result.errors)")
    #expect(try page().contains("readers-writer, 20 runs"))
    #expect(try String(contentsOfFile: history + "/history.csv", encoding: .utf8) == text)
  }

  /// As an editor of another system has saved it: the next line was taken for the end of a cut one.
  @Test func otherLineEndsAreNoCut() throws {
    var table = CSVTable(columns: TrendHistory.columns)
    for number in 0..<3 { table.append(cells(number, 400, machine: "caf\u{e9}, 2 cores")) }
    let history = try write(table.text.replacing("\n", with: "\r\n"))
    let run = try makeRun("run")
    for words in [[run], []] {
      let result = try report(
        ["--trend", history] + words + ["-o", folder.file("trend.html"), "--overwrite"])
      #expect(result.code == .success && result.errors.isEmpty, "\(result.errors)")
    }
    #expect(try TrendHistory(folder: history).entries.count == 4)
  }

  @Test func machinesOfOneHistoryAreSeriesOfTheirOwn() throws {
    var table = CSVTable(columns: TrendHistory.columns)
    for number in 0..<24 {
      table.append(cells(number, number < 12 ? 400 : 500, machine: number < 12 ? "one" : "two"))
    }
    let result = try report(["--trend", try write(table.text), "-o", folder.file("trend.html")])
    #expect(!result.output.contains("changed by"))
    #expect(try page().components(separatedBy: "<h2>readers-writer, 12 runs</h2>").count == 3)
  }

  /// A line that was cut made the whole history unreadable, and the next one was glued to it.
  @Test func aLineThatWasCutIsLeftOutAndStays() throws {
    var table = CSVTable(columns: TrendHistory.columns)
    for number in 0..<3 { table.append(cells(number, 400)) }
    let run = try makeRun("run")
    let whole = table.text
    // Within a quoted cell, within the figures, and at the very end.
    let inQuotes = whole.utf8.count - 80
    for length in [inQuotes, whole.utf8.count - 2, whole.utf8.count - 1] {
      let history = try write(String(decoding: whole.utf8.prefix(length), as: UTF8.self))
      let words = ["--trend", history, "-o", folder.file("trend.html"), "--overwrite"]
      let first = try report(words)
      #expect(first.code == .success)
      #expect(
        first.errors.contains("line 4 of history.csv is left out: it was not written to its end"))
      #expect(try report(words + [run]).code == .success)
      let again = try report(words)
      #expect(again.errors.contains("line 4 of history.csv is left out"), "\(length)")
      let read = try TrendHistory(folder: history)
      #expect(read.entries.count == 3 && read.entries.allSatisfy { $0.figures.count > 0 })
      let text = try String(contentsOfFile: history + "/history.csv", encoding: .utf8)
      #expect(text.utf8.starts(with: whole.utf8.prefix(length)))
    }
  }

  @Test func linesEditedByHandAreNamedAndOthersStay() throws {
    var table = CSVTable(columns: TrendHistory.columns)
    for number in 0..<4 { table.append(cells(number, 400)) }
    let lines = table.text.split(separator: "\n").map(String.init)
    for (edit, wrong) in [
      ("a number that is none", lines[2].replacing("ns=400", with: "ns=fast")),
      ("below 0", lines[2].replacing("ns=400", with: "ns=-1")),
      ("beyond all", lines[2].replacing("ns=400", with: "ns=1e300")),
      ("too few cells", "1,run-1"), ("an open quote", lines[2].replacing("cores\"", with: "cores")),
    ] {
      let text = ([lines[0], lines[1], wrong] + lines[3...]).joined(separator: "\n") + "\n"
      let result = try report(
        ["--trend", try write(text), "-o", folder.file("trend.html"), "--overwrite"])
      #expect(result.code == .success, "\(edit)")
      #expect(
        result.errors.contains("line 3 of history.csv is left out: it is not as this tool writes"),
        "\(edit)")
      #expect(try page().contains("readers-writer, 3 runs"), "\(edit)")
    }
    // An empty file, as a process leaves it that is killed at its first line.
    let history = try write("")
    let run = try makeRun("run")
    #expect(
      try report(["--trend", history, run, "-o", folder.file("trend.html"), "--overwrite"]).code
        == .success)
    #expect(try TrendHistory(folder: history).entries.count == 1)
  }

  /// A later version may have more columns; its cells are empty in lines of this one.
  @Test func columnsOfLaterVersionsStay() throws {
    var table = CSVTable(columns: TrendHistory.columns + ["later"])
    table.append(cells(1, 400) + ["x"])
    let history = try write(table.text)
    let run = try makeRun("run")
    let result = try report(["--trend", history, run, "-o", folder.file("trend.html")])
    #expect(result.code == .success && result.errors.isEmpty)
    #expect(try TrendHistory(folder: history).entries.count == 2)
  }

  /// Each has read the history before the other one adds its lines.
  @Test func ofTwoThatAddARunAtOnceOneDoes() throws {
    let (run, other) = (try makeRun("run"), try makeRun("other"))
    let history = folder.file("history")
    var first = try TrendHistory(folder: history)
    var second = try TrendHistory(folder: history)
    try first.append([try MeasuredRun(folder: run)])
    try second.append([try MeasuredRun(folder: run), try MeasuredRun(folder: other)])
    #expect(second.entries.count == 2 && second.leftOut.isEmpty)
    let all = try TrendHistory(folder: history)
    #expect(all.entries.count == 2 && all.leftOut.isEmpty)
  }

  /// One that begins the history must not lose the lines of another one.
  @Test func manyAtOnceLoseNoLine() throws {
    let runs = try (0..<4).map { try makeRun("run-\($0)") }
    let history = folder.file("history")
    let threads = (0..<8).map { number in
      Platform.Thread.start(name: "reporter") {
        do {
          var mine = try TrendHistory(folder: history)
          try mine.append([try MeasuredRun(folder: runs[number % 4])])
        } catch {
          Issue.record(error)
        }
      }
    }
    for thread in threads { thread.join() }
    let all = try TrendHistory(folder: history)
    #expect(all.entries.count == 4 && all.leftOut.isEmpty, "\(all.leftOut)")
  }

  /// One run without a figure took it away from all others; one of 0 did, too.
  @Test func figuresThatSomeRunLacksAreDrawnOfTheOthers() throws {
    var table = CSVTable(columns: TrendHistory.columns)
    for number in 0..<20 {
      var row = cells(number, number < 12 ? 402 - number % 3 : 502 - number % 3)
      row[9] =
        (number == 5 ? "" : row[9]! + ";") + "write.syncs_per_commit=\(number < 12 ? 0 : 1)"
      table.append(row)
    }
    let result = try report(["--trend", try write(table.text), "-o", folder.file("trend.html")])
    #expect(result.output.contains("read.service_p50_ns changed by"))
    #expect(
      result.output.contains("write.syncs_per_commit is no longer 0, since a run at commit12"))
  }

  /// It was done for every pair at every split: days for a history of some thousand runs.
  @Test(.timeLimit(.minutes(1))) func longHistoriesAreJudgedSoon() {
    var random = RandomGenerator(seed: testSeed())
    let values = (0..<20_000).map { 100 + noise(&random) + ($0 < 15_000 ? 0 : 5) }
    #expect(ChangePoints.find(values).contains { abs($0 - 15_000) <= 5 })
  }

  /// The strength of a split by its definition, which ranks make cheap.
  @Test func splitsAreThoseOfTheDefinition() {
    var random = RandomGenerator(seed: testSeed())
    for _ in 0..<50 {
      let values = (0..<24).map { (($0 < 11 ? 0 : 1.5) + noise(&random)).rounded() }
      var best = (position: 0, strength: 0.0)
      for split in 4...20 {
        var sum = 0.0
        for before in values[..<split] {
          for after in values[split...] where after != before { sum += after > before ? 1 : -1 }
        }
        let deviation = (Double(split * (24 - split)) * 25 / 3).squareRoot()
        if abs(sum) / deviation > best.strength { best = (split, abs(sum) / deviation) }
      }
      let found = ChangePoints.find(values)
      #expect(found.isEmpty || found.contains(best.position), "\(values)")
    }
  }
}
