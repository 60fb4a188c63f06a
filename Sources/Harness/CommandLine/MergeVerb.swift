// `realm-bench merge`: shards of one run or hunt, from many machines, joined into one results
// folder.
internal import Foundation

/// The verb `merge`.
package enum MergeVerb: VerbDescription {
  package static let name = "merge"
  package static let arguments = "FOLDER ... -o FOLDER"
  package static let summary = "join shards of one run or hunt: added up, never averaged"
  package static let usage = """
    realm-bench merge FOLDER ... -o FOLDER

    Joins results folders of one plan and build, such as those of 'run --shard K/N' on many machines
    or of 'run --replicas N': histograms are added, rows of all tables stand below each other with
    'replica' counting the folders, and merged.csv has one row an operation from the added
    histograms. Nothing is averaged: rates and threads of shards, which run at once, are added up; of
    other runs the rate is all that was done in all of their time. 'compare' and 'report' take the new
    folder as they take one of replicas. Folders of other work, other builds, twice the same run or
    shard, and shards of different runs are refused; so are interrupted runs, and runs that lack a
    histogram, without --partial. Shards that are missing are named.

    Folders of 'hunt --shard K/N', and of its score, are joined likewise: their tables below each
    other, each shard a folder for 'replay'. All N are needed, once each and of one hunt (seed,
    strategy, scenario, duration); --partial takes those that there are. Hunts and runs do not mix.

      realm-bench merge shard-1 shard-2 shard-3 -o joined
    """
  package static let flags: [FlagDefinition] = [
    .init("output", "DIR", "the folder to write, also -o"),
    .init("overwrite", nil, "replace the results in the folder when the new ones are complete"),
    .init("partial", nil, "take interrupted and failed runs, too, and mark them"),
    .init("format", "text|json|markdown", "form of the result (text)"),
    .init("quiet", nil, "no warnings"),
    .init("help", nil, "show this"),
  ]

  private struct Report: Codable {
    var folder: String
    var merge: MergedRuns.Record
    var merged: [[String: JSONCell]]
  }

  package static func perform(_ arguments: [String], console: Console) throws -> ExitCode {
    let words = arguments.map { $0 == "-o" ? "--output" : $0 }
    let values = try FlagValues(words, known: flags)
    if values.has("help") {
      console.printRaw(help)
      return .success
    }
    let format: OutputFormat = try values.choice("format") ?? .text
    guard !values.positional.isEmpty else { throw UsageError("merge needs results folders") }
    guard let output = values.first("output") else {
      throw UsageError("merge needs the folder to write: -o FOLDER")
    }
    let sources = try values.paths("merge")
    let place = ResultsPlace(workload: "merge", seed: 0, output: output, now: Date())
    try place.refuseObstacle(overwrites: values.has("overwrite"))
    for path in sources where FileCalls.overlap(path, output) {
      // Its own input would be replaced.
      throw UsageError("merge: '\(path)' and the output '\(output)' lie in one another")
    }
    if try areHunts(sources) { return try joinHunts(sources, values, place, format, console) }
    let merged: MergedRuns
    let table: CSVTable
    do {
      let isPartial = values.has("partial")
      let runs = try sources.flatMap { try MeasuredRun.all(in: $0, acceptsPartial: isPartial) }
      merged = try MergedRuns(runs, isPartial: isPartial)
      // Before anything is written: what cannot be added up leaves nothing behind.
      table = try merged.merged()
      for (name, columns) in ResultSchema.tables {
        _ = try merged.rows(of: name, columns: columns)
      }
    } catch let error as ResultsError {
      throw UsageError("merge: \(error.message)")
    }
    if !values.has("quiet") {
      for warning in merged.warnings { console.note("warning: " + warning) }
    }
    do {
      let folder = try place.make(
        overwrites: values.has("overwrite"), withHistograms: true, names: KnownNames.ofMerge)
      try merged.write(to: folder)
      _ = try folder.end(isComplete: true)
    } catch let error as UsageError {
      throw error
    } catch {
      console.note("error: cannot write '\(output)': \(error.explanation)")
      return .failed
    }
    console.keeps(output)
    switch format {
    case .json:
      console.printRaw(
        try encodeJSON(Report(folder: output, merge: merged.record, merged: table.objects)))
    case .text, .markdown: console.printRaw(shown(table, merged, output, format))
    }
    return .success
  }

  private static let shownColumns = [
    ("operation", "operation"), ("threads", "threads"), ("count", "count"),
    ("rate_per_s", "per second"), ("service_p50_ns", "p50"), ("service_p99_ns", "p99"),
    ("service_p99_9_ns", "p99.9"), ("service_max_ns", "max"),
  ]

  private static func shown(
    _ table: CSVTable, _ merged: MergedRuns, _ output: String, _ format: OutputFormat
  ) -> String {
    let rows = (CSVTable.parse(table.text) ?? []).dropFirst().map { row in
      shownColumns.map { column, _ in
        let cell = row[table.columns.firstIndex(of: column)!]
        if cell.isEmpty { return "-" }
        if column.hasSuffix("_ns") { return UInt64(cell).map(readableDuration) ?? cell }
        if column == "operation" { return cell }
        return Double(cell).map { grouped(Int($0.rounded())) } ?? cell
      }
    }
    let shown = TextTable(header: shownColumns.map(\.1), rows: rows)
    let title = "\(merged.runs.count) runs of \(merged.runs[0].document.workload) joined"
    return format == .text
      ? "\(title)\n\n\(shown.text)\nresults     \(output)\n"
      : "**\(title)**\n\n\(shown.markdown)\n- results: \(output)\n"
  }
}
