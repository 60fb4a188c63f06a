// Shards of one hunt joined: rows stand below each other, and what a failure has left stays a
// folder of its own, so that `replay` repeats it from there. Different schedules are not added up:
// two shards may have run the same one.
internal import Foundation

/// Shards of one hunt, those of `hunt --bugs` too.
struct MergedHunts {
  /// One shard.
  struct Part {
    let folder: String
    let record: HuntRecord
    let shard: Shard
    let runID: String
    let status: String
    /// Its table and hunt-samples.csv; empty where there is none.
    let table: [[String: String]]
    let samples: [[String: String]]
  }

  /// In the order of their numbers.
  let parts: [Part]
  let warnings: [String]

  /// Whether a folder is of a hunt, which has no run.json.
  static func isHunt(_ folder: String) -> Bool {
    func has(_ name: String) -> Bool {
      FileManager.default.fileExists(atPath: folder + "/" + name)
    }
    return !has("run.json") && [HuntRecord.fileName, "hunt.csv", "bugs.csv"].contains(where: has)
  }

  /// Refuses what does not belong together.
  ///
  /// - Parameter isPartial: whether hunts are taken that were interrupted, and some of the shards.
  init(_ folders: [String], isPartial: Bool) throws(ResultsError) {
    var parts: [Part] = []
    for folder in folders {
      if !isPartial { try Self.refuseShortage(folder) }
      for place in Self.shards(in: folder) { parts.append(try Self.part(place, isPartial)) }
    }
    guard let first = parts.first else { throw ResultsError("there is no hunt to join") }
    if let whole = parts.first(where: { $0.shard.count == 1 }) {
      throw ResultsError(
        "'\(whole.folder)' is a whole hunt and no shard of one: hunt with --shard K/N, and join "
          + "these folders")
    }
    for part in parts.dropFirst() { try Self.refuseOther(first, part) }
    var places: [Int: String] = [:]
    for part in parts {
      if let other = places.updateValue(part.folder, forKey: part.shard.number) {
        throw ResultsError(
          "shard \(part.shard.text) is there twice: '\(other)' and '\(part.folder)'")
      }
    }
    try Self.refuseOtherPrograms(parts)
    var warnings: [String] = []
    if let words = Shard.missing(first.shard.count, places) {
      guard isPartial else {
        throw ResultsError(
          "\(words): give their folders, too, or take what there is with --partial")
      }
      warnings.append(words)
    }
    if Set(parts.map(\.record.buildId)).count > 1 {
      warnings.append("the shards are of different builds")
    }
    for part in parts where part.status != "complete" {
      warnings.append("'\(part.folder)' is \(part.status): its rows are not of the whole time")
    }
    self.parts = parts.sorted { $0.shard.number < $1.shard.number }
    self.warnings = warnings
  }

  // MARK: - Reading

  /// The shards of a folder: those of `hunt --processes` or of an earlier merge, or itself.
  private static func shards(in folder: String) -> [String] {
    let names = ((try? FileCalls.names(in: folder)) ?? []).filter { name in
      name.hasPrefix("shard-") && KnownNames.isPart(name)
    }
    return names.isEmpty ? [folder] : names.sorted().map { folder + "/" + $0 }
  }

  private static func refuseShortage(_ folder: String) throws(ResultsError) {
    guard let shortage = FolderManifest.shortage(of: folder) else { return }
    throw ResultsError("\(shortage): hunt again, or take what there is with --partial")
  }

  private static func part(_ folder: String, _ isPartial: Bool) throws(ResultsError) -> Part {
    if !isPartial { try refuseShortage(folder) }
    let record = try HuntRecord.read(folder)
    try refuseChange(HuntRecord.fileName, folder)
    let shard: Shard
    do throws(UsageError) { shard = try Shard(record.shard, flag: "shard") } catch {
      throw ResultsError("'\(folder)/\(HuntRecord.fileName)': \(error.message)")
    }
    let table = try rows(record.table.name, folder)
    if table == nil && !isPartial {
      throw ResultsError("'\(folder)/\(record.table.name)' is missing: hunt again")
    }
    return Part(
      folder: folder, record: record, shard: shard, runID: runID(of: folder),
      status: FolderManifest.status(of: folder) ?? "partial", table: table ?? [],
      samples: try rows("hunt-samples.csv", folder) ?? [])
  }

  private static func refuseChange(_ name: String, _ folder: String) throws(ResultsError) {
    guard FileList(of: folder)?.damage(of: name, in: folder) != nil else { return }
    throw ResultsError(
      "'\(folder)/\(name)' is not as the hunt has left it, or is gone: \(FolderManifest.fileName) "
        + "says otherwise; take the original, or hunt again")
  }

  private static func runID(of folder: String) -> String {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return FileManager.default.contents(atPath: folder + "/" + FolderManifest.fileName)
      .flatMap { try? decoder.decode(FolderManifest.self, from: $0).runId } ?? ""
  }

