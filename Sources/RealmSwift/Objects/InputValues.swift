// Values from outside, for `init(value:)` and `create`: a dictionary by property name, an array in
// property order, or another object. All are checked before the first is used.
internal import Foundation

/// The values given for some properties of a class.
struct InputValues {
  /// Positions of properties, in their order, and what was given for them.
  private(set) var given: [(property: Int, value: Any?)] = []
  private let schema: ClassSchema

  /// Whether the value is one of the forms.
  static func canHold(_ value: Any) -> Bool {
    if plain(value, [String: Any].self) != nil || plain(value, [Any].self) != nil { return true }
    if let instance = instance(value, of: AnyObject.self) {
      return instance is ObjectBase || instance is NSDictionary || instance is NSArray
    }
    return value is [AnyHashable: Any] || value is [Any]
  }

  /// Stops when the value is none of the forms, or a value does not fit its property.
  init(_ value: Any, for schema: ClassSchema) {
    self.schema = schema
    // Almost all are of this very type; as one of another type each entry would be copied.
    if let dictionary = plain(value, [String: Any].self) {
      read(dictionary)
    } else if let array = plain(value, [Any].self) {
      read(array)
    } else {
      read(value)
    }
    for (index, value) in given where !schema.properties[index].codec.accepts(value) {
      stopForValue(value, schema.properties[index], className: schema.name)
    }
  }

  private mutating func read(_ value: Any) {
    let value = unwrapped(value)
    if let object = value.flatMap({ objectValue($0) }) { return read(object) }
    if let dictionary = instance(value, of: NSDictionary.self) {
      return read(dictionary as? [AnyHashable: Any] ?? [:])
    }
    if let array = instance(value, of: NSArray.self) { return read(array.map { $0 }) }
    switch value {
    case let dictionary as [AnyHashable: Any]: read(dictionary)
    case let array as [Any]: read(array)
    default:
      misuse(
        .argument,
        "Invalid value '\(ValueText.of(value))' to initialize object of type '\(schema.name)': give a "
          + "dictionary, an array or an object.")
    }
  }

  private mutating func read(_ object: ObjectBase) {
    let source = object.classSchema
    for (index, property) in schema.properties.enumerated() {
      guard !property.isComputed, let match = source.index(ofProperty: property.name) else {
        continue
      }
      let other = source.properties[match]
      given.append((index, other.codec.value(object.pointer(to: other), object)))
    }
  }

  private mutating func read(_ dictionary: [String: Any]) {
    given.reserveCapacity(min(dictionary.count, schema.properties.count))
    for (index, property) in schema.properties.enumerated() where !property.isComputed {
      if let value = value(of: property, { dictionary[$0] }) {
        given.append((index, unwrapped(value)))
      }
    }
  }

  private mutating func read(_ dictionary: [AnyHashable: Any]) {
    for (index, property) in schema.properties.enumerated() where !property.isComputed {
      if let value = value(of: property, { dictionary[$0] }) {
        given.append((index, unwrapped(value)))
      }
    }
  }

  /// The value under a property's name, or under its stored name, unless that is another one's.
  @inline(__always)
  private func value(of property: PropertyDescription, _ named: (String) -> Any?) -> Any? {
    if let value = named(property.name) { return value }
    let stored = property.columnName
    if stored == property.name || schema.properties.contains(where: { $0.name == stored }) {
      return nil
    }
    return named(stored)
  }

  private mutating func read(_ array: [Any]) {
    // Linking objects have no place among the values.
    let positions = schema.properties.indices.filter { !schema.properties[$0].isComputed }
    if array.count > positions.count {
      misuse(
        .argument,
        "Invalid array input: more values (\(array.count)) than properties (\(positions.count)).")
    }
    given = zip(positions, array).map { ($0, unwrapped($1)) }
  }

  /// Reads all that is inside of collections and embedded objects of a Realm now: what is written
  /// first may be what others would be read from.
  mutating func readContents() {
    for index in given.indices { given[index].value = Self.content(given[index].value) }
  }

  /// So deep can embedded objects and collections be inside of each other where they are copied.
  private static let depthMax = 1_000

  private static func checkDepth(_ depth: Int) {
    if depth <= depthMax { return NestedValues.requireRoom(depth) }
    misuse(
      .argument,
      "Embedded objects and collections can be copied at most \(depthMax) deep inside of each other."
    )
  }

