// What the rows ask of SQLite; see SQLiteEngine for how it is set up.
import CSQLite
import Foundation
import Synchronization

final class SQLiteSession: Session {
  private let connection: SQLiteConnection
  private let engine: SQLiteEngine
  private let update: SQLiteStatement
  private let find: SQLiteStatement
  /// The log is not moved into the file while this session's pins are held.
  private var hasPinned = false
  /// Made when first used, so that opening a file prepares only what it needs.
  private lazy var begin = Result { try SQLiteStatement(connection, "BEGIN") }
  private lazy var commit = Result { try SQLiteStatement(connection, "COMMIT") }

  init(_ connection: SQLiteConnection, engine: SQLiteEngine) throws {
    self.connection = connection
    self.engine = engine
    update = try SQLiteStatement(connection, "UPDATE person SET age = ?1 WHERE id = ?2")
    find = try SQLiteStatement(connection, "SELECT age FROM person WHERE id = ?1")
  }

  /// One read transaction around reads, as all engines have.
  private func reading<Value>(_ body: () throws -> Value) throws -> Value {
    try begin.get().run()
    let value = try body()
    try commit.get().run()
    return value
  }

  func insert(_ population: Population) throws {
    try connection.run("PRAGMA journal_mode = TRUNCATE")
    try insertInOneTransaction(population)
    try connection.run("PRAGMA journal_mode = WAL")
  }

  private func insertInOneTransaction(_ population: Population) throws {
    let insert = try SQLiteStatement(connection, "INSERT INTO person VALUES (?1, ?2, ?3, ?4, ?5)")
    let handle = insert.handle
    try begin.get().run()
    for id in 0..<population.count {
      let name = population.name(id)
      let payload = population.payload(id)
      sqlite3_bind_int64(handle, 1, Int64(id))
      // Nil is SQLITE_STATIC: the memory stays.
      sqlite3_bind_text(
        handle, 2, name.baseAddress!.assumingMemoryBound(to: CChar.self), Int32(name.count), nil)
      sqlite3_bind_int64(handle, 3, Int64(Population.age(id)))
      sqlite3_bind_double(handle, 4, Population.score(id))
      sqlite3_bind_blob(handle, 5, payload.baseAddress, Int32(payload.count), nil)
      try insert.run()
    }
    try commit.get().run()
  }

  func delete(_ keys: [Int]) throws {
    let delete = try SQLiteStatement(connection, "DELETE FROM person WHERE id = ?1")
    try begin.get().run()
    for key in keys {
      sqlite3_bind_int64(delete.handle, 1, Int64(key))
      try delete.run()
    }
    try commit.get().run()
  }

  func deleteAll() throws {
    try connection.run("BEGIN; DELETE FROM person; COMMIT")
  }

  func setAge(_ key: Int, _ age: Int) throws {
    try engine.writing.withLock { _ in
      sqlite3_bind_int64(update.handle, 1, Int64(age))
      sqlite3_bind_int64(update.handle, 2, Int64(key))
      try update.run()
      if sqlite3_changes(connection.handle) != 1 { throw PeerError("sqlite: no object \(key)") }
    }
  }

  func count() throws -> Int {
    let count = try SQLiteStatement(connection, "SELECT count(*) FROM person")
    try connection.check(sqlite3_step(count.handle), SQLITE_ROW)
    return Int(sqlite3_column_int64(count.handle, 0))
  }

  func person(_ key: Int) throws -> PersonValues? {
    let all = try SQLiteStatement(connection, "SELECT * FROM person WHERE id = ?1")
    sqlite3_bind_int64(all.handle, 1, Int64(key))
    guard sqlite3_step(all.handle) == SQLITE_ROW else { return nil }
    let payload = UnsafeRawBufferPointer(
      start: sqlite3_column_blob(all.handle, 4), count: Int(sqlite3_column_bytes(all.handle, 4)))
    return PersonValues(
      id: Int(sqlite3_column_int64(all.handle, 0)),
      name: String(cString: sqlite3_column_text(all.handle, 1)),
      age: Int(sqlite3_column_int64(all.handle, 2)),
      score: sqlite3_column_double(all.handle, 3), payload: Array(payload))
  }

  func lookup(_ keys: ArraySlice<Int>) throws -> Int {
    try reading {
      let handle = find.handle
      var sum = 0
      for key in keys {
        sqlite3_bind_int64(handle, 1, Int64(key))
        try connection.check(sqlite3_step(handle), SQLITE_ROW)
        sum &+= Int(sqlite3_column_int64(handle, 0))
        sqlite3_reset(handle)
      }
      return sum
    }
  }

  /// A row that the statement stands on.
  func readHeld(_ key: Int, times: Int) throws -> Int? {
    let handle = find.handle
    sqlite3_bind_int64(handle, 1, Int64(key))
    try connection.check(sqlite3_step(handle), SQLITE_ROW)
    var sum = 0
    for _ in 0..<times { sum &+= Int(sqlite3_column_int64(handle, 0)) }
    sqlite3_reset(handle)
    return sum
  }

  func iterate() throws -> Int {
    let all = try SQLiteStatement(connection, "SELECT age FROM person")
    var sum = 0
    while true {
      let result = sqlite3_step(all.handle)
      if result == SQLITE_DONE { return sum }
      try connection.check(result, SQLITE_ROW)
      sum &+= Int(sqlite3_column_int64(all.handle, 0))
    }
  }

  func sumOfAges() throws -> Int { try number("SELECT sum(age) FROM person") }

  func count(age: Int) throws -> Int {
    try number("SELECT count(*) FROM person WHERE age = ?1", age)
  }

  func count(above age: Int, prefix: String) throws -> Int {
    try number("SELECT count(*) FROM person WHERE age > ?1 AND name GLOB '\(prefix)*'", age)
  }

  /// The number that a query gives.
  private func number(_ text: String, _ argument: Int? = nil) throws -> Int {
    let query = try SQLiteStatement(connection, text)
    if let argument { sqlite3_bind_int64(query.handle, 1, Int64(argument)) }
    try connection.check(sqlite3_step(query.handle), SQLITE_ROW)
    return Int(sqlite3_column_int64(query.handle, 0))
  }

  /// A read begins a read transaction by itself and ends it with the reset: the cheapest form.
  func freeze(times: Int) throws {
    let any = try SQLiteStatement(connection, "SELECT 1 FROM person LIMIT 1")
    for _ in 0..<times {
      try connection.check(sqlite3_step(any.handle), SQLITE_ROW)
      sqlite3_reset(any.handle)
    }
  }

  /// What its documents give for this: a number that changes when another connection has committed.
  func refresh(times: Int) throws -> Int {
    let version = try SQLiteStatement(connection, "PRAGMA data_version")
    var newest: Int64?
    var newer = 0
    for _ in 0..<times {
      try connection.check(sqlite3_step(version.handle), SQLITE_ROW)
      let number = sqlite3_column_int64(version.handle, 0)
      sqlite3_reset(version.handle)
      if let newest, newest != number { newer += 1 }
      newest = number
    }
    return newer
  }

  func pin() throws -> AnyObject {
    if !hasPinned {
      hasPinned = true
      try connection.run("PRAGMA wal_autocheckpoint = 0")
    }
    return try engine.pin()
  }

  /// Moves the log into the file and cuts both.
  func settle() throws {
    try connection.run(
      "PRAGMA wal_autocheckpoint = 1000; PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)"
    )
    hasPinned = false
  }
}
