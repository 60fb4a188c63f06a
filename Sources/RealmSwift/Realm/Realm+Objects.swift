// Adding, making, finding and removing objects.
public import Foundation
internal import ObjectStore

extension Realm {
  /// What happens to an object whose primary key is in the Realm already.
  public enum UpdatePolicy: Int, Sendable {
    /// Stop: it is a programmer error.
    case error = 1
    /// Overwrite all of its properties.
    case all = 2
    /// Write only the properties that differ.
    case modified = 3
  }

  // MARK: - Adding

  /// Adds an object; it is live from now on.
  ///
  /// An object that is in this Realm already is left alone. Stops outside of a transaction, when
  /// the object belongs to another Realm, when its key is there already and `update` is `.error`,
  /// and when its class has no primary key and `update` is another.
  /// - Complexity: O(log n) in the number of objects.
  public func add(_ object: Object, update: UpdatePolicy = .error) {
    confined.withInsertion(update) { $0.add(object) }
  }

  /// Adds objects; see `add` of one.
  public func add<Objects: Sequence>(_ objects: Objects, update: UpdatePolicy = .error)
  where Objects.Element: Object {
    // Also without any object a call outside of a transaction is an error.
    confined.withInsertion(update) { links in
      let all: Void? = objects.withContiguousStorageIfAvailable { elements in
        // Each element is one reference, whatever its class. They are read as such, since generic
        // code for an unknown class costs as much as a value that is written; `objects` keeps them.
        UnsafeRawBufferPointer(elements).withMemoryRebound(to: Unmanaged<ObjectBase>.self) {
          links.reserve($0)
          for element in $0 { element._withUnsafeGuaranteedRef { links.add($0) } }
        }
      }
      if all == nil { for object in objects { links.add(object) } }
    }
  }

  /// Makes an object in the Realm.
  ///
  /// With `.all` or `.modified` an object of the same primary key is updated: only the values that
  /// are given. Stops as `add` does, and when a value does not fit its property.
  /// - Parameters:
  ///   - type: the class.
  ///   - value: a dictionary by property name, an array in property order, or another object.
  ///   - update: what to do when the key is there already.
  @discardableResult
  public func create<T: Object>(_ type: T.Type, value: Any = [:], update: UpdatePolicy = .error)
    -> T
  {
    let object = confined.withInsertion(update, copies: true) { $0.create(type, value) }
    return unsafeDowncast(object, to: T.self)
  }

  // MARK: - Removing

  /// Removes an object; it is invalid from now on.
  ///
  /// Stops outside of a transaction and when the object does not belong to this Realm.
  public func delete(_ object: ObjectBase) {
    let group = confined.requireWriting()
    guard object._realm === confined, let table = object._table else {
      misuse(.ownership, "Can only delete an object from the Realm it belongs to.")
    }
    requireDeletable(object)
    object.keepKeyHash()
    _ = group.delete(table.pointee.binding.table!, object._key)
    table.pointee.bump()
    confined.bumpChangedTables()
  }

  /// Stops when the object is gone already: it belongs to no Realm any more.
  private func requireDeletable(_ object: ObjectBase) {
    if let group = confined.group, object.isThere(in: group) { return }
    misuse(
      .invalidated,
      "Can only delete an object from the Realm it belongs to. Object has been deleted or "
        + "invalidated.")
  }

  /// Removes objects; see `delete` of one.
  public func delete<Objects: Sequence>(_ objects: Objects) where Objects.Element: ObjectBase {
    _ = confined.requireWriting()
    // Taken first: a collection of the Realm changes while its objects go.
    deleteTogether(Array(objects), areClients: true)
  }

  /// Removes objects; those with the same class in a row go together.
  ///
  /// - Parameter areClients: whether the client may have the same instances in sets.
  func deleteTogether(_ objects: [ObjectBase], areClients: Bool = false) {
    let group = confined.requireWriting()
    for object in objects {
      guard object._realm === confined else {
        misuse(.ownership, "Can only delete an object from the Realm it belongs to.")
      }
      requireDeletable(object)
      if areClients { object.keepKeyHash() }
    }
    var start = 0
    while start < objects.count {
      let table = objects[start]._table!
      let end = objects[start...].firstIndex { $0._table != table } ?? objects.count
      group.delete(table.pointee.binding.table!, objects[start..<end].map(\._key))
      table.pointee.bump()
      confined.bumpChangedTables()
      start = end
    }
  }

  /// Removes the objects of a list; it is empty then.
  public func delete<Element: ObjectBase>(_ objects: List<Element>) {
    _ = confined.requireWriting()
    deleteTogether(Array(objects))
  }

  /// Removes all objects that the results hold.
  public func delete<Element: ObjectBase>(_ objects: Results<Element>) {
    let group = confined.requireWriting()
    guard objects.source.realm === confined else {
      misuse(.ownership, "Can only delete an object from the Realm it belongs to.")
    }
    if let all = objects.source as? TableSource<Element> {
      deleteAll(all.table, group)
    } else {
      deleteTogether(Array(objects))
    }
  }

