// Results of queries: conditions, orders and distinct values over an origin. What was found is kept until
// one of the tables that it depends on changes.
internal import ObjectStore
internal import Platform

/// The elements of an origin that fulfil conditions, in an order.
///
/// A frozen one is used by many threads, hence the lock around what was found.
final class QuerySource<Element: RealmCollectionValue>: ResultsSource<Element> {
  let origin: any QueryOrigin
  private let condition: PredicateTree?
  private let orders: [QueryOrder]
  private let state: Monitor<State>
  /// Whether elements are made of objects: values of a client's type, projections.
  private let isCustom =
    Element.self is any _CustomPersistable.Type || Element.self is any _AnyProjection.Type

  /// What is made of the query, and what it found.
  private struct State: @unchecked Sendable {
    // @unchecked: plans are values that are never changed after they are made.
    /// Places in the schema that the Realm had.
    var resolved: Resolved
    var found: Found?
    /// How many elements there are, when only that was asked.
    var counted: (stamp: [UInt64], count: Int)?
  }

  /// The query in the terms of one schema.
  private struct Resolved {
    let classes: SchemaBindings
    let plan: QueryPlan?
    let orderings: [PlanOrdering]
    /// The Realm's classes that the elements depend on.
    let tables: [Int]
  }

  /// What was found, and of which state of the tables.
  private struct Found {
    let stamp: [UInt64]
    let items: [Int64]
  }

  /// - Parameters:
  ///   - condition: nil for all elements.
  ///   - orders: applied one after the other, after the condition.
  init(
    _ origin: any QueryOrigin, _ condition: PredicateTree? = nil, _ orders: [QueryOrder] = []
  ) {
    self.origin = origin
    self.condition = condition
    self.orders = orders
    state = Monitor(State(resolved: Self.resolve(origin, condition, orders)))
    super.init(origin.realm)
  }

  private static func resolve(
    _ origin: any QueryOrigin, _ condition: PredicateTree?, _ orders: [QueryOrder]
  ) -> Resolved {
    let plan = condition.map { PlanResolver.plan($0, origin.realm, origin.scope) }
    let orderings = orders.map { PlanOrdering($0, origin) }
    var tables = origin.tables.union(plan?.tables ?? [])
    for ordering in orderings { tables.formUnion(ordering.tables) }
    return Resolved(
      classes: origin.realm.classes, plan: plan, orderings: orderings, tables: tables.sorted())
  }

  /// The query in the terms of the Realm's schema, which a refresh may have changed.
  private var resolved: Resolved {
    let resolved = state.withLock { $0.resolved }
    if _fastPath(resolved.classes === realm.classes) { return resolved }
    let anew = Self.resolve(origin, condition, orders)
    state.withLock { $0.resolved = anew }
    return anew
  }

  // MARK: - Further queries

  /// The elements that fulfil a condition too.
  ///
  /// Orders and distinct values are applied after all conditions.
  func filtered(_ tree: PredicateTree) -> QuerySource {
    check()
    return QuerySource(origin, condition.map { $0 && tree } ?? tree, orders)
  }

  /// The same elements in another order, or without equal ones.
  func ordered(_ order: QueryOrder) -> QuerySource {
    check()
    return QuerySource(origin, condition, orders + [order])
  }

  // MARK: - Finding

  /// What changes when the elements may have.
  func stamp() -> [UInt64] {
    check()
    return stamp(resolved)
  }

  /// The keys or positions of the elements, in order.
  func items() -> [Int64] {
    check()
    let resolved = resolved
    let stamp = stamp(resolved)
    if let found = state.withLock({ $0.found }), found.stamp == stamp { return found.items }
    var items: [Int64] = []
    forEachMatch(resolved) { item, _ in
      items.append(item)
      return true
    }
    for ordering in resolved.orderings { items = ordering.apply(to: items, of: origin) }
    let found = Found(stamp: stamp, items: items)
    state.withLock { $0.found = found }
    return items
  }

