// Classes as dynamic accessors see them: made from a stored table, without a Swift class.
internal import Foundation
internal import ObjectStore

extension ClassSchema {
  /// The properties of a table for dynamic accessors.
  ///
  /// - Parameters:
  ///   - table: what is stored.
  ///   - model: the Swift class of the table, which says what properties are called and which of
  ///     the columns are properties; nil: the columns' names are the properties'.
  ///   - changesKeys: whether primary keys may be changed.
  static func dynamic(
    _ table: TableSchema, like model: ClassSchema? = nil, changesKeys: Bool = false
  ) -> ClassSchema {
    var models: [String: PropertyDescription] = [:]
    for property in model?.properties ?? [] { models[property.columnName] = property }
    var properties: [PropertyDescription] = []
    for (position, column) in table.columns.enumerated() {
      let property = models[column.name]
      guard let name = model == nil ? column.name : property?.name else { continue }
      properties.append(
        PropertyDescription(
          name: name, columnName: column.name, offset: 0,
          codec: .dynamic(
            column, at: Int32(position), like: property?.codec, changesKeys: changesKeys),
          isPrimary: column.name == table.primaryKey, isIndexed: column.isIndexed,
          originProperty: nil, targetName: column.target))
    }
    // Linking objects have no column: only the Swift class says which there are.
    for property in model?.properties ?? [] where property.isComputed {
      properties.append(
        PropertyDescription(
          name: property.name, columnName: property.columnName, offset: 0,
          codec: .dynamicBacklinks(at: Int32(properties.count)), isPrimary: false,
          isIndexed: false, originProperty: property.originProperty,
          targetName: property.objectClassName))
    }
    return ClassSchema(
      DynamicObject.self, name: table.name, properties: properties,
      primaryKey: changesKeys ? nil : properties.firstIndex { $0.isPrimary },
      isEmbedded: table.isEmbedded)
  }
}

/// A type that dynamic properties can have, alone and in collections.
private typealias Scalar = _PersistableInsideOptional & _RealmCollectionValueInsideOptional

extension ValueType {
  /// The Swift type of values that are no links.
  fileprivate var scalar: (any Scalar.Type)? {
    switch self {
    case .int: return Int.self
    case .bool: return Bool.self
    case .string: return String.self
    case .data: return Data.self
    case .date: return Date.self
    case .float: return Float.self
    case .double: return Double.self
    case .objectId: return ObjectId.self
    case .decimal128: return Decimal128.self
    case .uuid: return UUID.self
    case .object, .linkingObjects, .any: return nil
    }
  }
}

extension _PropertyCodec {
  /// Moves the values of a column of dynamic objects.
  ///
  /// - Parameter model: the codec of the property in Swift, whose type the values have where it is
  ///   the column's.
  static func dynamic(
    _ column: ColumnSchema, at position: Int32, like model: _PropertyCodec?, changesKeys: Bool
  ) -> _PropertyCodec {
    if let type = model?.ownType(in: column) {
      let stored = dynamic(column, at: position, like: nil, changesKeys: changesKeys)
      return own(type, stored, position, changesKeys)
    }
    if column.type == .object {
      switch column.collection {
      case .none: return link(position, isInMigration: model == nil || changesKeys)
      case .list: return links(List<DynamicObject>.self, position)
      case .set: return links(MutableSet<DynamicObject>.self, position)
      case .map: return links(Map<String, DynamicObject?>.self, position)
      }
    }
    if column.type == .any {
      switch column.collection {
      case .none: return dynamic(AnyRealmValue.self, position, changesKeys)
      case .list: return dynamic(List<AnyRealmValue>.self, position, changesKeys)
      case .set: return dynamic(MutableSet<AnyRealmValue>.self, position, changesKeys)
      case .map: return dynamic(Map<String, AnyRealmValue>.self, position, changesKeys)
      }
    }
    if column.collection == .none { return plain(column, position, changesKeys) }
    // Linking objects have no column.
    return scalars(column.type.scalar!, column, position, changesKeys)
  }

  /// The declared type, where it is another one than that of the column alone.
  private func ownType(in column: ColumnSchema) -> (any _Persistable.Type)? {
    guard let scalar = column.type.scalar, type == scalar._rlmType,
      isOptional == column.isOptional, collection.rawValue == column.collection.rawValue,
      let declaredType = declaredType as? any _Persistable.Type
    else { return nil }
    if collection != .none { return declaredType }
    return valueType(of: declaredType) == scalar ? nil : declaredType
  }

