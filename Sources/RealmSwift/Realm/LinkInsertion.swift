// Objects that come into a Realm because others link to them. Rows are made when a link is met,
// values are written from a work list, so neither cycles nor long chains matter.
internal import ObjectStore

/// Adds, with one update policy, objects and what they link to.
///
/// Used in one transaction of a Realm, which outlives it.
final class LinkInsertion {
  // Unmanaged, so that using it counts no references.
  private let unmanagedRealm: Unmanaged<ConfinedRealm>
  let update: Realm.UpdatePolicy
  /// Whether objects are copied, which `create` does, not taken over.
  let copies: Bool
  /// By class, for objects of classes with and without primary key.
  private var insertions: [ObjectIdentifier: ObjectInsertion] = [:]
  /// The one that was used last; `insertions` keeps it.
  @exclusivity(unchecked) private var lastInsertion: Unmanaged<ObjectInsertion>?
  /// The class of that one.
  @exclusivity(unchecked) private var lastClass: ObjectBase.Type?
  /// Whether it adds objects right now; what the client's code adds meanwhile is added by another
  /// one.
  @exclusivity(unchecked) fileprivate var isBusy = false
  /// Objects that have a row, and no values in it yet.
  @exclusivity(unchecked) private var pending: [ObjectInsertion.Started] = []
  /// The copies made so far, by the object that was copied; it lives until the copying is over.
  private var copied: [Original: (object: ObjectBase, key: ObjectKey)] = [:]

  init(_ realm: ConfinedRealm, _ update: Realm.UpdatePolicy, copies: Bool = false) {
    unmanagedRealm = .passUnretained(realm)
    self.update = update
    self.copies = copies
  }

  var realm: ConfinedRealm { unmanagedRealm.takeUnretainedValue() }

  /// The key of an object to link to; an unmanaged one gets a row.
  func key(of object: ObjectBase) -> ObjectKey {
    if copies {
      if let same = realm.sameForeign(object) { return same.key }
      return keyOfCopy(of: object, realm.ownClass(of: object))
    }
    if object._table != nil {
      unmanagedRealm._withUnsafeGuaranteedRef { $0.requireLinkable(object) }
      return object._key
    }
    return unmanagedInsertion(type(of: object))._withUnsafeGuaranteedRef { insertion in
      // Before what it refers to is overwritten by another object.
      if update != .error { insertion.keepContent(of: object) }
      let started = insertion.start(object)
      pending.append(started)
      return started.key
    }
  }

  /// The key of the object that a value stands for: an object, or values to make one from.
  func key(from value: Any, _ objectClass: ObjectBase.Type) -> ObjectKey {
    if let object = objectValue(value) { return keyOfCopy(of: object, objectClass) }
    return startCreating(value, objectClass).key
  }

  /// Gives an object that is made from values its row; the values follow in `finish`.
  private func startCreating(_ value: Any, _ objectClass: ObjectBase.Type)
    -> ObjectInsertion.Started
  {
    let started = unmanagedInsertion(objectClass)._withUnsafeGuaranteedRef {
      $0.startCreating(value, self, isOutermost: false)
    }
    pending.append(started)
    return started
  }

  /// Writes the values of all objects that have none yet.
  func finish() {
    turn(from: 0)
    while let started = pending.popLast() {
      let first = pending.count
      started.insertion._withUnsafeGuaranteedRef { $0.store(started, self) }
      turn(from: first)
    }
  }

  /// Puts what was met first on top: of several values for one key the last one stays.
  private func turn(from first: Int) {
    if update != .error, pending.count > first + 1 { pending[first...].reverse() }
  }

  /// An object of this Realm itself; of any other a copy.
  ///
  /// An embedded one is copied for each owner.
  private func keyOfCopy(of object: ObjectBase, _ objectClass: ObjectBase.Type) -> ObjectKey {
    if object._realm === realm, !object.isEmbedded {
      realm.requireLinkable(object)
      return object._key
    }
    if let known = copied[Original(object)] {
      // The class here says it: an old object of a migration may belong to one that was none yet.
      if !(objectClass is EmbeddedObject.Type) { return known.key }
      // Copying would have no end.
      if object._table == nil || !object.isEmbedded, isInsideOfItself(object) {
        stopForCircle(object)
      }
    }
    return startCreating(object, objectClass).key
  }

