// What paired blocks tell of each row so far. It is asked again after each block: the intervals are
// those of confidence sequences, which looking does not harm.
internal import Foundation

/// The verdicts on paired blocks.
struct PairedJudge {
  /// Fewer than these decide nothing.
  static let blocksMin = 6

  private let figures: ComparedFigures
  private let gates: ComparedFigures.Gates
  private let blocks: Int
  private let rules: ComparisonRules

  /// - Parameters:
  ///   - baseline: the runs of the baseline, one a block.
  ///   - candidate: those of the candidate, in the same order.
  /// - Throws: `ResultsError` as `ComparedFigures` does.
  init(
    baseline: [MeasuredRun], candidate: [MeasuredRun], rules: ComparisonRules
  ) throws(ResultsError) {
    try self.init(
      try ComparedFigures(baseline: baseline, candidate: candidate), blocks: baseline.count, rules)
  }

  init(_ figures: ComparedFigures, blocks: Int, _ rules: ComparisonRules) throws(ResultsError) {
    self.figures = figures
    self.blocks = blocks
    self.rules = rules
    gates = try figures.gates(rules)
  }

  /// Judges all rows by Holm's procedure: the error is shared by the rows that are not decided yet,
  /// so a decided row leaves more to the others.
  ///
  /// - Returns: all rows, and those that would decide if fewer did.
  func verdicts() -> (rows: [ComparedRow], beyond: [GateRow]) {
    (verdicts(on: figures.rows), gates.beyond)
  }

  /// The same for the rows that decide alone.
  func decidingVerdicts() -> [ComparedRow] {
    verdicts(on: figures.rows.filter { gates.tolerances[$0] != nil })
  }

  /// Whether more blocks could change what the gate says.
  func isDecided(_ rows: [ComparedRow]) -> Bool {
    if blocks < Self.blocksMin { return false }
    let gates = rows.filter(\.isGate)
    return Self.hasRegression(rows, rules)
      || !gates.contains { $0.verdict == .cannotTell && !$0.isUnknown }
  }

  /// Whether a row is worse that ends the gate.
  static func hasRegression(_ rows: [ComparedRow], _ rules: ComparisonRules) -> Bool {
    !rules.decidesEveryRow
      && rows.contains {
        $0.isGate && $0.verdict == .worse && rules.accepted[$0.row.name] == nil
      }
  }

  private func verdicts(on judged: [GateRow]) -> [ComparedRow] {
    let obstacle =
      blocks < Self.blocksMin
      ? "only \(blocks) of at least \(Self.blocksMin) blocks were run: give more time (--budget), or "
        + "a shorter workload" : nil
    var undecided = gates.tolerances.keys.filter { figures.known($0) != nil }.count
    while true {
      let error = rules.familyError / Double(max(1, undecided))
      let rows = judged.map { row in
        let tolerance = gates.tolerances[row]
        guard let (before, after) = figures.known(row) else {
          return figures.incomplete(row, tolerance: tolerance)
        }
        return Comparison.compared(
          row, before, after, tolerance: tolerance, error: error, obstacle: obstacle
        ) { LogRatio.paired(zip(before, after).map { log($1 / $0) }, error: error) }
      }
      let left = rows.filter { $0.isGate && $0.verdict == .cannotTell && !$0.isUnknown }.count
      if left == undecided || left == 0 { return rows }
      undecided = left
    }
  }
}
