// Random changes of a table with every kind of column, compared with plain Swift values, in memory
// and over a real store with older versions pinned.
import ObjectStore
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct TableModelTests {
  /// One object of the model.
  struct Row: Equatable {
    var integers: [Int64?]
    var strings: [[UInt8]?]
  }

  static let schema = TableSchema(
    name: "Thing",
    columns: [
      ColumnSchema(name: "id", type: .int, isOptional: false, isIndexed: false),
      ColumnSchema(name: "flag", type: .bool, isOptional: false, isIndexed: false),
      ColumnSchema(name: "small", type: .int, isOptional: true, isIndexed: false),
      ColumnSchema(name: "when", type: .date, isOptional: true, isIndexed: false),
      ColumnSchema(name: "name", type: .string, isOptional: false, isIndexed: false),
      ColumnSchema(name: "note", type: .data, isOptional: true, isIndexed: false),
    ], primaryKey: "id", isEmbedded: false)

  static func randomInteger(_ random: inout RandomGenerator) -> Int64 {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return 0
    case 1: return Int64.random(in: 0...1, using: &random)
    case 2: return Int64.random(in: -3...200, using: &random)
    case 3: return Int64.random(in: 0...70_000, using: &random)
    case 4: return Int64.random(in: .min ... .max, using: &random)
    default: return [Int64.min, .max, -1, 1 << 32, 255, 256].randomElement(using: &random)!
    }
  }

  static func randomBytes(_ random: inout RandomGenerator) -> [UInt8] {
    let length: Int
    switch Int.random(in: 0..<40, using: &random) {
    case 0: length = Int.random(in: 0...100_000, using: &random)
    case 1...3: length = Int.random(in: 900...1200, using: &random)
    case 4...6: length = 0
    default: length = Int.random(in: 1...60, using: &random)
    }
    return [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: length)
  }

  static func row(_ reader: TableReader, _ key: ObjectKey) -> Row? {
    guard let location = reader.locate(key) else { return nil }
    let integers = (0..<4).map { column in
      reader.isNull(location, column) ? nil : reader.integer(location, column)
    }
    let strings = (4..<6).map { column in
      reader.withBytes(location, column) { $0.map { [UInt8]($0) } }
    }
    return Row(integers: integers, strings: strings)
  }

  static func compare(_ reader: TableReader, _ table: StoredTable, _ model: [Int64: Row]) {
    #expect(reader.count == model.count)
    #expect(reader.checkInvariants(table) == [])
    var previous: ObjectKey?
    var position = 0
    while let key = reader.nextKey(after: previous) {
      guard let row = row(reader, key) else {
        Issue.record("object \(key) is listed but not there")
        return
      }
      let id = row.integers[0]!
      #expect(model[id] == row, "id \(id)")
      #expect(reader.find(integer: id) == key)
      #expect(reader.position(of: key) == position)
      #expect(reader.key(at: position) == key)
      previous = key
      position += 1
    }
    #expect(position == model.count)
  }

  static func change(
    _ group: GroupTransaction, _ model: inout [Int64: Row], _ random: inout RandomGenerator
  ) {
    let table = group.schema.tables[0]
    switch Int.random(in: 0..<20, using: &random) {
    case 0 where Int.random(in: 0..<10, using: &random) == 0:
      group.deleteAll(table)
      model = [:]
    case 0 where Int.random(in: 0..<4, using: &random) == 0:
      // Together, in any order; keys of none and keys that come again are passed over.
      let ids = model.keys.sorted().filter { _ in Int.random(in: 0..<9, using: &random) == 0 }
      var keys = ids.map { group.reader(table).find(integer: $0)! }
      if let first = keys.first { keys += [first, ObjectKey(rawValue: 1 << 40)] }
      group.delete(table, keys.shuffled(using: &random))
      for id in ids { model[id] = nil }
    case 0...4:
      guard let id = model.keys.sorted().randomElement(using: &random) else { return }
      let key = group.reader(table).find(integer: id)!
      #expect(group.delete(table, key))
      model[id] = nil
    case 5...12:
      let id = Int64.random(in: -50...2000, using: &random)
      let (_, inserted) = group.insert(table, primaryKeyInteger: id)
      #expect(inserted == (model[id] == nil))
      if inserted { model[id] = Row(integers: [id, 0, nil, nil], strings: [[], nil]) }
    default:
      guard let id = model.keys.sorted().randomElement(using: &random) else { return }
      let key = group.reader(table).find(integer: id)!
      let column = Int.random(in: 1..<6, using: &random)
      let isNull = table.isOptional(column) && Int.random(in: 0..<4, using: &random) == 0
      if column < 4 {
        let value: Int64? =
          isNull
          ? nil : column == 1 ? Int64.random(in: 0...1, using: &random) : randomInteger(&random)
        group.setInteger(table, key, column, value)
        model[id]!.integers[column] = value
      } else if isNull {
        group.setBytes(table, key, column, nil)
        model[id]!.strings[column - 4] = nil
      } else {
        let bytes = randomBytes(&random)
        bytes.withUnsafeBytes { group.setBytes(table, key, column, $0) }
        model[id]!.strings[column - 4] = bytes
      }
    }
  }

  @Test(arguments: seedsInTurn(1...6))
  func tableEqualsModelInMemory(seed: UInt64) async {
    await withSeeds(first: seed) { random in
      let group = GroupTransaction(BlockEditor.inMemory(), root: .none)
      group.createTable(Self.schema)
      var model: [Int64: Row] = [:]
      for step in 0..<3000 {
        Self.change(group, &model, &random)
        if step % 600 == 599 {
          Self.compare(group.reader(group.schema.tables[0]), group.schema.tables[0], model)
        }
      }
    }
  }

  @Test(arguments: seedsInTurn(11...14))
  func versionsKeepTheirTables(seed: UInt64) async {
    await withSeeds(first: seed) { random in
      let folder = TemporaryFolder()
      let path = folder.path + "/table.realm"
      var store: Store? = try Store.open(StoreOptions(path: path, durability: .memory))
      var model: [Int64: Row] = [:]
      var pins: [(Snapshot, [Int64: Row])] = []
      for step in 0..<60 {
        let transaction = try store!.beginWrite()
        let group = GroupTransaction(transaction.editor, root: transaction.root)
        if group.schema.tables.isEmpty { group.createTable(Self.schema) }
        var changed = model
        for _ in 0..<Int.random(in: 1...60, using: &random) {
          Self.change(group, &changed, &random)
        }
        if Int.random(in: 0..<8, using: &random) == 0 {
          transaction.cancel()
        } else {
          transaction.root = group.finish()
          _ = try transaction.commit()
          model = changed
        }
        if step % 9 == 0 { pins.append((try store!.pinNewest(), model)) }
        if step % 25 == 24 {
          pins = []
          store = nil
          store = try Store.open(StoreOptions(path: path, durability: .memory))
        }
        if step % 12 == 0 {
          for (snapshot, content) in pins + [(try store!.pinNewest(), model)]
          where !snapshot.root.isNone {
            let schema = StoredSchema.loadOrStop(snapshot.reader, root: snapshot.root)
            let reader = TableReader(
              reader: snapshot.reader, root: snapshot.root, table: schema.tables[0])
            Self.compare(reader, schema.tables[0], content)
          }
          #expect(try store!.checkInvariants().findings == [])
        }
      }
    }
  }
}
