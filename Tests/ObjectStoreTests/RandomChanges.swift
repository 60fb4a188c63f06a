// The random changes of RandomModelTests: each is made to the transaction and to the model.
import ObjectStore
import Platform
import Testing

struct RandomChanges {
  let group: GroupTransaction
  var model: ObjectModel
  /// How many of the last tables are embedded.
  let embedded: Int
  var random: RandomGenerator

  mutating func createTables(_ schemas: [TableSchema]) {
    for schema in schemas {
      group.createTable(schema)
      model.tables.append(
        ModelTable(schema: schema, tableKey: group.schema.tables.last!.tableKey))
    }
  }

  private func table(_ index: Int) -> StoredTable { group.schema.tables[index] }

  private mutating func randomKey(_ table: Int) -> Int64? {
    model.tables[table].rows.keys.sorted().randomElement(using: &random)
  }

  mutating func change() {
    let index = Int.random(in: 0..<model.tables.count, using: &random)
    let key = randomKey(index)
    switch Int.random(in: 0..<100, using: &random) {
    case 0 where random.oneIn(4):
      group.deleteAll(table(index))
      model.delete(index, Set(model.tables[index].rows.keys))
    case 1..<3: deleteTogether(index)
    case 3..<8:
      guard let key else { return }
      #expect(group.delete(table(index), ObjectKey(rawValue: key)))
      #expect(!group.delete(table(index), ObjectKey(rawValue: key)))
      model.delete(index, [key])
      #expect(group.changedTables().contains(index))
    case 8..<28: insert(index)
    default:
      guard let key else { return }
      let column = Int.random(in: 0..<model.tables[index].schema.columns.count, using: &random)
      if model.tables[index].schema.columns[column].name != model.tables[index].schema.primaryKey {
        change(index, key, column)
      }
    }
  }

  private mutating func deleteTogether(_ index: Int) {
    let all = model.tables[index].rows.keys.sorted()
    let share = UInt64.random(in: 1...12, using: &random)
    let keys = all.filter { _ in random.oneIn(share) }.shuffled(using: &random)
    if keys.isEmpty { return }
    // One of them twice, which is passed over.
    group.delete(table(index), (keys + [keys[0]]).map { ObjectKey(rawValue: $0) })
    model.delete(index, Set(keys))
    #expect(group.changedTables().contains(index))
  }

