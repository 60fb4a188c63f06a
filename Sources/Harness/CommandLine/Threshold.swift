// --threshold: a figure of the result files that has to hold, or the run exits with 2.

/// A condition on one cell of summary.csv, or of growth.csv's last row.
package struct Threshold: Equatable, Sendable {
  package enum Comparison: String, CaseIterable, Sendable {
    // Longer ones first: the parser takes the first that fits.
    case atMost = "<="
    case atLeast = ">="
    case equal = "=="
    case below = "<"
    case above = ">"
  }

  /// As written by the user.
  package let text: String
  /// A phase of a plan, by its name; nil for the measured phase as a whole.
  package let phase: String?
  /// Nil: a column of growth.csv.
  package let operation: Operation?
  package let column: String
  package let comparison: Comparison
  package let limit: Double

  /// Reads `OPERATION.COLUMN<NUMBER`, `PHASE.OPERATION.COLUMN<NUMBER` or `COLUMN<NUMBER`.
  ///
  /// - Parameter measured: names of the operations that may have been meant; nil for all.
  package init(_ text: String, suggesting measured: [String]? = nil) throws(UsageError) {
    let compact = text.filter { $0 != " " }
    var found: (Comparison, Substring, Substring)?
    // The last one: the name of a phase may hold some, a number none.
    if let end = compact.lastIndex(where: { "<>=".contains($0) }) {
      let head = compact[...end]
      for comparison in Comparison.allCases where head.hasSuffix(comparison.rawValue) {
        let name = head.dropLast(comparison.rawValue.count)
        found = (comparison, name, compact[compact.index(after: end)...])
        break
      }
    }
    guard let (comparison, name, number) = found, let limit = Units.number(number) else {
      throw UsageError(
        "--threshold: '\(text)' is not of the form 'write.response_p99_ns<2000000' "
          + "(< <= > >= ==, the number in the column's unit)")
    }
    self.text = text
    self.comparison = comparison
    self.limit = limit
    let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    switch parts.count {
    case 1:
      (phase, operation) = (nil, nil)
      column = try Self.known(
        parts[0], in: Self.growthColumns, kind: "a numeric column of growth.csv")
    default:
      // A phase may have dots in its name.
      phase = parts.count == 2 ? nil : parts.dropLast(2).joined(separator: ".")
      let operations = Operation.allCases.map(\.rawValue)
      operation = Operation(
        rawValue: try Self.known(
          parts[parts.count - 2], in: operations, suggesting: measured, kind: "an operation"))
      column = try Self.known(
        parts[parts.count - 1], in: Self.summaryColumns, kind: "a numeric column of summary.csv")
    }
  }

  /// Refuses what this run leaves empty, before anything starts.
  package func validate(for settings: RunSettings) throws(UsageError) {
    guard let operation else { return try validateGrowth(for: settings) }
    let measured = settings.operationsMeasured
    guard measured.contains(operation) else {
      throw UsageError(
        "--threshold '\(text)': this run measures no '\(operation.rawValue)' "
          + "(only \(measured.map(\.rawValue).joined(separator: ", ")))")
    }
    let measuredIn = try phase(of: settings)
    let openLoopOnly =
      column.hasPrefix("response_")
      || ["late", "skipped", "target_rate_per_s"].contains(column)
    let isOpenLoop =
      settings.openLoop.contains(operation)
      && (measuredIn.step == nil
        || settings.ratePerSecond(of: operation.rawValue, in: measuredIn) != nil)
    if openLoopOnly && !isOpenLoop {
      throw UsageError(
        "--threshold '\(text)': a closed loop leaves '\(column)' empty; "
          + (settings.scheduled.contains(operation)
            ? "give --rate, or use a service_ column" : "use a service_ column"))
    }
    let ofCommits = ["syncs_per_commit", "written_bytes_per_commit", "system_calls_per_commit"]
    if ofCommits.contains(column) && !operation.commits {
      let committing = measured.filter(\.commits).map { "'\($0.rawValue)'" }
      throw UsageError(
        "--threshold '\(text)': only \(committing.joined(separator: ", ")) has '\(column)'")
    }
    try validateThreads(operation, in: measuredIn, settings)
    if GateRow.notAlwaysCounted.contains(column), let reason = reasonNotCounted(operation, settings)
    {
      throw UsageError("--threshold '\(text)': \(reason)")
    }
  }

  /// Refuses times of what nobody does in the phase; how many there were can be asked all the same.
  private func validateThreads(
    _ operation: Operation, in phase: Phase, _ settings: RunSettings
  ) throws(UsageError) {
    let isOfEach =
      ["service_", "response_"].contains(where: column.hasPrefix)
      || ["_per_commit", "_per_operation"].contains(where: column.hasSuffix)
    let steps = phase.step.map { [$0] } ?? Array(settings.script.steps.indices)
    guard isOfEach, !steps.isEmpty,
      steps.allSatisfy({ settings.threads(of: operation, in: .step($0)) == 0 })
    else { return }
    throw UsageError(
      "--threshold '\(text)': no thread does '\(operation.rawValue)' in "
        + (phase.step.map { "the phase '\(settings.script.steps[$0].name)'" } ?? "any phase")
        + ", so '\(column)' stays empty")
  }

  /// Why a column of what is counted beside time stays empty, if it does.
  private func reasonNotCounted(_ operation: Operation, _ settings: RunSettings) -> String? {
    if settings.processes > 1 {
      return "with --processes '\(column)' stays empty, since each process counts its own"
    }
    if column == GateRow.systemCalls {
      let other = settings.engines.first { $0 != RealmDescription.name }
      return other.map { "\($0) does not count '\(column)', which stays empty" }
    }
    if !settings.workload.facts.countsWork(of: operation) {
      return "'\(operation)' is not done by one thread from its begin to its end, so '\(column)' "
        + "stays empty"
    }
    if column == GateRow.allocations {
      return ThreadWork.countsAllocations
        ? nil : "a build with a sanitizer counts no allocations; use one without"
    }
    return ThreadWork.countsInstructions
      ? nil
      : "nobody can count instructions here ('\(Tool.current.invocation) doctor' says more); "
        + "'\(GateRow.allocations)' is counted everywhere"
  }

  /// The phase whose figure it is.
  package func phase(of settings: RunSettings) throws(UsageError) -> Phase {
    // As the rows of all phases together have it.
    guard let phase, phase != operation?.phase.name else { return operation?.phase ?? .measure }
    let names = settings.script.steps.map(\.name)
    if let number = names.firstIndex(of: phase) { return .step(number) }
    let nearest = nearestName(phase, in: names).map { "; did you mean '\($0)'?" }
    throw UsageError(
      "--threshold '\(text)': '\(phase)' is no phase of this run"
        + (names.isEmpty ? ", which has no plan with phases" : nearest ?? ""))
  }

  private func validateGrowth(for settings: RunSettings) throws(UsageError) {
    for name in settings.engines
    where EngineKind.named(name)?.facts?.untold.contains(column) == true {
      throw UsageError(
        "--threshold '\(text)': \(name) does not tell '\(column)', which stays empty")
    }
    let ofOneProcess = ["syncs", "written_bytes", "resident_bytes", "allocated_bytes"]
    if settings.processes > 1 && ofOneProcess.contains(column) {
      throw UsageError(
        "--threshold '\(text)': with --processes '\(column)' stays empty in growth.csv, since each "
          + "process has its own")
    }
    if column == "walked_bytes" && !settings.workload.facts.recovers {
      let walking = WorkloadKind.allCases.filter { $0.facts.recovers }.map(\.rawValue)
      throw UsageError(
        "--threshold '\(text)': only \(walking.joined(separator: ", ")) has '\(column)'")
    }
  }

  /// Whether a cell meets the condition; an empty cell does not.
  package func isMet(by cell: String?) -> Bool {
    guard let cell, let value = Double(cell) else { return false }
    switch comparison {
    case .atMost: return value <= limit
    case .atLeast: return value >= limit
    case .equal: return value == limit
    case .below: return value < limit
    case .above: return value > limit
    }
  }

  private static let nonNumeric: Set<String> = [
    "schema_version", "run_id", "replica", "seed", "engine", "durability", "workload", "operation",
    "phase", "load",
  ]
  private static let summaryColumns = ResultSchema.summaryColumns.filter {
    !nonNumeric.contains($0)
  }
  private static let growthColumns = ResultSchema.growthColumns.filter { !nonNumeric.contains($0) }

  private static func known(
    _ name: String, in names: [String], suggesting near: [String]? = nil, kind: String
  ) throws(UsageError) -> String {
    if names.contains(name) { return name }
    let nearest = nearestName(name, in: near ?? names).map { "; did you mean '\($0)'?" } ?? ""
    throw UsageError("--threshold: '\(name)' is not \(kind)\(nearest)")
  }
}
