import Storage
import TestSupport
import Testing

// The schema as a part of a version: it comes back as it was declared, however large, and a change
// of it leaves older versions alone.
@testable import ObjectStore

@Suite(.ownThreads) struct SchemaTests {
  static func table(_ name: String, columns: Int) -> TableSchema {
    TableSchema(
      name: name,
      columns: (0..<columns).map {
        ColumnSchema(
          name: "\(name) column \($0) äöü", type: $0 % 2 == 0 ? .int : .string,
          isOptional: $0 % 3 == 0, isIndexed: $0 % 5 == 0)
      },
      primaryKey: columns > 1 ? "\(name) column 1 äöü" : nil, isEmbedded: columns == 3)
  }

  @Test(arguments: [1, 10, 600])
  func schemasComeBack(tables: Int) throws {
    let editor = BlockEditor.inMemory()
    let group = GroupTransaction(editor, root: .none)
    let declared = (0..<tables).map { Self.table("table\($0)", columns: $0 % 7) }
    for table in declared { group.createTable(table) }
    group.setSchemaVersion(17)
    let root = group.finish()
    let stored = StoredSchema.loadOrStop(editor.reader, root: root)
    #expect(stored.schemaVersion == 17)
    #expect(stored.tables.map(\.schema) == declared)
    #expect(stored.tables.map(\.index) == Array(0..<tables))
    #expect(Set(stored.tables.map(\.tableKey)).count == tables)
    #expect(stored.table(named: "table0")?.schema == declared[0])
    #expect(stored.table(named: "none") == nil)
  }

  @Test func aTransactionWithoutChangesKeepsTheRoot() throws {
    let folder = TemporaryFolder()
    let store = try Store.open(
      StoreOptions(path: folder.path + "/schema.realm", durability: .memory))
    let first = try store.beginWrite()
    let group = GroupTransaction(first.editor, root: first.root)
    group.createTable(Self.table("a", columns: 2))
    group.createTable(Self.table("b", columns: 1))
    _ = group.insert(group.schema.tables[1])
    first.root = group.finish()
    let snapshot = try first.commit()
    let second = try store.beginWrite()
    let unchanged = GroupTransaction(second.editor, root: second.root)
    let table = unchanged.schema.tables[1]
    #expect(!unchanged.delete(table, ObjectKey(rawValue: 7)))
    #expect(unchanged.reader(table).count == 1)
    #expect(unchanged.finish() == snapshot.root)
    second.cancel()
  }

  /// A table that did not fit stopped the process at its commit, and the limit that was told was
  /// twice as high.
  @Test(arguments: [true, false])
  func asManyColumnsAsFit(isIndexed: Bool) throws {
    func schema(_ count: Int) -> TableSchema {
      TableSchema(
        name: "wide",
        columns: (0..<count).map {
          ColumnSchema(
            name: "column \($0)", type: .int, isOptional: false, isIndexed: isIndexed && $0 == 7)
        }, primaryKey: nil, isEmbedded: false)
    }
    let most = schema(8).columnsMax
    #expect(most == (isIndexed ? 4_092 : 8_186))
    let folder = TemporaryFolder()
    let store = try Store.open(
      StoreOptions(path: folder.path + "/wide.realm", durability: .memory))
    let transaction = try store.beginWrite()
    let group = GroupTransaction(transaction.editor, root: transaction.root)
    group.createTable(schema(most))
    let table = group.schema.tables[0]
    let keys = (0..<3).map { _ in group.insert(table) }
    group.setInteger(table, keys[0], most - 1, 5)
    group.setInteger(table, keys[2], 7, 6)
    // A cluster with a gap is the longest.
    #expect(group.delete(table, keys[1]))
    transaction.root = group.finish()
    let snapshot = try transaction.commit()
    let stored = StoredSchema.loadOrStop(snapshot.reader, root: snapshot.root).tables[0]
    let reader = TableReader(reader: snapshot.reader, root: snapshot.root, table: stored)
    #expect(reader.checkInvariants(stored) == [])
    #expect(reader.integer(reader.locate(keys[0])!, most - 1) == 5)
    #expect(try store.checkInvariants().findings == [])
  }