  private mutating func insert(_ index: Int) {
    let schema = model.tables[index].schema
    if schema.isEmbedded { return }
    var row = schema.columns.map { ModelTable.standard($0) }
    let result: (key: ObjectKey, inserted: Bool)
    if let column = schema.columns.firstIndex(where: { $0.name == schema.primaryKey }) {
      let number = Int64.random(in: 0..<200, using: &random)
      if schema.columns[column].type == .int {
        row[column] = .value(.integer(number))
        result = group.insert(table(index), primaryKeyInteger: number)
      } else {
        let bytes = [UInt8]("primary key \(number)".utf8)
        row[column] = .value(.bytes(bytes))
        result = bytes.withUnsafeBytes { group.insert(table(index), primaryKeyBytes: $0) }
      }
      let found = model.tables[index].rows.first { $0.value[column] == row[column] }
      #expect(result.inserted == (found == nil))
      if let found { #expect(found.key == result.key.rawValue) }
    } else {
      result = (group.insert(table(index)), true)
    }
    if result.inserted { model.tables[index].rows[result.key.rawValue] = row }
  }

  /// A value for a column or one of its elements: of links, a new embedded object or an existing
  /// one.
  ///
  /// Nil when there is nothing to link to.
  private mutating func value(_ declared: ColumnSchema) -> ModelValue? {
    guard declared.type == .object else {
      return RandomModelTests.value(declared, model, &random)
    }
    guard let target = declared.target.flatMap({ model.index(named: $0) }) else { return nil }
    if declared.isOptional && random.oneIn(5) { return .null }
    if model.tables[target].schema.isEmbedded {
      let key = group.insertEmbedded(table(target)).rawValue
      model.tables[target].rows[key] = model.tables[target].schema.columns.map {
        ModelTable.standard($0)
      }
      return .link(key)
    }
    return randomKey(target).map { .link($0) }
  }

  private mutating func change(_ index: Int, _ key: Int64, _ column: Int) {
    let declared = model.tables[index].schema.columns[column]
    // The row may be that of an embedded object that loses its link below.
    switch model.tables[index].rows[key]![column] {
    case .value:
      guard let value = value(declared) else { return }
      set(index, key, column, value)
      model.tables[index].rows[key]![column] = .value(value)
    case .list(let elements): changeList(index, key, column, elements)
    case .set(let elements): changeSet(index, key, column, elements)
    case .map(let values): changeMap(index, key, column, values)
    }
    model.deleteUnlinked()
  }

  private func set(_ index: Int, _ key: Int64, _ column: Int, _ value: ModelValue) {
    let object = ObjectKey(rawValue: key)
    let isPacked = model.tables[index].schema.columns[column].type.isPacked
    switch value {
    case .link(let target): group.setLink(table(index), object, column, ObjectKey(rawValue: target))
    case .integer(let integer): group.setInteger(table(index), object, column, integer)
    case .null where isPacked: group.setInteger(table(index), object, column, nil)
    case .null: group.setBytes(table(index), object, column, nil)
    case .bytes, .any:
      value.with {
        if case .bytes(let bytes) = $0 { group.setBytes(table(index), object, column, bytes) }
      }
    }
  }

  private mutating func changeList(
    _ index: Int, _ key: Int64, _ column: Int, _ old: [ModelValue]
  ) {
    let object = ObjectKey(rawValue: key)
    let stored = table(index)
    let declared = model.tables[index].schema.columns[column]
    var elements = old
    switch Int.random(in: 0..<12, using: &random) {
    case 0..<4:
      guard let value = value(declared) else { return }
      value.with { group.listAppend(stored, object, column, $0) }
      elements.append(value)
    case 4, 5:
      guard let value = value(declared) else { return }
      let position = Int.random(in: 0...old.count, using: &random)
      value.with { group.listInsert(stored, object, column, at: position, $0) }
      elements.insert(value, at: position)
    case 6 where !old.isEmpty:
      guard let value = value(declared) else { return }
      let position = Int.random(in: 0..<old.count, using: &random)
      value.with { group.listSet(stored, object, column, at: position, $0) }
      elements[position] = value
    case 7 where !old.isEmpty:
      let position = Int.random(in: 0..<old.count, using: &random)
      group.listRemove(stored, object, column, at: position)
      elements.remove(at: position)
    case 8 where !old.isEmpty:
      let from = Int.random(in: 0..<old.count, using: &random)
      let to = Int.random(in: 0..<old.count, using: &random)
      group.listMove(stored, object, column, from: from, to: to)
      elements.insert(elements.remove(at: from), at: to)
    case 9 where random.oneIn(3):
      let start = Int.random(in: 0...old.count, using: &random)
      let end = Int.random(in: start...old.count, using: &random)
      group.listRemove(stored, object, column, start..<end)
      elements.removeSubrange(start..<end)
    case 10 where random.oneIn(10):
      group.removeAllElements(stored, object, column)
      elements = []
    case 11 where declared.type == .int:
      let values = (0..<Int64.random(in: 0...400, using: &random)).map { $0 }
      values.withUnsafeBufferPointer {
        group.listAppend(stored, object, column, integers: $0)
      }
      elements += values.map { .integer($0) }
    default: return
    }
    model.tables[index].rows[key]![column] = .list(elements)
  }

  private mutating func changeSet(
    _ index: Int, _ key: Int64, _ column: Int, _ old: [ModelValue]
  ) {
    let object = ObjectKey(rawValue: key)
    let declared = model.tables[index].schema.columns[column]
    var elements = old
    if random.oneIn(30) {
      group.removeAllElements(table(index), object, column)
      model.tables[index].rows[key]![column] = .set([])
      return
    }
    guard let value = value(declared) else { return }
    let found = old.firstIndex { $0.isEqual(value, declared.type) }
    if random.oneIn(3) {
      let removed = value.with { group.setRemove(table(index), object, column, $0) }
      #expect(removed == found)
      if let found { elements.remove(at: found) }
    } else {
      let result = value.with { group.setInsert(table(index), object, column, $0) }
      let position =
        found ?? old.firstIndex { value.isBefore($0, declared.type) } ?? old.count
      #expect(result == (position, found == nil))
      if found == nil { elements.insert(value, at: position) }
    }
    model.tables[index].rows[key]![column] = .set(elements)
  }

  private mutating func changeMap(
    _ index: Int, _ key: Int64, _ column: Int, _ old: [[UInt8]: ModelValue]
  ) {
    let object = ObjectKey(rawValue: key)
    let stored = table(index)
    var values = old
    let mapKey = [UInt8]("key \(Int.random(in: 0..<12, using: &random))".utf8)
    switch Int.random(in: 0..<20, using: &random) {
    case 0 where random.oneIn(3):
      group.removeAllElements(stored, object, column)
      values = [:]
    case 0..<6:
      let removed = mapKey.withUnsafeBytes { group.mapRemove(stored, object, column, $0) }
      #expect(removed == (old[mapKey] != nil))
      values[mapKey] = nil
    default:
      guard let value = value(model.tables[index].schema.columns[column]) else { return }
      let inserted = mapKey.withUnsafeBytes { bytes in
        value.with { group.mapSet(stored, object, column, bytes, $0) }
      }
      #expect(inserted == (old[mapKey] == nil))
      values[mapKey] = value
    }
    model.tables[index].rows[key]![column] = .map(values)
  }

  // MARK: - Schema

  mutating func changeSchema() {
    let index = Int.random(in: 0..<model.tables.count, using: &random)
    let schema = model.tables[index].schema
    let column = Int.random(in: 0..<schema.columns.count, using: &random)
    let isKey = schema.columns[column].name == schema.primaryKey
    let keys = table(index).columnKeys
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      let added = RandomModelTests.column(
        "added \(random.next() % 100_000)", tables: model.tables.count, embedded: embedded, &random)
      let changed = group.addColumn(table(index), added)
      #expect(changed.columnKeys.dropLast() == keys[...])
      #expect(!keys.contains(changed.columnKeys.last!))
      model.tables[index].schema.columns.append(added)
      for key in model.tables[index].rows.keys {
        model.tables[index].rows[key]!.append(ModelTable.standard(added))
      }
    case 1 where !isKey && schema.columns.count > 1:
      let changed = group.removeColumn(table(index), column)
      var left = keys
      left.remove(at: column)
      #expect(changed.columnKeys == left)
      model.tables[index].schema.columns.remove(at: column)
      for key in model.tables[index].rows.keys {
        model.tables[index].rows[key]!.remove(at: column)
      }
      model.deleteUnlinked()
    case 2:
      let name = "renamed \(random.next() % 100_000)"
      #expect(group.renameColumn(table(index), column, to: name).columnKeys == keys)
      model.tables[index].schema.columns[column].name = name
      if isKey { model.tables[index].schema.primaryKey = name }
    case 3, 4: changeColumn(index, column)
    default: changePrimaryKey(index, column)
    }
  }

