// The protocols of types that properties and collections can hold. Client code names some of them
// in constraints; what starts with an underscore is how the engine moves the values.
internal import Foundation

/// A type whose place in a schema is known.
public protocol _RealmSchemaDiscoverable {
  /// What sort of property it makes.
  static var _rlmType: PropertyType { get }
  /// Whether it may be nil; of a collection whether its elements may be.
  static var _rlmOptional: Bool { get }
  /// Whether it is a collection, and of what kind.
  static var _rlmCollection: _CollectionKind { get }
  /// The class that a link, or a collection of links, leads to.
  static var _rlmObjectClass: ObjectBase.Type? { get }
}

extension _RealmSchemaDiscoverable {
  /// No collection.
  @inlinable
  public static var _rlmCollection: _CollectionKind { .none }
  /// No link.
  public static var _rlmObjectClass: ObjectBase.Type? { nil }
}

/// What holds the values of a property.
@frozen
public enum _CollectionKind: UInt8, Sendable {
  /// The property itself: there is one value.
  case none
  /// A list.
  case list
  /// A set.
  case set
  /// A map from texts.
  case map
}

/// A type that is stored as another one, or as itself.
public protocol _HasPersistedType {
  /// What is in the file.
  associatedtype PersistedType
}

/// A type that collections of a Realm can hold.
public protocol RealmCollectionValue: Hashable, _HasPersistedType, _RealmSchemaDiscoverable,
  SendableMetatype
{
  /// Reads an element of a managed collection.
  static func _readElement(_ source: _ElementSource, _ position: Int) -> Self
  /// Reads an element, that is not null, of a managed collection of optionals of this type; nil for
  /// what stands for no value of the type.
  static func _readOptionalElement(_ source: _ElementSource, _ position: Int) -> Self?
  /// Gives the value to a managed collection.
  func _writeElement(to sink: _ElementSink)
  /// The value of this type that an untyped one stands for; nil when there is none.
  static func _elementFromAny(_ value: Any?) -> Self?
  /// The value without its type; nil for none.
  var _anyElement: Any? { get }
  /// The value of a type that is stored as integers; nil when it goes through `_writeElement`.
  var _packedElement: Int64? { get }
}

extension RealmCollectionValue {
  /// Whether values in memory may be the last references to others.
  static var _holdsReferences: Bool { _rlmType == .object || _rlmType == .any }

  /// None: the value goes through `_writeElement`.
  @inlinable @inline(__always)
  public var _packedElement: Int64? { nil }

  /// As of a collection of values that are not optional: all that is stored stands for one.
  @inlinable @inline(__always)
  public static func _readOptionalElement(_ source: _ElementSource, _ position: Int) -> Self? {
    _readElement(source, position)
  }
}

extension RealmCollectionValue where Self: _Persistable {
  /// The value of this type that an untyped one stands for; nil when there is none.
  public static func _elementFromAny(_ value: Any?) -> Self? { _fromAny(value) }
  /// The value without its type; nil for none.
  public var _anyElement: Any? { _anyValue }
}

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
  /// Reads a managed property.
  static func _get(_ object: ObjectBase, _ column: Int32) -> Self
  /// Reads a managed property, without its type, as `_anyValue` gives it; also what is stored and
  /// stands for no value of this type.
  static func _getAny(_ object: ObjectBase, _ column: Int32) -> Any?
  /// Writes a managed property.
  static func _set(_ object: ObjectBase, _ column: Int32, _ value: Self)
  /// Writes the value into a row.
  func _write(to row: inout _RowWriter, _ column: Int)
  /// The value without its type, enumerations and own types as what is stored for them; nil for
  /// none.
  var _anyValue: Any? { get }
  /// The value without its type, as access by name gives it; nil for none.
  var _namedValue: Any? { get }
  /// The value of this type that an untyped one stands for; nil when there is none.
  static func _fromAny(_ value: Any?) -> Self?
  /// The value as a primary key.
  var _primaryKeyValue: _PrimaryKeyValue { get }
  /// Gives the value as a primary key to `body`, without a copy of its bytes.
  func _withPrimaryKey(_ body: (_PrimaryKeyView) -> Void)
  /// The functions that move values of this type.
  static var _codec: _PropertyCodec { get }
  /// Whether the default is made once an object and then kept: it is not the same each time, or it
  /// changes in place.
  static var _keepsDefault: Bool { get }
  /// Whether an untyped value stands for one of this type.
  static func _accepts(_ value: Any?) -> Bool
  /// Writes what an untyped value stands for into a row; false when it has the wrong type.
  static func _storeAny(_ value: Any?, to row: inout _RowWriter, _ column: Int) -> Bool
  /// The unmanaged value now lives in this column of an object.
  func _becomeManaged(_ object: ObjectBase, _ column: Int32)
  /// Takes over the content of another value, where the property keeps its value and only that
  /// changes.
  func _takeContent(of other: Self) -> Bool
}

