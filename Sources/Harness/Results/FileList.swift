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

  /// How far the results of a folder have come; nil where no such file tells.
  static func status(of folder: String) -> String? {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return FileManager.default.contents(atPath: folder + "/" + fileName)
      .flatMap { try? decoder.decode(FolderManifest.self, from: $0).status }
  }
}

/// What is known of the files that belong to a folder.
struct FileList {
  /// Files that hold a list.
  static let markers = ["run.json", FolderManifest.fileName]

  private(set) var isComplete = false
  /// Whether names that runs are known to write count without being listed.
  private(set) var acceptsKnownNames = false
  private var files: [String: [ListedFile]] = [:]
  /// Lists that are the tool's, and those among them that are not as they were written.
  private var foundMarkers: Set<String> = []
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
    for name in Self.markers {
      guard let (marker, text) = Self.marker(folder + "/" + name) else { continue }
      foundMarkers.insert(name)
      isComplete = marker.status == "complete"
      add(marker.files)
      let hash = marker.files?.first { $0.name == name }?.hash
      if let hash, Self.ownHash(of: text, hash) != hash { changedMarkers.insert(name) }
    }
    addInterrupted(folder)
    if foundMarkers.isEmpty, FoldersWithoutList.isOne(folder) {
      acceptsKnownNames = true
      isComplete = (try? FileCalls.names(in: folder))?.contains { $0.hasSuffix(".csv") } ?? false
    }
    if foundMarkers.isEmpty && files.isEmpty && !acceptsKnownNames { return nil }
  }

  /// Adds the lists of both results where a process was killed while it put the ones in the place
  /// of the others: each is in a folder within.
  private mutating func addInterrupted(_ folder: String) {
    let inner = ((try? FileCalls.names(in: folder)) ?? []).filter {
      $0.hasPrefix(KnownNames.unfinished)
    }
    guard inner.contains(where: { $0.hasSuffix(KnownNames.earlier) }) else { return }
    for path in inner.map({ folder + "/" + $0 }) {
      for name in Self.markers {
        guard let (marker, _) = Self.marker(path + "/" + name) else { continue }
        add(marker.files)
        isComplete = isComplete || marker.status == "complete"
      }
    }
  }

  private static func marker(_ path: String) -> (Marker, text: String)? {
    guard case .file? = try? FileCalls.kind(path), let text = textOfFile(path) else { return nil }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return (try? decoder.decode(Marker.self, from: Data(text.utf8))).map { ($0, text) }
  }

  /// Why the list of a run cannot say what the run has left; nil when it can, or none is there.
  static func unreadable(in folder: String) -> String? {
    let path = folder + "/run.json"
    guard (try? FileCalls.kind(path)) != nil, marker(path) == nil else { return nil }
    return "'run.json' cannot be read, so nobody knows whether it is whole"
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

  /// Whether a file of this name is listed.
  func lists(_ name: String) -> Bool { files[name] != nil }

  /// Why a listed file is not as the run has left it, or no more there; nil when it is, and where
  /// the list does not have it.
  func damage(of name: String, in folder: String) -> String? {
    guard files[name] != nil, !acceptsKnownNames else { return nil }
    let path = folder + "/" + name
    guard case .file(let bytes)? = try? FileCalls.kind(path, followsLinks: true) else {
      return "'\(name)' is missing"
    }
    return objection(to: name, at: path, bytes: bytes)
  }

  /// Why a file is not as a run has left it; nil when it is.
  func objection(to name: String, at path: String, bytes: UInt64) -> String? {
    if changedMarkers.contains(name) { return "'\(name)', which has been changed since" }
    if foundMarkers.contains(name) { return nil }
    // What a process leaves that is killed while it writes.
    if name.hasSuffix(FileCalls.partial) {
      let whole = String(name.dropLast(FileCalls.partial.count))
      if Self.markers.contains(whole) || files[whole] != nil { return nil }
    }
    // Of this name, and something else's.
    if Self.markers.contains(name) { return "'\(name)'" }
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
    "run.json", FolderManifest.fileName, "summary.csv", "samples.csv",
    "growth.csv", "invariants.csv", "events.csv", "compare.csv", "plan.json", "violation.txt",
    "history.jsonl", "raw-sync.tmp", "merge.json", "merged.csv", "hunt.csv", "bundle.json",
    "hunt-samples.csv", "schedule.txt", "history.tsv", "bugs.csv", "bugs.md", "plan.csv",
    "plan.html", ProcessBoard.fileName, ResultsFolder.reserveName,
  ]
  /// Folders of files that the folder above lists.
  static let folders: Set<String> = ["histograms", "history", "experiments", HuntBundle.images]
  /// The folder of results that are not in their place, or not complete.
  static let unfinished = "unfinished-"
  /// The end of its name when it is that of earlier results, which are being replaced.
  static let earlier = "-earlier"

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
      let operations = Operation.allCases.flatMap { operation in
        ["", "-response", "-left-out"].map { operation.rawValue + $0 }
      }
      return operations.contains { parts[1] == $0 + ".hgrm" }
    case HuntBundle.images: return parts[1].hasSuffix(".realm")
    case "history": return parts[1].hasSuffix(".part") && Int(parts[1].dropLast(5)) != nil
    default: return false
    }
  }

  /// The run's own file, what its engine has beside it, and copies that a compaction makes.
  static func isRealmFile(_ name: String) -> Bool {
    let isOfPeer = besidePeerFile.contains { suffix, ends in
      ([""] + ends).contains { name == "data" + suffix + $0 }
    }
    if isOfPeer { return true }
    guard name.hasPrefix(realmFile) else { return false }
    var rest = name.dropFirst(realmFile.count)
    for end in besideRealmFile where rest.hasSuffix(end) {
      rest = rest.dropLast(end.count)
      break
    }
    if rest.isEmpty { return true }
    let copy = ".background-"
    return rest.hasPrefix(copy) && rest.hasSuffix(".realm")
      && Int(rest.dropFirst(copy.count).dropLast(".realm".count)) != nil
  }
  static let realmFile = "data.realm"
  /// The file of a run on an engine.
  static func dataFile(_ engine: String) -> String {
    "data" + (EngineKind.named(engine)?.suffix ?? ".realm")
  }
  private static let besidePeerFile = [
    ".sqlite": ["-wal", "-shm", "-journal"], ".lmdb": ["-lock"],
  ]
  /// Ends of names of the files that an engine has beside its file.
  static func beside(_ engine: String) -> [String] {
    EngineKind.named(engine).flatMap { besidePeerFile[$0.suffix] } ?? besideRealmFile
  }
  /// Ends of names of the files that the engine has beside a Realm file, the longest first.
  static let besideRealmFile = [".log.unfinished", ".unfinished", ".lock", ".log"]

  /// The folder of a replica, a shard, a process or an experiment.
  static func isPart(_ name: String) -> Bool {
    var name = name
    // One of several engines, as in replica-001-lmdb.
    if name.hasPrefix("replica-"), let dash = name.lastIndex(of: "-"),
      EngineKind.named(String(name[name.index(after: dash)...])) != nil
    {
      name = String(name[..<dash])
    }
    return ["replica-", "shard-", "process-", "experiments/"].contains {
      name.hasPrefix($0) && name.count > $0.count && name.dropFirst($0.count).allSatisfy(\.isNumber)
    }
  }
}

/// Folders without a list that are the tool's all the same.
private enum FoldersWithoutList {
  /// Of earlier versions, or of a run that was killed before it had written its list.
  ///
  /// They are known by the first words of a table that only the tool writes, or by parts that are
  /// results folders.
  static func isOne(_ folder: String) -> Bool {
    let names = ((try? FileCalls.names(in: folder)) ?? []).filter {
      // Of a later run, which says nothing of what was there before.
      !$0.hasPrefix(KnownNames.unfinished)
    }
    if names == [FolderManifest.fileName + FileCalls.partial] { return true }
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
