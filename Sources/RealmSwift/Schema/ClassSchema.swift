// What the engine knows of one Swift class: its stored name, its persisted properties, where they
// lie in an instance and how their values are moved. Found once a process from the class's
// reflection metadata and one instance; immutable afterwards. What keeps a class from being stored
// is noted, not a stop: it concerns only the Realms that the class is listed for, and they are
// refused with an error.
internal import Foundation
internal import ObjectStore
internal import Platform

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
  /// The type of a constant of an older class; nil of a property with a wrapper.
  let constantType: (any _ConstantProperty.Type)?

  init(
    name: String, columnName: String, offset: Int, codec: _PropertyCodec, isPrimary: Bool,
    isIndexed: Bool, originProperty: String?, targetName: String? = nil,
    constantType: (any _ConstantProperty.Type)? = nil
  ) {
    self.name = name
    self.columnName = columnName
    self.offset = offset
    self.codec = codec
    self.isPrimary = isPrimary
    self.isIndexed = isIndexed
    self.originProperty = originProperty
    self.targetName = targetName
    self.constantType = constantType
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
  /// Those whose wrapper may hold a link.
  let linkProperties: [PropertyDescription]
  /// Those whose mixed values may refer to lists and dictionaries of a Realm.
  let mixedProperties: [PropertyDescription]
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
  /// Of a class that stores nothing, what would have to change, a sentence each; none of others.
  ///
  /// No fault by itself: others may derive from the class.
  let emptiness: [String]
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
    linkProperties = Self.linkProperties(properties)
    mixedProperties = Self.mixedProperties(properties)
    self.primaryKey = primaryKey
    self.isEmbedded = isEmbedded
    keyForm = .other
    accessorImage = Self.image(of: objectClass.init())
    faults = []
    emptiness = []
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
    linkProperties = Self.linkProperties(discovery.properties)
    mixedProperties = Self.mixedProperties(discovery.properties)
    primaryKey = discovery.primaryKey
    keyForm = discovery.keyForm
    accessorImage = discovery.accessor.map(Self.image)
    faults = discovery.faults
    emptiness = discovery.emptiness
    names = properties.map(\.name)
    // A superclass and a subclass can both have a private property of one name, which is a fault.
    indexByName = Dictionary(
      properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  deinit { accessorImage?.deallocate() }

  private static func image(of accessor: ObjectBase) -> ObjectImage {
    // Managed wrappers own nothing: they hold the number of a column.
    ObjectImage(of: accessor, byteCount: StoredField.all(of: type(of: accessor)).map(\.end).max()!)
  }

  func index(ofProperty name: String) -> Int? {
    // Comparing with a few names is faster than hashing one.
    let index = names.count > 8 ? indexByName[name] : names.firstIndex(of: name)
    // Migrations of other systems are written with the stored names.
    return index != nil || !isDynamic ? index : properties.firstIndex { $0.columnName == name }
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

  private struct Known {
    var schemas: [ObjectIdentifier: ClassSchema] = [:]
    /// Classes whose schemas are being made, and by which threads.
    var beingMade: [ObjectIdentifier: [UInt64]] = [:]
  }

  private static let known = Monitor(Known())
  /// Schemas out of `known` that are found without its lock: for hashes and ends of objects, which
  /// many threads ask for at once.
  private static let lockFree = FoundSchemas()

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

  /// The schema of a class; nil while it is being made.
  ///
  /// An object of the class may end without one: it is made then.
  static func unlessBeingMade(_ objectClass: ObjectBase.Type) -> ClassSchema? {
    if let schema = lockFree[objectClass] { return schema }
    let identifier = ObjectIdentifier(objectClass)
    let (schema, isBeingMade) = known.withLock {
      ($0.schemas[identifier], $0.beingMade[identifier] != nil)
    }
    if schema != nil || isBeingMade { return schema }
    return examined(objectClass)
  }

  /// The schema of a class; nil for the instance that it is being made from here.
  static func unlessMadeHere(_ objectClass: ObjectBase.Type) -> ClassSchema? {
    if let schema = lockFree[objectClass] { return schema }
    let identifier = ObjectIdentifier(objectClass)
    let here = ThreadToken.current.rawValue
    let (schema, isMadeHere) = known.withLock {
      ($0.schemas[identifier], $0.beingMade[identifier]?.contains(here) == true)
    }
    if schema != nil || isMadeHere { return schema }
    return examined(objectClass)
  }

  private static func linkProperties(
    _ properties: [PropertyDescription]
  ) -> [PropertyDescription] {
    properties.filter { property in
      property.constantType == nil && property.codec.collection == .none
        && (property.codec.type == .object || property.codec.type == .any)
    }
  }

  private static func mixedProperties(
    _ properties: [PropertyDescription]
  ) -> [PropertyDescription] {
    properties.filter { property in
      guard property.codec.type == .any else { return false }
      let declared = property.codec.declaredType
      return declared == AnyRealmValue.self || declared == List<AnyRealmValue>.self
        || declared == Map<String, AnyRealmValue>.self
    }
  }

  /// The schema of a class, with what keeps it from being stored; made at the first call.
  static func examined(_ objectClass: ObjectBase.Type) -> ClassSchema {
    let identifier = ObjectIdentifier(objectClass)
    let here = ThreadToken.current.rawValue
    let found = known.withLock { known in
      if known.schemas[identifier] == nil { known.beingMade[identifier, default: []].append(here) }
      return known.schemas[identifier]
    }
    if let found { return found }
    // Made outside of the lock: it runs the class's own initializer. A second thread may make one
    // too.
    let schema = ClassSchema(objectClass)
    let kept: ClassSchema = known.withLock { known in
      var makers = known.beingMade[identifier] ?? []
      if let own = makers.lastIndex(of: here) { makers.remove(at: own) }
      known.beingMade[identifier] = makers.isEmpty ? nil : makers
      if let first = known.schemas[identifier] { return first }
      known.schemas[identifier] = schema
      return schema
    }
    lockFree.note(kept)
    return kept
  }
}

/// Schemas that are found without a lock, each in the slot of its class.
///
/// Only such that are kept for ever. Of several classes with one slot it has the first one's.
private struct FoundSchemas: @unchecked Sendable {
  // @unchecked: the memory is allocated once and only accessed as atomics.
  private static let slotBits = 10
  /// Addresses of schemas; 0 for none.
  private let slots: UnsafeMutablePointer<Atomic<UInt>>

  init() {
    let count = 1 << Self.slotBits
    slots = .allocate(capacity: count)
    for index in 0..<count { (slots + index).initialize(to: Atomic(0)) }
  }

  private func slot(of objectClass: ObjectBase.Type) -> Int {
    // Multiplied by an odd number that is as good as random: the upper bits depend on all.
    let address = UInt64(UInt(bitPattern: ObjectIdentifier(objectClass)))
    return Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) >> (64 - Self.slotBits))
  }

  /// The schema of a class; nil while there is none, and when another one has its slot.
  ///
  /// - Complexity: O(1), without a lock.
  subscript(objectClass: ObjectBase.Type) -> ClassSchema? {
    // Acquiring: pairs with the exchange in `note`.
    let bits = slots[slot(of: objectClass)].load(ordering: .acquiring)
    guard let address = UnsafeRawPointer(bitPattern: bits) else { return nil }
    let schema = Unmanaged<ClassSchema>.fromOpaque(address)
    return schema._withUnsafeGuaranteedRef { $0.objectClass == objectClass ? $0 : nil }
  }

  /// Notes a schema that is never let go.
  func note(_ schema: ClassSchema) {
    let address = UInt(bitPattern: Unmanaged.passUnretained(schema).toOpaque())
    _ = slots[slot(of: schema.objectClass)].compareExchange(
      expected: 0, desired: address, ordering: .acquiringAndReleasing)
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
