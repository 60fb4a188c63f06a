// Whether runs did the same work: figures of different work are never compared.
internal import Foundation

/// Compares what runs were asked to do.
enum SamePlan {
  /// Settings that say where and how results go, not what is measured.
  private static let ignored: Set<String> = [
    "path", "keep_file", "output", "overwrite", "format", "thresholds", "quick", "strict", "seed",
    "shard",
    "interval_ns",
  ]

  /// Refuses runs that are not whole or differ in more than where they ran.
  static func check(
    _ runs: [MeasuredRun], acceptsPartial: Bool = false
  ) throws(ResultsError) {
    guard let first = runs.first else { throw ResultsError("there is no run to compare") }
    for run in runs {
      guard acceptsPartial || run.document.status == RunStatus.complete.rawValue else {
        throw ResultsError(
          "'\(run.folder)' holds a run that is \(run.document.status): run it again, or leave it out"
        )
      }
      let differences = Self.differences(first, run)
      guard differences.isEmpty else {
        throw ResultsError(
          "'\(first.folder)' and '\(run.folder)' did different work: "
            + differences.joined(separator: "; "))
      }
    }
  }

  /// What differs between two runs, a text each.
  private static func differences(_ first: MeasuredRun, _ other: MeasuredRun) -> [String] {
    let (left, right) = (facts(first), facts(other))
    return Set(left.keys).union(right.keys).sorted().compactMap { name in
      let (a, b) = (left[name] ?? "not set", right[name] ?? "not set")
      return a == b ? nil : "\(name) is \(a) and \(b)"
    }
  }

  private static func facts(_ run: MeasuredRun) -> [String: String] {
    var facts: [String: String] = [
      "workload": run.document.workload, "build": run.document.environment.build,
    ]
    if let text = try? encodeJSON(run.document.settings),
      let settings = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    {
      for (name, value) in settings where !ignored.contains(name) { facts[name] = "\(value)" }
    }
    return facts
  }

  /// What makes figures of these runs say less.
  static func warnings(_ runs: [MeasuredRun]) -> [String] {
    var warnings: [String] = []
    if Set(runs.map(\.machine)).count > 1 {
      warnings.append("the runs are of different machines: only counters are judged")
    }
    for run in runs where !run.document.verdict.isValid {
      warnings.append(
        "\(run.folder) is not valid: \(run.document.verdict.reasons.joined(separator: "; "))")
    }
    return warnings
  }
}
