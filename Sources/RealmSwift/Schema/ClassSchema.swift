// What the engine knows of one Swift class: its stored name, its persisted properties, where they lie
// in an instance and how their values are moved. Found once a process from the class's reflection
// metadata and one instance; immutable afterwards.
internal import Foundation
internal import ObjectStore
internal import Platform
@_spi(Reflection) internal import Swift

/// One `@Persisted` property of a class.
///
/// A class, because a copy of its codec would count the references of many functions.
final class PropertyDescription: Sendable {
  let name: String
  let columnName: String
  /// Where the wrapper lies in an instance.
  let offset: Int
  let codec: _PropertyCodec
  let isPrimary: Bool
  let isIndexed: Bool
  /// Of linking objects: the property of the other class that links here.
  let originProperty: String?
  /// The name of the class that links lead to, where no Swift class says it.
  let targetName: String?

  init(
    name: String, columnName: String, offset: Int, codec: _PropertyCodec, isPrimary: Bool,
    isIndexed: Bool, originProperty: String?, targetName: String? = nil
  ) {
    self.name = name
    self.columnName = columnName
    self.offset = offset
    self.codec = codec
    self.isPrimary = isPrimary
    self.isIndexed = isIndexed
    self.originProperty = originProperty
    self.targetName = targetName
  }

  /// Whether its value is found, not stored: it has no column.
  var isComputed: Bool { codec.type == .linkingObjects }

  /// The name of the class that links lead to, or come from.
  var objectClassName: String? {
    targetName ?? codec.objectClass.map { $0._realmObjectName() ?? $0.className() }
  }

  var publicForm: Property {
    Property(
      name: name, columnName: columnName, type: codec.type,
      isArray: codec.collection == .list || isComputed,
      isSet: codec.collection == .set, isMap: codec.collection == .map,
      isIndexed: isIndexed || isPrimary, isOptional: codec.isOptional,
      objectClassName: objectClassName, isPrimary: isPrimary, originProperty: originProperty)
  }
}

/// A class with its persisted properties.
final class ClassSchema: Sendable {
  let objectClass: ObjectBase.Type
  /// The name in the file.
  let name: String
  let properties: [PropertyDescription]
  let primaryKey: Int?
  /// Whether objects of the class live inside of others.
  let isEmbedded: Bool
  /// What kind of key a look-up can take without looking at the property's type again.
  let keyForm: KeyForm
  /// An accessor whose properties lie in columns by their positions; nil when instances have stored
  /// properties of their own that are not persisted, which only initializers can make.
  ///
  /// It spares each Realm that is opened a run of the class's initializer.
  // Unsafe: its memory is written in `init` only.
  nonisolated(unsafe) let accessorImage: ObjectImage?
  private let names: [String]
  private let indexByName: [String: Int]

  /// Primary keys by how they are looked up.
  enum KeyForm {
    /// Holds every `Int`.
    case integer
    /// Holds every `String`.
    case text
    /// Holds every `UUID`.
    case uuid
    /// Holds every `ObjectId`.
    case objectId
    /// None, or of a type that has to be asked whether it can hold a value.
    case other
  }

  /// A schema of properties that are known already.
  init(
    _ objectClass: ObjectBase.Type, name: String, properties: [PropertyDescription],
    primaryKey: Int?, isEmbedded: Bool
  ) {
    self.objectClass = objectClass
    self.name = name
    self.properties = properties
    self.primaryKey = primaryKey
    self.isEmbedded = isEmbedded
    keyForm = .other
    accessorImage = Self.image(of: objectClass.init())
    names = properties.map(\.name)
    indexByName = Dictionary(
      uniqueKeysWithValues: properties.enumerated().map { ($1.name, $0) })
  }

  /// - Precondition: the class and its properties can be stored; else stops.
  fileprivate init(_ objectClass: ObjectBase.Type) {
    self.objectClass = objectClass
    isEmbedded = objectClass is EmbeddedObject.Type
    name = objectClass._realmObjectName() ?? objectClass.className()
    var discovery = PropertyDiscovery(objectClass)
    discovery.run()
    properties = discovery.properties
    primaryKey = discovery.primaryKey
    keyForm = discovery.keyForm
    accessorImage = discovery.accessor.map(Self.image)
    names = properties.map(\.name)
    indexByName = Dictionary(
      uniqueKeysWithValues: properties.enumerated().map { ($1.name, $0) })
  }

