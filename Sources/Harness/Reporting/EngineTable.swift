// Engines side by side: what runs of the same workload measured, a row an operation and engine.
// Only rows of one durability stand next to each other, and nothing is ranked.
internal import Foundation

/// A table of runs that differ by their engine.
package struct EngineTable {
  /// What is told of one operation on one engine, over its runs.
  private struct Line {
    var workload: String
    var operation: String
    var durability: String
    var engine: String
    var runs: [[String: Double]]

    /// Of replicas the median.
    func median(_ column: String) -> Double? {
      let values = runs.compactMap { $0[column] }.sorted()
      guard !values.isEmpty else { return nil }
      let middle = values.count / 2
      return values.count % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2
    }
  }

  private let lines: [Line]

  package init(_ runs: [MeasuredRun]) {
    // As `list engines` has them.
    let order = EngineKind.allCases.map(\.name)
    var lines: [Line] = []
    for run in runs {
      for (key, figures) in run.rows where ["measure", "load", "recover"].contains(key.phase) {
        let place = lines.firstIndex {
          $0.workload == key.workload && $0.operation == key.name && $0.engine == key.engine
            && $0.durability == run.document.settings.durability
        }
        if let place {
          lines[place].runs.append(figures)
        } else {
          lines.append(
            Line(
              workload: key.workload, operation: key.name,
              durability: run.document.settings.durability, engine: key.engine, runs: [figures]))
        }
      }
    }
    self.lines = lines.sorted { left, right in
      (left.workload, left.operation, left.durability, order.firstIndex(of: left.engine) ?? 0)
        < (
          right.workload, right.operation, right.durability,
          order.firstIndex(of: right.engine)
            ?? 0
        )
    }
  }

  /// Whether there is more than one engine.
  package var isNeeded: Bool { Set(lines.map(\.engine)).count > 1 }

  package static let header = [
    "operation", "durability", "engine", "count", "per second", "p50", "p99", "max",
    "syncs a commit", "written a commit", "calls a commit", "allocations",
  ]

  package var rows: [[String]] {
    let isOfOneWorkload = Set(lines.map(\.workload)).count == 1
    return lines.map { line in
      func duration(_ column: String) -> String {
        line.median(column).map { readableDuration(UInt64($0)) } ?? "-"
      }
      func count(_ column: String) -> String {
        line.median(column).map { grouped(Int($0.rounded())) } ?? "-"
      }
      return [
        isOfOneWorkload ? line.operation : "\(line.workload): \(line.operation)", line.durability,
        line.engine, count("count"), count("rate_per_s"), duration("service_p50_ns"),
        duration("service_p99_ns"), duration("service_max_ns"),
        line.median("syncs_per_commit").map { decimal($0, places: 3) } ?? "-",
        line.median("written_bytes_per_commit").map { readableBytes(UInt64($0)) } ?? "-",
        line.median(GateRow.systemCalls).map { decimal($0, places: 2) } ?? "-",
        line.median(GateRow.allocations).map { decimal($0, places: 2) } ?? "-",
      ]
    }
  }

  private struct Report: Codable {
    var engines: [String]
    var replicas: Int
    var workload: String
    var folder: String
    /// The cells of summary.csv, of all runs.
    var summary: [[String: JSONCell]]
  }

  /// The end of a run of several engines; as JSON that of replicas, too.
  func render(_ settings: RunSettings, source: String, folder: String) throws -> String {
    let title =
      "\(settings.workload.rawValue) on \(settings.engines.joined(separator: ", ")): "
      + "\(settings.shape), durability \(settings.durability.rawValue), seed \(settings.seed)"
    let more =
      settings.replicas > 1 ? "medians of \(settings.replicas) replicas an engine" : nil
    switch settings.format {
    case .text:
      let notes = [more, "results     \(folder)"].compactMap(\.self)
      return "\(title)\n\n\(TextTable(header: Self.header, rows: rows).text)\n"
        + notes.joined(separator: "\n") + "\n"
    case .markdown:
      return "**\(title)**\n\n\(TextTable(header: Self.header, rows: rows).markdown)\n"
        + (more.map { "- \($0)\n" } ?? "") + "- results: \(folder)\n"
    case .json:
      var table = CSVTable(columns: ResultSchema.summaryColumns)
      for row in (textOfFile(source + "/summary.csv").flatMap(CSVTable.parse) ?? []).dropFirst()
      where row.count == table.columns.count {
        table.append(row.map { $0.isEmpty ? nil : $0 })
      }
      return try encodeJSON(
        Report(
          engines: settings.engines, replicas: settings.replicas,
          workload: settings.workload.rawValue, folder: folder,
          summary: table.objects))
    }
  }
}
