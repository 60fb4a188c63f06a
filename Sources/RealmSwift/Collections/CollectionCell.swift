// The place of a managed list, set or map: one column of one object. What all managed collections
// do alike is here: finding their elements, checking that they may be used or changed, frozen and
// live forms.
internal import ObjectStore
internal import Platform

/// The object and the column that the elements of a managed collection belong to.
struct ElementOwner {
  let table: TablePointer
  let key: ObjectKey
  let column: Int
}

/// A collection property of a managed object.
///
/// Confined like the object; in a frozen Realm it never changes.
@usableFromInline
final class CollectionCell {
  let realm: ConfinedRealm
  /// The class of the object that has the collection.
  let table: TablePointer
  let key: ObjectKey
  let column: Int
  /// The class that links lead to.
  let objectClass: ObjectBase.Type?
  private let epoch: UInt32
  // Unchecked exclusivity: as those of ObjectBase.
  /// Where the object's row is, if `generation` is the table's.
  @exclusivity(unchecked) private var location: RowLocation?
  @exclusivity(unchecked) private var generation: UInt64 = 0
  /// The elements of a list or set, or the keys and values of a map, if `contentGeneration` is the
  /// table's.
  ///
  /// Not used when frozen: several threads may read then.
  @exclusivity(unchecked) private var content: (elements: ElementReader, values: ElementReader?)?
  @exclusivity(unchecked) private var contentGeneration: UInt64 = 0
  /// What tells where values of `content` are; nil until enough of them were looked up.
  @exclusivity(unchecked) private var fences: ElementFences?
  /// The same, for use without counting references; nil while `content` is not what they were made
  /// from.
  @exclusivity(unchecked) private var currentFences: Unmanaged<ElementFences>?
  /// Look-ups until it is worth it to make them; negative if it never is.
  @exclusivity(unchecked) private var lookUpsLeft = 0
  /// The transaction that this cell changed last, if `writingGeneration` is the table's.
  ///
  /// The object is there then, and the transaction runs: its end makes all generations grow.
  @exclusivity(unchecked) private var writingGroup: Unmanaged<GroupTransaction>?
  @exclusivity(unchecked) private var writingGeneration: UInt64 = 0

  /// The collection of an object that can be read; stops when it cannot.
  @usableFromInline
  static func make(
    _ object: ObjectBase, _ column: Int32, _ objectClass: ObjectBase.Type?
  ) -> CollectionCell {
    object.requireReadable()
    return CollectionCell(object, column, objectClass)
  }

  init(_ object: ObjectBase, _ column: Int32, _ objectClass: ObjectBase.Type?) {
    realm = object._realm.unsafelyUnwrapped
    table = object._table.unsafelyUnwrapped
    key = object._key
    self.column = Int(column)
    self.objectClass = objectClass
    epoch = object._epoch
    location = object._location
    generation = object._generation
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
    guard epoch == realm.epoch, let found = realm.reader(of: table)?.locate(key),
      !table.pointee.rollBacks.haveTaken(key, since: generation)
    else { return nil }
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

  /// Stops when the object is gone.
  func requireThere() { if !hasContent { _ = requireRow() } }

  /// The elements of a list or set.
  @inline(__always)
  func requireElements() -> ElementReader {
    if _fastPath(hasContent) { return content.unsafelyUnwrapped.elements }
    return findContent(isMap: false).elements
  }

  /// The keys of a map.
  @inline(__always)
  func requireKeys() -> ElementReader {
    if _fastPath(hasContent) { return content.unsafelyUnwrapped.elements }
    return findContent(isMap: true).elements
  }

  /// The values of a map.
  @inline(__always)
  func requireValues() -> ElementReader {
    if _fastPath(hasContent) { return content.unsafelyUnwrapped.values.unsafelyUnwrapped }
    return findContent(isMap: true).values.unsafelyUnwrapped
  }

  /// Whether `content` is good and the caller may read it.
  @inline(__always)
  var hasContent: Bool {
    table.pointee.generation == contentGeneration
      && table.pointee.isOwnerHere
  }

  @inline(never)
  private func findContent(isMap: Bool) -> (elements: ElementReader, values: ElementReader?) {
    let (reader, location) = requireRow()
    let found: (elements: ElementReader, values: ElementReader?) =
      isMap
      ? (reader.mapKeys(location, column), reader.mapValues(location, column))
      : (reader.elements(location, column), nil)
    if !realm.isFrozen {
      content = found
      contentGeneration = table.pointee.generation
      findFences(found.elements)
    }
    return found
  }

  // MARK: - Looking up

  /// Decides which fences are good for the elements that were found.
  private func findFences(_ elements: ElementReader) {
    currentFences = nil
    // In a transaction the elements may change at each step.
    lookUpsLeft = -1
    if realm.writing != nil { return }
    if let fences, fences.isOf(elements) {
      currentFences = .passUnretained(fences)
    } else {
      fences = nil
      lookUpsLeft = ElementFences.lookUpsBefore(elements) ?? -1
    }
  }

  /// Counts a look-up, and makes fences if there were enough of them.
  @inline(__always)
  private func noteLookUp(_ elements: ElementReader) {
    // In a frozen Realm, which many threads use, there are none.
    if lookUpsLeft <= 0 { return }
    lookUpsLeft &-= 1
    if lookUpsLeft == 0 { makeFences(elements) }
  }

  @inline(never)
  private func makeFences(_ elements: ElementReader) {
    let made = ElementFences(elements)
    fences = made
    currentFences = .passUnretained(made)
  }

  /// The position of bytes in a set, or of a key in a map; nil without such a one.
  func sortedPosition(of bytes: UnsafeRawBufferPointer, in elements: ElementReader) -> Int? {
    if let currentFences {
      return currentFences._withUnsafeGuaranteedRef { $0.position(ofBytes: bytes, in: elements) }
    }
    noteLookUp(elements)
    return elements.position(of: .bytes(bytes), sorted: true)
  }

  /// The position of an integer in a set; nil without such a one.
  private func sortedPosition(of integer: Int64, in elements: ElementReader) -> Int? {
    if let currentFences {
      return currentFences._withUnsafeGuaranteedRef {
        $0.position(ofInteger: integer, in: elements)
      }
    }
    noteLookUp(elements)
    return elements.position(of: .integer(integer), sorted: true)
  }

  /// What the element at a position is read from; stops when it is out of bounds.
  @usableFromInline
  func requireSource(_ position: Int) -> _ElementSource {
    let elements = requireElements()
    checkBounds(position, elements.count)
    return source(elements)
  }

  /// Whether an integer is in a set.
  @usableFromInline
  func contains(_ integer: Int64) -> Bool {
    sortedPosition(of: integer, in: requireElements()) != nil
  }

  /// The elements of a list or set, or the values of a map.
  func requireContent() -> ElementReader { kind == .map ? requireValues() : requireElements() }

  /// The same; nil when the object is gone: results of the collection are empty then.
  func contentIfThere() -> ElementReader? {
    if !hasContent, !realm.isFrozen, isInvalidated { return nil }
    return requireContent()
  }

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
    if hasWriting { return writingGroup.unsafelyUnwrapped._withUnsafeGuaranteedRef { $0 } }
    return findWriting()
  }

