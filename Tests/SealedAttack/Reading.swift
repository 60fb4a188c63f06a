// What a client does with a file: reads everything by every way there is, and changes some of
// everything.
internal import ObjectStore
internal import Storage
internal import Trees

/// Reads all tables of a version.
struct Reading {
  let schema: StoredSchema
  let readers: [TableReader]
  /// Of what was read; so that nothing is left out by the compiler.
  private(set) var sum: UInt64 = 0

  init(_ reader: BlockReader, _ root: BlockReference) throws(StorageError) {
    schema = try StoredSchema.load(reader, root: root)
    readers = schema.tables.map { TableReader(reader: reader, root: root, table: $0) }
  }

  mutating func readAll() {
    for table in schema.tables {
      let reader = readers[table.index]
      var keys: [Int64] = []
      reader.forEachObject { key, location in
        keys.append(key.rawValue)
        read(table, reader, location)
        return true
      }
      readByPosition(table, reader)
      readColumns(table, reader, keys)
      readLinks(table, keys)
      find(table, reader, keys)
    }
  }

  private mutating func add(_ bytes: UnsafeRawBufferPointer?) {
    guard let bytes else { return }
    for byte in bytes { sum = sum &* 31 &+ UInt64(byte) }
  }

  private mutating func add(_ value: Int64) { sum = sum &* 31 &+ UInt64(bitPattern: value) }

  private mutating func read(_ table: StoredTable, _ reader: TableReader, _ location: RowLocation) {
    for (column, declared) in table.schema.columns.enumerated() {
      switch declared.collection {
      case .list, .set: read(reader.elements(location, column), declared)
      case .map:
        let (keys, values) = (reader.mapKeys(location, column), reader.mapValues(location, column))
        read(values, declared)
        for position in 0..<min(keys.count, values.count, 20) {
          let key = keys.withBytes(at: position) { $0.map { [UInt8]($0) } ?? [] }
          _ = key.withUnsafeBytes { reader.mapPosition(location, column, $0) }
          if declared.type.isPacked { add(values.integer(at: position)) }
        }
      case .none where declared.type.isPacked:
        add(reader.optionalInteger(location, column) ?? reader.integer(location, column))
        add(reader.isNull(location, column) ? 1 : 0)
      case .none:
        reader.withBytes(location, column) { bytes in
          add(bytes)
          if declared.type == .any, let bytes { AnyCoding.forEachLink(bytes) { add($1) } }
        }
      }
    }
  }

  private mutating func read(_ elements: ElementReader, _ declared: ColumnSchema) {
    elements.forEach { _, value in
      switch value {
      case .null: break
      case .integer(let integer): add(integer)
      case .link(let key): add(key.rawValue)
      case .bytes(let bytes):
        add(bytes)
        if declared.type == .any { AnyCoding.forEachLink(bytes) { add($1) } }
      }
      return true
    }
    for position in stride(from: 0, to: elements.count, by: 1 + elements.count / 30) {
      add(elements.isNull(at: position) ? 1 : 0)
      if declared.type == .object {
        add(elements.link(at: position)?.rawValue ?? 0)
      } else if declared.type.isPacked {
        let value = elements.integer(at: position)
        add(Int64(elements.position(of: .integer(value), sorted: declared.collection == .set) ?? 0))
      } else {
        let bytes = elements.withBytes(at: position) { $0.map { [UInt8]($0) } ?? [] }
        bytes.withUnsafeBytes {
          add(Int64(elements.position(of: .bytes($0), sorted: declared.collection == .set) ?? 0))
        }
      }
    }
    guard elements.count > 0 else { return }
    if declared.type.isPacked {
      withUnsafeTemporaryAllocation(of: Int64.self, capacity: 1000) { values in
        values.initialize(repeating: 0)
        add(Int64(elements.copyIntegers(from: elements.count / 2, into: values)))
      }
    }
    if declared.collection == .set, ElementFences.lookUpsBefore(elements) != nil {
      let fences = ElementFences(elements)
      for value in 0..<50 as Range<Int64> where declared.type.isPacked {
        add(Int64(fences.position(ofInteger: value * 9, in: elements) ?? 0))
      }
      for value in 0..<50 where !declared.type.isPacked {
        SampleFile.text(value, length: 20).withUnsafeBytes {
          add(Int64(fences.position(ofBytes: $0, in: elements) ?? 0))
        }
      }
    }
  }

