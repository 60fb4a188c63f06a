// The class of objects that belong to one other object.

/// The superclass of classes whose objects live inside of others.
///
/// An embedded object is linked from exactly one object and is deleted with the link. It has no
/// primary key and cannot be added to a Realm by itself.
nonisolated open class EmbeddedObject: ObjectBase, ThreadConfined,
  _RealmCollectionValueInsideOptional
{
  /// Stored as a link.
  public typealias PersistedType = EmbeddedObject

  /// An object that belongs to no Realm.
  ///
  /// Overridden as `required init()`, as that of `Object` is.
  public required init() { super.init() }  // docs/coming-from-the-vendor.md: "required init()"

  /// An object that belongs to no Realm, with values from a dictionary by property name, an array
  /// in property order, or another object.
  ///
  /// Stops when a value does not fit its property.
  public convenience init(value: Any) {
    self.init()
    InputValues(value, for: ClassSchema.of(type(of: self))).assign(to: self)
  }

  /// Persisted properties that are not stored; plain properties never are.
  open class func ignoredProperties() -> [String] { [] }

  /// Properties with an index, of a class that does not declare them by `@Persisted(indexed:
  /// true)`.
  open class func indexedProperties() -> [String] { [] }

  /// Whether both are accessors of the same object of the same Realm.
  public final func isSameObject(as object: EmbeddedObject?) -> Bool {
    object.map { isAccessor(ofSameAs: $0) } ?? false
  }
}

/// An alias for programs that have an `EmbeddedObject` of their own.
public typealias RealmSwiftEmbeddedObject = EmbeddedObject