  /// Values of a type of the property's own.
  ///
  /// What stands for none of them, as it may in a migration, is shown as it is stored.
  private static func own<Value: _Persistable>(
    _: Value.Type, _ stored: _PropertyCodec, _ position: Int32, _ changesKeys: Bool
  ) -> _PropertyCodec {
    var codec = dynamic(Value.self, position, changesKeys)
    if Value._rlmCollection != .none { return codec }
    codec.value = stored.value
    codec.namedValue = { pointer, object in
      let value = stored.value(pointer, object)
      guard let own = Value._fromAny(value) else { return value }
      return own._namedValue
    }
    return codec
  }

  /// One value: made for each type, so that a migration of many objects runs no generic code.
  private static func plain(
    _ column: ColumnSchema, _ position: Int32, _ changesKeys: Bool
  ) -> _PropertyCodec {
    @inline(__always)
    func codec<Value: Scalar>(of: Value.Type) -> _PropertyCodec {
      column.isOptional
        ? dynamic(Value?.self, position, changesKeys) : dynamic(Value.self, position, changesKeys)
    }
    switch column.type {
    case .int: return codec(of: Int.self)
    case .bool: return codec(of: Bool.self)
    case .string: return codec(of: String.self)
    case .data: return codec(of: Data.self)
    case .date: return codec(of: Date.self)
    case .float: return codec(of: Float.self)
    case .double: return codec(of: Double.self)
    case .objectId: return codec(of: ObjectId.self)
    case .decimal128: return codec(of: Decimal128.self)
    case .uuid: return codec(of: UUID.self)
    case .object, .linkingObjects, .any: preconditionFailure("no plain value in \(column.name)")
    }
  }

  /// A collection of values.
  private static func scalars<Value: Scalar>(
    _: Value.Type, _ column: ColumnSchema, _ position: Int32, _ changesKeys: Bool
  ) -> _PropertyCodec {
    switch (column.collection, column.isOptional) {
    case (.none, _): preconditionFailure("\(column.name) is no collection")
    case (.list, false): return dynamic(List<Value>.self, position, changesKeys)
    case (.list, true): return dynamic(List<Value?>.self, position, changesKeys)
    case (.set, false): return dynamic(MutableSet<Value>.self, position, changesKeys)
    case (.set, true): return dynamic(MutableSet<Value?>.self, position, changesKeys)
    case (.map, false): return dynamic(Map<String, Value>.self, position, changesKeys)
    case (.map, true): return dynamic(Map<String, Value?>.self, position, changesKeys)
    }
  }

  /// Values of one type in a column: there is no wrapper that they could be in.
  @inline(__always)
  private static func dynamic<Value: _Persistable>(
    _: Value.Type, _ column: Int32, _ changesKeys: Bool
  ) -> _PropertyCodec {
    withoutWrapper(
      Value._rlmType, isOptional: Value._rlmOptional, Value._rlmCollection, Value._rlmObjectClass,
      value: { Value._get($0, column)._anyValue },
      namedValue: { Value._get($0, column)._namedValue },
      setValue: { object, any in
        guard let value = Value._fromAny(any) else { return false }
        if changesKeys { noteKey(object, column, value._primaryKeyValue) }
        Value._set(object, column, value)
        return true
      },
      accepts: { Value._accepts($0) },
      storeAny: { any, row, column in Value._storeAny(any, to: &row, column) },
      keyOfAny: { Value._fromAny($0)?._primaryKeyValue })
  }

  /// Links to one object: of its class in Swift, except in a migration.
  private static func link(_ column: Int32, isInMigration: Bool) -> _PropertyCodec {
    withoutWrapper(
      .object, isOptional: true, .none, DynamicObject.self,
      value: { isInMigration ? DynamicObject._getOptional($0, column) : readOwnLink($0, column) },
      setValue: { setLink($0, column, $1) },
      accepts: { any in any.map { linkForm($0) != nil } ?? true },
      storeAny: { _, _, _ in false }, keyOfAny: { _ in nil })
  }