  private mutating func readByPosition(_ table: StoredTable, _ reader: TableReader) {
    for position in stride(from: 0, to: reader.count, by: 1 + reader.count / 100) {
      let key = reader.key(at: position)
      add(Int64(reader.position(of: key) ?? 0))
      add(Int64(reader.rank(of: key)))
      add(reader.nextKey(after: key)?.rawValue ?? 0)
    }
  }

  private mutating func readColumns(_ table: StoredTable, _ reader: TableReader, _ keys: [Int64]) {
    let keys = Array(keys.prefix(3000))
    for (column, declared) in table.schema.columns.enumerated() where declared.collection == .none {
      if declared.type.isPacked {
        add(reader.sum(column))
        add(Int64(reader.count(column, equalTo: 5) + reader.count(column, equalTo: nil)))
        add(reader.range(column)?.lowerBound ?? 0)
        _ = reader.sumOfDoubles(column)
      }
      var drawn = [Int64](repeating: 0, count: keys.count)
      keys.withUnsafeBufferPointer { keys in
        if declared.type.isPacked {
          drawn.withUnsafeMutableBufferPointer {
            if let start = $0.baseAddress {
              reader.draw(keys, column, into: start) { add(Int64($0)) }
            }
          }
        } else {
          reader.drawBytes(keys, column) { add($1) }
        }
      }
      reader.forEachCluster { _, cluster in
        let rows =
          declared.type.isPacked
          ? reader.rows(cluster, column, in: 3...70, includesNull: true)
          : reader.rows(cluster, column, among: reader.allRows(cluster), includesNull: false) {
            $0.count > 5
          }
        rows.forEach {
          add(Int64($0))
          return true
        }
        return true
      }
      guard declared.isIndexed else { continue }
      reader.forEachIndexed(column) {
        add($0 &+ $1.rawValue)
        return true
      }
      reader.forEachIndexed(column, ascending: false) {
        add($0 &+ $1.rawValue)
        return true
      }
      if declared.type.isPacked { add(Int64(reader.indexedCount(column, equal: .integer(12)))) }
      add(Int64(reader.indexedCount(column, equal: .null)))
      add(Int64(reader.indexedCount(column, 1...90)))
      add(reader.extremeKey(column, -1000...1_000_000, isGreatest: true)?.rawValue ?? 0)
    }
  }

  private mutating func readLinks(_ target: StoredTable, _ keys: [Int64]) {
    for place in schema.linkColumns(to: target.index) {
      add(Int64(readers[place.table].linkCount(place.column)))
      for key in keys.prefix(200) {
        let links = readers[place.table].backlinks(
          place.column, ObjectKey(rawValue: key), in: target)
        let count = links.count
        links.forEach {
          add($0.rawValue)
          return true
        }
        if count > 0 { add(links.key(at: count - 1).rawValue) }
        withUnsafeTemporaryAllocation(of: Int64.self, capacity: 100) { found in
          found.initialize(repeating: 0)
          add(Int64(links.copyKeys(into: found)))
        }
      }
    }
  }

  private mutating func find(_ table: StoredTable, _ reader: TableReader, _ keys: [Int64]) {
    guard let column = table.primaryKeyColumn else { return }
    for key in keys.prefix(2000) {
      guard let location = reader.locate(ObjectKey(rawValue: key)) else { continue }
      if table.schema.columns[column].type.isPacked {
        add(reader.find(integer: reader.integer(location, column))?.rawValue ?? 0)
      } else {
        let bytes = reader.withBytes(location, column) { [UInt8]($0!) }
        add(bytes.withUnsafeBytes { reader.find(bytes: $0)?.rawValue ?? 0 })
      }
    }
    for value in 0..<100 as Range<Int64> where table.schema.columns[column].type.isPacked {
      add(reader.find(integer: value * 37)?.rawValue ?? 0)
    }
  }
}

/// Changes some of everything in one transaction.
enum Writing {
  static func change(_ store: Store, variant: UInt64) throws(StorageError) {
    let transaction = try store.beginWrite()
    let schema = try StoredSchema.load(transaction.editor.reader, root: transaction.root)
    let group = GroupTransaction(transaction.editor, root: transaction.root, schema: schema)
    if schema.tables.count == 3 { change(group, variant: variant) }
    transaction.root = group.finish()
    _ = try transaction.commit()
  }

