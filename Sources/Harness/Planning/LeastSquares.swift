// Least squares with coefficients that are not negative: bytes, times and costs never are, and a
// model of causes must not balance one cause by the negative of another.
internal import Foundation

/// Fits sums of causes.
package enum LeastSquares {
  /// The coefficients, none below 0, whose weighted sum of columns comes nearest to the targets
  /// (coordinate descent on the normal equations; Franc, Hlavac and Navara, 2005).
  ///
  /// - Parameters:
  ///   - rows: of each equation, one value a cause.
  ///   - targets: of each equation; an equation counts by its relative error.
  package static func fit(_ rows: [[Double]], _ targets: [Double]) -> [Double] {
    guard let width = rows.first?.count else { return [] }
    var products = [[Double]](repeating: [Double](repeating: 0, count: width), count: width)
    var gradient = [Double](repeating: 0, count: width)
    for (row, target) in zip(rows, targets) where target > 0 {
      let weight = 1 / (target * target)
      for i in 0..<width where row[i] != 0 {
        gradient[i] -= weight * row[i] * target
        for j in 0..<width { products[i][j] += weight * row[i] * row[j] }
      }
    }
    var coefficients = [Double](repeating: 0, count: width)
    for _ in 0..<20_000 {
      var change = 0.0
      for i in 0..<width where products[i][i] > 0 {
        let new = max(0, coefficients[i] - gradient[i] / products[i][i])
        let step = new - coefficients[i]
        if step == 0 { continue }
        coefficients[i] = new
        for j in 0..<width { gradient[j] += step * products[j][i] }
        // In units of what the cause explains, so that large and small ones end together.
        change = max(change, abs(step) * products[i][i].squareRoot())
      }
      if change < 1e-10 { break }
    }
    return coefficients
  }

  package static func value(_ coefficients: [Double], _ row: [Double]) -> Double {
    zip(coefficients, row).reduce(0) { $0 + $1.0 * $1.1 }
  }
}

/// A figure that was worked out, with the range in which nine of ten results are expected.
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
    let factor = exp(1.645 * relativeError)
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
