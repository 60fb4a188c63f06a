// The Realm file that a path leads to: the path itself, the file of a results folder, or the file
// that something beside it belongs to.
internal import Foundation
internal import Platform

/// Finds Realm files for verbs that look at one.
enum RealmFilePath {
  /// The kept file of a results folder, or of its replicas; nil where there is none.
  ///
  /// A run that was given `--path` has its file elsewhere.
  static func kept(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let replicas = names.filter { $0.hasPrefix("replica-") }.sorted().map { "\(folder)/\($0)" }
    return ([folder] + replicas).compactMap { folder in
      let beside = folder + "/" + KnownNames.realmFile
      if FileManager.default.fileExists(atPath: beside) { return beside }
      guard let document = try? RunDocument(path: folder + "/run.json"),
        let path = document.realmFile, FileManager.default.fileExists(atPath: path)
      else { return nil }
      return path
    }
  }

  static func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      && isFolder.boolValue
  }

  static func isResults(_ folder: String) -> Bool {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.contains("run.json") || names.contains { $0.hasPrefix("replica-") }
  }

  /// The file of a path given to `inspect`.
  ///
  /// - Throws: what the user can give instead.
  static func one(_ path: String, verb: String) throws(UsageError) -> String {
    try refuseNoFile(path, verb: verb)
    try refuseCompanion(path, verb: verb)
    guard isFolder(path) else { return path }
    let kept = kept(in: path)
    if kept.count == 1 { return kept[0] }
    throw refusal(ofFolder: path, verb: verb, kept)
  }

  /// Why a folder has no file to look at, and where one is.
  static func refusal(ofFolder path: String, verb: String, _ kept: [String]) -> UsageError {
    let tool = "\(Tool.current.invocation) \(verb)"
    if kept.count > 1 {
      return UsageError(
        "\(verb): '\(path)' has \(kept.count) Realm files; give one of them: \(tool) "
          + LiteralPath.quoted(kept[0]))
    }
    if isResults(path) {
      return UsageError(
        "\(verb): '\(path)' is a results folder without its Realm file: runs remove it unless they "
          + "have --keep-file, or fail; then it is '\(path)/\(KnownNames.realmFile)'")
    }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let files = names.filter { $0.hasSuffix(".realm") }.sorted().map { "\(path)/\($0)" }
    guard let first = files.first else {
      return UsageError(
        "\(verb): '\(path)' is a folder without Realm files, and no results folder; give the path of "
          + "a file")
    }
    let others = files.count == 1 ? "" : " (of \(files.count))"
    return UsageError(
      "\(verb): '\(path)' is a folder; give a file in it\(others): \(tool) "
        + LiteralPath.quoted(first))
  }

  /// Refuses what the engine, or the vendor's product, has beside a Realm file.
  static func refuseCompanion(_ path: String, verb: String) throws(UsageError) {
    let ends = KnownNames.besideRealmFile + [".management", ".note"]
    guard let end = ends.first(where: path.hasSuffix), path.count > end.count else { return }
    let file = String(path.dropLast(end.count))
    // Without it this may be a Realm file of that name.
    guard FileManager.default.fileExists(atPath: file) else { return }
    throw UsageError(
      "\(verb): '\(path)' belongs to the Realm file beside it: \(Tool.current.invocation) \(verb) "
        + LiteralPath.quoted(file))
  }
}
