// The place of a managed list, set or map: one column of one object. What all managed collections do
// alike is here: finding their elements, checking that they may be used or changed, frozen and live forms.
internal import ObjectStore

/// The object and the column that the elements of a managed collection belong to.
struct ElementOwner {
  let table: TablePointer
  let key: ObjectKey
  let column: Int
}

/// A collection property of a managed object.
///
/// Confined like the object; in a frozen Realm it never changes.
final class CollectionCell {
  let realm: ConfinedRealm
  /// The class of the object that has the collection.
  let table: TablePointer
  let key: ObjectKey
  let column: Int
  /// The class that links lead to.
  let objectClass: ObjectBase.Type?
  private let epoch: UInt32
  /// Where the object's row is, if `generation` is the table's.
  private var location: RowLocation?
  private var generation: UInt64 = 0

  init(_ object: ObjectBase, _ column: Int32, _ objectClass: ObjectBase.Type?) {
    realm = object._realm.unsafelyUnwrapped
    table = object._table.unsafelyUnwrapped
    key = object._key
    self.column = Int(column)
    self.objectClass = objectClass
    epoch = object._epoch
    if realm.isFrozen { location = object._location }
  }

  /// The collection of values at a place; the object has to be there.
  init(_ realm: ConfinedRealm, _ owner: ElementOwner) {
    self.realm = realm
    table = owner.table
    key = owner.key
    column = owner.column
    objectClass = nil
    epoch = realm.epoch
    location = realm.reader(of: table)?.locate(key)
    generation = table.pointee.generation
  }

  private init(
    _ realm: ConfinedRealm, _ table: TablePointer, _ location: RowLocation,
    like other: CollectionCell
  ) {
    self.realm = realm
    self.table = table
    key = other.key
    column = other.column
    objectClass = other.objectClass
    epoch = realm.epoch
    self.location = location
    generation = table.pointee.generation
  }

  // MARK: - Reading

  /// Whether the object is gone, or the Realm was invalidated.
  var isInvalidated: Bool {
    if realm.isFrozen { return realm.isInvalidatedFrozen }
    realm.check()
    return locate() == nil
  }

  private func locate() -> RowLocation? {
    if realm.isFrozen || table.pointee.generation == generation { return location }
    guard epoch == realm.epoch, let found = realm.reader(of: table)?.locate(key) else { return nil }
    location = found
    generation = table.pointee.generation
    return found
  }

  /// The reader of the object's table and the object's row; stops when they cannot be used.
  func requireRow() -> (reader: TableReader, location: RowLocation) {
    realm.check()
    guard let location = locate(), let reader = realm.reader(of: table) else {
      misuse(.invalidated, "Object has been deleted or invalidated.")
    }
    return (reader, location)
  }

  /// The elements of a list or set.
  func requireElements() -> ElementReader {
    let row = requireRow()
    return row.reader.elements(row.location, column)
  }

  /// The elements of a list or set, or the values of a map.
  func requireContent() -> ElementReader { kind == .map ? requireValues() : requireElements() }

  /// Elements together with what reading them takes.
  func source(_ elements: ElementReader) -> _ElementSource {
    _ElementSource(
      elements: elements, realm: realm,
      target: objectClass.map { realm.targetTable(of: $0, table, column) },
      owner: ElementOwner(table: table, key: key, column: column))
  }

  // MARK: - Writing

  /// The stored table of the object's class.
  var storedTable: StoredTable { table.pointee.binding.table! }

  /// The transaction in which the collection may be changed; stops when it may not.
  func requireWriting() -> GroupTransaction {
    realm.check()
    if realm.isFrozen {
      misuse(
        .frozen, "Attempting to modify a frozen object - call thaw on the Object instance first.")
    }
    if locate() == nil { misuse(.invalidated, "Object has been deleted or invalidated.") }
    guard let writing = realm.writing else {
      misuse(.transaction, "Cannot modify managed objects outside of a write transaction.")
    }
    return writing.group
  }

  /// Gives the stored form of an element to `body`; links are added to the Realm first.
  func withValue<Element: RealmCollectionValue>(
    _ element: Element, _ body: (ElementValue) -> Void
  ) {
    withValues(CollectionOfOne(element), body)
  }

  /// Gives the stored forms of elements to `body`, one by one; links are added to the Realm first.
  func withValues<Elements: Sequence>(
    _ elements: Elements, _ body: (ElementValue) -> Void
  ) where Elements.Element: RealmCollectionValue {
    withoutActuallyEscaping(body) { body in
      let isPlain = objectClass == nil && Elements.Element._rlmType != .any
      let links = isPlain ? nil : LinkInsertion(realm, .error)
      let sink = _ElementSink(realm: realm, links: links, kind: kind, take: body)
      let isDynamic = Elements.Element.self == DynamicObject.self
      for element in elements {
        if isDynamic, let object = element as? DynamicObject { requireTarget(object) }
        element._writeElement(to: sink)
      }
      links?.finish()
    }
  }

  /// Stops when a dynamic object is not of the class that links of this collection lead to.
  private func requireTarget(_ object: DynamicObject) {
    let target = realm.targetTable(of: DynamicObject.self, table, column)
    if object._realm === realm, object.isOf(target) { return }
    misuse(
      .argument,
      "An object of class '\(object.classSchema.name)' cannot be linked where "
        + "'\(target.pointee.binding.schema.name)' is expected.")
  }

  /// Gives the stored form of an element to `body`, without adding anything.
  ///
  /// An object that is not in the Realm has none: `body` is not called.
  func withKnownValue<Element: RealmCollectionValue>(
    _ element: Element, _ body: (ElementValue) -> Void
  ) {
    withoutActuallyEscaping(body) { body in
      element._writeElement(to: _ElementSink(realm: realm, links: nil, kind: kind, take: body))
    }
  }

  /// What sort of collection it is.
  var kind: _CollectionKind {
    _CollectionKind(rawValue: storedTable.schema.columns[column].collection.rawValue)!
  }

  /// Makes accessors stale after a change.
  func changed() {
    table.pointee.bump()
    realm.bumpChangedTables()
  }

  // MARK: - Forms

  /// The same place in another Realm of the file; nil when the object is not there.
  func moved(to other: ConfinedRealm) -> CollectionCell? {
    let table = other.table(table.pointee.binding)
    guard let location = other.reader(of: table)?.locate(key) else { return nil }
    return CollectionCell(other, table, location, like: self)
  }

  /// The place in the frozen Realm of the current version.
  func frozen() -> CollectionCell {
    if realm.isFrozen { return self }
    _ = requireRow()
    guard let frozen = moved(to: realm.frozen()) else {
      misuse(
        .transaction,
        "Cannot freeze a collection in the same write transaction as its object was created in.")
    }
    return frozen
  }

  /// The place in the live Realm; nil when the object was deleted.
  func thawed() -> CollectionCell? {
    realm.check()
    return realm.isFrozen ? moved(to: ConfinedRealm.thawOrStop(realm)) : self
  }

  /// Whether both are the same collection of the same Realm.
  func isSame(as other: CollectionCell) -> Bool {
    realm === other.realm && table == other.table && key == other.key && column == other.column
  }
}
