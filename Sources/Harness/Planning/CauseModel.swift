// Sums of causes, such as bytes an object, whose weights are only as certain as what was measured:
// each cause begins with what is known of the engine and how surely, and runs move it as far as
// they tell of it. So a cause that no run has varied keeps its law and its doubt, and a constant
// does not take what belongs to it.
internal import Foundation

/// A weighted sum of causes, with what is not known of the weights.
package struct CauseModel: Sendable {
  /// What is known of a weight before any run.
  package struct Cause: Sendable {
    package var likely: Double
    /// One standard deviation.
    package var spread: Double

    package init(_ likely: Double, spread: Double) {
      self.likely = likely
      self.spread = spread
    }
  }

  /// What one measurement says.
  package struct Equation: Sendable {
    /// One value a cause.
    package var row: [Double]
    package var target: Double
    /// How much it counts: measurements of one run share its chances, and count less each.
    package var weight: Double

    package init(_ row: [Double], _ target: Double, weight: Double = 1) {
      self.row = row
      self.target = target
      self.weight = weight
    }
  }

  /// Never negative: one cause must not balance another.
  package private(set) var weights: [Double]
  private let scales: [Double]
  /// The inverse of the weights' covariance, in units of `scales`.
  private var precision: [[Double]] = []
  /// One standard deviation of a measurement, as a share of it.
  package private(set) var noise: Double

  /// Fits the weights; equations without a measured value say nothing.
  ///
  /// - Parameter noise: the least that repeated measurements differ by. Where the equations
  ///   contradict the sum of causes by more, that is taken.
  package init(_ causes: [Cause], _ equations: [Equation], noise: Double) {
    weights = causes.map(\.likely)
    scales = causes.map(\.spread)
    self.noise = noise
    let useful = equations.filter {
      $0.target > 0 && $0.target.isFinite && $0.row.allSatisfy(\.isFinite)
    }
    fit(causes, useful)
    let total = useful.reduce(0) { $0 + $1.weight }
    guard total > 0 else { return }
    let squares = useful.reduce(0) { sum, equation in
      sum + equation.weight * pow(value(equation.row) / equation.target - 1, 2)
    }
    let residual = (squares / total).squareRoot()
    guard residual > noise else { return }
    self.noise = residual
    fit(causes, useful)
  }

  private mutating func fit(_ causes: [Cause], _ equations: [Equation]) {
    let count = causes.count
    var matrix = [[Double]](repeating: [Double](repeating: 0, count: count), count: count)
    var right = zip(causes, scales).map { $0.likely / $1 }
    for position in 0..<count { matrix[position][position] = 1 }
    for equation in equations {
      let row = zip(equation.row, scales).map { $0 * $1 / equation.target / noise }
      for i in 0..<count where row[i] != 0 {
        right[i] += equation.weight * row[i] / noise
        for j in 0..<count { matrix[i][j] += equation.weight * row[i] * row[j] }
      }
    }
    precision = matrix
    // Coordinate descent, never below 0 (Franc, Hlavac and Navara, 2005).
    var found = zip(causes, scales).map { $0.likely / $1 }
    for _ in 0..<20_000 {
      var change = 0.0
      for i in 0..<count {
        var rest = right[i]
        for j in 0..<count where j != i { rest -= matrix[i][j] * found[j] }
        let new = max(0, rest / matrix[i][i])
        change = max(change, abs(new - found[i]) * matrix[i][i].squareRoot())
        found[i] = new
      }
      if change < 1e-9 { break }
    }
    weights = zip(found, scales).map { $0 * $1 }
  }

  package func value(_ row: [Double]) -> Double {
    zip(weights, row).reduce(0) { $0 + $1.0 * $1.1 }
  }

  /// One standard deviation of a sum of causes, by what is not known of their weights.
  package func spread(_ row: [Double]) -> Double {
    let scaled = zip(row, scales).map { $0 * $1 }
    let solved = solve(scaled)
    return max(0, zip(scaled, solved).reduce(0) { $0 + $1.0 * $1.1 }).squareRoot()
  }

  /// The same as a share of the sum.
  package func relativeSpread(_ row: [Double]) -> Double {
    let value = value(row)
    return value > 0 ? spread(row) / value : 0
  }

  /// One standard deviation of how many times one sum is another, as a share of that.
  package func relativeSpread(_ row: [Double], over base: [Double]) -> Double {
    let (above, below) = (value(row), value(base))
    guard above > 0, below > 0 else { return 0 }
    return spread(zip(row, base).map { $0 / above - $1 / below })
  }

  /// What `precision` takes to a column: elimination; the matrix is symmetric and positive.
  private func solve(_ column: [Double]) -> [Double] {
    var (matrix, right) = (precision, column)
    let count = right.count
    for pivot in 0..<count {
      for row in (pivot + 1)..<max(count, pivot + 1) where matrix[row][pivot] != 0 {
        let factor = matrix[row][pivot] / matrix[pivot][pivot]
        for position in pivot..<count { matrix[row][position] -= factor * matrix[pivot][position] }
        right[row] -= factor * right[pivot]
      }
    }
    for pivot in stride(from: count - 1, through: 0, by: -1) {
      for position in (pivot + 1)..<max(count, pivot + 1) {
        right[pivot] -= matrix[pivot][position] * right[position]
      }
      right[pivot] /= matrix[pivot][pivot]
    }
    return right
  }
}
