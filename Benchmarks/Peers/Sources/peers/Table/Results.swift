// Figures as they come in, and what is made of them: median, range, ratio to ours.
import Foundation

/// A line of the CSV file.
struct ResultLine {
  let row: Row
  let contestant: Contestant
  let objects: Int
  /// Sorted, one a repetition.
  let samples: [Double]
  /// More than 1: ours is better.
  ///
  /// Nil for unequal durability, and where there is no figure of ours.
  var ratioToOurs: Double?

  var median: Double {
    let middle = samples.count / 2
    return samples.count % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2
  }
}

/// All figures of a run, in order.
struct Results {
  private(set) var lines: [ResultLine] = []

  /// Adds a benchmark's figures, one measurement a contestant and repetition.
  mutating func add(
    _ rows: [Row], _ contestants: [Contestant], objects: Int,
    _ measurements: [[Contestant: Measurement]]
  ) {
    for row in rows {
      var added: [ResultLine] = []
      for contestant in contestants {
        let samples = measurements.compactMap { $0[contestant]?.values[row.name] }.sorted()
        guard !samples.isEmpty else { continue }
        added.append(
          ResultLine(row: row, contestant: contestant, objects: objects, samples: samples))
      }
      let ours = added.first { $0.contestant.engine == .ours }
      for index in added.indices where ours != nil {
        added[index].ratioToOurs = Self.ratio(added[index], ours!)
      }
      lines += added
    }
  }

  private static func ratio(_ line: ResultLine, _ ours: ResultLine) -> Double? {
    guard line.contestant.durability.comparedAs == ours.contestant.durability else { return nil }
    // A file that shrank did not grow.
    let (value, own) = (max(0, line.median), max(0, ours.median))
    if value == own { return 1 }
    return line.row.unit.isHigherBetter ? own / value : value / own
  }
}

/// A figure with four digits, or all of the whole number.
func formatted(_ value: Double) -> String {
  if value.isInfinite { return "inf" }
  if abs(value) >= 1_000 || value == value.rounded() { return String(Int(value.rounded())) }
  return String(format: abs(value) >= 100 ? "%.1f" : abs(value) >= 10 ? "%.2f" : "%.3f", value)
}
