// The statistics of comparisons: intervals for the logarithm of a ratio, from independent runs of
// two sides or from paired blocks that are looked at again and again.
//
// Sources: Welch's interval for two samples of different variance; the confidence sequence of the
// sequential t test, a mixture of scale-invariant likelihood ratios (T. L. Lai, "On confidence
// sequences", 1976; H. Wang and A. Ramdas, "Anytime-valid t-tests and confidence sequences for
// Gaussian means with unknown variance", 2023), which holds from the first blocks on, however often
// one looks and whenever one stops; in it Huber's estimate of location ("Robust Estimation of a
// Location Parameter", 1964, proposal 2), which a few blocks that something has disturbed do not
// move far. Student's quantiles by bisection of the incomplete beta function.
internal import Foundation

/// An interval for a ratio; 1 = no change.
package struct RatioInterval: Equatable, Sendable {
  package var ratio: Double
  package var low: Double
  package var high: Double

  package init(ratio: Double, low: Double, high: Double) {
    (self.ratio, self.low, self.high) = (ratio, low, high)
  }
}

/// Estimates ratios of positive figures.
package enum LogRatio {
  /// Candidate over baseline, from independent runs; nil with fewer than two runs on a side, unless
  /// no figure varies.
  ///
  /// - Parameters:
  ///   - error: the chance that the ratio lies outside of the interval, both sides together.
  ///   - resolution: how finely figures are known; repeats vary by no less.
  package static func independent(
    _ baseline: [Double], _ candidate: [Double], error: Double,
    resolution: FigureResolution = .exact
  ) -> RatioInterval? {
    guard baseline.count >= 2, candidate.count >= 2 else { return nil }
    let (a, b) = (moments(baseline), moments(candidate))
    let difference = b.mean - a.mean
    let squares = zip([a, b], resolution.deviations).map { side, least in
      max(side.variance, least * least) / Double(side.count)
    }
    let variance = squares[0] + squares[1]
    if variance == 0 { return interval(difference, resolution.bias) }
    let degrees =
      variance * variance
      / (squares[0] * squares[0] / Double(a.count - 1)
        + squares[1] * squares[1] / Double(b.count - 1))
    let quantile = studentQuantile(1 - error / 2, degrees: max(1, degrees))
    return interval(difference, quantile * variance.squareRoot() + resolution.bias)
  }

  /// Candidate over baseline, of figures without noise.
  package static func exact(_ baseline: Double, _ candidate: Double) -> RatioInterval {
    interval(baseline == candidate ? 0 : log(candidate) - log(baseline), 0)
  }

  /// How many blocks it takes at least to be so sure of figures that vary.
  ///
  /// Of two equal sides either one may be the slower one in each block: all blocks say the same by
  /// chance once in as many ways as there are for the others to agree with the first.
  package static func blocksNeeded(error: Double) -> Int {
    Int((1 - log2(error) - 1e-9).rounded(.up))
  }

  /// How many standard deviations of one block the interval of that many goes to each side; nil
  /// where they know no bound.
  ///
  /// The mixture is over changes with a variance of half of that of a block: twice as much finds
  /// changes a block earlier, and is wrong more often of figures that have one of two values.
  static func radius(blocks: Int, error: Double) -> Double? {
    let count = Double(blocks)
    let scaled = 1 + count / 2
    let factor: Double = exp((log(scaled) - 2 * log(error)) / count)
    let limit = 1 - factor / scaled
    guard limit > 0 else { return nil }
    return ((factor - 1) / limit * (count - 1) / count).squareRoot()
  }

  /// Candidate over baseline, from paired blocks of which more may come; nil with fewer than
  /// `blocksNeeded` where they vary, and than two.
  ///
  /// Blocks on a machine that others use have a few figures that are far off: the mean of 500 of
  /// them is as uncertain as Huber's estimate of 200. Of two equal sides the logarithms lie evenly
  /// around 0, so that no change is found where none is, whatever their distribution.
  ///
  /// - Parameters:
  ///   - logRatios: of each block, in order.
  ///   - error: the chance that the ratio ever lies outside, at any of all looks.
  ///   - resolution: how finely figures are known; blocks vary by no less.
  package static func paired(
    _ logRatios: [Double], error: Double, resolution: FigureResolution = .exact
  ) -> RatioInterval? {
    guard logRatios.count >= 2 else { return nil }
    let figures = RobustMean(of: logRatios)
    let least = resolution.deviations.reduce(0) { $0 + $1 * $1 }.squareRoot()
    let deviation = max(figures.deviation, least)
    if deviation == 0 { return interval(figures.center, resolution.bias) }
    guard logRatios.count >= blocksNeeded(error: error),
      let radius = radius(blocks: logRatios.count, error: error)
    else { return nil }
    return interval(figures.center, radius * deviation + resolution.bias)
  }

  /// What no change at all looks like here: how far two runs of one side are apart, in 19 of 20
  /// pairs, as a share; nil where no side has two runs with figures above 0.
  ///
  /// It is of one run against one, and does not grow with the number of runs.
  package static func noiseFloor(_ sides: [[Double]]) -> Double? {
    var (squares, degrees) = (0.0, 0)
    for side in sides where side.count >= 2 {
      // Figures that are all 0 have no ratio, and no noise either.
      let isSteady = Set(side).count == 1
      guard isSteady || side.allSatisfy({ $0 > 0 }) else { continue }
      degrees += side.count - 1
      if !isSteady { squares += moments(side).variance * Double(side.count - 1) }
    }
    guard degrees > 0 else { return nil }
    // Of a difference of two, 1.96 standard deviations to each side.
    return exp(1.96 * (2 * squares / Double(degrees)).squareRoot()) - 1
  }

  /// The smallest change that would have been found in four of five tries, as a share: one whose
  /// interval lies above the tolerance.
  package static func smallestDetectable(
    _ interval: RatioInterval, tolerance: Double
  ) -> Double {
    let halfWidth = (log(interval.high) - log(interval.low)) / 2
    // 0.84 standard errors more than the bound, for a power of 80 %, of about 2.8 that the bound
    // has.
    return (1 + tolerance) * exp(halfWidth * 1.3) - 1
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
