// The steps of opening a file before there is a Realm: its store, and its classes brought in line
// with the configuration's. New classes are added silently; changed ones need a newer schema
// version.
internal import Foundation
internal import Glibc
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
    let classes: SchemaBindings
  }

  /// - Throws: a `Realm.Error` for settings that nothing can be opened with.
  init(_ configuration: Realm.Configuration) throws {
    if configuration.syncConfiguration != nil {
      throw Realm.Error(
        .invalidInput,
        "Synchronised Realms are not supported on this platform. Remove `syncConfiguration` from "
          + "the configuration to open a local Realm.", path: configuration.fileURL?.path)
    }
    try configuration.validate()
    self.configuration = configuration
    schema = RealmSchema.of(configuration.objectTypes)
    let errors = schema.errors
    guard errors.isEmpty else {
      // Who lists classes knows them; who does not may never have heard of the one that is at
      // fault.
      let remedy =
        configuration.objectTypes != nil
        ? ""
        : "\nThis Realm holds every class of the program. List the ones that it is for in "
          + "`objectTypes` of its configuration, or leave classes out of this list by overriding "
          + "`shouldIncludeInDefaultSchema()`."
      throw Realm.Error(
        .fail,
        "Schema validation failed due to the following errors:\n"
          + errors.map { "- \($0)" }.joined(separator: "\n") + remedy, path: configuration.place)
    }
  }

  /// Opens the file, and migrates it where that is needed.
  ///
  /// - Throws: a `Realm.Error`; see the codes there.
  func open() throws -> Opened {
    let clock = MonotonicClock()
    var deadline: UInt64?
    while true {
      do {
        let opened = try openOnce()
        Self.log(configuration, opened.snapshot, opened.classes.stored)
        return opened
      } catch let reset as NeedsReset {
        let end = deadline ?? clock.nanoseconds() + Self.resetNanoseconds
        deadline = end
        try startOver(reset, mayFail: clock.nanoseconds() < end)
      }
    }
  }

  /// How long others that may be about to start over, too, are waited for.
  private static let resetNanoseconds: UInt64 = 500_000_000

  /// Deletes what was found, unless others have done so.
  ///
  /// - Parameter mayFail: while others use the file, whose classes they may not like either.
  private func startOver(_ reset: NeedsReset, mayFail: Bool) throws {
    guard let path = configuration.fileURL?.path else {
      throw Realm.Error(
        .alreadyOpen, "Cannot start over while another Realm uses '\(configuration.place)'.",
        path: nil)
    }
    do throws(StorageError) {
      let isDeleted = try Store.deleteFiles(
        path: path, fileSystem: configuration.storeOptions.fileSystem, only: reset.state)
      guard isDeleted || mayFail else {
        throw StorageError.alreadyOpen(path: path, reason: "and made anew again and again")
      }
      if isDeleted {
        Logger.shared.log(.info, "Deleted '\(configuration.place)': its classes have changed.")
        return
      }
    } catch {
      guard mayFail, case .alreadyOpen = error else { throw Realm.Error(error) }
    }
    // Somebody uses it, has deleted it, or is in the sync of a commit. No event tells of other
    // processes. Not at the same times as they.
    let nanoseconds = 500_000 + systemRandom() % 4_500_000
    _ = Monitor(()).wait(nanoseconds: nanoseconds) { _ in false }
  }

  /// The file's classes differ, and the configuration wants to start over then.
  private struct NeedsReset: Error {
    /// What was found.
    let state: Store.FileState
  }

  private func openOnce() throws -> Opened {
    _ = Self.reportLongWaits
    RootStructure.register()
    let options = configuration.storeOptions
    try copySeed()
    let store = try mappingErrors { () throws(StorageError) in try Store.open(options) }
    return try prepareSchema(store)
  }

  /// Starts a missing file with the content of the seed; also one that is only read then.
  private func copySeed() throws {
    guard let seed = configuration.seedFilePath, let path = configuration.fileURL?.path,
      !LinuxFileSystem().exists(path)
    else { return }
    do throws(StorageError) {
      try Store.copyFile(
        seed.path, toNew: path, encryptionKey: configuration.encryptionKey.map { [UInt8]($0) },
        fileSystem: LinuxFileSystem())
    } catch .fileExists {
      // Somebody else was faster.
    } catch {
      throw Realm.Error(error)
    }
  }

  /// Says when somebody waits long for a file's write lock; set up once.
  private static let reportLongWaits: Void = {
    let log = Monitor(LongWaitLog())
    let clock = MonotonicClock()
    LongWait.setObserver { wait in
      let line = log.withLock { $0.line(for: wait, at: clock.nanoseconds()) }
      if let line { Logger.shared.log(.warn, line) }
    }
  }()

  /// Says that a Realm was opened.
  static func log(
    _ configuration: Realm.Configuration, _ snapshot: Snapshot, _ stored: StoredSchema
  ) {
    let logger = Logger.shared
    guard logger.level >= .detail else { return }
    logger.log(
      .detail,
      "Details DB: opened '\(configuration.place)', version \(snapshot.version.rawValue), "
        + "schema version \(stored.schemaVersion), \(stored.tables.count) classes.")
    for table in stored.tables {
      logger.log(
        .trace,
        "Trace DB: class '\(table.schema.name)' with \(table.schema.columns.count) properties.")
    }
  }

  // MARK: - Classes

  private func prepareSchema(_ store: Store) throws -> Opened {
    let snapshot = try mappingErrors { () throws(StorageError) in try store.pinNewest() }
    let fitting = schema.fitting.withLock { $0 }
    let stored = try loadSchema(snapshot, fitting?.stored)
    if let fitting, stored === fitting.stored,
      stored.schemaVersion == configuration.schemaVersion
    {
      return Opened(store: store, snapshot: snapshot, classes: fitting)
    }
    let need = try need(stored, snapshot.root, store.fileState(snapshot.version))
    if need == .nothing || configuration.readOnly {
      return opened(store, snapshot, stored)
    }
    return try update(store)
  }

  private func loadSchema(
    _ snapshot: Snapshot, _ likely: StoredSchema? = nil
  ) throws -> StoredSchema {
    try mappingErrors { () throws(StorageError) in
      try StoredSchema.load(snapshot.reader, root: snapshot.root, orEqual: likely)
    }
  }

  private func opened(_ store: Store, _ snapshot: Snapshot, _ stored: StoredSchema) -> Opened {
    let classes = SchemaBindings(schema.classes, stored)
    // A file that is only read may lack classes and indexes.
    if !configuration.readOnly {
      let old = schema.fitting.withLock { fitting in
        defer { fitting = classes }
        return fitting
      }
      withExtendedLifetime(old) {}
    }
    return Opened(store: store, snapshot: snapshot, classes: classes)
  }

  /// What has to be done to the file's classes.
  private enum Need {
    case nothing
    /// New classes, or other indexes.
    case additions
    /// A newer schema version.
    case migration
  }

  /// - Throws: `schemaMismatch` when a class differs without a newer schema version, or the file's
  ///   is newer.
  private func need(
    _ stored: StoredSchema, _ root: BlockReference, _ state: Store.FileState
  ) throws -> Need {
    if root.isNone { return .additions }
    if stored.schemaVersion > configuration.schemaVersion {
      if configuration.deleteRealmIfMigrationNeeded { throw NeedsReset(state: state) }
      throw Realm.Error(
        .schemaMismatch, Self.olderVersion(configuration, stored), path: configuration.place)
    }
    let isNewer = stored.schemaVersion < configuration.schemaVersion
    let (lines, hasAdditions) = differences(from: stored)
    if isNewer || !lines.isEmpty, configuration.deleteRealmIfMigrationNeeded {
      throw NeedsReset(state: state)
    }
    if configuration.readOnly ? !lines.isEmpty : !isNewer && !lines.isEmpty {
      throw Realm.Error(
        .schemaMismatch,
        "Migration is required due to the following errors:\n"
          + lines.map { "- \($0)" }.joined(separator: "\n"), path: configuration.place)
    }
    if isNewer { return .migration }
    return hasAdditions ? .additions : .nothing
  }

  /// What to say of a configuration whose schema version is older than the file's.
  static func olderVersion(_ configuration: Realm.Configuration, _ stored: StoredSchema) -> String {
    "Provided schema version \(configuration.schemaVersion) is less than last set version "
      + "\(stored.schemaVersion)."
  }

  /// What needs a migration, in words, and whether something else has to be done.
  private func differences(from stored: StoredSchema) -> (lines: [String], hasAdditions: Bool) {
    var lines: [String] = []
    var hasAdditions = false
    for classSchema in schema.classes {
      guard let table = stored.table(named: classSchema.name) else {
        hasAdditions = true
        continue
      }
      for change in table.schema.changes(to: classSchema.tableSchema)
      where !configuration.readOnly || change.concernsReading {
        if let line = change.line(className: classSchema.name) {
          lines.append(line)
        } else {
          hasAdditions = true
        }
      }
    }
    return (lines, hasAdditions)
  }

  /// Does what is still needed, in a transaction, since another thread may be doing the same.
  private func update(_ store: Store) throws -> Opened {
    if WritersHere.have(store) {
      throw Realm.Error(
        .alreadyOpen,
        "Cannot change the classes of '\(configuration.place)' while a write transaction or a "
          + "migration of it is running here, which would be waited for forever. Open this Realm "
          + "before or after that.", path: configuration.place)
    }
    let transaction = try mappingErrors { () throws(StorageError) in try store.beginWrite() }
    do {
      let stored = try mappingErrors { () throws(StorageError) in
        try StoredSchema.load(transaction.base.reader, root: transaction.root)
      }
      let group = GroupTransaction(transaction.editor, root: transaction.root, schema: stored)
      let base = store.fileState(transaction.base.version)
      switch try need(stored, transaction.root, base) {
      case .nothing: break
      case .additions: SchemaUpdate(group, schema).apply()
      case .migration: try migrate(store, stored, transaction, group)
      }
      if group.schema.schemaVersion < configuration.schemaVersion {
        group.setSchemaVersion(configuration.schemaVersion)
      }
      transaction.root = group.finish()
      let snapshot = try mappingErrors { () throws(StorageError) in try transaction.commit() }
      return opened(store, snapshot, try loadSchema(snapshot))
    } catch {
      if transaction.isOpen { transaction.cancel() }
      throw error
    }
  }

  // MARK: - Migration

  /// Brings the file's objects to the new form of their classes, with the help of the block.
  private func migrate(
    _ store: Store, _ stored: StoredSchema, _ transaction: WriteTransaction,
    _ group: GroupTransaction
  ) throws {
    if RealmCache.hasLiveRealm(of: store) {
      throw Realm.Error(
        .alreadyOpen,
        "Cannot migrate Realms that are already open: close every Realm of "
          + "'\(configuration.place)' in this process first.", path: configuration.place)
    }
    let oldVersion = stored.schemaVersion
    Logger.shared.log(
      .detail,
      "Details DB: migrating '\(configuration.place)' from schema version \(oldVersion) to "
        + "\(configuration.schemaVersion).")
    var update = SchemaUpdate(group, schema)
    update.begin()
    let writing = ConfinedRealm.Writing(transaction: transaction, group: group)
    let migration = Migration(oldRealm(store, stored, transaction.base), update) {
      newRealm(store, writing)
    }
    configuration.migrationBlock?(migration, oldVersion)
    migration.end()
    do {
      try update.finish()
    } catch let error as Realm.Error {
      throw Realm.Error(error.code, error.localizedDescription, path: configuration.place)
    }
  }

  /// The file as it was, for dynamic objects that are only read.
  private func oldRealm(
    _ store: Store, _ stored: StoredSchema, _ base: Snapshot
  ) -> ConfinedRealm {
    ConfinedRealm(
      store: store, configuration: configuration, schema: schema,
      classes: SchemaBindings(stored.tables.map { .dynamic($0.schema) }, stored),
      confinement: .current(), snapshot: base)
  }

  /// The file as the running transaction has it.
  private func newRealm(_ store: Store, _ writing: ConfinedRealm.Writing) -> ConfinedRealm {
    let realm = ConfinedRealm(
      store: store, configuration: configuration, schema: schema,
      classes: SchemaBindings(schema.classes, writing.group.schema, changesKeys: true),
      confinement: .current(), snapshot: writing.transaction.base)
    realm.continueWriting(writing)
    return realm
  }
}
