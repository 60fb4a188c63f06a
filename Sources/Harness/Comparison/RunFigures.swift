// The figures of each run of a comparison as a table, and read back: what verdicts were made from,
// for other tools and for `compare --resample`.
internal import Foundation

/// Writes and reads the figures of runs.
struct RunFigures {
  /// Columns of the table; they only grow.
  static let columns = [
    "run", "side", "engine", "workload", "operation", "phase", "load", "metric", "value",
    "without_noise", "clock_tick_ns",
  ]
  /// Those that every table has, also of earlier versions.
  static let firstColumns = columns.prefix(9)
  private static let sideNames = ["baseline", "candidate"]

  /// Of the baseline and the candidate, the figures of each run.
  let sides: [[[GateRow: Double]]]
  /// Counters that follow from the plan alone.
  let exact: Set<GateRow>
  /// What the clock of the runs moves by, in nanoseconds.
  let tick: Double

  init(_ comparison: Comparison) {
    sides = [comparison.baseline, comparison.candidate].map { $0.map(GateRow.figures) }
    let runs = comparison.baseline + comparison.candidate
    exact = ExactCounters.rows(of: runs)
    tick = ComparedFigures.tick(of: runs)
  }

  /// One row a run, side and figure; runs are counted from 0.
  func table() -> CSVTable {
    var table = CSVTable(columns: Self.columns)
    for (side, runs) in zip(Self.sideNames, sides) {
      for (number, figures) in runs.enumerated() {
        for (row, value) in figures.sorted(by: { $0.key < $1.key }) {
          table.append([
            "\(number)", side, row.row.engine, row.row.workload, row.row.operation, row.row.phase,
            row.row.load, row.metric, "\(value)", exact.contains(row) ? "yes" : "no",
            "\(Int(tick))",
          ])
        }
      }
    }
    return table
  }

  /// Reads a table.
  ///
  /// - Throws: `ResultsError` for what is no such table, and for sides that are no pairs.
  init(ofFile path: String) throws(ResultsError) {
    guard let text = textOfFile(path) else { throw ResultsError("'\(path)' cannot be read") }
    guard let lines = CSVTable.parse(text), let header = lines.first,
      header.starts(with: Self.firstColumns)
    else {
      throw ResultsError("'\(path)' is no table of 'compare --write runs=FILE'")
    }
    func cell(_ name: String, _ line: [String]) -> String? {
      header.firstIndex(of: name).flatMap { $0 < line.count ? line[$0] : nil }
    }
    var sides: [[[GateRow: Double]]] = [[], []]
    var (exact, tick) = (Set<GateRow>(), 1.0)
    for (number, line) in lines.enumerated().dropFirst() {
      guard line.count >= Self.firstColumns.count, let run = Int(line[0]), run >= 0,
        let side = Self.sideNames.firstIndex(of: line[1]), let value = Double(line[8]), value >= 0,
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
      if cell("without_noise", line) == "yes" { exact.insert(row) }
      tick = max(tick, cell("clock_tick_ns", line).flatMap(Double.init) ?? 1)
    }
    guard !sides[0].isEmpty, sides[0].count == sides[1].count else {
      throw ResultsError(
        "'\(path)' has \(sides[0].count) runs of the baseline and \(sides[1].count) of the candidate: "
          + "only blocks of --executables are pairs")
    }
    (self.sides, self.exact, self.tick) = (sides, exact, tick)
  }
}
