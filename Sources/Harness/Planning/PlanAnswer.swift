// What `plan` says: answers with their range, what they extrapolate, and the run that checked them.
internal import Foundation

/// A prediction beside what a run showed.
package struct PlanCheck: Sendable {
  package var metric: PlanMetric
  package var setting: PlanSetting
  package var predicted: PlanEstimate
  package var measured: Double
  package var command: String

  package init(
    metric: PlanMetric, setting: PlanSetting, predicted: PlanEstimate, measured: Double,
    command: String
  ) {
    self.metric = metric
    self.setting = setting
    self.predicted = predicted
    self.measured = measured
    self.command = command
  }

  /// How far the prediction was off, in percent of what was measured.
  package var errorPercent: Double { 100 * (predicted.value / measured - 1) }
  package var isWithin: Bool { predicted.holds(measured) }
}

/// The answer to a question.
package struct PlanAnswer: Sendable {
  package var question: PlanQuestion
  package var name: String
  package var unit: String
  package var estimate: PlanEstimate
  /// For people, such as "1.2 GiB".
  package var readable: (Double) -> String { readableValue }
  private let readableValue: @Sendable (Double) -> String
  package var method: String
  package var extrapolations: [PlanExtrapolation] = []
  /// Set where what was looked for has no end in the range that was searched.
  package var bound: PlanBound?
  package var notes: [String] = []
  package var check: PlanCheck?

  package init(
    question: PlanQuestion, name: String, unit: String, estimate: PlanEstimate, method: String,
    readable: @escaping @Sendable (Double) -> String
  ) {
    self.question = question
    self.name = name
    self.unit = unit
    self.estimate = estimate
    self.method = method
    readableValue = readable
  }

  /// Whether it goes no further than can be vouched for.
  package var isVouched: Bool { extrapolations.allSatisfy(\.isVouched) && !isTooWide }

  /// Of a file a range like this says that the runs do not tell; of times it is what a queue does
  /// near its capacity.
  package var isTooWide: Bool {
    guard case .value(let metric) = question.kind, metric.isSpace else { return false }
    return estimate.high > 6 * estimate.low
  }

  /// What of it goes beyond the runs, in words.
  package var doubts: [String] {
    extrapolations.map(\.text)
      + (isTooWide ? ["the runs tell too little: the range is wider than six times"] : [])
  }
}

/// A point of a curve that shows what happens around the answers.
package struct PlanCurvePoint: Sendable {
  package var curve: String
  package var metric: PlanMetric
  package var setting: PlanSetting
  package var estimate: PlanEstimate
  package var isKnee = false
}

/// Everything that `plan` found out.
package struct PlanResult: Sendable {
  package var machine: MachineCosts
  package var experiments: [PlanObservation] = []
  package var answers: [PlanAnswer] = []
  package var validations: [PlanCheck] = []
  package var curves: [PlanCurvePoint] = []
  package var warnings: [String] = []
  package var isInterrupted = false

  package init(machine: MachineCosts) { self.machine = machine }
}
