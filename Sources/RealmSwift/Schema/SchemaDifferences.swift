// Compares a class as the file knows it with the class of the program: what has to be done to the
// table, and the same in words for the error.
internal import ObjectStore

/// One difference between the two forms of a class.
enum SchemaChange: Equatable {
  case removed(ColumnSchema)
  case added(ColumnSchema)
  case retyped(from: ColumnSchema, to: ColumnSchema)
  case madeOptional(ColumnSchema)
  case madeRequired(ColumnSchema)
  case primaryKey(from: String?, to: String?)
  case embedded(Bool)
  /// An index has come or gone, which needs no migration.
  case index(ColumnSchema)

  /// Whether the values of a file that is only read cannot be read because of it.
  var concernsReading: Bool {
    switch self {
    // What the classes do not have is not asked for, and nothing is added or deleted.
    case .removed, .embedded, .index: return false
    case .added, .retyped, .madeOptional, .madeRequired, .primaryKey: return true
    }
  }

  /// The difference in words; nil when it needs no migration.
  func line(className: String) -> String? {
    func property(_ column: ColumnSchema) -> String { "Property '\(className).\(column.name)'" }
    switch self {
    case .removed(let column): return "\(property(column)) has been removed."
    case .added(let column): return "\(property(column)) has been added."
    case .retyped(let from, let to):
      return "\(property(to)) has been changed from '\(from.typeName)' to '\(to.typeName)'."
    case .madeOptional(let column): return "\(property(column)) has been made optional."
    case .madeRequired(let column): return "\(property(column)) has been made required."
    case .primaryKey(nil, _): return "Primary Key for class '\(className)' has been added."
    case .primaryKey(_, nil): return "Primary Key for class '\(className)' has been removed."
    case .primaryKey(let from?, let to?):
      return "Primary Key for class '\(className)' has changed from '\(from)' to '\(to)'."
    case .embedded(true):
      return "Class '\(className)' has been changed from top-level to embedded."
    case .embedded(false):
      return "Class '\(className)' has been changed from embedded to top-level."
    case .index: return nil
    }
  }
}

extension TableSchema {
  /// What has to change to make this form of a table the new one.
  func changes(to new: TableSchema) -> [SchemaChange] {
    var changes: [SchemaChange] = []
    let old = Dictionary(uniqueKeysWithValues: columns.map { ($0.name, $0) })
    let newNames = Set(new.columns.map(\.name))
    for column in columns where !newNames.contains(column.name) { changes.append(.removed(column)) }
    for column in new.columns {
      guard let before = old[column.name] else {
        changes.append(.added(column))
        continue
      }
      if !before.holdsSame(as: column) {
        changes.append(.retyped(from: before, to: column))
        continue
      }
      if before.isOptional != column.isOptional {
        changes.append(column.isOptional ? .madeOptional(column) : .madeRequired(column))
      }
      if !before.hasSameIndex(as: column) { changes.append(.index(column)) }
    }
    if primaryKey != new.primaryKey {
      changes.append(.primaryKey(from: primaryKey, to: new.primaryKey))
    }
    if isEmbedded != new.isEmbedded { changes.append(.embedded(new.isEmbedded)) }
    return changes
  }
}

extension ColumnSchema {
  /// Whether values of one column could be those of the other, but for nil.
  func holdsSame(as other: ColumnSchema) -> Bool {
    type == other.type && collection == other.collection && target == other.target
  }

  /// Whether both have no index, or one of the same form.
  func hasSameIndex(as other: ColumnSchema) -> Bool {
    isIndexed == other.isIndexed && (!isIndexed || indexForm == other.indexForm)
  }

  /// The type as messages name it.
  var typeName: String {
    let element = target.map { "<\($0)>" } ?? "\(PropertyType(rawValue: Int(type.rawValue))!)"
    switch collection {
    case .none: return element
    case .list: return "array\(target == nil ? "<\(element)>" : element)"
    case .set: return "set\(target == nil ? "<\(element)>" : element)"
    case .map: return "dictionary<string, \(target ?? element)>"
    }
  }
}