  /// The value with arrays and dictionaries for collections and embedded objects of a Realm.
  ///
  /// - Parameter depth: how many others it is inside of.
  private static func content(_ value: Any?, inside depth: Int = 0) -> Any? {
    if isPlain(value) { return value }
    checkDepth(depth)
    func inner(_ value: Any?) -> Any? { content(value, inside: depth + 1) }
    if let object = value.flatMap({ objectValue($0) }) {
      // The object itself, unless it lives inside of another one.
      guard object._realm != nil, object.classSchema.isEmbedded else { return object }
      var values: [String: Any] = [:]
      for property in object.classSchema.properties where !property.isComputed {
        let value = property.codec.value(object.pointer(to: property), object)
        values[property.name] = inner(value) ?? NSNull()
      }
      return values
    }
    switch value {
    case let mixed as AnyRealmValue:
      switch mixed {
      case .list(let list): return list._untypedElements.map(inner)
      case .dictionary(let map): return map._untypedEntries.mapValues(inner)
      default: return mixed
      }
    case let collection as any _UntypedElements: return collection._untypedElements.map(inner)
    case let map as any _UntypedEntries: return map._untypedEntries.mapValues(inner)
    case let array as [Any]: return array.map { inner($0) }
    case let dictionary as [String: Any]: return dictionary.mapValues { inner($0) ?? NSNull() }
    // Such as a lazy map, which would be read when what it reads is empty already.
    case is any Collection: return untypedElements(value)?.map(inner) ?? value
    default: return value
    }
  }

  /// What was given for a property; nil when nothing was.
  subscript(property: Int) -> Any?? {
    given.first { $0.property == property }.map { $0.value }
  }

  /// Sets the given properties of an object.
  ///
  /// - Parameter depth: how many others it is inside of.
  func assign(to object: ObjectBase, inside depth: Int = 0) {
    for (index, value) in given {
      let property = schema.properties[index]
      let value = Self.detached(value, inside: depth)
      _ = property.codec.setValue(object.pointer(to: property), object, value)
    }
  }

  /// The value for an object that belongs to no Realm: embedded objects are copied, links are not.
  private static func detached(_ value: Any?, inside depth: Int) -> Any? {
    if let object = instance(value, of: EmbeddedObject.self), object._realm != nil {
      checkDepth(depth)
      let copy = type(of: object).init()
      InputValues(object, for: ClassSchema.of(type(of: object)))
        .assign(to: copy, inside: depth + 1)
      return copy
    }
    switch value {
    case let collection as any _UntypedElements:
      return collection._untypedElements.map { detached($0, inside: depth) }
    case let map as any _UntypedEntries:
      return map._untypedEntries.mapValues { detached($0, inside: depth) }
    default: return value
    }
  }
}

/// Stops because a value does not fit its property.
func stopForValue(_ value: Any?, _ property: PropertyDescription, className: String) -> Never {
  let type = property.valueName
  guard let value = unwrapped(value) else {
    misuse(
      .argument,
      "Invalid value 'nil' for \(type) property '\(className).\(property.name)'.")
  }
  if let custom = property.codec.declaredType.flatMap({ customType($0) }) {
    misuse(.argument, "Could not convert value '\(ValueText.of(value))' to type '\(custom)'.")
  }
  misuse(
    .argument,
    "Invalid value '\(ValueText.of(value))' of type '\(Swift.type(of: value))' for \(type) "
      + "property '\(className).\(property.name)'.")
}

extension PropertyDescription {
  /// What it holds, for messages: type or class, and kind of collection.
  fileprivate var valueName: String {
    let name = "'\(objectClassName ?? "\(codec.type)")\(codec.isOptional ? "?" : "")'"
    switch codec.collection {
    case .none: return name
    case .list: return "\(name) array"
    case .set: return "\(name) set"
    case .map: return "\(name) dictionary"
    }
  }
}

/// The client's own type, which may be inside of an optional; nil for the engine's types.
private func customType(_ type: Any.Type) -> Any.Type? {
  if let optional = type as? any OptionalProtocol.Type { return customType(optional._wrappedType) }
  return type is any _CustomPersistable.Type ? type : nil
}
