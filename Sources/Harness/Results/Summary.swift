// The summary on standard output: as text for people, as Markdown, or as JSON for scripts.
internal import Foundation

/// Renders what a run found.
package struct Summary {
  private let document: RunDocument
  private let settings: RunSettings
  private let outcome: RunOutcome
  private let tables: ResultTables
  private let folder: String

  package init(
    document: RunDocument, settings: RunSettings, outcome: RunOutcome, tables: ResultTables,
    folder: String
  ) {
    self.document = document
    self.settings = settings
    self.outcome = outcome
    self.tables = tables
    self.folder = folder
  }

  package func render(_ format: OutputFormat) throws -> String {
    switch format {
    case .text: text()
    case .markdown: markdown()
    case .json: try json()
    }
  }

  // MARK: - Rows

  private static let header = [
    "operation", "threads", "count", "per second", "p50", "p99", "p99.9", "max",
  ]

  private func rows() -> [[String]] {
    guard let phase = outcome.phase(.measure) else { return [] }
    var rows: [[String]] = []
    for operation in settings.operationsMeasured where operation.phase == .measure {
      guard let figures = outcome.collector.total(.measure, operation) else { continue }
      let rate = Double(figures.service.count) / max(phase.elapsedSeconds(of: figures), 1e-9)
      rows.append(
        [
          operation.rawValue, String(settings.threads(of: operation)),
          grouped(Int(figures.service.count)),
          grouped(Int(rate.rounded())),
        ] + durations(figures.service))
      if let responses = figures.responses {
        rows.append(["  response", "", "", ""] + durations(responses))
      }
    }
    return rows
  }

  private func durations(_ histogram: LatencyHistogram) -> [String] {
    [Percentile.p50, .p99, .p99_9].map { percentile in
      histogram.value(at: percentile).map(readableDuration) ?? "-"
    } + [histogram.count == 0 ? "-" : readableDuration(histogram.maximum)]
  }

  /// What is not known is shown with what it is at least.
  private func durations(_ times: ResponseTimes) -> [String] {
    [Percentile.p50, .p99, .p99_9].map { percentile in
      times.value(at: percentile).map(readableDuration)
        ?? times.least(at: percentile).map { ">= " + readableDuration($0) } ?? "-"
    } + [
      times.maximum.map(readableDuration)
        ?? (times.all.count == 0 ? "-" : ">= " + readableDuration(times.all.maximum))
    ]
  }

  private var loop: String {
    let steps = settings.script.steps
    if !steps.isEmpty { return steps.count == 1 ? "1 phase" : "\(steps.count) phases" }
    return "closed loop"
  }

  private var title: String {
    let load = settings.ratePerSecond.map {
      "open loop \(Units.text(ratePerSecond: $0)) \(settings.arrivals.rawValue)"
    }
    let processes = settings.processes > 1 ? "\(settings.processes) processes of " : ""
    return "\(settings.workload.rawValue) on \(settings.engine): \(processes)\(settings.shape), "
      + "durability \(settings.durability.rawValue), \(load ?? loop), seed \(settings.seed)"
  }

  // MARK: - Lines below the table

  private func notes() -> [(String, String)] {
    var notes: [(String, String)] = []
    notes += loadNotes()
    if let point = outcome.growth.last {
      let growth = point.statistics
      notes.append(
        (
          "file",
          "\(readableBytes(growth.fileBytes)): live \(readable(growth.liveBytes)), held for "
            + "pins \(readable(growth.heldBytes)), free \(readable(growth.freeBytes)); "
            + (growth.liveVersions.map { "\($0) live versions, " } ?? "")
            + "\(grouped(point.pins)) pins"
        ))
    }
    notes += growthNotes()
    notes += commitNotes()
    notes += workNotes()
    if !settings.openLoop.isEmpty {
      let figures = settings.openLoop.compactMap { outcome.collector.total(.measure, $0) }
      let late = figures.reduce(0) { $0 + $1.late }
      let skipped = figures.reduce(0) { $0 + $1.skipped }
      notes.append(("open loop", "\(late) late (over 1 ms), \(skipped) skipped"))
    }
    notes.append(("invariants", invariantNote()))
    notes.append(
      (
        "overhead",
        "recording \(decimal(document.overhead.recordingNsPerOperation, places: 0)) ns an operation"
          + (document.overhead.checksPercent.map {
            ", checks \(decimal($0, places: 1)) % of the threads' time"
          } ?? "")
      ))
    for threshold in document.thresholds {
      notes.append(
        (
          "threshold",
          "\(threshold.condition): \(threshold.isMet ? "met" : "MISSED"), "
            + (threshold.value.map { "is \($0)" } ?? reasonOfNoValue(threshold))
        ))
    }
    notes.append(
      (
        "verdict",
        document.verdict.isValid
          ? "valid" : "not valid: " + document.verdict.reasons.joined(separator: "; ")
      ))
    if let file = document.realmFile { notes.append(("realm file", file)) }
    notes.append(("results", folder))
    return notes
  }

  private func reasonOfNoValue(_ threshold: RunDocument.ThresholdRecord) -> String {
    let asked = settings.thresholds.first { $0.text == threshold.condition }
    if let asked, GateRow.notAlwaysCounted.contains(asked.column) { return "nobody has counted it" }
    guard let asked, let operation = asked.operation, asked.column.hasPrefix("response_"),
      let phase = try? asked.phase(of: settings),
      let responses = outcome.collector.total(phase, operation)?.responses
    else { return "not measured (too few samples)" }
    if !responses.isWhole { return "not known, because a thread that did some did not end" }
    guard responses.leftOut.count > 0 else { return "not measured (too few samples)" }
    return "not known, because \(grouped(Int(responses.leftOut.count))) that were due were not done"
  }

  private func loadNotes() -> [(String, String)] {
    let isMeasured = !settings.workload.facts.loadsFirst
    let objects = isMeasured ? outcome.objects : outcome.loadedObjects
    guard let load = outcome.phase(isMeasured ? .measure : .load), load.elapsedSeconds > 0 else {
      return []
    }
    let rate = Int(Double(objects) / load.elapsedSeconds)
    var notes = [("load", "\(grouped(objects)) objects, \(grouped(rate)) a second")]
    guard !settings.workload.facts.isSteady, objects > 0, let growth = outcome.growth.last else {
      return notes
    }
    let written =
      settings.processes > 1
      ? load.difference(\.writtenBytes) : growth.statistics.writtenBytes
    func bytes(_ count: UInt64) -> String { decimal(Double(count) / Double(objects), places: 1) }
    notes.append(
      (
        "an object",
        "\(bytes(growth.statistics.fileBytes)) bytes of the file, "
          + "\(growth.statistics.liveBytes.map(bytes) ?? "-") of them live, "
          + "\(written.map(bytes) ?? "-") written"
      ))
    if let peak = outcome.growth.peakResidentBytes {
      notes.append(("memory", "at most \(readableBytes(peak)) resident"))
    }
    return notes
  }

  private func readable(_ bytes: UInt64?) -> String { bytes.map(readableBytes) ?? "-" }

  /// What pins have cost, and the way back.
  private func growthNotes() -> [(String, String)] {
    guard settings.workload.facts.recovers, let measured = outcome.phase(.measure) else {
      return []
    }
    var notes: [(String, String)] = []
    if let commits = measured.commits, commits > 0 {
      let growth = Double(measured.after.fileBytes) - Double(measured.before.fileBytes)
      notes.append(
        (
          "growth",
          "\(decimal(growth / Double(commits), places: 1)) bytes a commit over "
            + "\(grouped(Int(commits))) commits"
        ))
    }
    if let walked = outcome.growth.walkedBytes {
      let share = Double(measured.after.fileBytes) / Double(max(1, walked))
      notes.append(
        (
          "pins",
          "\(readableBytes(walked)) can be seen in some version, by a walk; the file has "
            + "\(decimal(share, places: 3)) times that; held \(readable(measured.after.heldBytes))"
        ))
    }
    if let back = outcome.collector.total(.recover, .recover), back.service.count > 0 {
      let commits = outcome.collector.total(.recover, .write)?.service.count ?? 0
      notes.append(
        (
          "back",
          back.errors > 0
            ? "the file did not get short in \(grouped(Int(commits))) commits"
            : "short again \(grouped(Int(commits))) commits and "
              + "\(readableDuration(back.service.maximum)) after the pins had gone"
        ))
    }
    return notes
  }

  private func commitNotes() -> [(String, String)] {
    guard let operation = settings.operationsMeasured.first(where: \.commits) else {
      return []
    }
    let syncs = tables.summaryCell(operation, column: "syncs_per_commit")
    let bytes = tables.summaryCell(operation, column: "written_bytes_per_commit")
    let calls = tables.summaryCell(operation, column: GateRow.systemCalls).flatMap(Double.init)
    let raw = document.environment.rawSyncP50Ns.map {
      "; raw write and sync of 4 KB here: p50 \(readableDuration($0))"
    }
    return [
      (
        "a commit",
        "\(syncs ?? "-") syncs, \(bytes.flatMap(Double.init).map { readableBytes(UInt64($0)) } ?? "-")"
          + " written" + (calls.map { ", \(decimal($0, places: 2)) system calls on files" } ?? "")
          + (raw ?? "")
      )
    ]
  }

  /// What operations take beside time, as far as it was counted.
  private func workNotes() -> [(String, String)] {
    let kinds = [
      ("allocations", GateRow.allocations, 2), ("instructions", GateRow.instructions, 0),
    ]
    let known = kinds.compactMap { name, column, places in
      let parts = settings.operationsMeasured.compactMap { operation in
        tables.summaryCell(operation, column: column).flatMap(Double.init).map {
          "\(operation.rawValue) \(decimal($0, places: places))"
        }
      }
      return parts.isEmpty ? nil : "\(name) an operation: \(parts.joined(separator: ", "))"
    }
    return known.isEmpty ? [] : [("work", known.joined(separator: "; "))]
  }

  private func invariantNote() -> String {
    if settings.invariants.isEmpty { return "not checked" }
    let counts = settings.invariants.map { invariant in
      let entry = outcome.ledger[invariant]
      return "\(invariant.name) \(grouped(Int(entry.checks)))"
        + (entry.violations > 0 ? " VIOLATED" : "")
    }
    return "checks: " + counts.joined(separator: ", ")
      + (outcome.violation == nil ? "; all hold" : "") + sampling
  }

  /// How many of the reads were checked in full.
  private var sampling: String {
    let sampled: [Invariant] = [.atomicity, .frozenImmutability]
    guard RunFlags.isUsed("check-rate", by: settings.workload), settings.checkRate < 1,
      settings.invariants.contains(where: sampled.contains)
    else { return "" }
    let hasReads = settings.workload.facts.operations(settings).contains(.read)
    return "; of \(hasReads ? "reads" : "references") "
      + "\(decimal(settings.checkRate * 100, places: 1)) % in full"
  }

  // MARK: - Forms

  private func text() -> String {
    var lines = [title, "", TextTable(header: Self.header, rows: rows()).text]
    for (name, note) in notes() {
      lines.append(name.padding(toLength: 12, withPad: " ", startingAt: 0) + note)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func markdown() -> String {
    var lines = [
      "**\(title)**", "", TextTable(header: Self.header, rows: rows()).markdown,
    ]
    for (name, note) in notes() { lines.append("- \(name): \(note)") }
    return lines.joined(separator: "\n") + "\n"
  }

  private struct JSONSummary: Codable {
    var run: RunDocument
    var folder: String
    var summary: [[String: JSONCell]]
    var invariants: [[String: JSONCell]]
  }

  private func json() throws -> String {
    try encodeJSON(
      JSONSummary(
        run: document, folder: folder, summary: tables.summary().objects,
        invariants: tables.invariants().objects))
  }
}
