// Everything that was measured, and what follows from it for a setting that was not: the file by
// blocks that pins hold, response times by a queue with measured service times, reads by cores.
// Causes first; regression only for what they leave over.
internal import Foundation
internal import Platform

/// Where an answer goes beyond what was measured.
package struct PlanExtrapolation: Equatable, Sendable {
  package var name: String
  package var asked: Double
  package var measured: ClosedRange<Double>
  /// Whether the model's law is known to hold that far.
  package var isVouched: Bool

  package var factor: Double {
    asked > measured.upperBound
      ? asked / max(measured.upperBound, 1e-12) : measured.lowerBound / max(asked, 1e-12)
  }

  package var text: String {
    func number(_ value: Double) -> String {
      value < 10 && value != value.rounded()
        ? decimal(value, places: 4) : PlanSetting.count(value.rounded())
    }
    let range =
      measured.lowerBound == measured.upperBound
      ? number(measured.lowerBound)
      : "\(number(measured.lowerBound)) to \(number(measured.upperBound))"
    return "\(name) \(number(asked)) is \(decimal(factor, places: 1)) times beyond what was "
      + "measured (\(range))" + (isVouched ? "" : ", too far to vouch for")
  }
}

/// Predicts figures of settings.
package struct PlanModel: Sendable {
  package let observations: [PlanObservation]
  package let machine: MachineCosts
  package let space: SpaceModel?
  private let memory: [Double]
  private let memoryError: Double
  private let writeCosts: [Double]
  /// Length of the runs whose percentiles are predicted.
  package var runSeconds = 5.0

  package init(_ observations: [PlanObservation], machine: MachineCosts) {
    self.observations = observations
    self.machine = machine
    space = SpaceModel(observations)
    // The process itself, the pages of the file that it touches, and what each pin costs beside.
    let resident = observations.compactMap { run in
      run.residentBytes.flatMap { bytes in
        run.space.map(\.file).max().map { file in
          ([1, file, run.setting.pins], bytes)
        }
      }
    }
    memory = LeastSquares.fit(resident.map(\.0), resident.map(\.1))
    var residuals = PlanResiduals()
    for (causes, bytes) in resident {
      residuals.add(predicted: LeastSquares.value(memory, causes), measured: bytes)
    }
    memoryError = residuals.relativeError(least: 0.05)
    let writes = observations.filter { $0.distributions[.write] != nil }
    writeCosts = LeastSquares.fit(
      writes.map { Self.writeCauses($0.setting, $0.syncTime) },
      writes.map { $0.distributions[.write]!.mean })
  }

  /// What a transaction's time is made of: itself, its objects, their ways through the trees, the
  /// syncs.
  private static func writeCauses(_ setting: PlanSetting, _ syncTime: Double) -> [Double] {
    [1, setting.batch, setting.batch * log2(max(2, setting.objects)), syncTime]
  }

  // MARK: - Answers

  /// What a metric is in a setting; nil when nothing was measured that tells of it.
  package func estimate(_ metric: PlanMetric, _ asked: PlanSetting) -> PlanEstimate? {
    let setting = resolved(asked)
    switch metric {
    case .fileBytes, .liveBytes, .heldBytes, .growthPerCommit:
      return space?.estimate(metric, setting)
    case .memoryBytes:
      guard let space, !memory.isEmpty else { return nil }
      let file = space.value(.fileBytes, setting)
      return PlanEstimate(
        LeastSquares.value(memory, [1, file, setting.pinsKept]), relativeError: memoryError)
    case .rate(.write):
      guard let queue = queue(.write, setting) else { return nil }
      let error = spread(.write, setting)
      let capacity = PlanEstimate(queue.capacity, relativeError: error)
      guard let rate = setting.ratePerSecond else { return capacity }
      return PlanEstimate(
        min(rate, capacity.value), low: min(rate, capacity.low), high: min(rate, capacity.high))
    case .rate:
      return reads(setting)
    case .latency(let operation, let column):
      return latency(operation, column, setting)
    }
  }

  /// A share of what a closed loop does becomes a rate.
  package func resolved(_ setting: PlanSetting) -> PlanSetting {
    var resolved = setting
    if let load = setting.load, let queue = queue(.write, setting) {
      resolved.ratePerSecond = load * queue.capacity
      resolved.load = nil
    }
    return resolved
  }

  private func latency(
    _ operation: Operation, _ column: String, _ setting: PlanSetting
  ) -> PlanEstimate? {
    guard let queue = queue(operation, setting), let share = Self.share(column) else { return nil }
    let rate = operation == .write ? setting.ratePerSecond : setting.readRatePerSecond
    let error = spread(operation, setting)
    if column.hasPrefix("response_"), let rate {
      let estimate = queue.response(ratePerSecond: rate, share: share, seconds: runSeconds)
      // A service time that is off by some share moves a queue by more, the more so near its
      // capacity. Beyond its capacity a queue only grows, as long as the run is: that says nothing.
      let load = rate / queue.capacity
      var slower = queue
      slower.scale *= load < 0.96 ? min(exp(1.645 * error), 0.97 / load) : exp(1.645 * error)
      var faster = queue
      faster.scale *= exp(-1.645 * error)
      let high = slower.response(ratePerSecond: rate, share: share, seconds: runSeconds).high
      let low = faster.response(ratePerSecond: rate, share: share, seconds: runSeconds).low
      return PlanEstimate(estimate.value, low: low, high: high)
    }
    let source = rate == nil ? queue.busy : queue.idle
    return PlanEstimate(
      source.quantile(share) * queue.scale + queue.shift, relativeError: max(error, 0.1))
  }

  /// The share that a column such as `response_p99_9_ns` stands for.
  static func share(_ column: String) -> Double? {
    Percentile.allCases.first { column.hasSuffix("_\($0.rawValue)_ns") }
      .map { Double($0.partsPer10000) / 10_000 }
  }

  // MARK: - Queues

  /// The queue of an operation in a setting, by the nearest runs.
  package func queue(_ operation: Operation, _ setting: PlanSetting) -> QueueModel? {
    let runs = observations.filter { run in
      run.distributions[operation] != nil
        && (operation == .read || run.setting.durability == setting.durability)
    }.sorted { distance($0.setting, setting) < distance($1.setting, setting) }
    func isOpen(_ run: PlanObservation) -> Bool {
      (operation == .read ? run.setting.readRatePerSecond : run.setting.ratePerSecond) != nil
    }
    let closed = runs.first { !isOpen($0) }
    guard let busyRun = closed ?? runs.first, let busy = busyRun.distributions[operation] else {
      return nil
    }
    let servers = max(1, operation == .read ? setting.readers : setting.writers)
    var queue = QueueModel(
      measured: [(1, busy)], startDelay: 20_000, servers: servers, arrivals: setting.arrivals)
    // Open loops of the same kind of load tell how an engine does that is idle in between.
    let farthest = distance(busyRun.setting, setting) + 0.7
    for run in runs where isOpen(run) && distance(run.setting, setting) <= farthest {
      guard let service = run.distributions[operation] else { continue }
      let rate = operation == .read ? run.setting.readRatePerSecond : run.setting.ratePerSecond
      let load = (rate ?? 0) * busy.mean / 1e9 / servers
      guard load < 0.97, queue.measured.allSatisfy({ abs($0.load - load) > 0.05 }) else { continue }
      if load < 0.6, queue.measured.count == 1,
        let response = run.figure(operation, "response_p50_ns"),
        let service = run.figure(operation, "service_p50_ns")
      {
        queue.startDelay = max(0, response - service)
      }
      queue.measured.append((load, service))
    }
    queue.measured.sort { $0.load < $1.load }
    if operation == .write {
      if let sync = setting.syncNanoseconds, setting.durability == .full {
        queue.shift =
          (busyRun.syncsPerCommit ?? 1)
          * (sync - (busyRun.rawSyncNanoseconds ?? machine.syncNanoseconds ?? sync))
      }
      let syncTime = busyRun.syncTime
      let base = LeastSquares.value(writeCosts, Self.writeCauses(busyRun.setting, syncTime))
      let here = LeastSquares.value(writeCosts, Self.writeCauses(setting, syncTime))
      if base > 0 && here > 0 { queue.scale = here / base }
    }
    return queue
  }

  /// How far two settings are apart, in natural logarithms of what matters to time.
  private func distance(_ first: PlanSetting, _ second: PlanSetting) -> Double {
    func step(_ a: Double, _ b: Double, _ weight: Double) -> Double {
      weight * abs(log((a + 1) / (b + 1)))
    }
    return step(first.batch, second.batch, 2) + step(first.objects, second.objects, 0.3)
      + step(first.valueBytes, second.valueBytes, 0.5) + step(first.readers, second.readers, 1)
      + step(first.pins, second.pins, 0.1) + step(first.writers, second.writers, 2)
  }

  /// One standard deviation of the mean service time of a run like this one: by how much half
  /// seconds of the nearest run differ, and what the regression leaves over where no run is like
  /// it.
  private func spread(_ operation: Operation, _ setting: PlanSetting) -> Double {
    let runs = observations.filter { run in
      run.distributions[operation] != nil
        && (operation == .read || run.setting.durability == setting.durability)
    }
    guard
      let nearest = runs.min(by: { distance($0.setting, setting) < distance($1.setting, setting) })
    else { return 0.2 }
    let stretches = nearest.distributions[operation]?.stretches ?? []
    let own =
      stretches.isEmpty
      ? 0.1
      : (stretches.reduce(0) { $0 + ($1 - 1) * ($1 - 1) } / Double(stretches.count)).squareRoot()
    var error = max(0.06, own / 2)
    if operation == .write && distance(nearest.setting, setting) > 0.3 {
      var residuals = PlanResiduals()
      for run in runs where run.distributions[operation] != nil {
        residuals.add(
          predicted: LeastSquares.value(writeCosts, Self.writeCauses(run.setting, run.syncTime)),
          measured: run.distributions[operation]!.mean)
      }
      error = (error * error + pow(residuals.relativeError(least: 0.08), 2)).squareRoot()
    }
    return min(0.3, error)
  }

  // MARK: - Reads and cores

  /// Reads a second of readers in a closed loop, on as many cores as there are or as are asked for.
  package func reads(_ setting: PlanSetting) -> PlanEstimate? {
    guard let scaling = ReadScaling(observations) else { return nil }
    let cores = setting.cores ?? machine.cores
    let value = scaling.readsPerSecond(threads: min(max(1, setting.readers), cores))
    let capped = min(value, readsByMemory(setting))
    return PlanEstimate(
      min(capped, setting.readRatePerSecond ?? .infinity), relativeError: scaling.error)
  }

  /// Reads that the memory can bring: an object's bytes, and as many lines again for the way to it.
  package func readsByMemory(_ setting: PlanSetting) -> Double {
    machine.memoryBytesPerSecond / (setting.valueBytes + 8 * 64 + 8 * 8)
  }

  /// How many readers get their rate.
  package func readers(
    readsPerSecond: Double, cores: Double, _ setting: PlanSetting
  ) -> PlanEstimate? {
    var all = setting
    all.cores = cores
    all.readers = cores
    all.readRatePerSecond = nil
    guard let total = reads(all), let scaling = ReadScaling(observations) else { return nil }
    // A writer takes its part of a core.
    var writing = 0.0
    if setting.ratePerSecond != nil || setting.load != nil, let queue = queue(.write, setting),
      let rate = resolved(setting).ratePerSecond
    {
      writing = min(1, rate / queue.capacity)
    }
    let left = max(0, 1 - writing / cores)
    func count(_ reads: Double) -> Double {
      // A single reader cannot do more than a core does.
      scaling.readsPerSecond(threads: 1) < readsPerSecond
        ? 0 : (reads * left / readsPerSecond).rounded(.down)
    }
    return PlanEstimate(count(total.value), low: count(total.low), high: count(total.high))
  }
}