  /// Links to several objects: what is set are objects, or values to make some from.
  private static func links<Value: _Persistable>(_: Value.Type, _ column: Int32) -> _PropertyCodec {
    withoutWrapper(
      .object, isOptional: Value._rlmOptional, Value._rlmCollection, DynamicObject.self,
      value: { Value._get($0, column)._anyValue },
      setValue: { setLinks($0, column, $1) },
      accepts: { untypedElements($0) != nil || untypedEntries($0) != nil },
      storeAny: { _, _, _ in false }, keyOfAny: { _ in nil })
  }

  /// Objects that link here, by the position of the property.
  fileprivate static func dynamicBacklinks(at position: Int32) -> _PropertyCodec {
    withoutWrapper(
      .linkingObjects, isOptional: false, .none, DynamicObject.self,
      value: { LinkingObjects<DynamicObject>._get($0, position) },
      setValue: { _, _ in stopForLinkingObjects() },
      accepts: { _ in false }, storeAny: { _, _, _ in false }, keyOfAny: { _ in nil })
  }

  /// The codec of a property that is only ever in the file.
  private static func withoutWrapper(
    _ type: PropertyType, isOptional: Bool, _ collection: _CollectionKind,
    _ objectClass: ObjectBase.Type?, value: @escaping @Sendable (ObjectBase) -> Any?,
    namedValue: (@Sendable (ObjectBase) -> Any?)? = nil,
    setValue: @escaping @Sendable (ObjectBase, Any?) -> Bool,
    accepts: @escaping @Sendable (Any?) -> Bool,
    storeAny: @escaping @Sendable (Any?, inout _RowWriter, Int) -> Bool,
    keyOfAny: @escaping @Sendable (Any?) -> _PrimaryKeyValue?
  ) -> _PropertyCodec {
    let named = namedValue ?? value
    return _PropertyCodec(
      declaredType: nil, type: type, isOptional: isOptional, collection: collection,
      objectClass: objectClass,
      keepsDefault: false, role: { _ in .plain }, attach: { _, _ in }, record: { _, _ in },
      becomeManaged: { _, _, _ in }, managedImage: { _ in nil }, store: { _, _, _ in },
      value: { _, object in
        requireManaged(object)
        return value(object)
      },
      namedValue: { _, object in
        requireManaged(object)
        return named(object)
      },
      setValue: { _, object, any in
        requireManaged(object)
        return setValue(object, any)
      },
      accepts: accepts, storeAny: storeAny, keyOfAny: keyOfAny, originProperty: { _ in nil },
      withKey: { _, body in body(.integer(nil)) })
  }

  private static func setLink(_ object: ObjectBase, _ column: Int32, _ value: Any?) -> Bool {
    let group = requireWritable(object, column).takeUnretainedValue()
    let realm = object._realm.unsafelyUnwrapped
    let table = object._table.unsafelyUnwrapped
    let target = realm.targetTable(of: DynamicObject.self, table, Int(column))
    var key: ObjectKey?
    if let value, !isMixedNone(value) {
      // An embedded object has one owner: only where it is already can it be set.
      if target.pointee.isEmbedded, let linked = objectValue(value), linked._realm === realm,
        linked.isOf(target), linked._key.rawValue == optionalInteger(object, column)
      {
        return true
      }
      let links = LinkInsertion(realm, .error, copies: true)
      guard let found = links.key(from: value, in: target) else { return false }
      links.finish()
      key = found
    }
    group.setLink(table.pointee.binding.table!, object._key, Int(column), key)
    table.pointee.bump()
    realm.bumpChangedTables()
    return true
  }

  /// Replaces the content of a collection of links; false when a value can be none.
  private static func setLinks(_ object: ObjectBase, _ column: Int32, _ value: Any?) -> Bool {
    let cell = CollectionCell(object, column, DynamicObject.self)
    let group = cell.requireWriting()
    let target = cell.realm.targetTable(of: DynamicObject.self, cell.table, cell.column)
    if target.pointee.isEmbedded, cell.isOwnContent(value, target) { return true }
    let links = LinkInsertion(cell.realm, .error, copies: true)
    var entries: [(name: String, value: ElementValue)] = []
    func add(_ name: String, _ value: Any?) -> Bool {
      guard let value = unwrapped(value) else {
        entries.append((name, .null))
        return cell.kind == .map
      }
      guard let key = links.key(from: value, in: target) else { return false }
      entries.append((name, .link(key)))
      return true
    }
    if cell.kind == .map {
      guard let given = untypedEntries(value) else { return false }
      for (name, value) in given where !add(name.text, value) { return false }
    } else {
      guard let given = untypedElements(value) else { return false }
      for value in given where !add("", value) { return false }
    }
    links.finish()
    group.removeAllElements(cell.storedTable, cell.key, cell.column)
    for (name, value) in entries {
      switch cell.kind {
      case .set: group.setInsert(cell.storedTable, cell.key, cell.column, value)
      case .map:
        name._withBytes { _ = group.mapSet(cell.storedTable, cell.key, cell.column, $0, value) }
      case .list, .none: group.listAppend(cell.storedTable, cell.key, cell.column, value)
      }
    }
    cell.changed()
    return true
  }
}

