// What a run tells the planner, read from its results folder: the load, the file by interval,
// distributions of service times, and costs of the machine.
internal import Foundation

/// Which transactions lie between the pins of one moment.
package struct PlanPinAges: Equatable, Sendable {
  /// Stretches between two pins that are both there.
  package var fullIntervals: Double
  package var transactionsBetween: Double
  package var transactionsSinceLast: Double

  /// One stretch, so long that nothing is left of what there was at its begin.
  static let everythingOverwritten = PlanPinAges(
    fullIntervals: 1, transactionsBetween: .infinity, transactionsSinceLast: 0)
}

/// One interval of a run.
package struct PlanSpacePoint: Sendable {
  package var pins: Double
  package var age: PlanPinAges
  package var live: Double
  package var held: Double
  package var file: Double
}

/// One run.
package struct PlanObservation: Sendable {
  package let folder: String
  package var setting: PlanSetting
  package let rawSyncNanoseconds: Double?
  /// Those whose time its processes could use.
  package let cores: Double
  package let hardware: Hardware
  /// Why its times say little, whatever is asked.
  package let doubts: [String]
  package let syncsPerCommit: Double?
  /// Intervals of the measured phase that say how much is held.
  package private(set) var space: [PlanSpacePoint] = []
  package private(set) var residentBytes: Double?
  package let distributions: [Operation: ServiceDistribution]
  private let figures: [MeasuredRun.RowKey: [String: Double]]
  /// What the run does not know, because it left out what was due.
  private let unknown: [GateRow]
  /// How long what was due was waited for behind the end of the measured phase, as a share of it.
  package let overtime: Double

  /// Reads a run of a workload that the models know.
  ///
  /// - Parameter acceptsPartial: takes one that was interrupted or failed, with a doubt.
  package init(_ run: MeasuredRun, acceptsPartial: Bool = false) throws {
    let settings = run.document.settings
    let workloads = ["readers-writer", "pinned-growth"]
    guard workloads.contains(run.document.workload) else {
      throw ResultsError(
        "'\(run.folder)' is a run of \(run.document.workload); plan learns from "
          + workloads.joined(separator: " and "))
    }
    guard run.document.engine == "realm" else {
      throw ResultsError(
        "'\(run.folder)' is a run on \(run.document.engine); plan's models are of realm")
    }
    let isComplete = run.document.status == RunStatus.complete.rawValue
    guard isComplete || acceptsPartial else {
      throw ResultsError(
        "'\(run.folder)' holds a run that is \(run.document.status): run it again, leave it out, or "
          + "take it all the same with --partial")
    }
    guard isComplete || run.rows.keys.contains(where: { $0.phase == "measure" }) else {
      throw ResultsError(
        "'\(run.folder)' holds a run that is \(run.document.status), before anything was measured: "
          + "run it again, or leave it out")
    }
    if let script = settings.script, script != RunScript() {
      throw ResultsError(
        "'\(run.folder)' is a run of a plan file, with phases, background load or faults; plan learns "
          + "from runs whose load stays the same")
    }
    folder = run.folder
    figures = run.rows
    unknown = GateRow.unknown(in: run)
    overtime = Self.overtime(run)
    hardware = run.document.environment.hardware
    doubts =
      (isComplete ? [] : ["the run is \(run.document.status)"]) + run.document.doubts
    cores = min(
      hardware.usableCores,
      settings.processors.flatMap { Processors.count(in: $0) }.map(Double.init) ?? .infinity)
    // `Double.init` alone would take the number for bits.
    rawSyncNanoseconds = run.document.environment.rawSyncP50Ns.map { Double($0) }
    syncsPerCommit =
      run.rows.first {
        $0.key.operation == "write" && $0.key.phase == "measure"
      }?.value["syncs_per_commit"]
    setting = PlanSetting()
    distributions = try Self.distributions(run)
    setting = try Self.setting(settings, rows: run.rows)
    try readGrowth(run)
  }

  private static func overtime(_ run: MeasuredRun) -> Double {
    let measured = run.rows.filter { $0.key.phase == "measure" && $0.key.load == "open" }
    guard let phase = run.document.phases.first(where: { $0.name == "measure" })?.elapsedS,
      phase > 0, let longest = measured.values.compactMap({ $0["elapsed_s"] }).max()
    else { return 0 }
    return max(0, longest / phase - 1)
  }

  private static func setting(
    _ record: SettingsRecord, rows: [MeasuredRun.RowKey: [String: Double]]
  ) throws -> PlanSetting {
    var setting = PlanSetting()
    setting.objects = Double(record.objects)
    setting.valueBytes = try Units.valueSize(record.valueSize, flag: "value_size").mean
    setting.batch = Double(record.batch ?? 1)
    // Of several processes these are of each.
    let processes = Double(record.processes ?? 1)
    setting.readers = Double(record.readers ?? 0) * processes
    setting.writers = Double(record.writers ?? 1) * processes
    setting.ratePerSecond = record.ratePerS
    setting.readRatePerSecond = record.readRatePerS
    setting.durability = DurabilityClass(rawValue: record.durability) ?? .full
    setting.arrivals = record.arrivals.flatMap(Arrivals.init) ?? .fixed
    // Each process keeps pins of its own transactions; their numbers are those of the file, so two
    // pins are as far apart as in one process.
    setting.pins = Double(record.pins ?? 0) * processes
    if let every = record.pinEvery { setting.pinEvery = Double(every) }
    if let interval = record.pinIntervalNs.map({ Double($0) / processes }) {
      let rate = rows.first { $0.key.operation == "write" && $0.key.phase == "measure" }?
        .value["rate_per_s"]
      setting.pinEvery = rate.map { max(1, $0 * interval / 1e9) }
    }
    if let age = record.pinAgeNs, let every = setting.pinEvery, let interval = record.pinIntervalNs
    {
      // Pins that are too old go before there are too many.
      setting.pins = min(setting.pins, max(1, Double(age) / Double(interval)) * processes)
      setting.pinEvery = every
    }
    if setting.pinEvery == nil { setting.pins = 0 }
    return setting
  }

  private static func distributions(
    _ run: MeasuredRun
  ) throws -> [Operation: ServiceDistribution] {
    var distributions: [Operation: ServiceDistribution] = [:]
    for operation in [Operation.write, .read] {
      let path = "\(run.folder)/histograms/\(operation.rawValue).hgrm"
      guard let text = textOfFile(path) else { continue }
      guard let histogram = LatencyHistogram(percentileText: text) else {
        throw ResultsError("'\(path)' is no histogram in percentile format")
      }
      distributions[operation] = ServiceDistribution(
        histogram, intervals: try intervals(of: operation, run))
    }
    return distributions
  }

  /// Length, operations and mean service time of each interval of the measured phase.
  private static func intervals(
    of operation: Operation, _ run: MeasuredRun
  ) throws -> [(nanoseconds: Double, count: Double, mean: Double)] {
    var intervals: [(end: Double, count: Double?, mean: Double?)] = []
    for cells in try run.cells(of: "samples.csv")
    where cells["phase"] == "measure" && cells["operation"] == operation.rawValue {
      guard let end = cells["elapsed_s"].flatMap(Double.init),
        let value = cells["value"].flatMap(Double.init)
      else { continue }
      if intervals.last?.end != end { intervals.append((end, nil, nil)) }
      switch cells["metric"] {
      case "count": intervals[intervals.count - 1].count = value
      case "service_mean": intervals[intervals.count - 1].mean = value
      default: break
      }
    }
    return zip(intervals, intervals.dropFirst()).compactMap { before, interval in
      guard let count = interval.count, let mean = interval.mean, interval.end > before.end else {
        return nil
      }
      return (1e9 * (interval.end - before.end), count, mean)
    }
  }

  private mutating func readGrowth(_ run: MeasuredRun) throws {
    for cells in try run.cells(of: "growth.csv") where cells["phase"] == "measure" {
      let numbers = cells.compactMapValues(Double.init)
      if let resident = numbers["resident_bytes"] {
        residentBytes = max(residentBytes ?? 0, resident)
      }
      guard let live = numbers["live_bytes"], let held = numbers["held_bytes"],
        let file = numbers["file_bytes"], live > 0
      else { continue }
      let pins = numbers["pins"] ?? 0
      let between = setting.commitsBetweenPins ?? 0
      // Folders of earlier versions do not tell the transaction: then half the time since the last
      // pin.
      let since = numbers["transactions"].map { between > 0 ? $0.remainder(after: between) : 0 }
      space.append(
        PlanSpacePoint(
          pins: pins,
          age: PlanPinAges(
            fullIntervals: max(0, pins - 1), transactionsBetween: between,
            transactionsSinceLast: pins == 0 ? 0 : since ?? between / 2),
          live: live, held: held, file: file))
    }
  }

  /// A tenth of the intervals or so, evenly, and the last ones: a model needs no more.
  package var spacePoints: [PlanSpacePoint] {
    let step = max(1, space.count / 40)
    return space.indices.filter { ($0 + 1) % step == 0 }.map { space[$0] }
  }

  /// The file at the end: the mean of the last tenth of the run.
  package var lastSpace: PlanSpacePoint? {
    guard var point = space.last else { return nil }
    let tail = space.suffix(max(1, space.count / 10))
    func mean(_ part: KeyPath<PlanSpacePoint, Double>) -> Double {
      tail.reduce(0) { $0 + $1[keyPath: part] } / Double(tail.count)
    }
    point.live = mean(\.live)
    point.held = mean(\.held)
    point.file = mean(\.file)
    return point
  }

  /// What the run measured of a metric, or nil.
  package func measured(_ metric: PlanMetric) -> Double? {
    switch metric {
    case .fileBytes: return lastSpace?.file
    case .liveBytes: return lastSpace?.live
    case .heldBytes: return setting.pins > 0 ? lastSpace?.held : nil
    case .memoryBytes: return residentBytes
    case .growthPerCommit: return growthWhilePinsCame
    case .latency(let operation, let column):
      return isUnknown(metric) ? nil : figure(operation, column)
    case .rate(let operation): return figure(operation, "rate_per_s")
    }
  }

  /// Whether the run left out so much of what was due that it does not know a percentile.
  package func isUnknown(_ metric: PlanMetric) -> Bool {
    guard case .latency(let operation, let column) = metric else { return false }
    return unknown.contains { $0.row.operation == operation.rawValue && $0.metric == column }
  }

  /// While pins came: by whole stretches between two pins, since a file grows most at their begin.
  private var growthWhilePinsCame: Double? {
    let growing = space.filter { $0.pins >= 1 && $0.pins < setting.pins }
    // At the end of the first stretch nothing is left of the free space that the load has made.
    // Of fewer intervals the steps in which a file grows are too large a part.
    guard let between = setting.commitsBetweenPins, growing.count >= 8,
      let least = growing.map(\.pins).min(), let last = growing.last,
      let first = growing.last(where: { $0.pins == least }),
      last.pins > first.pins, last.file > first.file
    else { return nil }
    return (last.file - first.file) / ((last.pins - first.pins) * between)
  }

  /// Readers that had a core at a time: more threads than cores have no more time than the cores.
  package var busyReaders: Double {
    let threads = setting.readers + (setting.ratePerSecond == nil ? setting.writers : 0)
    return setting.readers * min(1, cores / max(1, threads))
  }

  package func figure(_ operation: Operation, _ column: String) -> Double? {
    figures.first { $0.key.operation == operation.rawValue && $0.key.phase == "measure" }?
      .value[column]
  }
}

extension Double {
  /// What is left after the largest multiple of `step` that is not above.
  fileprivate func remainder(after step: Double) -> Double {
    self - (self / step).rounded(.down) * step
  }
}
