// The class that clients derive theirs from.
internal import ObjectStore

/// The superclass of classes whose objects live in a Realm.
///
/// Declare properties with `@Persisted`. An object belongs to no Realm until it is added to one; from
/// then on it is live: it shows its Realm's current version, and may only be used where the Realm may.
open class Object: ObjectBase, ThreadConfined, RealmFetchable {
  /// Stored as a link.
  public typealias PersistedType = Object

  /// An object that belongs to no Realm.
  public required init() { super.init() }

  /// An object that belongs to no Realm, with values from a dictionary by property name, an array in
  /// property order, or another object.
  ///
  /// Stops when a value does not fit its property.
  public convenience init(value: Any) {
    self.init()
    let schema = ClassSchema.of(type(of: self))
    InputValues(value, for: schema).assign(to: self)
  }

  /// The Realm that the object belongs to.
  public final var realm: Realm? { _realm.map { Realm($0) } }

  /// The class's persisted properties.
  public final var objectSchema: ObjectSchema { ClassSchema.of(type(of: self)).publicForm }

  /// Whether the object never changes and may be used from any thread.
  public final var isFrozen: Bool { _realm?.isFrozen ?? false }

  /// The object as it is in the Realm's current version, immutable and usable from any thread.
  ///
  /// Stops when the object belongs to no Realm, was deleted, or was made in the running transaction.
  /// - Complexity: O(1).
  public final func freeze() -> Self {
    guard let realm = _realm, let table = _table else {
      misuse(.ownership, "Unmanaged objects cannot be frozen.")
    }
    if realm.isFrozen { return self }
    _ = requireLocation()
    let frozen = realm.frozen()
    let frozenTable = frozen.table(table.pointee.binding)
    guard let accessor = frozen.accessor(frozenTable, _key) else {
      misuse(
        .transaction,
        "Cannot freeze an object in the same write transaction as it was created in.")
    }
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
    let live = ConfinedRealm.thawOrStop(realm)
    let accessor = live.accessor(live.table(table.pointee.binding), _key)
    return accessor.map { unsafeDowncast($0, to: Self.self) }
  }

  /// Whether both are accessors of the same object of the same Realm.
  public final func isSameObject(as object: Object?) -> Bool {
    guard let object else { return false }
    if self === object { return true }
    return managedIdentity != nil && managedIdentity == object.managedIdentity
  }

  // MARK: - Key-value coding

  /// The value of a property by its name; stops when there is no such property.
  public final subscript(key: String) -> Any? {
    get { value(forKey: key) }
    set { setValue(newValue, forKey: key) }
  }

  /// The value of a property by its name; stops when there is no such property.
  public final func value(forKey key: String) -> Any? {
    let property = requireProperty(key)
    return property.codec.value(pointer(to: property), self)
  }

  /// Sets a property by its name.
  ///
  /// Stops when there is no such property, or the value does not fit it.
  public final func setValue(_ value: Any?, forKey key: String) {
    let property = requireProperty(key)
    if !property.codec.setValue(pointer(to: property), self, unwrapped(value)) {
      stopForValue(value, property, className: type(of: self).className())
    }
  }

  private func requireProperty(_ name: String) -> PropertyDescription {
    let schema = _table?.pointee.binding.schema ?? ClassSchema.of(type(of: self))
    if let index = schema.index(ofProperty: name) { return schema.properties[index] }
    misuse(.argument, "Invalid property name '\(name)' for class '\(type(of: self).className())'.")
  }
}

/// An alias for programs that have an `Object` of their own.
public typealias RealmSwiftObject = Object

extension ObjectBase {
  /// Where a property's wrapper lies.
  final func pointer(to property: PropertyDescription) -> UnsafeMutableRawPointer {
    Unmanaged.passUnretained(self).toOpaque() + property.offset
  }
}

extension ConfinedRealm {
  /// A new accessor of an object; nil when there is no such object.
  func accessor(_ table: TablePointer, _ key: ObjectKey) -> ObjectBase? {
    guard let location = reader(of: table)?.locate(key) else { return nil }
    return accessor(table, key, at: location)
  }

  /// A new accessor of an object whose place is known.
  @inline(__always)
  func accessor(_ table: TablePointer, _ key: ObjectKey, at location: RowLocation) -> ObjectBase {
    let object = table.pointee.objectClass.init()
    object.attach(table, key, at: location)
    return object
  }

  /// The live Realm of a frozen one; stops when it cannot be opened.
  static func thawOrStop(_ frozen: ConfinedRealm) -> ConfinedRealm {
    do { return try thaw(frozen) } catch {
      misuse(.storage, "The frozen value cannot be thawed: \(error)")
    }
  }
}