extension _Persistable {
  /// All that is stored stands for a value.
  public static func _getAny(_ object: ObjectBase, _ column: Int32) -> Any? {
    _get(object, column)._anyValue
  }
  /// The same as what is stored.
  public var _namedValue: Any? { _anyValue }
  /// Made anew each time.
  @inlinable
  public static var _keepsDefault: Bool { false }
  /// Whether `_fromAny` gives a value.
  public static func _accepts(_ value: Any?) -> Bool { _fromAny(value) != nil }
  /// Writes what `_fromAny` gives.
  public static func _storeAny(_ value: Any?, to row: inout _RowWriter, _ column: Int) -> Bool {
    guard let value = _fromAny(value) else { return false }
    value._write(to: &row, column)
    return true
  }
  /// A plain value stays what it is.
  public func _becomeManaged(_ object: ObjectBase, _ column: Int32) {}
  /// A plain value is replaced.
  @inlinable
  public func _takeContent(of other: Self) -> Bool { false }
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
  /// Whether an untyped value, that is not nil, stands for one of this type.
  static func _acceptsInside(_ value: Any) -> Bool
  /// Writes what an untyped value, that is not nil, stands for; false when it has the wrong type.
  static func _storeAnyInside(_ value: Any, to row: inout _RowWriter, _ column: Int) -> Bool
}

extension _PersistableInsideOptional {
  /// Whether `_fromAny` gives a value.
  public static func _acceptsInside(_ value: Any) -> Bool { _fromAny(value) != nil }
  /// Writes what `_fromAny` gives.
  public static func _storeAnyInside(
    _ value: Any, to row: inout _RowWriter, _ column: Int
  ) -> Bool {
    guard let value = _fromAny(value) else { return false }
    value._write(to: &row, column)
    return true
  }
  /// Not optional.
  public static var _rlmOptional: Bool { false }
  /// The value itself.
  public var _anyValue: Any? { self }
}

// MARK: - Optionals

/// Lets untyped code look into what only holds another value: optionals, boxes of properties.
public protocol _UntypedHolder {
  /// The value without its type, or nil.
  var _untyped: Any? { get }
}

/// Lets untyped code look into optionals.
public protocol OptionalProtocol: _UntypedHolder {
  /// What the optional is of.
  associatedtype Wrapped
}

extension OptionalProtocol {
  /// What the optional is of.
  static var _wrappedType: Any.Type { Wrapped.self }
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
  /// The class that the link inside leads to.
  public static var _rlmObjectClass: ObjectBase.Type? { Wrapped._rlmObjectClass }
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
  public var _anyValue: Any? { flatMap { $0._anyValue } }
  /// The value without its type, as access by name gives it; nil for none.
  public var _namedValue: Any? { flatMap { $0._namedValue } }
  /// The optional that an untyped value stands for.
  public static func _fromAny(_ value: Any?) -> Wrapped?? {
    guard let value else { return .some(nil) }
    guard let wrapped = Wrapped._fromAny(value) else {
      return isMixedNone(value) ? .some(nil) : nil
    }
    return .some(wrapped)
  }
  /// The value as a primary key.
  public var _primaryKeyValue: _PrimaryKeyValue {
    if let self { return self._primaryKeyValue }
    return Wrapped._nilKey
  }
  /// Gives the value as a primary key to `body`, without a copy of its bytes.
  public func _withPrimaryKey(_ body: (_PrimaryKeyView) -> Void) {
    if let self { return self._withPrimaryKey(body) }
    Wrapped._nilKey.withView(body)
  }
  /// The functions that move values of this type.
  public static var _codec: _PropertyCodec { Wrapped._optionalCodec }
  /// Whether an untyped value stands for an optional of this type.
  public static func _accepts(_ value: Any?) -> Bool {
    value.map { Wrapped._acceptsInside($0) || isMixedNone($0) } ?? true
  }
  /// Writes what an untyped value stands for into a row.
  public static func _storeAny(_ value: Any?, to row: inout _RowWriter, _ column: Int) -> Bool {
    if let value {
      if Wrapped._storeAnyInside(value, to: &row, column) { return true }
      if !isMixedNone(value) { return false }
    }
    Wrapped._writeNil(to: &row, column)
    return true
  }
}

extension Optional: _HasPersistedType where Wrapped: _HasPersistedType {
  /// The optional of what is in the file.
  public typealias PersistedType = Wrapped.PersistedType?
}

extension Optional: RealmCollectionValue where Wrapped: _RealmCollectionValueInsideOptional {
  /// Reads an element of a managed collection; nil too for what stands for no value of the type
  /// inside.
  public static func _readElement(_ source: _ElementSource, _ position: Int) -> Wrapped? {
    source.isNull(position) ? nil : Wrapped._readOptionalElement(source, position)
  }
  /// Gives the value to a managed collection.
  public func _writeElement(to sink: _ElementSink) {
    if let self { self._writeElement(to: sink) } else { sink.null() }
  }
  /// The optional that an untyped value stands for.
  public static func _elementFromAny(_ value: Any?) -> Wrapped?? {
    guard let value else { return .some(nil) }
    if isMixedNone(value) { return .some(nil) }
    return Wrapped._elementFromAny(value).map { .some($0) }
  }
  /// The value without its type; nil for none.
  public var _anyElement: Any? { flatMap { $0._anyElement } }
}

extension Optional: _PrimaryKey where Wrapped: _PrimaryKey {}
extension Optional: _Indexable where Wrapped: _Indexable {}
