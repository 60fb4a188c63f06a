// The table of `--scale`: how each figure grows with the number of objects.
import Foundation

extension Results {
  /// A line a row and contestant, a column a size.
  func scaleTable(_ facts: [String]) -> String {
    let sizes = Set(lines.map(\.objects)).sorted()
    guard let smallest = sizes.first, let largest = sizes.last else { return "" }
    let logarithm = log(Double(largest)) / log(Double(smallest))
    var text = "# How the figures grow with the file\n\n"
    text += facts.map { "- \($0)\n" }.joined()
    text += """

      Medians (min .. max). *Growth*: how many times worse the largest file is than the smallest; a figure
      that grows as the logarithm of the number of objects has \(String(format: "%.2f", logarithm)).

      | row | unit | engine | \(sizes.map { "\($0) objects" }.joined(separator: " | ")) | growth |
      |---|---|---|\(sizes.map { _ in "---|" }.joined())---|

      """
    for (row, contestant) in rowsAndContestants() {
      let ofRow = lines.filter { $0.row.name == row.name && $0.contestant == contestant }
      text += "| \(row.name) | \(row.unit.rawValue) "
      text += "| \(contestant.engine.rawValue) \(contestant.durability.rawValue) "
      for size in sizes {
        let line = ofRow.first { $0.objects == size }
        text += "| \(line.map(Self.figures) ?? "") "
      }
      text += "| "
      if let small = ofRow.first(where: { $0.objects == smallest }),
        let large = ofRow.first(where: { $0.objects == largest })
      {
        let growth =
          row.unit.isHigherBetter ? small.median / large.median : large.median / small.median
        text += String(format: "%.2f ", growth)
      }
      text += "|\n"
    }
    return text
  }

  private static func figures(_ line: ResultLine) -> String {
    "\(formatted(line.median)) "
      + "(\(formatted(line.samples.first!)) .. \(formatted(line.samples.last!)))"
  }

  /// In the order of the rows, each contestant of a row once.
  private func rowsAndContestants() -> [(Row, Contestant)] {
    var seen: Set<String> = []
    var pairs: [(Row, Contestant)] = []
    for line in lines {
      let contestant = line.contestant
      let key =
        "\(line.row.name) \(contestant.engine.rawValue) \(contestant.durability.rawValue)"
      if seen.insert(key).inserted { pairs.append((line.row, contestant)) }
    }
    return pairs
  }
}
