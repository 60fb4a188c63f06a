// A run read back from its results folder: what `compare` and `report` know of it. Folders of
// earlier versions are read too: what they lack is nil.
internal import Foundation
internal import Glibc

/// A results folder that cannot be used.
package struct ResultsError: ErrorInWords, Equatable, Sendable {
  package let message: String
  package var words: String { message }
  package init(_ message: String) { self.message = message }
}

/// One run of a results folder.
package struct MeasuredRun: Sendable {
  /// What a row of figures is about.
  package struct RowKey: Hashable, Comparable, Sendable {
    package var engine: String
    package var workload: String
    package var operation: String
    package var phase: String
    package var load: String

    /// As gates and tables name it: the operation, and the phase where it is not the measured one.
    package var name: String { phase == "measure" ? operation : "\(phase).\(operation)" }

    package static func < (left: RowKey, right: RowKey) -> Bool {
      (left.workload, left.phase, left.operation) < (right.workload, right.phase, right.operation)
    }
  }

  package let folder: String
  package let document: RunDocument
  /// Figures by row and column of summary.csv; empty cells are left out.
  package let rows: [RowKey: [String: Double]]
  /// What percentiles of response times are at least that nobody knows, because operations that
  /// were due were not done.
  package let leastResponses: [GateRow: Double]
  /// The first and last row of growth.csv's measured phase, by column.
  package let growth: (first: [String: Double], last: [String: Double])?

  /// Reads one results folder.
  ///
  /// - Throws: `ResultsError` that names the file and what is wrong with it.
  package init(folder: String) throws {
    self.folder = folder
    let path = folder + "/run.json"
    if access(path, R_OK) != 0 {
      let code = errno
      throw ResultsError(
        code == ENOENT || code == ENOTDIR
          ? "'\(folder)' is no results folder: it has no run.json"
          : "'\(path)' cannot be read: \(String(cString: strerror(code)))")
    }
    do {
      document = try RunDocument(path: path)
    } catch let error as ResultsError {
      throw error
    } catch {
      throw ResultsError("'\(path)' cannot be read: \(error.explanation)")
    }
    guard document.schemaVersion <= ResultSchema.version else {
      throw ResultsError(
        "'\(path)' has schema version \(document.schemaVersion); this tool knows up to "
          + "\(ResultSchema.version): use a newer \(Tool.current.name)")
    }
    guard document.schemaVersion > 0 else {
      throw ResultsError(
        "'\(path)' has schema version \(document.schemaVersion), which no run has written; take the "
          + "original, or run it again")
    }
    let isWhole = document.status == RunStatus.complete.rawValue
    rows = try Self.summary(folder, isWhole: isWhole)
    growth = try Self.growth(folder, isWhole: isWhole)
    leastResponses = Self.leastResponses(folder, document, rows)
    try Self.refuseChanges(folder, document.files ?? [])
  }

  /// Refuses tables and distributions that are not as the run has left them.
  ///
  /// A saved baseline has the tables alone, and somebody may have no room for all the rest.
  private static func refuseChanges(_ folder: String, _ files: [ListedFile]) throws {
    guard let list = FileList(of: folder) else { return }
    if list.isChanged("run.json") {
      throw ResultsError(
        "'\(folder)/run.json' is not as its run has written it: its hash is not the one in it; take "
          + "the original, or run it again")
    }
    for name in files.map(\.name) where name.hasSuffix(".csv") || name.hasSuffix(".hgrm") {
      let isThere = FileManager.default.fileExists(atPath: folder + "/" + name)
      if !isThere && !Baselines.files.contains(name) { continue }
      guard list.damage(of: name, in: folder) != nil else { continue }
      throw ResultsError(
        isThere
          ? "'\(folder)/\(name)' is not as its run has written it: size or hash are not those in "
            + "run.json; take the original, or run it again"
          : "'\(folder)/\(name)' is missing, which run.json lists; take the original, or run it "
            + "again")
    }
  }

  /// Distributions that the run has listed and that are no more there; none of a saved baseline,
  /// which has the tables alone.
  package var missingHistograms: [String] {
    let listed = (document.files ?? []).map(\.name).filter { !Baselines.files.contains($0) }
    let missing = listed.filter { (try? FileCalls.kind(folder + "/" + $0)) == nil }
    if missing.count == listed.count { return [] }
    return missing.filter { $0.hasSuffix(".hgrm") }
  }

  /// The runs of a folder: itself, its replicas, or the experiments of a plan.
  package static func all(in folder: String) throws -> [MeasuredRun] {
    let experiments = folder + "/experiments"
    if let names = try? FileManager.default.contentsOfDirectory(atPath: experiments) {
      // The last one of a plan that was interrupted may not have come so far.
      let begun = names.sorted().filter {
        FileManager.default.fileExists(atPath: "\(experiments)/\($0)/run.json")
      }
      guard !begun.isEmpty else {
        throw ResultsError("'\(folder)' is of a plan that has made no run")
      }
      return try begun.map { try MeasuredRun(folder: "\(experiments)/\($0)") }
    }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let replicas = names.filter { name in
      name.hasPrefix("replica-")
        && FileManager.default.fileExists(atPath: "\(folder)/\(name)/run.json")
    }
    if replicas.isEmpty { return [try MeasuredRun(folder: folder)] }
    return try replicas.sorted().map { try MeasuredRun(folder: "\(folder)/\($0)") }
  }

  /// The same; without `acceptsPartial` they have to be all that were asked for.
  package static func all(in folder: String, acceptsPartial: Bool) throws -> [MeasuredRun] {
    if !acceptsPartial, let shortage = FolderManifest.shortage(of: folder) {
      throw ResultsError(
        "\(shortage): run it again, leave them out, or take what there is with --partial")
    }
    return try all(in: folder)
  }

  /// - Parameter isWhole: whether a line without all its cells is damage: a run that was killed
  ///   leaves one at the end.
  private static func table(
    _ name: String, _ folder: String, isWhole: Bool = false
  ) throws -> [(cells: [String: String], numbers: [String: Double])]? {
    let path = folder + "/" + name
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    guard let rows = CSVTable.parse(String(decoding: data, as: UTF8.self)), let columns = rows.first
    else { throw ResultsError("'\(path)' is no CSV table") }
    if isWhole, let cut = rows.firstIndex(where: { $0.count != columns.count }) {
      throw ResultsError(
        "'\(path)' is damaged: line \(cut + 1) has \(rows[cut].count) cells, its header "
          + "\(columns.count)")
    }
    if let twice = columns.first(where: { column in columns.count { $0 == column } > 1 }) {
      throw ResultsError("'\(path)' is damaged: it has the column '\(twice)' twice")
    }
    if isWhole { try refuseNoNumbers(rows, columns, path, isSigned: name == "samples.csv") }
    return rows.dropFirst().filter { $0.count == columns.count }.map { row in
      let cells = Dictionary(zip(columns, row)) { first, _ in first }
      // No run measures more: what a damaged file says would not fit into whole numbers.
      return (cells, cells.compactMapValues { number($0, isSigned: name == "samples.csv") })
    }
  }

  private static func number(_ text: String, isSigned: Bool) -> Double? {
    Double(text).flatMap { abs($0) < 1e18 && (isSigned || $0 >= 0) ? $0 : nil }
  }

  /// Refuses cells of known columns that hold no number, or one that no run measures.
  private static func refuseNoNumbers(
    _ rows: [[String]], _ columns: [String], _ path: String, isSigned: Bool
  ) throws {
    let known = Set(ResultSchema.tables.flatMap(\.1)).subtracting(ResultSchema.textColumns)
      // Any whole number of 64 bits.
      .subtracting(["seed"])
    for (number, row) in rows.enumerated().dropFirst() {
      for (column, cell) in zip(columns, row) where known.contains(column) && !cell.isEmpty {
        guard Self.number(cell, isSigned: isSigned) != nil else {
          throw ResultsError(
            "'\(path)' is damaged: line \(number + 1), column '\(column)': '\(cell)' is no number "
              + "that a run measures")
        }
      }
    }
  }

  /// The rows of one of the run's tables, by column; none if the file is not there.
  func cells(of name: String) throws -> [[String: String]] {
    let isWhole = document.status == RunStatus.complete.rawValue
    return try Self.table(name, folder, isWhole: isWhole)?.map(\.cells) ?? []
  }

  private static func summary(
    _ folder: String, isWhole: Bool
  ) throws -> [RowKey: [String: Double]] {
    var rows: [RowKey: [String: Double]] = [:]
    // Tables of several runs have a row of each.
    var found: Set<[String]> = []
    for (cells, numbers) in try table("summary.csv", folder, isWhole: isWhole) ?? [] {
      let key = RowKey(
        engine: cells["engine"] ?? "", workload: cells["workload"] ?? "",
        operation: cells["operation"] ?? "", phase: cells["phase"] ?? "",
        load: cells["load"] ?? "")
      let names = [key.engine, key.workload, key.operation, key.phase, key.load]
      let isNew = found.insert(names + [cells["run_id"] ?? "", cells["replica"] ?? ""]).inserted
      guard isNew || !isWhole else {
        throw ResultsError(
          "'\(folder)/summary.csv' is damaged: the row of '\(key.name)' is there twice")
      }
      rows[key] = numbers
    }
    return rows
  }

  private static func growth(
    _ folder: String, isWhole: Bool
  ) throws -> (first: [String: Double], last: [String: Double])? {
    let rows =
      try table("growth.csv", folder, isWhole: isWhole)?.filter { row in
        // The steps of a plan have names of its own.
        ![Phase.load, .warmup, .recover].map(\.name).contains(row.cells["phase"])
      } ?? []
    guard let first = rows.first, let last = rows.last else { return nil }
    return (first.numbers, last.numbers)
  }

  /// Names of operations that it may have measured: the tool's, and those of its rows.
  ///
  /// A run of another program has some that this one does not know; one that was killed has no
  /// rows.
  package var operations: [String] {
    let known = Operation.allCases.map(\.rawValue)
    let names = Set(rows.keys.map(\.operation)).filter { !$0.contains("/") }
    return known + names.subtracting(known).sorted()
  }

  /// Operations that failed, in words.
  var failures: [String] {
    rows.filter { ($0.value["errors"] ?? 0) > 0 }.sorted { $0.key < $1.key }
      .map { "\(grouped(Int($0.value["errors"] ?? 0))) of '\($0.key.name)'" }
  }

  /// From the distributions of responses, in which what was not done has the time for which it had
  /// waited; none of a saved baseline, which has the tables alone.
  private static func leastResponses(
    _ folder: String, _ document: RunDocument, _ rows: [RowKey: [String: Double]]
  ) -> [GateRow: Double] {
    var least: [GateRow: Double] = [:]
    for (key, columns) in rows
    where key.phase == Phase.measure.name && document.leftOut?[key.operation] ?? 0 > 0 {
      let path = "\(folder)/histograms/\(key.operation)-response.hgrm"
      guard let text = textOfFile(path), let all = LatencyHistogram(percentileText: text) else {
        continue
      }
      for percentile in Percentile.allCases {
        let metric = "response_\(percentile)_ns"
        guard columns[metric] == nil, let value = all.value(at: percentile) else { continue }
        least[GateRow(row: key, metric: metric)] = Double(value)
      }
    }
    return least
  }

  /// What times depend on, by name.
  var partsOfMachine: [String: String] {
    let environment = document.environment
    let words: [String: String?] = [
      "processor": environment.cpu ?? "unknown processor", "cores": "\(environment.cores) cores",
      "memory": "\(environment.memoryBytes >> 30) GiB",
      "kernel": environment.kernel ?? "unknown kernel",
      "file system": environment.fileSystem ?? "unknown file system",
      "allocator": environment.allocator,
      // Where there is no limit, nothing is said of one.
      "limit of processors": environment.cgroupCpuLimitCores.map {
        "at most \(decimal($0, places: 2)) cores"
      },
      "limit of memory": environment.cgroupMemoryLimitBytes.map { "at most \($0 >> 20) MiB" },
      Self.identity: environment.machineId,
    ]
    return words.compactMapValues { $0 }
  }

  /// The part that tells two machines apart that look alike; runs of earlier versions have none.
  static let identity = "identity of the machine"

  /// What the machine looks like, in words that differ between machines whose times cannot be
  /// compared.
  package var machine: String {
    let order = [
      "processor", "cores", "memory", "kernel", "file system", "allocator", "limit of processors",
      "limit of memory",
    ]
    return order.compactMap { partsOfMachine[$0] }.joined(separator: ", ")
  }
}
