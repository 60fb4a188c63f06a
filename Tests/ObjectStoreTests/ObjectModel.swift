// Plain Swift values that behave as tables of linked objects have to: the model of
// RandomModelTests. Nothing here is clever, every deletion looks at everything.
import ObjectStore
import Platform

/// A value of type `any`.
indirect enum AnyModel: Hashable {
  case int(Int64)
  case string([UInt8])
  case link(table: UInt64, key: Int64)
  /// What is left of a link inside a list.
  case gone
  case list([AnyModel])
  case dictionary([[UInt8]: AnyModel])

  var encoded: [UInt8] {
    switch self {
    case .int(let value): [AnyTag.int.rawValue] + Self.bytes(value)
    case .string(let text): [AnyTag.string.rawValue] + text
    case .link(let table, let key):
      AnyCoding.encodeLink(tableKey: table, ObjectKey(rawValue: key))
    case .gone: [UInt8](repeating: 0, count: 17)
    case .list(let parts):
      [AnyTag.list.rawValue] + Self.bytes(UInt32(parts.count)) + parts.flatMap { Self.part($0) }
    case .dictionary(let parts):
      [AnyTag.dictionary.rawValue] + Self.bytes(UInt32(parts.count))
        + parts.sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap {
          Self.bytes(UInt32($0.key.count)) + $0.key + Self.part($0.value)
        }
    }
  }

  private static func part(_ value: AnyModel) -> [UInt8] {
    let encoded = value.encoded
    return bytes(UInt32(encoded.count)) + encoded
  }

  private static func bytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { [UInt8]($0) }
  }

  /// Without links to some objects; nil if nothing is left.
  func without(_ isGone: (UInt64, Int64) -> Bool) -> AnyModel? {
    switch self {
    case .link(let table, let key): isGone(table, key) ? nil : self
    case .list(let parts): .list(parts.map { $0.without(isGone) ?? .gone })
    case .dictionary(let parts): .dictionary(parts.mapValues { $0.without(isGone) ?? .gone })
    default: self
    }
  }

  var links: [(table: UInt64, key: Int64)] {
    switch self {
    case .link(let table, let key): [(table, key)]
    case .list(let parts): parts.flatMap(\.links)
    case .dictionary(let parts): parts.values.flatMap(\.links)
    default: []
    }
  }
}

/// One value or element.
enum ModelValue: Hashable {
  case null
  case integer(Int64)
  case bytes([UInt8])
  case link(Int64)
  case any(AnyModel)

  /// Runs `body` on the value as this layer takes it.
  func with<Result>(_ body: (ElementValue) -> Result) -> Result {
    switch self {
    case .null: body(.null)
    case .integer(let value): body(.integer(value))
    case .bytes(let bytes): bytes.withUnsafeBytes { body(.bytes($0)) }
    case .link(let key): body(.link(ObjectKey(rawValue: key)))
    case .any(let value): value.encoded.withUnsafeBytes { body(.bytes($0)) }
    }
  }

  /// The same with `any` values as bytes, as they are read back.
  var stored: ModelValue { if case .any(let value) = self { .bytes(value.encoded) } else { self } }

  /// Order of sets and indexes.
  func isBefore(_ other: ModelValue, _ type: ValueType) -> Bool {
    switch (stored, other.stored) {
    case (_, .null): return false
    case (.null, _): return true
    case (.bytes(let left), .bytes(let right)): return left.lexicographicallyPrecedes(right)
    case (.link(let left), .link(let right)): return left < right
    case (.integer(let left), .integer(let right)):
      switch type {
      case .double, .date:
        return Double(bitPattern: UInt64(bitPattern: left))
          < Double(bitPattern: UInt64(bitPattern: right))
      case .float:
        return Float(bitPattern: UInt32(truncatingIfNeeded: left))
          < Float(bitPattern: UInt32(truncatingIfNeeded: right))
      default: return left < right
      }
    default: return false
    }
  }

  func isEqual(_ other: ModelValue, _ type: ValueType) -> Bool {
    !isBefore(other, type) && !other.isBefore(self, type)
  }
}

