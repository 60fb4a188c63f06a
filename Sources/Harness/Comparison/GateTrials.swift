// What a gate on a machine can see, from recorded blocks: many gates are drawn from them, by chance
// and with repetition, and judged block by block as `compare --executables` does.
internal import Foundation
internal import Platform

/// How gates that are drawn from recorded blocks end.
struct GateTrials {
  /// How one gate ended.
  private struct Gate {
    var verdicts: [GateRow: ComparisonVerdict]
    var blocks: Int
  }

  private let gates: [Gate]
  private let recorded: Int
  private let blocksMax: Int
  private let seed: UInt64
  /// Mean change for the worse of all recorded blocks, as a ratio.
  private let changes: [GateRow: Double]

  /// Draws and judges gates.
  ///
  /// - Parameters:
  ///   - blocks: the figures of each block.
  ///   - blocksMax: how many blocks a gate has at most; nil = as many as were recorded.
  /// - Throws: `ResultsError` when nothing would decide.
  /// - Complexity: O(gates x blocks x blocks) at worst; each looks after each block.
  init(
    _ blocks: RunFigures, gates count: Int, blocksMax: Int?, seed: UInt64, rules: ComparisonRules
  ) throws(ResultsError) {
    recorded = blocks.sides[0].count
    guard recorded >= PairedJudge.blocksMin else {
      throw ResultsError(
        "\(recorded) blocks decide nothing: record at least \(PairedJudge.blocksMin), better hundreds"
      )
    }
    self.blocksMax = blocksMax ?? recorded
    self.seed = seed
    let figures = ComparedFigures(
      sides: blocks.sides, exact: blocks.exact, tick: blocks.tick)
    var random = RandomGenerator(seed: seed)
    var gates: [Gate] = []
    for _ in 0..<count {
      gates.append(
        try Self.gate(figures, of: recorded, blocksMax: self.blocksMax, rules, &random))
    }
    self.gates = gates
    var changes: [GateRow: Double] = [:]
    for row in Set(gates.flatMap(\.verdicts.keys)) {
      guard let (before, after) = figures.known(row) else { continue }
      let mean = zip(before, after).reduce(0) { $0 + log($1.1 / $1.0) } / Double(before.count)
      changes[row] = exp(row.isBetterWhenLarger ? -mean : mean)
    }
    self.changes = changes
  }

  private static func gate(
    _ recorded: ComparedFigures, of count: Int, blocksMax: Int, _ rules: ComparisonRules,
    _ random: inout RandomGenerator
  ) throws(ResultsError) -> Gate {
    var figures = recorded.withoutBlocks()
    var blocks = 0
    while true {
      figures.draw(Int(random.next(upperBound: UInt64(count))))
      blocks += 1
      if blocks < PairedJudge.blocksMin { continue }
      let judge = try PairedJudge(figures, blocks: blocks, rules)
      let rows = judge.decidingVerdicts()
      if !judge.isDecided(rows) && blocks < blocksMax { continue }
      let verdicts = rows.map { ($0.row, $0.verdict) }
      return Gate(verdicts: Dictionary(uniqueKeysWithValues: verdicts), blocks: blocks)
    }
  }

  // MARK: - What they came to

  /// Shares are of all gates, in percent.
  struct Summary: Encodable {
    let gates: Int
    let recordedBlocks: Int
    let blocksMax: Int
    let seed: UInt64
    /// Gates that call some row worse.
    let worsePercent: Double
    /// Gates that cannot tell of some row, and call none worse.
    let cannotTellPercent: Double
    /// Blocks until a gate is decided.
    let blocksMedian: Int
    let blocksNineOfTen: Int
    let blocksMost: Int
    let rows: [Row]
  }

  /// A figure that decides.
  struct Row: Encodable {
    let row: String
    /// Nil for counters that are 0, which have no ratio.
    let changePercent: Double?
    let worsePercent: Double
    let betterPercent: Double
    let samePercent: Double
    let cannotTellPercent: Double
  }

  private func percent(_ count: Int) -> Double { Double(count) / Double(gates.count) * 100 }

  var summary: Summary {
    let rows = Set(gates.flatMap(\.verdicts.keys)).sorted().map { row in
      func percent(_ verdict: ComparisonVerdict) -> Double {
        self.percent(gates.filter { $0.verdicts[row] == verdict }.count)
      }
      let change = changes[row].flatMap { $0.isFinite ? ($0 - 1) * 100 : nil }
      return Row(
        row: row.name, changePercent: change, worsePercent: percent(.worse),
        betterPercent: percent(.better), samePercent: percent(.same),
        cannotTellPercent: percent(.cannotTell))
    }
    let failed = gates.filter { $0.verdicts.values.contains(.worse) }
    let open = gates.filter {
      !$0.verdicts.values.contains(.worse) && $0.verdicts.values.contains(.cannotTell)
    }
    let lengths = gates.map(\.blocks).sorted()
    func length(_ share: Double) -> Int { lengths[Int(Double(lengths.count - 1) * share)] }
    return Summary(
      gates: gates.count, recordedBlocks: recorded, blocksMax: blocksMax, seed: seed,
      worsePercent: percent(failed.count), cannotTellPercent: percent(open.count),
      blocksMedian: length(0.5), blocksNineOfTen: length(0.9), blocksMost: length(1), rows: rows)
  }

  /// A table, one row a figure that decides, and what the gates as a whole said.
  func text(isMarkdown: Bool) -> String {
    func share(_ percent: Double) -> String { decimal(percent, places: 1) + " %" }
    let summary = summary
    let rows = summary.rows.map { row in
      [row.row, row.changePercent.map { decimal($0, places: 2) + " %" } ?? "-"]
        + [row.worsePercent, row.betterPercent, row.samePercent, row.cannotTellPercent].map(share)
    }
    let sentence =
      "\(summary.gates) gates drawn from \(recorded) blocks (seed \(seed), at most \(blocksMax) blocks "
      + "a gate): \(share(summary.worsePercent)) say worse of some row, "
      + "\(share(summary.cannotTellPercent)) cannot tell of some row and call none worse; blocks "
      + "until it is decided: median \(summary.blocksMedian), nine of ten within "
      + "\(summary.blocksNineOfTen), most \(summary.blocksMost)"
    let table = TextTable(
      header: ["row", "change in all blocks", "worse", "better", "same", "cannot tell"], rows: rows)
    return (isMarkdown ? table.markdown : table.text) + "\n" + sentence + "\n"
  }
}
