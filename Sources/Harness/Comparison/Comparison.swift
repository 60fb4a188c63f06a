// Compares two sides, each some runs of one plan: which figures got better, worse, stayed the same,
// and which nobody can tell. Refuses sides that did not do the same work.
internal import Foundation

/// What a comparison says of one figure.
package enum ComparisonVerdict: String, Codable, Sendable {
  case better
  case worse
  case same
  case cannotTell = "cannot-tell"
}

/// One compared figure.
package struct ComparedRow: Sendable {
  package var row: GateRow
  /// Medians of each side's runs; nil where a run does not know it.
  package var baseline: Double?
  package var candidate: Double?
  /// Of the change for the worse: above 1 = the candidate is worse; nil = too few runs.
  package var slowdown: RatioInterval?
  package var noiseFloor: Double?
  package var smallestDetectable: Double?
  /// How much worse it may get; nil = only shown.
  package var tolerance: Double?
  package var verdict: ComparisonVerdict
  /// Why nobody can tell, or why a worse figure is accepted.
  package var reason: String?
  /// Worse, and accepted with a reason.
  package var isAccepted = false
  /// Some run does not know the figure, so that more runs tell no more.
  package var isUnknown = false

  package var isGate: Bool { tolerance != nil }
}

/// What may differ, and by how much.
package struct ComparisonRules: Sendable {
  /// Share by which a gate figure may get worse.
  package var tolerance = 0.02
  /// By name of a row: tolerances that the user gave.
  package var tolerances: [String: Double] = [:]
  /// By name of a row: why a regression is known and accepted.
  package var accepted: [String: String] = [:]
  /// The chance that any gate row is called worse though nothing changed.
  package var familyError = 0.005
  package var gateRowsMax = 12

  package init() {}
}