  /// The state of the tables that the elements depend on.
  private func stamp(_ resolved: Resolved) -> [UInt64] {
    resolved.tables.map { realm.table(realm.bindings[$0]).pointee.generation }
  }

  /// Runs `body` on the elements that fulfil the conditions, in the origin's order.
  private func forEachMatch(_ resolved: Resolved, _ body: (Int64, PlanSubject) -> Bool) {
    guard let plan = resolved.plan else { return origin.forEach(body) }
    if let origin = origin as? TableOrigin {
      let index = realm.position(of: origin.objects.pointee.binding)
      return plan.forEachMatch(realm, index) { body($0.rawValue, .object($0, $1)) }
    }
    let readers = PlanReaders(realm, plan.tables)
    let table = origin.table.flatMap { realm.reader(of: $0) }
    origin.forEach { item, subject in
      plan.condition.matches(subject, table, readers) ? body(item, subject) : true
    }
  }

  /// Runs `body` on each element as it is now.
  func forEachSubject(_ body: (PlanSubject) -> Void) {
    check()
    let resolved = resolved
    if !resolved.orderings.contains(where: \.isDistinct) {
      return forEachMatch(resolved) { _, subject in
        body(subject)
        return true
      }
    }
    let reader = SubjectReader(origin)
    for item in items() { reader.withSubject(item, body) }
  }

  /// Adds the values of a packed column of all elements, or the elements themselves, a leaf at a time.
  ///
  /// - Returns: false, without having added any, when that cannot be done.
  func add(_ path: PlanPath, to folding: inout PackedFolding) -> Bool {
    let resolved = resolved
    if !path.hops.isEmpty || resolved.orderings.contains(where: \.isDistinct) { return false }
    switch path.end {
    case .column(let column):
      guard let origin = origin as? TableOrigin else { return false }
      let plan = resolved.plan ?? QueryPlan(condition: .constant(true), tables: [])
      let index = realm.position(of: origin.objects.pointee.binding)
      return plan.forEachCluster(realm, index, reading: column) { scan, rows in
        if !rows.isEmpty { folding.add(scan.table, scan.cluster, column, rows) }
      }
    case .subject:
      guard let origin = origin as? CellOrigin, origin.table == nil, resolved.plan == nil else {
        return false
      }
      origin.cell.requireContent().add(to: &folding)
      return true
    default: return false
    }
  }

  /// The first position of an element that fulfils a condition.
  func position(matching tree: PredicateTree) -> Int? {
    check()
    let added = PlanResolver.plan(tree, realm, origin.scope)
    let readers = PlanReaders(realm, added.tables)
    let table = origin.table.flatMap { realm.reader(of: $0) }
    let reader = SubjectReader(origin)
    return items().firstIndex { item in
      reader.withSubject(item) { added.condition.matches($0, table, readers) } ?? false
    }
  }

  // MARK: - As a source

  override var typeName: String {
    origin.table?.pointee.binding.schema.name ?? CollectionDescription.name(Element.self)
  }

  override var count: Int {
    check()
    let resolved = resolved
    let stamp = stamp(resolved)
    let known = state.withLock { state in
      if let found = state.found, found.stamp == stamp { return found.items.count }
      if let counted = state.counted, counted.stamp == stamp { return counted.count }
      return -1
    }
    if known >= 0 { return known }
    guard let count = countByLeaf(resolved) else { return items().count }
    state.withLock { $0.counted = (stamp, count) }
    return count
  }

  /// The number of elements, where counting them is much cheaper than finding them.
  private func countByLeaf(_ resolved: Resolved) -> Int? {
    let plan = resolved.plan ?? QueryPlan(condition: .constant(true), tables: [])
    guard let origin = origin as? TableOrigin, plan.condition.cost == .packed,
      !resolved.orderings.contains(where: \.isDistinct)
    else { return nil }
    var count = 0
    let index = realm.position(of: origin.objects.pointee.binding)
    return plan.forEachCluster(realm, index) { count += $1.count } ? count : nil
  }

  override func element(at position: Int) -> Element {
    let items = items()
    checkBounds(position, items.count)
    return element(items[position])!
  }

