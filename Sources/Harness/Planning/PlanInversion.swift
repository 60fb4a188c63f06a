// The largest value of a variable that keeps a limit, by the model: where it has an end in the
// range that is searched, and whether the condition holds in all of the range or nowhere in it.
internal import Foundation

/// What a search says where its answer is not a value in between.
package enum PlanBound: Equatable, Sendable {
  /// The limit is kept in all of what was searched, up to here.
  case least(upTo: Double)
  /// The limit is kept up to here, and more cannot be done at all.
  case most(Double)
  /// No value keeps the limit; without an end, because nothing smaller could be tried.
  case nowhere(from: Double, to: Double?)

  /// As in plan.csv.
  package var name: String {
    switch self {
    case .least: "at least"
    case .most: "at most"
    case .nowhere: "nowhere"
    }
  }
}

/// What a search has found.
package struct PlanFound: Equatable, Sendable {
  package var estimate: PlanEstimate
  package var bound: PlanBound?

  package init(_ estimate: PlanEstimate, _ bound: PlanBound? = nil) {
    self.estimate = estimate
    self.bound = bound
  }
}

/// The largest value of a variable by the model.
package struct PlanInversion {
  private let model: PlanModel

  package init(_ model: PlanModel) { self.model = model }

  /// Nil where the model knows nothing of the metric.
  package func largest(
    _ variable: PlanVariable, _ metric: PlanMetric, _ limit: Double, _ setting: PlanSetting
  ) -> PlanFound? {
    let range = range(variable, setting)
    var known: [Double: PlanEstimate] = [:]
    func estimate(_ value: Double) -> PlanEstimate? {
      if let estimate = known[value] { return estimate }
      var asked = setting
      variable.set(value, in: &asked)
      let estimate = model.estimate(metric, asked)
      known[value] = estimate
      return estimate
    }
    let steps = steps(metric, range)
    guard estimate(range.lowerBound) != nil else { return nil }
    /// The largest value that keeps the limit; 0 where there is none.
    func end(_ part: (PlanEstimate) -> Double) -> Double {
      func isKept(_ value: Double) -> Bool { estimate(value).map { part($0) < limit } ?? false }
      guard let last = steps.lastIndex(where: isKept) else { return 0 }
      guard last + 1 < steps.count else { return range.upperBound }
      var (low, high) = (steps[last], steps[last + 1])
      for _ in 0..<40 where high / low > 1.02 {
        let middle = (low * high).squareRoot()
        if isKept(middle) { low = middle } else { high = middle }
      }
      return variable.isWhole ? max(range.lowerBound, low.rounded(.down)) : low
    }
    let found = PlanEstimate(end(\.value), low: end(\.high), high: end(\.low))
    if found.value == 0 {
      return PlanFound(found, .nowhere(from: range.lowerBound, to: range.upperBound))
    }
    guard found.value >= range.upperBound else { return PlanFound(found) }
    return PlanFound(
      found,
      isCapacity(variable, setting) ? .most(range.upperBound) : .least(upTo: range.upperBound))
  }

  /// Where the limit is looked at first.
  ///
  /// A queue only gets longer with its load, and its percentiles take long to work out: two values
  /// do.
  private func steps(_ metric: PlanMetric, _ range: ClosedRange<Double>) -> [Double] {
    let (low, high) = (range.lowerBound, range.upperBound)
    guard high > low else { return [low] }
    guard !metric.isResponse else { return [low, high] }
    let count = 60
    return (0...count).map { step in
      step == count ? high : low * pow(high / low, Double(step) / Double(count))
    }
  }

  /// Whether the range ends where nothing could do more.
  private func isCapacity(_ variable: PlanVariable, _ setting: PlanSetting) -> Bool {
    switch variable {
    case .rate: model.queue(.write, setting) != nil
    case .readRate: model.reads(setting) != nil
    case .pins, .age, .objects, .batch: false
    }
  }

  private func range(_ variable: PlanVariable, _ setting: PlanSetting) -> ClosedRange<Double> {
    func up(to most: Double) -> ClosedRange<Double> { min(1, most / 1_000)...max(1e-6, most) }
    switch variable {
    case .rate:
      // A queue that is full has no percentiles to halve by.
      return up(to: (model.queue(.write, setting)?.capacity ?? 1e6) * 0.999)
    case .readRate:
      return up(to: model.reads(setting)?.value ?? 1e9)
    case .pins: return 1...1e5
    case .age: return 0.001...(86_400 * 365)
    case .objects: return max(1, setting.batch)...1e9
    case .batch: return 1...max(1, setting.objects)
    }
  }
}

extension PlanVariable {
  fileprivate var isWhole: Bool {
    switch self {
    case .pins, .objects, .batch: true
    case .rate, .readRate, .age: false
    }
  }
}
