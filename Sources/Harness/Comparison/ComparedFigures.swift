// What two sides have measured, by row: which rows there are, which of them some run lacks, and
// which of them decide. A row that one run has and another lacks is never dropped: nobody can tell
// of it, and that is said.

/// The figures of two sides.
struct ComparedFigures {
  /// The rows that decide, with their tolerances.
  struct Gates {
    var tolerances: [GateRow: Double] = [:]
    /// Those that would decide, if fewer did.
    var beyond: [GateRow] = []
  }

  /// Of each side, the figures of each row, by run.
  private let columns: [[[Double?]]]
  /// Where each row is among the columns.
  private let places: [GateRow: Int]
  /// Which of the runs are looked at, of both sides alike; nil for all of them.
  private var drawn: [Int]?
  /// Those that some run does not know, because it left out what was due.
  private let unknown: Set<GateRow>
  /// Of each run of the candidate, what such a figure is at least.
  private let leastOfCandidate: [[GateRow: Double]]
  /// Counters that follow from the plan alone.
  private let exact: Set<GateRow>
  /// What the clock of the runs moves by, in nanoseconds.
  let tick: Double
  /// Runs of each side that are looked at.
  private var counts: [Int]
  /// Every row that any run has.
  let rows: [GateRow]

  /// Reads the figures of all runs.
  /// - Throws: `ResultsError` for a run that has none.
  init(baseline: [MeasuredRun], candidate: [MeasuredRun]) throws(ResultsError) {
    for run in baseline + candidate
    where GateRow.figures(of: run).isEmpty && GateRow.unknown(in: run).isEmpty {
      throw ResultsError(
        "'\(run.folder)' has nothing to compare: its summary.csv is missing, or has no figure")
    }
    let all = baseline + candidate
    self.init(
      sides: [baseline, candidate].map { $0.map(GateRow.figures) },
      unknown: Set(all.flatMap(GateRow.unknown)),
      leastOfCandidate: candidate.map(\.leastResponses), exact: ExactCounters.rows(of: all),
      tick: Self.tick(of: all))
  }

  /// What the coarsest clock of some runs moves by, in nanoseconds.
  static func tick(of runs: [MeasuredRun]) -> Double {
    Double(runs.compactMap(\.document.environment.clockTickNs).max() ?? 1)
  }

  /// - Parameters:
  ///   - sides: of the baseline and the candidate, the figures of each run.
  ///   - unknown: rows that some run does not know.
  ///   - leastOfCandidate: of each run of the candidate, what it knows of those.
  ///   - exact: counters that follow from the plan alone.
  ///   - tick: what the clock moves by, in nanoseconds.
  init(
    sides: [[[GateRow: Double]]], unknown: Set<GateRow> = [],
    leastOfCandidate: [[GateRow: Double]] = [], exact: Set<GateRow> = [], tick: Double = 1
  ) {
    self.unknown = unknown
    self.leastOfCandidate = leastOfCandidate
    self.exact = exact
    self.tick = tick
    let rows = unknown.union(sides.joined().flatMap(\.keys)).sorted()
    self.rows = rows
    columns = sides.map { runs in rows.map { row in runs.map { $0[row] } } }
    places = Dictionary(uniqueKeysWithValues: zip(rows, rows.indices))
    counts = sides.map(\.count)
  }

  /// The same figures of no block; `draw` adds them.
  func withoutBlocks() -> ComparedFigures {
    var figures = self
    figures.drawn = []
    figures.counts = [0, 0]
    return figures
  }

  /// Adds a block: the run of each side with that number.
  mutating func draw(_ block: Int) {
    drawn?.append(block)
    counts = counts.map { $0 + 1 }
  }

  /// What each side's runs have measured; nil where a run has not.
  private func values(_ row: GateRow) -> [[Double?]] {
    guard let place = places[row] else { return counts.map { Array(repeating: nil, count: $0) } }
    return columns.map { rows in drawn.map { $0.map { rows[place][$0] } } ?? rows[place] }
  }

  /// The figures of both sides, where every run has one.
  func known(_ row: GateRow) -> (baseline: [Double], candidate: [Double])? {
    let known = values(row).map { $0.compactMap(\.self) }
    guard known.map(\.count) == counts else { return nil }
    return (known[0], known[1])
  }

  /// Whether a row is a counter without noise, and no run says otherwise.
  func isExact(_ row: GateRow) -> Bool {
    exact.contains(row) && values(row).allSatisfy { Set($0).count == 1 && $0[0] != nil }
  }

  /// Judges a row; one that the candidate does not know is worse if what it is at least is.
  func compared(
    _ row: GateRow, tolerance: Double?, by judge: ([Double], [Double]) -> ComparedRow
  ) -> ComparedRow {
    if let (before, after) = known(row) { return judge(before, after) }
    if let (before, after) = atLeast(row) {
      var compared = judge(before, after)
      if compared.verdict == .worse {
        compared.reason =
          "it is that slow at least: operations that were due were not done, and count with the time "
          + "for which they had waited"
        return compared
      }
    }
    return incomplete(row, tolerance: tolerance)
  }

