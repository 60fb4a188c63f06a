// How a confined Realm comes to be: the instance of this thread is found, or made of an opened file.
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
    let opening = try RealmOpening(configuration)
    let opened = try opening.open()
    let realm = ConfinedRealm(
      store: opened.store, configuration: configuration, schema: opening.schema,
      classes: SchemaBindings(opening.schema.classes, opened.stored), confinement: confinement,
      snapshot: opened.snapshot)
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
    let stored = try mappingErrors { () throws(StorageError) in
      try StoredSchema.load(
        snapshot.reader, root: snapshot.root, reusing: frozen.classes.stored)
    }
    let realm = ConfinedRealm(
      store: frozen.store, configuration: frozen.configuration, schema: frozen.schema,
      classes: stored === frozen.classes.stored ? frozen.classes : frozen.classes.adopting(stored),
      confinement: confinement, snapshot: snapshot)
    RealmCache.insert(realm)
    return realm
  }
}
