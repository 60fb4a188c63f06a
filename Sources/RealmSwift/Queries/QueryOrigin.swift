// What a query chooses from: the objects of a class, a list or set, the objects that link to one.
// Elements are known by items: the keys of objects, the positions of values.
internal import ObjectStore

/// The elements that a query chooses from.
protocol QueryOrigin {
  var realm: ConfinedRealm { get }
  /// The class of the elements; nil for values.
  var table: TablePointer? { get }
  /// The sort of the elements.
  var type: PropertyType { get }
  /// The Realm's classes whose changes can change which elements there are, by position.
  var tables: Set<Int> { get }
  /// The object that the elements hang on; nil for none.
  var owner: (table: TablePointer, key: ObjectKey)? { get }
  /// Whether that was deleted, or what it held there: then there are no elements.
  var isGone: Bool { get }
  /// Runs `body` on each element, in the order of the collection, until it returns false.
  ///
  /// - Returns: how many places of a collection were looked at, with those that hold no element.
  @discardableResult
  func forEach(_ body: (_ item: Int64, PlanSubject) -> Bool) -> Int
  /// The value at a position, in the form of the elements; nil when there is none, and of objects.
  func value<Element: RealmCollectionValue>(at position: Int, _: Element.Type) -> Element?
  /// Runs `body` on the value at a position; never of objects.
  func withValue(at position: Int, _ body: (PlanValue) -> Void)
  /// The same in another Realm of the file; nil when it is not there.
  func moved(to realm: ConfinedRealm) -> (any QueryOrigin)?
}

extension QueryOrigin {
  func value<Element: RealmCollectionValue>(at position: Int, _: Element.Type) -> Element? { nil }
  func withValue(at position: Int, _ body: (PlanValue) -> Void) {}

  var isGone: Bool {
    guard let owner, !realm.isFrozen else { return false }
    return realm.reader(of: owner.table)?.locate(owner.key) == nil
  }

  /// What conditions on the elements speak of.
  var scope: PlanScope {
    let binding = table?.pointee.binding
    return PlanScope(
      binding: binding, type: type, variable: nil,
      name: binding?.schema.name ?? type.description)
  }
}

/// All objects of a class.
struct TableOrigin: QueryOrigin {
  let realm: ConfinedRealm
  let objects: TablePointer

  var table: TablePointer? { objects }
  var type: PropertyType { .object }
  var tables: Set<Int> { [realm.position(of: objects.pointee.binding)] }
  var owner: (table: TablePointer, key: ObjectKey)? { nil }

  func forEach(_ body: (Int64, PlanSubject) -> Bool) -> Int {
    let index = realm.position(of: objects.pointee.binding)
    QueryPlan(condition: .constant(true), tables: []).forEachMatch(realm, index) {
      body($0.rawValue, .object($0, $1))
    }
    return 0
  }

  func moved(to realm: ConfinedRealm) -> (any QueryOrigin)? {
    TableOrigin(realm: realm, objects: realm.table(objects.pointee.binding))
  }
}

/// The elements of a list or set, or the values of a map.
struct CellOrigin: QueryOrigin {
  let cell: CollectionCell
  let type: PropertyType

  var realm: ConfinedRealm { cell.realm }
  var owner: (table: TablePointer, key: ObjectKey)? { (cell.table, cell.key) }
  var table: TablePointer? {
    cell.objectClass.map { realm.targetTable(of: $0, cell.table, cell.column) }
  }

  var tables: Set<Int> {
    var tables: Set<Int> = [realm.position(of: cell.table.pointee.binding)]
    if let table { tables.insert(realm.position(of: table.pointee.binding)) }
    return tables
  }

  var isGone: Bool { !realm.isFrozen && cell.isInvalidated }

  func forEach(_ body: (Int64, PlanSubject) -> Bool) -> Int {
    guard let elements = cell.contentIfThere() else { return 0 }
    var looks = 0
    guard let table else {
      elements.forEach { position, value in
        looks += 1
        return body(Int64(position), .value(PlanValue(value, type, target: -1)))
      }
      return looks
    }
    guard let reader = realm.reader(of: table) else { return 0 }
    elements.forEach { _, value in
      looks += 1
      guard let key = value.asLink, let location = reader.locate(key) else { return true }
      return body(key.rawValue, .object(key, location))
    }
    return looks
  }

  func value<Element: RealmCollectionValue>(at position: Int, _: Element.Type) -> Element? {
    guard let elements = cell.contentIfThere(), position < elements.count else { return nil }
    return Element._readElement(cell.source(elements), position)
  }

  func moved(to realm: ConfinedRealm) -> (any QueryOrigin)? {
    cell.moved(to: realm).map { CellOrigin(cell: $0, type: type) }
  }
}

/// The elements of a list, or the values of a dictionary, inside of a mixed value.
struct NestedOrigin: QueryOrigin {
  let place: MixedPlace
  let tag: AnyTag

  var realm: ConfinedRealm { place.cell.realm }
  var table: TablePointer? { nil }
  var type: PropertyType { .any }
  var tables: Set<Int> { [realm.position(of: place.cell.table.pointee.binding)] }
  var owner: (table: TablePointer, key: ObjectKey)? { (place.cell.table, place.cell.key) }
  var isGone: Bool { !realm.isFrozen && place.isInvalidated(tag) }

