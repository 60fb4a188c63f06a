// What the engine knows of one Swift class: its stored name, its persisted properties, where they
// lie in an instance and how their values are moved. Found once a process from the class's
// reflection metadata and one instance; immutable afterwards. What keeps a class from being stored
// is noted, not a stop: it concerns only the Realms that the class is listed for, and they are
// refused with an error.
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
  /// Why the class cannot be stored, a sentence each; none when it can.
  let faults: [String]
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
    faults = []
    names = properties.map(\.name)
    indexByName = Dictionary(
      uniqueKeysWithValues: properties.enumerated().map { ($1.name, $0) })
  }

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
    faults = discovery.faults
    names = properties.map(\.name)
    // A superclass and a subclass can both have a private property of one name, which is a fault.
    indexByName = Dictionary(
      properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
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

  /// The schema of a class whose objects are used; made at the first call, stops when the class
  /// cannot be stored.
  ///
  /// - Complexity: some 10 us the first time, then one look-up.
  static func of(_ objectClass: ObjectBase.Type) -> ClassSchema {
    let schema = examined(objectClass)
    if _slowPath(!schema.faults.isEmpty) {
      misuse(
        .schema,
        "Class '\(String(reflecting: objectClass))' cannot be stored: "
          + schema.faults.joined(separator: " "))
    }
    return schema
  }

  /// The schema of a class, with what keeps it from being stored; made at the first call.
  static func examined(_ objectClass: ObjectBase.Type) -> ClassSchema {
    let identifier = ObjectIdentifier(objectClass)
    if let schema = known.withLock({ $0[identifier] }) { return schema }
    // Made outside of the lock: it runs the class's own initializer. A second thread may make one
    // too.
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
  /// Why the class cannot be stored; properties that a fault is about may be missing.
  private(set) var faults: [String] = []
  /// The instance that was looked at, made an accessor; nil when it has fields that are not
  /// persisted.
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
      if hasOtherFields || !faults.isEmpty { return }
      for (position, property) in properties.enumerated() {
        property.codec.attach(instance.pointer(to: property), Int32(position))
      }
      accessor = instance
    }
    checkNames()
    if let key = legacy.primaryKey, !properties.contains(where: { $0.name == key }) {
      faults.append(
        "Primary key property '\(key)' does not exist on object '\(objectClass.className())'. "
          + "`primaryKey()` has to return the name of a @Persisted property.")
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
    checkCases(name, field.type)
    let role = legacy.role(name, codec.role(base + field.offset))
    if role != .plain { checkKey(name, codec, role) }
    if role == .primary {
      if let first = primaryKey {
        faults.append(
          "Properties '\(properties[first].name)' and '\(name)' are both marked as the primary key "
            + "of '\(objectClass.className())'. Mark one of them only.")
      }
      primaryKey = properties.count
    }
    properties.append(
      PropertyDescription(
        name: name, columnName: mapping[name] ?? name, offset: field.offset, codec: codec,
        isPrimary: role == .primary, isIndexed: role == .indexed,
        originProperty: originProperty(name, codec, base + field.offset)))
  }

  /// Notes when a link cannot be nil, or must not be and can.
  private mutating func checkOptional(_ name: String, _ codec: _PropertyCodec) {
    guard codec.type == .object, let target = codec.objectClass?.className() else { return }
    let rule = codec.isOptional ? "must not be marked as optional." : "must be marked as optional."
    let kind: String
    switch (codec.collection, codec.isOptional) {
    case (.none, false): kind = "Object"
    case (.list, true): kind = "List<\(target)>"
    case (.set, true): kind = "MutableSet<\(target)>"
    case (.map, false): kind = "Map<String, \(target)>"
    default: return
    }
    faults.append("\(kind) property '\(name)' \(rule)")
  }

  /// Notes when a property has to start with a case of an enum that has none.
  private mutating func checkCases(_ name: String, _ wrapper: Any.Type) {
    guard let value = (wrapper as? any _PersistedProperty.Type)?._valueType,
      let cases = value as? any PersistableEnum.Type, cases._hasNoCases
    else { return }
    faults.append(
      "Property '\(objectClass.className()).\(name)' is of the enum '\(value)', which has no cases. Add "
        + "one, or make the property optional.")
  }

  /// Notes when a property is declared by its name as something that its type cannot be.
  private mutating func checkKey(_ name: String, _ codec: _PropertyCodec, _ role: _PropertyRole) {
    let place = "Property '\(objectClass.className()).\(name)' of type '\(codec.type)'"
    switch (codec.collection, codec.type) {
    case (.none, .int), (.none, .string), (.none, .objectId), (.none, .UUID): break
    case (.none, .bool) where role == .indexed, (.none, .date) where role == .indexed,
      (.none, .any) where role == .indexed:
      break
    default:
      faults.append(
        "\(place) cannot be \(role == .primary ? "made the primary key" : "indexed").")
    }
  }

  /// Of linking objects the property that links here; notes when they do not say which.
  private mutating func originProperty(
    _ name: String, _ codec: _PropertyCodec, _ wrapper: UnsafeRawPointer
  ) -> String? {
    guard codec.type == .linkingObjects else { return nil }
    if let origin = codec.originProperty(wrapper) { return origin }
    let origin = codec.objectClass!.className()
    faults.append(
      "LinkingObjects<\(origin)> property '\(name)' must set the origin property name with "
        + "@Persisted(originProperty: \"name\").")
    return nil
  }

  private mutating func checkNames() {
    if (objectClass._realmObjectName() ?? objectClass.className()).isEmpty {
      faults.append("Its stored name is empty. Change `_realmObjectName()`.")
    }
    var owners: [String: String] = [:]
    for property in properties {
      if property.columnName.isEmpty {
        faults.append(
          "Property '\(property.name)' of '\(objectClass.className())' has an empty stored name. "
            + "Change `propertiesMapping()`.")
      }
      if let other = owners.updateValue(property.name, forKey: property.columnName) {
        faults.append(
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
    let embedded = objectClass as? EmbeddedObject.Type
    primaryKey = object?.primaryKey()
    ignored = Set(object?.ignoredProperties() ?? embedded?.ignoredProperties() ?? [])
    indexed = Set(object?.indexedProperties() ?? embedded?.indexedProperties() ?? [])
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
  /// What is wrong with the classes, each by itself or together, a line each; none when they can be
  /// stored.
  let errors: [String]
  /// What was made last of the classes and the schema of a file, which had all of them in their
  /// form.
  ///
  /// Most openings find the same schema as the one before.
  let fitting = Monitor<SchemaBindings?>(nil)

  private init(_ types: [ObjectBase.Type], _ errors: [String] = []) {
    var seen = Set<ObjectIdentifier>()
    classes = types.filter { seen.insert(ObjectIdentifier($0)).inserted }
      .map { ClassSchema.examined($0) }
    self.errors = errors + Self.errors(of: classes)
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
    let schema: RealmSchema
    if let found = ClassDiscovery.allObjectClasses() {
      schema = RealmSchema(found.filter { $0.shouldIncludeInDefaultSchema() })
    } else {
      schema = RealmSchema([], ["The Swift runtime of this program does not list its classes."])
    }
    defaultSchema.withLock { $0 = schema }
    return schema
  }
}
