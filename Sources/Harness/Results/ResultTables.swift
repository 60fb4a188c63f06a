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

  private var head: [String?] { [String(ResultSchema.version), runID, "1"] }

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

  /// The measured phase's cell of an operation, as written.
  package func summaryCell(_ operation: Operation, column: String) -> String? {
    guard let phase = outcome.phase(operation.phase),
      let figures = outcome.collector.total(operation.phase, operation)
    else { return nil }
    return row(phase, operation, figures)[ResultSchema.summaryColumns.firstIndex(of: column)!]
  }

  private func start(
    _ operation: String, _ phase: Phase, isOpenLoop: Bool, threads: Int, _ elapsed: Double
  ) -> [String?] {
    let rate = isOpenLoop ? settings.ratePerSecond(of: operation, in: phase) : nil
    return head + [
      String(settings.seed), settings.engine, settings.durability.rawValue,
      settings.workload.rawValue,
      operation, settings.name(of: phase), isOpenLoop ? "open" : "closed", String(threads),
      rate.map { decimal($0, places: 3) }, decimal(elapsed, places: 6),
    ]
  }

  /// A bulk load counts objects; nobody times one of them.
  private func insertRow(_ phase: PhaseOutcome, objects: Int, threads: Int) -> [String?] {
    var cells = start(
      Operation.insert.rawValue, phase.phase, isOpenLoop: false, threads: threads,
      phase.elapsedSeconds)
    cells += [String(objects), "0", nil, nil]
    cells.append(
      phase.elapsedSeconds > 0
        ? decimal(Double(objects) / phase.elapsedSeconds, places: 3) : nil)
    cells += Array(repeating: nil, count: 13)
    return cells + perCommit(phase)
  }

  private func row(
    _ phase: PhaseOutcome, _ operation: Operation, _ figures: OperationMeasurements
  ) -> [String?] {
    let isOpenLoop = figures.response != nil
    let elapsed = phase.elapsedSeconds(of: figures)
    var cells = start(
      operation.rawValue, phase.phase, isOpenLoop: isOpenLoop,
      threads: settings.threads(of: operation), elapsed)
    let count = figures.service.count
    cells += [
      String(count), String(figures.errors), isOpenLoop ? String(figures.late) : nil,
      isOpenLoop ? String(figures.skipped) : nil,
      elapsed > 0 ? decimal(Double(count) / elapsed, places: 3) : nil,
      figures.service.mean.map { String(Int($0.rounded())) },
    ]
    cells += durations(figures.service)
    cells += figures.responses.map(durations) ?? Array(repeating: nil, count: 6)
    return cells + (operation.commits ? perCommit(phase) : [nil, nil])
  }

  private func durations(_ histogram: LatencyHistogram) -> [String?] {
    Percentile.allCases.map { histogram.value(at: $0).map(String.init) }
      + [histogram.count == 0 ? nil : String(histogram.maximum)]
  }

  private func durations(_ times: ResponseTimes) -> [String?] {
    Percentile.allCases.map { times.value(at: $0).map(String.init) }
      + [times.maximum.map(String.init)]
  }

  private func perCommit(_ phase: PhaseOutcome) -> [String?] {
    guard let commits = phase.commits, commits > 0 else { return [nil, nil] }
    let syncs = phase.after.syncs - min(phase.before.syncs, phase.after.syncs)
    let bytes = phase.difference(\.writtenBytes)
    return [
      decimal(Double(syncs) / Double(commits), places: 4),
      bytes.map { decimal(Double($0) / Double(commits), places: 1) },
    ]
  }

  // MARK: - The others

  /// A row of samples.csv.
  package func sampleRow(_ sample: Sample) -> [String?] {
    head + [
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
    return head + [
      settings.engine, settings.workload.rawValue, settings.name(of: point.phase),
      decimal(point.elapsedSeconds, places: 3), figures.commits.map(String.init),
      String(figures.newestVersion), figures.oldestPinnedVersion.map(String.init),
      figures.liveVersions.map(String.init), String(point.pins),
      figures.oldestPinAgeNanoseconds.map { decimal(Double($0) / 1e9, places: 3) },
      String(figures.fileBytes), figures.liveBytes.map(String.init),
      figures.heldBytes.map(String.init), figures.freeBytes.map(String.init),
      point.residentBytes.map(String.init), point.allocatedBytes.map(String.init),
      figures.writtenBytes.map(String.init), String(figures.syncs), String(point.objects),
      point.walkedBytes.map(String.init), String(point.transactions),
    ]
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
