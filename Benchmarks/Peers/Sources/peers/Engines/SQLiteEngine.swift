// SQLite, set up as its documents advise for speed:
// - write-ahead log; one connection a thread, each without a lock of its own (multi-thread mode);
// - prepared statements, values bound in place (SQLITE_STATIC);
// - the file mapped (mmap_size), a page cache that holds all of it (cache_size), temporary tables
//   in memory, no memory statistics;
// - `wal_autocheckpoint` stays at 1,000 pages: its documents call that right for most, and a log of
//   4 MB is written over and over, warm; While pins are held it is off: the log could not begin
//   anew, but each commit would go through all of it (1 ms instead of 10 us);
// - synchronous FULL for `full`, NORMAL for `normal`, OFF for `memory`;
// - `INTEGER PRIMARY KEY` is the row's own key, so WITHOUT ROWID would only slow it down;
// - writers of one process queue for a mutex: SQLite's busy handler would sleep;
// - bulk: one transaction, and the rollback journal instead of the log for as long as it takes,
//   which its documents call faster for very large transactions (measured: 1.03 against 0.79
//   million/s);
// - a file that is not in memory: pages are read, not mapped, so that a miss reads one page instead
//   of the system's read-ahead (opening 0.7 instead of 8 ms where that is 8 MB);
// - files that should shrink: auto_vacuum = INCREMENTAL, set before the table is made.
import CPeersShim
import CSQLite
import Foundation
import Synchronization

final class SQLiteEngine: Engine {
  private let settings: EngineSettings
  private let path: String
  /// Held by the session that writes.
  let writing = Mutex(())

  init(_ settings: EngineSettings) throws {
    self.settings = settings
    path = settings.folder + "/person.sqlite"
  }

  var files: [String] { [path, path + "-wal"] }

  func openSession() throws -> any Session { try SQLiteSession(connect(), engine: self) }

  /// A connection with all settings; makes the table when the file is new.
  func connect() throws -> SQLiteConnection {
    let isNew = try sizeOfFile(path) == 0
    let connection = try SQLiteConnection(path)
    if isNew && settings.shrinks { try connection.run("PRAGMA auto_vacuum = INCREMENTAL") }
    if isNew { try connection.run("PRAGMA journal_mode = WAL") }
    let synchronous =
      switch settings.durability {
      case .full: "FULL"
      case .normal: "NORMAL"
      case .memory, .memoryThroughMap: "OFF"
      }
    let cacheKilobytes = settings.memory.map { $0 / 4096 } ?? max(65_536, settings.objects / 4)
    try connection.run(
      """
      PRAGMA synchronous = \(synchronous);
      PRAGMA mmap_size = \(settings.isCold ? 0 : 2_147_418_112);
      PRAGMA cache_size = -\(cacheKilobytes);
      PRAGMA temp_store = MEMORY;
      PRAGMA busy_timeout = 60000;
      """)
    if isNew {
      try connection.run(
        """
        CREATE TABLE person (
          id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL, score REAL NOT NULL,
          payload BLOB NOT NULL)
        """)
    }
    return connection
  }

  /// A connection that holds the newest version.
  func pin() throws -> AnyObject { try SQLitePin(path) }

  func fileBytes() throws -> Int { try files.reduce(0) { try $0 + sizeOfFile($1) } }

  /// All pages that are not free.
  func liveBytes() throws -> Int {
    let statement = try SQLiteStatement(
      connect(),
      """
      SELECT (page_count - freelist_count) * page_size
      FROM pragma_page_count, pragma_freelist_count, pragma_page_size
      """)
    try statement.connection.check(sqlite3_step(statement.handle), SQLITE_ROW)
    return Int(sqlite3_column_int64(statement.handle, 0))
  }

  func visibleBytes() throws -> Int? { nil }

  func close() throws { try waitUntilClosed(path) }
}

/// A connection; of one thread at a time.
///
/// Closed with its last statement.
final class SQLiteConnection {
  let handle: OpaquePointer

  /// Before the first use of the library.
  private static let configured: Int32 = peers_configure_sqlite()

  init(_ path: String) throws {
    guard Self.configured == SQLITE_OK else { throw PeerError("sqlite: cannot be configured") }
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK, let handle else {
      sqlite3_close_v2(handle)
      throw PeerError("sqlite: \(path) cannot be opened")
    }
    self.handle = handle
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs statements that give no rows that matter.
  func run(_ text: String) throws {
    try check(sqlite3_exec(handle, text, nil, nil, nil), SQLITE_OK)
  }

  @inline(__always)
  func check(_ result: Int32, _ expected: Int32) throws {
    if result != expected { throw failure(result) }
  }

  @inline(never)
  private func failure(_ result: Int32) -> PeerError {
    PeerError("sqlite: \(result) \(String(cString: sqlite3_errmsg(handle)))")
  }
}

/// A prepared statement.
final class SQLiteStatement {
  let handle: OpaquePointer
  let connection: SQLiteConnection

  init(_ connection: SQLiteConnection, _ text: String) throws {
    var handle: OpaquePointer?
    try connection.check(
      sqlite3_prepare_v3(
        connection.handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil), SQLITE_OK)
    guard let handle else { throw PeerError("sqlite: empty statement") }
    self.handle = handle
    self.connection = connection
  }

  deinit { sqlite3_finalize(handle) }

  /// Runs a statement without rows, and makes it ready again.
  @inline(__always)
  func run() throws {
    let result = sqlite3_step(handle)
    sqlite3_reset(handle)
    try connection.check(result, SQLITE_DONE)
  }
}

/// A connection in a read transaction.
private final class SQLitePin {
  private let connection: SQLiteConnection

  init(_ path: String) throws {
    connection = try SQLiteConnection(path)
    try connection.check(
      peers_drop_lookaside(UnsafeMutableRawPointer(connection.handle)), SQLITE_OK)
    // The transaction begins with the first read.
    try connection.run("PRAGMA cache_size = 8; BEGIN; SELECT id FROM person LIMIT 1")
  }
}
