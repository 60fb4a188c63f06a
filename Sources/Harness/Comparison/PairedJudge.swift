// What paired blocks tell of each row so far. It is asked again after each block: the intervals are
// those of confidence sequences, which looking does not harm.
internal import Foundation

/// The verdicts on paired blocks.
struct PairedJudge {
  /// Fewer than these decide nothing; of figures that vary it takes some more.
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

  /// Judges all rows by Holm's procedure: a row that is worse leaves its share of the error to the
  /// others.
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
    StepDown.judge(judged, deciding: gates.tolerances.count, error: rules.familyError) {
      row, error in
      let tolerance = gates.tolerances[row]
      return figures.compared(row, tolerance: tolerance) { before, after in
        verdict(on: row, before, after, tolerance: tolerance, error: error)
      }
    }
  }

  private func verdict(
    on row: GateRow, _ before: [Double], _ after: [Double], tolerance: Double?, error: Double
  ) -> ComparedRow {
    func tooFew(_ needed: Int) -> String {
      "only \(blocks) of at least \(needed) blocks were run: give more time (--budget), or a shorter "
        + "workload"
    }
    var compared = Comparison.compared(
      row, before, after, tolerance: tolerance, error: error,
      obstacle: blocks < Self.blocksMin ? tooFew(Self.blocksMin) : nil
    ) {
      LogRatio.paired(
        zip(before, after).map { log($1 / $0) }, error: error,
        resolution: FigureResolution(row.metric, [before, after], tick: figures.tick))
    }
    if compared.verdict == .cannotTell, compared.reason == nil {
      compared.reason = tooFew(LogRatio.blocksNeeded(error: error))
    }
    return compared
  }
}
