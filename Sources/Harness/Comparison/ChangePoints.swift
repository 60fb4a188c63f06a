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
  package static func find(_ values: [Double]) -> [Int] {
    find(values[...]).sorted()
  }

  private static func find(_ values: ArraySlice<Double>) -> [Int] {
    guard values.count >= 2 * runsMin, let change = strongest(values) else { return [] }
    return find(values[..<change]) + [change] + find(values[change...])
  }

  private static func strongest(_ values: ArraySlice<Double>) -> Int? {
    var best = (position: 0, strength: 0.0)
    for split in (values.startIndex + runsMin)...(values.endIndex - runsMin) {
      var sum = 0.0
      for before in values[..<split] {
        for after in values[split...] where after != before { sum += after > before ? 1 : -1 }
      }
      if abs(sum) > best.strength { best = (split, abs(sum)) }
    }
    let count = Double(values.count)
    let chance =
      2 * exp(-6 * best.strength * best.strength / (count * count * count + count * count))
    return chance < chanceMax ? best.position : nil
  }
}
