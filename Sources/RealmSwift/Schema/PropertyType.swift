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
  /// What it holds, or what the elements of its collection are.
  public let type: PropertyType
  /// Whether it is a list, or linking objects.
  public let isArray: Bool
  /// Whether it is a set.
  public let isSet: Bool
  /// Whether it is a map.
  public let isMap: Bool
  /// Whether an index speeds up looking for its values.
  public let isIndexed: Bool
  /// Whether it may be nil; of a collection whether elements may be.
  public let isOptional: Bool
  /// The class that links lead to, or come from.
  public let objectClassName: String?
  let isPrimary: Bool
  let originProperty: String?

  /// Name and facts, one a line.
  public var description: String {
    var facts: [(String, String)] = [("type", "\(type)")]
    if let objectClassName {
      facts.append(("objectClassName", objectClassName))
      facts.append(("linkOriginPropertyName", originProperty ?? "(null)"))
    }
    facts.append(("columnName", columnName))
    let answers = [
      ("indexed", isIndexed), ("isPrimary", isPrimary), ("array", isArray), ("set", isSet),
      ("dictionary", isMap), ("optional", isOptional),
    ]
    facts += answers.map { ($0, $1 ? "YES" : "NO") }
    return "\(name) {\n" + facts.map { "\t\($0) = \($1);\n" }.joined() + "}"
  }
}

/// The properties of a class.
public struct ObjectSchema: Sendable, Equatable, CustomStringConvertible {
  /// The class's name in the file.
  public let className: String
  /// The persisted properties, those of superclasses first.
  ///
  /// Linking objects are not stored, and only found by their name.
  public let properties: [Property]
  /// Whether objects of the class live inside of others.
  public let isEmbedded: Bool
  private let linkingObjects: [Property]
  private let type: ObjectBase.Type

  init(
    className: String, properties: [Property], isEmbedded: Bool, objectClass: ObjectBase.Type
  ) {
    self.className = className
    self.properties = properties.filter { $0.type != .linkingObjects }
    linkingObjects = properties.filter { $0.type == .linkingObjects }
    self.isEmbedded = isEmbedded
    type = objectClass
  }

  /// The class in Swift; of a schema that was read from a file `DynamicObject`.
  public var objectClass: AnyClass { type }

  /// The property that identifies an object, if the class has one.
  public var primaryKeyProperty: Property? { properties.first { $0.isPrimary } }

  /// The property of a Swift name.
  public subscript(propertyName: String) -> Property? {
    properties.first { $0.name == propertyName }
      ?? linkingObjects.first { $0.name == propertyName }
  }

  /// Whether names and properties are the same.
  public static func == (left: ObjectSchema, right: ObjectSchema) -> Bool {
    left.className == right.className && left.isEmbedded == right.isEmbedded
      && left.properties == right.properties && left.linkingObjects == right.linkingObjects
  }

  /// The class's name and its properties.
  public var description: String {
    let facts = properties.map { "\t\(indented($0.description))\n" }
    return "\(className) \(isEmbedded ? "(embedded) " : ""){\n\(facts.joined())}"
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
    "Schema {\n" + objectSchema.map { "\t\(indented($0.description))\n" }.joined() + "}"
  }
}
