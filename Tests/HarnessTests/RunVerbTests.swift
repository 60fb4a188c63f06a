// `run` from the command line to its files and exit codes, on the model engine.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct RunVerbTests {
  private let folder: TemporaryFolder
  init() { folder = TemporaryFolder() }

  private static let bare =
    "readers-writer --readers 1 --objects 100 --value-size 16B --warmup 0s --interval 50ms"
  private static let small = bare + " --duration 300ms"
  private static let endless = bare + " --duration 1h"

  /// Runs for longer and longer until every thread of the run had a turn.
  private func run(
    _ line: String, seconds: Double, until isEnough: () -> Bool
  ) throws -> (code: ExitCode, output: String, errors: String) {
    var seconds = seconds
    while true {
      let result = try run(
        "\(line) --duration \(Int(seconds * 1000))ms --output \(folder.path)/out --overwrite")
      if seconds > 100 || isEnough() { return result }
      seconds *= 4
    }
  }

  /// Whether the histograms of these operations have something in them.
  private func haveSamples(_ names: [String]) -> Bool {
    names.allSatisfy {
      let text = try? text("histograms/\($0).hgrm")
      return (text.flatMap { LatencyHistogram(percentileText: $0) }?.count ?? 0) > 0
    }
  }

  private func run(
    _ line: String, bug: ModelBug? = nil, interruptAfterCommits: UInt64? = nil
  ) throws -> (code: ExitCode, output: String, errors: String) {
    let output = CollectedOutput()
    let engine = ModelEngine(bug: bug)
    let surroundings = RunVerb.Surroundings(
      console: output.console(),
      interruption: { CommitInterruption(engine: engine, commits: interruptAfterCommits ?? .max) },
      makeDriver: { _, _ in engine })
    let words = line.split(separator: " ").map(String.init)
    return (try RunVerb.run(words, surroundings), output.output, output.errors)
  }

  private func text(_ name: String, in results: String = "out") throws -> String {
    try String(contentsOfFile: folder.path + "/\(results)/\(name)", encoding: .utf8)
  }

  private func document(in results: String = "out") throws -> [String: Any] {
    let data = Data(try text("run.json", in: results).utf8)
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  @Test func writesEveryFileOfTheContract() throws {
    let histograms = ["read", "refresh", "write", "write-response"]
    let result = try run(
      "\(Self.bare) --rate 300/s --seed 7", seconds: 0.3, until: { haveSamples(histograms) })
    #expect(result.code == .success)
    #expect(result.output.contains("readers-writer on realm"))
    for (name, columns) in [
      ("summary.csv", ResultSchema.summaryColumns), ("samples.csv", ResultSchema.sampleColumns),
      ("growth.csv", ResultSchema.growthColumns),
      ("invariants.csv", ResultSchema.invariantColumns),
    ] {
      let rows = try #require(CSVTable.parse(try text(name)))
      #expect(rows.first == columns)
      #expect(rows.count > 1, "\(name) has no rows")
      #expect(rows.allSatisfy { $0.count == columns.count })
    }
    for name in histograms {
      #expect(LatencyHistogram(percentileText: try text("histograms/\(name).hgrm"))!.count > 0)
    }
    let document = try document()
    #expect(document["status"] as? String == "complete")
    #expect(document["seed"] as? Int == 7)
    #expect(document["schema_version"] as? Int == 1)
    let environment = try #require(document["environment"] as? [String: Any])
    for key in ["cores", "kernel", "swift", "build", "allocator", "tool", "raw_sync_p50_ns"] {
      #expect(environment[key] != nil, "environment has no \(key)")
    }
    let settings = try #require(document["settings"] as? [String: Any])
    #expect(settings["rate_per_s"] as? Double == 300)
    #expect(settings["load"] as? String == "open")
  }

  @Test func closedLoopLeavesResponseEmptyAndSmallSamplesLeaveTailsEmpty() throws {
    _ = try run("\(Self.bare) --output \(folder.path)/out --ops 300 --writers 0")
    let rows = try #require(CSVTable.parse(try text("summary.csv")))
    func cell(_ operation: String, _ column: String) -> String {
      let row = rows.first { $0[7] == operation && $0[8] == "measure" }!
      return row[ResultSchema.summaryColumns.firstIndex(of: column)!]
    }
    #expect(cell("read", "response_p50_ns") == "" && cell("read", "late") == "")
    #expect(cell("read", "service_p50_ns") != "" && cell("read", "service_p99_9_ns") == "")
    #expect(cell("read", "load") == "closed" && cell("read", "errors") == "0")
    #expect(rows.contains { $0[7] == "insert" && $0[8] == "load" && $0[13] == "100" })
  }

  @Test func existingFolderIsRefusedAndOnlyRunsAreReplaced() throws {
    let line = "\(Self.small) --output \(folder.path)/out"
    _ = try run(line)
    #expect(throws: UsageError.self) { try run(line) }
    #expect(try run(line + " --overwrite").code == .success)
    try "x".write(toFile: folder.path + "/precious", atomically: true, encoding: .utf8)
    #expect(throws: UsageError.self) {
      try run("\(Self.small) --output \(folder.path) --overwrite")
    }
    #expect(FileManager.default.fileExists(atPath: folder.path + "/precious"))
  }

  @Test func existingRealmFileAndMissingParentAreRefused() throws {
    try "x".write(toFile: folder.path + "/a.realm", atomically: true, encoding: .utf8)
    for path in ["a.realm", "missing/b.realm"] {
      #expect(throws: UsageError.self) {
        try run("\(Self.small) --output \(folder.path)/out --path \(folder.path)/\(path)")
      }
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/out"))
  }

  @Test func violationPrintsInTheOrderOfTheContract() throws {
    let result = try run(
      "\(Self.endless) --output \(folder.path)/out --seed 11", bug: .halfRow)
    #expect(result.code == .invariantViolated)
    let lines = result.errors.split(separator: "\n").map(String.init)
    let start = try #require(lines.firstIndex { $0.hasPrefix("I2 violated: ") })
    #expect(lines[start + 1].hasPrefix("  version "))
    let rest = lines[(start + 2)...].filter { !$0.hasPrefix("  ") }
    #expect(rest[0] == "seed: 11")
    #expect(rest[1].hasPrefix("again: realm-bench run readers-writer --seed 11 "))
    #expect(rest[2].hasPrefix("evidence: \(folder.path)/out"))
    #expect(try document()["status"] as? String == "failed")
    let invariants = try #require(CSVTable.parse(try text("invariants.csv")))
    let row = try #require(invariants.first { $0[5] == "I2" })
    #expect(row[7] == "1" && !row[8].isEmpty)
    #expect(try text("violation.txt").hasPrefix("I2 violated: "))
  }

  @Test(
    arguments: [
      endless, "transfer --duration 1h --warmup 0s --objects 100",
      "mixed --duration 1h --warmup 0s --objects 100", "bulk-load --objects 100000000 --batch 1",
      "pinned-growth --duration 1h --warmup 0s --objects 100 --durability memory",
    ])
  func interruptionKeepsPartialResults(line: String) throws {
    let result = try run("\(line) --output \(folder.path)/out", interruptAfterCommits: 200)
    #expect(result.code == .interrupted, "\(result.errors)")
    #expect(try document()["status"] as? String == "interrupted")
    #expect(CSVTable.parse(try text("summary.csv"))!.count > 2)
    // Nothing is said of what the run has not come to.
    #expect(!result.output.contains("did not get short"), "\(result.output)")
  }

  @Test(
    arguments: [
      ("transfer --objects 100", ["sum", "refresh", "freeze", "write"], ["insert", "write"]),
      (
        "mixed --objects 100 --mix read:50,update:10,insert:10,scan:20,read-modify-write:10",
        ["read", "update", "insert", "scan", "read-modify-write", "refresh"],
        ["insert", "update", "read-modify-write"]
      ),
    ])
  func everyWorkloadWritesTheSameFiles(
    line: String, operations: [String], committing: [String]
  ) throws {
    let run = try run(
      "\(line) --warmup 0s", seconds: 0.3, until: { haveSamples(operations) })
    #expect(run.code == .success, "\(run.errors)")
    let rows = try #require(CSVTable.parse(try text("summary.csv")))
    #expect(rows.filter { $0[8] == "measure" }.map { $0[7] } == operations)
    for row in rows.dropFirst() {
      let syncs = row[ResultSchema.summaryColumns.firstIndex(of: "syncs_per_commit")!]
      #expect(syncs.isEmpty == !committing.contains(row[7]), "\(row[7])")
    }
    for name in operations {
      #expect(LatencyHistogram(percentileText: try text("histograms/\(name).hgrm"))!.count > 0)
    }
    let settings = try #require(try document()["settings"] as? [String: Any])
    #expect((settings["readers"] == nil) == line.hasPrefix("mixed"))
    #expect((settings["mix"] != nil) == line.hasPrefix("mixed"))
  }

  @Test func bulkLoadTellsWhatItLoaded() throws {
    let result = try run(
      "bulk-load --objects 1050 --batch 100 --output \(folder.path)/out --format json")
    #expect(result.code == .success, "\(result.errors)")
    let rows = try #require(CSVTable.parse(try text("summary.csv"))).dropFirst()
    #expect(
      rows.map { $0[7] + " " + $0[8] + " " + $0[13] } == [
        "insert measure 1050", "write measure 11",
      ])
    let growth = try #require(CSVTable.parse(try text("growth.csv")))
    #expect(
      growth.first!.suffix(3) == ["objects", "walked_bytes", "transactions"]
        && growth.last!.suffix(3).prefix(2) == ["1050", ""])
    #expect(!result.output.contains("too few samples"))
    #expect(
      try run("bulk-load --objects 1050 --overwrite --output \(folder.path)/out").output
        .contains("an object"))
  }

  @Test func failureEndsWithOne() throws {
    let result = try run(
      "\(Self.endless) --output \(folder.path)/out", bug: .failingWrite)
    #expect(result.code == .failed)
    #expect(result.errors.contains("error: writer 1"))
  }

  @Test func thresholdsDecideTheExitCode() throws {
    let line = "\(Self.small) --output \(folder.path)/out --overwrite --threshold "
    #expect(
      try run(
        "\(Self.bare) --writers 0 --ops 50 --output \(folder.path)/out --threshold read.count>0"
      ).code == .success)
    #expect(try run(line + "read.count>900000000").code == .thresholdMissed)
    #expect(try run(line + "file_bytes<=4096").code == .success)
    // Too few samples: what cannot be shown is not met.
    #expect(
      try run(
        "\(Self.bare) --ops 500 --output \(folder.path)/few "
          + "--threshold write.service_p99_99_ns<900000000000"
      ).code == .thresholdMissed)
  }

  @Test func strictRefusesAnInvalidVerdict() throws {
    let result = try run("\(Self.bare) --ops 20 --strict --output \(folder.path)/out")
    #expect(result.code == .inconclusive)
    #expect(result.errors.contains("too few samples"))
  }

  @Test func dryRunPrintsThePlanAndWritesNothing() throws {
    let result = try run("\(Self.small) --dry-run --output \(folder.path)/out --seed 3")
    #expect(result.code == .success)
    #expect(result.output.contains("\"seed\" : 3"))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/out"))
  }

  @Test func formatsOfTheSummary() throws {
    let line = "\(Self.small) --output \(folder.path)/out --overwrite --quiet --format "
    let json = try run(line + "json")
    let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    #expect(object?["run"] != nil && object?["summary"] != nil)
    #expect(json.errors == "")
    #expect(try run(line + "markdown").output.contains("| operation | threads |"))
  }

  @Test func unknownWorkloadsAreRefused() {
    for line in ["", "reader-writer", "plan.json", "readers-writer extra", "notify-store"] {
      #expect(throws: UsageError.self) { try run(line) }
    }
  }

  @Test func listShowsWhatThereIs() throws {
    let output = CollectedOutput()
    #expect(try ListVerb.run([], console: output.console(), bugs: nil) == .success)
    #expect(output.output.contains("readers-writer") && output.output.contains("I10"))
    for workload in WorkloadKind.allCases {
      #expect(
        output.output.contains(workload.rawValue) && output.output.contains(workload.facts.summary))
    }
    #expect(output.output.contains("--scan-length N"))
    #expect(throws: UsageError.self) {
      try ListVerb.run(["bugs"], console: output.console(), bugs: nil)
    }
    #expect(throws: UsageError.self) {
      try ListVerb.run(["workload"], console: output.console(), bugs: nil)
    }
    let bugs = CollectedOutput()
    _ = try ListVerb.run(
      ["bugs", "--format", "json"], console: bugs.console(),
      bugs: [.init(name: "skip-checksum", summary: "x")])
    #expect(bugs.output.contains("skip-checksum"))
  }
}
