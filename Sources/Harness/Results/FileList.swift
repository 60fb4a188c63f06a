// The list of a results folder's own files, by which --overwrite knows what it may replace. It
// stands in run.json; in manifest.json where the folder holds no run of its own (a hunt, a plan,
// replicas, a merge), and while a run goes on. Folders of earlier versions have none: there the
// names count that runs have written ever since.
internal import Foundation

/// A file of a results folder.
package struct ListedFile: Codable, Equatable, Sendable {
  /// Relative to the folder; the name of a folder with a list of its own ends with '/'.
  package var name: String
  package var bytes: UInt64?
  /// XXH3 in hexadecimal; nil where others may write to the file later.
  package var hash: String?

  /// Stands for a list's own hash in the text that it is the hash of.
  static let ownHash = String(repeating: "0", count: 16)
}

/// manifest.json.
package struct FolderManifest: Codable, Sendable {
  package static let fileName = "manifest.json"

  package var schemaVersion = ResultSchema.version
  package var toolVersion = ResultSchema.toolVersion
  package var runId: String
  /// running, complete, or partial.
  package var status: String
  /// Nil while files still come.
  package var files: [ListedFile]?
}

/// What is known of the files that belong to a folder.
struct FileList {
  /// Files that hold a list.
  ///
  /// The last one is the list of what was being replaced when a process was killed.
  static let markers = ["run.json", FolderManifest.fileName, replaced]
  static let replaced = "replaced.json"

  private(set) var isComplete = false
  /// Whether names that runs are known to write count without being listed.
  private(set) var acceptsKnownNames = false
  private var files: [String: [ListedFile]] = [:]
  /// Lists that are not as they were written.
  private var changedMarkers: Set<String> = []

  /// What run.json and manifest.json have in common.
  private struct Marker: Decodable {
    var schemaVersion: Int
    var toolVersion: String
    var runId: String
    var status: String
    var files: [ListedFile]?
  }

  /// The list of a folder; nil when no run has written it.
  init?(of folder: String) {
    var isFound = false
    for name in Self.markers {
      guard case .file? = try? FileCalls.kind(folder + "/" + name),
        let text = textOfFile(folder + "/" + name), let marker = Self.marker(text)
      else { continue }
      isFound = true
      add(marker.files)
      if name != Self.replaced { isComplete = marker.status == "complete" }
      let own = marker.files?.first { $0.name == name || name == Self.replaced }
      if let hash = own?.hash, name != Self.replaced, Self.ownHash(of: text, hash) != hash {
        changedMarkers.insert(name)
      }
    }
    if !isFound {
      guard EarlierFolders.isOne(folder) else { return nil }
      acceptsKnownNames = true
      isComplete = (try? FileCalls.names(in: folder))?.contains { $0.hasSuffix(".csv") } ?? false
    }
  }

  private static func marker(_ text: String) -> Marker? {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try? decoder.decode(Marker.self, from: Data(text.utf8))
  }

  private mutating func add(_ list: [ListedFile]?) {
    guard let list else {
      acceptsKnownNames = true
      return
    }
    for file in list { files[file.name, default: []].append(file) }
  }

  /// The hash of a list's text before the hash was put in.
  private static func ownHash(of text: String, _ hash: String) -> String {
    FileCalls.hash(ofText: text.replacing("\"\(hash)\"", with: "\"\(ListedFile.ownHash)\""))
  }

  /// Puts the hash of a list's text into it.
  static func sealed(_ text: String) -> String {
    text.replacing("\"\(ListedFile.ownHash)\"", with: "\"\(FileCalls.hash(ofText: text))\"")
  }

  /// Whether a folder of this name, with a list of its own, is a part of this one.
  func coversPart(_ name: String) -> Bool {
    files[name + "/"] != nil || (acceptsKnownNames && KnownNames.isPart(name))
  }

