// Names of the files that verbs write to their folders: where a list of them is missing or still
// open, nothing of another name is taken for the tool's own.

/// Names that verbs write.
enum KnownNames {
  private static let files: Set<String> = [
    "run.json", FolderManifest.fileName, "summary.csv", "samples.csv",
    "growth.csv", "invariants.csv", "events.csv", "compare.csv", "plan.json", "violation.txt",
    "history.jsonl", "raw-sync.tmp", "merge.json", "merged.csv", "hunt.csv", "bundle.json",
    "hunt-samples.csv", "schedule.txt", "history.tsv", "bugs.csv", "bugs.md", "plan.csv",
    "plan.html", ProcessBoard.fileName, ResultsFolder.reserveName, HuntRecord.fileName,
  ]
  /// Folders of files that the folder above lists.
  static let folders: Set<String> = ["histograms", "history", "experiments", HuntBundle.images]
  /// The folder of results that are not in their place, or not complete.
  static let unfinished = "unfinished-"
  /// The end of its name when it is that of earlier results, which are being replaced.
  static let earlier = "-earlier"

  /// Whether some verb writes a file of this name.
  static func isFile(_ name: String) -> Bool {
    let name = whole(name)
    if files.contains(name) || isRealmFile(name) { return true }
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

  /// Whether a verb that says that it may write some files writes one of this name.
  static func isFile(_ name: String, amongThoseOf names: Set<String>) -> Bool {
    guard isFile(name) else { return false }
    let name = whole(name)
    if isRealmFile(name) { return names.contains(where: isRealmFile) }
    if name.hasPrefix("raw-sync-") { return names.contains("raw-sync.tmp") }
    if name.hasPrefix("history/") { return names.contains("history.jsonl") }
    if name.hasPrefix(HuntBundle.images + "/") { return names.contains("bundle.json") }
    if name.hasPrefix("histograms/") { return names.contains("histograms/") }
    return names.contains(name)
  }

  /// The name of a file without what it ends with while it is written.
  ///
  /// A process that is killed then leaves it so.
  private static func whole(_ name: String) -> String {
    name.hasSuffix(FileCalls.partial) ? String(name.dropLast(FileCalls.partial.count)) : name
  }

  /// What a run may write.
  /// - Parameter dataFile: the name of its file, where that lies in the folder.
  static func ofRun(isPlan: Bool, hasHistory: Bool, dataFile: String?) -> Set<String> {
    var names: Set = [
      "run.json", FolderManifest.fileName, "summary.csv", "samples.csv", "growth.csv",
      "invariants.csv", "events.csv", "compare.csv", "violation.txt", "raw-sync.tmp",
      ProcessBoard.fileName, ResultsFolder.reserveName, "histograms/",
    ]
    if isPlan { names.insert("plan.json") }
    if hasHistory { names.insert("history.jsonl") }
    if let dataFile { names.insert(dataFile) }
    return names
  }

  static let ofHunt: Set = [
    FolderManifest.fileName, HuntRecord.fileName, "hunt.csv", "hunt-samples.csv", "bundle.json",
    "schedule.txt", "history.tsv", "bugs.csv", "bugs.md",
  ]
  static let ofPlan: Set = [FolderManifest.fileName, "plan.csv", "plan.html", "raw-sync.tmp"]
  static let ofMerge: Set = [
    FolderManifest.fileName, "merge.json", "merged.csv", "summary.csv", "samples.csv",
    "growth.csv", "invariants.csv", "histograms/",
  ]
  static let ofMergedHunt: Set = [
    FolderManifest.fileName, "merge.json", "hunt.csv", "hunt-samples.csv", "bugs.csv", "bugs.md",
  ]

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
  /// Those of all engines.
  static let besideAnyFile = besideRealmFile + besidePeerFile.values.flatMap(\.self)
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
      name.hasPrefix($0) && isNumber(name.dropFirst($0.count))
    }
  }

  /// Whether it is digits alone, as a computer counts: a digit with an accent is none.
  private static func isNumber(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}
