// The table of `--scale`: how each figure grows with the number of objects.
import Foundation

extension Results {
  /// A line a row and contestant, a column a size.
  func scaleTable(_ facts: [String]) -> String {
    let sizes = Set(lines.map(\.objects)).sorted()
    guard let smallest = sizes.first, let largest = sizes.last else { return "" }
    let logarithm = log(Double(largest)) / log(Double(smallest))
    var growths: [String: [String: Double]] = [:]
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
        growths[row.name, default: [:]][contestant.engine.rawValue] = growth
      }
      text += "|\n"
    }
    return text + reasons(growths, logarithm)
  }

  /// What of ours grows faster than the logarithm, and why.
  private func reasons(_ growths: [String: [String: Double]], _ logarithm: Double) -> String {
    let names = rowsAndContestants().filter { $0.1.engine == .ours }.map(\.0.name)
    let fast = names.filter { growths[$0]?["ours"] ?? 0 > logarithm }
    if fast.isEmpty { return "\nNothing of ours grows faster than the logarithm.\n" }
    var text = "\nWhat of ours grows faster than the logarithm, and why:\n\n"
    for name in fast {
      let reason = GrowthReason.all[name]
      let limit = reason?.limit ?? name
      text += "- `\(name)`, \(String(format: "%.2f", growths[name]!["ours"]!)): "
      text += reason?.text ?? "no reason is known."
      if let raw = growths[limit]?["raw"] {
        text += " The limit" + (limit == name ? "" : " `\(limit)`")
        text += " has grown by \(String(format: "%.2f", raw)) in the same run."
      }
      text += "\n"
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

/// Why a row may grow faster than the logarithm of the number of objects.
private struct GrowthReason {
  let text: String
  /// The row whose `raw` figure shows it; nil: the row itself.
  var limit: String?

  static let all: [String: GrowthReason] = [
    "commit-durable": disk, "commit-durable-p99": disk, "commit-durable-p99.9": disk,
    "commit-durable-max": disk,
    "bulk-insert-from-values": GrowthReason(
      text: "a file of gigabytes takes its pages from the system and is written back meanwhile."),
    "lookup": GrowthReason(
      text: """
        a look-up needs four reads in a row of which each says where the next one is; of 10,000 objects \
        what they touch is in the processor's caches, of 10,000,000 it is not even in its table of addresses.
        """, limit: "raw-dependent-reads-4"),
    "iterate": GrowthReason(text: "small files are in the processor's caches."),
    "freeze": unconcerned, "refresh": unconcerned,
    "open": GrowthReason(
      text:
        "the pages that the first look-up touches are mapped one by one; a small file has few of them."
    ),
    "open-cold": GrowthReason(
      text: """
        each level of the trees that is not in memory is a read of the disk; a small file comes as a whole \
        with the first one.
        """),
    "lookup-cold": GrowthReason(
      text: """
        of 10,000 objects everything is in memory after the first look-ups; later each reads some blocks \
        from the disk, one after the other.
        """),
    "lookup-small-memory": GrowthReason(
      text: """
        the memory allowed is never less than 10 MB, which is all of a small file; of a large one not even \
        what look-ups touch fits.
        """),
    "iterate-small-memory": GrowthReason(
      text: "the memory allowed is never less than 10 MB, which is all of a small file."),
    "commit-memory": GrowthReason(
      text:
        "the object, its cluster and the branches above it come from memory instead of a cache.",
      limit: "raw-dependent-reads-4"),
  ]

  private static let disk = GrowthReason(
    text: "the disk takes longer to sync pages that lie far apart, as those of a large file do.")
  private static let unconcerned = GrowthReason(
    text: "it touches nothing of the file: what differs is the machine between the measurements.")
}
