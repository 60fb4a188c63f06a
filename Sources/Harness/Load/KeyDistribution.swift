// Which keys readers ask for: uniform, Zipf, latest written, hot spot.
package import Platform

/// How the keys of reads are spread.
package enum KeyDistribution: Equatable, Sendable {
  case uniform
  /// Rank k is asked for in proportion to 1/k^exponent; ranks are scattered over the keys.
  case zipf(exponent: Double)
  /// Keys of the most recent transactions, the newest most often.
  case latest
  /// `share` of the reads go to `part` of the keys, both between 0 and 1.
  case hotspot(part: Double, share: Double)

  /// As written on the command line.
  package var text: String {
    switch self {
    case .uniform: "uniform"
    case .zipf(let exponent): "zipf:\(exponent)"
    case .latest: "latest"
    case .hotspot(let part, let share): "hotspot:\(part):\(share)"
    }
  }
}

/// Draws keys of one distribution.
package struct KeyGenerator: Sendable {
  private let distribution: KeyDistribution
  private let model: ContentModel
  private let ranks: ZipfGenerator
  private let scatter: ContentModel.Batch

  package init(_ distribution: KeyDistribution, model: ContentModel) {
    self.distribution = distribution
    self.model = model
    let exponent: Double
    if case .zipf(let given) = distribution { exponent = given } else { exponent = 0.99 }
    ranks = ZipfGenerator(count: model.objects, exponent: exponent)
    scatter = model.batch(of: .max)
  }

  /// The next key.
  ///
  /// `newestTransaction` is the newest one known to be committed, or 0.
  package func next(_ random: inout RandomGenerator, newestTransaction: Int) -> Int {
    guard case .latest = distribution else { return next(&random, objects: model.objects) }
    let age = ranks.next(&random)
    if age > newestTransaction { return Int(random.next(upperBound: UInt64(model.objects))) }
    let position = Int(random.next(upperBound: UInt64(model.batch)))
    return model.batch(of: newestTransaction - age + 1).key(position)
  }

  /// The next key of a table that grows by its end and has `objects` objects now.
  ///
  /// Here `latest` are the objects inserted last; the ranks of `zipf` are scattered over the
  /// objects that were there from the beginning.
  package func next(_ random: inout RandomGenerator, objects: Int) -> Int {
    switch distribution {
    case .uniform:
      return Int(random.next(upperBound: UInt64(objects)))
    case .zipf:
      return scatter.key(ranks.next(&random) - 1)
    case .latest:
      return objects - ranks.next(&random)
    case .hotspot(let part, let share):
      let hot = max(1, min(objects, Int((Double(objects) * part).rounded())))
      let isHot = Double.random(in: 0..<1, using: &random) < share || hot == objects
      return isHot
        ? Int(random.next(upperBound: UInt64(hot)))
        : hot + Int(random.next(upperBound: UInt64(objects - hot)))
    }
  }
}

/// Draws ranks 1...count in proportion to 1/rank^exponent, in constant time and without a table
/// (rejection-inversion after Hörmann and Derflinger).
package struct ZipfGenerator: Sendable {
  private let count: Int
  private let exponent: Double
  private let integralAtFirst: Double
  private let integralAtLast: Double
  private let threshold: Double

  /// `exponent` is above 0.
  package init(count: Int, exponent: Double) {
    precondition(count > 0 && exponent > 0, "Zipf needs ranks and an exponent above 0")
    self.count = count
    self.exponent = exponent
    integralAtFirst = Self.integral(1.5, exponent) - 1
    integralAtLast = Self.integral(Double(count) + 0.5, exponent)
    threshold =
      2 - Self.inverseIntegral(Self.integral(2.5, exponent) - Self.weight(2, exponent), exponent)
  }

  package func next(_ random: inout RandomGenerator) -> Int {
    while true {
      let uniform = Double.random(in: 0..<1, using: &random)
      let point = integralAtLast + uniform * (integralAtFirst - integralAtLast)
      let guess = Self.inverseIntegral(point, exponent)
      let rank = min(max(guess.rounded(), 1), Double(count))
      if rank - guess <= threshold
        || point >= Self.integral(rank + 0.5, exponent) - Self.weight(rank, exponent)
      {
        return Int(rank)
      }
    }
  }

  private static func weight(_ rank: Double, _ exponent: Double) -> Double {
    power(rank, -exponent)
  }

  /// Integral of 1/x^exponent from 1; the logarithm where the exponent is 1.
  private static func integral(_ value: Double, _ exponent: Double) -> Double {
    let power = 1 - exponent
    let logarithm = naturalLogarithm(value)
    return abs(power) < 1e-9 ? logarithm : (exponential(power * logarithm) - 1) / power
  }

  private static func inverseIntegral(_ area: Double, _ exponent: Double) -> Double {
    let power = 1 - exponent
    if abs(power) < 1e-9 { return exponential(area) }
    return exponential(naturalLogarithm(max(1 + power * area, 0)) / power)
  }
}
