// hunt.json: what a hunt was asked for, so that the shards of one hunt are known by it.
internal import Foundation

/// What hunt.json holds.
struct HuntRecord: Codable, Sendable {
  static let fileName = "hunt.json"

  var schemaVersion = ResultSchema.version
  var tool = "realm-bench " + ResultSchema.toolVersion
  var swift = BuildFacts.swiftVersion
  /// The identity that the linker gave the executable; nil where it has none.
  var buildId: String?
  /// `hunt`, or `hunt-bugs` for the score.
  var kind: String
  var seed: UInt64
  var shard: String
  var strategy: String
  /// The one program that was named.
  var scenario: String?
  /// Nil where it was the usual time.
  var durationNs: UInt64?
  /// The bug that was planted in the engine.
  var plantedBug: String?

  init(_ settings: HuntSettings) {
    buildId = BuildIdentity.of(executable: "/proc/self/exe")
    kind = settings.showsScore ? Self.score : "hunt"
    seed = settings.seed
    shard = settings.shard.text
    strategy = settings.strategy.description
    scenario = settings.scenario
    durationNs = settings.nanoseconds
    plantedBug = Self.bugOfEnvironment
  }

  /// The bug that whoever has started the process wants in the engine.
  static var bugOfEnvironment: String? {
    ProcessInfo.processInfo.environment["REALM_PLANTED_BUG"].flatMap { $0.isEmpty ? nil : $0 }
  }

  private static let score = "hunt-bugs"

  var isScore: Bool { kind == Self.score }

  /// The table that such a hunt leaves.
  var table: (name: String, columns: [String]) {
    isScore ? ("bugs.csv", HuntScore.columns) : ("hunt.csv", HuntRun.columns)
  }

  /// Reads the one of a folder.
  static func read(_ folder: String) throws(ResultsError) -> HuntRecord {
    let path = folder + "/" + fileName
    guard let data = FileManager.default.contents(atPath: path) else {
      throw ResultsError(
        "'\(folder)' has no \(fileName), which says what was hunted: the hunt has ended before it "
          + "began, or is of an earlier version; hunt again")
    }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let record: HuntRecord
    do { record = try decoder.decode(HuntRecord.self, from: data) } catch {
      throw ResultsError("'\(path)' cannot be read: \(error.explanation)")
    }
    guard record.schemaVersion <= ResultSchema.version else {
      throw ResultsError(
        "'\(path)' has schema version \(record.schemaVersion); this tool knows up to "
          + "\(ResultSchema.version): use a newer \(Tool.current.name)")
    }
    return record
  }

  /// What the shards of one hunt have in common, by its name in messages.
  var common: [(name: String, value: String)] {
    [
      ("what is hunted", isScore ? "known bugs (--bugs)" : "programs"), ("seed", "\(seed)"),
      ("strategy", strategy), ("scenario", scenario ?? "all"),
      ("duration", durationNs.map { Units.text(nanoseconds: $0) } ?? "the usual one"),
      ("planted bug", plantedBug ?? "none"),
    ]
  }
}
