// The planner's result in the forms that people and other tools read: text, JSON, markdown,
// plan.csv.
internal import Foundation

/// Renders a result.
package struct PlanOutput {
  private let result: PlanResult
  private let folder: String

  package init(_ result: PlanResult, folder: String) {
    self.result = result
    self.folder = folder
  }

  package func render(_ format: OutputFormat) throws -> String {
    switch format {
    case .text: text()
    case .json: try json()
    case .markdown: markdown()
    }
  }

  // MARK: - plan.csv

  /// Columns of plan.csv; they only grow.
  package static let columns = [
    "schema_version", "kind", "question", "metric", "unit", "objects", "value_bytes", "batch",
    "pins", "age_s", "commits_between_pins", "rate_per_s", "readers", "read_rate_per_s", "writers",
    "durability", "value", "low", "high", "extrapolated", "vouched", "extrapolation", "method",
    "measured", "error_percent", "within", "knee", "command", "bound",
  ]

  /// A row an experiment, answer, check, validation or point of a curve.
  package func table() -> CSVTable {
    var table = CSVTable(columns: Self.columns)
    for run in result.experiments {
      for metric in Self.measuredMetrics {
        guard let measured = run.measured(metric) else { continue }
        add(
          &table, "experiment", run.setting, metric.name, metric.unit, ["measured": exact(measured)]
        )
      }
    }
    for answer in result.answers {
      var cells = range(answer.estimate)
      cells["question"] = answer.question.text
      cells["method"] = answer.method
      cells["bound"] = answer.bound?.name
      cells["extrapolated"] = answer.extrapolations.isEmpty ? "no" : "yes"
      cells["vouched"] = answer.isVouched ? "yes" : "no"
      cells["extrapolation"] = answer.doubts.joined(separator: "; ")
      add(&table, "answer", answer.question.setting, answer.name, answer.unit, cells)
      if let check = answer.check {
        add(&table, "check", check, question: answer.question.text)
      }
    }
    for check in result.validations { add(&table, "validation", check, question: nil) }
    for point in result.curves {
      var cells = range(point.estimate)
      cells["question"] = point.curve
      cells["knee"] = point.isKnee ? "yes" : nil
      add(&table, "curve", point.setting, point.metric.name, point.metric.unit, cells)
    }
    return table
  }

  private static let measuredMetrics: [PlanMetric] = [
    .fileBytes, .liveBytes, .heldBytes, .growthPerCommit, .memoryBytes, .rate(.write),
    .latency(.write, "service_p50_ns"), .latency(.write, "service_p99_ns"),
    .latency(.write, "response_p99_ns"), .rate(.read), .latency(.read, "service_p50_ns"),
    .latency(.read, "service_p99_ns"),
  ]

  private func add(
    _ table: inout CSVTable, _ kind: String, _ check: PlanCheck, question: String?
  ) {
    var cells = range(check.predicted)
    cells["question"] = question
    cells["measured"] = exact(check.measured)
    cells["error_percent"] = percent(check)
    cells["within"] = check.isWithin ? "yes" : "no"
    cells["command"] = check.command
    add(&table, kind, check.setting, check.metric.name, check.metric.unit, cells)
  }

  private func add(
    _ table: inout CSVTable, _ kind: String, _ setting: PlanSetting, _ metric: String,
    _ unit: String, _ more: [String: String]
  ) {
    var cells = more
    cells["schema_version"] = String(ResultSchema.version)
    cells["kind"] = kind
    cells["metric"] = metric
    cells["unit"] = unit
    cells["objects"] = exact(setting.objects)
    cells["value_bytes"] = exact(setting.valueBytes)
    cells["batch"] = exact(setting.batch)
    cells["pins"] = exact(setting.pins)
    cells["age_s"] = setting.ageSeconds.map(exact)
    cells["commits_between_pins"] = setting.commitsBetweenPins.map(exact)
    cells["rate_per_s"] = setting.ratePerSecond.map(exact)
    cells["readers"] = exact(setting.readers)
    cells["read_rate_per_s"] = setting.readRatePerSecond.map(exact)
    cells["writers"] = exact(setting.writers)
    cells["durability"] = setting.durability.rawValue
    table.append(Self.columns.map { cells[$0] })
  }

  /// Nil where nothing was measured that it could be a share of.
  private func percent(_ check: PlanCheck) -> String? {
    check.errorPercent.isFinite ? decimal(check.errorPercent, places: 2) : nil
  }

  private func range(_ estimate: PlanEstimate) -> [String: String] {
    ["value": exact(estimate.value), "low": exact(estimate.low), "high": exact(estimate.high)]
  }

  private func exact(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : decimalOfFigure(value)
  }

  // MARK: - Text

  private func answerLine(_ answer: PlanAnswer) -> String {
    let estimate = answer.estimate
    let low = answer.readable(estimate.low)
    let high = answer.readable(estimate.high)
    if answer.bound != nil { return Self.boundLine(answer) }
    if answer.isBracket {
      return
        "\(answer.name) \(answer.readable(estimate.value)): a run kept the limit there, one at "
        + "\(high) did not; each was tried once"
    }
    return "\(answer.name) \(answer.readable(estimate.value)), 9 of 10 times from \(low) to \(high)"
  }

  /// An answer that ends where the search did, and so is none.
  private static func boundLine(_ answer: PlanAnswer) -> String {
    let readable = answer.readable
    switch answer.bound {
    case .least(let end):
      let low = answer.estimate.low
      return "\(answer.name) at least \(readable(end)), as far as was searched"
        + (low < end ? "; 1 of 20 times only up to \(readable(low))" : "")
    case .most(let end):
      return "\(answer.name) \(readable(end)), which is all that a closed loop does"
    case .nowhere(let from, let to?):
      return "\(answer.name): nowhere from \(readable(from)) to \(readable(to))"
    case .nowhere(let from, nil):
      return "\(answer.name): nowhere from \(readable(from))"
    case nil: return ""
    }
  }

  private func value(_ answer: PlanAnswer) -> String {
    switch answer.bound {
    case .least(let end): "at least \(answer.readable(end))"
    case .nowhere: "nowhere"
    case .most, nil: answer.readable(answer.estimate.value)
    }
  }

  private func details(_ answer: PlanAnswer) -> [String] {
    var lines = ["by: \(answer.method)"]
    lines += answer.extrapolations.map { "extrapolated: \($0.text)" }
    lines += answer.weaknesses.map { "not vouched for: \($0)" }
    lines += answer.notes
    lines.append(answer.check.map { "checked by \($0.words)" } ?? "not checked by a run")
    return lines
  }

  private var knee: String? {
    guard let point = result.curves.first(where: \.isKnee), let rate = point.setting.ratePerSecond
    else { return nil }
    return "knee of the response time of writes against their rate: "
      + "\(grouped(Int(wholeNumber(rate))))/s, p99 " + point.metric.readable(point.estimate.value)
  }

  private var warnings: [String] {
    result.warnings + (result.incompleteness.map { [$0] } ?? [])
  }

  private var machineLine: String {
    let sync = result.machine.syncNanoseconds.map { readableDuration(UInt64($0)) } ?? "unknown"
    let memory = result.machine.memoryBytesPerSecond.map {
      ", memory copies \(readableBytes(UInt64($0)))/s"
    }
    return "machine: \(Processors.text(of: result.machine.cores)) cores, raw write and sync \(sync)"
      + "\(memory ?? ""); \(result.experiments.count) runs"
  }

  private func text() -> String {
    var lines: [String] = []
    for answer in result.answers {
      lines.append(answer.question.text)
      lines.append("  " + answerLine(answer))
      lines += details(answer).map { "  " + $0 }
      lines.append("")
    }
    if let knee { lines.append(knee) }
    if let worth = validationLine { lines.append(worth) }
    lines.append(machineLine)
    lines += warnings.map { "warning: " + $0 }
    lines.append("plan.csv and plan.html in \(folder)")
    return lines.joined(separator: "\n") + "\n"
  }

  /// How many predictions were near enough, by metric.
  private var validationLine: String? {
    guard !result.validations.isEmpty else { return nil }
    let parts = validationCounts().map {
      "\($0.metric): \($0.good) of \($0.count) \($0.rule)"
    }
    return "settings that nothing was fitted to: " + parts.joined(separator: "; ")
  }

  /// Space has to be within 15 %, times within the predicted range.
  private func validationCounts() -> [(metric: String, rule: String, good: Int, count: Int)] {
    Set(result.validations.map(\.metric.name)).sorted().map { name in
      let checks = result.validations.filter { $0.metric.name == name }
      let isSpace = checks[0].metric.isSpace
      let good = checks.filter { isSpace ? abs($0.errorPercent) <= 15 : $0.isWithin }
      return (name, isSpace ? "within 15 %" : "within the range", good.count, checks.count)
    }
  }

  private func markdown() -> String {
    var lines: [String] = []
    if !result.answers.isEmpty {
      lines += ["| question | answer | 9 of 10 times | extrapolated | checked by a run |"]
      lines += ["|---|---:|---:|---|---|"]
      for answer in result.answers {
        let estimate = answer.estimate
        lines.append(
          "| \(escapedMarkdown(answer.question.text)) "
            + "| \(value(answer)) "
            + "| \(answer.readable(estimate.low)) .. \(answer.readable(estimate.high))"
            + (answer.isBracket ? ", a run each " : " ")
            + "| \(answer.doubts.joined(separator: "; ")) | \(answer.check?.words ?? "no") |")
      }
      lines.append("")
      for answer in result.answers {
        lines += answer.notes.map { "- \(escapedMarkdown(answer.question.text)): \($0)" }
      }
    }
    if !result.validations.isEmpty {
      lines += ["", validationLine!, ""]
      lines += ["| setting | figure | predicted | range | measured | error % | within |"]
      lines += ["|---|---|---:|---:|---:|---:|---|"]
      for check in result.validations {
        let metric = check.metric
        lines.append(
          "| \(check.setting.text) | \(metric.name) | \(metric.readable(check.predicted.value)) "
            + "| \(metric.readable(check.predicted.low)) .. \(metric.readable(check.predicted.high)) "
            + "| \(metric.readable(check.measured)) | \(decimal(check.errorPercent, places: 1)) "
            + "| \(check.isWithin ? "yes" : "no") |")
      }
    }
    lines.append("")
    if let knee { lines.append("- \(knee)") }
    lines.append("- \(machineLine)")
    lines += warnings.map { "- warning: \(escapedMarkdown($0))" }
    return lines.joined(separator: "\n") + "\n"
  }

  // MARK: - JSON

  private struct JSONForm: Codable {
    var folder: String
    var machine: MachineCosts
    var rows: [[String: JSONCell]]
    var notes: [String: [String]]
    var warnings: [String]
    /// The answers are from what was measured until then.
    var interrupted: Bool
    /// What the run that ended it says; missing where none did.
    var failure: String?
  }

  private func json() throws -> String {
    let words: Set = [
      "kind", "question", "metric", "unit", "durability", "extrapolated", "vouched",
      "extrapolation", "method", "within", "knee", "command", "bound",
    ]
    let rows = (CSVTable.parse(table().text) ?? []).dropFirst().map { row in
      Dictionary(
        uniqueKeysWithValues: zip(Self.columns, row).filter { !$0.1.isEmpty }.map { name, cell in
          (name, words.contains(name) ? JSONCell.text(cell) : JSONCell(cell, column: name))
        })
    }
    let notes = Dictionary(result.answers.map { ($0.question.text, $0.notes) }) { first, _ in first
    }
    return try encodeJSON(
      JSONForm(
        folder: folder, machine: result.machine, rows: rows, notes: notes,
        warnings: warnings, interrupted: result.isInterrupted, failure: result.failure?.message))
  }
}