  deinit { accessorImage?.deallocate() }

  private static func image(of accessor: ObjectBase) -> ObjectImage {
    // Managed wrappers own nothing: they hold the number of a column.
    ObjectImage(of: accessor, byteCount: fields(of: type(of: accessor)).map(\.end).max()!)
  }

  func index(ofProperty name: String) -> Int? {
    // Comparing with a few names is faster than hashing one.
    names.count > 8 ? indexByName[name] : names.firstIndex(of: name)
  }

  /// Whether its objects are accessed by names alone.
  var isDynamic: Bool { objectClass == DynamicObject.self }

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
    ObjectSchema(
      className: name, properties: properties.map(\.publicForm), isEmbedded: isEmbedded,
      objectClass: objectClass)
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

/// A stored property of a class.
private struct StoredField {
  let name: String
  let offset: Int
  let type: Any.Type

  /// Where it ends in an instance.
  var end: Int {
    func size<Value>(of: Value.Type) -> Int { MemoryLayout<Value>.size }
    return offset + _openExistential(type, do: size)
  }
}

extension ClassSchema {
  /// `_EachFieldOptions.classType`, which is declared as a variable and so cannot be read safely.
  private static let fieldsOfClass = _EachFieldOptions(rawValue: 1)

  /// The stored properties of a class, those of its superclasses first.
  fileprivate static func fields(of objectClass: ObjectBase.Type) -> [StoredField] {
    var fields: [StoredField] = []
    _ = _forEachField(of: objectClass, options: fieldsOfClass) { name, offset, type, _ in
      fields.append(StoredField(name: String(cString: name), offset: offset, type: type))
      return true
    }
    return fields
  }
}

/// Walks the stored properties of a class.
private struct PropertyDiscovery {
  let objectClass: ObjectBase.Type
  var properties: [PropertyDescription] = []
  var primaryKey: Int?
  /// The instance that was looked at, made an accessor; nil when it has fields that are not persisted.
  private(set) var accessor: ObjectBase?
  private var hasOtherFields = false
  private let legacy: LegacyDeclarations

  init(_ objectClass: ObjectBase.Type) {
    self.objectClass = objectClass
    legacy = LegacyDeclarations(objectClass)
  }

  mutating func run() {
    let mapping = objectClass.propertiesMapping()
    let instance = objectClass.init()
    let base = UnsafeRawPointer(Unmanaged.passUnretained(instance).toOpaque())
    withExtendedLifetime(instance) {
      // Fields of the root class come first.
      for field in ClassSchema.fields(of: objectClass).dropFirst(ObjectBase.fieldCount) {
        add(field, in: base, mapping)
      }
      if hasOtherFields { return }
      for (position, property) in properties.enumerated() {
        property.codec.attach(instance.pointer(to: property), Int32(position))
      }
      accessor = instance
    }
    checkColumnNames()
    if let key = legacy.primaryKey, primaryKey == nil {
      misuse(
        .schema,
        "Primary key property '\(key)' does not exist on object '\(objectClass.className())'")
    }
  }

  var keyForm: ClassSchema.KeyForm {
    guard let primaryKey else { return .other }
    let codec = properties[primaryKey].codec
    switch codec.type {
    case .int: return codec.accepts(Int.max) ? .integer : .other
    case .string: return codec.accepts("") ? .text : .other
    case .UUID: return codec.accepts(UUID()) ? .uuid : .other
    case .objectId: return codec.accepts(ObjectId()) ? .objectId : .other
    default: return .other
    }
  }

