// Brings the tables of a running transaction in line with a configuration's classes. In two parts,
// with the migration block between: first everything new is there and everything old still is, then
// what is not declared any more goes.
internal import Foundation
internal import ObjectStore

/// Changes the tables of one transaction.
struct SchemaUpdate {
  let group: GroupTransaction
  let schema: RealmSchema
  /// The columns that classes have got, for which objects may need a value of their own.
  private(set) var added: [(classSchema: ClassSchema, columnName: String)] = []

  init(_ group: GroupTransaction, _ schema: RealmSchema) {
    self.group = group
    self.schema = schema
  }

  private func table(_ classSchema: ClassSchema) -> StoredTable? {
    group.schema.table(named: classSchema.name)
  }

  // MARK: - Without a migration

  /// Adds classes, and adds and removes indexes: all that needs no newer schema version.
  func apply() {
    addClasses()
    for classSchema in schema.classes { changeIndexes(classSchema) }
  }

  private func addClasses() {
    for classSchema in schema.classes where table(classSchema) == nil {
      group.createTable(classSchema.tableSchema)
    }
  }

  private func changeIndexes(_ classSchema: ClassSchema) {
    for column in classSchema.tableSchema.columns {
      guard let table = table(classSchema), let position = table.columnIndex(named: column.name),
        !table.schema.columns[position].hasSameIndex(as: column)
      else { continue }
      group.changeColumn(
        table, position, isOptional: column.isOptional, isIndexed: column.isIndexed)
    }
  }

  // MARK: - With a migration

  /// Makes room for everything that the classes declare.
  ///
  /// Columns that are declared no more stay; a column of another type is empty; a primary key that
  /// changes is none for now.
  mutating func begin() {
    addClasses()
    raiseEmbedded()
    for classSchema in schema.classes {
      let declared = classSchema.tableSchema
      let changes = table(classSchema)!.schema.changes(to: declared)
      if losesKey(changes, table(classSchema)!.schema.primaryKey) {
        _ = group.setPrimaryKey(table(classSchema)!, nil)
      }
      for change in changes { begin(change, classSchema) }
    }
  }

  /// Lets objects of classes that are embedded no more stand for themselves.
  ///
  /// First of all: else removing a link would take them along.
  private func raiseEmbedded() {
    for classSchema in schema.classes where !classSchema.isEmbedded {
      let table = table(classSchema)!
      if table.schema.isEmbedded { group.setEmbedded(table, false) }
    }
  }

  /// Whether the column that is the key now cannot be it while the change is going on.
  private func losesKey(_ changes: [SchemaChange], _ key: String?) -> Bool {
    guard let key else { return false }
    return changes.contains { change in
      switch change {
      case .primaryKey: return true
      case .retyped(let column, _), .madeOptional(let column), .madeRequired(let column):
        return column.name == key
      default: return false
      }
    }
  }

  private mutating func begin(_ change: SchemaChange, _ classSchema: ClassSchema) {
    let table = table(classSchema)!
    switch change {
    case .added(let column):
      group.addColumn(table, column)
      added.append((classSchema, column.name))
    case .retyped(let old, let column):
      let rest = group.removeColumn(table, table.columnIndex(named: old.name)!)
      group.addColumn(rest, column)
      added.append((classSchema, column.name))
    case .madeOptional(let column), .madeRequired(let column):
      let position = table.columnIndex(named: column.name)!
      group.changeColumn(
        table, position, isOptional: column.isOptional,
        isIndexed: table.schema.columns[position].isIndexed)
    case .removed, .primaryKey, .embedded, .index: break
    }
  }

  /// Removes what the classes declare no more, and sets keys and indexes.
  ///
  /// - Throws: when two objects have the same primary key, or an embedded class has objects that
  ///   are not linked exactly once.
  func finish() throws {
    for classSchema in schema.classes {
      let declared = classSchema.tableSchema
      let names = Set(declared.columns.map(\.name))
      for column in table(classSchema)!.schema.columns where !names.contains(column.name) {
        let table = table(classSchema)!
        group.removeColumn(table, table.columnIndex(named: column.name)!)
      }
      changeIndexes(classSchema)
      try setKey(classSchema, declared.primaryKey)
    }
    // Last, when all links are what they will be.
    for classSchema in schema.classes
    where classSchema.isEmbedded && !table(classSchema)!.schema.isEmbedded {
      try checkOwners(classSchema)
      group.setEmbedded(table(classSchema)!, true)
    }
  }

