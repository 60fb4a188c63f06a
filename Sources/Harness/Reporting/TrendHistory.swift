// The history of a project's figures: history.csv, to which each run adds one line and from which
// none is ever taken. What one machine and one plan have measured is a series. A line that cannot
// be read (cut where a process was killed, or edited by hand) is left out, stays where it is, and
// is told.
internal import Foundation
internal import Glibc
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

  private let folder: String
  private var path: String { folder + "/history.csv" }
  /// The columns of the file, which another version may have begun.
  private var header = Self.columns
  /// What has to be written before a line: the header of an empty file, the end of a cut line.
  private var preamble = ""
  package private(set) var entries: [Entry] = []
  /// Lines that were left out, a text each.
  package private(set) var leftOut: [String] = []
  /// What has to be known of runs that were added, a text each.
  package private(set) var warnings: [String] = []

  /// Reads the history of a folder; none is an empty one.
  ///
  /// - Throws: `ResultsError` when it is no history.
  package init(folder: String) throws {
    // Who adds lines at this moment adds all of them first.
    let lock = FileLock.shared(folder + "/history.csv")
    defer { lock?.giveUp() }
    try self.init(lockedIn: folder)
  }

  /// The same while nobody else adds lines.
  private init(lockedIn folder: String) throws {
    self.folder = folder
    guard let text = try Self.text(of: path) else { return }
    guard !text.isEmpty else {
      preamble = CSVTable.line(Self.columns)
      return
    }
    // No cell holds a line's end, so that a quote that was cut off ends with its line.
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    guard let columns = Self.cells(lines[0]), Set(columns).count == columns.count,
      Set(["run_id", "figures", "machine", "plan"]).isSubset(of: columns)
    else { throw ResultsError("'\(path)' is no history: its first line is not the header") }
    header = columns
    if lines.count == 1 {
      preamble = "\n"
    } else if text.utf8.last != UInt8(ascii: "\n") {
      // A figure that has lost its last digits is still a number: one cell too many keeps the line
      // from ever being read as whole.
      preamble = ",cut off\n"
    }
    // Two histories that were joined line by line may have a line of both.
    var known: Set<Substring> = []
    for (number, line) in lines.enumerated().dropFirst() where !line.isEmpty {
      guard known.insert(line).inserted else { continue }
      let isCut = number == lines.count - 1
      guard !isCut, let entry = Self.cells(line).flatMap(entry) else {
        leftOut.append(
          "line \(number + 1) of history.csv is left out: it "
            + (isCut ? "was not written to its end" : "is not as this tool writes lines"))
        continue
      }
      entries.append(entry)
    }
  }

  /// What the file holds; nil when there is none.
  ///
  /// One that is there and cannot be read is not taken for none: lines would be added to it that
  /// nobody can read again.
  private static func text(of path: String) throws -> String? {
    try FileCalls.refuseEndless(path)
    do throws(SystemError) {
      // A link to nothing, too, is no file to add lines to.
      guard try FileCalls.kind(path) != nil else { return nil }
    } catch {
      // The folder is to come.
      if error.code == ENOTDIR || error.code == ENOENT { return nil }
      throw ResultsError("'\(path)' cannot be read: \(error.reason)")
    }
    do {
      return try String(contentsOfFile: path, encoding: .utf8)
    } catch let error as CocoaError
      where [.fileReadCorruptFile, .fileReadInapplicableStringEncoding].contains(error.code)
    {
      throw ResultsError("'\(path)' cannot be read: it is no UTF-8 text; take the original")
    } catch {
      throw ResultsError("'\(path)' cannot be read: \(error.explanation)")
    }
  }

  /// The cells of one line; nil when a quote is not closed.
  private static func cells(_ line: Substring) -> [String]? { CSVTable.parse(String(line))?.first }

  /// A line as it was written; nil when there is more or less in it than that.
  private func entry(_ row: [String]) -> Entry? {
    guard row.count == header.count else { return nil }
    let cells = Dictionary(zip(header, row)) { first, _ in first }
    var figures: [String: Double] = [:]
    for pair in (cells["figures"] ?? "").split(separator: ";") {
      // A phase may have the sign in its name. No run measures less or more.
      guard let sign = pair.lastIndex(of: "="),
        let value = Double(pair[pair.index(after: sign)...]), value >= 0, value < 1e18
      else { return nil }
      figures[String(pair[..<sign])] = value
    }
    guard let runID = cells["run_id"], !runID.isEmpty else { return nil }
    return Entry(
      runID: runID, startedAt: cells["started_at"] ?? "",
      commit: cells["commit"] ?? "", isDirty: cells["dirty"] == "yes",
      machine: cells["machine"] ?? "", workload: cells["workload"] ?? "",
      plan: cells["plan"] ?? "", isValid: cells["valid"] == "yes", figures: figures)
  }

  /// Adds runs that are not there yet; the file only grows.
  ///
  /// Of several processes that add the same run at once one does: which runs are there is looked up
  /// while nobody else adds any.
  package mutating func append(_ runs: [MeasuredRun]) throws {
    let added = try runs.map { try entry(of: $0) }
    guard !added.allSatisfy(has) else { return }
    try FileCalls.makeFolders(Platform.folder(of: path))
    let lock = try FileLock(making: path)
    defer { lock.giveUp() }
    let warnings = warnings
    self = try Self(lockedIn: folder)
    self.warnings = warnings
    var lines = ""
    for entry in added where !has(entry) {
      entries.append(entry)
      let cells = Self.cells(entry)
      lines += CSVTable.line(header.map { cells[$0] })
    }
    guard !lines.isEmpty else { return }
    try FileCalls.append(preamble + lines, to: path)
    preamble = ""
  }

  private func has(_ entry: Entry) -> Bool { entries.contains(where: entry.isSameRun(as:)) }

  /// The line of a run; what is to be known of it goes to the warnings.
  private mutating func entry(of run: MeasuredRun) throws(ResultsError) -> Entry {
    let document = run.document
    guard document.status == RunStatus.complete.rawValue else {
      throw ResultsError("'\(run.folder)' holds a run that is \(document.status)")
    }
    if !document.verdict.isValid {
      warnings.append(
        "the run in '\(run.folder)' is noted, but no level is drawn from it: it is not valid ("
          + document.verdict.reasons.joined(separator: "; ") + ")")
    }
    let id = document.replica > 1 ? "\(document.runId)-\(document.replica)" : document.runId
    let figures = GateRow.figures(of: run)
    return Entry(
      runID: id, startedAt: document.startedAt, commit: document.environment.commit ?? "",
      isDirty: document.environment.isDirty ?? false, machine: run.machine,
      workload: document.workload, plan: Self.plan(document), isValid: document.verdict.isValid,
      figures: Dictionary(figures.map { ($0.key.name, $0.value) }) { first, _ in first })
  }

  /// What has to be the same for figures to be one series: what the command says of the load, the
  /// build, and what a plan file said, not only its name.
  private static func plan(_ document: RunDocument) -> String {
    var words = document.command.split(separator: " ").map(String.init)
    words.removeAll { $0 == "--quick" || $0 == "--strict" }
    for flag in ["--seed", "--shard", "--interval", "--threshold"] {
      while let position = words.firstIndex(of: flag) {
        words.removeSubrange(position..<min(position + 2, words.count))
      }
    }
    // As earlier versions wrote them: a series goes on.
    for flag in ["--churn", "--check-rate"] {
      guard let position = words.firstIndex(of: flag), position + 1 < words.count,
        let share = Units.share(words[position + 1])
      else { continue }
      words[position + 1] = decimal(share, places: 6)
    }
    let script = document.settings.script.flatMap { try? encodeJSON($0) }
    let steps = script.map { ", steps \(FileCalls.hash(ofText: $0))" } ?? ""
    return words.joined(separator: " ") + " (\(document.environment.build)\(steps))"
  }

  private static func cells(_ entry: Entry) -> [String: String] {
    let cells = [
      "schema_version": String(ResultSchema.version), "run_id": entry.runID,
      "started_at": entry.startedAt, "commit": entry.commit, "dirty": entry.isDirty ? "yes" : "no",
      "machine": entry.machine, "workload": entry.workload, "plan": entry.plan,
      "valid": entry.isValid ? "yes" : "no",
      "figures": entry.figures.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        .joined(separator: ";"),
    ]
    return cells.mapValues { $0.split(whereSeparator: \.isNewline).joined(separator: " ") }
  }

  /// What one plan has measured on one machine.
  package struct Series {
    package var plan: String
    package var machine: String
    /// In the order in which they began, whatever that of the lines is.
    package var entries: [Entry]
    /// How many more there are that are not valid.
    package var invalid: Int
  }

  /// The valid runs of each plan on each machine.
  package var series: [Series] {
    var places: [String: Int] = [:]
    var all: [Series] = []
    // Of those that began in one second, the one that was added first.
    let ordered = entries.enumerated().sorted {
      ($0.element.startedAt, $0.offset) < ($1.element.startedAt, $1.offset)
    }
    for (_, entry) in ordered {
      let place = places[entry.plan + "\n" + entry.machine] ?? all.count
      if place == all.count {
        places[entry.plan + "\n" + entry.machine] = place
        all.append(Series(plan: entry.plan, machine: entry.machine, entries: [], invalid: 0))
      }
      if entry.isValid {
        all[place].entries.append(entry)
      } else {
        all[place].invalid += 1
      }
    }
    return all
  }
}
