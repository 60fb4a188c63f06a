// What a gate looks at: an operation's column of summary.csv, or a figure of the file, and how much
// worse it may get.

/// A figure that two sides are compared by.
package struct GateRow: Hashable, Comparable, Sendable {
  /// How a figure is judged.
  package enum Kind: Sendable {
    /// Time or rate, or instructions: only comparable on one machine.
    case timing
    /// Counted: comparable everywhere, and exact where nothing varies.
    case counter
  }

  package let row: MeasuredRun.RowKey
  package let metric: String

  package init(row: MeasuredRun.RowKey, metric: String) {
    self.row = row
    self.metric = metric
  }

  /// As in `read.service_p50_ns`.
  package var name: String { "\(row.name).\(metric)" }

  package var kind: Kind { Self.counters.contains(metric) ? .counter : .timing }

  /// Whether more is better.
  package var isBetterWhenLarger: Bool { Self.isBetterWhenLarger(metric) }

  static func isBetterWhenLarger(_ metric: String) -> Bool { metric == "rate_per_s" }

  package static func < (left: GateRow, right: GateRow) -> Bool {
    (left.row, left.metric) < (right.row, right.metric)
  }

  /// Whether it is about all that was measured, not about one step of a plan.
  var isOfWholeRun: Bool { row.phase == Phase.measure.name }

  /// Whether it is a time or rate of what threads do once the file is filled.
  var isTimeOfWork: Bool { kind == .timing && row.phase != Phase.load.name }

  /// Whether it decides unless others are named.
  var isUsualGate: Bool {
    let isMinor = Operation(rawValue: row.operation)?.isMinor ?? false
    return !isMinor && (kind == .counter || Self.gating.contains(metric))
  }

  /// What a file grows by, which is 0 for one that has its size.
  static let growth = "growth_bytes_per_commit"

  /// Columns of counters; two of them are made from growth.csv.
  package static let counters: Set<String> = [
    "syncs_per_commit", "written_bytes_per_commit", "file_bytes_per_object", growth, allocations,
    systemCalls,
  ]

  static let allocations = "allocations_per_operation"
  static let systemCalls = "system_calls_per_commit"
  static let instructions = "instructions_per_operation"

  /// Columns that are empty where a build, a machine or an engine does not count them.
  static let notAlwaysCounted: Set = [allocations, systemCalls, instructions]

  /// Whether it decides by itself only where nothing varies: elsewhere a time says what it costs.
  var decidesIfExact: Bool { metric == Self.allocations || metric == Self.systemCalls }

  /// Columns of times that are shown; percentiles beyond the median gate only when they are named.
  static let shown = [
    "rate_per_s", "service_p50_ns", "service_p90_ns", "service_p99_ns", "service_p99_9_ns",
    "response_p50_ns", "response_p99_ns", "response_p99_9_ns", instructions,
  ]

  static let gating: Set<String> = [
    "rate_per_s", "service_p50_ns", "response_p50_ns", instructions,
  ]

  /// The figures of one run.
  static func figures(of run: MeasuredRun) -> [GateRow: Double] {
    var figures: [GateRow: Double] = [:]
    for (key, columns) in run.rows where key.phase != "warmup" {
      for metric in shown + counters where columns[metric] != nil {
        // The rate of an open loop is what was asked for.
        if metric == "rate_per_s" && key.load == "open" { continue }
        if isUnknown(metric, columns, run) { continue }
        // Nothing that is measured is below 0: a damaged cell counts as not measured.
        guard let value = columns[metric], value >= 0 else { continue }
        figures[GateRow(row: key, metric: metric)] = value
      }
    }
    for (metric, value) in space(of: run) {
      let row = MeasuredRun.RowKey(
        engine: run.document.engine, workload: run.document.workload, operation: "file",
        phase: "measure", load: "")
      figures[GateRow(row: row, metric: metric)] = value
    }
    return figures
  }

  /// Percentiles of response times that a run does not know: operations that were due were not done
  /// and could change them.
  static func unknown(in run: MeasuredRun) -> [GateRow] {
    run.rows.filter { $0.key.phase != "warmup" && $0.key.load == "open" }
      .flatMap { key, columns in
        shown.filter { isUnknown($0, columns, run) }.map { GateRow(row: key, metric: $0) }
      }
  }

  private static func isUnknown(
    _ metric: String, _ columns: [String: Double], _ run: MeasuredRun
  ) -> Bool {
    guard metric.hasPrefix("response_"),
      let percentile = Percentile.allCases.first(where: { metric == "response_\($0)_ns" })
    else { return false }
    let (count, skipped) = (columns["count"] ?? 0, columns["skipped"] ?? 0)
    // Earlier versions gave the percentiles of those that were done.
    if run.document.leftOut == nil { return skipped > 0 }
    return columns[metric] == nil && count + skipped >= Double(percentile.samplesNeeded)
  }

  private static func space(of run: MeasuredRun) -> [String: Double] {
    guard let (first, last) = run.growth else { return [:] }
    var space: [String: Double] = [:]
    if let bytes = last["file_bytes"], let objects = last["objects"], objects > 0 {
      space["file_bytes_per_object"] = bytes / objects
    }
    if let before = first["file_bytes"], let after = last["file_bytes"],
      let begin = first["commits"], let end = last["commits"], end > begin
    {
      space[growth] = max(0, after - before) / (end - begin)
    }
    return space
  }
}
