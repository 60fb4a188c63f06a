// The sections of a report: what runs measured, read back from their results folders. Every number
// names its file; paths, host name and data are left out unless they are asked for.
internal import Foundation

/// Makes a report of some results folders.
package struct RunReport {
  private let runs: [MeasuredRun]
  private let comparison: Comparison?
  /// Whether folders are named by their path, and the host by its name.
  private let showsPlaces: Bool
  /// Of more points than these some neighbours are drawn as one.
  private static let pointsMax = 400

  /// - Parameter comparison: of two sides, if they did the same work.
  package init(_ runs: [MeasuredRun], comparison: Comparison?, showsPlaces: Bool) {
    self.runs = runs
    self.comparison = comparison
    self.showsPlaces = showsPlaces
  }

  /// The whole page.
  ///
  /// - Throws: `ResultsError` when a folder's file cannot be read.
  package func html() throws -> String {
    let names = Set(runs.map(\.document.workload)).sorted().joined(separator: ", ")
    var page = ReportPage("\(names): \(runs.count == 1 ? "one run" : "\(runs.count) runs")")
    page.add("Runs", overview())
    if let comparison { page.add("Comparison", compared(comparison)) }
    let engines = EngineTable(runs)
    if engines.isNeeded {
      page.add(
        "Engines side by side",
        "<p>Only rows of one durability can be compared. Of several runs of an engine the median."
          + "</p>"
          + ReportPage.table(EngineTable.header, engines.rows, source: source("summary.csv")))
    }
    page.add("Operations", operations())
    for (name, pictures) in Picture.sections {
      page.add(name, try pictures.map { html(try chart($0)) }.joined())
    }
    page.add("Invariants", try invariants())
    page.add("Environment", environment())
    return page.html()
  }

  private func name(_ run: MeasuredRun) -> String {
    if showsPlaces { return run.folder }
    return runs.count == 1 ? "" : "run \(number(run))" + engine(run)
  }

  /// Where runs are of several engines: which one.
  private func engine(_ run: MeasuredRun) -> String {
    Set(runs.map(\.document.engine)).count > 1 ? ", \(run.document.engine)" : ""
  }

  private func number(_ run: MeasuredRun) -> Int {
    (runs.firstIndex { $0.folder == run.folder } ?? 0) + 1
  }

  /// As in "run 2: read".
  private func label(_ run: MeasuredRun, _ what: String) -> String {
    let name = name(run)
    return name.isEmpty ? what : "\(name): \(what)"
  }

  /// What is said of a run, as the page may show it.
  private func said(_ text: String, _ run: MeasuredRun) -> String {
    showsPlaces ? text : HiddenPlaces.sentence(text, of: run)
  }

  private func source(_ file: String) -> String { "from \(file)" }

  // MARK: - Tables

  private func overview() -> String {
    let rows = runs.map { run in
      let document = run.document
      let verdict = document.verdict
      return [
        showsPlaces ? run.folder : "run \(number(run))", document.workload, document.engine,
        document.settings.durability, document.status,
        verdict.isValid
          ? "valid" : "not valid: " + verdict.reasons.map { said($0, run) }.joined(separator: "; "),
        document.startedAt,
      ]
    }
    let commands = runs.map {
      let command = $0.document.command
      return "<pre>\(escapedHTML(showsPlaces ? command : HiddenPlaces.command(command)))</pre>"
    }
    let told = runs.flatMap { run in
      (run.document.verdict.cautions ?? []).map { said($0, run) }
    }
    let cautions = Set(told).sorted().prefix(3).map { "<p>Caution: \(escapedHTML($0)).</p>" }
    let violations = runs.compactMap { run in
      run.document.violation.map { "\($0.invariant) violated: \(said($0.sentence, run))" }
    }.map { "<p class=\"bad\">\(escapedHTML($0))</p>" }
    return violations.joined()
      + ReportPage.table(
        ["run", "workload", "engine", "durability", "status", "verdict", "started"], rows,
        source: source("run.json")) + cautions.joined() + "<p>To repeat:</p>"
      + Set(commands).sorted().joined()
  }

  private func operations() -> String {
    var rows: [[String]] = []
    for run in runs {
      for (key, figures) in run.rows.sorted(by: { $0.key < $1.key }) where key.phase != "warmup" {
        func duration(_ column: String) -> String {
          figures[column].map { readableDuration(UInt64($0)) } ?? "-"
        }
        rows.append([
          showsPlaces ? run.folder : "\(number(run))" + engine(run), key.phase, key.operation,
          key.load,
          figures["threads"].map { String(Int($0)) } ?? "-",
          figures["count"].map { grouped(Int($0)) } ?? "-",
          figures["rate_per_s"].map { grouped(Int($0.rounded())) } ?? "-",
          duration("service_p50_ns"), duration("service_p99_ns"), duration("service_p99_9_ns"),
          duration("service_max_ns"), duration("response_p99_ns"),
          figures["syncs_per_commit"].map { decimal($0, places: 3) } ?? "-",
          figures["written_bytes_per_commit"].map { readableBytes(UInt64($0)) } ?? "-",
          figures[GateRow.systemCalls].map { decimal($0, places: 2) } ?? "-",
          figures[GateRow.allocations].map { decimal($0, places: 2) } ?? "-",
          figures[GateRow.instructions].map { grouped(Int($0.rounded())) } ?? "-",
        ])
      }
    }
    return ReportPage.table(
      [
        "run", "phase", "operation", "load", "threads", "count", "per second", "p50", "p99",
        "p99.9", "max", "response p99", "syncs a commit", "written a commit",
        "calls a commit", "allocations", "instructions",
      ], rows, source: source("summary.csv"))
  }

  private func compared(_ comparison: Comparison) -> String {
    let output = ComparisonOutput(comparison)
    let rows = comparison.rows.map(output.cells)
    let chart = IntervalChart(comparison.rows.filter(\.isGate)).html()
    let names = runs.map { (folder: $0.folder, name: "run \(number($0))") }
    let warnings = comparison.warnings
      .map { warning in
        showsPlaces ? warning : runs.reduce(HiddenPlaces.text(warning, names)) { said($0, $1) }
      }
      .map { "<li>\(escapedHTML($0))</li>" }.joined()
    return "<p>\(escapedHTML(output.conclusion)).</p>"
      + (warnings.isEmpty ? "" : "<ul>\(warnings)</ul>") + chart
      + ReportPage.table(
        ComparisonOutput.header, rows,
        source: "a positive change is for the worse; from summary.csv")
  }

  private func invariants() throws -> String {
    var rows: [[String]] = []
    for run in runs {
      for cells in try run.cells(of: "invariants.csv") {
        rows.append([
          showsPlaces ? run.folder : "\(number(run))", cells["invariant"] ?? "",
          Invariant(rawValue: cells["invariant"] ?? "")?.summary ?? "",
          cells["checks"] ?? "-", cells["violations"] ?? "-", cells["cost_percent"] ?? "-",
        ])
      }
    }
    return ReportPage.table(
      ["run", "invariant", "what it says", "checks", "violations", "% of the threads' time"], rows,
      source: source("invariants.csv"))
  }

  private func environment() -> String {
    var rows: [[String]] = []
    for run in runs {
      let place = run.document.environment
      let disturbance = run.document.disturbance
      func row(_ what: String, _ value: String?) {
        rows.append(["\(number(run))", what, value ?? "not known"])
      }
      row("processor", place.cpu)
      row("cores", String(place.cores))
      row("memory", readableBytes(place.memoryBytes))
      row("kernel", place.kernel)
      row("file system", place.fileSystem)
      row("write and sync of 4 KB, p50", place.rawSyncP50Ns.map(readableDuration))
      row("Swift", place.swift)
      row("build", place.build)
      row("commit", place.commit.map { $0 + (place.isDirty == true ? ", changed" : "") })
      row("allocator", place.allocator)
      row(
        "processor limit of the container",
        place.cgroupCpuLimitCores.map { "\(decimal($0, places: 2)) cores" } ?? "none")
      row(
        "memory limit of the container", place.cgroupMemoryLimitBytes.map(readableBytes) ?? "none")
      row(
        "time taken by the hypervisor",
        disturbance?.stealPercent.map { "\(decimal($0, places: 2)) %" })
      row(
        "time taken by other processes",
        disturbance?.othersPercent.map { "\(decimal($0, places: 2)) %" })
      if let throttled = disturbance?.throttledPercent {
        row("periods stopped by the container's limit", "\(decimal(throttled, places: 2)) %")
      }
      if showsPlaces { row("host", place.hostName) }
    }
    return ReportPage.table(["run", "what", "value"], rows, source: source("run.json"))
  }

  // MARK: - Charts

  /// A picture of the page.
  package enum Picture: String, CaseIterable, Sendable {
    case latency, rate, p99, file, pins, memory

    /// The sections that have them.
    fileprivate static let sections: [(name: String, [Picture])] = [
      ("Latency by percentile", [.latency]), ("Over time", [.rate, .p99]),
      ("File and pins", [.file, .pins, .memory]),
    ]
  }

  /// One picture of the page.
  ///
  /// - Throws: `ResultsError` when a folder's file cannot be read.
  package func chart(_ picture: Picture) throws -> LineChart {
    switch picture {
    case .latency: percentiles()
    case .rate: try rates()
    case .p99: try tails()
    case .file: try files()
    case .pins: try pins()
    case .memory: try memory()
    }
  }

  private func html(_ chart: LineChart) -> String {
    if chart.isEmpty {
      return "<p>\(escapedHTML(chart.title)): nothing \(escapedHTML(chart.source)).</p>"
    }
    return chart.html()
      + (chart.leftOut > 0 ? "<p class=\"source\">\(chart.leftOut) more are in the files.</p>" : "")
  }

  private func percentiles() -> LineChart {
    let axis = ChartAxis(
      "percentile", .logarithmic, ticks: [1, 2, 10, 100, 1_000, 10_000, 100_000]
    ) { tick in
      let share = 100 * (1 - 1 / tick)
      return tick < 2
        ? "0" : (share < 99.995 ? "p\(trimmed(share))" : "p" + decimal(share, places: 3))
    }
    var lines: [ChartSeries] = []
    for run in runs {
      for operation in run.operations {
        for (suffix, kind) in [("", ""), ("-response", ", response")] {
          let path = "\(run.folder)/histograms/\(operation)\(suffix).hgrm"
          guard let text = textOfFile(path), let histogram = LatencyHistogram(percentileText: text),
            histogram.count > 0
          else { continue }
          let isPartial = !kind.isEmpty && run.document.leftOut?[operation] ?? 0 > 0
          let name = operation + kind + (isPartial ? ", at least" : "")
          lines.append(ChartSeries(label(run, name), Self.curve(histogram)))
        }
      }
    }
    let most = lines.sorted { ($0.points.last?.x ?? 0) > ($1.points.last?.x ?? 0) }
    return chart(
      "How long operations took", "histograms/", axis,
      ChartAxis("time", .logarithmic) { roundDuration($0) }, most)
  }

  /// The distribution against 1/(1-p); a tail of fewer than ten samples is not drawn.
  private static func curve(_ histogram: LatencyHistogram) -> [(x: Double, y: Double)] {
    var points: [(x: Double, y: Double)] = []
    var seen: UInt64 = 0
    histogram.forEachBucket { value, count in
      seen += count
      let left = Double(histogram.count) / Double(max(1, histogram.count - seen))
      if left <= Double(histogram.count) / 10 || points.isEmpty {
        points.append((max(1, left), Double(max(1, value))))
      }
    }
    return thinned(points, by: last)
  }

  private static let time = ChartAxis("seconds since the start") { trimmed($0) }
  private static let size = ChartAxis.binary("bytes") {
    readableBytes(UInt64(max(0, $0))).replacing(".0 ", with: " ")
  }

  private func rates() throws -> LineChart {
    chart(
      "Operations a second", "samples.csv", Self.time,
      ChartAxis("a second", .logarithmic, label: shortNumber),
      try samples("rate").map { ChartSeries($0.name, Self.thinned($0.points, by: Self.mean)) })
  }

  private func tails() throws -> LineChart {
    let lines = try samples("service_p99")
    let size = lines.map { Self.groupSize($0.points.count) }.max() ?? 1
    return chart(
      "p99 of each interval" + (size > 1 ? ", the worst of up to \(size) neighbours" : ""),
      "samples.csv", Self.time, ChartAxis("time", .logarithmic) { roundDuration($0) },
      lines.map { ChartSeries($0.name, Self.thinned($0.points, by: Self.worst)) })
  }

  /// A line an operation of a run, with all of its points.
  private func samples(_ metric: String) throws -> [ChartSeries] {
    try runs.flatMap { run in
      var points: [String: [(x: Double, y: Double)]] = [:]
      for cells in try run.cells(of: "samples.csv") where cells["metric"] == metric {
        guard let operation = cells["operation"], let time = number(cells["elapsed_s"]),
          let value = number(cells["value"])
        else { continue }
        points[operation, default: []].append((time, value))
      }
      return run.operations.filter { Operation(rawValue: $0)?.isMinor != true }.map {
        ChartSeries(label(run, $0), points[$0] ?? [])
      }
    }
  }

  private func files() throws -> LineChart {
    chart(
      "The file, and who keeps its bytes", "growth.csv", Self.time, Self.size,
      try growth([
        ("file", "file_bytes"), ("live", "live_bytes"), ("held by pins", "held_bytes"),
        ("free", "free_bytes"),
      ]))
  }

  private func pins() throws -> LineChart {
    chart(
      "Pins and live versions", "growth.csv", Self.time,
      ChartAxis("number", isWhole: true, label: shortNumber),
      try growth([("pins", "pins"), ("live versions", "live_versions")]))
  }

  private func memory() throws -> LineChart {
    chart(
      "Memory", "growth.csv", Self.time, Self.size,
      try growth([("resident", "resident_bytes"), ("allocated", "allocated_bytes")]))
  }

  /// A line a column of a run.
  private func growth(_ columns: [(name: String, column: String)]) throws -> [ChartSeries] {
    try runs.flatMap { run in
      let rows = try run.cells(of: "growth.csv")
      return columns.map { name, column in
        let points = rows.compactMap { cells -> (x: Double, y: Double)? in
          guard let time = number(cells["elapsed_s"]), let value = number(cells[column])
          else { return nil }
          return (time, value)
        }
        return ChartSeries(label(run, name), Self.thinned(points, by: Self.mean))
      }
    }
  }

  private func number(_ cell: String?) -> Double? { cell.flatMap(Double.init) }

  private func chart(
    _ title: String, _ file: String, _ x: ChartAxis, _ y: ChartAxis, _ series: [ChartSeries]
  ) -> LineChart {
    LineChart(title, source: source(file), x: x, y: y, series)
  }

  // MARK: - Many points

  private typealias Point = (x: Double, y: Double)

  /// How many neighbours are drawn as one point.
  private static func groupSize(_ count: Int) -> Int {
    max(1, (count + pointsMax - 1) / pointsMax)
  }

  /// At most `pointsMax` points, each for some neighbours.
  private static func thinned(
    _ points: [Point], by choice: (ArraySlice<Point>) -> Point
  ) -> [Point] {
    guard points.count > pointsMax else { return points }
    let size = groupSize(points.count)
    return stride(from: 0, to: points.count, by: size).map { start in
      choice(points[start..<min(start + size, points.count)])
    }
  }

  /// For rates and sizes.
  private static func mean(_ part: ArraySlice<Point>) -> Point {
    let count = Double(part.count)
    return (part.reduce(0) { $0 + $1.x } / count, part.reduce(0) { $0 + $1.y } / count)
  }

  /// For percentiles, of which there is no mean.
  private static func worst(_ part: ArraySlice<Point>) -> Point {
    part.max(by: { $0.y < $1.y }) ?? (0, 0)
  }

  /// For distributions, whose end is what counts.
  private static func last(_ part: ArraySlice<Point>) -> Point { part.last ?? (0, 0) }
}

/// A duration as a tick has it: without places that say nothing.
private func roundDuration(_ nanoseconds: Double) -> String {
  for (unit, size) in [("s", 1e9), ("ms", 1e6), ("us", 1e3)] where nanoseconds >= size {
    return trimmed(nanoseconds / size) + " " + unit
  }
  return trimmed(nanoseconds) + " ns"
}

/// Without zeros at the end.
private func trimmed(_ value: Double) -> String {
  value == value.rounded() && abs(value) < 1e9 ? String(Int(value)) : String(format: "%.4g", value)
}

/// As in 1.5k or 2M.
private func shortNumber(_ value: Double) -> String {
  for (unit, size) in [("G", 1e9), ("M", 1e6), ("k", 1e3)] where abs(value) >= size {
    return String(format: "%.3g", value / size) + unit
  }
  return trimmed(value)
}