/// A finished comparison.
package struct Comparison: Sendable {
  package var baseline: [MeasuredRun]
  package var candidate: [MeasuredRun]
  package var rows: [ComparedRow]
  /// Whether both sides ran on machines that look alike.
  package var isSameMachine: Bool
  package var warnings: [String]
  /// The user had enough before it was decided.
  package var isInterrupted = false

  package var regressions: [ComparedRow] {
    rows.filter { $0.isGate && $0.verdict == .worse && !$0.isAccepted }
  }

  package var undecided: [ComparedRow] { rows.filter { $0.isGate && $0.verdict == .cannotTell } }

  /// Compares independent runs.
  ///
  /// - Throws: `ResultsError` when the sides did not do the same work.
  package init(
    baseline: [MeasuredRun], candidate: [MeasuredRun], rules: ComparisonRules
  ) throws(ResultsError) {
    try SamePlan.check(baseline + candidate)
    self.baseline = baseline
    self.candidate = candidate
    isSameMachine = Set((baseline + candidate).map(\.machine)).count == 1
    warnings = SamePlan.warnings(baseline + candidate)
    let sides = [baseline, candidate].map { runs in runs.map(GateRow.figures) }
    let common = Self.rows(in: sides)
    let unknown = Self.unknown(in: [baseline, candidate])
    let gates = try Self.gates(common + unknown, rules)
    rows = unknown.map { Self.unknown($0, sides, tolerance: gates[$0]) }
    for row in common {
      let (before, after) = (sides[0].compactMap { $0[row] }, sides[1].compactMap { $0[row] })
      rows.append(
        Self.compare(
          row, before, after, tolerance: gates[row],
          error: rules.familyError / Double(max(1, gates.count)),
          isSameMachine: isSameMachine))
    }
    rows.sort { $0.row < $1.row }
    accept(rules.accepted)
  }

  /// A comparison of paired blocks, judged elsewhere.
  package init(
    baseline: [MeasuredRun], candidate: [MeasuredRun], rows: [ComparedRow], rules: ComparisonRules
  ) {
    self.baseline = baseline
    self.candidate = candidate
    self.rows = rows
    isSameMachine = true
    warnings = SamePlan.warnings(baseline + candidate)
    accept(rules.accepted)
  }

  private mutating func accept(_ accepted: [String: String]) {
    for position in rows.indices where rows[position].verdict == .worse {
      guard let reason = accepted[rows[position].row.name] else { continue }
      rows[position].isAccepted = true
      rows[position].reason = "accepted: \(reason)"
    }
  }

  /// The figures that every run has.
  static func rows(in sides: [[[GateRow: Double]]]) -> [GateRow] {
    let all = sides.flatMap(\.self)
    guard let first = all.first else { return [] }
    return first.keys.filter { row in all.allSatisfy { ($0[row] ?? 0) > 0 } }.sorted()
  }

  /// The figures that some run does not know, because it left out what was due.
  static func unknown(in sides: [[MeasuredRun]]) -> [GateRow] {
    Set(sides.flatMap { $0.flatMap(GateRow.unknown) }).sorted()
  }

  /// Nobody can tell of a figure that is not known; it is shown all the same.
  static func unknown(
    _ row: GateRow, _ sides: [[[GateRow: Double]]], tolerance: Double?
  ) -> ComparedRow {
    let known = sides.map { runs in runs.compactMap { $0[row] } }
    let counts = zip(sides, known).map { $0.count - $1.count }
    func side(_ number: Int) -> Double? {
      known[number].isEmpty || counts[number] > 0 ? nil : median(known[number])
    }
    return ComparedRow(
      row: row, baseline: side(0), candidate: side(1), tolerance: tolerance, verdict: .cannotTell,
      reason: "not known in \(counts[0]) of \(sides[0].count) baseline and \(counts[1]) of "
        + "\(sides[1].count) candidate runs: operations that were due were not done",
      isUnknown: true)
  }

  /// The rows that decide, with their tolerances: medians, rates and counters, and those the user
  /// named.
  static func gates(
    _ rows: [GateRow], _ rules: ComparisonRules
  ) throws(ResultsError) -> [GateRow: Double] {
    var gates: [GateRow: Double] = [:]
    for name in rules.tolerances.keys.sorted() {
      guard let row = rows.first(where: { $0.name == name }) else {
        let nearest = nearestName(name, in: rows.map(\.name)).map { "; did you mean '\($0)'?" }
        throw ResultsError("--max-regression: no run has the row '\(name)'\(nearest ?? "")")
      }
      gates[row] = rules.tolerances[name]
    }
    let usual = rows.filter { row in
      let isMinor = Operation(rawValue: row.row.operation)?.isMinor ?? false
      return gates[row] == nil && !isMinor
        && (row.kind == .counter || GateRow.gating.contains(row.metric))
    }
    for row in usual where gates.count < rules.gateRowsMax { gates[row] = rules.tolerance }
    return gates
  }

  /// Judges one figure by independent runs.
  static func compare(
    _ row: GateRow, _ before: [Double], _ after: [Double], tolerance: Double?, error: Double,
    isSameMachine: Bool
  ) -> ComparedRow {
    let interval = LogRatio.independent(before, after, error: error)
    var compared = Self.compared(
      row, before, after, slowdown: interval.map { row.slowdown($0) }, tolerance: tolerance)
    if row.kind == .timing && !isSameMachine {
      compared.verdict = .cannotTell
      compared.reason = "times of different machines say nothing"
    } else if interval == nil {
      compared.verdict = .cannotTell
      compared.reason = "one run a side says nothing about noise: give two or more (--replicas 5)"
    }
    return compared
  }

  /// The row with the verdict of its interval.
  static func compared(
    _ row: GateRow, _ before: [Double], _ after: [Double], slowdown: RatioInterval?,
    tolerance: Double?
  ) -> ComparedRow {
    let verdict = slowdown.map { Self.verdict($0, tolerance: tolerance ?? 0.02) } ?? .cannotTell
    return ComparedRow(
      row: row, baseline: median(before), candidate: median(after), slowdown: slowdown,
      noiseFloor: LogRatio.noiseFloor([before, after]),
      smallestDetectable: slowdown.map(LogRatio.smallestDetectable), tolerance: tolerance,
      verdict: verdict,
      reason: verdict == .cannotTell ? "the interval is too wide: more runs narrow it" : nil)
  }

  /// Worse: the whole interval above the tolerance; same: within it; better: below what it allows.
  package static func verdict(_ slowdown: RatioInterval, tolerance: Double) -> ComparisonVerdict {
    let limit = 1 + tolerance
    if slowdown.low > limit { return .worse }
    if slowdown.high < 1 / limit { return .better }
    if slowdown.low >= 1 / limit && slowdown.high <= limit { return .same }
    return .cannotTell
  }
}

extension GateRow {
  /// Turns the ratio candidate over baseline into the change for the worse.
  func slowdown(_ interval: RatioInterval) -> RatioInterval {
    guard isBetterWhenLarger else { return interval }
    return RatioInterval(
      ratio: 1 / interval.ratio, low: 1 / interval.high, high: 1 / interval.low)
  }
}

/// The middle value; of an even number the mean of the middle two.
func median(_ values: [Double]) -> Double {
  guard !values.isEmpty else { return .nan }
  let sorted = values.sorted()
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
