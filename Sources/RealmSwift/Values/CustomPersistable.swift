// The client's own types as values of properties and collections: stored as another type, to which
// everything is delegated.
internal import Foundation

/// What `CustomPersistable` and `FailableCustomPersistable` share.
public protocol _CustomPersistable: _PersistableInsideOptional, _RealmCollectionValueInsideOptional
where PersistedType: _PersistableInsideOptional & RealmCollectionValue {
  /// What is stored for the value.
  var persistableValue: PersistedType { get }
  /// The value of what is stored; nil when there is none.
  static func _make(persistedValue: PersistedType) -> Self?
}

/// A type of the client's that is stored as another type.
///
/// The other type is any that a property can hold, a subclass of `EmbeddedObject` too.
///
///     struct Celsius: CustomPersistable {
///       var degrees: Double
///       init(persistedValue: Double) { degrees = persistedValue }
///       var persistableValue: Double { degrees }
///     }
///
/// Two values are equal when what is stored for them is, unless the type says otherwise.
public protocol CustomPersistable: _CustomPersistable {
  /// The type that is stored.
  associatedtype PersistedType
  /// The value of what is stored.
  init(persistedValue: PersistedType)
}

/// A type of the client's that is stored as another type, not all of whose values stand for one.
///
/// An optional property reads as nil where the stored value stands for none; one that is not
/// optional stops.
public protocol FailableCustomPersistable: _CustomPersistable {
  /// The type that is stored.
  associatedtype PersistedType
  /// The value of what is stored; nil when there is none.
  init?(persistedValue: PersistedType)
}

extension CustomPersistable {
  /// The value of what is stored.
  @inlinable
  public static func _make(persistedValue: PersistedType) -> Self? {
    Self(persistedValue: persistedValue)
  }
}

extension FailableCustomPersistable {
  /// The value of what is stored; nil when there is none.
  @inlinable
  public static func _make(persistedValue: PersistedType) -> Self? {
    Self(persistedValue: persistedValue)
  }
}

// MARK: - Storing

extension _CustomPersistable {
  @inlinable
  static func _require(_ persistedValue: PersistedType) -> Self {
    if let value = _make(persistedValue: persistedValue) { return value }
    stopForPersistedValue(persistedValue, Self.self)
  }

  /// What the stored type is.
  public static var _rlmType: PropertyType { PersistedType._rlmType }
  /// Links may always lead nowhere.
  public static var _rlmOptional: Bool { PersistedType._rlmObjectClass != nil }
  /// The class of the stored object.
  public static var _rlmObjectClass: ObjectBase.Type? { PersistedType._rlmObjectClass }
  /// Whether the stored type's default has to be kept.
  @inlinable
  public static var _keepsDefault: Bool { PersistedType._keepsDefault }
  /// The value of the stored type's default; stops when it stands for none.
  public static func _defaultValue() -> Self {
    if let value = _make(persistedValue: PersistedType._defaultValue()) { return value }
    misuse(
      .argument,
      "A property of type '\(Self.self)' has no default: the default of what is stored for it stands "
        + "for no value of the type. Declare one, as in `@Persisted var name = \(Self.self)(...)`, or "
        + "make the property optional.")
  }

  /// Reads a managed property; stops when the stored value stands for none.
  @inlinable @inline(__always)
  public static func _get(_ object: ObjectBase, _ column: Int32) -> Self {
    _require(PersistedType._get(object, column))
  }

  /// What is stored in a managed property, also where it stands for no value.
  public static func _getAny(_ object: ObjectBase, _ column: Int32) -> Any? {
    // Of an object every value is its own: what is stored lives inside of its owner.
    if PersistedType._rlmObjectClass != nil { return _get(object, column)._anyValue }
    return PersistedType._getAny(object, column)
  }

  /// Writes a managed property.
  @inlinable @inline(__always)
  public static func _set(_ object: ObjectBase, _ column: Int32, _ value: Self) {
    PersistedType._set(object, column, value.persistableValue)
  }

