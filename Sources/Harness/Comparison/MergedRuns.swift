// Shards of one run joined: histograms are added, rows stand below each other, and nothing is
// averaged. What comes out is a results folder whose parts are replicas, so that `compare` and
// `report` read it as one.
internal import Foundation

/// Runs that belong together.
package struct MergedRuns {
  package let runs: [MeasuredRun]
  package let warnings: [String]
  /// The distributions of all runs added up, by name of the file.
  package let histograms: [String: LatencyHistogram]
  /// The files that each run has of these.
  private let names: [Set<String>]

  /// Refuses what does not belong together.
  ///
  /// - Parameter isPartial: whether runs that were interrupted or failed are taken, too.
  package init(_ runs: [MeasuredRun], isPartial: Bool) throws(ResultsError) {
    guard runs.count > 1 else {
      throw ResultsError("there is one run only: merge needs two or more")
    }
    try SamePlan.check(runs, acceptsPartial: isPartial)
    try SamePlan.refuseTwice(runs)
    try Self.refuseOtherBuilds(runs)
    var warnings = SamePlan.warnings(runs)
    let machines = SamePlan.differencesOfMachine(runs)
    if !machines.isEmpty {
      warnings.append("the runs are of different machines: " + machines.joined(separator: "; "))
    }
    if runs.contains(where: { $0.document.environment.isDirty == true }) {
      warnings.append("the tool was built with changes that no commit has: builds may differ")
    }
    self.runs = runs
    self.warnings = warnings + (try Self.checkShards(runs)) + Self.sameSeeds(runs)
    (histograms, names) = try Self.histograms(runs, isPartial: isPartial)
  }

  private static func refuseOtherBuilds(_ runs: [MeasuredRun]) throws(ResultsError) {
    let first = build(runs[0].document.environment)
    for run in runs.dropFirst() {
      let other = build(run.document.environment)
      guard first == other else {
        throw ResultsError(
          "'\(runs[0].folder)' and '\(run.folder)' are of different builds: \(first) and \(other)")
      }
    }
  }

  /// Runs that are no shards and did the same operations.
  private static func sameSeeds(_ runs: [MeasuredRun]) -> [String] {
    var seeds: [UInt64: String] = [:]
    var warnings: [String] = []
    for run in runs where run.document.settings.shard == nil {
      if let other = seeds.updateValue(run.folder, forKey: run.document.seed) {
        warnings.append(
          "'\(other)' and '\(run.folder)' have the same seed: they did the same operations; "
            + "use --shard K/N")
      }
    }
    return warnings
  }

  /// Refuses shards that are not parts of one run.
  /// - Returns: a warning of those that nobody has handed in.
  private static func checkShards(_ runs: [MeasuredRun]) throws(ResultsError) -> [String] {
    var folders: [Int: String] = [:]
    var first: (run: MeasuredRun, shard: Shard)?
    for run in runs {
      guard let text = run.document.settings.shard else { continue }
      let shard: Shard
      do throws(UsageError) { shard = try Shard(text, flag: "settings.shard") } catch {
        throw ResultsError("'\(run.folder)/run.json': \(error.message)")
      }
      if let first {
        guard first.shard.count == shard.count, first.run.document.seed == run.document.seed else {
          throw ResultsError(
            "'\(first.run.folder)' and '\(run.folder)' are no parts of one run: shard "
              + "\(first.shard.text) with seed \(first.run.document.seed), and shard \(text) with "
              + "seed \(run.document.seed)")
        }
      } else {
        first = (run, shard)
      }
      if let other = folders.updateValue(run.folder, forKey: shard.number) {
        throw ResultsError("shard \(text) is there twice: '\(other)' and '\(run.folder)'")
      }
    }
    guard let first else { return [] }
    if let whole = runs.first(where: { $0.document.settings.shard == nil }) {
      throw ResultsError("'\(whole.folder)' is no shard, and '\(first.run.folder)' is one")
    }
    return Shard.missing(first.shard.count, folders).map { [$0] } ?? []
  }

  private static func build(_ environment: EnvironmentRecord) -> String {
    "\(environment.tool), commit \(environment.commit ?? "unknown")"
      + (environment.isDirty == true ? " with changes" : "")
      + ", Swift \(environment.swift), allocator \(environment.allocator)"
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

  /// Adds up the distributions that each run has written.
  /// - Throws: `ResultsError` when one is damaged or, in whole runs, missing: sums would be of a
  ///   part.
  private static func histograms(
    _ runs: [MeasuredRun], isPartial: Bool
  ) throws(ResultsError) -> (sums: [String: LatencyHistogram], names: [Set<String>]) {
    var sums: [String: LatencyHistogram] = [:]
    var names: [Set<String>] = []
    for run in runs {
      let folder = run.folder + "/histograms"
      var counts: [String: UInt64] = [:]
      let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      for name in files.sorted() where name.hasSuffix(".hgrm") {
        guard let text = textOfFile("\(folder)/\(name)"),
          let histogram = LatencyHistogram(percentileText: text)
        else { throw ResultsError("'\(folder)/\(name)' is no histogram that can be added") }
        let sum = sums[name] ?? LatencyHistogram()
        sum.add(histogram)
        (sums[name], counts[name]) = (sum, histogram.count)
      }
      names.append(Set(counts.keys))
      if !isPartial { try refuseParts(run, counts) }
    }
    return (sums, names)
  }

  /// Refuses a run whose files do not hold what its summary counts.
  private static func refuseParts(
    _ run: MeasuredRun, _ counts: [String: UInt64]
  ) throws(ResultsError) {
    for (key, columns) in run.rows.sorted(by: { $0.key < $1.key }) where hasHistogram(key, columns)
    {
      let (count, found) = (columns["count"] ?? 0, counts[key.operation + ".hgrm"])
      if count == 0 { continue }
      func refusal(_ file: String, _ words: String) -> ResultsError {
        ResultsError(
          "'\(run.folder)/histograms/\(file).hgrm' \(words): the sum would be of a part; take "
            + "the whole folder of the run, or what there is by --partial")
      }
      if found.map({ Double($0) }) != count {
        throw refusal(
          key.operation,
          found.map { "has \($0) of \(grouped(Int(count))) times" } ?? "is missing")
      }
      let response = key.operation + "-response"
      if columns["response_max_ns"] != nil && counts[response + ".hgrm"] == nil {
        throw refusal(response, "is missing")
      }
    }
  }

  /// Whether a row's operation has a file of its times: what fills a file is counted only.
  private static func hasHistogram(
    _ key: MeasuredRun.RowKey, _ columns: [String: Double]
  ) -> Bool {
    key.phase == Operation.phase(ofName: key.operation).name && columns["service_max_ns"] != nil
  }

  /// The distribution of an operation; nil unless each run that did it has one.
  private func distribution(_ name: String, of operation: String) -> LatencyHistogram? {
    let isWhole = zip(runs, names).allSatisfy { run, names in
      let did = run.rows.contains {
        $0.key.operation == operation && Self.hasHistogram($0.key, $0.value)
          && ($0.value["count"] ?? 0) > 0
      }
      return !did || names.contains(name)
    }
    return isWhole ? histograms[name] : nil
  }

  /// One row an operation of the measured phase, from the added histograms.
  ///
  /// Counts are sums. Shards run at once: their rates and threads are sums, too, and the elapsed
  /// time is the longest. Other runs, such as replicas, come one after another: their elapsed times
  /// are added, and the rate is what all did in that time. What would have to be averaged is empty.
  package func merged() throws -> CSVTable {
    var table = CSVTable(columns: ResultSchema.summaryColumns)
    let isOfShards = runs.allSatisfy { $0.document.settings.shard != nil }
    let groups = Dictionary(grouping: try runs.flatMap { try $0.cells(of: "summary.csv") }) {
      [$0["phase"] ?? "", $0["operation"] ?? ""]
    }
    for key in groups.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      guard let rows = groups[key], let first = rows.first,
        key[0] == Operation.phase(ofName: key[1]).name
      else { continue }
      let service = distribution("\(key[1]).hgrm", of: key[1])
      func sum(_ column: String) -> Double? {
        // What does not fit into whole numbers is of a damaged file of a run that was cut short.
        let values = rows.compactMap { $0[column].flatMap(Double.init) }
          .filter { (0..<1e15).contains($0) }
        return values.isEmpty ? nil : values.reduce(0, +)
      }
      func whole(_ column: String) -> String? { sum(column).map { String(Int($0)) } }
      func common(_ column: String) -> String? {
        let cells = Set(rows.map { $0[column] ?? "" })
        return cells.count == 1 ? cells.first.flatMap { $0.isEmpty ? nil : $0 } : nil
      }
      let elapsed =
        isOfShards
        ? rows.compactMap { $0["elapsed_s"].flatMap(Double.init) }.max() : sum("elapsed_s")
      let threads = isOfShards ? whole("threads") : common("threads")
      let target =
        isOfShards
        ? sum("target_rate_per_s").map { decimal($0, places: 3) } : common("target_rate_per_s")
      let rate = isOfShards ? sum("rate_per_s") : Self.rateOverall(rows)
      let cells: [String: String?] = [
        "schema_version": String(ResultSchema.version), "run_id": runs[0].document.runId,
        "engine": first["engine"], "durability": first["durability"],
        "workload": first["workload"], "operation": key[1], "phase": key[0],
        "load": first["load"], "threads": threads, "target_rate_per_s": target,
        "elapsed_s": elapsed.map { decimal($0, places: 6) }, "count": whole("count"),
        "errors": whole("errors"), "late": whole("late"), "skipped": whole("skipped"),
        "rate_per_s": rate.map { decimal($0, places: 3) },
        "service_mean_ns": service?.mean.map { String(Int($0.rounded())) },
      ]
      var durations = service.map { Self.durations("service", $0) } ?? [:]
      if let all = distribution("\(key[1])-response.hgrm", of: key[1]) {
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

  /// All that was done in all of the time; a row that lacks one of them says neither.
  private static func rateOverall(_ rows: [[String: String]]) -> Double? {
    var (done, seconds) = (0.0, 0.0)
    for row in rows {
      guard let rate = row["rate_per_s"].flatMap(Double.init),
        let time = row["elapsed_s"].flatMap(Double.init),
        (0..<1e15).contains(rate), (0..<1e15).contains(time)
      else { continue }
      done += rate * time
      seconds += time
    }
    return seconds > 0 ? done / seconds : nil
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
    for (name, histogram) in histograms {
      try folder.write(histogram.percentileText(), to: "histograms/" + name)
    }
    for (number, run) in runs.enumerated() {
      let target = folder.path + "/replica-" + String(format: "%03d", number + 1)
      try FileCalls.makeFolder(target)
      try FileCalls.makeFolder(target + "/histograms")
      for name in try Self.results(in: run.folder) {
        try FileCalls.refuseEndless("\(run.folder)/\(name)")
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
