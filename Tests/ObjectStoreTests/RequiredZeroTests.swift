// Columns of identifiers and decimals that become required: what was null is zero then for all who
// look, also for those who compare bytes.
import ObjectStore
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct RequiredZeroTests {
  private static let types: [ValueType] = [.uuid, .objectId, .decimal128, .string, .data]

  private static func schema(_ type: ValueType, isOptional: Bool) -> TableSchema {
    func column(_ name: String, _ collection: CollectionKind, isIndexed: Bool) -> ColumnSchema {
      ColumnSchema(
        name: name, type: type, isOptional: isOptional, isIndexed: isIndexed,
        collection: collection)
    }
    return TableSchema(
      name: "Thing",
      columns: [
        column("value", .none, isIndexed: true), column("plain", .none, isIndexed: false),
        column("list", .list, isIndexed: false), column("set", .set, isIndexed: false),
        column("map", .map, isIndexed: false),
      ], primaryKey: nil, isEmbedded: false)
  }

  private static func makeRequired(_ group: GroupTransaction) -> StoredTable {
    for column in 0..<5 {
      group.changeColumn(
        group.schema.tables[0], column, isOptional: false, isIndexed: column == 0)
    }
    return group.schema.tables[0]
  }

  @Test(arguments: types) func nullsBecomeTheBytesOfZero(type: ValueType) throws {
    let zero = type.zeroBytes
    let one = [UInt8](repeating: 1, count: 16)
    let group = GroupTransaction(BlockEditor.inMemory(), root: .none)
    group.createTable(Self.schema(type, isOptional: true))
    let optional = group.schema.tables[0]
    // The first has never had a value, the second has one, the third has lost it.
    let keys = (0..<3).map { _ in group.insert(optional) }
    for key in keys[1...] {
      one.withUnsafeBytes { bytes in
        for column in [0, 1] { group.setBytes(optional, key, column, bytes) }
        for value in [ElementValue.bytes(bytes), .null] {
          group.listAppend(optional, key, 2, value)
          group.setInsert(optional, key, 3, value)
        }
        group.mapSet(optional, key, 4, bytes, .null)
      }
    }
    for column in [0, 1] { group.setBytes(optional, keys[2], column, nil) }

    let table = Self.makeRequired(group)
    let reader = group.reader(table)
    #expect(reader.checkInvariants(table) == [])
    for key in keys {
      let location = try #require(reader.locate(key))
      for column in [0, 1] {
        let found = reader.withBytes(location, column) { $0.map { [UInt8]($0) } }
        #expect(found == (key == keys[1] ? one : zero))
      }
      guard key > keys[0] else { continue }
      zero.withUnsafeBytes { bytes in
        #expect(reader.elements(location, 2).position(of: .bytes(bytes), sorted: false) == 1)
        #expect(reader.elements(location, 3).position(of: .bytes(bytes), sorted: true) == 0)
        #expect(reader.mapValues(location, 4).position(of: .bytes(bytes), sorted: false) == 0)
        // It is there already.
        #expect(!group.setInsert(table, key, 3, .bytes(bytes)).inserted)
      }
    }
    var found: [ObjectKey] = []
    zero.withUnsafeBytes { bytes in
      group.reader(table).forEachIndexed(0, equal: .bytes(bytes)) {
        found.append($0)
        return true
      }
    }
    #expect(found == [keys[0], keys[2]])
  }

  @Test(arguments: types) func keysThatWereNullAreFound(type: ValueType) throws {
    let group = GroupTransaction(BlockEditor.inMemory(), root: .none)
    group.createTable(Self.schema(type, isOptional: true))
    let key = group.insert(group.schema.tables[0])
    let table = group.setPrimaryKey(Self.makeRequired(group), 1).table
    try type.zeroBytes.withUnsafeBytes { bytes in
      #expect(group.reader(table).find(bytes: bytes) == key)
      let (found, inserted) = group.insert(table, primaryKeyBytes: bytes)
      try #require(found == key && !inserted)
    }
  }

  /// What an earlier version has made of nulls: no bytes, which are zero for those who read.
  @Test(arguments: types) func noBytesBecomeZeroWhenTheColumnIsOptional(type: ValueType) throws {
    let group = GroupTransaction(BlockEditor.inMemory(), root: .none)
    group.createTable(Self.schema(type, isOptional: false))
    let required = group.schema.tables[0]
    let key = group.insert(required)
    [UInt8]().withUnsafeBytes { group.setBytes(required, key, 0, $0) }
    let table = group.changeColumn(required, 0, isOptional: true, isIndexed: true)
    let reader = group.reader(table)
    let location = try #require(reader.locate(key))
    #expect(reader.withBytes(location, 0) { $0.map { [UInt8]($0) } } == type.zeroBytes)
    #expect(reader.checkInvariants(table) == [])
  }
}
