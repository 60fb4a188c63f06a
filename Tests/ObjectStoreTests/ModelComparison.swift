// Compares a version, or a running transaction, with the model of RandomModelTests.
import ObjectStore
import Storage
import Testing
import Trees

struct ModelComparison {
  let schema: StoredSchema
  let readers: [TableReader]
  let model: ObjectModel

  init(_ group: GroupTransaction, _ model: ObjectModel) {
    schema = group.schema
    readers = schema.tables.map { group.reader($0) }
    self.model = model
  }

  init(_ snapshot: Snapshot, _ model: ObjectModel) {
    let schema = StoredSchema.loadOrStop(snapshot.reader, root: snapshot.root)
    self.schema = schema
    readers = schema.tables.map {
      TableReader(reader: snapshot.reader, root: snapshot.root, table: $0)
    }
    self.model = model
  }

  func run() {
    #expect(schema.checkInvariants { readers[$0.index] } == [])
    #expect(schema.tables.map(\.schema) == model.tables.map(\.schema))
    guard schema.tables.count == model.tables.count else { return }
    for (index, table) in model.tables.enumerated() {
      let reader = readers[index]
      var keys: [Int64] = []
      reader.forEachObject { key, location in
        keys.append(key.rawValue)
        for (column, declared) in table.schema.columns.enumerated() {
          guard let expected = table.rows[key.rawValue]?[column] else { break }
          let found = cell(reader, location, column, declared)
          if found != Self.stored(expected) {
            Issue.record(
              "\(table.schema.name) \(key.rawValue) \(declared): \(found), not \(expected)")
          }
        }
        return true
      }
      #expect(keys == table.rows.keys.sorted())
      compareIndexes(index)
    }
    compareBacklinks()
  }

  private static func stored(_ cell: ModelCell) -> ModelCell {
    switch cell {
    case .value(let value): .value(value.stored)
    case .list(let values): .list(values.map(\.stored))
    case .set(let values): .set(values.map(\.stored))
    case .map(let values): .map(values.mapValues(\.stored))
    }
  }

  // MARK: - Cells

  private func cell(
    _ reader: TableReader, _ location: RowLocation, _ column: Int, _ declared: ColumnSchema
  ) -> ModelCell {
    switch declared.collection {
    case .list: return .list(all(reader.elements(location, column), declared, sorted: false))
    case .set: return .set(all(reader.elements(location, column), declared, sorted: true))
    case .map:
      let keys = reader.mapKeys(location, column)
      let values = all(reader.mapValues(location, column), declared, sorted: false)
      var map: [[UInt8]: ModelValue] = [:]
      for position in 0..<keys.count {
        let key = keys.withBytes(at: position) { [UInt8]($0!) }
        map[key] = values[position]
        #expect(key.withUnsafeBytes { reader.mapPosition(location, column, $0) } == position)
      }
      return .map(map)
    case .none: return .value(value(reader, location, column, declared))
    }
  }

  private func value(
    _ reader: TableReader, _ location: RowLocation, _ column: Int, _ declared: ColumnSchema
  ) -> ModelValue {
    if declared.type == .object {
      return reader.link(location, column).map { .link($0.rawValue) } ?? .null
    }
    if declared.type.isPacked {
      return reader.isNull(location, column) ? .null : .integer(reader.integer(location, column))
    }
    return reader.withBytes(location, column) { $0.map { .bytes([UInt8]($0)) } ?? .null }
  }