  /// The figures of the baseline, and what those of the candidate are at least.
  private func atLeast(_ row: GateRow) -> (baseline: [Double], candidate: [Double])? {
    guard unknown.contains(row), drawn == nil else { return nil }
    let sides = values(row)
    let before = sides[0].compactMap(\.self)
    let after = zip(sides[1], leastOfCandidate).compactMap { $0 ?? $1[row] }
    guard [before.count, after.count] == counts else { return nil }
    return (before, after)
  }

  /// A row that some run lacks: nobody can tell of it, and it is shown all the same.
  private func incomplete(_ row: GateRow, tolerance: Double?) -> ComparedRow {
    let known = values(row).map { $0.compactMap(\.self) }
    let missing = zip(counts, known).map { $0 - $1.count }
    func side(_ number: Int) -> Double? { missing[number] > 0 ? nil : median(known[number]) }
    let place =
      "in \(missing[0]) of \(counts[0]) baseline and \(missing[1]) of \(counts[1]) "
      + "candidate runs"
    return ComparedRow(
      row: row, baseline: side(0), candidate: side(1), tolerance: tolerance, verdict: .cannotTell,
      reason: unknown.contains(row)
        ? "not known \(place): operations that were due were not done"
        : "not measured \(place)",
      isUnknown: true)
  }

  // MARK: - Rows that decide

  /// Medians, rates and counters, and those that the user named.
  /// - Parameter judgesTimes: whether the runs are of one machine; else counters alone decide, and
  ///   what the user named.
  /// - Throws: `ResultsError` when a named row is not there, and when nothing would decide.
  func gates(
    _ rules: ComparisonRules, judgesTimes: Bool = true
  ) throws(ResultsError) -> Gates {
    var gates = Gates()
    for name in rules.tolerances.keys.sorted() {
      gates.tolerances[try row(name, "--max-regression")] = rules.tolerances[name]
    }
    for (name, acceptance) in rules.accepted.sorted(by: { $0.key < $1.key })
    where acceptance.file == nil {
      _ = try row(name, "--accept")
    }
    var usual = rows.filter {
      gates.tolerances[$0] == nil && decidesByItself($0) && (judgesTimes || $0.kind == .counter)
    }
    // Filling the file takes milliseconds in most runs: its time says too little to decide on, and
    // would use all of a budget. Where nothing else is timed it is what the run is for.
    if usual.contains(where: { $0.isTimeOfWork }) {
      usual.removeAll { $0.kind == .timing && !$0.isTimeOfWork }
    }
    var places = rules.gateRowsMax - gates.tolerances.count
    for row in Self.inOrder(usual) {
      // What decides only without noise takes no place from a row that has some.
      if row.decidesIfExact || places > 0 {
        if !row.decidesIfExact { places -= 1 }
        gates.tolerances[row] = isExact(row) ? rules.toleranceOfExact : rules.tolerance
      } else {
        gates.beyond.append(row)
      }
    }
    guard !gates.tolerances.isEmpty else {
      throw ResultsError(
        "nothing to judge: the runs have no median, rate or counter that decides (only "
          + "\(rows.map(\.name).joined(separator: ", "))"
          + (judgesTimes ? "" : "; times of different machines are not compared")
          + "); name a row by --max-regression ROW=10%")
    }
    return gates
  }

  /// The measured phase before the steps of a plan; what is known beside a time behind all.
  private static func inOrder(_ rows: [GateRow]) -> [GateRow] {
    let ordered = rows.filter(\.isOfWholeRun) + rows.filter { !$0.isOfWholeRun }
    return ordered.filter { $0.metric != GateRow.instructions }
      + ordered.filter { $0.metric == GateRow.instructions }
  }

  private func row(_ name: String, _ flag: String) throws(ResultsError) -> GateRow {
    if let row = rows.first(where: { $0.name == name }) { return row }
    let nearest = nearestName(name, in: rows.map(\.name)).map { "; did you mean '\($0)'?" } ?? ""
    throw ResultsError("\(flag): no run has the row '\(name)'\(nearest)")
  }

  private func decidesByItself(_ row: GateRow) -> Bool {
    guard row.isUsualGate else { return false }
    if row.decidesIfExact { return isExact(row) }
    // Which machine counts them, and since which version, says nothing of the program: its times
    // do.
    if row.metric == GateRow.instructions { return known(row) != nil }
    guard row.metric == GateRow.growth else { return true }
    // A file that has its size grows by chance, if at all: there is no growth to speak of unless
    // every run of a side has some.
    return values(row).contains { runs in runs.allSatisfy { ($0 ?? 0) > 0 } }
  }
}