  private func stopForCircle(_ object: ObjectBase) -> Never {
    misuse(
      .ownership,
      "An embedded object of class '\(object.classSchema.name)' is inside of itself, and it can have "
        + "one owner. Link to an object that is not embedded instead.")
  }

  /// Remembers a copy as soon as it has a row: what it links to may link back.
  func remember(_ key: ObjectKey, asCopyOf value: Any) {
    if let object = objectValue(value) { copied[Original(object)] = (object, key) }
  }

  /// Adds an object that belongs to no Realm, with all that it links to; leaves one of this Realm
  /// alone.
  func add(_ object: ObjectBase) {
    unmanagedInsertion(type(of: object))._withUnsafeGuaranteedRef { insertion in
      if update != .error { insertion.requireKey(for: update) }
      insertion.add(object, self)
    }
    if !pending.isEmpty { finish() }
  }

  /// Makes an object from values, or updates the one of the same key; with all that it links to.
  func create(_ objectClass: ObjectBase.Type, _ value: Any) -> ObjectBase {
    unmanagedInsertion(objectClass)._withUnsafeGuaranteedRef { insertion in
      insertion.requireKey(for: update)
      let object = insertion.create(value, self)
      // The next value is copied anew.
      if !copied.isEmpty { copied = [:] }
      return object
    }
  }

  /// Says that these objects are about to be added.
  func reserve(_ objects: UnsafeBufferPointer<Unmanaged<ObjectBase>>) {
    // A few objects are not worth it; with another policy most may be there already.
    guard objects.count >= 256, update == .error else { return }
    objects[0]._withUnsafeGuaranteedRef { first in
      // A mixture of classes is not counted, only looked for at its end.
      let last = objects[objects.count - 1]._withUnsafeGuaranteedRef { type(of: $0) }
      if first._realm == nil, type(of: first) == last {
        unmanagedInsertion(last)._withUnsafeGuaranteedRef { $0.reserve(objects.count) }
      }
    }
  }

  @inline(__always)
  private func unmanagedInsertion(_ objectClass: ObjectBase.Type) -> Unmanaged<ObjectInsertion> {
    if let lastInsertion, lastClass == objectClass { return lastInsertion }
    let insertion = Unmanaged.passUnretained(findInsertion(objectClass))
    lastInsertion = insertion
    lastClass = objectClass
    return insertion
  }

  private func findInsertion(_ objectClass: ObjectBase.Type) -> ObjectInsertion {
    let identifier = ObjectIdentifier(objectClass)
    if let known = insertions[identifier] { return known }
    // What is linked to is updated by its key where it has one, also when the policy asks for none.
    let hasKey = ClassSchema.of(objectClass).primaryKey != nil
    let insertion = ObjectInsertion(realm, objectClass, hasKey ? update : .error)
    insertions[identifier] = insertion
    return insertion
  }
}

extension LinkInsertion {
  /// Whether an object of an embedded class is reached from itself by objects of such classes.
  ///
  /// It belongs to no Realm, or its class was not embedded yet: others are in one place only.
  private func isInsideOfItself(_ object: ObjectBase) -> Bool {
    let original = Original(object)
    var seen: Set<Original> = []
    var pending = parts(of: object)
    while let part = pending.popLast() {
      if Original(part) == original { return true }
      if seen.insert(Original(part)).inserted { pending += parts(of: part) }
    }
    return false
  }

