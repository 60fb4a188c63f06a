// The steps of opening a file before there is a Realm: its store, and its classes brought in line with
// the configuration's. New classes are added silently; changed ones need a newer schema version.
internal import Foundation
internal import ObjectStore
internal import Platform
internal import Storage

/// Opens the file of one configuration.
struct RealmOpening {
  let configuration: Realm.Configuration
  let schema: RealmSchema

  /// What a Realm is made of.
  struct Opened {
    let store: Store
    let snapshot: Snapshot
    let stored: StoredSchema
  }

  /// - Throws: a `Realm.Error` for settings that nothing can be opened with.
  init(_ configuration: Realm.Configuration) throws {
    if configuration.syncConfiguration != nil {
      throw Realm.Error(
        .invalidInput,
        "Synchronised Realms are not supported on this platform. Remove `syncConfiguration` from "
          + "the configuration to open a local Realm.", path: configuration.fileURL?.path)
    }
    self.configuration = configuration
    schema = RealmSchema.of(configuration.objectTypes)
  }

  /// Opens the file, and migrates it where that is needed.
  ///
  /// - Throws: a `Realm.Error`; see the codes there.
  func open() throws -> Opened {
    let opened: Opened
    do {
      opened = try openOnce()
    } catch is NeedsReset {
      // The store of the first try is closed by now, unless somebody uses it.
      Logger.shared.log(.info, "Deleting '\(configuration.place)': its classes have changed.")
      try Realm.deleteFiles(for: configuration)
      opened = try openOnce()
    }
    logOpening(opened)
    return opened
  }

  /// The file's classes differ, and the configuration wants to start over then.
  private struct NeedsReset: Error {}

  private func openOnce() throws -> Opened {
    let options = configuration.storeOptions
    let store = try mappingErrors { () throws(StorageError) in try Store.open(options) }
    return try prepareSchema(store)
  }

  private func logOpening(_ opened: Opened) {
    let logger = Logger.shared
    guard logger.level >= .detail else { return }
    logger.log(
      .detail,
      "Details DB: opened '\(configuration.place)', version \(opened.snapshot.version.rawValue), "
        + "schema version \(opened.stored.schemaVersion), \(opened.stored.tables.count) classes.")
    for table in opened.stored.tables {
      logger.log(
        .trace,
        "Trace DB: class '\(table.schema.name)' with \(table.schema.columns.count) properties.")
    }
  }

  // MARK: - Classes

  private func prepareSchema(_ store: Store) throws -> Opened {
    let snapshot = try mappingErrors { () throws(StorageError) in try store.pinNewest() }
    let stored = StoredSchema.load(snapshot.reader, root: snapshot.root)
    let missing = try missingClasses(stored)
    let mustSetVersion = stored.schemaVersion < configuration.schemaVersion
    if missing.isEmpty && !mustSetVersion || configuration.readOnly {
      return Opened(store: store, snapshot: snapshot, stored: stored)
    }
    if mustSetVersion, configuration.deleteRealmIfMigrationNeeded, !snapshot.root.isNone {
      throw NeedsReset()
    }
    return try addClasses(store)
  }

  /// Adds what is still missing, in a transaction, since another thread may be doing the same.
  private func addClasses(_ store: Store) throws -> Opened {
    let transaction = try mappingErrors { () throws(StorageError) in try store.beginWrite() }
    do {
      let group = GroupTransaction(transaction.editor, root: transaction.root)
      let missing = try missingClasses(group.schema)
      for classSchema in missing { group.createTable(classSchema.tableSchema) }
      if group.schema.schemaVersion < configuration.schemaVersion {
        group.setSchemaVersion(configuration.schemaVersion)
      }
      transaction.root = group.finish()
      let snapshot = try mappingErrors { () throws(StorageError) in try transaction.commit() }
      return Opened(
        store: store, snapshot: snapshot,
        stored: StoredSchema.load(snapshot.reader, root: snapshot.root))
    } catch {
      if transaction.isOpen { transaction.cancel() }
      throw error
    }
  }

  /// The classes that the file does not have.
  ///
  /// - Throws: `schemaMismatch` when a class differs, or the file's schema version is newer.
  private func missingClasses(_ stored: StoredSchema) throws -> [ClassSchema] {
    if stored.schemaVersion > configuration.schemaVersion {
      if configuration.deleteRealmIfMigrationNeeded { throw NeedsReset() }
      throw Realm.Error(
        .schemaMismatch,
        "Provided schema version \(configuration.schemaVersion) is less than last set version "
          + "\(stored.schemaVersion).", path: configuration.place)
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
      if configuration.deleteRealmIfMigrationNeeded { throw NeedsReset() }
      throw Realm.Error(
        .schemaMismatch,
        "Migration is required due to the following errors:\n"
          + differences.map { "- \($0)" }.joined(separator: "\n"), path: configuration.place)
    }
    return missing
  }
}
