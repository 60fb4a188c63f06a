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
  /// While files still come: names of those that may.
  package var names: [String]?
  /// Nil while files still come.
  package var files: [ListedFile]?

  /// The file's text, with the hash of its list.
  var text: String {
    // Texts and whole numbers alone: that can always be encoded.
    FileList.sealed((try? encodeJSON(self)) ?? "")
  }

  /// How far the results of a folder have come; nil where no such file tells.
  static func status(of folder: String) -> String? {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return FileManager.default.contents(atPath: folder + "/" + fileName)
      .flatMap { try? decoder.decode(FolderManifest.self, from: $0).status }
  }

  /// That some of what was to be in a folder is missing, in words; nil where all is there, and
  /// where no such file tells.
  static func shortage(of folder: String) -> String? {
    status(of: folder).flatMap {
      $0 == "complete" ? nil : "the results in '\(folder)' are \($0)"
    }
  }
}

/// What is known of the files that belong to a folder.
struct FileList {
  /// Files that hold a list.
  static let markers = ["run.json", FolderManifest.fileName]

  private(set) var isComplete = false
  /// Whether names that runs are known to write count without being listed.
  private(set) var acceptsKnownNames = false
  /// Which of them; nil for all.
  private var openNames: Set<String>? = []
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
    var names: [String]?
    var files: [ListedFile]?
    /// Of a run: what tells which files it writes.
    var command: String?
    var settings: Settings?

    struct Settings: Decodable {
      var history: Bool?
      var path: String?
      var output: String?
    }

    /// Names that count where there is no list; nil where any may.
    var openNames: Set<String>? {
      if let names { return Set(names) }
      guard let settings else { return nil }
      let folder = (settings.output ?? "") + "/"
      let dataFile =
        settings.path.flatMap { $0.hasPrefix(folder) ? String($0.dropFirst(folder.count)) : nil }
      return KnownNames.ofRun(
        isPlan: command?.contains(".json") ?? false, hasHistory: settings.history ?? false,
        dataFile: dataFile)
    }
  }

  /// The list of a folder; nil when no run has written it.
  init?(of folder: String) {
    for name in Self.markers {
      guard let (marker, text) = Self.marker(folder + "/" + name) else { continue }
      foundMarkers.insert(name)
      isComplete = marker.status == "complete"
      add(marker)
      // A list without its own entry was not written by the tool.
      if let files = marker.files, !Self.isSealed(text, files, in: name) {
        changedMarkers.insert(name)
      }
    }
    addInterrupted(folder)
    if foundMarkers.isEmpty, FoldersWithoutList.isOne(folder) {
      (acceptsKnownNames, openNames) = (true, nil)
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
        guard let (marker, text) = Self.marker(path + "/" + name) else { continue }
        if let files = marker.files, !Self.isSealed(text, files, in: name) { continue }
        add(marker)
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

  private mutating func add(_ marker: Marker) {
    guard let list = marker.files else {
      acceptsKnownNames = true
      let names = marker.openNames
      // One of a run says more than the other, of an earlier version.
      if let names {
        openNames?.formUnion(names)
      } else if openNames?.isEmpty ?? false {
        openNames = nil
      }
      return
    }
    for file in list { files[file.name, default: []].append(file) }
  }

  /// Whether a list has the hash of its own text, as that was before the hash was put in.
  private static func isSealed(_ text: String, _ files: [ListedFile], in name: String) -> Bool {
    guard let hash = files.first(where: { $0.name == name })?.hash else { return false }
    return hash
      == FileCalls.hash(
        ofText: text.replacing("\"\(hash)\"", with: "\"\(ListedFile.ownHash)\""))
  }

  /// Puts the hash of a list's text into it.
  static func sealed(_ text: String) -> String {
    text.replacing("\"\(ListedFile.ownHash)\"", with: "\"\(FileCalls.hash(ofText: text))\"")
  }

  /// Whether a folder of this name, with a list of its own, is a part of this one.
  func coversPart(_ name: String) -> Bool {
    KnownNames.isPart(name) && (files[name + "/"] != nil || acceptsKnownNames)
  }

  /// Whether a list is not as the tool has written it.
  func isChanged(_ marker: String) -> Bool { changedMarkers.contains(marker) }

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
      let isKnown = Self.markers.contains(whole) || files[whole] != nil
      if isKnown && KnownContent.fits(whole, at: path, bytes: bytes) { return nil }
    }
    // Of this name, and something else's.
    if Self.markers.contains(name) { return "'\(name)'" }
    if let entries = files[name] {
      let isAsWritten = entries.contains { file in
        guard let hash = file.hash else {
          // Others write to what an engine has beside its file.
          return KnownNames.isRealmFile(name)
        }
        return file.bytes == bytes && hash == FileCalls.hash(of: path)
      }
      // A list that is still open says nothing of what comes later.
      if isAsWritten || acceptsUnlisted(name, path, bytes) { return nil }
      return "'\(name)', which has been changed since"
    }
    return acceptsUnlisted(name, path, bytes) ? nil : "'\(name)'"
  }

  /// Whether a file counts by its name and by what it begins with.
  private func acceptsUnlisted(_ name: String, _ path: String, _ bytes: UInt64) -> Bool {
    guard acceptsKnownNames else { return false }
    let isKnown =
      openNames.map { KnownNames.isFile(name, amongThoseOf: $0) } ?? KnownNames.isFile(name)
    return isKnown && KnownContent.fits(name, at: path, bytes: bytes)
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