  /// What its properties, and their collections, hold of classes that are embedded here.
  private func parts(of object: ObjectBase) -> [ObjectBase] {
    object.classSchema.properties.flatMap { property -> [ObjectBase] in
      guard property.codec.type == .object, !property.isComputed else { return [] }
      let value = property.codec.value(object.pointer(to: property), object)
      let parts: [Any?]
      switch property.codec.collection {
      case .none: parts = [value]
      case .list, .set: parts = untypedElements(value) ?? []
      case .map: parts = (untypedEntries(value) ?? [:]).map(\.value)
      }
      return parts.compactMap { unwrapped($0) as? ObjectBase }.filter { part in
        realm.classes.binding(named: part.classSchema.name)?.schema.isEmbedded ?? part.isEmbedded
      }
    }
  }
}

/// An object that is copied: a managed one is the same by whatever accessor it is reached, also by
/// a dynamic one.
private enum Original: Hashable {
  case unmanaged(ObjectIdentifier)
  case managed(realm: ObjectIdentifier?, table: Int, ObjectKey)

  init(_ object: ObjectBase) {
    if let table = object._table?.pointee.binding.table {
      self = .managed(
        realm: object._realm.map { ObjectIdentifier($0) }, table: table.index, object._key)
    } else {
      self = .unmanaged(ObjectIdentifier(object))
    }
  }
}

extension ConfinedRealm {
  /// Runs `body` with what adds objects.
  ///
  /// It is kept for the next time in the same transaction; while `body` runs, which may run the
  /// client's code, nobody else gets it. That code may also end the transaction, and begin another.
  ///
  /// - Parameter copies: as of the insertion.
  func withInsertion<Result>(
    _ update: Realm.UpdatePolicy, copies: Bool = false, _ body: (LinkInsertion) -> Result
  ) -> Result {
    let links: LinkInsertion
    _ = requireWriting()
    if let transactionInsertion, transactionInsertion.update == update,
      transactionInsertion.copies == copies, !transactionInsertion.isBusy
    {
      links = transactionInsertion
    } else {
      links = LinkInsertion(self, update, copies: copies)
      if transactionInsertion?.isBusy != true { transactionInsertion = links }
    }
    links.isBusy = true
    defer { links.isBusy = false }
    return body(links)
  }

  /// The key of an object as the target of a link; unmanaged ones are added.
  func linkTarget(_ object: ObjectBase, _ objectClass: ObjectBase.Type) -> ObjectKey {
    requireClass(object, objectClass)
    if object._realm != nil {
      requireLinkable(object)
      return object._key
    }
    let links = LinkInsertion(self, .error)
    let key = links.key(of: object)
    links.finish()
    return key
  }

  /// Stops unless a managed object can be linked to from this Realm.
  func requireLinkable(_ object: ObjectBase) {
    // Most objects are of this Realm, and were just used: that is found without counting
    // references.
    if let table = object._table, table.pointee.generation == object._generation, !isFrozen,
      table.pointee.withRealm({ $0 === self }), !table.pointee.isEmbedded
    {
      return check()
    }
    guard let owner = object._realm else { return }
    if owner.isFrozen {
      misuse(
        .frozen, "Cannot add a frozen object to a live collection: call thaw on it first.")
    }
    requireOwn(object)
    if object.isEmbedded {
      misuse(.ownership, "Can't set link to existing managed embedded object")
    }
  }

  /// Stops unless a managed object is alive and of this Realm.
  func requireOwn(_ object: ObjectBase) {
    guard let owner = object._realm else { return }
    owner.check()
    guard owner === self else {
      misuse(
        .ownership,
        "Object is already managed by another Realm. Use create instead to copy it into this Realm."
      )
    }
    if object.locate() == nil {
      misuse(.invalidated, "Adding a deleted or invalidated object to a Realm is not permitted")
    }
  }

  /// The key of a live object of this Realm; nil for any other.
  func key(of object: ObjectBase) -> ObjectKey? {
    guard object._realm === self, object.locate() != nil else { return nil }
    return object._key
  }

  /// Makes accessors of tables that the last change reached beside its own stale.
  func bumpChangedTables() {
    guard let group = runningGroup else { return }
    group.takeChangedTables { index in
      if let binding = classes.binding(ofTable: index) {
        tables[binding.index]?.pointee.bump()
      } else {
        bumpForeign(ofTable: index)
      }
    }
  }
}
