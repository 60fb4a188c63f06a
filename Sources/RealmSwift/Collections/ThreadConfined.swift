// What everything that belongs to a Realm has in common.

/// A value that belongs to a Realm and may only be used where the Realm may, unless it is frozen.
public protocol ThreadConfined {
  /// The Realm that the value belongs to.
  var realm: Realm? { get }
  /// Whether the value can no longer be used.
  var isInvalidated: Bool { get }
  /// Whether the value never changes and may be used from any thread.
  var isFrozen: Bool { get }
  /// The value as it is now, immutable and usable from any thread.
  func freeze() -> Self
  /// The live form of a frozen value, for the calling thread.
  func thaw() -> Self?
  /// What carries the value to other places; stops when it may not be carried.
  func _makeReference() -> _ValueReference
  /// The live value of a reference in a Realm; nil when it was deleted, or is of another file.
  static func _resolve(_ reference: _ValueReference, in realm: Realm) -> Self?
}

/// A class whose objects a Realm can be asked for.
public protocol RealmFetchable: RealmCollectionValue {
  /// The class's name.
  static func className() -> String
  /// The class of the objects that are fetched.
  static var _fetchedClass: ObjectBase.Type { get }
}

extension RealmFetchable where Self: ObjectBase {
  /// The class itself.
  public static var _fetchedClass: ObjectBase.Type { self }
}
