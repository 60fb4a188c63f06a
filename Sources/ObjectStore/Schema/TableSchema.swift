// What a client declares: tables, columns and their types, before the file has given them keys.

/// Type of a column's values.
///
/// Numbers are those of the public PropertyType and are stored.
package enum ValueType: UInt8, Sendable {
  case int = 0
  case bool, string, data, date, float, double, object, linkingObjects, any, objectId, decimal128
  case uuid

  /// Whether values are kept as packed integers (or bit patterns), not as byte strings.
  package var isPacked: Bool {
    switch self {
    case .int, .bool, .date, .float, .double, .object: return true
    default: return false
    }
  }
}

/// One column as declared.
package struct ColumnSchema: Hashable, Sendable {
  package var name: String
  package var type: ValueType
  package var isOptional: Bool
  package var isIndexed: Bool

  package init(name: String, type: ValueType, isOptional: Bool, isIndexed: Bool) {
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.isIndexed = isIndexed
  }
}

/// One table as declared.
package struct TableSchema: Hashable, Sendable {
  package var name: String
  package var columns: [ColumnSchema]
  package var primaryKey: String?
  package var isEmbedded: Bool

  package init(name: String, columns: [ColumnSchema], primaryKey: String?, isEmbedded: Bool) {
    self.name = name
    self.columns = columns
    self.primaryKey = primaryKey
    self.isEmbedded = isEmbedded
  }
}

/// Identity of an object in its table.
///
/// A counter; never reused.
@frozen @usableFromInline
package struct ObjectKey: Hashable, Comparable, Sendable {
  @usableFromInline package let rawValue: Int64

  @inlinable package init(rawValue: Int64) { self.rawValue = rawValue }

  @inlinable package static func < (left: ObjectKey, right: ObjectKey) -> Bool {
    left.rawValue < right.rawValue
  }
}