  private func all(
    _ elements: ElementReader, _ declared: ColumnSchema, sorted: Bool
  ) -> [ModelValue] {
    var values: [ModelValue] = []
    elements.forEach { position, value in
      #expect(position == values.count)
      switch value {
      case .null: values.append(.null)
      case .integer(let integer): values.append(.integer(integer))
      case .link(let key): values.append(.link(key.rawValue))
      case .bytes(let bytes): values.append(.bytes([UInt8](bytes)))
      }
      return true
    }
    #expect(values.count == elements.count)
    for position in stride(from: 0, to: values.count, by: 1 + values.count / 20) {
      let one: ModelValue
      if declared.type == .object {
        one = elements.link(at: position).map { .link($0.rawValue) } ?? .null
      } else if declared.type.isPacked {
        one =
          elements.isNull(at: position) ? .null : .integer(elements.integer(at: position))
      } else {
        one = elements.withBytes(at: position) { $0.map { .bytes([UInt8]($0)) } ?? .null }
      }
      #expect(one == values[position])
      let found = one.with { elements.position(of: $0, sorted: sorted) }
      let expected = values.firstIndex {
        declared.type == .object ? $0 == one : $0.isEqual(one, declared.type)
      }
      #expect(found == expected)
    }
    if declared.type.isPacked, !values.contains(.null) {
      var copied = [Int64](repeating: -1, count: values.count + 3)
      let count = copied.withUnsafeMutableBufferPointer {
        elements.copyIntegers(from: values.count / 3, into: $0)
      }
      #expect(count == values.count - values.count / 3)
      let expected = values[(values.count / 3)...].map { value -> Int64 in
        switch value {
        case .integer(let integer): integer
        case .link(let key): key
        default: 0
        }
      }
      #expect(Array(copied[..<count]) == expected)
    }
    return values
  }

  // MARK: - Indexes

  private func compareIndexes(_ index: Int) {
    let table = model.tables[index]
    for (column, declared) in table.schema.columns.enumerated()
    where declared.isIndexed && declared.collection == .none {
      let values = table.rows.sorted { $0.key < $1.key }.map { key, row in
        (key: key, value: row[column].elements[0])
      }
      for value in Set(values.map(\.value)).union([.null]) {
        let expected = values.filter { $0.value.isEqual(value, declared.type) }.map(\.key)
        var found: [Int64] = []
        value.with {
          readers[index].forEachIndexed(column, equal: $0) {
            found.append($0.rawValue)
            return true
          }
        }
        #expect(found == expected, "\(declared) equal to \(value)")
        #expect(value.with { readers[index].indexedCount(column, equal: $0) } == expected.count)
      }
      if declared.type.isPacked { compareRanges(index, column, declared, values) }
    }
  }

  private func compareRanges(
    _ index: Int, _ column: Int, _ declared: ColumnSchema,
    _ values: [(key: Int64, value: ModelValue)]
  ) {
    for bound in values.map(\.value).filter({ $0 != .null }).prefix(3) {
      var found: [Int64] = []
      bound.with {
        readers[index].forEachIndexed(column, from: $0) { _, key in
          found.append(key.rawValue)
          return true
        }
      }
      let expected = values.filter { $0.value != .null && !$0.value.isBefore(bound, declared.type) }
      #expect(found.sorted() == expected.map(\.key), "\(declared) from \(bound)")
      found = []
      bound.with {
        readers[index].forEachIndexed(column, through: $0, ascending: false) { _, key in
          found.append(key.rawValue)
          return true
        }
      }
      let below = values.filter { !bound.isBefore($0.value, declared.type) }
      #expect(Set(found).isSuperset(of: below.map(\.key)), "\(declared) through \(bound)")
    }
  }

  // MARK: - Links

  private func compareBacklinks() {
    for (origin, table) in model.tables.enumerated() {
      for (column, declared) in table.schema.columns.enumerated() {
        for target in model.tables.indices {
          let isTarget = declared.target == model.tables[target].schema.name
          guard isTarget || declared.type == .any else { continue }
          for key in model.tables[target].rows.keys.sorted().prefix(6) {
            let expected = model.origins(origin, column, of: target, key)
            let backlinks = readers[origin].backlinks(
              column, ObjectKey(rawValue: key), in: schema.tables[target])
            #expect(backlinks.count == expected.count)
            var found: [Int64] = []
            backlinks.forEach {
              found.append($0.rawValue)
              return true
            }
            #expect(found == expected)
            if !found.isEmpty, found == expected {
              #expect(backlinks.key(at: found.count - 1).rawValue == found.last)
            }
          }
        }
      }
    }
  }
}