  private static func change(_ group: GroupTransaction, variant: UInt64) {
    let (things, notes) = (group.schema.tables[0], group.schema.tables[1])
    var targets: [ObjectKey] = []
    for number in 0..<40 {
      let name = SampleFile.text(90_000 + number, length: 30)
      let key = name.withUnsafeBytes { group.insert(notes, primaryKeyBytes: $0).key }
      name.withUnsafeBytes { group.setBytes(notes, key, 1, $0) }
      targets.append(key)
    }
    var keys: [ObjectKey] = []
    group.reader(things).forEachObject { key, _ in
      keys.append(key)
      return keys.count < 2000
    }
    let step = Int(5 + variant % 30)
    for key in stride(from: Int(variant % 5), to: keys.count, by: step).map({ keys[$0] }) {
      for (column, declared) in things.schema.columns.enumerated() where column > 0 {
        change(group, things, key, column, declared, targets, variant)
      }
    }
    for index in stride(from: Int(variant % 7), to: keys.count, by: step + 2) {
      _ = group.delete(things, keys[index])
    }
    var noteKeys: [ObjectKey] = []
    group.reader(notes).forEachObject { key, _ in
      noteKeys.append(key)
      return noteKeys.count < 5000
    }
    if variant % 3 == 0 {
      group.delete(notes, stride(from: 0, to: noteKeys.count, by: 3).map { noteKeys[$0] })
    }
    for index in stride(from: 1, to: noteKeys.count, by: 40) {
      _ = group.delete(notes, noteKeys[index])
    }
    for number in 0..<50 { _ = group.insert(things, primaryKeyInteger: Int64(number * 90)) }
    if variant % 4 == 1 { group.deleteAll(notes) }
    if variant % 4 == 2 { group.deleteAll(things) }
  }

  private static func change(
    _ group: GroupTransaction, _ table: StoredTable, _ key: ObjectKey, _ column: Int,
    _ declared: ColumnSchema, _ notes: [ObjectKey], _ variant: UInt64
  ) {
    if group.reader(table).locate(key) == nil { return }
    let text = SampleFile.text(Int(variant % 100), length: Int(variant % 1500))
    func with(_ body: (ElementValue) -> Void) {
      if declared.type == .object {
        body(
          .link(
            declared.target == SampleFile.parts
              ? group.insertEmbedded(group.schema.tables[2]) : notes[Int(variant % 40)]))
      } else if declared.type.isPacked {
        body(.integer(Int64(variant % 2)))
      } else {
        text.withUnsafeBytes { body(.bytes($0)) }
      }
    }
    switch declared.collection {
    case .none:
      with { value in
        switch value {
        case .link(let target): group.setLink(table, key, column, target)
        case .integer(let integer): group.setInteger(table, key, column, integer)
        case .bytes(let bytes): group.setBytes(table, key, column, bytes)
        case .null: break
        }
      }
    case .list:
      let count = group.listCount(table, key, column)
      with { group.listAppend(table, key, column, $0) }
      with { group.listInsert(table, key, column, at: count / 2, $0) }
      if count > 3 {
        with { group.listSet(table, key, column, at: count - 1, $0) }
        group.listRemove(table, key, column, at: count / 3)
        if declared.target != SampleFile.parts {
          group.listMove(table, key, column, from: 0, to: count - 2)
        }
        if variant % 2 == 0 { group.listRemove(table, key, column, count / 4..<count / 2) }
      }
    case .set:
      with { _ = group.setInsert(table, key, column, $0) }
      with { if variant % 3 != 0 { _ = group.setRemove(table, key, column, $0) } }
    case .map:
      let mapKey = SampleFile.text(Int(variant % 9), length: 10)
      mapKey.withUnsafeBytes { mapKey in
        with { _ = group.mapSet(table, key, column, mapKey, $0) }
        if variant % 3 == 0 { _ = group.mapRemove(table, key, column, mapKey) }
      }
    }
    if variant % 11 == 0, declared.collection != .none, declared.target != SampleFile.parts {
      group.removeAllElements(table, key, column)
    }
  }
}
