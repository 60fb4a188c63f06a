// SQLite with an equal schema: rows for objects, an index on each link, one table a collection. Set
// up as in Engines/SQLiteEngine.swift.
import CSQLite
import Foundation

final class SQLiteModel: ModelDriver {
  private let connection: SQLiteConnection
  private let size: ModelSize
  private var statements: [String: SQLiteStatement] = [:]
  private var heldChildren: [Int] = []
  private var heldOwners: [Int] = []

  init(folder: String, size: ModelSize) throws {
    self.size = size
    connection = try SQLiteConnection(folder + "/model.sqlite")
    try connection.run(
      """
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA mmap_size = 2147418112;
      PRAGMA cache_size = -262144;
      PRAGMA temp_store = MEMORY;
      CREATE TABLE owner (id INTEGER PRIMARY KEY, age INTEGER NOT NULL);
      CREATE TABLE child (
        id INTEGER PRIMARY KEY, value INTEGER NOT NULL, owner INTEGER REFERENCES owner(id));
      CREATE INDEX child_owner ON child(owner);
      CREATE TABLE owner_children (
        owner INTEGER NOT NULL, position INTEGER NOT NULL, child INTEGER NOT NULL,
        PRIMARY KEY (owner, position)) WITHOUT ROWID;
      CREATE INDEX owner_children_child ON owner_children(child);
      CREATE TABLE numbers (position INTEGER PRIMARY KEY, value INTEGER NOT NULL);
      CREATE TABLE map (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE elements (value INTEGER PRIMARY KEY);
      CREATE TABLE text_keyed (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE identifier_keyed (key BLOB PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
      """)
  }

  // MARK: - Running statements

  private func prepared(_ text: String) throws -> SQLiteStatement {
    if let known = statements[text] { return known }
    let statement = try SQLiteStatement(connection, text)
    statements[text] = statement
    return statement
  }

  private func transaction(_ body: () throws -> Void) throws {
    try prepared("BEGIN").run()
    try body()
    try prepared("COMMIT").run()
  }

  /// The sum of the first column of all rows, for one bound number.
  private func sum(_ statement: SQLiteStatement, _ number: Int) throws -> Int {
    sqlite3_bind_int64(statement.handle, 1, Int64(number))
    return try sum(statement)
  }

  private func sum(_ statement: SQLiteStatement) throws -> Int {
    var sum = 0
    while true {
      let result = sqlite3_step(statement.handle)
      if result == SQLITE_DONE { break }
      try connection.check(result, SQLITE_ROW)
      sum &+= Int(sqlite3_column_int64(statement.handle, 0))
    }
    sqlite3_reset(statement.handle)
    return sum
  }

  private func sums(_ text: String, _ numbers: [Int]) throws -> Int {
    let statement = try prepared(text)
    var all = 0
    try transaction { for number in numbers { all &+= try sum(statement, number) } }
    return all
  }

  private func run(_ statement: SQLiteStatement, _ numbers: Int...) throws {
    for (index, number) in numbers.enumerated() {
      sqlite3_bind_int64(statement.handle, Int32(index + 1), Int64(number))
    }
    try statement.run()
  }