  /// Whether `writingGroup` is the running transaction, and the caller may use it.
  @inline(__always)
  private var hasWriting: Bool {
    table.pointee.generation == writingGeneration
      && table.pointee.isOwnerHere
  }

  @inline(never)
  private func findWriting() -> GroupTransaction {
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
      // The sink does not keep it.
      defer { withExtendedLifetime(links) {} }
      let sink = _ElementSink(realm: realm, links: links, kind: kind, take: body)
      // Also the elements that may be nil of a map.
      let isDynamic = objectClass == DynamicObject.self
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
    // Of another Realm, such as the old one of a migration: that is told, whatever its class.
    if object._realm != nil, object._realm !== realm { realm.requireLinkable(object) }
    misuse(
      .argument,
      "An object of class '\(object.classSchema.name)' cannot be linked where "
        + "'\(target.pointee.binding.schema.name)' is expected.")
  }

  /// Gives the stored form of an element to `body`, without adding anything.
  ///
  /// An object that is not in the Realm has none: `body` is not called. Neither has a dynamic one
  /// of another class, whose key can be that of an element.
  func withKnownValue<Element: RealmCollectionValue>(
    _ element: Element, _ body: (ElementValue) -> Void
  ) {
    if objectClass == DynamicObject.self, let object = element as? DynamicObject,
      !object.isOf(realm.targetTable(of: DynamicObject.self, table, column))
    {
      return
    }
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

  // MARK: - Integers

  // Values that are no links change no other table, and delete nothing.

  /// Changes values that are no links; counts no references once it was called in a transaction.
  @inline(__always)
  func changeInPlace(
    _ body: (_ group: GroupTransaction, _ table: StoredTable) -> Void
  ) {
    if _slowPath(!hasWriting) { writingGroup = .passUnretained(findWriting()) }
    writingGroup.unsafelyUnwrapped._withUnsafeGuaranteedRef { group in
      table.pointee.unmanagedTable.unsafelyUnwrapped._withUnsafeGuaranteedRef { body(group, $0) }
    }
    table.pointee.bump()
    writingGeneration = table.pointee.generation
  }

  /// Adds an integer at the end of a list.
  @usableFromInline
  func append(_ integer: Int64) {
    changeInPlace { $0.listAppend($1, key, column, .integer(integer)) }
  }

  /// Puts an integer at a position of a list; stops when it is behind the end.
  @usableFromInline
  func insert(_ integer: Int64, at position: Int) {
    changeInPlace { group, table in
      checkBounds(position, group.listCount(table, key, column) + 1)
      group.listInsert(table, key, column, at: position, .integer(integer))
    }
  }

  /// Replaces the integer at a position of a list; stops when it is out of bounds.
  @usableFromInline
  func replace(_ position: Int, _ integer: Int64) {
    changeInPlace { group, table in
      checkBounds(position, group.listCount(table, key, column))
      group.listSet(table, key, column, at: position, .integer(integer))
    }
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
