// Where an answer goes beyond what was measured, in words, and whether it can be vouched for.
internal import Foundation

/// One way in which an answer goes beyond the runs.
package struct PlanExtrapolation: Equatable, Sendable {
  package var name: String
  package var asked: Double
  package var measured: ClosedRange<Double>
  /// Whether the model's law is known to hold that far.
  package var isVouched: Bool

  package init(name: String, asked: Double, measured: ClosedRange<Double>, isVouched: Bool) {
    self.name = name
    self.asked = asked
    self.measured = measured
    self.isVouched = isVouched
  }

  /// How many times beyond; nil from nothing or to nothing, which is no number of times.
  package var factor: Double? {
    guard asked > 0 else { return nil }
    if asked > measured.upperBound {
      return measured.upperBound > 0 ? asked / measured.upperBound : nil
    }
    return measured.lowerBound / asked
  }

  package var text: String {
    func number(_ value: Double) -> String {
      value < 10 && value != value.rounded()
        ? decimal(value, places: 4) : PlanSetting.count(value.rounded())
    }
    let isOne = measured.lowerBound == measured.upperBound
    let range =
      isOne
      ? "all runs had \(number(measured.lowerBound))"
      : "\(number(measured.lowerBound)) to \(number(measured.upperBound))"
    let end = isVouched ? "" : ", too far to vouch for"
    guard let factor else {
      return measured.upperBound == 0
        ? "\(name) \(number(asked)): no run had any\(end)"
        : "\(name) \(number(asked)) is beyond what was measured (\(range))\(end)"
    }
    let times = factor < 100 ? decimal(factor, places: 1) : PlanSetting.count(factor.rounded())
    let side = asked > measured.upperBound ? "beyond" : "below"
    return "\(name) \(number(asked)) is \(times) times \(side) what was measured (\(range))\(end)"
  }
}
