// What one of the processes of a run has left in its folder, as figures again.
internal import Foundation

/// The results of one process of `run --processes`.
struct MemberResults {
  let document: RunDocument
  /// Of the measured phase.
  let measurements: Measurements
  let ledger: InvariantLedger
  /// By operation, of each interval of the measured phase.
  let rates: [Operation: [Double]]
  private let sampleRows: [[String: String]]
  private let settings: RunSettings

  init(_ folder: String, _ settings: RunSettings) throws {
    self.settings = settings
    let run = try MeasuredRun(folder: folder)
    document = run.document
    let operations = settings.operationsMeasured
    measurements = Measurements(operations, openLoop: settings.openLoop)
    measurements.phase = .measure
    for (operation, figures) in zip(operations, measurements.figures) {
      let name = "\(folder)/histograms/\(operation.rawValue)"
      if let service = try Self.histogram(name + ".hgrm") { figures.service.add(service) }
      let row = run.rows.first {
        $0.key.operation == operation.rawValue && $0.key.phase == Phase.measure.name
      }?.value
      figures.errors = UInt64(row?["errors"] ?? 0)
      figures.isTruncated = document.truncated?.contains(operation.rawValue) ?? false
      guard settings.openLoop.contains(operation) else { continue }
      figures.late = UInt64(row?["late"] ?? 0)
      figures.skipped = UInt64(row?["skipped"] ?? 0)
      figures.lastEnd = UInt64((row?["elapsed_s"] ?? 0) * 1e9)
      let leftOut = try Self.histogram(name + "-left-out.hgrm") ?? LatencyHistogram()
      figures.leftOut?.add(leftOut)
      if let all = try Self.histogram(name + "-response.hgrm") {
        figures.response?.add(all.without(leftOut))
      }
    }
    ledger = try Self.ledger(run, Self.threadNanoseconds(run.document, settings))
    sampleRows = try run.cells(of: "samples.csv")
    var rates: [Operation: [Double]] = [:]
    for row in sampleRows where row["metric"] == "rate" && row["phase"] == Phase.measure.name {
      guard let operation = row["operation"].flatMap(Operation.init), let text = row["value"],
        let value = Double(text)
      else { continue }
      rates[operation, default: []].append(value)
    }
    self.rates = rates
  }

  private static func histogram(_ path: String) throws -> LatencyHistogram? {
    guard let text = textOfFile(path) else { return nil }
    guard let histogram = LatencyHistogram(percentileText: text) else {
      throw ResultsError("'\(path)' is no distribution in HdrHistogram's format")
    }
    return histogram
  }

  private static func threadNanoseconds(_ document: RunDocument, _ settings: RunSettings) -> UInt64
  {
    let seconds = document.phases.filter { $0.name != Phase.load.name }
      .reduce(0) { $0 + $1.elapsedS }
    return UInt64(max(0, seconds) * 1e9) * UInt64(settings.threadsInAll ?? 1)
  }

  /// Of all its threads.
  var threadNanoseconds: UInt64 { Self.threadNanoseconds(document, settings) }

  private static func ledger(
    _ run: MeasuredRun, _ threadNanoseconds: UInt64
  ) throws -> InvariantLedger {
    var ledger = InvariantLedger()
    for row in try run.cells(of: "invariants.csv") {
      guard let invariant = row["invariant"].flatMap(Invariant.init) else { continue }
      let share = (row["cost_percent"].flatMap(Double.init) ?? 0) / 100
      ledger.count(
        invariant, checks: row["checks"].flatMap { UInt64($0) } ?? 0,
        cost: UInt64(max(0, share) * Double(threadNanoseconds)))
    }
    return ledger
  }

  var violation: Violation? {
    guard let found = document.violation, let invariant = Invariant(rawValue: found.invariant)
    else { return nil }
    return Violation(invariant, found.sentence, witness: found.witness)
  }

  var elapsedSeconds: Double {
    document.phases.first { $0.name == Phase.measure.name }?.elapsedS ?? 0
  }

  /// Writes of the measured phase.
  var transactions: UInt64 {
    zip(measurements.operations, measurements.figures).reduce(0) { sum, pair in
      pair.0.commits ? sum + pair.1.service.count : sum
    }
  }

  /// Threads that have something to do at any time.
  var busyThreads: Int {
    let waiting = settings.operationsMeasured.filter { settings.openLoop.contains($0) }
    return (settings.threadsInAll ?? 0)
      - waiting.reduce(0) { $0 + settings.threads(of: $1) / settings.processes }
  }

  /// The rows of samples.csv, of the process with this number.
  func samples(process: Int) -> [Sample] {
    sampleRows.compactMap { row in
      guard let operation = row["operation"].flatMap(Operation.init),
        let phase = Phase.own.first(where: { $0.name == row["phase"] }),
        let elapsed = row["elapsed_s"].flatMap(Double.init), let metric = row["metric"],
        let unit = row["unit"]
      else { return nil }
      let value = row["value"].flatMap { $0.isEmpty ? nil : $0 }
      var sample = Sample(
        phase: phase, elapsedSeconds: elapsed, operation: operation, metric: metric, unit: unit,
        value: value)
      sample.process = process
      return sample
    }
  }
}
