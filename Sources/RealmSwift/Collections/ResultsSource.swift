// Where the elements of results come from. One subclass a kind: all objects of a class, the objects
// that link to one, queries, sorted and distinct forms.
internal import ObjectStore

/// The elements of results, always as of the Realm's current version.
///
/// Every member may only be used where the Realm may.
@usableFromInline
class ResultsSource<Element: RealmCollectionValue> {
  let realm: ConfinedRealm
  /// The Realm's `epoch` when the source was made: after an invalidation it is over.
  private let epoch: UInt32

  /// - Parameter epoch: that of the Realm when what the elements hang on was made; nil for now.
  init(_ realm: ConfinedRealm, epoch: UInt32? = nil) {
    self.realm = realm
    self.epoch = epoch ?? realm.epoch
  }

  /// Stops on a wrong thread and after an invalidation.
  final func check() {
    realm.check()
    if epoch != realm.epoch { misuse(.invalidated, "Access to invalidated Results objects") }
    realm.noteLookup()
  }

  final var isInvalidated: Bool {
    if realm.isFrozen { return realm.isInvalidatedFrozen }
    realm.check()
    return epoch != realm.epoch
  }

  /// The class of the elements, or their type.
  var typeName: String { fatalError("abstract") }
  var count: Int { fatalError("abstract") }
  /// Whether there is none.
  var isEmpty: Bool { count == 0 }
  /// The first element, without a search for the others.
  var first: Element? { count == 0 ? nil : element(at: 0) }
  /// The number of elements, or the greatest that matters when there are more.
  func count(upTo limit: Int) -> Int { min(count, limit) }
  /// Whether an element is among them; nil when only a look at all of them tells.
  func contains(_ element: Element) -> Bool? { nil }
  /// The element at a position; stops when it is out of bounds.
  func element(at position: Int) -> Element { fatalError("abstract") }
  /// The first position of an element.
  func position(of element: Element) -> Int? { fatalError("abstract") }
  /// The same source in another Realm of the same file; nil when what it hangs on is not there.
  func moved(to realm: ConfinedRealm) -> ResultsSource? { fatalError("abstract") }
  /// What queries on the elements choose from.
  func makeQueryOrigin() -> any QueryOrigin { fatalError("abstract") }
  /// What follows the elements for an observer.
  func makeTracker(_ keyPaths: [String]?) -> CollectionTracker { fatalError("abstract") }
  /// The object that the elements hang on; nil for none.
  var owner: (table: TablePointer, key: ObjectKey)? { nil }
  /// Whether both give the same elements of the same Realm.
  func isEqual(to other: ResultsSource) -> Bool { self === other }

  func makeIterator() -> RLMIterator<Element> {
    RLMIterator(
      PositionCursor(count: { [self] in count }, element: { [self] in element(at: $0) }))
  }

  final func frozen() -> ResultsSource {
    if realm.isFrozen { return self }
    check()
    guard let frozen = moved(to: realm.frozen()) else {
      misuse(
        .transaction,
        "Cannot freeze a collection in the same write transaction as its object was created in.")
    }
    return frozen
  }

  final func thawed() -> ResultsSource? {
    realm.check()
    return realm.isFrozen ? moved(to: ConfinedRealm.thawOrStop(realm)) : self
  }
}

/// All objects of one class in one Realm.
final class TableSource<Element: RealmCollectionValue>: ResultsSource<Element> {
  let table: TablePointer

  init(_ realm: ConfinedRealm, _ table: TablePointer) {
    self.table = table
    super.init(realm)
  }

  override var typeName: String { table.pointee.binding.schema.name }

  private func reader() -> TableReader? {
    check()
    return realm.reader(of: table)
  }

  override var count: Int { reader()?.count ?? 0 }

  override func element(at position: Int) -> Element {
    let reader = reader()
    checkBounds(position, reader?.count ?? 0)
    let key = reader!.key(at: position)
    // The source was made for this element class.
    return unsafeBitCast(
      realm.accessor(table, key, at: reader!.locate(key)!), to: Element.self)
  }

  override func contains(_ element: Element) -> Bool? {
    guard let reader = reader(), let object = element as? ObjectBase, object._realm === realm,
      object._table == table
    else { return nil }
    return reader.locate(object.lastingKey) != nil
  }

  override func position(of element: Element) -> Int? {
    let reader = reader()
    guard let object = element as? ObjectBase, object._realm === realm, object._table == table
    else { return nil }
    return reader?.position(of: object.lastingKey)
  }

  override func makeIterator() -> RLMIterator<Element> {
    RLMIterator(ObjectCursor(realm, table, reader()))
  }

  override func moved(to realm: ConfinedRealm) -> ResultsSource<Element>? {
    TableSource(realm, realm.table(like: table))
  }

  override func makeQueryOrigin() -> any QueryOrigin {
    check()
    return TableOrigin(realm: realm, objects: table)
  }

  override func makeTracker(_ keyPaths: [String]?) -> CollectionTracker {
    check()
    return TableTracker(realm, table, keyPaths)
  }

  override func isEqual(to other: ResultsSource<Element>) -> Bool {
    guard let other = other as? TableSource else { return false }
    return realm === other.realm && table == other.table
  }
}