  @Test func moreColumnsAreRefusedWhenTheTableIsMade() async {
    await #expect(processExitsWith: .failure) {
      let group = GroupTransaction(BlockEditor.inMemory(), root: .none)
      group.createTable(
        TableSchema(
          name: "wide",
          columns: (0..<8_187).map {
            ColumnSchema(name: "column \($0)", type: .int, isOptional: false, isIndexed: false)
          }, primaryKey: nil, isEmbedded: false))
      // Before it is written.
      withExtendedLifetime(group) {}
    }
  }

  /// A second object layer on the same transaction, as a migration may make one.
  @Test func aTransactionMayBeContinued() {
    let editor = BlockEditor.inMemory()
    let first = GroupTransaction(editor, root: .none)
    first.createTable(Self.table("a", columns: 1))
    let table = first.schema.tables[0]
    let keys = (0..<600).map { _ in first.insert(table) }
    let second = GroupTransaction(editor, root: first.finish())
    second.setInteger(table, keys[3], 0, 5)
    for key in keys[10..<20] { #expect(second.delete(table, key)) }
    let third = GroupTransaction(editor, root: second.finish())
    #expect(third.reader(table).count == 590)
    #expect(third.reader(table).sum(0) == 5)
    #expect(third.reader(table).checkInvariants(table) == [])
    #expect(third.insert(table) == ObjectKey(rawValue: 600))
  }

  @Test func aNewColumnCostsNothing() throws {
    let folder = TemporaryFolder()
    let store = try Store.open(
      StoreOptions(path: folder.path + "/column.realm", durability: .memory))
    let first = try store.beginWrite()
    let group = GroupTransaction(first.editor, root: first.root)
    group.createTable(Self.table("a", columns: 1))
    let table = group.schema.tables[0]
    let keys = (0..<10_000).map { _ in group.insert(table) }
    for key in keys { group.setInteger(table, key, 0, key.rawValue) }
    first.root = group.finish()
    let old = try first.commit()
    let second = try store.beginWrite()
    let change = GroupTransaction(second.editor, root: second.root)
    let widened = change.addColumn(
      change.schema.tables[0],
      ColumnSchema(name: "new", type: .string, isOptional: false, isIndexed: false))
    #expect(second.editor.provisionalBytes == 0)
    let text = [UInt8]("text".utf8)
    text.withUnsafeBytes { change.setBytes(widened, keys[300], 1, $0) }
    second.root = change.finish()
    #expect(second.editor.provisionalBytes < 8_000)
    let new = try second.commit()
    let stored = StoredSchema.loadOrStop(new.reader, root: new.root).tables[0]
    let reader = TableReader(reader: new.reader, root: new.root, table: stored)
    #expect(stored.schema.columns.count == 2)
    let lengths = [299, 300, 301].map { position in
      reader.withBytes(reader.locate(keys[position])!, 1) { $0?.count }
    }
    #expect(lengths == [0, 4, 0])
    let oldSchema = StoredSchema.loadOrStop(old.reader, root: old.root)
    #expect(oldSchema.tables[0].schema.columns.count == 1)
    #expect(StoredSchema.loadOrStop(old.reader, root: old.root, reusing: oldSchema) === oldSchema)
    let newSchema = StoredSchema.loadOrStop(new.reader, root: new.root, reusing: oldSchema)
    #expect(newSchema.tables[0].schema.columns.count == 2)
    // A version with other objects and the same schema.
    let third = try store.beginWrite()
    let deleting = GroupTransaction(third.editor, root: third.root, schema: newSchema)
    #expect(deleting.delete(newSchema.tables[0], keys[0]))
    third.root = deleting.finish()
    let last = try third.commit()
    #expect(StoredSchema.loadOrStop(last.reader, root: last.root, reusing: newSchema) === newSchema)
    #expect(reader.checkInvariants(stored) == [])
  }
}

/// What sound blocks with other content than a schema lead to: an error that says so.
@Suite(.ownThreads) struct UnreadableSchemaTests {
  private static let encoded = SchemaCoding.encode([
    StoredTable(
      index: 0, tableKey: 7,
      schema: TableSchema(
        name: "Person",
        columns: [
          ColumnSchema(name: "id", type: .int, isOptional: false, isIndexed: false),
          ColumnSchema(
            name: "friends", type: .object, isOptional: false, isIndexed: false, collection: .list,
            target: "Person"),
        ], primaryKey: "id", isEmbedded: false))
  ])

  @Test func everyShorterSchemaIsRefused() throws {
    #expect(try SchemaCoding.decode(Self.encoded).count == 1)
    for length in 0..<Self.encoded.count {
      #expect(throws: SchemaCoding.Unreadable.self) {
        try SchemaCoding.decode(Array(Self.encoded[..<length]))
      }
    }
  }

  @Test func anyBytesEndInASchemaOrAnError() async {
    await withSeeds { random in
      for _ in 0..<2_000 {
        var bytes = Self.encoded
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
            in: 0...255, using: &random)
        }
        do throws(SchemaCoding.Unreadable) {
          for table in try SchemaCoding.decode(bytes) {
            #expect(table.columnKeys.count == table.schema.columns.count)
          }
        } catch { #expect(!error.reason.isEmpty) }
      }
    }
  }

  @Test func anotherFormIsNamed() {
    var bytes = Self.encoded
    bytes[0] = 9
    #expect(throws: SchemaCoding.Unreadable.self) { try SchemaCoding.decode(bytes) }
  }

  @Test func aRootOfAnotherKindIsDamage() throws {
    let store = try Store.open(
      StoreOptions(path: "/other.realm", fileSystem: SimulatedDisk()))
    let transaction = try store.beginWrite()
    transaction.root = transaction.editor.allocate(
      kind: BlockKind(rawValue: 0x20), count: 0, payloadBytes: 100)
    let snapshot = try transaction.commit()
    let error = #expect(throws: StorageError.self) {
      try StoredSchema.load(snapshot.reader, root: snapshot.root)
    }
    guard case .damaged(let path, let block, _, let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path == "/other.realm" && block == snapshot.root.offset)
    #expect(reason == "it is not the root of a version")
  }
}
