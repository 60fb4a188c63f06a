// What a large transaction keeps in memory: long values go to the file as they are made, wherever
// they belong, and what is made and given up again and again takes no numbers of blocks.
import ObjectStore
import Platform
import Storage
import TestSupport
import Testing
import Trees

@Suite(.ownThreads) struct MemoryLimitTests {
  private static let schema = TableSchema(
    name: "Photo",
    columns: [
      ColumnSchema(name: "id", type: .int, isOptional: false, isIndexed: false),
      ColumnSchema(name: "data", type: .data, isOptional: false, isIndexed: false),
      ColumnSchema(
        name: "parts", type: .data, isOptional: false, isIndexed: false, collection: .list),
      ColumnSchema(
        name: "numbers", type: .int, isOptional: false, isIndexed: false, collection: .list),
      ColumnSchema(
        name: "tags", type: .int, isOptional: false, isIndexed: false, collection: .map),
    ], primaryKey: "id", isEmbedded: false)

  private static let valueBytes = 200_000

  private static func value(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: valueBytes + number % 7)
  }

  private static func store(_ folder: TemporaryFolder) throws -> Store {
    try Store.open(StoreOptions(path: folder.path + "/limits.realm", durability: .memory))
  }

  /// Runs a body on the objects of a table and commits it.
  ///
  /// - Returns: what the transaction has left.
  @discardableResult
  private static func write(
    _ store: Store, _ body: (GroupTransaction, StoredTable, BlockEditor) -> Void
  ) throws -> Snapshot {
    let transaction = try store.beginWrite()
    let group = GroupTransaction(transaction.editor, root: transaction.root)
    if group.schema.tables.isEmpty { group.createTable(schema) }
    body(group, group.schema.tables[0], transaction.editor)
    transaction.root = group.finish()
    return try transaction.commit()
  }

  private static func expectSound(
    _ store: Store, _ snapshot: Snapshot, _ body: (TableReader, [RowLocation]) -> Void
  ) throws {
    let table = StoredSchema.loadOrStop(snapshot.reader, root: snapshot.root).tables[0]
    let reader = TableReader(reader: snapshot.reader, root: snapshot.root, table: table)
    #expect(reader.checkInvariants(table) == [])
    var locations: [RowLocation] = []
    reader.forEachObject { _, location in
      locations.append(location)
      return true
    }
    body(reader, locations)
    #expect(try store.checkInvariants().findings == [])
  }

  /// All of a cluster's values were in memory at a time, and without end those of older objects and
  /// those of lists: gigabytes.
  @Test func longValuesAreNotKeptInMemory() throws {
    let folder = TemporaryFolder()
    let store = try Self.store(folder)
    let count = 30
    let bytesMax = 1 << 20
    var most = 0
    var inVain = 0
    func begin(_ editor: BlockEditor) {
      editor.limits.passingBytes = bytesMax
      most = 0
    }
    // New objects of one cluster.
    try Self.write(store) { group, table, editor in
      begin(editor)
      for number in 0..<count {
        let key = group.insert(table, primaryKeyInteger: Int64(number)).key
        Self.value(number).withUnsafeBytes { group.setBytes(table, key, 1, $0) }
        most = max(most, editor.provisionalBytes)
      }
    }
    #expect(most < bytesMax + 4 * Self.valueBytes, "\(most) bytes of new objects")
    // The same objects, now older ones, and some of the values twice.
    try Self.write(store) { group, table, editor in
      begin(editor)
      for number in 0..<count {
        let key = group.reader(table).key(at: number % 20)
        Self.value(number + 100).withUnsafeBytes { group.setBytes(table, key, 1, $0) }
        most = max(most, editor.provisionalBytes)
      }
    }
    #expect(most < bytesMax + 4 * Self.valueBytes, "\(most) bytes of older objects")
    // Elements of one list, put in and assigned.
    let snapshot = try Self.write(store) { group, table, editor in
      begin(editor)
      let key = group.reader(table).key(at: 0)
      for number in 0..<count {
        Self.value(number).withUnsafeBytes {
          group.listInsert(table, key, 2, at: number / 2, .bytes($0))
        }
        most = max(most, editor.provisionalBytes)
      }
      for number in 0..<count {
        Self.value(number + 50).withUnsafeBytes {
          group.listSet(table, key, 2, at: number, .bytes($0))
        }
        most = max(most, editor.provisionalBytes)
      }
      inVain = editor.bytesInVain
      group.listRemove(table, key, 2, at: count - 1)
    }
    // As much as was written in vain may be kept.
    #expect(inVain > 0 && most < bytesMax + 2 * inVain + 4 * Self.valueBytes)
    try Self.expectSound(store, snapshot) { reader, locations in
      for (number, location) in locations.enumerated() {
        let written = number < 10 ? number + 120 : number < 20 ? number + 100 : number
        let isRight = reader.withBytes(location, 1) { bytes in
          bytes.map { [UInt8]($0) } == Self.value(written)
        }
        #expect(isRight, "object \(number)")
      }
      let elements = reader.elements(locations[0], 2)
      #expect(elements.count == count - 1)
      for position in 0..<elements.count {
        let isRight = elements.withBytes(at: position) { bytes in
          bytes.map { [UInt8]($0) } == Self.value(position + 50)
        }
        #expect(isRight, "element \(position)")
      }
    }
  }

  /// In the file each would take room until the commit.
  @Test func aValueThatIsReplacedAgainAndAgainStaysInMemory() throws {
    let folder = TemporaryFolder()
    let store = try Self.store(folder)
    let before = try store.statistics().fileBytes
    let value = [UInt8](repeating: 3, count: 8 << 20)
    try Self.write(store) { group, table, _ in
      let key = group.insert(table, primaryKeyInteger: 1).key
      for _ in 0..<12 { value.withUnsafeBytes { group.setBytes(table, key, 1, $0) } }
    }
    let after = try store.statistics().fileBytes
    #expect(after - before < 3 * UInt64(value.count), "\(after - before) bytes")
  }

  /// One object whose collections and value are made anew in each round; the process stopped after
  /// some million blocks.
  @Test func roundsOfOneObjectTakeFewNumbers() throws {
    let folder = TemporaryFolder()
    let store = try Self.store(folder)
    let value = [UInt8](repeating: 1, count: 2_000)
    let name = [UInt8]("name".utf8)
    let snapshot = try Self.write(store) { group, table, editor in
      let key = group.insert(table, primaryKeyInteger: 1).key
      for round in 0..<Int64(3_000) {
        group.removeAllElements(table, key, 3)
        group.listAppend(table, key, 3, .integer(round))
        group.removeAllElements(table, key, 4)
        name.withUnsafeBytes { _ = group.mapSet(table, key, 4, $0, .integer(round)) }
        value.withUnsafeBytes { group.setBytes(table, key, 1, $0) }
      }
      #expect(editor.provisionalCount < 40, "\(editor.provisionalCount) numbers")
    }
    try Self.expectSound(store, snapshot) { reader, locations in
      #expect(reader.elements(locations[0], 3).integer(at: 0) == 2_999)
      #expect(reader.mapValues(locations[0], 4).integer(at: 0) == 2_999)
    }
  }

  /// Blocks of clusters that inserts have filled leave, and so do those of clusters that were only
  /// changed where there are too many.
  @Test func manyObjectsTakeFewNumbers() throws {
    let folder = TemporaryFolder()
    let store = try Self.store(folder)
    let blocksMax = 2_000
    let count = 6_000
    let name = [UInt8]("name".utf8)
    var keys: [ObjectKey] = []
    try Self.write(store) { group, table, editor in
      editor.limits.blocks = blocksMax
      for number in 0..<Int64(count) {
        let key = group.insert(table, primaryKeyInteger: number).key
        keys.append(key)
        group.listAppend(table, key, 3, .integer(number))
        name.withUnsafeBytes { _ = group.mapSet(table, key, 4, $0, .integer(-number)) }
      }
      #expect(editor.provisionalCount < 2 * blocksMax, "\(editor.provisionalCount) numbers")
    }
    let snapshot = try Self.write(store) { group, table, editor in
      editor.limits.blocks = blocksMax
      // Some objects of each cluster, so that each is left and comes again.
      for start in 0..<4 {
        for number in stride(from: start, to: count, by: 4) {
          group.listAppend(table, keys[number], 3, .integer(7))
          name.withUnsafeBytes { _ = group.mapSet(table, keys[number], 4, $0, .integer(8)) }
        }
      }
      #expect(editor.provisionalCount < 2 * blocksMax, "\(editor.provisionalCount) numbers")
    }
    try Self.expectSound(store, snapshot) { reader, locations in
      #expect(locations.count == count)
      for (number, location) in locations.enumerated() {
        let numbers = reader.elements(location, 3)
        let found = (0..<numbers.count).map { numbers.integer(at: $0) }
        #expect(found == [Int64(number), 7], "object \(number)")
        #expect(reader.mapValues(location, 4).integer(at: 0) == 8, "object \(number)")
      }
    }
  }
}
