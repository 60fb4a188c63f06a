// What the files of the tool begin with. Where no list has the hash of a file, its name alone does
// not make it the tool's: a user may have a summary.csv, or a Realm file, of the same name.
internal import Foundation
internal import Platform

/// Tells by its first bytes whether a file may be what its name says.
enum KnownContent {
  /// Whether a file could have been written by the tool under this name.
  ///
  /// An empty one could: nothing is lost with it.
  static func fits(_ name: String, at path: String, bytes: UInt64) -> Bool {
    guard bytes > 0 else { return true }
    guard let file = try? LinuxFileSystem().open(path, []),
      let start = try? file.bytes(at: 0, length: Int(min(bytes, 4_096)))
    else { return false }
    let name =
      name.hasSuffix(FileCalls.partial) ? String(name.dropLast(FileCalls.partial.count)) : name
    if KnownNames.isRealmFile(name) { return isEngines(name, start) }
    // The disk is measured with these, and processes talk by them.
    if name.hasSuffix(".tmp") { return true }
    let text = String(decoding: start, as: UTF8.self)
    if let columns = tables[name] {
      return text.hasPrefix(columns.prefix(4).joined(separator: ","))
    }
    switch name {
    case "plan.json": return keys(path, contain: ["workload"])
    case "merge.json": return keys(path, contain: ["schema_version", "parts"])
    case HuntRecord.fileName: return keys(path, contain: ["kind", "shard"])
    case "bundle.json": return keys(path, contain: ["scenario", "schedule"])
    case "violation.txt": return text.contains(" violated: ")
    case "history.jsonl": return text.hasPrefix("{\"")
    case "history.tsv": return text.hasPrefix("step\twho\twhat\n")
    case "plan.html": return ReportPage.isBegun(by: text)
    default: break
    }
    if name.hasSuffix(".hgrm") { return text.hasPrefix(histogramStart) }
    return true
  }

  private static let histogramStart = "       Value     Percentile TotalCount"

  private static let tables: [String: [String]] =
    Dictionary(uniqueKeysWithValues: ResultSchema.tables).merging([
      "events.csv": ResultSchema.eventColumns, "compare.csv": ComparisonOutput.columns,
      "merged.csv": ResultSchema.summaryColumns, "hunt.csv": HuntRun.columns,
      "bugs.csv": HuntScore.columns, "plan.csv": PlanOutput.columns,
    ]) { $1 }

  /// Whether a file is a JSON object with some keys.
  private static func keys(_ path: String, contain wanted: [String]) -> Bool {
    guard let data = FileManager.default.contents(atPath: path),
      let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    else { return false }
    return wanted.allSatisfy { object[$0] != nil }
  }

  /// What files of the engine, and of others, begin with, by the end of their names.
  private static let marks: [(end: String, bytes: [UInt8])] = [
    (".lock", Array("realmlck".utf8)), (".log", Array("rm-log01".utf8)),
    (".log.unfinished", Array("rm-log01".utf8)),
    (".realm", [0x89, 0x4f, 0x42, 0x4a, 0x44, 0x42, 0x0a, 0x1a]),
    (".realm.unfinished", [0x89, 0x4f, 0x42, 0x4a, 0x44, 0x42, 0x0a, 0x1a]),
    (".sqlite", Array("SQLite format 3\0".utf8)),
  ]

  private static func isEngines(_ name: String, _ start: [UInt8]) -> Bool {
    guard let mark = marks.first(where: { name.hasSuffix($0.end) })?.bytes else { return true }
    // A process that is killed early leaves zeros.
    return start.starts(with: mark) || start.prefix(mark.count).allSatisfy { $0 == 0 }
  }
}
