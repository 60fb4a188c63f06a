// A comparison in the forms that people and other tools read.
internal import Foundation

/// Form of a comparison on standard output.
package enum ComparisonFormat: String, CaseIterable, Sendable {
  case text
  case json
  case markdown
  case junit
  case githubActionBenchmark = "github-action-benchmark"
  /// The figures of each run, which the verdicts come from.
  case runs

  /// Those that say what is judged, and how.
  package static let withVerdicts = allCases.filter { $0 != .runs }
}

/// Renders a comparison.
package struct ComparisonOutput {
  private let comparison: Comparison
  /// Whether a gate row of which nobody can tell fails the gate.
  private let isStrict: Bool

  package init(_ comparison: Comparison, isStrict: Bool = false) {
    self.comparison = comparison
    self.isStrict = isStrict
  }

  package func render(_ format: ComparisonFormat) throws -> String {
    switch format {
    case .text: text()
    case .json: try json()
    case .markdown: markdown()
    case .junit: junit()
    case .githubActionBenchmark: try benchmarkAction()
    case .runs: RunFigures(comparison).table().text
    }
  }

  /// Whether a file that begins so is a comparison in a form; nil = compare.csv.
  static func isBegun(by text: String, as format: ComparisonFormat?) -> Bool {
    switch format {
    case nil: text.hasPrefix(columns.prefix(10).joined(separator: ","))
    case .text: text.contains(titleEnd) && text.contains(" baseline and ")
    case .markdown: text.hasPrefix("**") && text.contains(titleEnd)
    case .json: text.hasPrefix("{\n  \"baseline\" : [")
    case .junit: text.contains("<testsuite name=\"realm-bench compare\"")
    case .githubActionBenchmark:
      ["extra", "name"].contains { text.hasPrefix("[\n  {\n    \"\($0)\" : \"") }
        || text.hasPrefix("[\n\n]")
    case .runs: text.hasPrefix(RunFigures.firstColumns.joined(separator: ","))
    }
  }

  private static let interrupted = "interrupted before it was decided"
  private static let titleEnd =
    "; a positive change is for the worse; rows in brackets are shown, not judged"

  /// Columns of compare.csv; they only grow.
  package static let columns = [
    "row", "metric", "baseline", "candidate", "ratio", "low", "high", "noise_floor",
    "smallest_detectable", "verdict", "gate", "tolerance", "reason",
  ]

  /// compare.csv: ratios are of the change for the worse.
  package func table() -> CSVTable {
    var table = CSVTable(columns: Self.columns)
    func number(_ value: Double?, _ places: Int = 6) -> String? {
      // Two runs that have little in common know no bound: that is no number.
      value.flatMap { $0.isFinite ? decimal($0, places: places) : nil }
    }
    func figure(_ value: Double?) -> String? {
      value.flatMap { $0.isFinite ? decimalOfFigure($0) : nil }
    }
    for row in comparison.rows {
      table.append([
        row.row.row.name, row.row.metric, figure(row.baseline), figure(row.candidate),
        number(row.slowdown?.ratio), number(row.slowdown?.low), number(row.slowdown?.high),
        number(row.noiseFloor), number(row.smallestDetectable), row.verdict.rawValue,
        row.isGate ? "yes" : "no", number(row.tolerance, 4), row.reason,
      ])
    }
    return table
  }

  // MARK: - Cells

  static let header = [
    "row", "baseline", "candidate", "change", "interval", "noise", "could see", "verdict",
  ]

  func cells(_ row: ComparedRow) -> [String] {
    [
      row.row.name, value(row.baseline, row.row), value(row.candidate, row.row),
      percent(row.slowdown.map { $0.ratio - 1 }),
      row.slowdown.map { "\(percent($0.low - 1)) .. \(percent($0.high - 1))" } ?? "-",
      percent(row.noiseFloor).replacing("+", with: ""),
      percent(row.smallestDetectable).replacing("+", with: ""), verdict(row),
    ]
  }

  private func verdict(_ row: ComparedRow) -> String {
    let word = row.verdict == .cannotTell ? "cannot tell" : row.verdict.rawValue
    if row.isAccepted { return "\(word) (accepted)" }
    return row.isGate ? word : "(\(word))"
  }

  private func value(_ value: Double?, _ row: GateRow) -> String {
    guard let value else { return "-" }
    return switch row.metric {
    case let name where name.hasSuffix("_ns"):
      readableDuration(UInt64(max(0, value).rounded()))
    case "rate_per_s": grouped(Int(value.rounded())) + "/s"
    case let name where name.contains("bytes"): readableBytes(UInt64(max(0, value).rounded()))
    default: decimal(value, places: 4)
    }
  }

  /// As in +1.3 %; "-" when not known.
  private func percent(_ share: Double?) -> String {
    guard let share, !share.isNaN else { return "-" }
    // Beyond that nobody compares digits.
    if share >= 10 { return "over +1000 %" }
    return (share >= 0 ? "+" : "") + decimal(share * 100, places: 1) + " %"
  }

  var conclusion: String {
    let gates = comparison.rows.filter(\.isGate)
    let worse = comparison.regressions
    var parts = ["\(gates.count) gate rows: "]
    for verdict in [ComparisonVerdict.worse, .better, .same, .cannotTell] {
      let count = gates.filter { $0.verdict == verdict }.count
      if count > 0 {
        parts.append("\(count) \(verdict == .cannotTell ? "cannot tell" : verdict.rawValue), ")
      }
    }
    let counts = parts.joined().trimmingCharacters(in: CharacterSet(charactersIn: ", "))
    return worse.isEmpty
      ? counts : counts + ". Worse: " + worse.map(\.row.name).joined(separator: ", ")
  }

  private var title: String {
    "\(comparison.baseline.count) baseline and \(comparison.candidate.count) candidate runs of "
      + (comparison.baseline.first?.document.workload ?? "nothing")
      + Self.titleEnd
  }

  // MARK: - Forms

  private func text() -> String {
    let table = [Self.header] + comparison.rows.map(cells)
    let widths = Self.header.indices.map { column in table.map { $0[column].count }.max() ?? 0 }
    var lines = [title, ""]
    for row in table {
      lines.append(
        row.indices.map { column in
          let space = String(repeating: " ", count: widths[column] - row[column].count)
          return column == 0 || column == row.count - 1 ? row[column] + space : space + row[column]
        }.joined(separator: "  ").trimmingCharacters(in: .whitespaces))
    }
    lines += ["", conclusion] + notes.map { "note: " + $0 }
    return lines.joined(separator: "\n") + "\n"
  }

  /// What has to be known beside the table, in every form.
  private var notes: [String] {
    let reasons = comparison.rows.filter {
      $0.isGate && ($0.verdict == .cannotTell || $0.reason != nil)
    }
    .map { "\($0.row.name): \($0.reason ?? "cannot tell")" }
    let interrupted =
      comparison.isInterrupted
      ? [Self.interrupted]
      : comparison.failure.map { ["ended before it was decided: " + $0.message] } ?? []
    let all = interrupted + comparison.warnings + reasons + (comparison.place.map { [$0] } ?? [])
    return all.map { $0.split(whereSeparator: \.isNewline).joined(separator: " ") }
  }

  private func markdown() -> String {
    var lines = [
      "**\(escapedMarkdown(conclusion))**", "", escapedMarkdown(title), "",
      markdownRow(Self.header),
    ]
    lines.append("|---|" + String(repeating: "---:|", count: Self.header.count - 2) + "---|")
    lines += comparison.rows.map { markdownRow(cells($0)) }
    lines.append("")
    lines += notes.map { "- " + escapedMarkdown($0) }
    return lines.joined(separator: "\n") + "\n"
  }

  private struct JSONForm: Codable {
    var baseline: [String]
    var candidate: [String]
    var sameMachine: Bool
    var conclusion: String
    /// What the command ends with.
    var exitCode: Int
    var strict: Bool
    var regressions: [String]
    var undecided: [String]
    var warnings: [String]
    var place: String?
    var rows: [[String: JSONCell]]
  }

  private func json() throws -> String {
    let text: Set = ["row", "metric", "verdict", "gate", "reason"]
    let rows = (CSVTable.parse(table().text) ?? []).dropFirst().map { row in
      Dictionary(
        uniqueKeysWithValues: zip(Self.columns, row).filter { !$0.1.isEmpty }.map { name, cell in
          (name, text.contains(name) ? JSONCell.text(cell) : JSONCell(cell, column: name))
        })
    }
    return try encodeJSON(
      JSONForm(
        baseline: comparison.baseline.map(\.folder), candidate: comparison.candidate.map(\.folder),
        sameMachine: comparison.isSameMachine, conclusion: conclusion,
        exitCode: Int(comparison.exitCode(isStrict: isStrict).rawValue), strict: isStrict,
        regressions: comparison.regressions.map(\.row.name),
        undecided: comparison.undecided.map(\.row.name), warnings: comparison.warnings,
        place: comparison.place, rows: rows))
  }

  /// A gate row of which nobody can tell is skipped; with `--strict` it has failed, as the command,
  /// unless a regression has ended the blocks before.
  ///
  /// Runs that were interrupted, died or missed a threshold are an error of their own: a reader of
  /// the file alone would see a pass.
  private func junit() -> String {
    let gates = comparison.rows.filter(\.isGate)
    let undecided = comparison.undecided.count
    let isFailure = isStrict && !comparison.endsEarly
    let failures = comparison.regressions.count + (isFailure ? undecided : 0)
    let broken: String? =
      comparison.isInterrupted ? Self.interrupted : comparison.failure?.message
    let tests = gates.count + (broken == nil ? 0 : 1)
    var lines = [
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
      "<testsuite name=\"realm-bench compare\" tests=\"\(tests)\" "
        + "failures=\"\(failures)\" skipped=\"\(isFailure ? 0 : undecided)\" "
        + "errors=\"\(tests - gates.count)\">",
    ]
    for row in gates {
      let text = Self.escapedXML(cells(row).dropFirst().joined(separator: ", "))
      let name = Self.escapedXML(row.row.name)
      let head = "  <testcase classname=\"realm-bench\" name=\"\(name)\""
      switch row.verdict {
      case .worse where !row.isAccepted:
        lines.append("\(head)><failure message=\"\(text)\"/></testcase>")
      case .cannotTell:
        let reason = Self.escapedXML("cannot tell: \(row.reason ?? "")")
        let kind = isFailure ? "failure" : "skipped"
        lines.append("\(head)><\(kind) message=\"\(reason)\"/></testcase>")
      default: lines.append("\(head)><system-out>\(text)</system-out></testcase>")
      }
    }
    if let broken {
      let text = Self.escapedXML(broken)
      lines.append(
        "  <testcase classname=\"realm-bench\" name=\"compare\"><error message=\"\(text)\"/></testcase>"
      )
    }
    let all = ([conclusion] + notes).joined(separator: "\n")
    lines.append("  <system-out>\(Self.escapedXML(all, keepsLines: true))</system-out>")
    return (lines + ["</testsuite>"]).joined(separator: "\n") + "\n"
  }

  /// Text of users in XML, which has no place for most control characters.
  private static func escapedXML(_ text: String, keepsLines: Bool = false) -> String {
    let plain = text.unicodeScalars.map { scalar -> Character in
      if scalar == "\n" && keepsLines { return "\n" }
      let isText = scalar.value >= 32 && scalar.value < 0xFFFE || scalar.value > 0xFFFF
      return isText ? Character(scalar) : " "
    }
    return escapedHTML(String(plain))
  }

  private struct ActionEntry: Codable {
    var name: String
    var unit: String
    var value: Double
    var range: String?
    /// Shown when one points at the value.
    var extra: String?
  }

  /// The array of "smaller is better" entries that the action reads: rates become times.
  ///
  /// The last one counts the rows of which nobody can tell, and has the warnings.
  private func benchmarkAction() throws -> String {
    var entries = comparison.rows.filter(\.isGate).compactMap { row -> ActionEntry? in
      let isRate = row.row.metric == "rate_per_s"
      guard let candidate = row.candidate, candidate > 0 || !isRate else { return nil }
      return ActionEntry(
        name: row.row.name, unit: isRate ? "ns/operation" : Self.unit(row.row.metric),
        value: isRate ? 1e9 / candidate : candidate,
        range: row.noiseFloor.map { "\u{b1} \(decimal($0 * 100, places: 1)) %" },
        extra: [verdict(row), row.reason].compactMap(\.self).joined(separator: ": "))
    }
    entries.append(
      ActionEntry(
        name: "gate rows of which nobody can tell", unit: "rows",
        value: Double(comparison.undecided.count),
        extra: ([conclusion] + notes).joined(separator: "\n")))
    return try encodeJSON(entries)
  }

  private static func unit(_ metric: String) -> String {
    if metric.hasSuffix("_ns") { return "ns" }
    if metric == "syncs_per_commit" { return "syncs" }
    if metric == GateRow.systemCalls { return "calls" }
    if metric == GateRow.allocations { return "allocations" }
    if metric == GateRow.instructions { return "instructions" }
    return metric.contains("bytes") ? "bytes" : "1"
  }
}
