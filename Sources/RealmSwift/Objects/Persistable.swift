// The protocols of types that properties and collections can hold. Client code names some of them in
// constraints; what starts with an underscore is how the engine moves the values.
internal import Foundation

/// A type whose place in a schema is known.
public protocol _RealmSchemaDiscoverable {
  /// What sort of property it makes.
  static var _rlmType: PropertyType { get }
  /// Whether it may be nil.
  static var _rlmOptional: Bool { get }
}

/// A type that is stored as another one, or as itself.
public protocol _HasPersistedType {
  /// What is in the file.
  associatedtype PersistedType
}

/// A type that collections of a Realm can hold.
public protocol RealmCollectionValue: Hashable, _HasPersistedType {}

/// A type whose optional can also be held by collections.
public protocol _RealmCollectionValueInsideOptional: RealmCollectionValue {}

/// A type with a smallest and a largest value.
public protocol MinMaxType {}

/// A type whose values can be summed up.
public protocol AddableType {}

/// A type whose values can be put in order.
public protocol SortableType {}

/// A type that can identify objects.
public protocol _PrimaryKey {}

/// A type that an index can be made for.
public protocol _Indexable {}

/// A type that a `@Persisted` property can have.
public protocol _Persistable: _RealmSchemaDiscoverable, SendableMetatype {
  /// What a property holds that was never set.
  static func _defaultValue() -> Self
  /// Whether each object gets a default of its own, which has to be kept once it was seen.
  static var _isDefaultUnique: Bool { get }
  /// Reads a managed property.
  static func _get(_ object: ObjectBase, _ column: Int32) -> Self
  /// Writes a managed property.
  static func _set(_ object: ObjectBase, _ column: Int32, _ value: Self)
  /// Writes the value into a row.
  func _write(to row: inout _RowWriter, _ column: Int)
  /// The value without its type; nil for none.
  var _anyValue: Any? { get }
  /// The value of this type that an untyped one stands for; nil when there is none.
  static func _fromAny(_ value: Any?) -> Self?
  /// The value as a primary key.
  var _primaryKeyValue: _PrimaryKeyValue { get }
  /// The functions that move values of this type.
  static var _codec: _PropertyCodec { get }
}

extension _Persistable {
  /// One default for all objects.
  @inlinable
  public static var _isDefaultUnique: Bool { false }
}

/// A persistable type whose optional is persistable too.
public protocol _PersistableInsideOptional: _Persistable, Equatable {
  /// Reads a managed optional property.
  static func _getOptional(_ object: ObjectBase, _ column: Int32) -> Self?
  /// Writes a managed optional property.
  static func _setOptional(_ object: ObjectBase, _ column: Int32, _ value: Self?)
  /// Writes nil into a row.
  static func _writeNil(to row: inout _RowWriter, _ column: Int)
  /// The key that nil is.
  static var _nilKey: _PrimaryKeyValue { get }
  /// The functions that move optionals of this type.
  static var _optionalCodec: _PropertyCodec { get }
}

extension _PersistableInsideOptional {
  /// Not optional.
  public static var _rlmOptional: Bool { false }
  /// The value itself.
  public var _anyValue: Any? { self }
}

// MARK: - Optionals

/// Lets untyped code look into optionals.
public protocol OptionalProtocol {
  /// What the optional is of.
  associatedtype Wrapped
  /// The value without its type, or nil.
  var _untyped: Any? { get }
}

extension Optional: OptionalProtocol {
  /// The value without its type, or nil.
  public var _untyped: Any? { self.map { $0 as Any } }
}

extension Optional: _RealmSchemaDiscoverable where Wrapped: _RealmSchemaDiscoverable {
  /// The sort of the value inside.
  public static var _rlmType: PropertyType { Wrapped._rlmType }
  /// Optional.
  public static var _rlmOptional: Bool { true }
}

extension Optional: _Persistable where Wrapped: _PersistableInsideOptional {
  /// Nil.
  @inlinable
  public static func _defaultValue() -> Wrapped? { nil }
  /// Reads a managed property.
  @inlinable @inline(__always)
  public static func _get(_ object: ObjectBase, _ column: Int32) -> Wrapped? {
    Wrapped._getOptional(object, column)
  }
  /// Writes a managed property.
  @inlinable @inline(__always)
  public static func _set(_ object: ObjectBase, _ column: Int32, _ value: Wrapped?) {
    Wrapped._setOptional(object, column, value)
  }
  /// Writes the value into a row.
  public func _write(to row: inout _RowWriter, _ column: Int) {
    if let self { self._write(to: &row, column) } else { Wrapped._writeNil(to: &row, column) }
  }
  /// The value without its type; nil for none.
  public var _anyValue: Any? { self.map { $0 as Any } }
  /// The optional that an untyped value stands for.
  public static func _fromAny(_ value: Any?) -> Wrapped?? {
    guard let value else { return .some(nil) }
    guard let wrapped = Wrapped._fromAny(value) else { return nil }
    return .some(wrapped)
  }
  /// The value as a primary key.
  public var _primaryKeyValue: _PrimaryKeyValue {
    if let self { return self._primaryKeyValue }
    return Wrapped._nilKey
  }
  /// The functions that move values of this type.
  public static var _codec: _PropertyCodec { Wrapped._optionalCodec }
}

extension Optional: _HasPersistedType where Wrapped: _HasPersistedType {
  /// The optional of what is in the file.
  public typealias PersistedType = Wrapped.PersistedType?
}

extension Optional: RealmCollectionValue where Wrapped: _RealmCollectionValueInsideOptional {}
extension Optional: _PrimaryKey where Wrapped: _PrimaryKey {}
extension Optional: _Indexable where Wrapped: _Indexable {}

/// The value inside any number of optionals; nil for nil and `NSNull`.
func unwrapped(_ value: Any?) -> Any? {
  guard let value, !(value is NSNull) else { return nil }
  if let optional = value as? any OptionalProtocol { return unwrapped(optional._untyped) }
  return value
}
