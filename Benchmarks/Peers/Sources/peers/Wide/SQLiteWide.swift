// SQLite with rows of nine columns. Set up as in Engines/SQLiteEngine.swift.
import CSQLite
import Foundation

final class SQLiteWide: WideDriver {
  private let connection: SQLiteConnection
  private var statements: [String: SQLiteStatement] = [:]

  init(folder: String, durability: Durability, objects: Int) throws {
    connection = try SQLiteConnection(folder + "/wide.sqlite")
    try connection.run(
      """
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = \(durability == .full ? "FULL" : "OFF");
      PRAGMA mmap_size = 2147418112;
      PRAGMA cache_size = -\(max(65_536, objects / 2));
      PRAGMA temp_store = MEMORY;
      CREATE TABLE wide (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, note TEXT NOT NULL, count INTEGER NOT NULL,
        rank INTEGER NOT NULL, score REAL NOT NULL, is_active INTEGER NOT NULL,
        date REAL NOT NULL, payload BLOB NOT NULL);
      """)
  }

  private func prepared(_ text: String) throws -> SQLiteStatement {
    if let known = statements[text] { return known }
    let statement = try SQLiteStatement(connection, text)
    statements[text] = statement
    return statement
  }

  func run(_ change: WideChange, _ objects: [WideValues]) throws {
    try prepared("BEGIN").run()
    switch change {
    case .whole, .wholeNear, .byName:
      try forEach(
        objects,
        """
        UPDATE wide SET name = ?2, note = ?3, count = ?4, rank = ?5, score = ?6, is_active = ?7,
        date = ?8, payload = ?9 WHERE id = ?1
        """)
    case .insert, .create:
      try forEach(objects, "INSERT INTO wide VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")
    case .upsertNone, .upsertSome, .upsertAll:
      try forEach(
        objects,
        """
        INSERT INTO wide VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (id) DO UPDATE SET
        name = ?2, note = ?3, count = ?4, rank = ?5, score = ?6, is_active = ?7, date = ?8,
        payload = ?9
        """)
    case .number:
      let update = try prepared("UPDATE wide SET count = ?2 WHERE id = ?1")
      for values in objects { try run(update, values.id, values.count) }
    case .text:
      let update = try prepared("UPDATE wide SET name = ?2 WHERE id = ?1")
      for var values in objects {
        sqlite3_bind_int64(update.handle, 1, Int64(values.id))
        try withText(&values.name, update, 2) { try update.run() }
      }
    case .numberWhere:
      try run(
        prepared("UPDATE wide SET count = ?3 WHERE id >= ?1 AND id <= ?2"), objects.first!.id,
        objects.last!.id, objects[0].count)
    case .delete:
      let delete = try prepared("DELETE FROM wide WHERE id = ?1")
      for values in objects { try run(delete, values.id) }
    case .deleteWhere:
      try run(
        prepared("DELETE FROM wide WHERE id >= ?1 AND id <= ?2"), objects.first!.id,
        objects.last!.id)
    }
    try prepared("COMMIT").run()
  }

  /// Runs a statement with all values of each object.
  private func forEach(_ objects: [WideValues], _ text: String) throws {
    let statement = try prepared(text)
    let handle = statement.handle
    for var values in objects {
      sqlite3_bind_int64(handle, 1, Int64(values.id))
      sqlite3_bind_int64(handle, 4, Int64(values.count))
      sqlite3_bind_int64(handle, 5, Int64(values.rank))
      sqlite3_bind_double(handle, 6, values.score)
      sqlite3_bind_int64(handle, 7, values.isActive ? 1 : 0)
      sqlite3_bind_double(handle, 8, values.date.timeIntervalSinceReferenceDate)
      try withText(&values.name, statement, 2) {
        try withText(&values.note, statement, 3) {
          try values.payload.withUnsafeBytes { bytes in
            sqlite3_bind_blob(handle, 9, bytes.baseAddress, Int32(bytes.count), nil)
            try statement.run()
          }
        }
      }
    }
  }

  /// The text lives as long as the statement runs.
  private func withText(
    _ text: inout String, _ statement: SQLiteStatement, _ column: Int32, _ body: () throws -> Void
  ) throws {
    try text.withUTF8 { bytes in
      _ = bytes.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text(statement.handle, column, $0.baseAddress, Int32($0.count), nil)
      }
      try body()
    }
  }

  private func run(_ statement: SQLiteStatement, _ numbers: Int...) throws {
    for (index, number) in numbers.enumerated() {
      sqlite3_bind_int64(statement.handle, Int32(index + 1), Int64(number))
    }
    try statement.run()
  }

  func values(_ id: Int) throws -> WideValues? {
    let find = try prepared("SELECT * FROM wide WHERE id = ?1")
    sqlite3_bind_int64(find.handle, 1, Int64(id))
    defer { sqlite3_reset(find.handle) }
    let result = sqlite3_step(find.handle)
    if result == SQLITE_DONE { return nil }
    try connection.check(result, SQLITE_ROW)
    func text(_ column: Int32) -> String {
      String(cString: sqlite3_column_text(find.handle, column)!)
    }
    var values = WideValues(id, seed: 0)
    values.name = text(1)
    values.note = text(2)
    values.count = Int(sqlite3_column_int64(find.handle, 3))
    values.rank = Int(sqlite3_column_int64(find.handle, 4))
    values.score = sqlite3_column_double(find.handle, 5)
    values.isActive = sqlite3_column_int64(find.handle, 6) == 1
    values.date = Date(timeIntervalSinceReferenceDate: sqlite3_column_double(find.handle, 7))
    values.payload = Data(
      bytes: sqlite3_column_blob(find.handle, 8)!,
      count: Int(sqlite3_column_bytes(find.handle, 8)))
    return values
  }

  func count() throws -> Int {
    let count = try prepared("SELECT count(*) FROM wide")
    try connection.check(sqlite3_step(count.handle), SQLITE_ROW)
    defer { sqlite3_reset(count.handle) }
    return Int(sqlite3_column_int64(count.handle, 0))
  }

  /// The connection closes with its last statement.
  func close() { statements = [:] }
}