  /// The rows of a table by column; nil where there is no such file.
  private static func rows(
    _ name: String, _ folder: String
  ) throws(ResultsError) -> [[String: String]]? {
    let path = folder + "/" + name
    try refuseChange(name, folder)
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    guard let rows = textOfFile(path).flatMap({ CSVTable.parse($0) }), let columns = rows.first
    else { throw ResultsError("'\(path)' is no CSV table") }
    if let cut = rows.firstIndex(where: { $0.count != columns.count }) {
      throw ResultsError(
        "'\(path)' is damaged: line \(cut + 1) has \(rows[cut].count) cells, its header "
          + "\(columns.count)")
    }
    return rows.dropFirst().map { row in
      Dictionary(zip(columns, row)) { first, _ in first }
    }
  }

  // MARK: - Refusals

  private static func refuseOther(_ first: Part, _ other: Part) throws(ResultsError) {
    let counts = ("number of shards", "\(first.shard.count)", "\(other.shard.count)")
    let common = zip(first.record.common, other.record.common).map { ($0.name, $0.value, $1.value) }
    for (name, mine, its) in [counts] + common where mine != its {
      throw ResultsError(
        "'\(first.folder)' and '\(other.folder)' are no shards of one hunt: \(name) is \(mine) and "
          + "\(its)")
    }
  }

  /// Refuses shards of builds with other programs, or with other bugs.
  private static func refuseOtherPrograms(_ parts: [Part]) throws(ResultsError) {
    let whole = parts.filter { !$0.table.isEmpty }
    guard let first = whole.first else { return }
    if !first.record.isScore {
      let programs = first.table.map { $0["scenario"] ?? "" }
      for part in whole where part.table.map({ $0["scenario"] ?? "" }) != programs {
        throw ResultsError(
          "'\(first.folder)' and '\(part.folder)' have hunted in other programs: they are of "
            + "different builds")
      }
      return
    }
    var folders: [String: String] = [:]
    for part in whole {
      for bug in Set(part.table.map { $0["bug"] ?? "" }).sorted() {
        guard let other = folders.updateValue(part.folder, forKey: bug) else { continue }
        throw ResultsError(
          "'\(other)' and '\(part.folder)' both have the bug '\(bug)': they are of different "
            + "builds")
      }
    }
  }

  // MARK: - What comes out

  var isScore: Bool { parts[0].record.isScore }

  /// The rows of all shards below each other.
  var table: CSVTable { joined(parts[0].record.table.columns) { $0.table } }

  private func joined(
    _ columns: [String], _ rows: (Part) -> [[String: String]]
  ) -> CSVTable {
    var table = CSVTable(columns: columns)
    for cells in parts.flatMap(rows) {
      // Columns only grow: what an older version lacks is empty.
      table.append(columns.map { column in cells[column].flatMap { $0.isEmpty ? nil : $0 } })
    }
    return table
  }

  /// bugs.md of all shards: the lines of bugs below one head.
  private var bugLines: String {
    var head: [Substring] = []
    var lines: [Substring] = []
    for part in parts {
      let all = (textOfFile(part.folder + "/bugs.md") ?? "").split(separator: "\n")
      if head.isEmpty { head = Array(all.prefix(2)) }
      lines += all.filter { $0.hasPrefix("| `") }
    }
    return (head + lines).joined(separator: "\n") + "\n"
      + warnings.map { "\n" + $0 + "\n" }.joined()
  }

  /// Where the shards came from, in merge.json.
  struct Record: Codable, Sendable {
    struct Part: Codable, Sendable {
      var shard: String
      var folder: String
      var runId: String
      var status: String
      var buildId: String?
    }

    var schemaVersion = ResultSchema.version
    var seed: UInt64
    var strategy: String
    var parts: [Part]
    var warnings: [String]
  }

  var record: Record {
    Record(
      seed: parts[0].record.seed, strategy: parts[0].record.strategy,
      parts: parts.map { part in
        .init(
          shard: part.shard.text, folder: part.folder, runId: part.runID, status: part.status,
          buildId: part.record.buildId)
      }, warnings: warnings)
  }

  /// Writes the tables, and beside them what each shard has left.
  func write(to folder: ResultsFolder) throws {
    try folder.write(try encodeJSON(record), to: "merge.json")
    try folder.write(table.text, to: parts[0].record.table.name)
    if isScore {
      try folder.write(bugLines, to: "bugs.md")
    } else {
      let samples = joined(HuntRun.sampleColumns) { $0.samples }
      try folder.write(samples.text, to: "hunt-samples.csv")
    }
    for part in parts {
      let target = folder.path + "/" + Shard.folderName(part.shard.number)
      try FileCalls.makeFolder(target)
      for name in try Self.results(in: part.folder) {
        try FileCalls.refuseEndless("\(part.folder)/\(name)")
        if name.hasPrefix(HuntBundle.images + "/") {
          try FileCalls.makeFolders("\(target)/\(HuntBundle.images)")
        }
        try FileManager.default.copyItem(
          atPath: "\(part.folder)/\(name)", toPath: "\(target)/\(name)")
      }
    }
  }

  /// The files that a hunt has written; what a user has put beside them stays where it is.
  private static func results(in folder: String) throws -> [String] {
    let images = folder + "/" + HuntBundle.images
    let hasImages = FileManager.default.fileExists(atPath: images)
    let inner = hasImages ? try FileCalls.names(in: images) : []
    return (try FileCalls.names(in: folder) + inner.map { "\(HuntBundle.images)/\($0)" }).filter {
      KnownNames.isFile($0, amongThoseOf: KnownNames.ofHunt)
    }
  }
}
