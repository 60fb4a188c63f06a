// `merge` of shards of a hunt: what it refuses before anything is written, and what it prints.
internal import Foundation

extension MergeVerb {
  private struct HuntReport: Codable {
    var folder: String
    var merge: MergedHunts.Record
    var rows: [[String: JSONCell]]
  }

  /// Whether all folders are of hunts.
  ///
  /// - Throws: where some are and others are not: nothing of theirs can be added up.
  static func areHunts(_ folders: [String]) throws(UsageError) -> Bool {
    guard let hunt = folders.first(where: MergedHunts.isHunt) else { return false }
    guard let other = folders.first(where: { !MergedHunts.isHunt($0) }) else { return true }
    throw UsageError(
      "merge: '\(hunt)' is of a hunt, and '\(other)' is not: join the shards of a hunt by one "
        + "command and those of a run by another")
  }

  /// Joins them in a folder that `place` makes.
  static func joinHunts(
    _ folders: [String], _ values: FlagValues, _ place: ResultsPlace, _ format: OutputFormat,
    _ console: Console
  ) throws -> ExitCode {
    let merged: MergedHunts
    do throws(ResultsError) {
      merged = try MergedHunts(folders, isPartial: values.has("partial"))
    } catch {
      throw UsageError("merge: \(error.message)")
    }
    if !values.has("quiet") {
      for warning in merged.warnings { console.note("warning: " + warning) }
    }
    let path: String
    do {
      let folder = try place.make(
        overwrites: values.has("overwrite"), names: KnownNames.ofMergedHunt)
      try merged.write(to: folder)
      path = try folder.end(isComplete: true)
    } catch let error as UsageError {
      throw error
    } catch {
      console.note("error: cannot write '\(place.path)': \(error.explanation)")
      return .failed
    }
    console.keeps(path)
    switch format {
    case .json:
      console.printRaw(
        try encodeJSON(
          HuntReport(folder: path, merge: merged.record, rows: merged.table.objects)))
    case .text, .markdown: console.printRaw(shown(merged, path, format))
    }
    return .success
  }

  private static func shown(
    _ merged: MergedHunts, _ path: String, _ format: OutputFormat
  ) -> String {
    let table = TextTable(
      header: merged.isScore
        ? ["shard", "bugs", "not found by the portfolio"]
        : ["shard", "schedules", "seconds", "failures"],
      rows: merged.parts.map { part in
        [part.shard.text] + (merged.isScore ? scoreCells(part) : huntCells(part))
      })
    let count = merged.parts.count
    let title = "\(count) \(count == 1 ? "shard" : "shards") of one hunt joined"
    let isText = format == .text
    var text = isText ? "\(title)\n\n\(table.text)\n" : "**\(title)**\n\n\(table.markdown)\n"
    for part in merged.parts {
      for row in part.table {
        guard let failure = row["failure"], !failure.isEmpty else { continue }
        let program = row["scenario"] ?? ""
        text += (isText ? "" : "- ") + "\(part.shard.text): \(program): \(failure)\n"
        guard row["schedule"]?.isEmpty == false else { continue }
        let place = LiteralPath.quoted(path + "/" + Shard.folderName(part.shard.number))
        let command = "\(Tool.current.invocation) replay \(place)"
        text += isText ? command + "\n" : "  `\(command)`\n"
      }
    }
    return text + (isText ? "results     \(path)\n" : "- results: \(path)\n")
  }

  private static func huntCells(_ part: MergedHunts.Part) -> [String] {
    let schedules = part.table.compactMap { $0["schedules"].flatMap { Int($0) } }
    let seconds = part.table.compactMap { $0["elapsed_s"].flatMap { Double($0) } }
    let failures = part.table.count { !($0["failure"] ?? "").isEmpty }
    return [
      grouped(schedules.reduce(0, +)), decimal(seconds.reduce(0, +), places: 1), "\(failures)",
    ]
  }

  private static func scoreCells(_ part: MergedHunts.Part) -> [String] {
    let missed = part.table.count { $0["strategy"] == "portfolio" && $0["found"] == "false" }
    return ["\(Set(part.table.map { $0["bug"] ?? "" }).count)", "\(missed)"]
  }
}
