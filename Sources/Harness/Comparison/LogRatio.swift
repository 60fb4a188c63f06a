// The statistics of comparisons: intervals for the logarithm of a ratio, from independent runs of
// two sides or from paired blocks that are looked at again and again.
//
// Sources: Welch's interval for two samples of different variance; the asymptotic confidence
// sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas ("Time-uniform central limit theory
// and asymptotic confidence sequences", 2021), which stays valid however often one looks and
// whenever one stops, of Huber's estimate of location ("Robust Estimation of a Location Parameter",
// 1964, proposal 2), which a few blocks that something has disturbed do not move far; Holm's
// step-down procedure for several rows. Student's quantiles by bisection of the incomplete beta
// function.
internal import Foundation

/// An interval for a ratio; 1 = no change.
package struct RatioInterval: Equatable, Sendable {
  package var ratio: Double
  package var low: Double
  package var high: Double
}

/// Estimates ratios of positive figures.
package enum LogRatio {
  /// Candidate over baseline, from independent runs; nil with fewer than two runs on a side, unless
  /// no figure varies.
  ///
  /// - Parameter error: the chance that the ratio lies outside of the interval, both sides
  ///   together.
  package static func independent(
    _ baseline: [Double], _ candidate: [Double], error: Double
  ) -> RatioInterval? {
    guard baseline.count >= 2, candidate.count >= 2 else { return nil }
    let (a, b) = (moments(baseline), moments(candidate))
    let difference = b.mean - a.mean
    let squares = [a.variance / Double(a.count), b.variance / Double(b.count)]
    let variance = squares[0] + squares[1]
    if variance == 0 { return interval(difference, 0) }
    let degrees =
      variance * variance
      / (squares[0] * squares[0] / Double(a.count - 1)
        + squares[1] * squares[1] / Double(b.count - 1))
    let quantile = studentQuantile(1 - error / 2, degrees: max(1, degrees))
    return interval(difference, quantile * variance.squareRoot())
  }

  /// Candidate over baseline, from paired blocks of which more may come; nil with fewer than four.
  ///
  /// Blocks on a machine that others use have a few figures that are far off: the mean of 500 of
  /// them is as uncertain as Huber's estimate of 200. Of two equal sides the logarithms lie evenly
  /// around 0, so that no change is found where none is, whatever their distribution.
  ///
  /// - Parameters:
  ///   - logRatios: of each block, in order.
  ///   - error: the chance that the ratio ever lies outside, at any of all looks.
  package static func paired(_ logRatios: [Double], error: Double) -> RatioInterval? {
    guard logRatios.count >= 4 else { return nil }
    let figures = RobustMean(of: logRatios)
    let count = Double(logRatios.count)
    // The sequence is narrowest near this many blocks.
    let best = 20.0
    let surprise: Double = -2 * log(error)
    let spread: Double = (surprise + log(surprise) + 1) / best
    let scaled: Double = count * spread + 1
    let bound: Double = log(scaled.squareRoot() / error)
    let radius: Double = (2 * scaled * bound / (count * count * spread)).squareRoot()
    return interval(figures.center, radius * figures.deviation)
  }

  /// The largest ratio between two runs of one side: what no change at all looks like here; nil
  /// where there is none.
  package static func noiseFloor(_ sides: [[Double]]) -> Double? {
    let floors = sides.compactMap { side -> Double? in
      guard side.count >= 2, let least = side.min(), let most = side.max() else { return nil }
      if most == least { return 0 }
      return least > 0 ? most / least - 1 : nil
    }
    return floors.max()
  }

  /// The smallest change that would have been found in four of five tries, as a share.
  package static func smallestDetectable(_ interval: RatioInterval) -> Double {
    let halfWidth = (log(interval.high) - log(interval.low)) / 2
    // 0.84 standard errors more than the bound, for a power of 80 %, of about 2.8 that the bound
    // has.
    return exp(halfWidth * 1.3) - 1
  }

  private static func interval(_ mean: Double, _ halfWidth: Double) -> RatioInterval {
    RatioInterval(ratio: exp(mean), low: exp(mean - halfWidth), high: exp(mean + halfWidth))
  }

  private static func moments(
    _ values: [Double]
  ) -> (mean: Double, variance: Double, count: Int) { moments(logarithms: values.map { log($0) }) }

  static func moments(
    logarithms values: [Double]
  ) -> (mean: Double, variance: Double, count: Int) {
    // The same figure in every run has no variance, whatever the rounding of its sum.
    if Set(values).count == 1 { return (values[0], 0, values.count) }
    let mean = values.reduce(0, +) / Double(values.count)
    let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return (mean, squares / Double(values.count - 1), values.count)
  }

  // MARK: - Student's distribution

  /// The value that a share of Student's distribution does not exceed; `share` from 0.5 on.
  package static func studentQuantile(_ share: Double, degrees: Double) -> Double {
    var (low, high) = (0.0, 1.0)
    while studentShare(high, degrees) < share && high < 1e9 { high *= 2 }
    for _ in 0..<200 {
      let middle = (low + high) / 2
      if studentShare(middle, degrees) < share { low = middle } else { high = middle }
    }
    return (low + high) / 2
  }

  private static func studentShare(_ value: Double, _ degrees: Double) -> Double {
    1 - incompleteBeta(degrees / (degrees + value * value), degrees / 2, 0.5) / 2
  }

  /// The regularised incomplete beta function, by its continued fraction (Lentz's method).
  private static func incompleteBeta(_ x: Double, _ a: Double, _ b: Double) -> Double {
    if x <= 0 { return 0 }
    if x >= 1 { return 1 }
    // The fraction converges fast on this side only.
    if x > (a + 1) / (a + b + 2) { return 1 - incompleteBeta(1 - x, b, a) }
    let powers: Double = a * log(x) + b * log(1 - x)
    let logarithm: Double = lgamma(a + b) - lgamma(a) - lgamma(b) + powers
    let tiny = 1e-300
    var c = 1.0
    var d = 1 / nonZero(1 - (a + b) * x / (a + 1), tiny)
    var fraction = d
    for m in 1...500 {
      let m = Double(m)
      let position: Double = a + 2 * m
      let even: Double = m * (b - m) * x / ((position - 1) * position)
      d = 1 / nonZero(1 + even * d, tiny)
      c = nonZero(1 + even / c, tiny)
      fraction *= d * c
      let odd: Double = -(a + m) * (a + b + m) * x / (position * (position + 1))
      d = 1 / nonZero(1 + odd * d, tiny)
      c = nonZero(1 + odd / c, tiny)
      fraction *= d * c
      if abs(d * c - 1) < 1e-15 { break }
    }
    return exp(logarithm) * fraction / a
  }

  private static func nonZero(_ value: Double, _ tiny: Double) -> Double {
    abs(value) < tiny ? tiny : value
  }
}
