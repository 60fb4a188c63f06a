// Where linking objects come from: read from what the file keeps for each link. A cell is of no
// generic type, so that a getter and a loop make no metadata; as results, the objects have a
// generic source.
internal import ObjectStore

/// Where the links of linking objects come from.
///
/// Trivial: each look at linking objects copies one.
struct LinkOrigin {
  /// The class's position among those of the Realm.
  let index: Int
  let column: Int
  /// Position of the property that links.
  let property: Int
}

/// An object, and the property of a class that links to it.
@usableFromInline
final class BacklinkCell {
  let realm: ConfinedRealm
  /// The object that is linked to.
  let table: TablePointer
  let key: ObjectKey
  /// Where the links come from.
  let origin: TablePointer
  let column: Int
  /// Position of the property that links, in the schema of `origin`.
  private let propertyPosition: Int
  /// The Realm's `epoch` when the cell was made: after an invalidation it is over.
  let epoch: UInt32
  /// The object is there while this is the table's.
  private let generation: UInt64

  /// The objects that a property shows; stops when the other class has no such property.
  @usableFromInline
  static func make(_ object: ObjectBase, _ property: Int32) -> BacklinkCell {
    let table = object._table.unsafelyUnwrapped
    guard let origin = table.pointee.origin(of: Int(property)) else {
      stopForOrigin(object, property)
    }
    return table.pointee.withRealm { realm in
      BacklinkCell(
        realm, table, object._key, realm.table(atIndex: origin.index), origin.column,
        origin.property, generation: object._generation, epoch: object._epoch)
    }
  }

  private static func stopForOrigin(_ object: ObjectBase, _ property: Int32) -> Never {
    let declared = object._table.unsafelyUnwrapped.pointee.binding.schema.properties[Int(property)]
    let other = object._realm.unsafelyUnwrapped.requireTable(of: declared.codec.objectClass!)
    misuse(
      .schema,
      "Property '\(other.pointee.binding.schema.name).\(declared.originProperty!)' declared as "
        + "origin of linking objects property does not exist.")
  }

  private init(
    _ realm: ConfinedRealm, _ table: TablePointer, _ key: ObjectKey, _ origin: TablePointer,
    _ column: Int, _ propertyPosition: Int, generation: UInt64, epoch: UInt32
  ) {
    self.realm = realm
    self.table = table
    self.key = key
    self.origin = origin
    self.column = column
    self.propertyPosition = propertyPosition
    self.generation = generation
    self.epoch = epoch
  }

  /// The property that links.
  var property: String {
    origin.pointee.binding.schema.properties[propertyPosition].name
  }

  /// Stops on a wrong thread and after an invalidation.
  private func check() {
    if _slowPath(!table.pointee.isOwnerHere) { realm.check() }
    if epoch != realm.epoch { misuse(.invalidated, "Access to invalidated Results objects") }
  }

  /// Whether the object is there.
  var isThere: Bool {
    table.pointee.generation == generation
      || realm.reader(of: table)?.locate(key) != nil
        && !table.pointee.rollBacks.haveTaken(key, since: generation)
  }

  /// Whether the object is gone, or the Realm was invalidated.
  var isOver: Bool {
    if realm.isFrozen { return realm.isInvalidatedFrozen || !isThere }
    realm.check()
    return epoch != realm.epoch || !isThere
  }

  /// Stops when the object is gone.
  func requireThere() {
    if !isThere { misuse(.invalidated, "Object has been deleted or invalidated.") }
  }

  /// Who links to the object; stops when it is gone.
  func backlinks() -> Backlinks? {
    check()
    requireThere()
    realm.noteLookup()
    return realm.reader(of: origin)?.backlinks(column, key, in: table.pointee.binding.table!)
  }

  /// The object at a position; stops when it is out of bounds.
  func object(at position: Int) -> ObjectBase {
    let backlinks = backlinks()
    checkBounds(position, backlinks?.count ?? 0)
    guard let object = realm.accessor(origin, backlinks!.key(at: position)) else {
      misuse(.storage, "A link comes from an object that does not exist: the file is damaged.")
    }
    return object
  }

  /// The first position of an object.
  func position(of object: ObjectBase) -> Int? {
    guard object._realm === realm, object._table == origin, let backlinks = backlinks(),
      backlinks.count(of: object.lastingKey) > 0
    else { return nil }
    return backlinks.count(before: object._key)
  }

  /// Goes through the objects that link now.
  @usableFromInline
  func makeCursor() -> AccessorCursor { LinkCursor(realm, origin, backlinks()) }

  /// The same in another Realm of the file; nil when the object is not there.
  func moved(to realm: ConfinedRealm) -> BacklinkCell? {
    let table = realm.table(table.pointee.binding)
    guard realm.reader(of: table)?.locate(key) != nil else { return nil }
    return BacklinkCell(
      realm, table, key, realm.table(origin.pointee.binding), column, propertyPosition,
      generation: table.pointee.generation, epoch: realm.epoch)
  }

  /// Whether both show the same objects of the same Realm.
  func isSame(as other: BacklinkCell) -> Bool {
    realm === other.realm && table == other.table && key == other.key && origin == other.origin
      && column == other.column
  }
}

/// The objects of one class that link to an object, as results.
final class BacklinkSource<Element: ObjectBase & RealmCollectionValue>: ResultsSource<Element> {
  let cell: BacklinkCell

  init(_ cell: BacklinkCell) {
    self.cell = cell
    super.init(cell.realm, epoch: cell.epoch)
  }

  override var typeName: String { Element.className() }

  override var count: Int { cell.backlinks()?.count ?? 0 }

  override func element(at position: Int) -> Element {
    unsafeDowncast(cell.object(at: position), to: Element.self)
  }

  override func position(of element: Element) -> Int? { cell.position(of: element) }

  override func makeIterator() -> RLMIterator<Element> { RLMIterator(cell.makeCursor()) }

  override func moved(to realm: ConfinedRealm) -> ResultsSource<Element>? {
    cell.moved(to: realm).map { BacklinkSource($0) }
  }

  override func makeQueryOrigin() -> any QueryOrigin {
    check()
    cell.requireThere()
    return KeysOrigin(
      source: self, objects: cell.origin, column: cell.column, linked: (cell.table, cell.key)
    ) { [cell] in cell.isThere ? cell.backlinks() : nil }
  }

  override func makeTracker(_ keyPaths: [String]?) -> CollectionTracker {
    BacklinkTracker(
      realm, to: cell.key, of: cell.table, from: cell.origin, cell.column, keyPaths)
  }

  override var owner: (table: TablePointer, key: ObjectKey)? { (cell.table, cell.key) }

  override func isEqual(to other: ResultsSource<Element>) -> Bool {
    (other as? BacklinkSource).map { cell.isSame(as: $0.cell) } ?? false
  }
}
