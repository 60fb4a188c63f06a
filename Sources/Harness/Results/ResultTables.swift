// From what a run measured to the rows of its CSV files.

/// Builds the tables of one run.
package struct ResultTables {
  private let settings: RunSettings
  private let outcome: RunOutcome
  private let runID: String

  package init(settings: RunSettings, outcome: RunOutcome, runID: String) {
    self.settings = settings
    self.outcome = outcome
    self.runID = runID
  }

  private var head: [String?] { head(of: 1) }

  private func head(of process: Int) -> [String?] {
    [String(ResultSchema.version), runID, String(process)]
  }

  // MARK: - summary.csv

  /// One row an operation and phase.
  package func summary() -> CSVTable {
    var table = CSVTable(columns: ResultSchema.summaryColumns)
    if let load = outcome.phase(.load), settings.workload.facts.loadsFirst {
      table.append(insertRow(load, objects: outcome.loadedObjects, threads: 1))
    }
    if let phase = outcome.phase(.measure), !settings.workload.facts.loadsFirst {
      table.append(insertRow(phase, objects: outcome.objects, threads: settings.writers))
    }
    for phase in outcome.phases where phase.phase != .load {
      for operation in settings.operationsMeasured
      where phase.phase == .recover || operation.phase != .recover {
        guard let figures = outcome.collector.total(phase.phase, operation) else { continue }
        table.append(row(phase, operation, figures))
      }
    }
    return table
  }

  /// A phase's cell of an operation, as written; of the measured phase where none is named.
  package func summaryCell(
    _ operation: Operation, in phase: Phase? = nil, column: String
  ) -> String? {
    guard let phase = outcome.phase(phase ?? operation.phase),
      let figures = outcome.collector.total(phase.phase, operation)
    else { return nil }
    return row(phase, operation, figures)[ResultSchema.summaryColumns.firstIndex(of: column)!]
  }

  /// Cells by column; those that are left out are empty.
  private typealias Cells = [String: String?]

  /// A row of a table with these columns, of which every cell is one.
  private func row(_ columns: [String], _ cells: Cells) -> [String?] {
    var cells = cells
    let row = columns.map { cells.removeValue(forKey: $0) ?? nil }
    precondition(cells.isEmpty, "no columns \(cells.keys.sorted())")
    return row
  }

  /// What every table begins with.
  private var heads: Cells {
    [
      "schema_version": String(ResultSchema.version), "run_id": runID, "replica": "1",
      "engine": settings.engine, "workload": settings.workload.rawValue,
    ]
  }

  private func start(
    _ operation: String, _ phase: Phase, isOpenLoop: Bool, threads: Int, _ elapsed: Double
  ) -> Cells {
    let rate = isOpenLoop ? settings.ratePerSecond(of: operation, in: phase) : nil
    return heads.merging([
      "seed": String(settings.seed), "durability": settings.durability.rawValue,
      "operation": operation, "phase": settings.name(of: phase),
      "load": isOpenLoop ? "open" : "closed", "threads": String(threads),
      "target_rate_per_s": rate.map { decimal($0, places: 3) },
      "elapsed_s": decimal(elapsed, places: 6),
    ]) { $1 }
  }

  /// A bulk load counts objects; nobody times one of them.
  private func insertRow(_ phase: PhaseOutcome, objects: Int, threads: Int) -> [String?] {
    let elapsed = phase.elapsedSeconds
    let start = start(
      Operation.insert.rawValue, phase.phase, isOpenLoop: false, threads: threads, elapsed)
    let counts: Cells = [
      "count": String(objects), "errors": "0",
      "rate_per_s": elapsed > 0 ? decimal(Double(objects) / elapsed, places: 3) : nil,
    ]
    return row(
      ResultSchema.summaryColumns,
      start.merging(counts) { $1 }.merging(perCommit(phase)) { $1 })
  }

  private func row(
    _ phase: PhaseOutcome, _ operation: Operation, _ figures: OperationMeasurements
  ) -> [String?] {
    let isOpenLoop = figures.response != nil
    let elapsed = phase.elapsedSeconds(of: figures)
    let count = figures.service.count
    var cells = start(
      operation.rawValue, phase.phase, isOpenLoop: isOpenLoop,
      threads: settings.threads(of: operation, in: phase.phase), elapsed)
    let counts: Cells = [
      "count": String(count), "errors": String(figures.errors),
      "late": isOpenLoop ? String(figures.late) : nil,
      "skipped": isOpenLoop ? String(figures.skipped) : nil,
      "rate_per_s": elapsed > 0 ? decimal(Double(count) / elapsed, places: 3) : nil,
      "service_mean_ns": figures.service.mean.map { String(Int($0.rounded())) },
    ]
    cells.merge(counts) { $1 }
    cells.merge(durations("service", figures.service)) { $1 }
    if let responses = figures.responses { cells.merge(durations("response", responses)) { $1 } }
    if operation.commits { cells.merge(perCommit(phase)) { $1 } }
    cells.merge(perOperation(figures)) { $1 }
    return row(ResultSchema.summaryColumns, cells)
  }

  private func durations(_ kind: String, _ histogram: LatencyHistogram) -> Cells {
    durations(
      kind, { histogram.value(at: $0) }, histogram.count == 0 ? nil : histogram.maximum)
  }

  private func durations(_ kind: String, _ times: ResponseTimes) -> Cells {
    durations(kind, { times.value(at: $0) }, times.maximum)
  }

  private func durations(
    _ kind: String, _ value: (Percentile) -> UInt64?, _ maximum: UInt64?
  ) -> Cells {
    var cells: Cells = ["\(kind)_max_ns": maximum.map(String.init)]
    for percentile in Percentile.allCases {
      cells["\(kind)_\(percentile.rawValue)_ns"] = value(percentile).map(String.init)
    }
    return cells
  }

  private func perCommit(_ phase: PhaseOutcome) -> Cells {
    guard let commits = phase.commits, commits > 0 else { return [:] }
    let syncs = phase.after.syncs - min(phase.before.syncs, phase.after.syncs)
    let bytes = phase.difference(\.writtenBytes)
    let calls = phase.difference(\.fileCalls)
    return [
      "syncs_per_commit": decimal(Double(syncs) / Double(commits), places: 4),
      "written_bytes_per_commit": bytes.map { decimal(Double($0) / Double(commits), places: 1) },
      "system_calls_per_commit": calls.map { decimal(Double($0) / Double(commits), places: 4) },
    ]
  }

  private func perOperation(_ figures: OperationMeasurements) -> Cells {
    let count = figures.service.count
    return [
      "allocations_per_operation": figures.work.allocationsPerOperation(of: count)
        .map { decimal($0, places: 4) },
      "instructions_per_operation": figures.work.instructionsPerOperation(of: count)
        .map { decimal($0, places: 1) },
    ]
  }

  // MARK: - The others

  /// A row of samples.csv.
  package func sampleRow(_ sample: Sample) -> [String?] {
    head(of: sample.process) + [
      settings.engine, settings.workload.rawValue, settings.name(of: sample.phase),
      decimal(sample.elapsedSeconds, places: 3), sample.operation.rawValue, sample.metric,
      sample.unit, sample.value,
    ]
  }

  /// A cell of growth.csv's last row, as written.
  package func growthCell(column: String) -> String? {
    outcome.growth.last.flatMap {
      growthRow($0)[ResultSchema.growthColumns.firstIndex(of: column)!]
    }
  }

  /// A row of growth.csv.
  package func growthRow(_ point: GrowthPoint) -> [String?] {
    let figures = point.statistics
    let cells: Cells = [
      "phase": settings.name(of: point.phase),
      "elapsed_s": decimal(point.elapsedSeconds, places: 3),
      "commits": figures.commits.map(String.init),
      "newest_version": String(figures.newestVersion),
      "oldest_pinned_version": figures.oldestPinnedVersion.map(String.init),
      "live_versions": figures.liveVersions.map(String.init),
      "pins": String(point.pins),
      "oldest_pin_age_s": figures.oldestPinAgeNanoseconds.map {
        decimal(Double($0) / 1e9, places: 3)
      },
      "file_bytes": String(figures.fileBytes),
      "live_bytes": figures.liveBytes.map(String.init),
      "held_bytes": figures.heldBytes.map(String.init),
      "free_bytes": figures.freeBytes.map(String.init),
      "resident_bytes": point.residentBytes.map(String.init),
      "allocated_bytes": point.allocatedBytes.map(String.init),
      "written_bytes": figures.writtenBytes.map(String.init),
      // Of several processes each counts its own.
      "syncs": settings.processes > 1 && settings.member == nil ? nil : String(figures.syncs),
      "objects": String(point.objects),
      "walked_bytes": point.walkedBytes.map(String.init),
      "transactions": String(point.transactions),
    ]
    return row(ResultSchema.growthColumns, heads.merging(cells) { $1 })
  }

  /// What happened to background processes.
  package func events() -> CSVTable {
    var table = CSVTable(columns: ResultSchema.eventColumns)
    for event in outcome.events {
      table.append(
        head + [
          settings.engine, settings.workload.rawValue, decimal(event.elapsedSeconds, places: 3),
          event.process, String(event.number), event.event,
        ])
    }
    return table
  }

  package func invariants() -> CSVTable {
    var table = CSVTable(columns: ResultSchema.invariantColumns)
    for invariant in Invariant.allCases where settings.invariants.contains(invariant) {
      let entry = outcome.ledger[invariant]
      let first = outcome.violation.flatMap { found in
        found.violation.invariant == invariant
          ? "\(found.thread): \(found.violation.sentence) "
            + found.violation.witness.joined(separator: "; ") : nil
      }
      table.append(
        head + [
          settings.engine, settings.workload.rawValue, invariant.name, String(entry.checks),
          String(entry.violations), first,
          costPercent(entry.costNanoseconds).map { decimal($0, places: 3) },
        ])
    }
    return table
  }

  /// Share of the measuring threads' time, or nil when there was none.
  package func costPercent(_ nanoseconds: UInt64) -> Double? {
    outcome.threadNanoseconds == 0
      ? nil : 100 * Double(nanoseconds) / Double(outcome.threadNanoseconds)
  }
}
