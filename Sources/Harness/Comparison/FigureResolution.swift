// How finely times are known: a percentile is a bucket of the histogram, and what it was measured
// with is a clock that ticks. Repeats that are equal to the last digit say no more than that.
internal import Foundation

/// How far figures of two sides may be from what they stand for, whatever they vary by; as shares.
package struct FigureResolution: Equatable, Sendable {
  /// The standard deviation of one figure that rounding alone makes, by side.
  package var deviations: [Double]
  /// How far all figures may be off alike, both sides together.
  ///
  /// Figures that vary by half a step or more are rounded up as often as down, and their mean knows
  /// more than each of them. Those that hardly vary are all rounded in the same way.
  package var bias: Double

  /// Of figures that are known exactly.
  package static let exact = FigureResolution(deviations: [0, 0], bias: 0)

  package init(deviations: [Double], bias: Double) {
    (self.deviations, self.bias) = (deviations, bias)
  }

  /// - Parameters:
  ///   - metric: what the figures are; times alone are rounded.
  ///   - sides: the figures of each side, above 0.
  ///   - tick: what the clock moves by, in nanoseconds.
  package init(_ metric: String, _ sides: [[Double]], tick: Double) {
    guard metric.hasSuffix("_ns") else {
      self = .exact
      return
    }
    // A histogram is exact to one part in 1,024.
    let steps = sides.map { max(1.0 / 1_024, tick / median($0)) }
    deviations = steps.map { $0 / 12.0.squareRoot() }
    bias = zip(steps, sides).reduce(0) { sum, side in
      let variance = LogRatio.moments(logarithms: side.1.map { log($0) }).variance
      return sum + max(0, side.0 / 2 - variance.squareRoot())
    }
  }
}