extension PlanObservation {
  /// Time of the syncs of a commit, by what a sync of the disk takes alone.
  var syncTime: Double {
    setting.durability == .full ? (syncsPerCommit ?? 1) * (rawSyncNanoseconds ?? 0) : 0
  }
}

/// Reads by threads, with the share that does not scale (Amdahl).
struct ReadScaling {
  private let one: Double
  private let contention: Double
  let error: Double

  init?(_ observations: [PlanObservation]) {
    let runs = observations.compactMap { run -> (threads: Double, rate: Double)? in
      guard run.setting.readers > 0, run.setting.readRatePerSecond == nil,
        let rate = run.figure(.read, "rate_per_s"), rate > 0
      else { return nil }
      // More threads than cores have no more time than the cores.
      let busy = run.setting.readers + (run.setting.ratePerSecond == nil ? run.setting.writers : 0)
      return (run.setting.readers * min(1, run.cores / busy), rate)
    }
    guard !runs.isEmpty else { return nil }
    // rate = n·r / (1 + s·(n−1)), so n / rate = 1/r + s/r·(n−1).
    let causes = LeastSquares.fit(
      runs.map { [1, max(0, $0.threads - 1)] }, runs.map { $0.threads / $0.rate })
    guard causes[0] > 0 else { return nil }
    one = 1 / causes[0]
    contention = causes[1] / causes[0]
    var residuals = PlanResiduals()
    for run in runs {
      let predicted = run.threads * one / (1 + contention * max(0, run.threads - 1))
      residuals.add(predicted: predicted, measured: run.rate)
    }
    error = residuals.relativeError(least: 0.05)
  }

  func readsPerSecond(threads: Double) -> Double {
    threads * one / (1 + contention * max(0, threads - 1))
  }
}