/// What an object has in one column.
enum ModelCell: Hashable {
  case value(ModelValue)
  case list([ModelValue])
  /// Sorted.
  case set([ModelValue])
  case map([[UInt8]: ModelValue])

  var elements: [ModelValue] {
    switch self {
    case .value(let value): [value]
    case .list(let elements), .set(let elements): elements
    case .map(let values): Array(values.values)
    }
  }
}

struct ModelTable {
  var schema: TableSchema
  var tableKey: UInt64
  var rows: [Int64: [ModelCell]] = [:]

  static func standard(_ column: ColumnSchema) -> ModelCell {
    switch column.collection {
    case .list: .list([])
    case .set: .set([])
    case .map: .map([:])
    case .none:
      if column.isOptional || column.type == .object || column.type == .any {
        .value(.null)
      } else {
        .value(column.type.isPacked ? .integer(0) : .bytes([]))
      }
    }
  }
}

struct ObjectModel {
  var tables: [ModelTable] = []

  func index(named name: String) -> Int? { tables.firstIndex { $0.schema.name == name } }

  /// Takes objects out, with all links to them, and the embedded objects that are linked no more.
  mutating func delete(_ table: Int, _ keys: Set<Int64>) {
    for key in keys { tables[table].rows[key] = nil }
    dropLinks(to: table, keys)
    deleteUnlinked()
  }

  /// Deletes embedded objects without a link, as often as there are any.
  mutating func deleteUnlinked() {
    while true {
      var isDone = true
      for (index, table) in tables.enumerated() where table.schema.isEmbedded {
        let gone = Set(table.rows.keys).subtracting(linked(index))
        if gone.isEmpty { continue }
        isDone = false
        for key in gone { tables[index].rows[key] = nil }
        dropLinks(to: index, gone)
      }
      if isDone { return }
    }
  }

  /// Objects that a typed link leads to.
  private func linked(_ target: Int) -> Set<Int64> {
    var keys: Set<Int64> = []
    for table in tables {
      for (column, declared) in table.schema.columns.enumerated()
      where declared.target == tables[target].schema.name {
        for row in table.rows.values {
          for case .link(let key) in row[column].elements { keys.insert(key) }
        }
      }
    }
    return keys
  }

  private mutating func dropLinks(to target: Int, _ keys: Set<Int64>) {
    let name = tables[target].schema.name
    let tableKey = tables[target].tableKey
    for index in tables.indices {
      for (column, declared) in tables[index].schema.columns.enumerated() {
        guard declared.target == name || declared.type == .any else { continue }
        for key in tables[index].rows.keys {
          tables[index].rows[key]![column] = Self.without(
            tables[index].rows[key]![column], declared, tableKey, keys)
        }
      }
    }
  }

  private static func without(
    _ cell: ModelCell, _ column: ColumnSchema, _ tableKey: UInt64, _ keys: Set<Int64>
  ) -> ModelCell {
    func left(_ value: ModelValue) -> ModelValue {
      switch value {
      case .link(let key) where keys.contains(key): return .null
      case .any(let any):
        return any.without { $0 == tableKey && keys.contains($1) }.map { .any($0) } ?? .null
      default: return value
      }
    }
    switch cell {
    case .value(let value): return .value(left(value))
    case .list(let values):
      if column.type == .any { return .list(values.map { left($0) }) }
      return .list(values.filter { left($0) == $0 })
    case .set(let values): return .set(values.filter { left($0) == $0 })
    case .map(let values): return .map(values.mapValues { left($0) })
    }
  }

  /// Origins of links of a column to an object, with repetitions, ascending.
  func origins(_ table: Int, _ column: Int, of target: Int, _ key: Int64) -> [Int64] {
    tables[table].rows.sorted { $0.key < $1.key }.flatMap { origin, row in
      row[column].elements.flatMap { value -> [Int64] in
        switch value {
        case .link(key): [origin]
        case .any(let any):
          any.links.filter { $0.table == tables[target].tableKey && $0.key == key }.map { _ in
            origin
          }
        default: []
        }
      }
    }
  }
}
