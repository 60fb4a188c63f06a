// Looks for the largest rate that keeps a limit: by the model's answer first, then by runs in open
// loop that close in on it from both sides; and the same with the model alone.
internal import Foundation

/// A search by runs.
struct PlanSearch {
  let variable: PlanVariable
  let metric: PlanMetric
  let limit: Double
  let setting: PlanSetting
  let seconds: Double
  /// A rate is not sustained when what was due takes longer than the phase by more than this share.
  private static let overtimeMax = 0.1
  private(set) var tries = 0
  private(set) var observations: [PlanObservation] = []

  init(
    variable: PlanVariable, metric: PlanMetric, limit: Double, setting: PlanSetting,
    seconds: Double
  ) {
    self.variable = variable
    self.metric = metric
    self.limit = limit
    self.setting = setting
    self.seconds = seconds
  }

  /// The largest rate that kept the limit; its range ends at the smallest that did not.
  ///
  /// 0 when the limit is missed down to where a run is too short to tell.
  mutating func run(from guess: Double, with runs: PlanRuns) throws -> PlanEstimate? {
    var (kept, missed): (Double?, Double?) = (nil, nil)
    var rate = guess
    let reserve = runs.secondsLeft / 4
    while tries < 10 && (runs.secondsLeft > max(seconds * 2, reserve) || tries == 0) {
      if length(rate) > seconds * 8, kept == nil {
        return missed.map { PlanEstimate(0, low: 0, high: $0) }
      }
      guard let isKept = try isKept(at: rate, runs) else { return nil }
      if isKept { kept = max(kept ?? 0, rate) } else { missed = min(missed ?? .infinity, rate) }
      // A slow moment may refuse what a larger rate has kept: the smaller range counts.
      if let k = kept, let m = missed, m <= k { kept = m / 1.1 }
      switch (kept, missed) {
      case (let kept?, let missed?):
        if missed / kept < 1.05 { return PlanEstimate(kept, low: kept * 0.95, high: missed) }
        rate = (kept * missed).squareRoot()
      case (let kept?, nil): rate = kept * 1.3
      case (nil, let missed?): rate = missed / 1.5
      case (nil, nil): return nil
      }
    }
    guard let kept else { return missed.map { PlanEstimate(0, low: 0, high: $0) } }
    return PlanEstimate(kept, low: kept * 0.9, high: missed ?? kept * 1.3)
  }

  private func length(_ rate: Double) -> Double {
    var asked = setting
    variable.set(rate, in: &asked)
    return PlanExperiments.length(metric, asked, atLeast: seconds)
  }

  private mutating func isKept(at rate: Double, _ runs: PlanRuns) throws -> Bool? {
    var asked = setting
    variable.set(rate, in: &asked)
    if let between = asked.commitsBetweenPins {
      asked.pinEvery = between
      asked.ageSeconds = nil
    }
    let experiment = PlanExperiment(setting: asked, length: .seconds(length(rate)))
    guard let observation = try runs.run(experiment, for: "search") else { return nil }
    tries += 1
    observations.append(observation)
    // What is not known is not kept; nor is a limit that holds only until the queue has grown.
    guard let measured = observation.measured(metric) else { return false }
    return measured < limit && observation.overtime < Self.overtimeMax
  }
}

/// The largest value of a variable by the model.
struct PlanInversion {
  private let model: PlanModel

  init(_ model: PlanModel) { self.model = model }

  /// 0 where no value keeps the limit; nil where the model knows nothing of the metric.
  func largest(
    _ variable: PlanVariable, _ metric: PlanMetric, _ limit: Double, _ setting: PlanSetting
  ) -> PlanEstimate? {
    func ends(_ part: (PlanEstimate) -> Double) -> Double? {
      var (low, high) = (range(variable, setting).lowerBound, range(variable, setting).upperBound)
      func isKept(_ value: Double) -> Bool? {
        var asked = setting
        variable.set(value, in: &asked)
        return model.estimate(metric, asked).map { part($0) < limit }
      }
      guard let isLowest = isKept(low) else { return nil }
      if !isLowest { return 0 }
      if isKept(high) == true { return high }
      for _ in 0..<40 where high / low > 1.02 {
        let middle = (low * high).squareRoot()
        if isKept(middle) == true { low = middle } else { high = middle }
      }
      return low
    }
    guard let value = ends(\.value), let low = ends(\.high), let high = ends(\.low) else {
      return nil
    }
    return PlanEstimate(value, low: low, high: high)
  }

  private func range(_ variable: PlanVariable, _ setting: PlanSetting) -> ClosedRange<Double> {
    switch variable {
    case .rate:
      // A queue that is full has no percentiles to halve by.
      1...(max(2, (model.queue(.write, setting)?.capacity ?? 1e6) * 0.999))
    case .readRate: 1...max(2, (model.reads(setting)?.value ?? 1e9))
    case .pins: 1...1e5
    case .age: 0.001...(86_400 * 365)
    case .objects: max(1, setting.batch)...1e9
    case .batch: 1...setting.objects
    }
  }
}
