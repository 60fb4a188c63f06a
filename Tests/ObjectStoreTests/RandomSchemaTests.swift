// Tables of random schemas over a real store: every column type, every kind of primary key, columns
// added on the way, aggregates; and every pinned version stays what it was.
import ObjectStore
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct RandomSchemaTests {
  enum Value: Hashable {
    case integer(Int64?)
    case bytes([UInt8]?)
  }

  /// One table and what it has to hold.
  struct Model {
    var schema: TableSchema
    var rows: [ObjectKey: [Value]] = [:]
    var byPrimaryKey: [Value: ObjectKey] = [:]

    func keyColumn() -> Int? { schema.columns.firstIndex { $0.name == schema.primaryKey } }

    func defaults() -> [Value] { schema.columns.map { Self.standard($0) } }

    static func standard(_ column: ColumnSchema) -> Value {
      column.type.isPacked
        ? .integer(column.isOptional ? nil : 0) : .bytes(column.isOptional ? nil : [])
    }
  }

  // MARK: - Random material

  static func randomColumn(_ name: String, _ random: inout RandomGenerator) -> ColumnSchema {
    let types: [ValueType] = [
      .int, .int, .bool, .string, .string, .data, .date, .float, .double, .objectId, .uuid,
    ]
    return ColumnSchema(
      name: name, type: types.randomElement(using: &random)!,
      isOptional: Bool.random(using: &random), isIndexed: false)
  }

  static func randomSchema(_ random: inout RandomGenerator) -> TableSchema {
    var columns = (0..<Int.random(in: 1...9, using: &random)).map {
      randomColumn("column\($0)", &random)
    }
    let isInteger = Bool.random(using: &random)
    let hasKey = !random.oneIn(5)
    columns.insert(
      ColumnSchema(
        name: "id", type: isInteger ? .int : .string, isOptional: Bool.random(using: &random),
        isIndexed: false), at: Int.random(in: 0...columns.count, using: &random))
    return TableSchema(
      name: "Thing", columns: columns, primaryKey: hasKey ? "id" : nil, isEmbedded: false)
  }

  static func randomValue(_ column: ColumnSchema, _ random: inout RandomGenerator) -> Value {
    if column.isOptional && random.oneIn(4) {
      return column.type.isPacked ? .integer(nil) : .bytes(nil)
    }
    switch column.type {
    case .bool: return .integer(Int64.random(in: 0...1, using: &random))
    case .double, .date:
      let value = random.oneIn(5) ? 0 : Double.random(in: -1e9...1e9, using: &random)
      return .integer(Int64(bitPattern: value.bitPattern))
    case .float:
      return .integer(Int64(Float.random(in: -1e9...1e9, using: &random).bitPattern))
    case .int:
      // Int8 to Int64 share the type; their magnitudes differ.
      let shift = Int64.random(in: 0...63, using: &random)
      return .integer(Int64(bitPattern: random.next()) >> shift)
    case .objectId: return .bytes(TableModelTests.randomBytes(&random).suffix(12))
    default: return .bytes(TableModelTests.randomBytes(&random))
    }
  }

  static func randomKey(_ column: ColumnSchema, _ random: inout RandomGenerator) -> Value {
    if column.isOptional && random.oneIn(50) {
      return column.type.isPacked ? .integer(nil) : .bytes(nil)
    }
    let number = Int64.random(in: -20...900, using: &random)
    return column.type.isPacked ? .integer(number) : .bytes([UInt8]("key \(number)".utf8))
  }

  // MARK: - Changes

  static func change(
    _ group: GroupTransaction, _ model: inout Model, _ random: inout RandomGenerator
  ) {
    let table = group.schema.tables[0]
    switch Int.random(in: 0..<24, using: &random) {
    case 0 where random.oneIn(40):
      group.deleteAll(table)
      model.rows = [:]
      model.byPrimaryKey = [:]
    case 0 where random.oneIn(6) && model.schema.columns.count < 14:
      let column = randomColumn("added\(model.schema.columns.count)", &random)
      group.addColumn(table, column)
      model.schema.columns.append(column)
      for key in model.rows.keys { model.rows[key]!.append(Model.standard(column)) }
    case 1...5: delete(group, table, &model, &random)
    case 6...14: insert(group, table, &model, &random)
    default:
      guard let key = model.rows.keys.sorted().randomElement(using: &random) else { return }
      let column = Int.random(in: 0..<model.schema.columns.count, using: &random)
      if column == model.keyColumn() { return }
      let value = randomValue(model.schema.columns[column], &random)
      set(group, table, key, column, value)
      model.rows[key]![column] = value
    }
  }

  static func insert(
    _ group: GroupTransaction, _ table: StoredTable, _ model: inout Model,
    _ random: inout RandomGenerator
  ) {
    guard let column = model.keyColumn() else {
      let key = group.insert(table)
      #expect(model.rows[key] == nil)
      model.rows[key] = model.defaults()
      return
    }
    let value = randomKey(model.schema.columns[column], &random)
    let result: (key: ObjectKey, inserted: Bool)
    switch value {
    case .integer(let integer): result = group.insert(table, primaryKeyInteger: integer)
    case .bytes(let bytes?):
      result = bytes.withUnsafeBytes { group.insert(table, primaryKeyBytes: $0) }
    case .bytes(nil): result = group.insert(table, primaryKeyBytes: nil)
    }
    #expect(result.inserted == (model.byPrimaryKey[value] == nil))
    if result.inserted {
      #expect(model.rows[result.key] == nil, "key \(result.key) is used again")
      model.byPrimaryKey[value] = result.key
      model.rows[result.key] = model.defaults()
      model.rows[result.key]![column] = value
    } else {
      #expect(model.byPrimaryKey[value] == result.key)
    }
  }

  static func delete(
    _ group: GroupTransaction, _ table: StoredTable, _ model: inout Model,
    _ random: inout RandomGenerator
  ) {
    guard let key = model.rows.keys.sorted().randomElement(using: &random) else { return }
    #expect(group.delete(table, key))
    #expect(!group.delete(table, key))
    if let column = model.keyColumn() { model.byPrimaryKey[model.rows[key]![column]] = nil }
    model.rows[key] = nil
  }

  static func set(
    _ group: GroupTransaction, _ table: StoredTable, _ key: ObjectKey, _ column: Int,
    _ value: Value
  ) {
    switch value {
    case .integer(let integer): group.setInteger(table, key, column, integer)
    case .bytes(let bytes?): bytes.withUnsafeBytes { group.setBytes(table, key, column, $0) }
    case .bytes(nil): group.setBytes(table, key, column, nil)
    }
  }

  // MARK: - Comparing

  static func expectEqual(_ reader: TableReader, _ table: StoredTable, _ model: Model) {
    #expect(table.schema == model.schema)
    #expect(reader.count == model.rows.count)
    #expect(reader.checkInvariants(table) == [])
    var previous: ObjectKey?
    var position = 0
    while let key = reader.nextKey(after: previous) {
      guard let location = reader.locate(key) else {
        Issue.record("object \(key) is listed but not there")
        return
      }
      let row = model.schema.columns.enumerated().map { column, declared -> Value in
        if declared.type.isPacked {
          return .integer(
            reader.isNull(location, column) ? nil : reader.integer(location, column))
        }
        return .bytes(reader.withBytes(location, column) { $0.map { [UInt8]($0) } })
      }
      #expect(row == model.rows[key], "object \(key)")
      if position % 16 == 0 {
        #expect(reader.position(of: key) == position)
        #expect(reader.key(at: position) == key)
      }
      previous = key
      position += 1
    }
    #expect(position == model.rows.count)
    expectKeysFound(reader, model)
    expectAggregates(reader, model)
  }

  static func expectKeysFound(_ reader: TableReader, _ model: Model) {
    guard model.keyColumn() != nil else { return }
    for (value, key) in model.byPrimaryKey {
      switch value {
      case .integer(let integer): #expect(reader.find(integer: integer) == key)
      case .bytes(let bytes?):
        #expect(bytes.withUnsafeBytes { reader.find(bytes: $0) } == key)
      case .bytes(nil): #expect(reader.find(bytes: nil) == key)
      }
    }
    if model.schema.columns[model.keyColumn()!].type.isPacked {
      #expect(reader.find(integer: 1_000_000) == nil)
    } else {
      #expect([UInt8]("none".utf8).withUnsafeBytes { reader.find(bytes: $0) } == nil)
    }
  }

  static func expectAggregates(_ reader: TableReader, _ model: Model) {
    for (column, declared) in model.schema.columns.enumerated() where declared.type.isPacked {
      let values: [Int64?] = model.rows.values.map {
        if case .integer(let integer) = $0[column] { integer } else { nil }
      }
      let present = values.compactMap { $0 }
      #expect(reader.sum(column) == present.reduce(0, &+))
      #expect(reader.range(column)?.lowerBound == present.min())
      #expect(reader.range(column)?.upperBound == present.max())
      let nulls = values.count - present.count
      #expect(reader.count(column, equalTo: nil) == (declared.isOptional ? nulls : 0))
      for value in [0, 1, present.first ?? 7] {
        #expect(reader.count(column, equalTo: value) == present.count { $0 == value })
      }
    }
  }

  // MARK: - Tests

  @Test(arguments: seedsInTurn(21...30))
  func everyVersionKeepsItsContent(seed: UInt64) async {
    await withSeeds(first: seed) { random in
      let folder = TemporaryFolder()
      let path = folder.path + "/random.realm"
      let store = try Store.open(StoreOptions(path: path, durability: .memory))
      var model = Model(schema: Self.randomSchema(&random))
      var pins: [(snapshot: Snapshot, model: Model)] = []
      for step in 0..<40 {
        let transaction = try store.beginWrite()
        let group = GroupTransaction(transaction.editor, root: transaction.root)
        if group.schema.tables.isEmpty { group.createTable(model.schema) }
        var changed = model
        for _ in 0..<Int.random(in: 1...120, using: &random) {
          Self.change(group, &changed, &random)
        }
        if random.oneIn(3) {
          let table = group.schema.tables[0]
          Self.expectEqual(group.reader(table), table, changed)
        }
        if random.oneIn(8) {
          transaction.cancel()
        } else {
          transaction.root = group.finish()
          _ = try transaction.commit()
          model = changed
        }
        if step % 8 == 4 { pins.append((try store.pinNewest(), model)) }
        if step % 10 == 9 {
          for (snapshot, content) in pins + [(try store.pinNewest(), model)]
          where !snapshot.root.isNone {
            let schema = StoredSchema.loadOrStop(snapshot.reader, root: snapshot.root)
            Self.expectEqual(
              TableReader(reader: snapshot.reader, root: snapshot.root, table: schema.tables[0]),
              schema.tables[0], content)
          }
          if pins.count > 3 { pins.removeFirst() }
        }
      }
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// Most objects of many clusters go, then new ones come: sparse clusters stay sound.
  @Test func manyDeletesLeaveSparseClusters() async {
    await withSeeds { random in
      let group = GroupTransaction(BlockEditor.inMemory(), root: .none)
      group.createTable(TableModelTests.schema)
      let table = group.schema.tables[0]
      var model: [Int64: TableModelTests.Row] = [:]
      for id in 0..<Int64(5000) {
        _ = group.insert(table, primaryKeyInteger: id)
        model[id] = TableModelTests.Row(integers: [id, 0, nil, nil], strings: [[], nil])
      }
      for id in (0..<Int64(5000)).shuffled(using: &random).prefix(4900) {
        #expect(group.delete(table, group.reader(table).find(integer: id)!))
        model[id] = nil
      }
      TableModelTests.compare(group.reader(table), table, model)
      for _ in 0..<2000 { TableModelTests.change(group, &model, &random) }
      TableModelTests.compare(group.reader(table), table, model)
    }
  }
}