  func forEach(_ body: (Int64, PlanSubject) -> Bool) -> Int {
    if isGone { return 0 }
    var looks = 0
    place.forEachPart(tag) {
      looks += 1
      return body(Int64($0.index), .value(PlanValue(mixed: $0.value)))
    }
    return looks
  }

  func value<Element: RealmCollectionValue>(at position: Int, _: Element.Type) -> Element? {
    place.value(tag, atIndex: position) as? Element
  }

  func withValue(at position: Int, _ body: (PlanValue) -> Void) {
    place.withValue(tag, atIndex: position) { body(PlanValue(mixed: $0)) }
  }

  func moved(to realm: ConfinedRealm) -> (any QueryOrigin)? {
    guard let cell = place.cell.moved(to: realm) else { return nil }
    let place = MixedPlace(cell, place.steps)
    return place.isInvalidated(tag) ? nil : NestedOrigin(place: place, tag: tag)
  }
}

/// What is left in another Realm of an origin that is gone: no elements.
struct GoneOrigin: QueryOrigin {
  let realm: ConfinedRealm
  let table: TablePointer?
  let type: PropertyType

  init(_ origin: any QueryOrigin, in realm: ConfinedRealm) {
    self.realm = realm
    table = origin.table.map { realm.table($0.pointee.binding) }
    type = origin.type
  }

  var tables: Set<Int> { table.map { [realm.position(of: $0.pointee.binding)] } ?? [] }
  var owner: (table: TablePointer, key: ObjectKey)? { nil }
  var isGone: Bool { true }

  func forEach(_ body: (Int64, PlanSubject) -> Bool) -> Int { 0 }

  func moved(to realm: ConfinedRealm) -> (any QueryOrigin)? { GoneOrigin(self, in: realm) }
}

/// The objects that link to one.
protocol LinkingOrigin: QueryOrigin {
  /// The object that is linked to.
  var linked: (table: TablePointer, key: ObjectKey) { get }
  /// The column of links.
  var column: Int { get }
}

/// The objects that link to one by a column, in key order and as often as they link.
struct KeysOrigin<Element: RealmCollectionValue>: LinkingOrigin {
  let source: ResultsSource<Element>
  let objects: TablePointer
  let column: Int
  let linked: (table: TablePointer, key: ObjectKey)
  /// Who links now; nil when the object that is linked to is gone.
  let backlinks: () -> Backlinks?

  var realm: ConfinedRealm { source.realm }
  var owner: (table: TablePointer, key: ObjectKey)? { source.owner }
  var table: TablePointer? { objects }
  var type: PropertyType { .object }
  var tables: Set<Int> {
    [realm.position(of: objects.pointee.binding), realm.position(of: linked.table.pointee.binding)]
  }

  func forEach(_ body: (Int64, PlanSubject) -> Bool) -> Int {
    guard let reader = realm.reader(of: objects) else { return 0 }
    var looks = 0
    backlinks()?.forEach { key in
      looks += 1
      guard let location = reader.locate(key) else { return true }
      return body(key.rawValue, .object(key, location))
    }
    return looks
  }

  func moved(to realm: ConfinedRealm) -> (any QueryOrigin)? {
    source.moved(to: realm)?.makeQueryOrigin()
  }
}

// MARK: - Collections that can be asked

/// A collection that queries can start from.
protocol QueryableCollection {
  /// The collection as a `QuerySource` of its elements; stops when it is not managed.
  func makeQuerySource() -> AnyObject
}

extension RealmCollection {
  /// The collection as a query; stops when it is not managed.
  func querySource() -> QuerySource<Element> {
    guard let collection = self as? any QueryableCollection else {
      misuse(.argument, "Queries on \(Self.self) are not supported.")
    }
    return unsafeDowncast(collection.makeQuerySource(), to: QuerySource<Element>.self)
  }
}

extension Results: QueryableCollection {
  func makeQuerySource() -> AnyObject {
    (source as? QuerySource<Element>) ?? QuerySource<Element>(source.makeQueryOrigin())
  }
}

extension List: QueryableCollection {
  func makeQuerySource() -> AnyObject {
    if let nestedPlace {
      nestedPlace.requireThere(.list)
      return QuerySource<Element>(NestedOrigin(place: nestedPlace, tag: .list))
    }
    guard let cell else {
      misuse(.ownership, "This method may only be called on managed collections.")
    }
    cell.requireThere()
    return QuerySource<Element>(CellOrigin(cell: cell, type: Element._rlmType))
  }
}

extension LinkingObjects: QueryableCollection {
  func makeQuerySource() -> AnyObject {
    guard let source else {
      misuse(.ownership, "This method may only be called on managed collections.")
    }
    return QuerySource<Element>(source.makeQueryOrigin())
  }
}

extension MutableSet: QueryableCollection {
  func makeQuerySource() -> AnyObject {
    guard let cell else {
      misuse(.ownership, "This method may only be called on managed collections.")
    }
    cell.requireThere()
    return QuerySource<Element>(CellOrigin(cell: cell, type: Element._rlmType))
  }
}

extension AnyRealmCollection: QueryableCollection {
  func makeQuerySource() -> AnyObject { makeBaseQuerySource() }
}
