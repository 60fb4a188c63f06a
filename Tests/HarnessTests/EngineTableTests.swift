// Engines side by side: the table that a run of several ends with, and its section of a report.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct EngineTableTests {
  private let folder = TemporaryFolder()

  /// A run on the model engine whose files say that another engine was driven.
  private func makeRun(_ name: String, engine: String) throws -> MeasuredRun {
    let path = folder.path + "/" + name
    try runOnModel(
      "readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --duration 200ms "
        + "--interval 10ms --output \(path)")
    for file in ["run.json", "summary.csv"] {
      let text = try String(contentsOfFile: path + "/" + file, encoding: .utf8)
        .replacing("\"engine\" : \"realm\"", with: "\"engine\" : \"\(engine)\"")
        .replacing(",realm,", with: ",\(engine),")
      try text.write(toFile: path + "/" + file, atomically: true, encoding: .utf8)
    }
    // The table is not the run's any more.
    try FigureFolders.edit(path) { $0.files = nil }
    return try MeasuredRun(folder: path)
  }

  @Test func operationsOfEnginesStandBesideEachOther() throws {
    let runs = [
      try makeRun("a", engine: "lmdb"), try makeRun("b", engine: "realm"),
      try makeRun("c", engine: "lmdb"), try makeRun("d", engine: "lmdb"),
    ]
    let table = EngineTable(runs)
    #expect(table.isNeeded && !EngineTable([runs[0], runs[2]]).isNeeded)
    let reads = table.rows.filter { $0[0] == "read" }
    #expect(reads.map { $0[2] } == ["realm", "lmdb"])
    #expect(reads.allSatisfy { $0[1] == "full" })
    // Of three runs the median.
    let counts = [runs[0], runs[2], runs[3]].map { run in
      run.rows.first { $0.key.operation == "read" && $0.key.phase == "measure" }!.value["count"]!
    }.sorted()
    #expect(reads[1][3] == grouped(Int(counts[1])))
    let writes = table.rows.filter { $0[0] == "write" }
    // One sync a write, and a few of idle work where the machine lets the writer wait.
    #expect(
      writes.count == 2 && writes.allSatisfy { (1.0...1.5).contains(Double($0[8]) ?? .nan) },
      "\(writes.map { $0[8] })")
  }

  @Test func aReportShowsThem() throws {
    let runs = [try makeRun("a", engine: "sqlite"), try makeRun("b", engine: "realm")]
    let page = try RunReport(runs, comparison: nil, showsPlaces: false).html()
    #expect(page.contains("Engines side by side") && page.contains("run 1, sqlite"))
    let same = try RunReport([runs[0]], comparison: nil, showsPlaces: false).html()
    #expect(!same.contains("Engines side by side"))
  }

  /// Figures of different engines have no ratio that would be a regression.
  @Test func planLearnsFromNoOtherEngine() throws {
    let run = try makeRun("a", engine: "sqlite")
    #expect(throws: ResultsError("'\(run.folder)' is a run on sqlite; plan's models are of realm"))
    {
      try PlanObservation(run)
    }
  }
}