  /// Why a file is not as a run has left it; nil when it is.
  func objection(to name: String, at path: String, bytes: UInt64) -> String? {
    if changedMarkers.contains(name) { return "'\(name)', which has been changed since" }
    if Self.markers.contains(name) { return nil }
    if let entries = files[name] {
      let isAsWritten = entries.contains { file in
        if file.bytes == nil { return true }
        return file.bytes == bytes && (file.hash == nil || file.hash == FileCalls.hash(of: path))
      }
      // A list that is still open says nothing of what comes later.
      if isAsWritten || acceptsKnownNames { return nil }
      return "'\(name)', which has been changed since"
    }
    return acceptsKnownNames && KnownNames.isFile(name) ? nil : "'\(name)'"
  }
}

/// Names that runs write.
enum KnownNames {
  private static let files: Set<String> = [
    "run.json", FolderManifest.fileName, FileList.replaced, "summary.csv", "samples.csv",
    "growth.csv", "invariants.csv", "events.csv", "compare.csv", "plan.json", "violation.txt",
    "history.jsonl", "raw-sync.tmp", "merge.json", "merged.csv", "hunt.csv", "bundle.json",
    "schedule.txt", "bugs.csv", "bugs.md", "plan.csv", "plan.html",
  ]
  /// Folders of files that the folder above lists.
  static let folders: Set<String> = ["histograms", "history", "experiments"]
  /// The folder of results that are not in their place, or not complete.
  static let unfinished = "unfinished-"

  static func isFile(_ name: String) -> Bool {
    if files.contains(name) || isRealmFile(name) { return true }
    // What a process leaves that is killed while it writes.
    if name.hasSuffix(FileCalls.partial) {
      return isFile(String(name.dropLast(FileCalls.partial.count)))
    }
    if name.hasPrefix("raw-sync-") && name.hasSuffix(".tmp") { return true }
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return false }
    switch parts[0] {
    case "histograms":
      let operations = Operation.allCases.flatMap { [$0.rawValue, $0.rawValue + "-response"] }
      return operations.contains { parts[1] == $0 + ".hgrm" }
    case "history": return parts[1].hasSuffix(".part") && Int(parts[1].dropLast(5)) != nil
    default: return false
    }
  }

  /// The run's own Realm file, its lock and log, and copies that a compaction makes.
  static func isRealmFile(_ name: String) -> Bool {
    let name = Substring(name)
    return name == realmFile || name.hasPrefix(realmFile + ".")
  }
  static let realmFile = "data.realm"

  /// The folder of a replica, a shard or an experiment.
  static func isPart(_ name: String) -> Bool {
    ["replica-", "shard-", "experiments/"].contains {
      name.hasPrefix($0) && name.count > $0.count && name.dropFirst($0.count).allSatisfy(\.isNumber)
    }
  }
}

/// Folders without a list that earlier versions have written.
private enum EarlierFolders {
  /// By the first words of a table that only the tool writes, or by parts that are results folders.
  static func isOne(_ folder: String) -> Bool {
    let names = ((try? FileCalls.names(in: folder)) ?? []).filter {
      // Of a later run, which says nothing of what was there before.
      !$0.hasPrefix(KnownNames.unfinished)
    }
    func begins(_ name: String, _ columns: [String]) -> Bool {
      names.contains(name)
        && textOfFile(folder + "/" + name)?.hasPrefix(columns.prefix(4).joined(separator: ","))
          ?? false
    }
    if begins("plan.csv", PlanOutput.columns) || begins("hunt.csv", HuntRun.columns)
      || begins("bugs.csv", HuntScore.columns) || begins("merged.csv", ResultSchema.summaryColumns)
    {
      return true
    }
    let hasReplicas = names.contains { $0.hasPrefix("replica-") && KnownNames.isPart($0) }
    if hasReplicas && begins("summary.csv", ResultSchema.summaryColumns) { return true }
    // A plan or a hunt that has ended early leaves nothing but its parts.
    let parts =
      names == ["experiments"]
      ? ((try? FileCalls.names(in: folder + "/experiments")) ?? []).map { "experiments/" + $0 }
      : names.filter { $0.hasPrefix("shard-") }
    let isNothingElse = names == ["experiments"] || parts.count == names.count
    return isNothingElse && !parts.isEmpty
      && parts.allSatisfy { KnownNames.isPart($0) && FileList(of: folder + "/" + $0) != nil }
  }
}
