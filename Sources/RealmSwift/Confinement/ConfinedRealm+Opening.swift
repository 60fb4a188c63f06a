// How a confined Realm comes to be: the instance of this thread is found, or made of an opened
// file.
internal import Dispatch
internal import Foundation
internal import ObjectStore
internal import Platform
internal import Storage

extension ConfinedRealm {
  /// The Realm of a configuration for the place where the caller runs, or for a queue by which it
  /// runs.
  ///
  /// - Throws: a `Realm.Error`; see the codes there.
  static func open(
    _ configuration: Realm.Configuration, on queue: DispatchQueue?
  ) throws -> ConfinedRealm {
    if let realm = RealmCache.findLast(configuration, queue) { return realm }
    return try open(configuration, queue.map { Confinement($0) } ?? .current())
  }

  /// The Realm of a configuration for a place, where the caller runs.
  ///
  /// - Throws: a `Realm.Error`; see the codes there.
  static func open(
    _ configuration: Realm.Configuration, _ confinement: Confinement
  ) throws -> ConfinedRealm {
    if case .main = confinement.owner, !prepareMainQueue() {
      throw Realm.Error(
        .system(.noDescriptor(configuration.fileURL?.path ?? "the Realm in memory")))
    }
    let found = RealmCache.find(configuration, confinement.identity)
    let realm =
      try found.realm ?? LeftTransactions.adopt(configuration, confinement)
      ?? another(found, configuration, confinement)
      ?? openFile(configuration, confinement)
    RememberedObject.set(realm)
    return realm
  }

  /// A further instance of a Realm that is open with equal settings in another place.
  ///
  /// Nil when the file or its classes are no longer those that were opened there.
  private static func another(
    _ found: RealmCache.Found, _ configuration: Realm.Configuration, _ confinement: Confinement
  ) throws -> ConfinedRealm? {
    guard let form = found.form, form.store.isReached(by: configuration.place) else { return nil }
    let (snapshot, stored) = try form.store.pinNewestSchema(form.classes.stored)
    guard stored === form.classes.stored else { return nil }
    if let limit = configuration.maximumNumberOfActiveVersions {
      form.store.maximumNumberOfActiveVersions = UInt64(limit)
    }
    RealmOpening.log(configuration, snapshot, stored)
    return make(form, configuration, confinement, snapshot, found)
  }

  private static func openFile(
    _ configuration: Realm.Configuration, _ confinement: Confinement
  ) throws -> ConfinedRealm {
    let opening = try RealmOpening(configuration)
    let opened = try opening.open()
    let form = RealmForm(
      store: opened.store, configuration: configuration, schema: opening.schema,
      classes: opened.classes)
    return make(form, configuration, confinement, opened.snapshot)
  }

  /// The live Realm of a frozen one for a place.
  ///
  /// - Throws: a `Realm.Error`; `schemaMismatch` when the file was migrated since.
  static func thaw(
    _ frozen: ConfinedRealm, _ confinement: Confinement
  ) throws -> ConfinedRealm {
    if let realm = RealmCache.find(frozen.configuration, confinement.identity).realm,
      realm.store === frozen.store
    {
      return realm
    }
    if let realm = LeftTransactions.adopt(frozen.configuration, confinement),
      realm.store === frozen.store
    {
      return realm
    }
    let (snapshot, stored) = try frozen.store.pinNewestSchema(frozen.classes.stored)
    let classes = try frozen.classesForLive(stored)
    let form = RealmForm(
      store: frozen.store, configuration: frozen.configuration, schema: frozen.schema,
      classes: classes)
    return make(form, frozen.configuration, confinement, snapshot)
  }

  /// The classes of a frozen Realm in the newest schema of the file.
  ///
  /// - Throws: `schemaMismatch` when they do not fit it: then nothing can be opened with them.
  private func classesForLive(_ stored: StoredSchema) throws -> SchemaBindings {
    if stored === classes.stored { return classes }
    let adopted = classes.adopting(stored)
    var complaint = adopted.complaint(for: configuration)
    // A migration may have changed what values mean, too. One of another process that an open Realm
    // has met is none: that goes on with its classes.
    if complaint == nil, stored.schemaVersion > classes.stored.schemaVersion,
      stored.schemaVersion > configuration.schemaVersion
    {
      complaint = RealmOpening.olderVersion(configuration, stored)
    }
    if let complaint { throw Realm.Error(.schemaMismatch, complaint, path: configuration.place) }
    return adopted
  }

  private static func make(
    _ form: RealmForm, _ configuration: Realm.Configuration, _ confinement: Confinement,
    _ snapshot: Snapshot, _ found: RealmCache.Found? = nil
  ) -> ConfinedRealm {
    let realm = ConfinedRealm(
      store: form.store, configuration: configuration, schema: form.schema, classes: form.classes,
      confinement: confinement, snapshot: snapshot)
    RealmCache.insert(realm, form, found)
    return realm
  }
}

extension Store {
  /// Pins the newest version and gives its schema: the known one if it is that.
  fileprivate func pinNewestSchema(
    _ known: StoredSchema
  ) throws -> (snapshot: Snapshot, stored: StoredSchema) {
    try mappingErrors { () throws(StorageError) in
      let snapshot = try pinNewest()
      return (
        snapshot, try StoredSchema.load(snapshot.reader, root: snapshot.root, reusing: known)
      )
    }
  }
}
