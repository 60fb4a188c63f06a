// Changes of the schema of a file with objects: a column more, another name, another type. Each
// opens the file with the new form of one class.
import CSQLite
import Foundation
import RealmSwift

/// The class in its first form.
final class FormOne: Object {
  override class func _realmObjectName() -> String? { "Form" }
  @Persisted var value: Int
}

/// With a column more.
final class FormTwo: Object {
  override class func _realmObjectName() -> String? { "Form" }
  @Persisted var value: Int
  @Persisted var added: Int
}

/// With another name.
final class FormThree: Object {
  override class func _realmObjectName() -> String? { "Form" }
  @Persisted var amount: Int
  @Persisted var added: Int
}

/// With another type.
final class FormFour: Object {
  override class func _realmObjectName() -> String? { "Form" }
  @Persisted var amount: String
  @Persisted var added: Int
}

enum SchemaRows {
  private static let rows = [
    Row("add-column", .nanoseconds), Row("rename-column", .nanoseconds),
    Row("change-type", .nanoseconds), Row("change-type-memory", .bytes),
  ]

  /// `add-column` and `rename-column` of all objects; `change-type` from integers to texts, object
  /// by object, with the most memory of its own that the process needed for it.
  static func migrations(_ fixtures: Fixtures) -> Benchmark {
    let count = fixtures.options.objects
    return Benchmark(rows, [Contestant(.ours, .full), Contestant(.sqlite, .full)]) {
      contestant, repetition in
      let path = fixtures.path("schema-\(contestant.engine.rawValue)-\(repetition)")
      defer {
        for suffix in ["", ".lock", "-wal", "-shm"] {
          try? FileManager.default.removeItem(atPath: path + suffix)
        }
      }
      return contestant.engine == .ours ? try ours(path, count) : try sqlite(path, count)
    }
  }

  // MARK: - Ours

  private static func ours(_ path: String, _ count: Int) throws -> Measurement {
    func configuration(
      _ version: UInt64, _ type: Object.Type, _ block: @escaping MigrationBlock = { _, _ in }
    ) -> Realm.Configuration {
      Realm.Configuration(
        fileURL: URL(fileURLWithPath: path), schemaVersion: version, migrationBlock: block,
        objectTypes: [type])
    }
    /// Opens the file and closes it again; nanoseconds until it was open.
    func open(_ configuration: Realm.Configuration, _ body: (Realm) throws -> Void) throws
      -> Double
    {
      func run() throws -> Double {
        let start = now()
        let realm = try Realm(configuration: configuration)
        let time = Double(now() - start)
        try body(realm)
        return time
      }
      let time = try run()
      try waitUntilClosed(path)
      return time
    }
    _ = try open(configuration(0, FormOne.self)) { realm in
      try realm.write {
        for number in 0..<count {
          let object = FormOne()
          object.value = ModelContent.value(number)
          realm.add(object)
        }
      }
    }
    var values: [String: Double] = [:]
    values["add-column"] = try open(configuration(1, FormTwo.self)) { _ in }
    let rename = configuration(2, FormThree.self) { migration, _ in
      migration.renameProperty(onType: "Form", from: "value", to: "amount")
    }
    values["rename-column"] = try open(rename) { _ in }
    let retype = configuration(3, FormFour.self) { migration, _ in
      migration.enumerateObjects(ofType: "Form") { old, new in
        new!["amount"] = String(old!["amount"] as! Int)
      }
    }
    let watch = try MemoryWatch()
    var checksum = 0
    values["change-type"] = try open(retype) { realm in
      values["change-type-memory"] = Double(watch.stop())
      for object in realm.objects(FormFour.self) { checksum &+= Int(object.amount) ?? 0 }
    }
    return Measurement(values: values, checksum: checksum)
  }

  // MARK: - SQLite

  private static func sqlite(_ path: String, _ count: Int) throws -> Measurement {
    let connection = try SQLiteConnection(path)
    try connection.run(
      """
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      CREATE TABLE form (id INTEGER PRIMARY KEY, value INTEGER NOT NULL);
      BEGIN;
      """)
    let insert = try SQLiteStatement(connection, "INSERT INTO form VALUES (?1, ?2)")
    for number in 0..<count {
      sqlite3_bind_int64(insert.handle, 1, Int64(number))
      sqlite3_bind_int64(insert.handle, 2, Int64(ModelContent.value(number)))
      try insert.run()
    }
    try connection.run("COMMIT")
    var values: [String: Double] = [:]
    func time(_ name: String, _ text: String) throws {
      let start = now()
      try connection.run(text)
      values[name] = Double(now() - start)
    }
    try time("add-column", "ALTER TABLE form ADD COLUMN added INTEGER NOT NULL DEFAULT 0")
    try time("rename-column", "ALTER TABLE form RENAME COLUMN value TO amount")
    let watch = try MemoryWatch()
    try time(
      "change-type",
      """
      BEGIN;
      ALTER TABLE form ADD COLUMN text TEXT NOT NULL DEFAULT '';
      UPDATE form SET text = CAST(amount AS TEXT);
      ALTER TABLE form DROP COLUMN amount;
      ALTER TABLE form RENAME COLUMN text TO amount;
      COMMIT;
      """)
    values["change-type-memory"] = Double(watch.stop())
    let sum = try SQLiteStatement(connection, "SELECT sum(CAST(amount AS INTEGER)) FROM form")
    try connection.check(sqlite3_step(sum.handle), SQLITE_ROW)
    return Measurement(values: values, checksum: Int(sqlite3_column_int64(sum.handle, 0)))
  }
}
