// What a client declares: tables, columns and their types, before the file has given them keys.
internal import Trees

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

  /// The bytes of zero, which nulls become in a column that becomes required.
  ///
  /// Readers take no bytes for zero too; whoever compares bytes does not.
  package var zeroBytes: [UInt8] {
    switch self {
    case .uuid: Array(repeating: 0, count: 16)
    case .objectId: Array(repeating: 0, count: 12)
    // The exponent 0 as IEEE 754 encodes it.
    case .decimal128: Array(repeating: 0, count: 14) + [0x40, 0x30]
    default: []
    }
  }

  /// Whether values can be, or contain, links to objects.
  package var holdsLinks: Bool { self == .object || self == .any }
}

/// Whether a column holds one value an object, or a collection of them.
///
/// Numbers are stored.
package enum CollectionKind: UInt8, Sendable {
  case none = 0
  /// Positions are the client's.
  case list
  /// Sorted; each value once.
  case set
  /// Sorted by key.
  case map
}

/// One column as declared.
package struct ColumnSchema: Hashable, Sendable {
  package var name: String
  /// Of the value, or of a collection's elements.
  package var type: ValueType
  /// Whether the value, or a collection's elements, may be null.
  package var isOptional: Bool
  package var isIndexed: Bool
  /// Of an index that the file has: how it sorts bytes; today's form for what is declared.
  package var indexForm = IndexForm.hashed
  package var collection: CollectionKind
  /// Name of the table that links of this column lead to.
  ///
  /// Nil for other types than `.object`.
  package var target: String?

  package init(
    name: String, type: ValueType, isOptional: Bool, isIndexed: Bool,
    collection: CollectionKind = .none, target: String? = nil
  ) {
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.isIndexed = isIndexed
    self.collection = collection
    self.target = target
  }

  /// Whether the column has a tree of links or an ordered index.
  var hasPairs: Bool { isIndexed && collection == .none || type.holdsLinks }
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

  /// Columns that a table of this sort can have.
  ///
  /// A cluster is one block with a reference a column. So is the table's root, with two a column,
  /// where any column has links or an index.
  package var columnsMax: Int {
    columns.contains { $0.hasPairs } ? TableRoot.columnsMax : Cluster.columnsMax
  }

  /// Stops when the table has more columns than it can.
  func requireFitting() {
    precondition(
      columns.count <= columnsMax,
      "\(name) has \(columns.count) columns; a table of its sort can have \(columnsMax)")
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
