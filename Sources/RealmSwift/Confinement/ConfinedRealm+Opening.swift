// Opening: finds the instance of this thread or makes one, and brings the file's classes in line with
// the configuration's. New classes are added silently; changed ones need a migration.
internal import Foundation
internal import ObjectStore
internal import Platform
internal import Storage

extension ConfinedRealm {
  /// The Realm of a configuration for the place where the caller runs.
  ///
  /// - Throws: a `Realm.Error`; see the codes there.
  static func open(
    _ configuration: Realm.Configuration, _ confinement: Confinement = .current()
  ) throws -> ConfinedRealm {
    if let realm = RealmCache.find(configuration, confinement) { return realm }
    let options = configuration.storeOptions
    let schema = RealmSchema.of(configuration.objectTypes)
    let store = try mappingErrors { () throws(StorageError) in try Store.open(options) }
    let (snapshot, stored) = try prepareSchema(store, schema, configuration)
    let realm = ConfinedRealm(
      store: store, configuration: configuration, schema: schema, storedSchema: stored,
      bindings: bind(schema, stored), confinement: confinement, snapshot: snapshot)
    RealmCache.insert(realm)
    return realm
  }

  /// The live Realm of a frozen one for a place.
  static func thaw(
    _ frozen: ConfinedRealm, _ confinement: Confinement
  ) throws -> ConfinedRealm {
    if let realm = RealmCache.find(frozen.configuration, confinement), realm.store === frozen.store
    {
      return realm
    }
    let snapshot = try mappingErrors { () throws(StorageError) in try frozen.store.pinNewest() }
    let realm = ConfinedRealm(
      store: frozen.store, configuration: frozen.configuration, schema: frozen.schema,
      storedSchema: frozen.storedSchema, bindings: frozen.bindings, confinement: confinement,
      snapshot: snapshot)
    RealmCache.insert(realm)
    return realm
  }

  private static func prepareSchema(
    _ store: Store, _ schema: RealmSchema, _ configuration: Realm.Configuration
  ) throws -> (Snapshot, StoredSchema) {
    let snapshot = try mappingErrors { () throws(StorageError) in try store.pinNewest() }
    let stored = StoredSchema.load(snapshot.reader, root: snapshot.root)
    let missing = try missingClasses(schema, stored, configuration)
    let mustSetVersion = stored.schemaVersion < configuration.schemaVersion
    if missing.isEmpty && !mustSetVersion || configuration.readOnly {
      return (snapshot, stored)
    }
    return try addClasses(store, schema, configuration)
  }

  /// Adds what is still missing, in a transaction, since another thread may be doing the same.
  private static func addClasses(
    _ store: Store, _ schema: RealmSchema, _ configuration: Realm.Configuration
  ) throws -> (Snapshot, StoredSchema) {
    let transaction = try mappingErrors { () throws(StorageError) in try store.beginWrite() }
    do {
      let group = GroupTransaction(transaction.editor, root: transaction.root)
      let missing = try missingClasses(schema, group.schema, configuration)
      for classSchema in missing { group.createTable(classSchema.tableSchema) }
      if group.schema.schemaVersion < configuration.schemaVersion {
        group.setSchemaVersion(configuration.schemaVersion)
      }
      transaction.root = group.finish()
      let snapshot = try mappingErrors { () throws(StorageError) in try transaction.commit() }
      return (snapshot, StoredSchema.load(snapshot.reader, root: snapshot.root))
    } catch {
      if transaction.isOpen { transaction.cancel() }
      throw error
    }
  }

  /// The classes that the file does not have.
  ///
  /// - Throws: `schemaMismatch` when a class differs, or the file's schema version is newer.
  private static func missingClasses(
    _ schema: RealmSchema, _ stored: StoredSchema, _ configuration: Realm.Configuration
  ) throws -> [ClassSchema] {
    let path = configuration.fileURL?.path ?? configuration.inMemoryIdentifier
    if stored.schemaVersion > configuration.schemaVersion {
      throw Realm.Error(
        .schemaMismatch,
        "Provided schema version \(configuration.schemaVersion) is less than last set version "
          + "\(stored.schemaVersion).", path: path)
    }
    var differences: [String] = []
    var missing: [ClassSchema] = []
    for classSchema in schema.classes {
      if let table = stored.table(named: classSchema.name) {
        differences += SchemaDifferences.between(table.schema, classSchema.tableSchema)
      } else {
        missing.append(classSchema)
      }
    }
    guard differences.isEmpty else {
      throw Realm.Error(
        .schemaMismatch,
        "Migration is required due to the following errors:\n"
          + differences.map { "- \($0)" }.joined(separator: "\n"), path: path)
    }
    return missing
  }

  private static func bind(_ schema: RealmSchema, _ stored: StoredSchema) -> [TableBinding] {
    schema.classes.enumerated().map { index, classSchema in
      TableBinding(schema: classSchema, index: index, table: stored.table(named: classSchema.name))
    }
  }
}
