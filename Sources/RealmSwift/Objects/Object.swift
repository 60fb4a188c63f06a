// The class that clients derive theirs from.
internal import Foundation
internal import ObjectStore
internal import Platform

/// The superclass of classes whose objects live in a Realm.
///
/// Declare properties with `@Persisted`. An object belongs to no Realm until it is added to one;
/// from then on it is live: it shows its Realm's current version, and may only be used where the
/// Realm may.
nonisolated open class Object: ObjectBase, ThreadConfined, RealmFetchable,
  _RealmCollectionValueInsideOptional
{
  /// Stored as a link.
  public typealias PersistedType = Object

  /// An object that belongs to no Realm.
  ///
  /// Overridden as `required init()`; docs/coming-from-the-vendor.md says why, and what differs.
  public required init() { super.init() }  // docs/coming-from-the-vendor.md: "required init()"

  /// An object that belongs to no Realm, with values from a dictionary by property name, an array
  /// in property order, or another object.
  ///
  /// Stops when a value does not fit its property.
  public convenience init(value: Any) {
    self.init()
    let schema = ClassSchema.of(type(of: self))
    InputValues(value, for: schema).assign(to: self)
  }

  // MARK: - Declarations by name

  /// The property that identifies objects, of a class that does not declare it by
  /// `@Persisted(primaryKey: true)`.
  open class func primaryKey() -> String? { nil }

  /// Persisted properties that are not stored; plain properties never are.
  open class func ignoredProperties() -> [String] { [] }

  /// Properties with an index, of a class that does not declare them by `@Persisted(indexed:
  /// true)`.
  open class func indexedProperties() -> [String] { [] }

  /// Whether both are accessors of the same object of the same Realm.
  public final func isSameObject(as object: Object?) -> Bool {
    object.map { isAccessor(ofSameAs: $0) } ?? false
  }
}

/// An alias for programs that have an `Object` of their own.
public typealias RealmSwiftObject = Object

extension ObjectBase {
  /// Where a property's wrapper lies.
  final func pointer(to property: PropertyDescription) -> UnsafeMutableRawPointer {
    Unmanaged.passUnretained(self).toOpaque() + property.offset
  }

  /// The same for the property at a position.
  final func pointer(to schema: ClassSchema, _ index: Int) -> UnsafeMutableRawPointer {
    Unmanaged.passUnretained(self).toOpaque() + schema.properties[index].offset
  }
}

extension ConfinedRealm {
  /// A new accessor of an object; nil when there is no such object.
  func accessor(_ table: TablePointer, _ key: ObjectKey) -> ObjectBase? {
    guard let location = locate(table, key) else { return nil }
    return accessor(table, key, at: location)
  }

  /// Where an object is; nil when it is not there.
  @inline(__always)
  func locate(_ table: TablePointer, _ key: ObjectKey) -> RowLocation? {
    if _slowPath(table.pointee.isStale) { renewReader(of: table) }
    return table.pointee.reader?.locate(key)
  }

  /// A new accessor of an object whose place is known.
  @inline(__always)
  func accessor(_ table: TablePointer, _ key: ObjectKey, at location: RowLocation) -> ObjectBase {
    noteObject()
    guard _fastPath(table.pointee.image != nil) else {
      let object = table.pointee.objectClass.init()
      // Before the collections of an older class become managed, which look where the row is.
      object.identify(table, key)
      object.settle(at: location, generation: table.pointee.generation)
      object.attach(table, key)
      return object
    }
    // The image is of an instance of the class. Taken as an object only when it is whole: else it
    // would be retained and released in between.
    let made = Unmanaged<ObjectBase>.fromOpaque(table.pointee.image.unsafelyUnwrapped.make())
    made._withUnsafeGuaranteedRef { object in
      object.identifyCopy(table, key)
      object.settle(at: location, generation: table.pointee.generation)
    }
    return made.takeRetainedValue()
  }

  /// The live Realm of a frozen one; stops when it cannot be opened.
  static func thawOrStop(_ frozen: ConfinedRealm) -> ConfinedRealm {
    if let realm = receiver(of: frozen) { return realm }
    do {
      let realm = try here(like: frozen)
      // Who has it may compare it with the frozen one: it goes on from there.
      realm.isUntouched = false
      return realm
    } catch {
      misuse(.storage, "The frozen value cannot be thawed: \(error.localizedDescription)")
    }
  }
}
