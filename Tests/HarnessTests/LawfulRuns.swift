// Results folders of runs whose files and times follow a law that is known, and `plan` over them.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

/// Makes folders of runs in a folder.
struct LawfulRuns {
  typealias Space = (live: Double, held: Double, file: Double)

  private let folder: String
  init(_ folder: String) { self.folder = folder }

  /// Live 200 bytes an object; blocks of 64 objects with 150 bytes each; a fifth of the file is
  /// free.
  func space(
    objects: Double, batch: Double, pins: Double, since: Double, every: Double
  ) -> Space {
    func overwritten(_ transactions: Double) -> Double {
      objects * 150 * (1 - pow(1 - 64 / objects, transactions * batch))
    }
    let live = 4_096 + objects * 200
    let held = max(0, pins - 1) * overwritten(every) + (pins > 0 ? overwritten(since) : 0)
    return (live, held, (live + held) * 1.25 + 65_536)
  }

  /// Makes a results folder whose figures are lawful.
  func makeRun(
    _ name: String, objects: Int, batch: Int, pins: Int, every: Int, open rate: Double? = nil,
    syncs: Int = 0,
    change: (inout RunDocument) -> Void = { _ in }
  ) throws -> String {
    let path = folder + "/" + name
    try runOnModel(
      "readers-writer --readers 1 --objects \(objects) --batch \(batch) --value-size 100B --warmup 0s "
        + "--pins \(pins) --pin-every \(every) --ops 100 --invariants none --output \(path)"
        + (rate == nil ? "" : " --rate 5000/s --arrivals poisson"))
    try growth(Double(objects), Double(batch), Double(pins), Double(every))
      .write(toFile: path + "/growth.csv", atomically: true, encoding: .utf8)
    try writeTimes(path, batch: Double(batch), rate: rate, syncs: syncs)
    try FigureFolders.edit(path) { document in
      // The tables are not the run's any more, nor are they of this build and this moment.
      document.files = nil
      document.environment.build = "release"
      document.disturbance = nil
      change(&document)
    }
    return path
  }

  private func growth(_ objects: Double, _ batch: Double, _ pins: Double, _ every: Double) -> String
  {
    var table = CSVTable(columns: ResultSchema.growthColumns)
    let last = pins * every * 1.3
    for step in 0...60 {
      let transactions = (last * Double(step) / 60).rounded(.down)
      let taken = min(pins, (transactions / every).rounded(.down))
      let since = transactions - (transactions / every).rounded(.down) * every
      let space = self.space(
        objects: objects, batch: batch, pins: taken, since: since, every: every)
      let cells: [String: String] = [
        "phase": "measure", "commits": "\(transactions)", "pins": "\(taken)",
        "transactions": "\(transactions)", "live_bytes": "\(space.live)",
        "held_bytes": "\(space.held)", "file_bytes": "\(space.file)",
        "resident_bytes": "\(2e7 + space.file * 0.5)",
      ]
      table.append(ResultSchema.growthColumns.map { cells[$0] })
    }
    return table.text
  }

  /// Every object of a transaction takes 10 us; reads take 500 ns on each of the threads.
  private func writeTimes(
    _ path: String, batch: Double, rate: Double?, syncs: Int
  ) throws {
    let histogram = LatencyHistogram()
    for step in 0..<1_000 {
      histogram.record(UInt64(batch * 10_000 * (0.5 + Double(step) / 1_000)))
    }
    try histogram.percentileText()
      .write(toFile: path + "/histograms/write.hgrm", atomically: true, encoding: .utf8)
    var table = CSVTable(columns: ResultSchema.summaryColumns)
    let shared = ["engine": "realm", "workload": "readers-writer", "phase": "measure"]
    let load = rate == nil ? "closed" : "open"
    for cells in [
      [
        "operation": "write", "load": load, "rate_per_s": "\(rate ?? 1e5 / batch)",
        "syncs_per_commit": "\(syncs)", "service_p50_ns": "\(batch * 10_000)",
      ],
      ["operation": "read", "load": "closed", "rate_per_s": "2000000", "service_p50_ns": "480"],
    ] {
      let row = cells.merging(shared) { first, _ in first }
      table.append(ResultSchema.summaryColumns.map { row[$0] })
    }
    try table.text.write(toFile: path + "/summary.csv", atomically: true, encoding: .utf8)
  }

  func plan(
    _ words: [String], executable: String = "/nonexistent", isInterrupted: Bool = false
  ) throws -> (code: ExitCode, output: String, errors: String) {
    let output = CollectedOutput()
    let code = try PlanVerb.run(
      words, console: output.console(), executable: executable,
      interruption: { TimedInterruption(afterNanoseconds: isInterrupted ? 0 : nil) })
    return (code, output.output, output.errors)
  }

  func rows(_ name: String) throws -> [[String: String]] {
    let text = try String(contentsOfFile: folder + "/\(name)/plan.csv", encoding: .utf8)
    let table = try #require(CSVTable.parse(text))
    #expect(table.first == PlanOutput.columns)
    return table.dropFirst().map { row in
      Dictionary(uniqueKeysWithValues: zip(table[0], row))
    }
  }
}
