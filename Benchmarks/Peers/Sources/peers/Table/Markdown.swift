// The table for people: a line a row and durability, a column an engine.
import Foundation

extension Results {
  /// The table with what is needed to repeat it.
  func markdown(_ facts: [String]) -> String {
    var text = "# Side by side with the peers\n\n"
    text += facts.map { "- \($0)\n" }.joined()
    text += """

      Median of the repetitions (min .. max). In brackets how many times better ours is; below 1 ours is
      worse. `raw` is the least work that the machine needs for the row. Only equal durability is compared.
      How rows and engines are set up: `docs/benchmarking.md`.

      | row | objects | unit | ours | sqlite | lmdb | raw |
      |---|---|---|---|---|---|---|

      """
    for group in grouped() {
      let first = group[0]
      text += "| \(first.row.name) | \(first.objects) | \(first.row.unit.rawValue) "
      for engine in EngineName.allCases {
        let cells = group.filter { $0.contestant.engine == engine }.map(Self.cell)
        text += "| \(cells.joined(separator: "<br>")) "
      }
      text += "|\n"
    }
    return text
  }

  private func grouped() -> [[ResultLine]] {
    var groups: [[ResultLine]] = []
    for line in lines {
      if let last = groups.last?.first, last.row.name == line.row.name,
        last.objects == line.objects
      {
        groups[groups.count - 1].append(line)
      } else {
        groups.append([line])
      }
    }
    return groups
  }

  private static func cell(_ line: ResultLine) -> String {
    var text = formatted(line.median)
    if line.contestant.engine == .ours { text = "**\(text)**" }
    text += " (\(formatted(line.samples.first!)) .. \(formatted(line.samples.last!)))"
    if let ratio = line.ratioToOurs, line.contestant.engine != .ours {
      text += " [\(ratio.isInfinite ? "inf" : String(format: "%.2f", ratio))]"
    }
    return text + " " + line.contestant.durability.rawValue
  }
}