  /// The text lives as long as the statement runs.
  private func withBound(
    _ statement: SQLiteStatement, _ text: String, _ body: () throws -> Void
  ) throws {
    var text = text
    try text.withUTF8 { bytes in
      _ = bytes.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text(statement.handle, 1, $0.baseAddress, Int32($0.count), nil)
      }
      try body()
    }
  }

  private func withBound(
    _ statement: SQLiteStatement, _ identifier: UUID, _ body: () throws -> Void
  ) throws {
    try withUnsafeBytes(of: identifier.uuid) { bytes in
      sqlite3_bind_blob(statement.handle, 1, bytes.baseAddress, 16, nil)
      try body()
    }
  }

  // MARK: - Links

  func insertOwners() throws {
    let owner = try prepared("INSERT INTO owner VALUES (?1, ?2)")
    let child = try prepared("INSERT INTO child VALUES (?1, ?2, ?3)")
    let element = try prepared("INSERT INTO owner_children VALUES (?1, ?2, ?3)")
    try transaction {
      var number = 0
      for id in 0..<size.owners {
        try run(owner, id, ModelContent.age(id))
        for position in 0..<ModelSize.childrenOfOwner {
          try run(child, number, ModelContent.value(number), id)
          try run(element, id, position, number)
          number += 1
        }
      }
    }
  }

  func hold(children: [Int], owners: [Int]) throws {
    (heldChildren, heldOwners) = (children, owners)
  }

  func release() { (heldChildren, heldOwners) = ([], []) }

  func followLinks() throws -> Int {
    try sums(
      "SELECT owner.age FROM child JOIN owner ON owner.id = child.owner WHERE child.id = ?1",
      heldChildren)
  }

  func readBacklinks() throws -> Int {
    try sums("SELECT value FROM child WHERE owner = ?1", heldOwners)
  }

  func readLists() throws -> Int {
    try sums(
      """
      SELECT child.value FROM owner_children JOIN child ON child.id = owner_children.child
      WHERE owner_children.owner = ?1 ORDER BY position
      """, heldOwners)
  }

  // MARK: - The long list

  func appendBulk(_ values: [Int]) throws { try append(values) }
  func appendEach(_ values: [Int]) throws { try append(values) }

  private func append(_ values: [Int]) throws {
    var position = try sum(prepared("SELECT coalesce(max(position) + 1, 0) FROM numbers"))
    let insert = try prepared("INSERT INTO numbers VALUES (?1, ?2)")
    try transaction {
      for value in values {
        try run(insert, position, value)
        position += 1
      }
    }
  }

  /// Each moves half of the list.
  var middleInserts: Int { 3 }

  func removeFromMiddle(_ count: Int) throws {
    let middle = (try sum(prepared("SELECT count(*) FROM numbers")) - count) / 2
    let delete = try prepared("DELETE FROM numbers WHERE position >= ?1 AND position < ?2")
    let away = try prepared("UPDATE numbers SET position = -position WHERE position >= ?1")
    let back = try prepared("UPDATE numbers SET position = -position - ?1 WHERE position < 0")
    try transaction {
      try run(delete, middle, middle + count)
      try run(away, middle + count)
      try run(back, count)
    }
  }

  /// Later positions move by one; by way of negative ones, as a position may exist once only.
  func insertInMiddle(_ values: [Int]) throws {
    let middle = try sum(prepared("SELECT count(*) FROM numbers")) / 2
    let away = try prepared("UPDATE numbers SET position = -position - 2 WHERE position >= ?1")
    let back = try prepared("UPDATE numbers SET position = -position - 1 WHERE position < 0")
    let insert = try prepared("INSERT INTO numbers VALUES (?1, ?2)")
    try transaction {
      for value in values {
        try run(away, middle)
        try back.run()
        try run(insert, middle, value)
      }
    }
  }

  func sumInOrder() throws -> Int {
    try sum(prepared("SELECT value FROM numbers ORDER BY position"))
  }

  func sumAt(_ positions: [Int]) throws -> Int {
    try sums("SELECT value FROM numbers WHERE position = ?1", positions)
  }

  // MARK: - Maps and sets

  func insertMap(_ count: Int) throws {
    let insert = try prepared("INSERT OR REPLACE INTO map VALUES (?1, ?2)")
    try transaction {
      for number in 0..<count {
        sqlite3_bind_int64(insert.handle, 2, Int64(number))
        try withBound(insert, ModelContent.mapKey(number)) { try insert.run() }
      }
    }
  }

  func lookUpMap(_ keys: [String]) throws -> Int {
    try sums(of: keys, "SELECT value FROM map WHERE key = ?1")
  }

  private func sums(of keys: [String], _ text: String) throws -> Int {
    let statement = try prepared(text)
    var all = 0
    try transaction {
      for key in keys { try withBound(statement, key) { all &+= try sum(statement) } }
    }
    return all
  }

  func insertSet(_ values: [Int]) throws {
    let insert = try prepared("INSERT OR IGNORE INTO elements VALUES (?1)")
    try transaction { for value in values { try run(insert, value) } }
  }

  func countInSet(_ values: [Int]) throws -> Int {
    try sums("SELECT 1 FROM elements WHERE value = ?1", values)
  }

  // MARK: - Keys

  func insertTextKeys(_ keys: [String]) throws {
    let insert = try prepared("INSERT INTO text_keyed VALUES (?1, ?2)")
    try transaction {
      for (value, key) in keys.enumerated() {
        sqlite3_bind_int64(insert.handle, 2, Int64(value))
        try withBound(insert, key) { try insert.run() }
      }
    }
  }

  func lookUpTextKeys(_ keys: [String]) throws -> Int {
    try sums(of: keys, "SELECT value FROM text_keyed WHERE key = ?1")
  }

  func insertIdentifiers(_ keys: [UUID]) throws {
    let insert = try prepared("INSERT INTO identifier_keyed VALUES (?1, ?2)")
    try transaction {
      for (value, key) in keys.enumerated() {
        sqlite3_bind_int64(insert.handle, 2, Int64(value))
        try withBound(insert, key) { try insert.run() }
      }
    }
  }

  func lookUpIdentifiers(_ keys: [UUID]) throws -> Int {
    let statement = try prepared("SELECT value FROM identifier_keyed WHERE key = ?1")
    var all = 0
    try transaction {
      for key in keys { try withBound(statement, key) { all &+= try sum(statement) } }
    }
    return all
  }

  // MARK: - Deleting and copying

  /// Links from lists go too, as ours do.
  func deleteChildren(_ keys: [Int]) throws {
    let element = try prepared("DELETE FROM owner_children WHERE child = ?1")
    let child = try prepared("DELETE FROM child WHERE id = ?1")
    try transaction {
      for key in keys {
        try run(element, key)
        try run(child, key)
      }
    }
  }

  func deleteAllChildren() throws {
    try transaction {
      try prepared("DELETE FROM owner_children").run()
      try prepared("DELETE FROM child").run()
    }
  }

  func childCount() throws -> Int { try sum(prepared("SELECT count(*) FROM child")) }

  func writeCopy(to path: String) throws { try connection.run("VACUUM INTO '\(path)'") }
}
