// Stored classes that a Realm does not hold: mixed values of its objects may link to them all the
// same. Their objects are dynamic ones, made of what the file knows of the class, and only reached
// from such values and from each other.
internal import ObjectStore

extension SchemaBindings {
  /// The binding of a stored class that is none of these, for dynamic accessors; nil when there is
  /// no such table, and when it is of one of these.
  func foreignBinding(tableKey: UInt64) -> TableBinding? {
    guard let table = stored.tables.first(where: { $0.tableKey == tableKey }),
      binding(ofTable: table.index) == nil
    else { return nil }
    return keptForeign(at: TableBinding.firstForeign + Int(tableKey)) { index in
      TableBinding(schema: .dynamic(table.schema), index: index, table: table)
    }
  }

  /// The binding, in these tables, of a foreign class; without a table when that is gone, so that
  /// its objects are, too.
  func foreignBinding(like binding: TableBinding) -> TableBinding {
    if let key = binding.table?.tableKey, let found = foreignBinding(tableKey: key) { return found }
    return keptForeign(at: binding.index) { index in
      TableBinding(schema: binding.schema, index: index, table: nil)
    }
  }

  /// The binding, in these classes, of a class that another Realm of the file does not hold; nil
  /// when its table is gone.
  func ownForeign(_ binding: TableBinding) -> TableBinding? {
    if let found = self.binding(storedName: binding.schema.name) {
      return dynamicBinding(of: found)
    }
    return binding.table.flatMap { foreignBinding(tableKey: $0.tableKey) }
  }
}

extension ConfinedRealm {
  /// The shared state of the accessors of a stored class that the Realm does not hold; nil when
  /// there is no such class.
  func foreignTable(named name: String) -> TablePointer? {
    classes.stored.table(named: name)
      .flatMap { classes.foreignBinding(tableKey: $0.tableKey) }
      .map { table($0) }
  }

  /// Goes on with the tables of foreign classes as other classes of the Realm have them.
  ///
  /// - Returns: whether all of them keep their values where they did; they may have further ones.
  func rebindForeign(to adopted: SchemaBindings) -> Bool {
    var isSame = true
    tables.forEachForeign { table in
      let (old, new) = (table.pointee.binding, adopted.foreignBinding(like: table.pointee.binding))
      if let before = old.table, !before.hasPlaces(in: new.table) { isSame = false }
      table.pointee.rebind(new)
    }
    return isSame
  }

  /// The object of a foreign class, given by another Realm of the file, as this Realm has it; nil
  /// for all others, and when it is not there.
  func sameForeign(_ object: ObjectBase) -> (table: TablePointer, key: ObjectKey)? {
    guard let owner = object._realm, owner !== self, owner.store === store,
      let table = object._table, table.pointee.binding.isForeign
    else { return nil }
    owner.check()
    // What a lost version has made is not there, though there may be another one of its key.
    guard !owner.isLost, let own = classes.ownForeign(table.pointee.binding), own.isForeign
    else { return nil }
    let (found, key) = (self.table(own), object.lastingKey)
    guard locate(found, key) != nil else { return nil }
    return (found, key)
  }

  /// Whether an object is of a foreign class of another Realm, and this Realm has neither the class
  /// nor the object: a mixed value that links to it is copied as none.
  func lacks(_ object: ObjectBase) -> Bool {
    guard let owner = object._realm, owner !== self, let binding = object._table?.pointee.binding,
      binding.isForeign
    else { return false }
    return classes.binding(storedName: binding.schema.name) == nil && sameForeign(object) == nil
  }

  /// Makes accessors of foreign classes stale whose table was changed.
  func bumpForeign(ofTable index: Int) {
    tables.forEachForeign { table in
      if table.pointee.binding.table?.index == index { table.pointee.bump() }
    }
  }
}

extension StoredTable {
  /// Whether a later form of the table keeps all values where this one has them.
  ///
  /// Columns are added at the end; one of another type has another key.
  fileprivate func hasPlaces(in later: StoredTable?) -> Bool {
    guard let later else { return false }
    return later.index == index && later.columnKeys.starts(with: columnKeys)
  }
}
