// Where a series of figures changed for good: Pettitt's rank test (A. N. Pettitt, "A non-parametric
// approach to the change-point problem", 1979), done again on both sides of each change that it
// finds. Ranks, because one slow run among many is no change.
internal import Foundation

/// Finds changes of level.
package enum ChangePoints {
  /// A change this unlikely to be chance counts.
  package static let chanceMax = 0.005
  /// Runs on each side that a change needs.
  package static let runsMin = 4

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
    guard values.count >= 2 * runsMin else { return nil }
    let count = Double(values.count)
    let ranks = ranks(values)
    var best = (position: 0, strength: 0.0)
    // How many pairs across the split rise, less those that fall: each value before it is below as
    // many of all others as its rank says, and pairs before it cancel out.
    var sum = 0.0
    for (number, position) in values.indices.enumerated() {
      if number >= runsMin, values.count - number >= runsMin, abs(sum) > best.strength {
        best = (position, abs(sum))
      }
      sum += count + 1 - 2 * ranks[number]
    }
    let chance =
      2 * exp(-6 * best.strength * best.strength / (count * count * count + count * count))
    return chance < chanceMax ? best.position : nil
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
