// One run from an accepted command line to its end: folder, environment, workload, files, summary,
// exit code.
internal import Foundation
internal import Platform

/// Runs the workload and writes everything down.
package struct WorkloadJob<Driver: EngineDriver> {
  private let settings: RunSettings
  private let folder: ResultsFolder
  private let path: String
  private let surroundings: RunVerb.Surroundings<Driver>
  private let progress: ProgressLine
  private let choices: OutputChoices
  /// Those of `run`, as given, for processes that are to do the same.
  private let arguments: [String]

  package init(
    settings: RunSettings, choices: OutputChoices, folder: ResultsFolder, path: String,
    surroundings: RunVerb.Surroundings<Driver>, arguments: [String] = []
  ) {
    self.arguments = arguments
    self.settings = settings
    self.choices = choices
    self.folder = folder
    self.path = path
    self.surroundings = surroundings
    progress = ProgressLine(surroundings.console, choices)
  }

  package func run() throws -> ExitCode {
    // First of all, so that every thread started later leaves the signals to us.
    let interruption = surroundings.interruption()
    do {
      if let processors = settings.processorList { try Processors.use(processors) }
    } catch {
      progress.fail("--processors: \(error.explanation)")
      return .failed
    }
    surroundings.console.keeps(folder.path)
    progress.step("results go to \(folder.path)")
    if folder.replaces {
      progress.step("and take the place of those in \(folder.destination) when they are complete")
    }
    let environment = EnvironmentRecord(folder: Platform.folder(of: path))
    let recordingCost = measureRecordingCost()
    defer { folder.useReserve() }
    do {
      // Enough for every file but those that grow while it goes on; of many processes each has few.
      try folder.reserve(bytes: settings.member == nil ? 2 << 20 : 1 << 20)
      try writeFirstDocument(environment, recordingCost)
    } catch {
      progress.fail("cannot write to '\(folder.path)': \(error.explanation)")
      return .failed
    }
    let driver: Driver
    do {
      driver = try settings.workload.facts.openDriver(
        path, settings.durability, otherwise: surroundings.makeDriver)
    } catch {
      return end(
        "cannot open '\(path)': \(error.explanation)", environment, recordingCost)
    }
    let series: SeriesFiles
    do {
      series = try SeriesFiles(
        folder,
        ResultTables(
          settings: settings, outcome: RunOutcome(collector: Collector(openLoop: [])),
          runID: folder.runID))
    } catch {
      return end(
        "cannot write to '\(folder.path)': \(error.explanation)", environment, recordingCost)
    }
    let companions =
      settings.script.background.isEmpty
      ? nil
      : Companions(
        settings.script, path: path, durability: settings.durability, seed: settings.seed,
        tool: surroundings.tool)
    let machine = MachineWatch()
    var outcome: RunOutcome
    do {
      outcome = try run(driver, interruption, companions, series)
    } catch {
      return end(
        "cannot write to '\(folder.path)': \(error.explanation)", environment, recordingCost)
    }
    outcome.events = companions?.events ?? []
    outcome.disturbance = machine.disturbance()
    progress.clear()
    folder.useReserve()
    let keptFile = removeFile(driver, outcome)
    let tables = ResultTables(settings: settings, outcome: outcome, runID: folder.runID)
    var document = document(
      outcome, tables, environment: environment, recordingCost: recordingCost, keptFile: keptFile)
    let lostFiles = write(document, tables, outcome, series)
    let losses = lostFiles + joinHistory()
    if !losses.isEmpty {
      document.failure = ([outcome.failure].compactMap(\.self) + losses).joined(separator: "; ")
      // Without its history, whose parts stay, a run is whole.
      if !lostFiles.isEmpty { document.fail(because: lostFiles) }
      // It may be what could not be written.
      if let text = try? document.json() { try? folder.write(text, to: "run.json") }
    }
    // Also of what could not be written: it was measured.
    try report(document, tables, outcome)
    for loss in losses { progress.fail(loss) }
    return exitCode(document, outcome, isWhole: losses.isEmpty)
  }

  private func run(
    _ driver: Driver, _ interruption: any Interruption, _ companions: Companions?,
    _ series: SeriesFiles
  ) throws -> RunOutcome {
    guard settings.processes > 1 else {
      let workload = settings.makeWorkload(
        driver, versions: settings.member?.board.versions ?? VersionLog())
      return WorkloadRun(
        workload, settings: settings, interruption: interruption, progress: progress,
        companions: companions, series: { series.append($0, $1) }
      ).run()
    }
    let boardPath = folder.path + "/" + ProcessBoard.fileName
    let board = try ProcessBoard(boardPath, isNew: true)
    defer { try? FileCalls.remove(boardPath) }
    return ProcessRun(
      settings.makeWorkload(driver, versions: board.versions), settings: settings,
      arguments: arguments, path: path, folder: folder, tool: surroundings.tool,
      interruption: interruption, progress: progress, series: series.append
    ).run(board, at: boardPath)
  }

  /// Removes the Realm file unless it is wanted or is evidence; returns its path if it stays.
  private func removeFile(_ driver: Driver, _ outcome: RunOutcome) -> String? {
    // Who still uses it must not have it closed, and may change it as long as this process lives.
    if !outcome.unended.isEmpty {
      if settings.path == nil { folder.leaveOpen(KnownNames.dataFile(settings.engine)) }
      if !settings.keepsFile {
        let users = outcome.unended.prefix(2).joined(separator: ", ")
        progress.warn("the Realm file stays, because it was still in use (\(users)): \(path)")
      }
      return path
    }
    driver.close()
    if settings.keepsFile || outcome.status == .failed { return path }
    do {
      try driver.deleteFiles()
      return nil
    } catch {
      progress.warn("the Realm file stays: \(error.explanation)")
      return path
    }
  }

  // MARK: - Files

  /// What stands in run.json if the process is ended before the run is.
  private func writeFirstDocument(
    _ environment: EnvironmentRecord, _ recordingCost: Double
  ) throws {
    try writeDocument(
      failure: "the process ended before the run did", environment, recordingCost, keptFile: path)
  }

  /// Writes a run.json that has no figures, and why it has none.
  private func writeDocument(
    failure: String, _ environment: EnvironmentRecord, _ recordingCost: Double, keptFile: String?
  ) throws {
    var outcome = RunOutcome(collector: Collector(openLoop: settings.openLoop))
    outcome.status = .failed
    outcome.failure = failure
    let tables = ResultTables(settings: settings, outcome: outcome, runID: folder.runID)
    let document = document(
      outcome, tables, environment: environment, recordingCost: recordingCost, keptFile: keptFile)
    try folder.write(try document.json(), to: "run.json")
  }

  /// Ends a run that has measured nothing: run.json gets the cause, in the place of the words that
  /// stand there for a process that is gone.
  private func end(
    _ failure: String, _ environment: EnvironmentRecord, _ recordingCost: Double
  ) -> ExitCode {
    progress.fail(failure)
    folder.useReserve()
    do {
      let keptFile = (try? FileCalls.kind(path)) == nil ? nil : path
      try writeDocument(failure: failure, environment, recordingCost, keptFile: keptFile)
    } catch {
      progress.warn("'\(folder.path)/run.json' does not tell it: \(error.explanation)")
    }
    return .failed
  }

  private func document(
    _ outcome: RunOutcome, _ tables: ResultTables, environment: EnvironmentRecord,
    recordingCost: Double, keptFile: String?
  ) -> RunDocument {
    let reasons = Verdict.reasons(settings: settings, outcome: outcome)
    let delays = generatorDelays(outcome)
    let truncated = settings.operationsMeasured
      .filter { outcome.collector.total(.measure, $0)?.isTruncated ?? false }.map(\.rawValue)
    return RunDocument(
      runId: folder.runID, workload: settings.workload.rawValue, engine: settings.engine,
      seed: settings.seed, startedAt: surroundings.now.ISO8601Format(),
      status: outcome.status.rawValue,
      verdict: .init(
        isValid: reasons.isEmpty, reasons: reasons,
        cautions: Verdict.cautions(settings: settings, outcome: outcome)),
      command: settings.command,
      settings: SettingsRecord(settings, path: path, output: folder.path),
      environment: environment, disturbance: outcome.disturbance,
      phases: outcome.phases.map {
        .init(
          name: settings.name(of: $0.phase), elapsedS: $0.elapsedSeconds,
          syncs: $0.after.syncs - min($0.before.syncs, $0.after.syncs),
          writtenBytes: $0.difference(\.writtenBytes))
      },
      overhead: .init(
        recordingNsPerOperation: recordingCost,
        checksPercent: tables.costPercent(outcome.ledger.costNanoseconds),
        pausedNs: outcome.pausedNanoseconds,
        generatorDelayP99Ns: delays?.value(at: .p99),
        generatorDelayMaxNs: delays.flatMap { $0.count == 0 ? nil : $0.maximum }),
      transactions: outcome.transactions,
      leftOut: settings.openLoop.isEmpty ? nil : leftOut(outcome),
      unended: outcome.unended.isEmpty ? nil : outcome.unended,
      truncated: truncated.isEmpty ? nil : truncated,
      keptWaiting: outcome.areKeptWaiting ? true : nil, keeper: outcome.keeper,
      thresholds: settings.thresholds.map { threshold in
        let cell =
          threshold.operation.map {
            tables.summaryCell(
              $0, in: try? threshold.phase(of: settings), column: threshold.column)
          } ?? tables.growthCell(column: threshold.column)
        let value = cell.flatMap { $0.isEmpty ? nil : $0 }
        return .init(
          condition: threshold.text, value: value.flatMap(Double.init),
          isMet: threshold.isMet(by: value))
      },
      violation: outcome.violation.map {
        .init(
          invariant: $0.violation.invariant.name, sentence: $0.violation.sentence,
          witness: $0.violation.witness, thread: $0.thread)
      },
      failure: outcome.failure, realmFile: keptFile)
  }

  private func leftOut(_ outcome: RunOutcome) -> [String: UInt64] {
    Dictionary(
      uniqueKeysWithValues: settings.operationsMeasured.compactMap { operation in
        outcome.collector.total(.measure, operation)?.leftOut.map { (operation.rawValue, $0.count) }
      })
  }

  /// Of all operations that follow the schedule.
  private func generatorDelays(_ outcome: RunOutcome) -> LatencyHistogram? {
    if settings.openLoop.isEmpty { return nil }
    let delays = LatencyHistogram()
    for operation in settings.openLoop {
      if let figures = outcome.collector.total(.measure, operation)?.generatorDelay {
        delays.add(figures)
      }
    }
    return delays
  }

  /// Writes each file, whatever becomes of the others; returns what could not be written, and why.
  private func write(
    _ document: RunDocument, _ tables: ResultTables, _ outcome: RunOutcome, _ series: SeriesFiles
  ) -> [String] {
    var lost: [(reason: String, names: [String])] = []
    func keep(_ name: String, _ body: () throws -> Void) {
      do { try body() } catch {
        let reason = error.explanation
        if lost.last?.reason != reason { lost.append((reason, [])) }
        lost[lost.count - 1].names.append(name)
      }
    }
    keep("samples.csv, growth.csv") { try series.end() }
    write(document, tables, outcome) { name, text in
      keep(name) { try folder.write(try text(), to: name) }
    }
    return lost.map { reason, names in
      let others = names.count > 3 ? " and \(names.count - 3) more" : ""
      return "cannot write \(names.prefix(3).joined(separator: ", "))\(others) in "
        + "'\(folder.path)': \(reason)"
    }
  }

  /// Joins the parts of the history, if there are any; returns what could not be done, and why.
  private func joinHistory() -> [String] {
    // One of several processes leaves its parts to the one that has started it.
    guard settings.recordsHistory && settings.member == nil else { return [] }
    progress.step("joining the history ...")
    do {
      try HistoryMerge.join(historyFolders, to: folder.path + "/history.jsonl")
      return []
    } catch {
      return [
        "cannot join the history: \(error.explanation); its parts stay in "
          + "'\(folder.historyParts)', the run's other files are whole"
      ]
    }
  }

  /// Its own parts, or those that its processes have left.
  private var historyFolders: [String] {
    settings.processes == 1
      ? [folder.historyParts]
      : (1...settings.processes).map {
        ProcessRun<Driver>.folder(of: $0, in: folder.path) + "/history"
      }.filter { (try? FileCalls.kind($0)) != nil }
  }

  /// - Parameter put: writes a file by its name.
  private func write(
    _ document: RunDocument, _ tables: ResultTables, _ outcome: RunOutcome,
    _ put: (_ name: String, _ text: () throws -> String) -> Void
  ) {
    // The shortest and most telling first.
    put("run.json") { try document.json() }
    put("summary.csv") { tables.summary().text }
    put("invariants.csv") { tables.invariants().text }
    if let plan = settings.planText { put("plan.json") { plan } }
    if !outcome.events.isEmpty { put("events.csv") { tables.events().text } }
    for operation in settings.operationsMeasured {
      guard let figures = outcome.collector.total(operation.phase, operation) else { continue }
      let name = "histograms/\(operation.rawValue)"
      put(name + ".hgrm") { figures.service.percentileText() }
      if let responses = figures.responses {
        put(name + "-response.hgrm") { responses.percentileText() }
        if responses.leftOut.count > 0 {
          put(name + "-left-out.hgrm") { responses.leftOut.percentileText() }
        }
      }
    }
    if let violation = outcome.violation { put("violation.txt") { evidence(violation) } }
  }

  // MARK: - Standard output

  private func report(
    _ document: RunDocument, _ tables: ResultTables, _ outcome: RunOutcome
  ) throws {
    if let violation = outcome.violation {
      surroundings.console.noteRaw(evidence(violation))
    }
    if let failure = outcome.failure { progress.fail(failure) }
    if outcome.status == .interrupted { progress.warn("interrupted: the results are partial") }
    if outcome.status != .failed {
      let told = ["interrupted", RunDocument.failed("")]
      for reason in document.verdict.reasons where !told.contains(where: reason.hasPrefix) {
        progress.warn("verdict not valid: \(reason)")
      }
      for caution in document.verdict.cautions ?? [] { progress.warn(caution) }
    }
    var document = document
    if outcome.status == .complete { document.move(from: folder.path, to: folder.destination) }
    let summary = Summary(
      document: document, settings: settings, outcome: outcome, tables: tables,
      folder: outcome.status == .complete ? folder.destination : folder.path)
    surroundings.console.printRaw(try summary.render(settings.format))
    let place = outcome.status == .complete ? folder.destination : folder.path
    progress.step(
      "pictures: \(Tool.current.invocation) report \(LiteralPath.quoted(place)) -o report.html")
  }

  /// In the order that cli.md promises: sentence, witness, seed, command, folder.
  private func evidence(_ found: (violation: Violation, thread: String)) -> String {
    let violation = found.violation
    return "\(violation.invariant.name) violated: \(violation.sentence)\n"
      + violation.witness.map { "  \($0)\n" }.joined()
      + "  (found by \(found.thread))\n"
      + "seed: \(settings.seed)\n"
      + "again: \(plantedBugPrefix)\(settings.command)\n"
      + "evidence: \(folder.path) (Realm file: \(path))\n"
  }

  /// Sets the bug that a build with planted bugs was run with.
  private var plantedBugPrefix: String {
    #if PLANTED_BUGS
      let name = ProcessInfo.processInfo.environment["REALM_PLANTED_BUG"]
      return name.map { "REALM_PLANTED_BUG=\($0) " } ?? ""
    #else
      return ""
    #endif
  }

  private func exitCode(
    _ document: RunDocument, _ outcome: RunOutcome, isWhole: Bool
  ) -> ExitCode {
    if outcome.violation != nil { return .invariantViolated }
    if outcome.failure != nil || !isWhole { return .failed }
    if outcome.status == .interrupted { return .interrupted }
    if document.thresholds.contains(where: { !$0.isMet }) { return .thresholdMissed }
    let isDoubted = settings.isStrict && !document.verdict.isValid
    return isDoubted || !outcome.isChecked ? .inconclusive : .success
  }
}
