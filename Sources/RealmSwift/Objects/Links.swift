// Objects as values of properties and collections: links. An unmanaged object that is linked from a
// managed one is added to its Realm; how is in ObjectInsertion.swift.
internal import ObjectStore

extension ObjectBase: _PersistableInsideOptional {}

extension ObjectBase {
  /// Whether the object is of a class by its name, as dynamic objects are.
  final func isNamed(as objectClass: ObjectBase.Type) -> Bool {
    classSchema.name == ClassSchema.of(objectClass).name
  }

  /// The object of the class in Swift that a dynamic object stands for; nil of any other one, and
  /// of those that are embedded, which have one owner.
  fileprivate final var typedForm: ObjectBase? {
    guard let realm = _realm, let table = _table, table.pointee.binding.schema.isDynamic,
      !table.pointee.isEmbedded,
      let binding = realm.classes.binding(storedName: table.pointee.binding.schema.name)
    else { return nil }
    realm.check()
    return realm.accessor(realm.table(binding), lastingKey)
  }
}

extension _PersistableInsideOptional where Self: ObjectBase {
  /// A link.
  public static var _rlmType: PropertyType { .object }
  /// The class itself.
  @inlinable
  public static var _rlmObjectClass: ObjectBase.Type? { Self.self }
  /// A new object; a property that cannot be nil is refused before this is asked for.
  public static func _defaultValue() -> Self { Self() }
  /// Reads a property that cannot be nil: there is none.
  public static func _get(_ object: ObjectBase, _ column: Int32) -> Self {
    _getOptional(object, column) ?? Self()
  }
  /// Writes a managed property.
  public static func _set(_ object: ObjectBase, _ column: Int32, _ value: Self) {
    writeLink(object, column, value, Self.self)
  }
  /// Writes the link into a row.
  public func _write(to row: inout _RowWriter, _ column: Int) {
    requireClass(self, Self.self)
    row.setLink(self, column)
  }
  /// Reads a managed link.
  @inlinable @inline(__always)
  public static func _getOptional(_ object: ObjectBase, _ column: Int32) -> Self? {
    guard let target = readLink(object, column, Self.self) else { return nil }
    return unsafeDowncast(target, to: Self.self)
  }
  /// Writes a managed link.
  public static func _setOptional(_ object: ObjectBase, _ column: Int32, _ value: Self?) {
    writeLink(object, column, value, Self.self)
  }
  /// Writes no link into a row.
  public static func _writeNil(to row: inout _RowWriter, _ column: Int) {
    row.setLink(nil, column)
  }
  /// The object that an untyped value is, or that its values make.
  public static func _fromAny(_ value: Any?) -> Self? {
    guard let value else { return nil }
    if let object = objectValue(value), let own = object as? Self ?? object.typedForm as? Self {
      return own
    }
    guard _acceptsInside(value) else { return nil }
    let object = Self()
    NestedValues.withOneMore {
      InputValues(value, for: ClassSchema.of(Self.self)).assign(to: object)
    }
    return object
  }
  /// An object is no key.
  public var _primaryKeyValue: _PrimaryKeyValue { .integer(nil) }
  /// An object is no key.
  public static var _nilKey: _PrimaryKeyValue { .integer(nil) }
  /// The functions that move values of this type.
  public static var _codec: _PropertyCodec { .make(Self.self) }
  /// The functions that move optionals of this type.
  public static var _optionalCodec: _PropertyCodec { .link(Self.self) }
  /// Whether the value is an object of the class, or values for one.
  public static func _acceptsInside(_ value: Any) -> Bool {
    guard let object = objectValue(value) else { return InputValues.canHold(value) }
    return object is Self || object.isNamed(as: Self.self)
  }
  /// Links to the object, or to one that is made from the values.
  public static func _storeAnyInside(
    _ value: Any, to row: inout _RowWriter, _ column: Int
  ) -> Bool {
    !isMixedNone(value) && row.setLink(from: value, Self.self, column)
  }
}

extension RealmCollectionValue where Self: ObjectBase {
  /// Reads an element of a managed collection.
  @inlinable @inline(__always)
  public static func _readElement(_ source: _ElementSource, _ position: Int) -> Self {
    unsafeDowncast(source.object(position), to: Self.self)
  }
  /// Gives the object to a managed collection.
  public func _writeElement(to sink: _ElementSink) { sink.link(self, Self.self) }
}

// MARK: - Managed links

/// The object that a managed property links to.
@usableFromInline
func readLink(
  _ object: ObjectBase, _ column: Int32, _ type: ObjectBase.Type
) -> ObjectBase? {
  guard let key = optionalInteger(object, column) else { return nil }
  let table = object._table.unsafelyUnwrapped
  return table.pointee.withRealm { realm in
    let target = realm.targetTable(of: type, table, Int(column))
    return realm.accessor(target, ObjectKey(rawValue: key))
  }
}

/// Makes a managed property link to an object.
func writeLink(
  _ object: ObjectBase, _ column: Int32, _ value: ObjectBase?, _ type: ObjectBase.Type
) {
  let group = requireWritable(object, column).takeUnretainedValue()
  let realm = object._realm.unsafelyUnwrapped
  let table = object._table.unsafelyUnwrapped
  // An embedded object has one owner: only where it is already can it be set.
  if let value, let owner = value._table, owner.pointee.isEmbedded, value._realm === realm,
    readLink(object, column, type)?.managedIdentity == value.managedIdentity
  {
    return
  }
  let target = value.map { realm.linkTarget($0, type) }
  group.setLink(table.pointee.binding.table!, object._key, Int(column), target)
  table.pointee.bump()
  // An embedded object that was linked before is gone.
  realm.bumpChangedTables()
}
