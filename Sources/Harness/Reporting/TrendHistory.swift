// The history of a project's figures: history.csv, to which each run adds one line and from which
// none is ever taken. What one machine and one plan have measured is a series.
internal import Foundation
internal import Platform

/// The file of a history.
package struct TrendHistory {
  /// Columns of history.csv; they only grow.
  package static let columns = [
    "schema_version", "run_id", "started_at", "commit", "dirty", "machine", "workload", "plan",
    "valid", "figures",
  ]

  /// One run.
  package struct Entry: Equatable, Sendable {
    package var runID: String
    package var startedAt: String
    package var commit: String
    package var isDirty: Bool
    package var machine: String
    package var workload: String
    package var plan: String
    package var isValid: Bool
    /// By name, such as `read.service_p50_ns`.
    package var figures: [String: Double]

    /// Runs that begin in the same second may have one name; their figures tell them apart.
    func isSameRun(as other: Entry) -> Bool {
      runID == other.runID && startedAt == other.startedAt
        && figures.allSatisfy { name, value in
          other.figures[name].map { $0 == value } ?? true
        }
    }
  }

  private let path: String
  package private(set) var entries: [Entry] = []

  /// Reads the history of a folder; none is an empty one.
  ///
  /// - Throws: `ResultsError` that names the line that cannot be read.
  package init(folder: String) throws {
    path = folder + "/history.csv"
    guard let text = textOfFile(path) else { return }
    guard let rows = CSVTable.parse(text), let columns = rows.first, !columns.isEmpty,
      Set(["run_id", "figures", "machine", "plan"]).isSubset(of: columns)
    else { throw ResultsError("'\(path)' is no history: its first line is not the header") }
    for (number, row) in rows.enumerated().dropFirst() {
      guard row.count == columns.count else {
        throw ResultsError("'\(path)': line \(number + 1) has \(row.count) cells")
      }
      entries.append(Self.entry(Dictionary(zip(columns, row)) { first, _ in first }))
    }
  }

  private static func entry(_ cells: [String: String]) -> Entry {
    var figures: [String: Double] = [:]
    for pair in (cells["figures"] ?? "").split(separator: ";") {
      let parts = pair.split(separator: "=")
      if parts.count == 2, let value = Double(parts[1]) { figures[String(parts[0])] = value }
    }
    return Entry(
      runID: cells["run_id"] ?? "", startedAt: cells["started_at"] ?? "",
      commit: cells["commit"] ?? "", isDirty: cells["dirty"] == "yes",
      machine: cells["machine"] ?? "", workload: cells["workload"] ?? "",
      plan: cells["plan"] ?? "", isValid: cells["valid"] == "yes", figures: figures)
  }

  /// Adds runs that are not there yet; the file only grows.
  package mutating func append(_ runs: [MeasuredRun]) throws {
    var lines = ""
    for run in runs {
      let document = run.document
      guard document.status == RunStatus.complete.rawValue else {
        throw ResultsError("'\(run.folder)' holds a run that is \(document.status)")
      }
      let id = document.replica > 1 ? "\(document.runId)-\(document.replica)" : document.runId
      let figures = GateRow.figures(of: run)
      let entry = Entry(
        runID: id, startedAt: document.startedAt, commit: document.environment.commit ?? "",
        isDirty: document.environment.isDirty ?? false, machine: run.machine,
        workload: document.workload, plan: Self.plan(document), isValid: document.verdict.isValid,
        figures: Dictionary(figures.map { ($0.key.name, $0.value) }) { first, _ in first })
      if entries.contains(where: entry.isSameRun(as:)) { continue }
      entries.append(entry)
      lines += CSVTable.line(Self.cells(entry))
    }
    guard !lines.isEmpty else { return }
    try FileCalls.makeFolders(Platform.folder(of: path))
    do throws(SystemError) {
      try FileCalls.writeNew(CSVTable.line(Self.columns), to: path)
    } catch {
      if !error.alreadyExists { throw error }
    }
    try FileCalls.append(lines, to: path)
  }

  /// The command without its seed, and the build: what has to be the same for figures to be one
  /// series.
  private static func plan(_ document: RunDocument) -> String {
    var words = document.command.split(separator: " ").map(String.init)
    if let seed = words.firstIndex(of: "--seed") {
      words.removeSubrange(seed..<min(seed + 2, words.count))
    }
    return words.joined(separator: " ") + " (\(document.environment.build))"
  }

  private static func cells(_ entry: Entry) -> [String?] {
    [
      String(ResultSchema.version), entry.runID, entry.startedAt, entry.commit,
      entry.isDirty ? "yes" : "no", entry.machine, entry.workload, entry.plan,
      entry.isValid ? "yes" : "no",
      entry.figures.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        .joined(separator: ";"),
    ]
  }

  /// The runs of each plan on each machine, in the order in which they came.
  package var series: [(plan: String, machine: String, entries: [Entry])] {
    var order: [String] = []
    var groups: [String: [Entry]] = [:]
    for entry in entries {
      let key = entry.plan + "\n" + entry.machine
      if groups[key] == nil { order.append(key) }
      groups[key, default: []].append(entry)
    }
    return order.map { key in
      (groups[key]![0].plan, groups[key]![0].machine, groups[key]!)
    }
  }
}
