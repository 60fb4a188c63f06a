// Where a series of figures changed for good: the Mann-Whitney test at each split, of which the
// strongest counts (D. M. Hawkins and Q. Deng, "A nonparametric change-point control chart", 2010),
// done again on both sides of each change that it finds. Ranks, because one slow run among many is
// no change; each split by its own standard deviation, because a change is to be seen soon, when
// few runs lie behind it and many before.
internal import Foundation

/// Finds changes of level.
package enum ChangePoints {
  /// A change this unlikely to be chance counts.
  package static let chanceMax = 0.005
  /// Figures on each side that a split needs to be looked at.
  package static let runsMin = 4
  /// With fewer figures in all no order of them is so unlikely.
  package static let seriesMin = 12
  /// By number of figures: what the strongest split of a series without a change exceeds with a
  /// chance of `chanceMax`; by simulation of up to 400,000 series each.
  private static let limits: [(count: Double, limit: Double)] = [
    (12, 2.86), (13, 2.92), (14, 2.96), (15, 3.00), (16, 3.01), (18, 3.04), (20, 3.13), (25, 3.21),
    (30, 3.27), (40, 3.38), (50, 3.44), (70, 3.53), (100, 3.60), (150, 3.66), (200, 3.70),
    (500, 3.82), (1_000, 3.88), (5_000, 4.03), (20_000, 4.08),
  ]

  /// The limit for some figures; between those of the table by their logarithm.
  static func limit(_ count: Double) -> Double {
    guard let next = limits.firstIndex(where: { $0.count >= count }) else {
      return limits[limits.count - 1].limit
    }
    if next == 0 { return limits[0].limit }
    let (low, high) = (limits[next - 1], limits[next])
    let share = log(count / low.count) / log(high.count / low.count)
    return low.limit + share * (high.limit - low.limit)
  }

  /// Positions at which a new level begins, in rising order.
  ///
  /// - Complexity: O(*n* log *n*) for each change that is found.
  package static func find(_ values: [Double]) -> [Int] {
    var found: [Int] = []
    var parts = [values.indices]
    while let part = parts.popLast() {
      guard let change = strongest(values[part]) else { continue }
      found.append(change)
      parts += [part.lowerBound..<change, change..<part.upperBound]
    }
    return found.sorted()
  }

  /// The split with the greatest difference in ranks, if that is no chance.
  private static func strongest(_ values: ArraySlice<Double>) -> Int? {
    guard values.count >= seriesMin else { return nil }
    let count = Double(values.count)
    let ranks = ranks(values)
    var best = (position: 0, strength: 0.0)
    // How many pairs across the split rise, less those that fall: each value before it is below as
    // many of all others as its rank says, and pairs before it cancel out.
    var sum = 0.0
    for (number, position) in values.indices.enumerated() {
      if number >= runsMin, values.count - number >= runsMin {
        let before = Double(number)
        let strength = abs(sum) / (before * (count - before) * (count + 1) / 3).squareRoot()
        if strength > best.strength { best = (position, strength) }
      }
      sum += count + 1 - 2 * ranks[number]
    }
    return best.strength > limit(count) ? best.position : nil
  }

  /// Places in the order, from 1; equal values share the mean of theirs.
  private static func ranks(_ values: ArraySlice<Double>) -> [Double] {
    let order = values.indices.sorted { values[$0] < values[$1] }
    var ranks = [Double](repeating: 0, count: values.count)
    var begin = 0
    while begin < order.count {
      var end = begin
      while end < order.count, values[order[end]] == values[order[begin]] { end += 1 }
      for position in order[begin..<end] {
        ranks[position - values.startIndex] = Double(begin + 1 + end) / 2
      }
      begin = end
    }
    return ranks
  }
}