  private mutating func add(
    _ field: StoredField, in base: UnsafeRawPointer,
    _ mapping: [String: String]
  ) {
    let (name, codec): (String, _PropertyCodec)
    if let wrapper = field.type as? any _PersistedProperty.Type {
      // A wrapper's storage has the property's name behind an underscore.
      (name, codec) = (String(field.name.dropFirst()), wrapper._codec)
    } else {
      hasOtherFields = true
      guard let box = field.type as? any _BoxedProperty.Type else { return }
      (name, codec) = (field.name, box.codec(at: field.offset))
    }
    if legacy.ignored.contains(name) {
      hasOtherFields = true
      return
    }
    checkOptional(name, codec)
    let role = legacy.role(name, codec.role(base + field.offset))
    if role != .plain { checkKey(name, codec, role) }
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

  /// Stops when a link cannot be nil, or must not be and can.
  private func checkOptional(_ name: String, _ codec: _PropertyCodec) {
    guard codec.type == .object, let target = codec.objectClass?.className() else { return }
    let rule = codec.isOptional ? "must not be marked as optional." : "must be marked as optional."
    switch (codec.collection, codec.isOptional) {
    case (.none, false): misuse(.schema, "Object property '\(name)' \(rule)")
    case (.list, true): misuse(.schema, "List<\(target)> property '\(name)' \(rule)")
    case (.set, true): misuse(.schema, "MutableSet<\(target)> property '\(name)' \(rule)")
    case (.map, false): misuse(.schema, "Map<String, \(target)> property '\(name)' \(rule)")
    default: break
    }
  }

  /// Stops when a property is declared by its name as something that its type cannot be.
  private func checkKey(_ name: String, _ codec: _PropertyCodec, _ role: _PropertyRole) {
    let place = "Property '\(objectClass.className()).\(name)' of type '\(codec.type)'"
    switch (codec.collection, codec.type) {
    case (.none, .int), (.none, .string), (.none, .objectId), (.none, .UUID): break
    case (.none, .bool) where role == .indexed, (.none, .date) where role == .indexed,
      (.none, .any) where role == .indexed:
      break
    default:
      misuse(
        .schema, "\(place) cannot be \(role == .primary ? "made the primary key" : "indexed").")
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

/// What a class declares by names, not by the wrappers of its properties.
private struct LegacyDeclarations {
  let primaryKey: String?
  let ignored: Set<String>
  let indexed: Set<String>

  init(_ objectClass: ObjectBase.Type) {
    let object = objectClass as? Object.Type
    primaryKey = object?.primaryKey()
    ignored = Set(object?.ignoredProperties() ?? [])
    indexed = Set(object?.indexedProperties() ?? [])
  }

  /// The role of a property whose wrapper has declared another one.
  func role(_ name: String, _ declared: _PropertyRole) -> _PropertyRole {
    if name == primaryKey { return .primary }
    return declared == .plain && indexed.contains(name) ? .indexed : declared
  }
}

/// The classes of a configuration, checked for names that clash.
final class RealmSchema: Sendable {
  let classes: [ClassSchema]
  /// What is wrong with the classes together, a line each; none when they can be stored.
  let errors: [String]
  /// What was made last of the classes and the schema of a file, which had all of them in their form.
  ///
  /// Most openings find the same schema as the one before.
  let fitting = Monitor<SchemaBindings?>(nil)

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
    errors = Self.errors(of: classes)
  }

  var publicForm: Schema { Schema(objectSchema: classes.map(\.publicForm)) }

  private static let defaultSchema = Monitor<RealmSchema?>(nil)
  /// Of lists of classes.
  private static let known = Monitor<[[ObjectIdentifier]: RealmSchema]>([:])

  /// The schema of a list of classes; nil for the default one.
  static func of(_ types: [ObjectBase.Type]?) -> RealmSchema {
    if let types {
      let key = types.map { ObjectIdentifier($0) }
      if let schema = known.withLock({ $0[key] }) { return schema }
      let schema = RealmSchema(types)
      // Programs have few lists; tests, many.
      let old = known.withLock { known in
        let old = known.count < 64 ? [:] : known
        if !old.isEmpty { known = [:] }
        known[key] = schema
        return old
      }
      // They leave the lock before they go.
      withExtendedLifetime(old) {}
      return schema
    }
    if let schema = defaultSchema.withLock({ $0 }) { return schema }
    let schema = RealmSchema(
      ClassDiscovery.allObjectClasses().filter { $0.shouldIncludeInDefaultSchema() })
    defaultSchema.withLock { $0 = schema }
    return schema
  }
}
