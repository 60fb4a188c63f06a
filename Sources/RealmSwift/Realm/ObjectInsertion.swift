// Puts objects of one class into the running transaction: rules first, then the row, then the
// values, then the object becomes its accessor. Made once for a bulk of objects.
internal import ObjectStore

/// Adds objects of one class with one update policy.
///
/// Used in one transaction of a Realm, which outlives it.
final class ObjectInsertion {
  let objectType: ObjectBase.Type
  private unowned(unsafe) let realm: ConfinedRealm
  private let group: GroupTransaction
  private let binding: TableBinding
  private let storedTable: StoredTable
  private let table: TablePointer
  private let update: Realm.UpdatePolicy
  /// Of the primary key: how an object gives it, and where it lies; nil without one.
  private let withKey: WithKey?
  private let keyOffset: Int
  /// Whether mixed values of the objects may refer to lists and dictionaries of a Realm.
  private let hasMixed: Bool

  private typealias WithKey =
    @Sendable (UnsafeMutableRawPointer, (_PrimaryKeyView) -> Void) -> Void

  /// An object that has a row, and no values in it yet.
  struct Started {
    /// Kept by those who add objects.
    let insertion: Unmanaged<ObjectInsertion>
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
    group = realm.requireWriting()
    table = realm.requireTable(of: objectType)
    let binding = table.pointee.binding
    if !binding.schema.emptiness.isEmpty {
      misuse(
        .schema,
        "An object of class '\(objectType)' cannot be added, because nothing of it would be stored. "
          + binding.schema.emptiness.joined(separator: " "))
    }
    self.binding = binding
    storedTable = binding.table!
    let property = binding.primaryKey.map { binding.schema.properties[$0] }
    withKey = property?.codec.withKey
    keyOffset = property?.offset ?? 0
    hasMixed = !binding.schema.mixedProperties.isEmpty
    requireKey(for: update)
  }

  /// Stops when objects without a key are to be updated.
  func requireKey(for update: Realm.UpdatePolicy) {
    if update != .error && binding.primaryKey == nil {
      misuse(
        .schema, "'\(binding.schema.name)' does not have a primary key and can not be updated")
    }
  }

  // MARK: - Adding

  /// Says that so many new objects are about to be added.
  func reserve(_ count: Int) { group.reserve(storedTable, newObjects: count) }

  /// Adds an object that belongs to no Realm; leaves one of this Realm alone.
  ///
  /// What it links to is added too, by `links`, whose `finish` is the caller's to call.
  func add(_ object: ObjectBase, _ links: LinkInsertion) {
    if object._realm != nil {
      realm.requireOwn(object)
      return
    }
    let (key, isNew) = startRow(object)
    store(object, key, isNew, links)
  }

  /// Gives an unmanaged object its row, without values.
  ///
  /// It belongs to the Realm from now on, so that links to it find it.
  func start(_ object: ObjectBase) -> Started {
    let (key, isNew) = startRow(object)
    return Started(
      insertion: .passUnretained(self), object: object, key: key, isNew: isNew)
  }

  /// Reads the lists and dictionaries of the Realm that mixed values of an object refer to.
  func keepContent(of object: ObjectBase) {
    if hasMixed { object.keepContent(binding.schema) }
  }

  private func startRow(_ object: ObjectBase) -> (key: ObjectKey, isNew: Bool) {
    let base = Unmanaged.passUnretained(object).toOpaque()
    let row = makeRow(base)
    // Values are read from other objects, of this class too, before all are written.
    table.pointee.bump()
    // It may be in sets of the client's, which have to find it whatever becomes of the row.
    object.identify(table, row.key, keyHash: row.keyHash)
    return (row.key, row.isNew)
  }

  /// Writes the values of an object that has its row, and makes it an accessor.
  func store(_ started: Started, _ links: LinkInsertion) {
    if let given = started.given { return store(given, started, links) }
    store(started.object, started.key, started.isNew, links)
  }

  private func store(
    _ object: ObjectBase, _ key: ObjectKey, _ isNew: Bool, _ links: LinkInsertion
  ) {
    if !isNew { keepContent(of: object) }
    let base = Unmanaged.passUnretained(object).toOpaque()
    var row = rowWriter(key, isNew, links)
    for index in binding.attachments.indices {
      let attachment = binding.attachments.baseAddress.unsafelyUnwrapped + index
      guard let store = attachment.pointee.store else { continue }
      let wrapper = base + attachment.pointee.offset
      store(wrapper, &row, Int(attachment.pointee.column))
      attachment.pointee.becomeManaged?(wrapper, object, attachment.pointee.column)
    }
    table.pointee.bump()
    object.attach(table, key)
  }

