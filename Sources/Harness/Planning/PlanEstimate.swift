// Figures with the range in which they are expected, and how far predictions were off.
internal import Foundation

/// A figure that was worked out, with the range in which nine of ten results are expected; of a
/// search by runs, the two values between which it has stopped.
package struct PlanEstimate: Equatable, Sendable {
  package var value: Double
  package var low: Double
  package var high: Double

  package init(_ value: Double, low: Double, high: Double) {
    self.value = value
    self.low = min(low, value)
    self.high = max(high, value)
  }

  /// A range by a relative error of one standard deviation.
  package init(_ value: Double, relativeError: Double) {
    // What is known to less than that is not known.
    let factor = exp(1.645 * min(3, relativeError))
    self.init(value, low: value / factor, high: value * factor)
  }

  package func holds(_ measured: Double) -> Bool { low <= measured && measured <= high }
}

/// The spread of predictions around what was measured.
struct PlanResiduals: Sendable {
  private(set) var logarithms: [Double] = []

  mutating func add(predicted: Double, measured: Double) {
    guard predicted > 0, measured > 0 else { return }
    logarithms.append(log(measured / predicted))
  }

  /// One standard deviation by the median of the residuals, which one bad run does not move, with
  /// the uncertainty of few samples; never less than what a repeated run differs by.
  func relativeError(least: Double) -> Double {
    guard !logarithms.isEmpty else { return max(least, 0.15) }
    let middle = median(logarithms.map(abs))
    return max(least, 1.48 * middle * (1 + 1 / Double(logarithms.count)))
  }
}