  private mutating func changeColumn(_ index: Int, _ column: Int) {
    var declared = model.tables[index].schema.columns[column]
    let wasOptional = declared.isOptional
    let isKey = declared.name == model.tables[index].schema.primaryKey
    if declared.type != .object, declared.type != .any, !isKey, random.oneIn(2) {
      declared.isOptional.toggle()
    }
    if declared.type != .object, declared.collection == .none { declared.isIndexed.toggle() }
    group.changeColumn(
      table(index), column, isOptional: declared.isOptional, isIndexed: declared.isIndexed)
    model.tables[index].schema.columns[column] = declared
    if declared.isOptional == wasOptional { return }
    let none: ModelValue =
      declared.type.isPacked ? .integer(0) : .bytes(declared.type.zeroBytes)
    for key in model.tables[index].rows.keys {
      let cell = model.tables[index].rows[key]![column]
      let filled: ModelCell
      switch cell {
      // No bytes are zero, too, where zero has bytes.
      case .value(let value):
        filled = .value(value == .null || value == .bytes([]) ? none : value)
      case _ where declared.isOptional: continue
      case .list(let values): filled = .list(values.map { $0 == .null ? none : $0 })
      case .map(let values): filled = .map(values.mapValues { $0 == .null ? none : $0 })
      case .set(let values):
        var rest = values.filter { $0 != .null }
        if rest.count < values.count, !rest.contains(where: { $0.isEqual(none, declared.type) }) {
          let place = rest.firstIndex { none.isBefore($0, declared.type) } ?? rest.count
          rest.insert(none, at: place)
        }
        filled = .set(rest)
      }
      model.tables[index].rows[key]![column] = filled
    }
  }

  private mutating func changePrimaryKey(_ index: Int, _ column: Int) {
    let schema = model.tables[index].schema
    let declared = schema.columns[column]
    if schema.isEmbedded { return }
    if schema.primaryKey != nil {
      #expect(group.setPrimaryKey(table(index), nil).duplicate == nil)
      model.tables[index].schema.primaryKey = nil
      return
    }
    guard declared.collection == .none, [.int, .string].contains(declared.type) else { return }
    let values = model.tables[index].rows.values.map { $0[column] }
    let result = group.setPrimaryKey(table(index), column)
    #expect((result.duplicate == nil) == (Set(values).count == values.count))
    if result.duplicate == nil {
      model.tables[index].schema.primaryKey = declared.name
      // Inserts of RandomChanges give keys of their own.
      if declared.isOptional || declared.type == .string {
        _ = group.setPrimaryKey(table(index), nil)
        model.tables[index].schema.primaryKey = nil
      }
    }
  }
}