  // MARK: - Creating

  /// Makes an object from values, or updates the one of the same key; with all that it links to.
  func create(_ value: Any, _ links: LinkInsertion) -> ObjectBase {
    let started = startCreating(value, links, isOutermost: true)
    store(started, links)
    links.finish()
    return started.object
  }

  /// Gives an object that is made from values its row, or finds the one of the same key.
  ///
  /// It becomes an accessor when its values are written.
  ///
  /// - Parameter isOutermost: whether the value is inside of no other one.
  func startCreating(_ value: Any, _ links: LinkInsertion, isOutermost: Bool) -> Started {
    if let object = objectValue(value), let owner = object._realm {
      owner.check()
      if object.locate() == nil {
        misuse(
          .invalidated, "Adding a deleted or invalidated object to a Realm is not permitted")
      }
    }
    var values = InputValues(value, for: binding.schema)
    // What is inside of other values has been read with them, except what an object holds.
    if update != .error, isOutermost || objectValue(value) != nil { values.readContents() }
    let object = objectType.init()
    let base = Unmanaged.passUnretained(object).toOpaque()
    let (key, isNew): (ObjectKey, Bool)
    if let position = binding.primaryKey, let given = values[position] {
      let property = binding.schema.properties[position]
      var row = (key: ObjectKey(rawValue: -1), isNew: false)
      property.codec.keyOfAny(given)!.withView { row = makeRow(key: $0) }
      (key, isNew) = row
    } else {
      let row = makeRow(base)
      (key, isNew) = (row.key, row.isNew)
    }
    table.pointee.bump()
    links.remember(key, asCopyOf: value)
    return Started(
      insertion: .passUnretained(self), object: object, key: key, isNew: isNew, given: values)
  }

  /// Writes the values that were given, and of a new object the defaults of the others.
  private func store(_ values: InputValues, _ started: Started, _ links: LinkInsertion) {
    let base = Unmanaged.passUnretained(started.object).toOpaque()
    var row = rowWriter(started.key, started.isNew, links)
    var next = 0
    for (index, property) in binding.schema.properties.enumerated() {
      // What is given is in the order of the properties.
      let isGiven = next < values.given.count && values.given[next].property == index
      defer { if isGiven { next += 1 } }
      if index == binding.primaryKey || property.isComputed { continue }
      if isGiven {
        _ = property.codec.storeAny(values.given[next].value, &row, binding.columns[index])
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
      group: group, binding: binding, table: storedTable, key: key, isNew: isNew,
      compares: !isNew && update == .modified, links: links)
  }

  /// The row to write an object into: a new one, or the one of the same key.
  ///
  /// - Returns: also the hash of the primary key; 0 without one.
  @inline(__always)
  private func makeRow(
    _ base: UnsafeMutableRawPointer
  ) -> (key: ObjectKey, isNew: Bool, keyHash: UInt32) {
    if binding.schema.isEmbedded { return (group.insertEmbedded(storedTable), true, 0) }
    guard let withKey else { return (group.insert(storedTable), true, 0) }
    var row = (key: ObjectKey(rawValue: -1), isNew: false, keyHash: 0 as UInt32)
    withKey(base + keyOffset) {
      let (key, isNew) = makeRow(key: $0)
      row = (key, isNew, $0.hash)
    }
    return row
  }

  /// The row of a key, a new one if there is none.
  private func makeRow(key: _PrimaryKeyView) -> (key: ObjectKey, isNew: Bool) {
    let row: (key: ObjectKey, inserted: Bool)
    switch key {
    case .integer(let integer): row = group.insert(storedTable, primaryKeyInteger: integer)
    case .bytes(let bytes): row = group.insert(storedTable, primaryKeyBytes: bytes)
    }
    if !row.inserted && update == .error { stopForExistingKey(key) }
    return (row.key, row.inserted)
  }

  @inline(never)
  private func stopForExistingKey(_ key: _PrimaryKeyView) -> Never {
    let type = binding.schema.properties[binding.primaryKey!].codec.type
    misuse(
      .argument,
      "Attempting to create an object of type '\(binding.schema.name)' with an existing primary "
        + "key value '\(_PrimaryKeyValue(key).text(type))'.")
  }
}