extension CollectionCell {
  /// Whether a value holds the very embedded objects that the collection holds: no others of the
  /// Realm can be set, since each has one owner.
  fileprivate func isOwnContent(_ value: Any?, _ target: TablePointer) -> Bool {
    func isSame(_ known: DynamicObject?, _ given: Any?) -> Bool {
      guard let known else { return unwrapped(given) == nil }
      guard let given = instance(unwrapped(given), of: ObjectBase.self) else { return false }
      return given._realm === realm && given.isOf(target) && given._key == known._key
    }
    if kind == .map {
      let known = Map<String, DynamicObject?>(self)
      guard let given = untypedEntries(value), given.count == known.count else { return false }
      return given.allSatisfy { key, given in known[key.text].map { isSame($0, given) } ?? false }
    }
    let known = List<DynamicObject>(self)
    guard let given = untypedElements(value), given.count == known.count else { return false }
    return zip(known, given).allSatisfy { isSame($0, $1) }
  }
}

/// The object, or the values for one, that an untyped value is or is stored as; nil when it is
/// neither.
private func linkForm(_ value: Any) -> Any? {
  let form = objectValue(value) ?? storedForm(value) ?? value
  return objectValue(form) != nil || InputValues.canHold(form) ? form : nil
}

extension LinkInsertion {
  /// The key of the object of a table that a value stands for: an object of it, or values to make
  /// one from; nil when it can be neither.
  fileprivate func key(from value: Any, in target: TablePointer) -> ObjectKey? {
    guard let value = linkForm(value) else { return nil }
    if let linked = objectValue(value), linked._realm === realm {
      guard linked.isOf(target) else { return nil }
      realm.requireLinkable(linked)
      return linked._key
    }
    let name = target.pointee.binding.schema.name
    guard let binding = realm.classes.binding(storedName: name) else { return nil }
    return key(from: value, binding.schema.objectClass)
  }
}

extension ObjectBase {
  /// Whether the managed object is in the table, by whatever accessor.
  final func isOf(_ table: TablePointer) -> Bool {
    _table?.pointee.binding.table === table.pointee.binding.table
  }
}

/// The type inside of an optional.
private func valueType(of type: any _Persistable.Type) -> Any.Type {
  (type as? any OptionalProtocol.Type)?._wrappedType ?? type
}

/// The object that a column of a dynamic object links to, as one of its class in Swift.
private func readOwnLink(_ object: ObjectBase, _ column: Int32) -> ObjectBase? {
  guard let key = optionalInteger(object, column) else { return nil }
  let table = object._table.unsafelyUnwrapped
  let dynamic = table.pointee.withRealm {
    $0.targetTable(of: DynamicObject.self, table, Int(column))
  }
  return table.pointee.withRealm { realm in
    let name = dynamic.pointee.binding.schema.name
    let target = realm.classes.binding(storedName: name).map { realm.table($0) } ?? dynamic
    return realm.accessor(target, ObjectKey(rawValue: key))
  }
}

/// Stops when a dynamic object is in no Realm: it has no properties.
private func requireManaged(_ object: ObjectBase) {
  if object._realm == nil {
    misuse(.ownership, "A DynamicObject has no properties outside of a Realm.")
  }
}

/// Notes when another object of the table has the primary key that an object is to get: only at the
/// end of a migration all keys have to differ.
private func noteKey(
  _ object: ObjectBase, _ column: Int32, _ makeKey: @autoclosure () -> _PrimaryKeyValue
) {
  guard let realm = object._realm, let table = object._table,
    table.pointee.binding.table?.primaryKeyColumn == Int(column),
    let found = realm.reader(of: table)?.find(makeKey()), found.key != object._key
  else { return }
  realm.requireWriting().tablesWithDoubtfulKeys.insert(table.pointee.binding.schema.name)
}