  /// - Throws: unless each object of a class that becomes embedded has exactly one link, and that
  ///   from no mixed value.
  private func checkOwners(_ classSchema: ClassSchema) throws {
    let table = table(classSchema)!
    let origins = group.schema.linkColumns(to: table.index).map { place in
      let origin = group.schema.tables[place.table]
      return (
        reader: group.reader(origin), column: place.column,
        isMixed: origin.schema.columns[place.column].type == .any
      )
    }
    var reason: String?
    group.reader(table).forEachObject { key, _ in
      var count = 0
      for origin in origins {
        let found = origin.reader.backlinks(origin.column, key, in: table).count
        if found > 0, origin.isMixed {
          reason =
            "At least one object is in a mixed value, which can hold no embedded object. Take it out "
            + "in the migration block."
          return false
        }
        count += found
      }
      if count == 0 {
        reason = "At least one object does not have a backlink (data would get lost)."
      } else if count > 1 {
        reason = "At least one object does have multiple backlinks."
      }
      return reason == nil
    }
    if let reason {
      throw Realm.Error(
        .fail, "Cannot convert '\(classSchema.name)' to embedded: \(reason)", path: nil)
    }
  }

  private func setKey(_ classSchema: ClassSchema, _ key: String?) throws {
    if group.tablesWithDoubtfulKeys.contains(classSchema.name) {
      // Entering all of them anew finds those that are equal.
      _ = group.setPrimaryKey(table(classSchema)!, nil)
    }
    let table = table(classSchema)!
    guard table.schema.primaryKey != key else { return }
    let position = key.map { table.columnIndex(named: $0)! }
    guard group.setPrimaryKey(table, position).duplicate == nil else {
      throw Realm.Error(
        .fail,
        "Primary key property '\(classSchema.name).\(key!)' has duplicate values after migration.",
        path: nil)
    }
  }

  // MARK: - Values

  /// Gives objects that were there before the values that their class starts new properties with.
  ///
  /// - Complexity: O(objects) where such a value is not nil; of properties that cannot be nil, not
  ///   zero, false or empty.
  ///
  /// - Parameter willFill: gets the class and the column that come next.
  func fillDefaults(
    _ realm: ConfinedRealm, _ willFill: (_ className: String, _ columnName: String) -> Void
  ) {
    // Objects that come with the values are whole already.
    let ends: [Int64] = group.schema.tables.map { group.reader($0).nextKey }
    for (classSchema, columnName) in added {
      guard let property = classSchema.properties.first(where: { $0.columnName == columnName }),
        let binding = realm.classes.binding(of: classSchema.objectClass), let table = binding.table
      else { continue }
      let column = table.columnIndex(named: columnName)!
      var instance = classSchema.objectClass.init()
      let value = property.codec.value(instance.pointer(to: property), instance)
      if property.codec.collection != .none || holds(table.schema.columns[column], value) {
        continue
      }
      willFill(classSchema.name, columnName)
      let isEmbedded = property.codec.objectClass is EmbeddedObject.Type
      let links = LinkInsertion(realm, .error)
      var next = group.reader(table).nextKey(after: nil)
      while let key = next, key.rawValue < ends[table.index] {
        var row = _RowWriter(
          group: group, binding: binding, table: table, key: key, isNew: true, compares: false,
          links: links)
        withExtendedLifetime(links) {
          property.codec.store(instance.pointer(to: property), &row, column)
          links.finish()
        }
        // An embedded object has one owner; any other is shared by the objects that begin with it.
        if property.codec.keepsDefault || isEmbedded {
          instance = classSchema.objectClass.init()
        }
        next = group.reader(table).nextKey(after: key)
      }
    }
  }

  /// Whether a new column holds the value already: nil where it can, else zero, false or nothing.
  private func holds(_ column: ColumnSchema, _ value: Any?) -> Bool {
    // Links and mixed values among them.
    if column.isOptional { return value == nil }
    switch value {
    case nil: return true
    case let value as any _PackedValue: return value._packed == 0
    case let value as String: return value.isEmpty
    case let value as Data: return value.isEmpty
    default: return false
    }
  }
}
