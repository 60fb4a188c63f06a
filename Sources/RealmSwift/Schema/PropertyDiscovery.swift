// Which properties of a class are stored: its stored properties are looked at, one after the
// other, in the class's reflection metadata and in one instance. What keeps the class from being
// stored, or a property that looks as if it were, is noted in words that say what to do.
internal import Foundation
@_spi(Reflection) internal import Swift

/// A stored property of a class.
struct StoredField {
  let name: String
  let offset: Int
  let type: Any.Type
  /// Whether it can be assigned to.
  let isVariable: Bool

  private static let lazyPrefix = "$__lazy_storage_$_"
  var isLazy: Bool { name.hasPrefix(Self.lazyPrefix) }
  /// The name that the client has given.
  var declaredName: String { isLazy ? String(name.dropFirst(Self.lazyPrefix.count)) : name }

  var wrapper: (any _PersistedProperty.Type)? { type as? any _PersistedProperty.Type }
  var constant: (any _ConstantProperty.Type)? { type as? any _ConstantProperty.Type }

  /// Where it ends in an instance.
  var end: Int {
    func size<Value>(of: Value.Type) -> Int { MemoryLayout<Value>.size }
    return offset + _openExistential(type, do: size)
  }
}

extension StoredField {
  /// `_EachFieldOptions.classType`, which is declared as a variable and so cannot be read safely.
  private static let fieldsOfClass = _EachFieldOptions(rawValue: 1)

  /// The stored properties of a class, those of its superclasses first.
  static func all(of objectClass: ObjectBase.Type) -> [StoredField] {
    var fields: [StoredField] = []
    let areVariables = FieldRecords.areVariables(objectClass)
    _ = _forEachField(of: objectClass, options: fieldsOfClass) { name, offset, type, _ in
      fields.append(
        StoredField(
          name: String(cString: name), offset: offset, type: type,
          isVariable: fields.count < areVariables.count && areVariables[fields.count]))
      return true
    }
    return fields
  }
}

/// Walks the stored properties of a class.
struct PropertyDiscovery {
  let objectClass: ObjectBase.Type
  private(set) var properties: [PropertyDescription] = []
  private(set) var primaryKey: Int?
  /// Why the class cannot be stored; properties that a fault is about may be missing.
  private(set) var faults: [String] = []
  /// Of a class that stores nothing, what would have to change.
  private(set) var emptiness: [String] = []
  /// Variables that look as if they were stored, a sentence each.
  private var unstored: [String] = []
  /// The instance that was looked at, made an accessor; nil when it has fields that are not
  /// persisted.
  private(set) var accessor: ObjectBase?
  private var hasOtherFields = false
  /// Whether the class declares a property by `@Persisted`.
  private var usesWrappers = false
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
      let fields = StoredField.all(of: objectClass).dropFirst(ObjectBase.fieldCount)
      usesWrappers = fields.contains { $0.wrapper != nil }
      for field in fields { add(field, in: base, mapping) }
      noteUnstored()
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
    if let wrapper = field.wrapper {
      // A wrapper's storage has the property's name behind an underscore.
      (name, codec) = (String(field.name.dropFirst()), wrapper._codec)
      if legacy.ignored.contains(name) {
        hasOtherFields = true
        return
      }
    } else {
      hasOtherFields = true
      if legacy.ignored.contains(field.declaredName) { return }
      guard let constant = field.constant else { return checkPlain(field) }
      (name, codec) = (field.name, constant.codec(at: field.offset))
      let origin = codec.originProperty(base + field.offset)
      if let fault = fault(of: field, declaredBy: constant, origin) { return faults.append(fault) }
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
        originProperty: originProperty(name, codec, base + field.offset),
        constantType: field.constant))
  }

  /// Why a property that is declared without a wrapper cannot be stored; nil when it can.
  private func fault(
    of field: StoredField, declaredBy constant: any _ConstantProperty.Type, _ origin: String?
  ) -> String? {
    let place = "Property '\(objectClass.className()).\(field.name)' of type '\(field.type)'"
    let wrapped = "'\(constant.wrapped(field.name, origin: origin))'"
    if usesWrappers && !constant.isStoredBesidePersisted {
      return "\(place) is not stored, because the class declares other properties by '@Persisted'. "
        + "Declare it as \(wrapped), or name it in `ignoredProperties()`."
    }
    if field.isVariable {
      return "\(place) has to be declared with 'let', because what is assigned to it would not be "
        + "stored; or declare it as \(wrapped)."
    }
    return nil
  }

  /// Notes when a class of the older style has a variable that looks as if it were stored: on other
  /// systems `@objc dynamic` makes it so.
  private mutating func checkPlain(_ field: StoredField) {
    if let inside = (field.type as? any OptionalProtocol.Type)?._wrappedType
      as? any _ConstantProperty.Type
    {
      // Such a variable of a class with wrappers is for what belongs to another object.
      if usesWrappers && field.isVariable && !field.isLazy { return }
      let reason = field.isLazy ? "it is lazy" : "it is optional"
      unstored.append(
        "Property '\(objectClass.className()).\(field.declaredName)' of type '\(inside)' is not "
          + "stored, because \(reason). Declare it as "
          + "'\(inside.wrapped(field.declaredName, origin: nil))', or name it in "
          + "`ignoredProperties()`.")
      return
    }
    if usesWrappers || !field.isVariable { return }
    if field.isLazy || !(field.type is any _Persistable.Type) { return }
    let type = declaredName(of: field.type)
    unstored.append(
      "Property '\(objectClass.className()).\(field.name)' of type '\(type)' is not stored. "
        + "Declare it as '@Persisted var \(field.name): \(type)', or name it in "
        + "`ignoredProperties()`.")
  }

  /// Notes what looks as if it were stored, and that the class stores nothing.
  private mutating func noteUnstored() {
    if !properties.isEmpty || !faults.isEmpty {
      faults += unstored
    } else {
      emptiness =
        [
          "No properties are defined for '\(objectClass.className())'. Did you remember to mark them "
            + "with '@Persisted' in your model?"
        ] + unstored
    }
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
