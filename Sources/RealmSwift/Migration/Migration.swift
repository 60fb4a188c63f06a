// What a migration block works with: the objects as they were, and as they will be.
internal import ObjectStore
internal import Storage

/// Brings the objects of a file to a newer form of their classes.
///
/// Gets the migration and the schema version of the file.
public typealias MigrationBlock =
  @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) ->
  Void

/// Gets an object as it was, and as it will be.
///
/// Each is nil where there is no such object: in a class that the other schema does not have.
public typealias MigrationObjectEnumerateBlock = (
  _ oldObject: MigrationObject?, _ newObject: MigrationObject?
) -> Void

/// The change of a file from one form of its classes to another.
///
/// Only good inside of the migration block. Old objects are read-only. New ones have the properties
/// of the new classes: those that are new have their default, those whose type has changed too.
public final class Migration {
  /// The classes as they were.
  public let oldSchema: Schema
  /// The classes as they will be.
  public let newSchema: Schema
  private let oldRealm: ConfinedRealm
  private let update: SchemaUpdate
  /// Made anew when a table changes, which ends all objects.
  private var newRealm: ConfinedRealm
  private let makeRealm: () -> ConfinedRealm
  /// The objects that new properties begin with.
  private var defaults = DefaultObjects()

  init(
    _ oldRealm: ConfinedRealm, _ update: SchemaUpdate, _ makeRealm: @escaping () -> ConfinedRealm
  ) {
    self.oldRealm = oldRealm
    self.update = update
    self.makeRealm = makeRealm
    newRealm = makeRealm()
    oldSchema = Schema(objectSchema: oldRealm.bindings.map(\.schema.publicForm))
    newSchema = update.schema.publicForm
    var defaults = DefaultObjects()
    update.fillDefaults(newRealm) { defaults.willFill($0, $1, update.group) }
    defaults.didFill(update.group)
    self.defaults = defaults
  }

  // MARK: - Objects

  /// Runs a block on all objects of a class.
  ///
  /// Objects that the migration has deleted or created are left out.
  /// - Complexity: O(objects); memory does not grow with them unless the block keeps them.
  public func enumerateObjects(
    ofType typeName: String, _ block: MigrationObjectEnumerateBlock
  ) {
    check()
    let oldTable = oldRealm.dynamicTable(named: storedName(typeName))
    var newTable = newRealm.dynamicTable(named: typeName)
    guard let oldTable else {
      // Taken first: the block may add objects.
      guard let newTable else { return }
      let last = newRealm.reader(of: newTable).flatMap { reader in
        reader.count == 0 ? nil : reader.key(at: reader.count - 1)
      }
      forEachNew(typeName, through: last) { block(nil, $0) }
      return
    }
    let cursor = ObjectCursor(oldRealm, oldTable, oldRealm.reader(of: oldTable))
    var newRealm = newRealm
    var newObject = newTable.map { ReusedAccessor($0) }
    // Both accessors are lent to the block: counting references would take a fifth of the time.
    while let lent = cursor.nextLent() {
      lent._withUnsafeGuaranteedRef { object in
        if newRealm !== self.newRealm {
          // The block has renamed a property or removed a class.
          newRealm = self.newRealm
          newTable = newRealm.dynamicTable(named: typeName)
          newObject = newTable.map { ReusedAccessor($0) }
        }
        let old = unsafeDowncast(object, to: MigrationObject.self)
        guard let newTable else { return block(old, nil) }
        let new = newTable.pointee.withRealm { realm in
          realm.locate(newTable, old._key).map {
            newObject!.lent(realm, newTable, old._key, at: $0)
          }
        }
        new?._withUnsafeGuaranteedRef {
          block(old, unsafeDowncast($0, to: MigrationObject.self))
        }
      }
    }
  }

  private func forEachNew(
    _ typeName: String, through last: ObjectKey?, _ body: (MigrationObject) -> Void
  ) {
    guard let last, var table = newRealm.dynamicTable(named: typeName) else { return }
    // Keeps the tables while the block runs, which may replace the Realm.
    var realm = newRealm
    var next = realm.reader(of: table)?.nextKey(after: nil)
    while let key = next, key <= last {
      if let object = realm.accessor(table, key) {
        body(unsafeDowncast(object, to: MigrationObject.self))
      }
      if realm !== newRealm {
        // The block has renamed a property or removed a class.
        realm = newRealm
        guard let current = realm.dynamicTable(named: typeName) else { return }
        table = current
      }
      next = realm.reader(of: table)?.nextKey(after: key)
    }
  }

