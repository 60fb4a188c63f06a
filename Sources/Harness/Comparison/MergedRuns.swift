// Shards of one run joined: histograms are added, rows stand below each other, and nothing is
// averaged. What comes out is a results folder whose parts are replicas, so that `compare` and
// `report` read it as one.
internal import Foundation

/// Runs that belong together.
package struct MergedRuns {
  package let runs: [MeasuredRun]
  package let warnings: [String]

  /// Refuses what does not belong together.
  ///
  /// - Parameter isPartial: whether runs that were interrupted or failed are taken, too.
  package init(_ runs: [MeasuredRun], isPartial: Bool) throws(ResultsError) {
    guard runs.count > 1 else {
      throw ResultsError("there is one run only: merge needs two or more")
    }
    try SamePlan.check(runs, acceptsPartial: isPartial)
    var documents: [String: String] = [:]
    var seeds: [String: String] = [:]
    var warnings = SamePlan.warnings(runs)
    for run in runs {
      let text = textOfFile(run.folder + "/run.json") ?? ""
      if let other = documents.updateValue(run.folder, forKey: text) {
        throw ResultsError("'\(other)' and '\(run.folder)' are the same run: it would count twice")
      }
      let (first, environment) = (runs[0].document.environment, run.document.environment)
      guard first.commit == environment.commit, first.tool == environment.tool else {
        throw ResultsError(
          "'\(runs[0].folder)' and '\(run.folder)' are of different builds: "
            + "\(Self.build(first)) and \(Self.build(environment))")
      }
      if let other = seeds.updateValue(run.folder, forKey: Self.seed(run)) {
        warnings.append(
          "'\(other)' and '\(run.folder)' have the same seed: they did the same operations; "
            + "use --shard K/N")
      }
      if run.document.status != RunStatus.complete.rawValue {
        warnings.append("'\(run.folder)' is \(run.document.status): its figures are partial")
      }
    }
    self.runs = runs
    self.warnings = warnings + Self.missingShards(runs)
  }

  private static func seed(_ run: MeasuredRun) -> String {
    "\(run.document.seed) \(run.document.settings.shard ?? "")"
  }

  /// Shards that nobody has handed in.
  private static func missingShards(_ runs: [MeasuredRun]) -> [String] {
    let shards = runs.compactMap(\.document.settings.shard)
    guard let count = shards.first?.split(separator: "/").last.flatMap({ Int($0) }) else {
      return []
    }
    let missing = (1...count).map { "\($0)/\(count)" }.filter { !shards.contains($0) }
    guard !missing.isEmpty else { return [] }
    let others = missing.count > 8 ? " and \(missing.count - 8) more" : ""
    return ["shards are missing: \(missing.prefix(8).joined(separator: ", "))\(others)"]
  }

  private static func build(_ environment: EnvironmentRecord) -> String {
    "\(environment.tool), commit \(environment.commit ?? "unknown")"
  }

  // MARK: - Tables

  /// The tables of all runs below each other; `replica` counts the runs.
  package func rows(of name: String, columns: [String]) throws -> CSVTable {
    var table = CSVTable(columns: columns)
    for (number, run) in runs.enumerated() {
      for cells in try run.cells(of: name) {
        // Columns only grow: what an older version lacks is empty.
        table.append(
          columns.map { column in
            if column == "replica" { return String(number + 1) }
            return cells[column].flatMap { $0.isEmpty ? nil : $0 }
          })
      }
    }
    return table
  }

  /// The distributions of all runs added up, by name of the file.
  package func histograms() throws(ResultsError) -> [String: LatencyHistogram] {
    var sums: [String: LatencyHistogram] = [:]
    for run in runs {
      let folder = run.folder + "/histograms"
      for name in ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
      where name.hasSuffix(".hgrm") {
        guard let text = textOfFile("\(folder)/\(name)"),
          let histogram = LatencyHistogram(percentileText: text)
        else { throw ResultsError("'\(folder)/\(name)' is no histogram that can be added") }
        let sum = sums[name] ?? LatencyHistogram()
        sum.add(histogram)
        sums[name] = sum
      }
    }
    return sums
  }

  /// One row an operation of the measured phase, from the added histograms.
  ///
  /// Counts and rates are sums, the elapsed time is the longest; what would have to be averaged is
  /// empty.
  package func merged() throws -> CSVTable {
    let histograms = try histograms()
    var table = CSVTable(columns: ResultSchema.summaryColumns)
    let groups = Dictionary(grouping: try runs.flatMap { try $0.cells(of: "summary.csv") }) {
      [$0["phase"] ?? "", $0["operation"] ?? ""]
    }
    for key in groups.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      guard let rows = groups[key], let first = rows.first,
        let service = histograms["\(key[1]).hgrm"],
        key[0] == Operation(rawValue: key[1])?.phase.name
      else { continue }
      func sum(_ column: String) -> Double? {
        let values = rows.compactMap { $0[column].flatMap(Double.init) }
        return values.isEmpty ? nil : values.reduce(0, +)
      }
      func whole(_ column: String) -> String? { sum(column).map { String(Int($0)) } }
      let elapsed = rows.compactMap { $0["elapsed_s"].flatMap(Double.init) }.max()
      let cells: [String: String?] = [
        "schema_version": String(ResultSchema.version), "run_id": runs[0].document.runId,
        "engine": first["engine"], "durability": first["durability"],
        "workload": first["workload"], "operation": key[1], "phase": key[0],
        "load": first["load"], "threads": whole("threads"),
        "target_rate_per_s": sum("target_rate_per_s").map { decimal($0, places: 3) },
        "elapsed_s": elapsed.map { decimal($0, places: 6) }, "count": whole("count"),
        "errors": whole("errors"), "late": whole("late"), "skipped": whole("skipped"),
        "rate_per_s": sum("rate_per_s").map { decimal($0, places: 3) },
        "service_mean_ns": service.mean.map { String(Int($0.rounded())) },
      ]
      var durations = Self.durations("service", service)
      if let all = histograms["\(key[1])-response.hgrm"] {
        let leftOut = histograms["\(key[1])-left-out.hgrm"] ?? LatencyHistogram()
        var times = Self.responses(all, leftOut, skipped: sum("skipped") ?? 0)
        times.isWhole = runs.allSatisfy { $0.document.unended == nil }
        durations.merge(Self.durations(times)) { $1 }
      }
      table.append(
        ResultSchema.summaryColumns.map { column in
          cells[column].flatMap { $0 } ?? durations[column]
        })
    }
    return table
  }

  private static func durations(_ kind: String, _ histogram: LatencyHistogram) -> [String: String] {
    var cells: [String: String] = [:]
    for percentile in Percentile.allCases {
      cells["\(kind)_\(percentile.rawValue)_ns"] = histogram.value(at: percentile).map(String.init)
    }
    if histogram.count > 0 { cells["\(kind)_max_ns"] = String(histogram.maximum) }
    return cells
  }

  private static func durations(_ times: ResponseTimes) -> [String: String] {
    var cells: [String: String] = [:]
    for percentile in Percentile.allCases {
      cells["response_\(percentile.rawValue)_ns"] = times.value(at: percentile).map(String.init)
    }
    cells["response_max_ns"] = times.maximum.map(String.init)
    return cells
  }

  /// Folders of earlier versions do not tell how long what they skipped had waited.
  private static func responses(
    _ all: LatencyHistogram, _ leftOut: LatencyHistogram, skipped: Double
  ) -> ResponseTimes {
    let untold = UInt64(skipped) - min(leftOut.count, UInt64(skipped))
    guard untold > 0 else { return ResponseTimes(all: all, leftOut: leftOut) }
    let unknown = LatencyHistogram()
    unknown.add(leftOut)
    unknown.record(0, times: untold)
    let known = LatencyHistogram()
    known.add(all)
    known.record(0, times: untold)
    return ResponseTimes(all: known, leftOut: unknown)
  }

  // MARK: - Folder

  /// Where the runs came from, in merge.json.
  package struct Record: Codable, Sendable {
    package struct Part: Codable, Sendable {
      package var replica: Int
      package var folder: String
      package var runId: String
      package var seed: UInt64
      package var status: String
      package var startedAt: String
      package var host: String
    }

    package var schemaVersion = ResultSchema.version
    package var parts: [Part]
    package var warnings: [String]
  }

  package var record: Record {
    Record(
      parts: runs.enumerated().map { number, run in
        let document = run.document
        return .init(
          replica: number + 1, folder: run.folder, runId: document.runId, seed: document.seed,
          status: document.status, startedAt: document.startedAt,
          host: document.environment.hostName)
      }, warnings: warnings)
  }

  /// Writes everything; Realm files stay where they are.
  package func write(to folder: ResultsFolder) throws {
    try folder.write(try encodeJSON(record), to: "merge.json")
    try folder.write(try merged().text, to: "merged.csv")
    for (name, columns) in ResultSchema.tables {
      try folder.write(try rows(of: name, columns: columns).text, to: name)
    }
    for (name, histogram) in try histograms() {
      try folder.write(histogram.percentileText(), to: "histograms/" + name)
    }
    for (number, run) in runs.enumerated() {
      let target = folder.path + "/replica-" + String(format: "%03d", number + 1)
      try FileCalls.makeFolder(target)
      try FileCalls.makeFolder(target + "/histograms")
      for name in try Self.results(in: run.folder) {
        try FileManager.default.copyItem(
          atPath: "\(run.folder)/\(name)", toPath: "\(target)/\(name)")
      }
    }
  }

  /// The files that a run has written; what a user has put beside them stays where it is.
  private static func results(in folder: String) throws -> [String] {
    let histograms = folder + "/histograms"
    let hasHistograms = FileManager.default.fileExists(atPath: histograms)
    let inner = hasHistograms ? try FileCalls.names(in: histograms) : []
    return (try FileCalls.names(in: folder) + inner.map { "histograms/" + $0 }).filter {
      KnownNames.isFile($0) && !KnownNames.isRealmFile($0)
    }
  }
}
