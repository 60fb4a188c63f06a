// The mean of figures some of which are far off. Intervals are in LogRatio.swift.
internal import Foundation

/// Huber's estimate of where figures lie: the mean, in which a figure that is farther off than 1.5
/// times the spread counts as if it were just so far off.
///
/// The spread is a standard deviation, made in the same way. A median deviation would be small for
/// figures around two values, and the estimate would be one of the two. That happens with this
/// spread, too, when one of the values is seldom among few figures: so what lies far off mostly to
/// one side counts in full.
package struct RobustMean {
  private static let limit = 1.5
  /// The mean square, with that limit, of normal figures with a variance of 1.
  private static let normalSquare = 0.7785
  /// Of fewer figures the spread is too uncertain: they are given their plain mean.
  private static let countMin = 30
  /// Figures that are mostly one and the same, such as counters, have no spread to go by.
  private static let tiesMax = 0.25

  package private(set) var center: Double
  /// The standard deviation of what one figure adds to the estimate.
  package private(set) var deviation: Double

  package init(of values: [Double]) {
    let plain = LogRatio.moments(logarithms: values)
    (center, deviation) = (plain.mean, plain.variance.squareRoot())
    let count = Double(values.count)
    if plain.variance == 0 || values.count < Self.countMin { return }
    let median = values.sorted()[values.count / 2]
    if Double(values.count { $0 == median }) > Self.tiesMax * count { return }
    var (estimate, spread) = (median, deviation)
    for _ in 0..<50 {
      let radius = Self.limit * spread
      var (squares, weights, sum) = (0.0, 0.0, 0.0)
      for value in values {
        let distance = abs(value - estimate)
        let part = min(distance, radius)
        squares += part * part
        let weight = distance <= radius ? 1 : radius / distance
        weights += weight
        sum += weight * value
      }
      let next = sum / weights
      let nextSpread = (squares / (count - 1) / Self.normalSquare).squareRoot()
      let step = max(abs(next - estimate), abs(nextSpread - spread))
      (estimate, spread) = (next, nextSpread)
      if step < 1e-6 * spread { break }
    }
    let radius = Self.limit * spread
    let above = values.count { $0 - estimate > radius }
    let below = values.count { estimate - $0 > radius }
    let inside = values.count - above - below
    // Two standard deviations of what chance does to so many.
    let isOneSided = Double(abs(above - below)) > 2 * Double(above + below).squareRoot()
    if inside == 0 || isOneSided { return }
    center = estimate
    deviation = Self.normalSquare.squareRoot() * spread * count / Double(inside)
  }
}