  /// Makes an object of a new class.
  ///
  /// - Parameters:
  ///   - typeName: the name of the class.
  ///   - value: a dictionary by property name, an array in property order, or another object.
  @discardableResult
  public func create(_ typeName: String, value: Any = [:]) -> MigrationObject {
    check()
    return newRealm.dynamicCreate(typeName, value, .error)
  }

  /// Removes a new object.
  ///
  /// Stops when it is not one of this migration.
  public func delete(_ object: MigrationObject) {
    check()
    Realm(newRealm).delete(object)
  }

  /// Removes all objects of a class, and the class if it is no longer declared.
  ///
  /// - Returns: whether the file has the class.
  @discardableResult
  public func deleteData(forType typeName: String) -> Bool {
    check()
    let group = newRealm.requireWriting()
    let name = storedName(typeName)
    guard let table = group.schema.table(named: name) else { return false }
    group.deleteAll(table)
    if update.schema.classes.contains(where: { $0.name == name }) {
      newRealm.dynamicTable(named: name)?.pointee.bump()
      newRealm.bumpChangedTables()
    } else if group.schema.tables.allSatisfy({ other in
      other === table || other.schema.columns.allSatisfy { $0.target != name }
    }) {
      group.removeTable(table)
      tablesHaveChanged()
    }
    return true
  }

  // MARK: - Properties

  /// Keeps the values of a property that has another name in the new class.
  ///
  /// Stops when one of the properties does not exist, when the old one is still declared, and when
  /// the types differ.
  public func renameProperty(onType typeName: String, from oldName: String, to newName: String) {
    check()
    let name = storedName(typeName)
    func stop(_ reason: String) -> Never {
      misuse(
        .schema, "Cannot rename property '\(name).\(oldName)' to '\(newName)' because \(reason)")
    }
    let group = newRealm.requireWriting()
    guard oldRealm.classes.binding(named: name) != nil,
      let table = group.schema.table(named: name)
    else {
      misuse(.schema, "Cannot rename properties for type '\(name)' because it does not exist.")
    }
    guard let model = update.schema.classes.first(where: { $0.name == name }) else {
      misuse(
        .schema,
        "Cannot rename properties for type '\(name)' because it has been removed from the Realm.")
    }
    let target = model.index(ofProperty: newName).map { model.properties[$0].columnName } ?? newName
    guard let source = table.columnIndex(named: oldName) else {
      misuse(
        .schema, "Cannot rename property '\(name).\(oldName)' because it does not exist.")
    }
    guard let declared = model.tableSchema.columns.first(where: { $0.name == target }) else {
      misuse(.schema, "Renamed property '\(name).\(newName)' does not exist.")
    }
    if model.properties.contains(where: { $0.columnName == oldName }) {
      stop("the source property still exists.")
    }
    let old = table.schema.columns[source]
    if !old.holdsSame(as: declared) {
      stop("it would change from type '\(old.typeName)' to '\(declared.typeName)'.")
    }
    if old.isOptional && !declared.isOptional {
      stop("it would change from optional to required.")
    }
    move(table, oldName, to: declared)
    tablesHaveChanged()
  }

  /// Puts an old column in the place of a new, empty one.
  private func move(_ table: StoredTable, _ oldName: String, to declared: ColumnSchema) {
    let group = newRealm.requireWriting()
    var table = table
    if let empty = table.columnIndex(named: declared.name) {
      table = group.removeColumn(table, empty)
      defaults.deleteUnlinked(table.schema.name, declared.name, group)
    }
    table = group.renameColumn(table, table.columnIndex(named: oldName)!, to: declared.name)
    let position = table.columnIndex(named: declared.name)!
    if table.schema.columns[position].isOptional != declared.isOptional {
      group.changeColumn(
        table, position, isOptional: declared.isOptional,
        isIndexed: table.schema.columns[position].isIndexed)
    }
  }

  // MARK: - Parts

  /// The name in the file of a class that may be named as in Swift.
  private func storedName(_ typeName: String) -> String {
    if oldRealm.classes.binding(named: typeName) != nil { return typeName }
    return newRealm.classes.binding(named: typeName)?.schema.name ?? typeName
  }

  private func tablesHaveChanged() {
    newRealm.endMigration()
    newRealm = makeRealm()
  }

  private func check() {
    if newRealm.writing == nil {
      misuse(
        .transaction,
        "The migration has ended: use it inside of its migration block, and do not keep it.")
    }
  }

  /// Ends all objects of the migration.
  func end() { newRealm.endMigration() }
}

@available(*, unavailable)
extension Migration: Sendable {}
