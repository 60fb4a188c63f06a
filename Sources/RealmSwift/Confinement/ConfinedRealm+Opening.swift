// How a confined Realm comes to be: the instance of this thread is found, or made of an opened file.
internal import ObjectStore
internal import Platform
internal import Storage

extension ConfinedRealm {
  /// The Realm of a configuration for the calling thread.
  ///
  /// - Throws: a `Realm.Error`; see the codes there.
  static func open(_ configuration: Realm.Configuration) throws -> ConfinedRealm {
    let confinement = Confinement.currentThread()
    if let realm = RealmCache.find(configuration, confinement) { return realm }
    let opening = try RealmOpening(configuration)
    let opened = try opening.open()
    let realm = ConfinedRealm(
      store: opened.store, configuration: configuration, schema: opening.schema,
      storedSchema: opened.stored, bindings: bind(opening.schema, opened.stored),
      confinement: confinement, snapshot: opened.snapshot)
    RealmCache.insert(realm)
    return realm
  }

  /// The live Realm of a frozen one for the calling thread.
  static func thaw(_ frozen: ConfinedRealm) throws -> ConfinedRealm {
    let confinement = Confinement.currentThread()
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

  static func bind(_ schema: RealmSchema, _ stored: StoredSchema) -> [TableBinding] {
    schema.classes.enumerated().map { index, classSchema in
      TableBinding(schema: classSchema, index: index, table: stored.table(named: classSchema.name))
    }
  }
}
