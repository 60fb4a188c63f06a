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

  /// What was run, which may be smaller than what was asked about, and what came of it.
  var words: String {
    "a run of \(setting.text): \(metric.name) \(metric.readable(measured)), predicted "
      + "\(metric.readable(predicted.value)), error \(decimal(errorPercent, places: 1)) %"
      + (isWithin ? "" : ", outside of the predicted range")
  }
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
  /// What makes the runs say little about it.
  package var doubtsOfRuns: [String] = []
  /// Whether the range is no range of results but ends at the two rates between which a search has
  /// stopped, each tried by one run.
  package var isBracket = false
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
  package var isVouched: Bool {
    extrapolations.allSatisfy(\.isVouched) && !isTooWide && doubtsOfRuns.isEmpty
  }

  /// How many times its low end the high end of a range may be that still tells something.
  ///
  /// Times vary by more than files, the more so near the capacity of a queue.
  private var widthMax: Double {
    if case .value(let metric) = question.kind, metric.isSpace { return 6 }
    return 10
  }

  /// Whether the range says that the runs do not tell.
  package var isTooWide: Bool {
    if case .nowhere = bound { return false }
    // Of whole things, such as readers, none and a few are not far apart.
    let low = unit == "1" ? max(1, estimate.low) : estimate.low
    return estimate.high > widthMax * low
  }

  /// What of it goes beyond the runs, or is not told by them, in words.
  package var doubts: [String] { extrapolations.map(\.text) + weaknesses }

  /// What is not told by the runs though it lies within them.
  var weaknesses: [String] {
    (isTooWide
      ? [
        "the runs tell too little: the range is wider than "
          + (widthMax == 6 ? "six times" : "ten times")
      ] : [])
      + doubtsOfRuns
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
  /// What has ended the searches and checks: a run that died, or that never ended.
  package var failure: ExecutableFailure?
  /// What a reader has to know of a plan that has not come to its end; nil where it has.
  package var incompleteness: String? {
    if isInterrupted { return "interrupted: the answers are from what was measured until then" }
    return failure.map { _ in
      "a run failed: the answers are from what was measured until then, and not everything was "
        + "answered and checked"
    }
  }

  package init(machine: MachineCosts) { self.machine = machine }
}
