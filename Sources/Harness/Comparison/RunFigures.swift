// The figures of each run of a comparison as a table, and read back: what verdicts were made from,
// for other tools and for `compare --resample`.
internal import Foundation

/// Writes and reads the figures of runs.
struct RunFigures {
  /// Columns of the table; they only grow.
  static let columns = [
    "run", "side", "engine", "workload", "operation", "phase", "load", "metric", "value",
  ]
  private static let sideNames = ["baseline", "candidate"]

  private let sides: [[[GateRow: Double]]]

  init(_ comparison: Comparison) {
    sides = [comparison.baseline, comparison.candidate].map { $0.map(GateRow.figures) }
  }

  /// One row a run, side and figure; runs are counted from 0.
  func table() -> CSVTable {
    var table = CSVTable(columns: Self.columns)
    for (side, runs) in zip(Self.sideNames, sides) {
      for (number, figures) in runs.enumerated() {
        for (row, value) in figures.sorted(by: { $0.key < $1.key }) {
          table.append([
            "\(number)", side, row.row.engine, row.row.workload, row.row.operation, row.row.phase,
            row.row.load, row.metric, "\(value)",
          ])
        }
      }
    }
    return table
  }

  /// Reads a table: of the baseline and the candidate, the figures of each run.
  ///
  /// - Throws: `ResultsError` for what is no such table, and for sides that are no pairs.
  static func sides(ofFile path: String) throws(ResultsError) -> [[[GateRow: Double]]] {
    guard let text = textOfFile(path) else { throw ResultsError("'\(path)' cannot be read") }
    guard let lines = CSVTable.parse(text), lines.first.map({ $0.starts(with: columns) }) == true
    else {
      throw ResultsError("'\(path)' is no table of 'compare --write runs=FILE'")
    }
    var sides: [[[GateRow: Double]]] = [[], []]
    for (number, line) in lines.enumerated().dropFirst() {
      guard line.count >= columns.count, let run = Int(line[0]), run >= 0,
        let side = sideNames.firstIndex(of: line[1]), let value = Double(line[8]), value >= 0,
        value.isFinite, run <= sides[side].count
      else {
        throw ResultsError("line \(number + 1) of '\(path)' is damaged")
      }
      let row = GateRow(
        row: MeasuredRun.RowKey(
          engine: line[2], workload: line[3], operation: line[4], phase: line[5], load: line[6]),
        metric: line[7])
      if run == sides[side].count { sides[side].append([:]) }
      sides[side][run][row] = value
    }
    guard !sides[0].isEmpty, sides[0].count == sides[1].count else {
      throw ResultsError(
        "'\(path)' has \(sides[0].count) runs of the baseline and \(sides[1].count) of the candidate: "
          + "only blocks of --executables are pairs")
    }
    return sides
  }
}
