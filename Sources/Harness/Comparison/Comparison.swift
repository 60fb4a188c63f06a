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

/// A known regression that does not fail the gate.
package struct Acceptance: Sendable {
  package var reason: String
  /// Where it is written down; nil = on the command line.
  package var file: String?
}

/// What may differ, and by how much.
package struct ComparisonRules: Sendable {
  /// Share by which a gate figure may get worse.
  package var tolerance = 0.02
  /// The same of counters without noise.
  package var toleranceOfExact = 0.0
  /// By name of a row: tolerances that the user gave.
  package var tolerances: [String: Double] = [:]
  /// By name of a row: regressions that are known.
  package var accepted: [String: Acceptance] = [:]
  /// The chance that any gate row is called worse though nothing changed.
  package var familyError = 0.005
  package var gateRowsMax = 12
  /// Whether runs are taken that did not end, are not valid, or are smoke runs.
  package var acceptsPartial = false
  /// Settings in which the sides differ on purpose.
  package var across: [String] = []
  /// Whether paired blocks go on until each gate row is decided, although one is worse.
  package var decidesEveryRow = false

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
  /// Where the files of the runs lay, where this tool has made the runs.
  package var place: String?
  /// The user had enough before it was decided.
  package var isInterrupted = false
  /// What has ended the blocks before it was decided: a run that died, or missed a threshold.
  package var failure: ExecutableFailure?
  /// A regression has ended it before every row was decided.
  package var endsEarly = false

  package var regressions: [ComparedRow] {
    rows.filter { $0.isGate && $0.verdict == .worse && !$0.isAccepted }
  }

  package var undecided: [ComparedRow] { rows.filter { $0.isGate && $0.verdict == .cannotTell } }

  /// What the gate says.
  package func exitCode(isStrict: Bool) -> ExitCode {
    if isInterrupted { return .interrupted }
    if let failure { return failure.code }
    if !regressions.isEmpty { return .thresholdMissed }
    return isStrict && !undecided.isEmpty ? .inconclusive : .success
  }

  /// Compares independent runs.
  ///
  /// - Throws: `ResultsError` when the sides did not do the same work, or nothing decides.
  package init(
    baseline: [MeasuredRun], candidate: [MeasuredRun], rules: ComparisonRules
  ) throws(ResultsError) {
    let differs = try SamePlan.check(
      [baseline, candidate], across: rules.across, acceptsPartial: rules.acceptsPartial)
    try SamePlan.refuseTwice(baseline + candidate)
    if !rules.acceptsPartial { try SamePlan.refuseUnreliable(baseline + candidate) }
    self.baseline = baseline
    self.candidate = candidate
    let differences = SamePlan.differencesOfMachine(baseline + candidate)
    isSameMachine = differences.isEmpty
    warnings = SamePlan.warnings(baseline + candidate)
    if let differs { warnings.append("the sides differ on purpose: \(differs)") }
    if !isSameMachine {
      warnings.append(
        "the runs are of different machines, so that only counters are judged: "
          + differences.joined(separator: "; "))
    }
    let figures = try ComparedFigures(baseline: baseline, candidate: candidate)
    let gates = try figures.gates(rules, judgesTimes: isSameMachine)
    let isSameMachine = isSameMachine
    rows = StepDown.judge(
      figures.rows, deciding: gates.tolerances.count, error: rules.familyError
    ) { row, error in
      let tolerance = gates.tolerances[row]
      return figures.compared(row, tolerance: tolerance) { before, after in
        Self.compare(
          row, before, after, figures, tolerance: tolerance, error: error,
          isSameMachine: isSameMachine)
      }
    }
    finish(rules, beyond: gates.beyond)
  }

  /// A comparison of paired blocks, judged elsewhere.
  package init(
    baseline: [MeasuredRun], candidate: [MeasuredRun], rows: [ComparedRow], beyond: [GateRow],
    rules: ComparisonRules
  ) {
    self.baseline = baseline
    self.candidate = candidate
    self.rows = rows
    isSameMachine = true
    warnings = SamePlan.warnings(baseline + candidate)
    warnings += SamePlan.differencesOfMachine(baseline + candidate).map {
      "the executables are not built alike: \($0)"
    }
    finish(rules, beyond: beyond)
  }

  private mutating func finish(_ rules: ComparisonRules, beyond: [GateRow]) {
    if !beyond.isEmpty {
      warnings.append(
        "\(rules.gateRowsMax) rows decide at most; shown, but not judged: "
          + beyond.map(\.name).joined(separator: ", ")
          + " (name those that have to decide by --max-regression ROW=2%)")
    }
    for (name, acceptance) in rules.accepted.sorted(by: { $0.key < $1.key }) {
      accept(name, acceptance)
    }
  }

  /// Marks a row as accepted, or tells that the acceptance is of no use.
  private mutating func accept(_ name: String, _ acceptance: Acceptance) {
    let place = acceptance.file.map { " in '\($0)'" } ?? ""
    let words = "the acceptance of '\(name)'\(place) (\(acceptance.reason))"
    guard let position = rows.firstIndex(where: { $0.row.name == name }) else {
      let nearest = nearestName(name, in: rows.map(\.row.name)).map { "; did you mean '\($0)'?" }
      warnings.append("\(words) does nothing: no run has such a row\(nearest ?? "")")
      return
    }
    guard rows[position].isGate else {
      warnings.append("\(words) does nothing: the row is shown, but not judged")
      return
    }
    switch rows[position].verdict {
    case .worse:
      rows[position].isAccepted = true
      rows[position].reason = "accepted: \(acceptance.reason)"
    case .better, .same:
      warnings.append(
        "\(words) is not needed any more: the row is \(rows[position].verdict.rawValue); take it out"
      )
    case .cannotTell: break
    }
  }

  /// Judges one figure by independent runs.
  private static func compare(
    _ row: GateRow, _ before: [Double], _ after: [Double], _ figures: ComparedFigures,
    tolerance: Double?, error: Double, isSameMachine: Bool
  ) -> ComparedRow {
    let isExact = figures.isExact(row)
    let obstacle =
      min(before.count, after.count) < 2 && !isExact
      ? "one run a side says nothing about noise: give two or more (--replicas 5)" : nil
    var compared = Self.compared(
      row, before, after, tolerance: tolerance, error: error, obstacle: obstacle
    ) {
      if isExact { return LogRatio.exact(before[0], after[0]) }
      let resolution = FigureResolution(row.metric, [before, after], tick: figures.tick)
      return LogRatio.independent(before, after, error: error, resolution: resolution)
    }
    if row.kind == .timing && !isSameMachine {
      compared.verdict = .cannotTell
      compared.reason = "times of different machines say nothing"
    }
    return compared
  }

  /// The row with its verdict.
  ///
  /// - Parameters:
  ///   - error: the chance of a false alarm that it may have.
  ///   - obstacle: why nothing can be told yet, if so.
  ///   - interval: of the ratio candidate over baseline, which there is where no figure is 0.
  static func compared(
    _ row: GateRow, _ before: [Double], _ after: [Double], tolerance: Double?, error: Double,
    obstacle: String?, interval: () -> RatioInterval?
  ) -> ComparedRow {
    var compared = ComparedRow(
      row: row, baseline: median(before), candidate: median(after),
      noiseFloor: LogRatio.noiseFloor([before, after]), tolerance: tolerance, verdict: .cannotTell,
      reason: obstacle)
    if obstacle != nil { return compared }
    if let (verdict, reason) = ZeroFigures.verdict(row, before, after, error: error) {
      (compared.verdict, compared.reason) = (verdict, reason)
    } else if let slowdown = interval().map({ row.slowdown($0) }) {
      compared.slowdown = slowdown
      let tolerance = tolerance ?? 0.02
      compared.smallestDetectable = LogRatio.smallestDetectable(slowdown, tolerance: tolerance)
      compared.verdict = verdict(slowdown, tolerance: tolerance)
      compared.reason =
        compared.verdict == .cannotTell ? "the interval is too wide: more runs narrow it" : nil
    }
    return compared
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
