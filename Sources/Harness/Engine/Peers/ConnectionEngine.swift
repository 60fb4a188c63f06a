// What an engine of connections has to give: a file, connections with one read or write transaction
// each, and what it knows of its space. ConnectionDriver makes sessions and pins of them, so that a
// further engine is one file.
internal import Foundation

/// A connection to the file of an engine; used by one thread at a time.
package protocol EngineConnection: AnyObject {
  /// Begins to read at the newest version, and returns its number.
  func beginReading() throws -> UInt64
  func endReading()
  /// Waits for other writers, and begins to write on the newest version.
  func beginWriting() throws
  /// Commits; durable on return unless the engine was opened otherwise. Returns the number of the
  /// version that it has made.
  func commit() throws -> UInt64
  func rollBack()

  /// Reads an object in the running transaction; false when there is none.
  func read(_ key: Int, _ parts: RowParts, into row: inout Row) throws -> Bool
  /// Reads up to `rows.count` objects in the order of keys, from this one on.
  func scan(from key: Int, into rows: inout [Row]) throws -> Int
  func total() throws -> TableTotal
  func insert(_ row: Row) throws
  /// Stores these parts of an object that is there.
  func store(_ row: Row, _ parts: RowParts) throws
  func delete(_ key: Int) throws -> Bool
}

/// An engine with a file, connections, and one writer at a time.
package protocol ConnectionEngine: Sendable {
  associatedtype Connection: EngineConnection

  static var name: String { get }

  /// Opens the file once more.
  func openConnection() throws -> Connection
  /// The files that belong to it, whether they are there or not.
  var files: [String] { get }
  /// Bytes in use and free bytes, as far as the engine tells.
  func space() throws -> (live: UInt64?, free: UInt64?)
  /// The oldest version that somebody reads and how many are read; nil where the engine does not
  /// tell.
  func readVersions() throws -> (oldest: UInt64, count: Int)?
  /// Checks the whole file; returns what is wrong.
  func findings() throws -> [String]
  /// Syncs and written bytes since it was opened.
  var counts: (syncs: UInt64, bytes: UInt64) { get }
  /// After a commit, by its connection, when nobody else writes and `pins` versions are kept.
  func afterCommit(_ connection: Connection, pins: Int) throws
  /// Every connection is gone.
  func close()
}

extension ConnectionEngine {
  package func readVersions() throws -> (oldest: UInt64, count: Int)? { nil }
  package func afterCommit(_ connection: Connection, pins: Int) throws {}
}

/// What went wrong in another engine.
package struct EngineFailure: ErrorInWords, CustomStringConvertible {
  package let description: String
  package var words: String { description }
  package init(_ description: String) { self.description = description }
}

/// What an engine is opened for.
package struct EngineOpening: Sendable {
  /// The path of its file, whose folder has no links in it.
  package let path: String
  package let durability: DurabilityClass
  /// Transactions at the same time, at most, as far as the settings tell.
  package let transactionsMax: Int
  /// Whether versions are kept on purpose.
  package let keepsPins: Bool

  package init(
    path: String, durability: DurabilityClass, transactionsMax: Int = 1_024, keepsPins: Bool = false
  ) {
    let url = URL(fileURLWithPath: path)
    let folder = url.deletingLastPathComponent().resolvingSymlinksInPath().path
    self.path = folder + "/" + url.lastPathComponent
    self.durability = durability
    self.transactionsMax = transactionsMax
    self.keepsPins = keepsPins
  }

  package init(_ settings: RunSettings, path: String, durability: DurabilityClass) {
    let threads = settings.threadsInAll ?? 1_024
    self.init(
      path: path, durability: durability,
      // A thread may have a frozen copy, and pins wait to be verified.
      transactionsMax: 4 * threads + settings.pins + 64, keepsPins: settings.pins > 0)
  }
}
