// The engines that `run` can drive. This list and the engine's own file are the only places that
// know one.
internal import Foundation

/// What the tool knows of an engine before it opens one.
package protocol EngineDescription: Sendable {
  associatedtype Driver: EngineDriver

  /// As on the command line and in the result files.
  static var name: String { get }
  /// One line for `list`.
  static var summary: String { get }
  /// The end of the names of its files.
  static var suffix: String { get }
  /// Columns of growth.csv that stay empty, since it does not tell; by default none.
  static var untold: Set<String> { get }
  static func open(_ opening: EngineOpening) throws -> Driver
}

extension EngineDescription {
  package static var untold: Set<String> { [] }
}

/// An engine that `run` knows.
package struct EngineKind: Sendable {
  package let name: String
  package let summary: String
  package let suffix: String
  /// Nil when this build of the tool cannot drive it.
  package let facts: (any EngineDescription.Type)?

  private init(_ facts: any EngineDescription.Type) {
    (name, summary, suffix) = (facts.name, facts.summary, facts.suffix)
    self.facts = facts
  }

  private init(missing name: String, _ summary: String, suffix: String) {
    (self.name, self.summary, self.suffix) = (name, summary, suffix)
    facts = nil
  }

  /// All engines, in the order in which they are listed.
  package static let allCases: [EngineKind] = {
    #if PEERS
      [EngineKind(RealmDescription.self)] + peers
    #else
      [
        EngineKind(RealmDescription.self),
        EngineKind(
          missing: "sqlite", "SQLite with a write-ahead log, a connection a thread",
          suffix: ".sqlite"),
        EngineKind(
          missing: "lmdb", "LMDB, one environment, read transactions as pins", suffix: ".lmdb"),
      ]
    #endif
  }()

  package static func named(_ name: String) -> EngineKind? {
    allCases.first { $0.name == name }
  }

  /// Engines in a list such as `realm,sqlite`.
  package static func list(_ text: String) throws(UsageError) -> [EngineKind] {
    let names = allCases.map(\.name)
    var kinds: [EngineKind] = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
      guard let kind = named(name) else {
        let nearest = nearestName(name, in: names).map { "; did you mean '\($0)'?" } ?? ""
        throw UsageError(
          "--engine: '\(name)' is not one of \(names.joined(separator: ", "))\(nearest)")
      }
      if kinds.contains(where: { $0.name == name }) {
        throw UsageError("--engine: '\(name)' is named twice")
      }
      kinds.append(kind)
    }
    for kind in kinds where kind.facts == nil {
      throw UsageError("--engine: '\(kind.name)' is not in this build of the tool; \(buildHint)")
    }
    return kinds
  }

  /// How a tool that knows all engines is made.
  package static let buildHint =
    "it needs the trait Peers and the Debian packages libsqlite3-dev and liblmdb-dev: "
    + "'scripts/setup --peers && swift build -c release --product realm-bench --traits "
    + "Jemalloc,Peers' builds one"

  /// What it lacks for a workload, in words; nil when it can be run.
  package func obstacle(to workload: WorkloadKind) -> String? {
    // Of engines that this build lacks only what every engine has is known.
    let lacking = EngineCapability.allCases.filter { need in
      workload.facts.needs.contains(need) && !(facts.map { can($0, need) } ?? false)
    }
    guard !lacking.isEmpty else { return nil }
    return "needs " + lacking.map(\.words).joined(separator: " and ")
  }

  private func can(_ facts: any EngineDescription.Type, _ need: EngineCapability) -> Bool {
    func isGiven<Facts: EngineDescription>(_ facts: Facts.Type) -> Bool {
      need.isGiven(by: Facts.Driver.self)
    }
    return isGiven(facts)
  }

  /// For `list`: the workloads that it can run, and why not the others.
  package var listed: ListVerb.Entry {
    var (able, unable): ([String], [String]) = ([], [])
    for workload in WorkloadKind.allCases {
      if let obstacle = obstacle(to: workload) {
        unable.append("\(workload.rawValue): it \(obstacle)")
      } else {
        able.append(workload.rawValue)
      }
    }
    var entry = ListVerb.Entry(
      name: name, summary: summary + (facts == nil ? " (not in this build)" : ""))
    entry.notes =
      (facts == nil ? [Self.buildHint] : [])
      + [
        unable.isEmpty
          ? "runs every workload" : "runs " + able.joined(separator: ", ")
      ]
      + unable.map { "not \($0)" }
    return entry
  }
}

extension EngineKind {
  /// What a file of another engine is, by its first bytes.
  static func foreignFile(_ path: String) -> String? {
    // Anything else may never give a byte.
    guard case .file? = try? FileCalls.kind(path, followsLinks: true) else { return nil }
    guard let file = FileHandle(forReadingAtPath: path), let head = try? file.read(upToCount: 20)
    else { return nil }
    if head.starts(with: "SQLite format 3\0".utf8) {
      return "it is an SQLite database: 'sqlite3 FILE \"PRAGMA integrity_check\"' verifies it"
    }
    // Behind the first page's header.
    if head.count == 20, head.suffix(4).elementsEqual([0xde, 0xc0, 0xef, 0xbe]) {
      return "it is an LMDB environment: 'mdb_stat -n -ef FILE' reads it"
    }
    return nil
  }
}

/// This project's engine.
enum RealmDescription: EngineDescription {
  static let name = "realm"
  static let summary = "this project's RealmSwift, in this process"
  static let suffix = ".realm"

  static func open(_ opening: EngineOpening) throws -> RealmDriver {
    try RealmDriver(path: opening.path, durability: opening.durability)
  }
}

#if PEERS
  extension EngineKind {
    fileprivate static var peers: [EngineKind] {
      [EngineKind(SQLiteDescription.self), EngineKind(LMDBDescription.self)]
    }
  }

  enum SQLiteDescription: EngineDescription {
    static let name = SQLiteEngine.name
    static let summary = "SQLite with a write-ahead log, a connection a thread"
    static let suffix = ".sqlite"
    static let untold: Set = [
      "oldest_pinned_version", "live_versions", "oldest_pin_age_s", "held_bytes", "walked_bytes",
    ]

    static func open(_ opening: EngineOpening) throws -> ConnectionDriver<SQLiteEngine> {
      try ConnectionDriver(SQLiteEngine(opening))
    }
  }

  enum LMDBDescription: EngineDescription {
    static let name = LMDBEngine.name
    static let summary = "LMDB, one environment, read transactions as pins"
    static let suffix = ".lmdb"
    static let untold: Set = ["oldest_pin_age_s", "held_bytes", "walked_bytes"]

    static func open(_ opening: EngineOpening) throws -> ConnectionDriver<LMDBEngine> {
      try ConnectionDriver(LMDBEngine(opening))
    }
  }
#endif
