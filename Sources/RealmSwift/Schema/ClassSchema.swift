// What the engine knows of one Swift class: its stored name, its persisted properties, where they lie
// in an instance and how their values are moved. Found once a process from the class's reflection
// metadata and one instance; immutable afterwards.
internal import ObjectStore
internal import Platform
@_spi(Reflection) internal import Swift

/// One `@Persisted` property of a class.
struct PropertyDescription: Sendable {
  let name: String
  let columnName: String
  /// Where the wrapper lies in an instance.
  let offset: Int
  let codec: _PropertyCodec
  let isPrimary: Bool
  let isIndexed: Bool
  /// Of linking objects: the property of the other class that links here.
  let originProperty: String?

  /// Whether its value is found, not stored: it has no column.
  var isComputed: Bool { codec.type == .linkingObjects }

  /// The name of the class that links lead to, or come from.
  var objectClassName: String? {
    codec.objectClass.map { $0._realmObjectName() ?? $0.className() }
  }

  var publicForm: Property {
    Property(
      name: name, columnName: columnName, type: codec.type,
      isIndexed: isIndexed || isPrimary, isOptional: codec.isOptional, isPrimary: isPrimary)
  }
}

/// A class with its persisted properties.
final class ClassSchema: Sendable {
  let objectClass: ObjectBase.Type
  /// The name in the file.
  let name: String
  let properties: [PropertyDescription]
  let primaryKey: Int?
  /// What kind of key a look-up can take without looking at the property's type again.
  let keyForm: KeyForm
  /// Whether instances have stored properties of their own that are not persisted, which an accessor
  /// must not carry from one object to another.
  let hasOtherFields: Bool
  private let indexByName: [String: Int]

  /// Primary keys by how they are looked up.
  enum KeyForm {
    /// Holds every `Int`.
    case integer
    /// Holds every `String`.
    case text
    /// None, or of a type that has to be asked whether it can hold a value.
    case other
  }

  /// - Precondition: the class and its properties can be stored; else stops.
  fileprivate init(_ objectClass: ObjectBase.Type) {
    self.objectClass = objectClass
    name = objectClass._realmObjectName() ?? objectClass.className()
    var discovery = PropertyDiscovery(objectClass)
    discovery.run()
    properties = discovery.properties
    primaryKey = discovery.primaryKey
    keyForm = discovery.keyForm
    hasOtherFields = discovery.hasOtherFields
    indexByName = Dictionary(
      uniqueKeysWithValues: properties.enumerated().map { ($1.name, $0) })
  }

  func index(ofProperty name: String) -> Int? { indexByName[name] }

  /// Whether objects of the class live inside of others.
  var isEmbedded: Bool { objectClass is EmbeddedObject.Type }

  /// The form in which the layer below stores it.
  var tableSchema: TableSchema {
    TableSchema(
      name: name,
      columns: properties.filter { !$0.isComputed }.map { property in
        ColumnSchema(
          name: property.columnName,
          type: ValueType(rawValue: UInt8(property.codec.type.rawValue))!,
          isOptional: property.codec.isOptional, isIndexed: property.isIndexed,
          collection: CollectionKind(rawValue: property.codec.collection.rawValue)!,
          target: property.objectClassName)
      },
      primaryKey: primaryKey.map { properties[$0].columnName }, isEmbedded: isEmbedded)
  }

  var publicForm: ObjectSchema {
    ObjectSchema(className: name, properties: properties.map(\.publicForm))
  }

  // MARK: - Finding

  private static let known = Monitor<[ObjectIdentifier: ClassSchema]>([:])

  /// The schema of a class; made at the first call.
  ///
  /// - Complexity: some 10 us the first time, then one look-up.
  static func of(_ objectClass: ObjectBase.Type) -> ClassSchema {
    let identifier = ObjectIdentifier(objectClass)
    if let schema = known.withLock({ $0[identifier] }) { return schema }
    // Made outside of the lock: it runs the class's own initializer. A second thread may make one too.
    let schema = ClassSchema(objectClass)
    return known.withLock { known in
      if let first = known[identifier] { return first }
      known[identifier] = schema
      return schema
    }
  }
}

/// Walks the stored properties of a class.
private struct PropertyDiscovery {
  let objectClass: ObjectBase.Type
  var properties: [PropertyDescription] = []
  var primaryKey: Int?
  var hasOtherFields = false

  init(_ objectClass: ObjectBase.Type) { self.objectClass = objectClass }

  /// `_EachFieldOptions.classType`, which is declared as a variable and so cannot be read safely.
  private static let fieldsOfClass = _EachFieldOptions(rawValue: 1)

