// SQLite: write-ahead log, prepared statements, a connection a thread without a lock of its own,
// the file mapped, synchronous FULL for durability full and OFF for memory. A row of its own
// numbers the versions: SQLite has no number that all connections share, so each commit writes one
// page more.
#if PEERS
  internal import CCountedCalls
  internal import CSQLiteLibrary
  internal import Foundation
  internal import Platform

  /// SQLite on one file.
  package final class SQLiteEngine: ConnectionEngine {
    package static let name = "sqlite"

    private let opening: EngineOpening
    private let calls: CountedCalls

    /// Makes the file, or opens it.
    package init(_ opening: EngineOpening) throws {
      self.opening = opening
      calls = try CountedCalls(opening.path)
      let connection = try SQLiteConnection(opening)
      // Each statement on its own: a new file that is cut off here is made anew by the next one.
      try connection.run("PRAGMA journal_mode = WAL")
      try connection.run(
        """
        BEGIN IMMEDIATE;
        CREATE TABLE IF NOT EXISTS object (
          id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL, score REAL NOT NULL,
          payload BLOB NOT NULL, balance INTEGER NOT NULL, changes INTEGER NOT NULL,
          stamp INTEGER NOT NULL);
        CREATE TABLE IF NOT EXISTS version (id INTEGER PRIMARY KEY, number INTEGER NOT NULL);
        INSERT OR IGNORE INTO version VALUES (1, 1);
        COMMIT
        """)
      try calls.check(opening.durability)
    }

    package var files: [String] { ["", "-wal", "-shm", "-journal"].map { opening.path + $0 } }
    package var counts: (syncs: UInt64, bytes: UInt64) { calls.counts }

    package func openConnection() throws -> SQLiteConnection { try SQLiteConnection(opening) }

    package func space() throws -> (live: UInt64?, free: UInt64?) {
      let statement = try SQLiteStatement(
        openConnection(),
        """
        SELECT page_count * page_size, freelist_count * page_size
        FROM pragma_page_count, pragma_freelist_count, pragma_page_size
        """)
      guard try statement.step() else { return (nil, nil) }
      let (all, free) = (statement.integer(0), statement.integer(1))
      return (UInt64(max(0, all - free)), UInt64(max(0, free)))
    }

    package func findings() throws -> [String] {
      let statement = try SQLiteStatement(openConnection(), "PRAGMA integrity_check")
      var findings: [String] = []
      while try statement.step() {
        let text = statement.text(0)
        if text != "ok" { findings.append("integrity_check: \(text)") }
      }
      return findings
    }

    /// With pins its own checkpoints are off: they would go through the whole log in each commit.
    package func afterCommit(_ connection: SQLiteConnection, pins: Int) throws {
      guard opening.keepsPins, pins == 0 else { return }
      try connection.checkpointIfLong()
    }

    package func close() { calls.end() }
  }

  /// A connection with its statements.
  package final class SQLiteConnection: EngineConnection {
    let handle: OpaquePointer
    /// Pages of the log after the last commit.
    private let logPages = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

    /// For the whole process, before the first use of the library.
    private static let configured: Int32 = {
      let result = sqlite_configure(SQLITE_CONFIG_MEMSTATUS, 0)
      return result == SQLITE_OK ? sqlite_configure(SQLITE_CONFIG_MULTITHREAD, 0) : result
    }()

    init(_ opening: EngineOpening) throws {
      guard Self.configured == SQLITE_OK else {
        throw EngineFailure("sqlite: it cannot be configured: error \(Self.configured)")
      }
      var handle: OpaquePointer?
      let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
      let result = sqlite3_open_v2(opening.path, &handle, flags, nil)
      guard result == SQLITE_OK, let handle else {
        let text = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "error \(result)"
        sqlite3_close_v2(handle)
        throw EngineFailure("sqlite: '\(opening.path)' cannot be opened: \(text)")
      }
      self.handle = handle
      logPages.initialize(to: 0)
      if opening.keepsPins { followLog() }
      try run(
        """
        PRAGMA busy_timeout = 60000;
        PRAGMA synchronous = \(opening.durability == .full ? "FULL" : "OFF");
        PRAGMA mmap_size = 2147418112;
        PRAGMA cache_size = -8192;
        PRAGMA temp_store = MEMORY;
        \(opening.keepsPins ? "" : "PRAGMA wal_autocheckpoint = 1000")
        """)
    }

    // What statements are left, are closed after it.
    deinit {
      sqlite3_wal_hook(handle, nil, nil)
      sqlite3_close_v2(handle)
      logPages.deallocate()
    }

    /// Notes how long the log is, after each commit of this connection.
    private func followLog() {
      sqlite3_wal_hook(
        handle,
        { pages, _, _, count in
          pages?.assumingMemoryBound(to: Int32.self).pointee = count
          return SQLITE_OK
        }, logPages)
    }

    /// Runs statements that give no rows that matter.
    func run(_ text: String) throws {
      let result = sqlite3_exec(handle, text, nil, nil, nil)
      if result != SQLITE_OK { throw failure() }
    }

    func failure() -> EngineFailure {
      EngineFailure(
        "sqlite: \(String(cString: sqlite3_errmsg(handle))) "
          + "(error \(sqlite3_extended_errcode(handle)))")
    }

    private func version() throws -> UInt64 {
      let statement = try versionStatement.get()
      defer { statement.reset() }
      guard try statement.step() else { throw EngineFailure("sqlite: it has lost its version") }
      return UInt64(statement.integer(0))
    }

    // MARK: - Statements, prepared when they are first used

    private func statement(_ text: String) throws -> SQLiteStatement {
      try SQLiteStatement(self, text, isOwned: true)
    }

    private lazy var begin = Result { try statement("BEGIN") }
    private lazy var beginImmediate = Result { try statement("BEGIN IMMEDIATE") }
    private lazy var commitStatement = Result { try statement("COMMIT") }
    private lazy var versionStatement = Result { try statement("SELECT number FROM version") }
    private lazy var nextVersion = Result {
      try statement("UPDATE version SET number = number + 1")
    }
    private lazy var find = Result { try statement("SELECT * FROM object WHERE id = ?1") }
    private lazy var findAccount = Result {
      try statement("SELECT balance, changes, stamp FROM object WHERE id = ?1")
    }
    private lazy var range = Result {
      try statement("SELECT * FROM object WHERE id >= ?1 ORDER BY id LIMIT ?2")
    }

    private lazy var allStamps = Result {
      try statement("SELECT balance, changes, stamp FROM object ORDER BY id")
    }
    private lazy var insertion = Result {
      try statement("INSERT INTO object VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")
    }
    private lazy var deletion = Result { try statement("DELETE FROM object WHERE id = ?1") }
    private lazy var storeAll = Result {
      try statement(
        "UPDATE object SET stamp = ?1, age = ?3, score = ?4, payload = ?5, balance = ?6 "
          + "WHERE id = ?2")
    }
    private lazy var storeAccount = Result {
      try statement("UPDATE object SET stamp = ?1, balance = ?3, changes = ?4 WHERE id = ?2")
    }
    private lazy var storePayload = Result {
      try statement("UPDATE object SET stamp = ?1, payload = ?5 WHERE id = ?2")
    }
    private lazy var storeRecord = Result {
      try statement("UPDATE object SET stamp = ?1, changes = ?3, payload = ?5 WHERE id = ?2")
    }

    // MARK: - Transactions

    package func beginReading() throws -> UInt64 {
      try begin.get().run()
      // The transaction begins with the first read.
      do { return try version() } catch {
        endReading()
        throw error
      }
    }

    package func endReading() {
      // Nothing is to be kept, so it cannot go wrong; it may have ended by itself.
      if sqlite3_get_autocommit(handle) == 0 { try? commitStatement.get().run() }
    }

    package func beginWriting() throws { try beginImmediate.get().run() }

    package func commit() throws -> UInt64 {
      do {
        try nextVersion.get().run()
        let number = try version()
        try commitStatement.get().run()
        return number
      } catch {
        rollBack()
        throw error
      }
    }

    package func rollBack() {
      if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }

    /// Moves the log into the file and cuts it, if it is longer than SQLite lets it get.
    func checkpointIfLong() throws {
      guard logPages.pointee >= 1_000 else { return }
      // Where a reader still stands on it, the next commit tries again.
      let result = sqlite3_wal_checkpoint_v2(
        handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
      if result != SQLITE_OK && result != SQLITE_BUSY { throw failure() }
    }

    // MARK: - Objects

    package func read(_ key: Int, _ parts: RowParts, into row: inout Row) throws -> Bool {
      let statement = try parts == .all ? find.get() : findAccount.get()
      defer { statement.reset() }
      statement.bind(1, key)
      guard try statement.step() else { return false }
      if parts == .all {
        statement.copy(into: &row)
      } else {
        row.id = key
        row.balance = statement.integer(0)
        row.changes = statement.integer(1)
        row.stamp = statement.integer(2)
      }
      return true
    }

    package func scan(from key: Int, into rows: inout [Row]) throws -> Int {
      let statement = try range.get()
      defer { statement.reset() }
      statement.bind(1, key)
      statement.bind(2, rows.count)
      var count = 0
      while count < rows.count, try statement.step() {
        statement.copy(into: &rows[count])
        count += 1
      }
      return count
    }

    package func total() throws -> TableTotal {
      let statement = try allStamps.get()
      defer { statement.reset() }
      var total = TableTotal()
      while try statement.step() {
        total.add(
          balance: statement.integer(0), changes: statement.integer(1), stamp: statement.integer(2))
      }
      return total
    }

    package func insert(_ row: Row) throws {
      let statement = try insertion.get()
      statement.bind(1, row.id)
      statement.bind(3, row.age)
      statement.bind(4, row.score)
      statement.bind(6, row.balance)
      statement.bind(7, row.changes)
      statement.bind(8, row.stamp)
      var name = row.name
      try name.withUTF8 { name in
        try row.payload.withUnsafeBytes { payload in
          statement.bind(2, text: name)
          statement.bind(5, payload)
          try statement.run()
        }
      }
    }

    package func store(_ row: Row, _ parts: RowParts) throws {
      let statement: SQLiteStatement
      switch parts {
      case .all:
        statement = try storeAll.get()
        statement.bind(3, row.age)
        statement.bind(4, row.score)
        statement.bind(6, row.balance)
      case .account:
        statement = try storeAccount.get()
        statement.bind(3, row.balance)
        statement.bind(4, row.changes)
      case .payload: statement = try storePayload.get()
      case .record:
        statement = try storeRecord.get()
        statement.bind(3, row.changes)
      }
      statement.bind(1, row.stamp)
      statement.bind(2, row.id)
      if parts == .account { return try statement.run() }
      try row.payload.withUnsafeBytes { payload in
        statement.bind(5, payload)
        try statement.run()
      }
    }

    package func delete(_ key: Int) throws -> Bool {
      let statement = try deletion.get()
      statement.bind(1, key)
      try statement.run()
      return sqlite3_changes(handle) > 0
    }
  }

  /// A prepared statement.
  final class SQLiteStatement {
    private let handle: OpaquePointer
    private unowned let connection: SQLiteConnection
    /// Keeps the connection of a statement that it does not keep.
    private let keeper: SQLiteConnection?

    /// - Parameter isOwned: whether the connection keeps the statement.
    init(_ connection: SQLiteConnection, _ text: String, isOwned: Bool = false) throws {
      var handle: OpaquePointer?
      let result = sqlite3_prepare_v3(
        connection.handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
      guard result == SQLITE_OK, let handle else { throw connection.failure() }
      self.handle = handle
      self.connection = connection
      keeper = isOwned ? nil : connection
    }

    deinit { sqlite3_finalize(handle) }

    /// Moves to the next row; false when there is none.
    @inline(__always)
    func step() throws -> Bool {
      let result = sqlite3_step(handle)
      if result == SQLITE_ROW { return true }
      if result == SQLITE_DONE { return false }
      throw connection.failure()
    }

    @inline(__always)
    func reset() { sqlite3_reset(handle) }

    /// Runs a statement without rows, and makes it ready again.
    func run() throws {
      let result = sqlite3_step(handle)
      if result == SQLITE_DONE {
        sqlite3_reset(handle)
        return
      }
      let failure = connection.failure()
      sqlite3_reset(handle)
      throw failure
    }

    func bind(_ place: Int32, _ value: Int) { sqlite3_bind_int64(handle, place, Int64(value)) }
    func bind(_ place: Int32, _ value: Double) { sqlite3_bind_double(handle, place, value) }

    /// The memory has to stay until the statement has run: nil is SQLITE_STATIC.
    func bind(_ place: Int32, text: UnsafeBufferPointer<UInt8>) {
      text.withMemoryRebound(to: CChar.self) { text in
        _ = sqlite3_bind_text(handle, place, text.baseAddress, Int32(text.count), nil)
      }
    }

    /// The same for bytes; without any, an empty value, not none.
    func bind(_ place: Int32, _ bytes: UnsafeRawBufferPointer) {
      if bytes.isEmpty {
        sqlite3_bind_zeroblob(handle, place, 0)
      } else {
        sqlite3_bind_blob(handle, place, bytes.baseAddress, Int32(bytes.count), nil)
      }
    }

    @inline(__always)
    func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

    func text(_ column: Int32) -> String {
      let bytes = UnsafeBufferPointer(
        start: sqlite3_column_text(handle, column), count: Int(sqlite3_column_bytes(handle, column))
      )
      return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads a row of all columns.
    func copy(into row: inout Row) {
      row.id = integer(0)
      row.name = text(1)
      row.age = integer(2)
      row.score = sqlite3_column_double(handle, 3)
      row.setPayload(
        UnsafeRawBufferPointer(
          start: sqlite3_column_blob(handle, 4), count: Int(sqlite3_column_bytes(handle, 4))))
      row.balance = integer(5)
      row.changes = integer(6)
      row.stamp = integer(7)
    }
  }
#endif
