// What objects that live in a Realm have in common, whether they stand for themselves or are
// embedded: their Realm, their frozen and live forms, and access to properties by name.
internal import Foundation
internal import ObjectStore

extension ObjectBase {
  /// The Realm that the object belongs to.
  public final var realm: Realm? { _realm.map { Realm($0) } }

  /// The class's persisted properties.
  public final var objectSchema: ObjectSchema { classSchema.publicForm }

  /// Stops unless the managed object can be read here.
  final func requireReadable() { _ = requireLocation() }

  /// Whether the object never changes and may be used from any thread.
  public final var isFrozen: Bool { _realm?.isFrozen ?? false }

  /// The object as it is in the Realm's current version, immutable and usable from any thread.
  ///
  /// Stops when the object belongs to no Realm, was deleted, or was made in the running
  /// transaction.
  /// - Complexity: O(1).
  public final func freeze() -> Self {
    guard let table = _table else {
      misuse(.ownership, "Unmanaged objects cannot be frozen.")
    }
    let (isFrozen, isHidden) = table.pointee.withRealm { ($0.isFrozen, $0.freezesHidden) }
    if isFrozen { return self }
    let (frozen, location) = ConfinedRealm.freeze(
      table, _key, at: requireLocation(), isHidden: isHidden)
    let accessor = frozen.pointee.withRealm { $0.accessor(frozen, _key, at: location) }
    return unsafeDowncast(accessor, to: Self.self)
  }

  /// The live object of a frozen one, for the calling thread; nil when it was deleted meanwhile.
  ///
  /// A live object is returned itself.
  /// Stops when the object belongs to no Realm.
  public final func thaw() -> Self? {
    guard let realm = _realm, let table = _table else {
      misuse(.ownership, "Unmanaged objects cannot be thawed.")
    }
    realm.check()
    guard realm.isFrozen else { return self }
    // Of a version that never came to be there is no object, though there may be another of its
    // key.
    if realm.isLost { return nil }
    let live = ConfinedRealm.thawOrStop(realm)
    let accessor = live.accessor(live.table(like: table), _key)
    return accessor.map { unsafeDowncast($0, to: Self.self) }
  }

  // MARK: - Key-value coding

  /// The value of a property by its name; stops when there is no such property.
  public final subscript(key: String) -> Any? {
    get { value(forKey: key) }
    set { setValue(newValue, forKey: key) }
  }

  /// The value of a property by its name; stops when there is no such property.
  public final func value(forKey key: String) -> Any? {
    withClassSchema { schema in
      let index = requireProperty(key, of: schema)
      return schema.properties[index].codec.namedValue(pointer(to: schema, index), self)
    }
  }

  /// Sets a property by its name.
  ///
  /// Stops when there is no such property, or the value does not fit it.
  public final func setValue(_ value: Any?, forKey key: String) {
    withClassSchema { schema in
      let index = requireProperty(key, of: schema)
      let setValue = schema.properties[index].codec.setValue
      let isSet =
        isPlain(value)
        ? setValue(pointer(to: schema, index), self, value)
        : setValue(pointer(to: schema, index), self, unwrapped(value))
      if !isSet {
        if _table != nil { requireReadable() }
        stopForValue(value, schema.properties[index], className: schema.name)
      }
    }
  }

  /// What is known of a property; nil when there is none of the name.
  final func property(named name: String) -> PropertyDescription? {
    withClassSchema { schema in schema.index(ofProperty: name).map { schema.properties[$0] } }
  }

  /// Runs `body` on the object's properties, of a managed object without counting references.
  @inline(__always)
  private final func withClassSchema<Result>(_ body: (ClassSchema) -> Result) -> Result {
    guard let table = _table else { return body(ClassSchema.of(type(of: self))) }
    // The object keeps its Realm, and that keeps all forms of its classes.
    return table.pointee.unmanagedSchema._withUnsafeGuaranteedRef(body)
  }

  /// The value at the end of a path of property names, such as "owner.name"; nil when a link on the
  /// way leads nowhere.
  ///
  /// Stops when a property does not exist, or something on the way is no object.
  public final func value(forKeyPath keyPath: String) -> Any? {
    let (first, rest) = Self.split(keyPath)
    let value = value(forKey: first)
    guard let rest else { return value }
    switch unwrapped(value) {
    case nil: return nil
    case let object as ObjectBase: return object.value(forKeyPath: rest)
    case let collection as any _KeyPathReadable: return collection._value(forKeyPath: rest)
    default: stopForKeyPath(keyPath, first)
    }
  }

  /// Sets the property at the end of a path of property names.
  ///
  /// Stops as `setValue(_:forKey:)` does, and when a link on the way leads nowhere.
  public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
    let (first, rest) = Self.split(keyPath)
    guard let rest else { return setValue(value, forKey: first) }
    guard let object = unwrapped(self.value(forKey: first)) as? ObjectBase else {
      stopForKeyPath(keyPath, first)
    }
    object.setValue(value, forKeyPath: rest)
  }

  /// The values of properties by their names; `NSNull` for nil.
  ///
  /// Stops when there is no such property.
  public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    var values: [String: Any] = [:]
    for key in keys { values[key] = unwrapped(value(forKey: key)) ?? NSNull() }
    return values
  }

  /// Sets properties by their names.
  ///
  /// Stops as `setValue(_:forKey:)` does.
  public final func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues { setValue(value, forKey: key) }
  }

  private static func split(_ keyPath: String) -> (first: String, rest: String?) {
    guard let dot = keyPath.firstIndex(of: ".") else { return (keyPath, nil) }
    return (String(keyPath[..<dot]), String(keyPath[keyPath.index(after: dot)...]))
  }

  private func stopForKeyPath(_ keyPath: String, _ name: String) -> Never {
    misuse(
      .argument,
      "Invalid key path '\(keyPath)' for class '\(type(of: self).className())': '\(name)' leads to "
        + "no object.")
  }

  /// - Returns: its position, not its description: to copy that takes longer than to move a value.
  private final func requireProperty(_ name: String, of schema: ClassSchema) -> Int {
    if let index = schema.index(ofProperty: name) { return index }
    _realm?.check()
    let className = schema.isDynamic ? schema.name : type(of: self).className()
    misuse(.argument, "Invalid property name '\(name)' for class '\(className)'.")
  }
}

/// A collection whose elements' properties untyped code can read.
protocol _KeyPathReadable {
  /// The values at the end of a path from each element, or what an operator makes of them.
  func _value(forKeyPath keyPath: String) -> Any?
}
