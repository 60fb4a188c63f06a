// Puts objects of one class into the running transaction: rules first, then the row, then the object
// becomes its accessor. Made once for a bulk of objects.
internal import ObjectStore

/// Adds objects of one class with one update policy.
struct ObjectInsertion {
  let objectType: ObjectBase.Type
  private let realm: ConfinedRealm
  private let group: GroupTransaction
  private let binding: TableBinding
  private let storedTable: StoredTable
  private let table: TablePointer
  private let update: Realm.UpdatePolicy

  /// Stops outside of a transaction, for an unknown class, and when updating one without a key.
  init(_ realm: ConfinedRealm, _ objectType: ObjectBase.Type, _ update: Realm.UpdatePolicy) {
    self.objectType = objectType
    self.realm = realm
    self.update = update
    group = realm.requireWriting().group
    table = realm.requireTable(of: objectType)
    binding = table.pointee.binding
    if update != .error && binding.schema.primaryKey == nil {
      misuse(
        .schema, "'\(binding.schema.name)' does not have a primary key and can not be updated")
    }
    storedTable = binding.table!
  }

  /// Adds an object that belongs to no Realm; leaves one of this Realm alone.
  func add(_ object: ObjectBase) {
    if let owner = object._realm {
      owner.check()
      guard owner === realm else {
        misuse(
          .ownership,
          "Object is already managed by another Realm. Use create instead to copy it into this "
            + "Realm.")
      }
      if object.locate() == nil {
        misuse(
          .invalidated, "Adding a deleted or invalidated object to a Realm is not permitted")
      }
      return
    }
    let base = Unmanaged.passUnretained(object).toOpaque()
    var row = makeRow { property in property.codec.key(base + property.offset) }
    let properties = binding.schema.properties
    for index in properties.indices where index != binding.schema.primaryKey {
      properties[index].codec.store(base + properties[index].offset, &row, binding.columns[index])
    }
    finish(object, row)
  }

  /// Makes an object from values, or updates the one of the same key.
  func create(_ value: Any) -> ObjectBase {
    if let object = value as? ObjectBase, let owner = object._realm {
      owner.check()
      if object.locate() == nil {
        misuse(
          .invalidated, "Adding a deleted or invalidated object to a Realm is not permitted")
      }
    }
    let values = InputValues(value, for: binding.schema)
    // Holds the defaults, and becomes the accessor.
    let object = objectType.init()
    let base = Unmanaged.passUnretained(object).toOpaque()
    var row = makeRow { property in
      if let given = values[binding.schema.primaryKey!] {
        return property.codec.keyOfAny(given)!
      }
      return property.codec.key(base + property.offset)
    }
    for (index, property) in binding.schema.properties.enumerated()
    where index != binding.schema.primaryKey {
      if let given = values[index] {
        _ = property.codec.storeAny(given, &row, binding.columns[index])
      } else if row.isNew {
        property.codec.store(base + property.offset, &row, binding.columns[index])
      }
    }
    finish(object, row)
    return object
  }

  /// The row to write into: a new one, or the one of the same key.
  private func makeRow(_ keyOf: (PropertyDescription) -> _PrimaryKeyValue) -> _RowWriter {
    guard let position = binding.schema.primaryKey else {
      let key = group.insert(storedTable)
      return _RowWriter(group: group, binding: binding, key: key, isNew: true, compares: false)
    }
    let property = binding.schema.properties[position]
    let value = keyOf(property)
    let row: (key: ObjectKey, inserted: Bool)
    switch value {
    case .integer(let integer): row = group.insert(storedTable, primaryKeyInteger: integer)
    case .bytes(nil): row = group.insert(storedTable, primaryKeyBytes: nil)
    case .bytes(let bytes?):
      row = bytes.withUnsafeBytes { group.insert(storedTable, primaryKeyBytes: $0) }
    }
    if !row.inserted && update == .error {
      misuse(
        .argument,
        "Attempting to create an object of type '\(binding.schema.name)' with an existing primary "
          + "key value '\(value.text(property.codec.type))'.")
    }
    return _RowWriter(
      group: group, binding: binding, key: row.key, isNew: row.inserted,
      compares: update == .modified)
  }

  private func finish(_ object: ObjectBase, _ row: _RowWriter) {
    table.pointee.bump()
    object.attach(table, row.key)
  }
}