  mutating func run() {
    let mapping = objectClass.propertiesMapping()
    let instance = objectClass.init()
    let base = UnsafeRawPointer(Unmanaged.passUnretained(instance).toOpaque())
    withExtendedLifetime(instance) {
      var fields: [(name: String, offset: Int, type: Any.Type)] = []
      _ = _forEachField(of: objectClass, options: Self.fieldsOfClass) { name, offset, type, _ in
        fields.append((String(cString: name), offset, type))
        return true
      }
      // Fields of the root class come first.
      for field in fields.dropFirst(ObjectBase.fieldCount) {
        add(field, in: base, mapping)
      }
    }
    checkColumnNames()
  }

  var keyForm: ClassSchema.KeyForm {
    guard let primaryKey else { return .other }
    let codec = properties[primaryKey].codec
    switch codec.type {
    case .int: return codec.accepts(Int.max) ? .integer : .other
    case .string: return codec.accepts("") ? .text : .other
    default: return .other
    }
  }

  private mutating func add(
    _ field: (name: String, offset: Int, type: Any.Type), in base: UnsafeRawPointer,
    _ mapping: [String: String]
  ) {
    guard let wrapper = field.type as? any _PersistedProperty.Type else {
      hasOtherFields = true
      return
    }
    // A wrapper's storage has the property's name behind an underscore.
    let name = String(field.name.dropFirst())
    let codec = wrapper._codec
    checkOptional(name, codec)
    let role = codec.role(base + field.offset)
    if role == .primary {
      if let first = primaryKey {
        misuse(
          .schema,
          "Properties '\(properties[first].name)' and '\(name)' are both marked as the primary key "
            + "of '\(objectClass.className())'")
      }
      primaryKey = properties.count
    }
    properties.append(
      PropertyDescription(
        name: name, columnName: mapping[name] ?? name, offset: field.offset, codec: codec,
        isPrimary: role == .primary, isIndexed: role == .indexed,
        originProperty: originProperty(name, codec, base + field.offset)))
  }

  /// Stops when a link that may lead nowhere is not optional, or one that may not is.
  private func checkOptional(_ name: String, _ codec: _PropertyCodec) {
    guard codec.type == .object else { return }
    let target = codec.objectClass!.className()
    switch codec.collection {
    case .none where !codec.isOptional:
      misuse(.schema, "Object property '\(name)' must be marked as optional.")
    case .map where !codec.isOptional:
      misuse(.schema, "Map<String, \(target)> property '\(name)' must be marked as optional.")
    case .list where codec.isOptional:
      misuse(.schema, "List<\(target)> property '\(name)' must not be marked as optional.")
    case .set where codec.isOptional:
      misuse(.schema, "MutableSet<\(target)> property '\(name)' must not be marked as optional.")
    default: break
    }
  }

  /// Stops when linking objects do not say which property links here.
  private func originProperty(
    _ name: String, _ codec: _PropertyCodec, _ wrapper: UnsafeRawPointer
  ) -> String? {
    guard codec.type == .linkingObjects else { return nil }
    if let origin = codec.originProperty(wrapper) { return origin }
    let origin = codec.objectClass!.className()
    misuse(
      .schema,
      "LinkingObjects<\(origin)> property '\(name)' must set the origin property name with "
        + "@Persisted(originProperty: \"name\").")
  }

  private func checkColumnNames() {
    var owners: [String: String] = [:]
    for property in properties {
      if let other = owners.updateValue(property.name, forKey: property.columnName) {
        misuse(
          .schema,
          "Properties '\(other)' and '\(property.name)' of '\(objectClass.className())' are both "
            + "stored as '\(property.columnName)'. Change `propertiesMapping()`.")
      }
    }
  }
}

/// The classes of a configuration, checked for names that clash.
final class RealmSchema: Sendable {
  let classes: [ClassSchema]

  private init(_ types: [ObjectBase.Type]) {
    var seen = Set<ObjectIdentifier>()
    classes = types.filter { seen.insert(ObjectIdentifier($0)).inserted }.map { ClassSchema.of($0) }
    var owners: [String: ClassSchema] = [:]
    for schema in classes {
      if let other = owners.updateValue(schema, forKey: schema.name) {
        misuse(
          .schema,
          "Classes '\(String(reflecting: other.objectClass))' and "
            + "'\(String(reflecting: schema.objectClass))' are both stored as '\(schema.name)'. "
            + "Pick one by `objectTypes`, or rename one by `_realmObjectName()`.")
      }
    }
  }

  var publicForm: Schema { Schema(objectSchema: classes.map(\.publicForm)) }

  private static let defaultSchema = Monitor<RealmSchema?>(nil)

  /// The schema of a list of classes; nil for the default one.
  static func of(_ types: [ObjectBase.Type]?) -> RealmSchema {
    if let types { return RealmSchema(types) }
    if let schema = defaultSchema.withLock({ $0 }) { return schema }
    let schema = RealmSchema(
      ClassDiscovery.allObjectClasses().filter { $0.shouldIncludeInDefaultSchema() })
    defaultSchema.withLock { $0 = schema }
    return schema
  }
}