  /// The element of an item; nil when it is gone.
  private func element(_ item: Int64) -> Element? {
    if let table = origin.table {
      let object = realm.accessor(table, ObjectKey(rawValue: item))
      if isCustom { return object.flatMap { Element._elementFromAny($0) } }
      // The source was made for this element class.
      return object.map { unsafeBitCast($0, to: Element.self) }
    }
    return origin.value(at: Int(item), Element.self)
  }

  override func position(of element: Element) -> Int? {
    check()
    guard let table = origin.table else {
      return items().firstIndex { self.element($0) == element }
    }
    let projected = (element as? any _AnyProjection)?._projectedObject
    guard let object = projected ?? element as? ObjectBase, object._realm === realm,
      object._table == table
    else { return nil }
    return items().firstIndex(of: object._key.rawValue)
  }

  override func makeIterator() -> RLMIterator<Element> {
    // Its objects are the elements, not projected or made into another type.
    if let table = origin.table, !isCustom {
      return RLMIterator(LinkCursor(realm, table, keys: items()))
    }
    return RLMIterator(
      KeyCursor(keys: items().map { ObjectKey(rawValue: $0) }) { [self] key in
        check()
        return element(key.rawValue)
      })
  }

  override func moved(to realm: ConfinedRealm) -> ResultsSource<Element>? {
    origin.moved(to: realm).map { QuerySource($0, condition, orders) }
  }

  override func makeQueryOrigin() -> any QueryOrigin { origin }

  override func makeTracker(_ keyPaths: [String]?) -> CollectionTracker {
    check()
    return QueryTracker(self, keyPaths)
  }

  override var owner: (table: TablePointer, key: ObjectKey)? { origin.owner }
}

// MARK: - Followed by its tracker

extension QuerySource: TrackedQuery {
  var plan: (condition: QueryPlan?, orderings: [PlanOrdering], tables: [Int]) {
    let resolved = resolved
    return (resolved.plan, resolved.orderings, resolved.tables)
  }

  func elementsBeforeDistinct() -> [Int64] {
    check()
    let resolved = resolved
    var items: [Int64] = []
    forEachMatch(resolved) { item, _ in
      items.append(item)
      return true
    }
    for ordering in resolved.orderings {
      if ordering.isDistinct { break }
      items = ordering.apply(to: items, of: origin)
    }
    return items
  }

  func forget() { state.withLock { $0.found = nil } }

  func adopt(_ items: [Int64]) {
    let found = Found(stamp: stamp(resolved), items: items)
    state.withLock { $0.found = found }
  }
}

/// Finds what conditions are asked about, by item.
struct SubjectReader {
  private enum Place {
    case objects(TableReader)
    case values(ElementReader, PropertyType)
    case nested(any QueryOrigin)
  }

  private let place: Place

  init(_ origin: any QueryOrigin) {
    if let reader = origin.table.flatMap({ origin.realm.reader(of: $0) }) {
      place = .objects(reader)
    } else if origin.table == nil, let origin = origin as? CellOrigin {
      place = .values(origin.cell.requireContent(), origin.type)
    } else {
      place = .nested(origin)
    }
  }

  init(_ reader: TableReader) { place = .objects(reader) }

  init(_ elements: ElementReader, _ type: PropertyType) { place = .values(elements, type) }

  /// Runs `body` on the object or value of an item; nil when it is gone.
  @discardableResult
  func withSubject<Result>(_ item: Int64, _ body: (PlanSubject) -> Result) -> Result? {
    switch place {
    case .objects(let reader):
      let key = ObjectKey(rawValue: item)
      return reader.locate(key).map { body(.object(key, $0)) }
    case .values(let elements, let type):
      guard item < elements.count else { return nil }
      var result: Result?
      elements.forEach(from: Int(item)) { _, value in
        result = body(.value(PlanValue(value, type, target: -1)))
        return false
      }
      return result
    case .nested(let origin):
      var result: Result?
      origin.withValue(at: Int(item)) { result = body(.value($0)) }
      return result
    }
  }
}
