// Everything that was measured, and what follows from it for a setting that was not: the file by
// blocks that pins hold, response times by a queue with measured service times, reads by cores.
// Causes first; regression only for what they leave over.
internal import Foundation
internal import Platform

/// Predicts figures of settings.
package struct PlanModel: Sendable {
  package let observations: [PlanObservation]
  package let machine: MachineCosts
  package let space: SpaceModel?
  private let memory: CauseModel
  private let hasMemory: Bool
  private let writeCosts: CauseModel
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
          CauseModel.Equation([1, file, run.setting.pins], bytes)
        }
      }
    }
    hasMemory = !resident.isEmpty
    memory = CauseModel(
      [.init(45e6, spread: 3e7), .init(1.3, spread: 0.6), .init(20_000, spread: 40_000)],
      resident, noise: 0.1)
    writeCosts = Self.writeCosts(observations)
  }

  /// What is known of a transaction's time before any run, in nanoseconds of a usual machine.
  private static let usualCosts = [20_000.0, 3_000, 300, 2]

  private static func writeCosts(_ observations: [PlanObservation]) -> CauseModel {
    let writes = observations.compactMap { run in
      run.distributions[.write].map {
        CauseModel.Equation(writeCauses(run.setting, run.syncTime), $0.mean)
      }
    }
    // The machine may be any number of times as fast; the causes keep their shares.
    let times = writes.map { equation in
      let usual = zip(usualCosts, equation.row).reduce(0) { $0 + $1.0 * $1.1 }
      return max(0.1 * equation.target, equation.target - (equation.row.last ?? 0)) / usual
    }
    let machine = times.isEmpty ? 1 : max(1e-3, median(times))
    return CauseModel(
      usualCosts.map { CauseModel.Cause($0 * machine, spread: $0 * machine) }
        + [.init(1, spread: 0.5)], writes, noise: 0.08)
  }

  /// What a transaction's time is made of: itself, its objects, their ways through the trees,
  /// their values, the syncs.
  ///
  /// A leaf is written again whole: only a value that is longer than one takes longer than others.
  private static func writeCauses(_ setting: PlanSetting, _ syncTime: Double) -> [Double] {
    [
      1, setting.batch, setting.batch * log2(max(2, setting.objects)),
      setting.batch * max(0, setting.valueBytes - SpaceModel.leafBytes), syncTime,
    ]
  }

  // MARK: - Answers

  /// What a metric is in a setting; nil when nothing was measured that tells of it.
  package func estimate(_ metric: PlanMetric, _ asked: PlanSetting) -> PlanEstimate? {
    let setting = resolved(asked)
    switch metric {
    case .fileBytes, .liveBytes, .heldBytes, .growthPerCommit:
      return space?.estimate(metric, setting)
    case .memoryBytes:
      guard let space, hasMemory else { return nil }
      let file = space.value(.fileBytes, setting)
      let causes = [1, file, setting.pinsKept]
      let value = memory.value(causes)
      let ofFile = memory.weights[1] * file * space.spread(.fileBytes, setting)
      let unknown = (pow(memory.spread(causes), 2) + ofFile * ofFile).squareRoot() / max(1, value)
      return PlanEstimate(
        value, relativeError: (pow(memory.noise, 2) + unknown * unknown).squareRoot())
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
      return latency(operation, column, setting, isByLoad: asked.load != nil)
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
    _ operation: Operation, _ column: String, _ setting: PlanSetting, isByLoad: Bool
  ) -> PlanEstimate? {
    guard let queue = queue(operation, setting), let share = Self.share(column) else { return nil }
    let rate = operation == .write ? setting.ratePerSecond : setting.readRatePerSecond
    let error = spread(operation, setting)
    if column.hasPrefix("response_"), let rate {
      return response(queue, ratePerSecond: rate, share, error: error, isByLoad: isByLoad)
    }
    let source = rate == nil ? queue.busy : queue.idle
    // Writers that are never idle wait for each other within their transactions.
    let waiting = operation == .write && rate == nil ? max(1, setting.writers) / queue.servers : 1
    return PlanEstimate(
      (source.quantile(share) * queue.scale + queue.shift) * waiting,
      relativeError: max(error, 0.1))
  }

  /// - Parameter error: one standard deviation of the mean service time, as a share.
  /// - Parameter isByLoad: whether the rate is a share of what a closed loop does: then that is off
  ///   by as much, and the load by what two runs of the same differ by.
  private func response(
    _ queue: QueueModel, ratePerSecond rate: Double, _ share: Double, error: Double,
    isByLoad: Bool
  ) -> PlanEstimate {
    func estimate(_ scale: Double, _ rate: Double) -> PlanEstimate {
      var scaled = queue
      scaled.scale *= scale
      return scaled.response(ratePerSecond: rate, share: share, seconds: runSeconds)
    }
    let factor = exp(1.645 * error)
    // A service time that is off by some share moves a queue by more, the more so near its
    // capacity. Beyond its capacity a queue only grows, as long as the run is: that says nothing.
    let load = rate / queue.capacity
    let mostLoaded = max(1, 0.97 / load)
    let value = estimate(1, rate).value
    guard isByLoad else {
      let slower = load < 0.96 ? min(factor, mostLoaded) : factor
      return PlanEstimate(
        value, low: estimate(1 / factor, rate).low, high: estimate(slower, rate).high)
    }
    // Two closed loops of the same setting differ by a tenth.
    return PlanEstimate(
      value, low: estimate(1 / factor, rate * factor / 1.1).low,
      high: estimate(factor, rate / factor * min(1.1, mostLoaded)).high)
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
    // An open loop tells less of a capacity than a closed one, but more than one of another load.
    let closed = runs.first {
      !isOpen($0)
        && distance($0.setting, setting) < distance(runs[0].setting, setting) + Self.likeness
    }
    guard let busyRun = closed ?? runs.first, let busy = busyRun.distributions[operation] else {
      return nil
    }
    let servers = operation == .read ? max(1, setting.readers) : writers(setting, like: busyRun)
    var queue = QueueModel(
      measured: [(1, busy)], startDelay: 20_000, servers: servers, arrivals: setting.arrivals)
    // Open loops of the same load tell how an engine does that is idle in between.
    for run in runs where isOpen(run) && distance(run.setting, busyRun.setting) < Self.likeness {
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
    // What disturbs a machine disturbs any setting. Only runs with pins grow slower by themselves.
    queue.stretches = runs.filter { $0.setting.pins == 0 || setting.pins > 0 }
      .compactMap { $0.distributions[operation]?.stretches }.filter { !$0.isEmpty }
    queue.syncNanoseconds = busyRun.rawSyncNanoseconds ?? machine.syncNanoseconds
    if operation == .read {
      queue.scale = Self.readCost(setting) / Self.readCost(busyRun.setting)
    } else {
      if let sync = setting.syncNanoseconds, setting.durability == .full {
        queue.shift =
          (busyRun.syncsPerCommit ?? 1)
          * (sync - (queue.syncNanoseconds ?? sync))
      }
      let syncTime = busyRun.syncTime
      let base = writeCosts.value(Self.writeCauses(busyRun.setting, syncTime))
      let here = writeCosts.value(Self.writeCauses(setting, syncTime))
      if base > 0 && here > 0 { queue.scale = here / base }
    }
    return queue
  }

  /// How many writers work side by side: transactions follow each other, and only the syncs of
  /// several are shared.
  private func writers(_ setting: PlanSetting, like run: PlanObservation) -> Double {
    let (asked, measured) = (max(1, setting.writers), max(1, run.setting.writers))
    guard asked > measured, let mean = run.distributions[.write]?.mean else { return asked }
    let alone = max(0.05 * mean, mean - run.syncTime)
    return measured * min(asked / measured, max(1, mean / alone))
  }

  /// Loads that are nearer than this are taken for the same.
  private static let likeness = 0.3

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
    // What the next run of the same is off by is of longer stretches than what fills a queue.
    let own = nearest.distributions[operation]?.deviation(ofNanoseconds: 5e8) ?? 0.1
    var error = max(0.06, own / 2)
    func add(_ more: Double) { error = (error * error + more * more).squareRoot() }
    if operation == .read {
      add(Self.unlikeReads(nearest.setting, setting))
    } else if distance(nearest.setting, setting) > Self.likeness {
      add(writeCosts.noise)
      add(
        writeCosts.relativeSpread(
          Self.writeCauses(setting, nearest.syncTime),
          over: Self.writeCauses(nearest.setting, nearest.syncTime)))
      // What objects of one transaction share is not in the regression.
      add(0.2 * abs(log((setting.batch + 1) / (nearest.setting.batch + 1))))
      add(
        0.15
          * abs(log((setting.valueBytes + 256) / (nearest.setting.valueBytes + 256))))
      // How much of what several writers do is shared has to be measured.
      add(0.4 * abs(log(max(1, setting.writers) / max(1, nearest.setting.writers))))
    }
    return min(1, error)
  }

  /// One standard deviation of what reads of another file and other values take, as a share.
  static func unlikeReads(_ measured: PlanSetting, _ asked: PlanSetting) -> Double {
    // Longer ways and values, and fewer of them in a cache.
    0.4 * abs(log(readCost(asked) / readCost(measured)))
      + 0.03 * abs(log(max(1, asked.objects) / max(1, measured.objects)))
  }

  /// What a read takes, in nanoseconds of a usual machine: more for each doubling of a file that
  /// is larger than a cache, and for the bytes of its value.
  package static func readCost(_ setting: PlanSetting) -> Double {
    let file = setting.objects * (setting.valueBytes + 34)
    return 180 + 100 * log2(1 + file / 1.3e6) + 0.065 * setting.valueBytes
  }

  // MARK: - Reads and cores

  /// Reads a second of readers in a closed loop, on as many cores as there are or as are asked for.
  package func reads(_ setting: PlanSetting) -> PlanEstimate? {
    guard let scaling = ReadScaling(observations, setting) else { return nil }
    let cores = setting.cores ?? machine.cores
    let value = scaling.readsPerSecond(threads: min(max(1, setting.readers), cores))
    let capped = min(value, readsByMemory(setting))
    let unlike = scaling.settings.map { Self.unlikeReads($0, setting) }.min() ?? 0
    let unknown = scaling.spread(threads: min(max(1, setting.readers), cores))
    let error = (pow(scaling.error, 2) + unlike * unlike + unknown * unknown).squareRoot()
    let rate = setting.readRatePerSecond ?? .infinity
    let estimate = PlanEstimate(capped, relativeError: error)
    return PlanEstimate(
      min(rate, estimate.value), low: min(rate, estimate.low), high: min(rate, estimate.high))
  }

  /// Reads that the memory can bring: an object's bytes, and as many lines again for the way to it.
  package func readsByMemory(_ setting: PlanSetting) -> Double {
    guard let bytes = machine.memoryBytesPerSecond else { return .infinity }
    return bytes / (setting.valueBytes + 8 * 64 + 8 * 8)
  }

  /// How many readers get their rate.
  package func readers(
    readsPerSecond: Double, cores: Double, _ setting: PlanSetting
  ) -> PlanEstimate? {
    var all = setting
    all.cores = cores
    all.readers = cores
    all.readRatePerSecond = nil
    guard let total = reads(all), let scaling = ReadScaling(observations, setting) else {
      return nil
    }
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
  private let costs: CauseModel
  let error: Double
  /// What was measured.
  let settings: [PlanSetting]

  init?(_ observations: [PlanObservation], _ asked: PlanSetting) {
    let runs = observations.compactMap { run -> (threads: Double, rate: Double, PlanSetting)? in
      guard run.setting.readers > 0, run.setting.readRatePerSecond == nil,
        let rate = run.figure(.read, "rate_per_s"), rate > 0
      else { return nil }
      let cost = PlanModel.readCost(run.setting) / PlanModel.readCost(asked)
      return (run.busyReaders, rate * cost, run.setting)
    }
    guard !runs.isEmpty else { return nil }
    settings = runs.map(\.2)
    // rate = n·r / (1 + s·(n−1)), so n / rate = 1/r + s/r·(n−1).
    let usual = median(runs.map { $0.threads / $0.rate })
    costs = CauseModel(
      [.init(usual, spread: usual), .init(usual * 0.03, spread: usual * 0.06)],
      runs.map { .init([1, max(0, $0.threads - 1)], $0.threads / $0.rate) }, noise: 0.05)
    guard costs.weights[0] > 0 else { return nil }
    error = costs.noise
  }

  func readsPerSecond(threads: Double) -> Double {
    threads / costs.value([1, max(0, threads - 1)])
  }

  /// One standard deviation of what the runs have not told, as a share.
  func spread(threads: Double) -> Double {
    costs.relativeSpread([1, max(0, threads - 1)])
  }
}