  /// Removes all objects of the Realm.
  ///
  /// Stops outside of a transaction.
  public func deleteAll() {
    let group = confined.requireWriting()
    for binding in confined.bindings { deleteAll(confined.table(binding), group) }
  }

  private func deleteAll(_ table: TablePointer, _ group: GroupTransaction) {
    group.deleteAll(table.pointee.binding.table!)
    table.pointee.bump()
    confined.bumpChangedTables()
  }

  // MARK: - Finding

  /// All objects of a class, in the order in which they were added.
  ///
  /// Stops when the Realm does not hold the class.
  /// - Complexity: O(1).
  public func objects<Element: RealmFetchable>(_ type: Element.Type) -> Results<Element> {
    confined.check()
    let table = confined.requireTable(of: type._fetchedClass)
    if type is any _AnyProjection.Type {
      return Results(QuerySource(TableOrigin(realm: confined, objects: table)))
    }
    return Results(TableSource(confined, table))
  }

  /// The object of a primary key, if there is one.
  ///
  /// Stops when the class has no primary key, or the key cannot be one of it.
  /// - Complexity: O(1).
  @inlinable  // Into the caller, where the key's type is known and the casts cost nothing.
  public func object<Element: Object, KeyType>(
    ofType type: Element.Type, forPrimaryKey key: KeyType
  )
    -> Element?
  {
    let found: ObjectBase?
    if let key = key as? Int {
      found = object(type, integerKey: key)
    } else if let key = key as? String {
      found = object(type, textKey: key)
    } else if let key = key as? UUID {
      found = object(type, uuidKey: key)
    } else if let key = key as? ObjectId {
      found = object(type, objectIdKey: key)
    } else {
      found = object(type, anyKey: key)
    }
    return found.map { unsafeDowncast($0, to: Element.self) }
  }

  @usableFromInline
  func object(_ type: Object.Type, integerKey key: Int) -> ObjectBase? {
    confined.check()
    let table = confined.requireTable(of: type)
    guard table.pointee.keyForm == .integer else { return object(type, anyKey: key) }
    if _slowPath(table.pointee.isStale) { confined.renewReader(of: table) }
    guard let found = table.pointee.reader?.findRow(integer: Int64(key)) else { return nil }
    return confined.accessor(table, found.key, at: found.location)
  }

  @usableFromInline
  func object(_ type: Object.Type, textKey key: String) -> ObjectBase? {
    confined.check()
    let table = confined.requireTable(of: type)
    guard table.pointee.keyForm == .text else { return object(type, anyKey: key) }
    return key._withBytes { object(table, bytesKey: $0) }
  }

  @usableFromInline
  func object(_ type: Object.Type, uuidKey key: UUID) -> ObjectBase? {
    confined.check()
    let table = confined.requireTable(of: type)
    guard table.pointee.keyForm == .uuid else { return object(type, anyKey: key) }
    return key._withBytes { object(table, bytesKey: $0) }
  }

  @usableFromInline
  func object(_ type: Object.Type, objectIdKey key: ObjectId) -> ObjectBase? {
    confined.check()
    let table = confined.requireTable(of: type)
    guard table.pointee.keyForm == .objectId else { return object(type, anyKey: key) }
    return key._withBytes { object(table, bytesKey: $0) }
  }

  private func object(_ table: TablePointer, bytesKey key: UnsafeRawBufferPointer) -> ObjectBase? {
    if _slowPath(table.pointee.isStale) { confined.renewReader(of: table) }
    guard let found = table.pointee.reader?.findRow(bytes: key) else { return nil }
    return confined.accessor(table, found.key, at: found.location)
  }

  /// Looks up a key of any type; stops when it cannot be a key of the class.
  @usableFromInline
  func object(_ type: Object.Type, anyKey key: Any) -> ObjectBase? {
    confined.check()
    let table = confined.requireTable(of: type)
    let schema = table.pointee.binding.schema
    guard let position = schema.primaryKey else {
      misuse(.schema, "'\(schema.name)' does not have a primary key and can not be looked up.")
    }
    let property = schema.properties[position]
    let value = unwrapped(key)
    guard let keyValue = property.codec.keyOfAny(value) ?? storedKey(value, property) else {
      stopForValue(key, property, className: schema.name)
    }
    guard let found = confined.reader(of: table)?.find(keyValue) else { return nil }
    return confined.accessor(table, found.key, at: found.location)
  }
}

/// The key that a value is in the file, though the property's own type cannot hold it: an integer
/// that is too large for it, or a raw value without a case.
private func storedKey(_ value: Any?, _ property: PropertyDescription) -> _PrimaryKeyValue? {
  switch property.codec.type {
  case .int: return Int64._fromAny(value)?._primaryKeyValue
  case .string: return String._fromAny(value)?._primaryKeyValue
  default: return nil
  }
}

extension TableReader {
  /// The object of a primary key, and where it is.
  func find(_ key: _PrimaryKeyValue) -> (key: ObjectKey, location: RowLocation)? {
    switch key {
    case .integer(let value): return findRow(integer: value)
    case .bytes(let value):
      guard let value else { return findRow(bytes: nil) }
      return value.withUnsafeBytes { findRow(bytes: $0) }
    }
  }
}
