// Results folders with the figures that a test wants: made by a run on the model engine, whose
// tables are then replaced.
import Foundation
import Harness
import TestSupport

/// Makes results folders in a folder.
struct FigureFolders {
  let folder: TemporaryFolder

  /// Makes one.
  /// - Parameters:
  ///   - figures: by operation, and by column of summary.csv.
  ///   - growth: rows of growth.csv by column; none = no such file.
  ///   - plan: further flags of the run.
  ///   - change: what else is to be in run.json; the run is valid otherwise.
  func make(
    _ name: String, _ figures: [String: [String: String]], growth: [[String: String]] = [],
    plan: String = "", change: (inout RunDocument) -> Void = { _ in }
  ) throws -> String {
    let path = folder.file(name)
    try runOnModel(
      "readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --ops 200 \(plan) "
        + "--output \(path)")
    let shared = [
      "schema_version": "1", "run_id": name, "replica": "1", "seed": "1", "engine": "realm",
      "durability": "full", "workload": "readers-writer", "phase": "measure", "load": "closed",
      "threads": "1",
    ]
    var summary = CSVTable(columns: ResultSchema.summaryColumns)
    for (operation, cells) in figures.sorted(by: { $0.key < $1.key }) {
      let row = shared.merging(cells) { $1 }.merging(["operation": operation]) { $1 }
      summary.append(ResultSchema.summaryColumns.map { row[$0] })
    }
    try summary.text.write(toFile: path + "/summary.csv", atomically: true, encoding: .utf8)
    // What the model's file grows by means nothing.
    try FileManager.default.removeItem(atPath: path + "/growth.csv")
    if !growth.isEmpty {
      var table = CSVTable(columns: ResultSchema.growthColumns)
      for cells in growth {
        let row = shared.merging(cells) { $1 }
        table.append(ResultSchema.growthColumns.map { row[$0] })
      }
      try table.text.write(toFile: path + "/growth.csv", atomically: true, encoding: .utf8)
    }
    try Self.edit(path) { document in
      document.verdict.isValid = true
      document.verdict.reasons = []
      // What the clock of this machine does makes no difference.
      document.environment.clockTickNs = 1
      // The tables are not the run's any more.
      document.files = nil
      change(&document)
    }
    return path
  }

  /// Changes the run.json of a results folder, as if its run had written it so.
  static func edit(_ path: String, _ change: (inout RunDocument) -> Void) throws {
    var document = try RunDocument(path: path + "/run.json")
    change(&document)
    try document.sealed().write(toFile: path + "/run.json", atomically: true, encoding: .utf8)
  }
}
