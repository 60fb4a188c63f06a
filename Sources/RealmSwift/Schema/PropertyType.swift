// The public picture of classes and properties: read-only values made from ClassSchema.

/// What sort of value a property holds.
public enum PropertyType: Int, Sendable, CustomStringConvertible {
  /// `Int` and the sized integers.
  case int = 0
  /// `Bool`.
  case bool = 1
  /// `String`.
  case string = 2
  /// `Data`.
  case data = 3
  /// `Date`.
  case date = 4
  /// `Float`.
  case float = 5
  /// `Double`.
  case double = 6
  /// A link to an object.
  case object = 7
  /// The objects that link here.
  case linkingObjects = 8
  /// `AnyRealmValue`.
  case any = 9
  /// `ObjectId`.
  case objectId = 10
  /// `Decimal128`.
  case decimal128 = 11
  /// `UUID`.
  case UUID = 12

  /// The type's name in messages.
  public var description: String {
    switch self {
    case .int: return "int"
    case .bool: return "bool"
    case .string: return "string"
    case .data: return "data"
    case .date: return "date"
    case .float: return "float"
    case .double: return "double"
    case .object: return "object"
    case .linkingObjects: return "linking objects"
    case .any: return "mixed"
    case .objectId: return "object id"
    case .decimal128: return "decimal128"
    case .UUID: return "uuid"
    }
  }
}

/// One property of a class.
public struct Property: Sendable, Equatable, CustomStringConvertible {
  /// The name in Swift.
  public let name: String
  /// The name in the file.
  public let columnName: String
  /// What it holds.
  public let type: PropertyType
  /// Whether an index speeds up looking for its values.
  public let isIndexed: Bool
  /// Whether it may be nil.
  public let isOptional: Bool
  let isPrimary: Bool

  /// Name and facts, one a line.
  public var description: String {
    """
    \(name) {
    \ttype = \(type);
    \tcolumnName = \(columnName);
    \tindexed = \(isIndexed ? "YES" : "NO");
    \tisPrimary = \(isPrimary ? "YES" : "NO");
    \toptional = \(isOptional ? "YES" : "NO");
    }
    """
  }
}

/// The properties of a class.
public struct ObjectSchema: Sendable, Equatable, CustomStringConvertible {
  /// The class's name in the file.
  public let className: String
  /// The persisted properties, those of superclasses first.
  public let properties: [Property]

  /// The property that identifies an object, if the class has one.
  public var primaryKeyProperty: Property? { properties.first { $0.isPrimary } }

  /// The property of a Swift name.
  public subscript(propertyName: String) -> Property? {
    properties.first { $0.name == propertyName }
  }

  /// The class's name and its properties.
  public var description: String {
    let body = properties.map { property in
      property.description.split(separator: "\n").map { "\t\($0)\n" }.joined()
    }
    return "\(className) {\n\(body.joined())}"
  }
}

/// The classes of a Realm.
public struct Schema: Sendable, Equatable, CustomStringConvertible {
  /// One element a class.
  public let objectSchema: [ObjectSchema]

  /// The class of a name.
  public subscript(className: String) -> ObjectSchema? {
    objectSchema.first { $0.className == className }
  }

  /// All classes.
  public var description: String {
    let body = objectSchema.map { schema in
      schema.description.split(separator: "\n").map { "\t\($0)\n" }.joined()
    }
    return "Schema {\n\(body.joined())}"
  }
}