  /// Reads a managed optional property; nil too when the stored value stands for none.
  @inlinable @inline(__always)
  public static func _getOptional(_ object: ObjectBase, _ column: Int32) -> Self? {
    PersistedType._getOptional(object, column).flatMap { _make(persistedValue: $0) }
  }

  /// Writes a managed optional property.
  @inlinable @inline(__always)
  public static func _setOptional(_ object: ObjectBase, _ column: Int32, _ value: Self?) {
    PersistedType._setOptional(object, column, value?.persistableValue)
  }

  /// Writes what is stored into a row.
  public func _write(to row: inout _RowWriter, _ column: Int) {
    persistableValue._write(to: &row, column)
  }

  /// Writes nil into a row.
  public static func _writeNil(to row: inout _RowWriter, _ column: Int) {
    PersistedType._writeNil(to: &row, column)
  }

  /// What is stored.
  public var _anyValue: Any? { persistableValue._anyValue }

  /// The value itself.
  public var _namedValue: Any? { self }

  /// The value that an untyped one is, or that is stored as it; of nil, where an object is stored,
  /// the value of a new one: links may always lead nowhere.
  public static func _fromAny(_ value: Any?) -> Self? {
    if let value = value as? Self { return value }
    if value == nil && _rlmOptional { return _make(persistedValue: PersistedType._defaultValue()) }
    return PersistedType._fromAny(value).flatMap { _make(persistedValue: $0) }
  }

  /// What is stored, as a primary key.
  public var _primaryKeyValue: _PrimaryKeyValue { persistableValue._primaryKeyValue }
  /// The key that nil is.
  public static var _nilKey: _PrimaryKeyValue { PersistedType._nilKey }
  /// The functions that move values of this type.
  public static var _codec: _PropertyCodec { .make(Self.self) }
  /// The functions that move optionals of this type.
  public static var _optionalCodec: _PropertyCodec { .make(Self?.self) }

  /// Reads an element of a managed collection; stops when the stored value stands for none.
  public static func _readElement(_ source: _ElementSource, _ position: Int) -> Self {
    // A map of optional objects that became one of this type can hold nil.
    if _rlmOptional, source.isNull(position) {
      stopForPersistedValue(Optional<PersistedType>.none as Any, Self.self)
    }
    return _require(PersistedType._readElement(source, position))
  }

  /// Reads an element of a managed collection of optionals; nil when the stored value stands for
  /// none.
  public static func _readOptionalElement(_ source: _ElementSource, _ position: Int) -> Self? {
    PersistedType._readOptionalElement(source, position).flatMap { _make(persistedValue: $0) }
  }

  /// Gives what is stored to a managed collection.
  public func _writeElement(to sink: _ElementSink) { persistableValue._writeElement(to: sink) }
}

// MARK: - Equality

extension _CustomPersistable where PersistedType: _RealmCollectionValueInsideOptional {
  /// Whether the same is stored for both.
  public static func == (left: Self, right: Self) -> Bool {
    left.persistableValue == right.persistableValue
  }

  /// Hashes what is stored.
  public func hash(into hasher: inout Hasher) { hasher.combine(persistableValue) }
}

extension _CustomPersistable where PersistedType: ObjectBase {
  /// Whether the objects that are stored for both have equal values.
  public static func == (left: Self, right: Self) -> Bool {
    left.persistableValue.comparableValues == right.persistableValue.comparableValues
  }

  /// Hashes the values of the object that is stored.
  public func hash(into hasher: inout Hasher) { hasher.combine(persistableValue.comparableValues) }
}

extension ObjectBase {
  /// The values of all properties; nil, and what cannot be compared, as `NSNull`.
  fileprivate var comparableValues: [AnyHashable] {
    ClassSchema.of(type(of: self)).properties.map { property in
      property.codec.value(pointer(to: property), self) as? AnyHashable ?? AnyHashable(NSNull())
    }
  }
}
