// `report --trend`: the history only grows, changes of level are found where they are, and noise
// shows none.
import Foundation
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

  @Test func noiseAloneHardlyEverShowsAChange() {
    var random = RandomGenerator(seed: testSeed())
    let alarms = (0..<200).filter { _ in
      !ChangePoints.find((0..<30).map { _ in noise(&random) }).isEmpty
    }
    // One in 200 is expected; more than eight have a chance below 1 in 100,000.
    #expect(alarms.count <= 8, "\(alarms.count) of 200")
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
    return path
  }

  private func report(_ words: [String]) throws -> (code: ExitCode, output: String) {
    let output = CollectedOutput()
    let code = try ReportVerb.run(words, console: output.console())
    return (code, output.output)
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
    let text = try String(contentsOfFile: second + "/run.json", encoding: .utf8)
    try text.replacing("-readers-writer-1\"", with: "-readers-writer-1-later\"")
      .write(toFile: second + "/run.json", atomically: true, encoding: .utf8)
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
    let history = folder.path + "/history"
    try FileManager.default.createDirectory(
      atPath: history, withIntermediateDirectories: true)
    var table = CSVTable(columns: TrendHistory.columns)
    for number in 0..<20 {
      let value = number < 12 ? 402 - number % 3 : 502 - number % 3
      table.append([
        "1", "run-\(number)", "2026-01-\(number + 10)", "commit\(number)", "no", "a machine",
        "readers-writer", "a plan", "yes", "read.service_p50_ns=\(value)",
      ])
    }
    try table.text.write(toFile: history + "/history.csv", atomically: true, encoding: .utf8)
    let result = try report(["--trend", history, "-o", folder.path + "/trend.html"])
    #expect(result.output.contains("read.service_p50_ns changed by 24.9 % at commit12 (run-12)"))
  }
}
