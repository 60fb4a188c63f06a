// Enums as values of properties and collections: stored as their raw values.

/// An enum that a Realm can hold.
public protocol RealmEnum {}

/// An enum that properties and collections can hold.
///
/// Declare it with a raw type, an integer, `String`, `Float` or `Double`, and nothing else:
///
///     enum Color: String, PersistableEnum { case red, green }
///
/// The raw value is stored. A property without a value of its own starts with the first case. As a
/// type of primary keys and indexes it can be used when its raw type can.
public protocol PersistableEnum: _PersistableInsideOptional, _RealmCollectionValueInsideOptional,
  RawRepresentable, CaseIterable, RealmEnum, RealmOptionalType, Comparable
where
  RawValue: _PersistableInsideOptional & _RealmCollectionValueInsideOptional & Comparable,
  PersistedType == RawValue
{}

extension PersistableEnum {
  /// Compares raw values.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// What the raw value is.
  public static var _rlmType: PropertyType { RawValue._rlmType }

  /// Whether there is nothing that a property could start with.
  static var _hasNoCases: Bool { allCases.isEmpty }

  /// The first case.
  public static func _defaultValue() -> Self {
    guard let first = allCases.first else {
      misuse(.schema, "The enum '\(Self.self)' has no cases.")
    }
    return first
  }

  /// The case of a stored raw value; stops when there is none.
  @inlinable
  static func _make(_ rawValue: RawValue) -> Self {
    if let value = Self(rawValue: rawValue) { return value }
    stopForPersistedValue(rawValue, Self.self)
  }

  /// Reads a managed property.
  @inlinable @inline(__always)
  public static func _get(_ object: ObjectBase, _ column: Int32) -> Self {
    _make(RawValue._get(object, column))
  }

  /// The raw value of a managed property, also one that no case has.
  public static func _getAny(_ object: ObjectBase, _ column: Int32) -> Any? {
    RawValue._getAny(object, column)
  }

  /// Writes a managed property.
  @inlinable @inline(__always)
  public static func _set(_ object: ObjectBase, _ column: Int32, _ value: Self) {
    RawValue._set(object, column, value.rawValue)
  }

  /// Reads a managed optional property; nil too for a raw value that no case has.
  @inlinable @inline(__always)
  public static func _getOptional(_ object: ObjectBase, _ column: Int32) -> Self? {
    RawValue._getOptional(object, column).flatMap { Self(rawValue: $0) }
  }

  /// Writes a managed optional property.
  @inlinable @inline(__always)
  public static func _setOptional(_ object: ObjectBase, _ column: Int32, _ value: Self?) {
    RawValue._setOptional(object, column, value?.rawValue)
  }

  /// Writes the raw value into a row.
  public func _write(to row: inout _RowWriter, _ column: Int) { rawValue._write(to: &row, column) }

  /// Writes nil into a row.
  public static func _writeNil(to row: inout _RowWriter, _ column: Int) {
    RawValue._writeNil(to: &row, column)
  }

  /// The raw value.
  public var _anyValue: Any? { rawValue._anyValue }

  /// The case itself.
  public var _namedValue: Any? { self }

  /// The case that an untyped value is, or has as its raw value.
  public static func _fromAny(_ value: Any?) -> Self? {
    if let value = value as? Self { return value }
    return RawValue._fromAny(value).flatMap { Self(rawValue: $0) }
  }

  /// The raw value as a primary key.
  public var _primaryKeyValue: _PrimaryKeyValue { rawValue._primaryKeyValue }
  /// The key that nil is.
  public static var _nilKey: _PrimaryKeyValue { RawValue._nilKey }
  /// The functions that move values of this type.
  public static var _codec: _PropertyCodec { .make(Self.self) }
  /// The functions that move optionals of this type.
  public static var _optionalCodec: _PropertyCodec { .make(Self?.self) }

  /// Reads an element of a managed collection.
  public static func _readElement(_ source: _ElementSource, _ position: Int) -> Self {
    _make(RawValue._readElement(source, position))
  }

  /// Reads an element of a managed collection of optionals; nil for a raw value that no case has.
  public static func _readOptionalElement(_ source: _ElementSource, _ position: Int) -> Self? {
    RawValue._readOptionalElement(source, position).flatMap { Self(rawValue: $0) }
  }

  /// The raw value of a type that is stored as integers.
  public var _packedElement: Int64? { rawValue._packedElement }

  /// Gives the raw value to a managed collection.
  public func _writeElement(to sink: _ElementSink) { rawValue._writeElement(to: sink) }
}

/// Stops because a stored value stands for no value of a type.
@usableFromInline
func stopForPersistedValue(_ value: Any, _ type: Any.Type) -> Never {
  misuse(
    .argument,
    "Failed to convert persisted value '\(ValueText.of(value))' to type '\(type)' in a non-optional context."
  )
}
