// Puts objects of one class into the running transaction: rules first, then the row, then the values,
// then the object becomes its accessor. Made once for a bulk of objects.
internal import ObjectStore

/// Adds objects of one class with one update policy.
///
/// A class, and with what each object needs taken out of the schema once: counting the references of what
/// is copied would cost bulk work a third of its time.
final class ObjectInsertion {
  let objectType: ObjectBase.Type
  private let realm: ConfinedRealm
  private let group: GroupTransaction
  private let binding: TableBinding
  private let storedTable: StoredTable
  private let table: TablePointer
  private let update: Realm.UpdatePolicy
  /// The property that identifies objects, if there is one.
  private let key: PropertyDescription?
  /// Its value in an instance, and where its wrapper lies there.
  private let keyValue: (@Sendable (UnsafeMutableRawPointer) -> _PrimaryKeyValue)?
  private let keyOffset: Int

  /// An object that has a row, and no values in it yet.
  struct Started {
    let insertion: ObjectInsertion
    /// Its wrappers hold the values, or the defaults of those that are not given.
    let object: ObjectBase
    let key: ObjectKey
    let isNew: Bool
    /// The values to write, where they are not the object's own.
    var given: InputValues?
  }

  /// Stops outside of a transaction, for an unknown class, and when updating one without a key.
  init(_ realm: ConfinedRealm, _ objectType: ObjectBase.Type, _ update: Realm.UpdatePolicy) {
    self.objectType = objectType
    self.realm = realm
    self.update = update
    group = realm.requireWriting().group
    table = realm.requireTable(of: objectType)
    binding = table.pointee.binding
    if update != .error && binding.primaryKey == nil {
      misuse(
        .schema, "'\(binding.schema.name)' does not have a primary key and can not be updated")
    }
    storedTable = binding.table!
    key = binding.primaryKey.map { [binding] in binding.schema.properties[$0] }
    keyValue = key?.codec.key
    keyOffset = key?.offset ?? 0
  }

  // MARK: - Adding

  /// Adds an object that belongs to no Realm; leaves one of this Realm alone.
  ///
  /// What it links to is added too, by `links`, whose `finish` is the caller's to call.
  func add(_ object: ObjectBase, _ links: LinkInsertion) {
    if object._realm != nil {
      realm.requireOwn(object)
      return
    }
    let (key, isNew) = makeRow(for: object)
    storeValues(of: object, key, isNew, links)
  }

  /// Gives an unmanaged object its row, without values.
  ///
  /// It belongs to the Realm from now on, so that links to it find it.
  func start(_ object: ObjectBase, _ links: LinkInsertion) -> Started {
    let (key, isNew) = makeRow(for: object)
    return Started(insertion: self, object: object, key: key, isNew: isNew)
  }

  private func makeRow(for object: ObjectBase) -> (key: ObjectKey, isNew: Bool) {
    let base = Unmanaged.passUnretained(object).toOpaque()
    let row = makeRow(keyValue?(base + keyOffset))
    object.identify(table, row.key)
    return row
  }

  /// Writes the values of an object that has its row, and makes it an accessor.
  func store(_ started: Started, _ links: LinkInsertion) {
    if let given = started.given { return store(given, started, links) }
    storeValues(of: started.object, started.key, started.isNew, links)
  }

  private func storeValues(
    of object: ObjectBase, _ key: ObjectKey, _ isNew: Bool, _ links: LinkInsertion
  ) {
    let base = Unmanaged.passUnretained(object).toOpaque()
    var row = rowWriter(key, isNew, links)
    binding.storedValues.withUnsafeBufferPointer { values in
      for index in values.indices {
        let wrapper = base + values[index].offset
        values[index].store(wrapper, &row, values[index].column)
        values[index].becomeManaged?(wrapper, object, Int32(values[index].column))
      }
    }
    table.pointee.bump()
    object.attach(table, key)
  }

  // MARK: - Creating

  /// Makes an object from values, or updates the one of the same key; with all that it links to.
  func create(_ value: Any, _ links: LinkInsertion) -> ObjectBase {
    let started = startCreating(value, links)
    store(started, links)
    links.finish()
    return started.object
  }

  /// Gives an object that is made from values its row, or finds the one of the same key.
  ///
  /// It becomes an accessor when its values are written.
  func startCreating(_ value: Any, _ links: LinkInsertion) -> Started {
    if let object = value as? ObjectBase, let owner = object._realm {
      owner.check()
      if object.locate() == nil {
        misuse(
          .invalidated, "Adding a deleted or invalidated object to a Realm is not permitted")
      }
    }
    let values = InputValues(value, for: binding.schema)
    let object = objectType.init()
    let base = Unmanaged.passUnretained(object).toOpaque()
    let given = self.key.flatMap { property in
      values[binding.primaryKey!].map { property.codec.keyOfAny($0)! }
    }
    let (key, isNew) = makeRow(given ?? keyValue?(base + keyOffset))
    links.remember(key, asCopyOf: value)
    return Started(insertion: self, object: object, key: key, isNew: isNew, given: values)
  }

  /// Writes the values that were given, and of a new object the defaults of the others.
  private func store(_ values: InputValues, _ started: Started, _ links: LinkInsertion) {
    let base = Unmanaged.passUnretained(started.object).toOpaque()
    var row = rowWriter(started.key, started.isNew, links)
    for (index, property) in binding.schema.properties.enumerated()
    where index != binding.primaryKey && !property.isComputed {
      if let given = values[index] {
        _ = property.codec.storeAny(given, &row, binding.columns[index])
      } else if started.isNew {
        property.codec.store(base + property.offset, &row, binding.columns[index])
      }
    }
    table.pointee.bump()
    started.object.attach(table, started.key)
  }

  // MARK: - Rows

  private func rowWriter(_ key: ObjectKey, _ isNew: Bool, _ links: LinkInsertion) -> _RowWriter {
    _RowWriter(
      group: group, binding: binding, key: key, isNew: isNew,
      compares: !isNew && update == .modified, links: links)
  }

  /// The row to write into: a new one, or the one of the same key.
  private func makeRow(_ key: _PrimaryKeyValue?) -> (key: ObjectKey, isNew: Bool) {
    if binding.schema.isEmbedded { return (group.insertEmbedded(storedTable), true) }
    guard let key else { return (group.insert(storedTable), true) }
    let row: (key: ObjectKey, inserted: Bool)
    switch key {
    case .integer(let integer): row = group.insert(storedTable, primaryKeyInteger: integer)
    case .bytes(nil): row = group.insert(storedTable, primaryKeyBytes: nil)
    case .bytes(let bytes?):
      row = bytes.withUnsafeBytes { group.insert(storedTable, primaryKeyBytes: $0) }
    }
    if !row.inserted && update == .error {
      misuse(
        .argument,
        "Attempting to create an object of type '\(binding.schema.name)' with an existing primary "
          + "key value '\(key.text(self.key!.codec.type))'.")
    }
    return (row.key, row.inserted)
  }
}
