// Results of queries: conditions, orders and distinct values over an origin. What was found is kept
// until one of the tables that it depends on changes.
internal import ObjectStore
internal import Platform
internal import Storage

/// The elements of an origin that fulfil conditions, in an order.
///
/// A frozen one is used by many threads, hence the lock around what was found.
final class QuerySource<Element: RealmCollectionValue>: ResultsSource<Element> {
  let origin: any QueryOrigin
  private let condition: PredicateTree?
  private let orders: [QueryOrder]
  let state: Monitor<State>
  /// Whether elements are made of objects: projections, and own types, perhaps optional.
  let isCustom = Element._rlmType == .object && !Element.isObject

  // What is made of the query, and what it found.
  // @unchecked: plans are values that are never changed after they are made; a head is searched
  // only by who has taken it out.
  struct State: @unchecked Sendable {
    /// Places in the schema that the Realm had; nil until they are asked for.
    var resolved: Resolved?
    var found: Found?
    /// What was found in a transaction that has changed the tables.
    var passing: Found?
    /// Whether the elements were asked for since the Realm moved.
    var isAsked = false
    /// The first of sorted elements, when only some of them were asked for.
    var firsts: Found?
    /// How often these were found, since all were.
    var firstsFound = 0
    /// How many elements there are, when only that was asked.
    var counted: (stamp: [UInt64], version: Version?, count: Int)?
    /// The first elements of those that are not sorted, when not all were asked for.
    var head: QueryHead?
    /// How many elements of a collection were looked at to find the first ones.
    var looked = 0
    /// Where the elements are, when that was asked for.
    var positions: Positions?
  }

  /// Where the elements of one state of the tables are.
  struct Positions {
    let stamp: [UInt64]
    /// How often one was searched for.
    var searches = 0
    /// By their keys; nil until many were searched for.
    var byKey: [Int64: Int]?
  }

  /// The query in the terms of one schema.
  struct Resolved {
    let classes: SchemaBindings
    let plan: QueryPlan?
    let orderings: [PlanOrdering]
    /// The Realm's classes that the elements depend on.
    let tables: [Int]
  }

  /// What was found, and of which state of the tables.
  struct Found {
    var stamp: [UInt64]
    /// The version whose elements these are; nil for those of a transaction.
    var version: Version?
    let items: [Int64]
    /// Whether these are all elements.
    var isComplete = true
  }

  /// - Parameters:
  ///   - condition: nil for all elements.
  ///   - orders: applied one after the other, after the condition.
  ///   - isChecked: the condition and orders are known to have a meaning for the origin.
  init(
    _ origin: any QueryOrigin, _ condition: PredicateTree? = nil, _ orders: [QueryOrder] = [],
    isChecked: Bool = false
  ) {
    self.origin = origin
    self.condition = condition
    self.orders = orders
    state = Monitor(State(resolved: isChecked ? nil : Self.resolve(origin, condition, orders)))
    super.init(origin.realm)
  }

  /// The same query in another Realm of the file, with what is known if that stands on the same
  /// version.
  private init(
    _ origin: any QueryOrigin, _ condition: PredicateTree?, _ orders: [QueryOrder],
    sharing other: QuerySource
  ) {
    self.origin = origin
    self.condition = condition
    self.orders = orders
    let (known, found, counted) = other.state.withLock { ($0.resolved, $0.found, $0.counted) }
    let isSameSchema = known?.classes === origin.realm.classes
    var state = State(resolved: isSameSchema ? known : nil)
    if origin.realm.group == nil, let snapshot = origin.realm.snapshot, isSameSchema {
      // The stamp is another one there.
      if var found, found.version == snapshot.version {
        found.stamp = []
        state.found = found
      }
      if var counted, counted.version == snapshot.version {
        counted.stamp = []
        state.counted = counted
      }
    }
    self.state = Monitor(state)
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
  var resolved: Resolved {
    if let resolved = state.withLock({ $0.resolved }), _fastPath(resolved.classes === realm.classes)
    {
      return resolved
    }
    let anew = Self.resolve(origin, condition, orders)
    state.withLock { $0.resolved = anew }
    return anew
  }

  /// The same where a transaction changes the elements; nil of all objects as they are.
  private(set) lazy var passingIdentity: QueryIdentity? =
    condition == nil && orders.isEmpty ? nil : makeIdentity()

  /// What the same queries have in common.
  func makeIdentity() -> QueryIdentity? { QueryIdentity(origin, condition, orders) }

  // MARK: - Further queries

  /// The elements that fulfil a condition too.
  ///
  /// Orders and distinct values are applied after all conditions.
  func filtered(_ tree: PredicateTree) -> QuerySource {
    check()
    guard let condition else { return QuerySource(origin, tree, orders) }
    // Only what is new is looked at, so that a chain of filters takes time with its length.
    _ = PlanResolver.plan(tree, realm, origin.scope)
    return QuerySource(origin, condition && tree, orders, isChecked: true)
  }

  /// The same elements in another order, or without equal ones.
  func ordered(_ order: QueryOrder) -> QuerySource {
    check()
    // Only what is new is looked at; see `filtered`.
    _ = PlanOrdering(order, origin)
    return QuerySource(origin, condition, orders.followed(by: order), isChecked: true)
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
    if realm.isFrozen, let items = state.withLock({ $0.found?.items }) { return items }
    let resolved = resolved
    let stamp = stamp(resolved)
    if let known = known(stamp) { return known }
    if let passing = passing(looks: .max) { return passing.all }
    let items = PlanOrdering.apply(resolved.orderings, to: matches(resolved), of: origin)
    keep(items, stamp)
    return items
  }

  /// Keeps what was found.
  func keep(_ items: [Int64], _ stamp: [UInt64]) {
    let version = version(resolved)
    let found = Found(stamp: stamp, version: version, items: items)
    state.withLock { state in
      if version == nil { state.passing = found } else { state.found = found }
      state.firsts = nil
      state.head = nil
      state.isAsked = true
    }
    if version != nil, !realm.isFrozen { hold() }
  }

  /// The version whose elements are there now; nil in a transaction that has touched the tables
  /// that they depend on.
  func version(_ query: @autoclosure () -> Resolved) -> Version? {
    if _fastPath(realm.group == nil) { return realm.currentSnapshot().version }
    guard let writing = realm.writing, writing.isWhole else { return nil }
    let resolved = query()
    guard writing.group.schema === resolved.classes.stored else { return nil }
    let isTouched = resolved.tables.contains { table in
      realm.bindings[table].table.map { writing.group.hasTouched($0) } ?? true
    }
    return isTouched ? nil : writing.transaction.base.version
  }

  /// The elements, if they are known.
  func known(_ stamp: [UInt64]) -> [Int64]? {
    let version = version(resolved)
    return state.withLock { state in
      if state.found?.stamp != stamp, let of = version, state.found?.version == of {
        state.found?.stamp = stamp
      }
      state.isAsked = true
      if let found = state.found, found.stamp == stamp { return found.items }
      guard let passing = state.passing else { return nil }
      if passing.stamp == stamp { return passing.items }
      state.passing = nil
      return nil
    }
  }

  /// Lets what was found follow the Realm, where finding it anew takes long.
  func hold() {
    guard let count = candidateCount ?? linkCount, count > 1_024 else { return }
    realm.hold(self)
  }

  /// The elements that fulfil the conditions, in the origin's order.
  func matches(_ resolved: Resolved) -> [Int64] {
    var items: [Int64] = []
    forEachMatches(resolved) { items.append(contentsOf: $0) }
    return items
  }

  /// Runs `body` on all elements that fulfil the conditions, some at a time, in the origin's order.
  func forEachMatches(
    _ resolved: Resolved, _ body: (UnsafeBufferPointer<Int64>) -> Void
  ) {
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: 4_096) { buffer in
      var count = 0
      func pass() {
        body(UnsafeBufferPointer(rebasing: buffer[..<count]))
        count = 0
      }
      if let origin = origin as? TableOrigin {
        let index = realm.position(of: origin.objects.pointee.binding)
        wholePlan(resolved).run(realm, index)?.forEachCluster { scan, rows in
          if count + 256 > buffer.count { pass() }
          count += scan.writeKeys(rows, to: buffer.baseAddress! + count)
          return true
        }
        return pass()
      }
      if resolved.plan == nil, let origin = origin as? CellOrigin, origin.table == nil {
        // Of values only the places are wanted.
        for position in 0..<(origin.cell.contentIfThere()?.count ?? 0) {
          buffer[count] = Int64(position)
          count += 1
          if count == buffer.count { pass() }
        }
        return pass()
      }
      forEachMatch(resolved) { item, _ in
        buffer[count] = item
        count += 1
        if count == buffer.count { pass() }
        return true
      }
      pass()
    }
  }

  /// The state of the tables that the elements depend on.
  func stamp(_ resolved: Resolved) -> [UInt64] {
    resolved.tables.map { realm.table(realm.bindings[$0]).pointee.generation }
  }

  /// Runs `body` on the elements that fulfil the conditions, in the origin's order.
  ///
  /// - Parameter limit: how many elements are wanted; nil for all.
  /// - Returns: how many elements of a collection were looked at.
  @discardableResult
  func forEachMatch(
    _ resolved: Resolved, limit: Int? = nil, _ body: (Int64, PlanSubject) -> Bool
  ) -> Int {
    guard let plan = resolved.plan else {
      origin.forEach(body)
      return 0
    }
    if let origin = origin as? TableOrigin {
      let index = realm.position(of: origin.objects.pointee.binding)
      plan.run(realm, index, limit: limit)?.forEachCluster { scan, rows in
        rows.forEach { body(scan.key($0).rawValue, scan.subject($0)) }
      }
      return 0
    }
    let readers = plan.readers(realm)
    let table = origin.table.flatMap { realm.reader(of: $0) }
    return origin.forEach { item, subject in
      plan.condition.matches(subject, table, readers) ? body(item, subject) : true
    }
  }

  /// Runs `body` on each element as it is now.
  func forEachSubject(_ body: (PlanSubject) -> Void) {
    check()
    let resolved = resolved
    if !resolved.orderings.contains(where: \.isDistinct) {
      forEachMatch(resolved) { _, subject in
        body(subject)
        return true
      }
      return
    }
    let reader = SubjectReader(origin)
    for item in items() { reader.withSubject(item, body) }
  }

  /// Adds the values of a packed column of all elements, or the elements themselves, a leaf at a
  /// time.
  ///
  /// - Returns: false, without having added any, when that cannot be done.
  func add(_ path: PlanPath, to folding: inout PackedFolding) -> Bool {
    let resolved = resolved
    if !path.hops.isEmpty || resolved.orderings.contains(where: \.isDistinct) { return false }
    switch path.end {
    case .column(let column):
      guard let origin = origin as? TableOrigin else { return false }
      let index = realm.position(of: origin.objects.pointee.binding)
      wholePlan(resolved).run(realm, index)?.forEachCluster(reading: column) { scan, rows in
        if !rows.isEmpty { folding.add(scan.table, scan.cluster, column, rows) }
        return true
      }
      return true
    case .subject:
      guard let origin = origin as? CellOrigin, origin.table == nil, resolved.plan == nil else {
        return false
      }
      origin.cell.contentIfThere()?.add(to: &folding)
      return true
    default: return false
    }
  }

  // MARK: - As a source

  override var typeName: String {
    origin.table?.pointee.binding.schema.name ?? CollectionDescription.name(Element.self)
  }

  override var count: Int {
    check()
    if realm.isFrozen {
      let known = state.withLock { $0.found?.items.count ?? $0.counted?.count ?? -1 }
      if known >= 0 { return known }
    }
    let resolved = resolved
    let stamp = stamp(resolved)
    if let known = known(stamp) { return known.count }
    let version = version(resolved)
    let counted = state.withLock { state in
      if let counted = state.counted, counted.stamp == stamp { return counted.count }
      if let counted = state.counted, version != nil, counted.version == version {
        state.counted?.stamp = stamp
        return counted.count
      }
      return -1
    }
    if counted >= 0 { return counted }
    if let passing = passing(looks: .max) { return passing.count }
    guard let count = countWithoutList(resolved, stamp) ?? countUnsorted(resolved) else {
      return items().count
    }
    let isAgain = state.withLock { state in
      defer { state.counted = (stamp, version, count) }
      return state.counted != nil
    }
    if isAgain, version != nil, !realm.isFrozen { hold() }
    return count
  }

  /// The number of elements where they are sorted, which changes nothing about it.
  private func countUnsorted(_ resolved: Resolved) -> Int? {
    guard PlanOrdering.sortPaths(resolved.orderings) != nil else { return nil }
    var count = 0
    forEachMatches(resolved) { count += $0.count }
    return count
  }

  /// The number of elements, where they need not be listed for it.
  private func countWithoutList(_ resolved: Resolved, _ stamp: [UInt64]) -> Int? {
    guard let origin = origin as? TableOrigin,
      !resolved.orderings.contains(where: \.isDistinct)
    else { return nil }
    let plan = wholePlan(resolved)
    let index = realm.position(of: origin.objects.pointee.binding)
    if let count = plan.exactCount(realm, index) { return count }
    guard let run = plan.run(realm, index) else { return 0 }
    var count = 0
    // Few objects that took long to find are kept: most often they are looked at next. All are when
    // they are counted again: the list follows the Realm then.
    let isAgain = state.withLock { $0.counted != nil }
    var items: [Int64]? = plan.condition.cost == .packed || !resolved.orderings.isEmpty ? nil : []
    run.forEachCluster { scan, rows in
      count += rows.count
      if count > QueryHead.keptMost, !isAgain { items = nil }
      if items == nil || rows.isEmpty { return true }
      rows.forEach {
        items?.append(scan.key($0).rawValue)
        return true
      }
      return true
    }
    if let items { keep(items, stamp) }
    return count
  }

  override var isEmpty: Bool { count(upTo: 1) == 0 }

  override var first: Element? {
    check()
    if let passing = passing() { return passing.key(at: 0).flatMap { element($0) } }
    if let items = head(1) { return items.first.flatMap { element($0) } }
    let resolved = resolved
    if !resolved.orderings.isEmpty { return item(at: 0).flatMap { element($0) } }
    if origin is TableOrigin || isKnown(resolved) {
      return items().first.flatMap { element($0) }
    }
    var first: Int64?
    let looks = forEachMatch(resolved) { item, _ in
      first = item
      return false
    }
    note(looks: looks)
    return first.flatMap { element($0) }
  }

  override func count(upTo limit: Int) -> Int {
    check()
    if let passing = passing() { return min(passing.count, limit) }
    if let items = head(limit) { return min(items.count, limit) }
    let resolved = resolved
    if limit > 1, !isKnown(resolved), let firsts = firstItems(limit, resolved) {
      return min(firsts.count, limit)
    }
    // Orders change nothing, and of equal elements one is left.
    if isKnown(resolved) || limit > 1 || limit < 1 { return min(count, limit) }
    var count = 0
    let looks = forEachMatch(resolved, limit: limit) { _, _ in
      count += 1
      return count < limit
    }
    note(looks: looks)
    return count
  }

  override func contains(_ element: Element) -> Bool? {
    check()
    let resolved = resolved
    guard let origin = origin as? TableOrigin, !isCustom,
      !resolved.orderings.contains(where: \.isDistinct), let object = element as? ObjectBase,
      object._realm === realm, object._table == origin.objects
    else { return nil }
    return isMatch(object, resolved)
  }

  override func element(at position: Int) -> Element {
    check()
    // No collection has so many, and the number of those up to it would not fit.
    if position == .max { checkBounds(position, count) }
    if let passing = passing() {
      guard let key = passing.key(at: position) else {
        checkBounds(position, passing.count)
        preconditionFailure("no element \(position) of \(passing.count)")
      }
      return element(key)!
    }
    if let items = head(position + 1) {
      checkBounds(position, items.count)
      return element(items[position])!
    }
    guard let item = item(at: position) else {
      checkBounds(position, count)
      preconditionFailure("no element \(position) of \(count)")
    }
    return element(item)!
  }

  /// The element of an item; nil when it is gone.
  func element(_ item: Int64) -> Element? {
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
      if Element.hasEqualityOfFile { return items().firstIndex { self.element($0) == element } }
      let identity = element._identity
      return items().firstIndex { self.element($0)?._identity == identity }
    }
    let projected = (element as? any _AnyProjection)?._projectedObject
    guard let object = projected ?? element as? ObjectBase, object._realm === realm,
      object._table == table
    else { return nil }
    let resolved = resolved
    if unorderedTable(resolved) != nil {
      return isMatch(object, resolved) ? position(of: object._key.rawValue) : nil
    }
    return position(of: object._key.rawValue)
  }

  override func makeIterator() -> RLMIterator<Element> {
    if let cursor = makeLazyCursor() { return RLMIterator(cursor) }
    // Its objects are the elements, not projected or made into another type.
    if let table = origin.table, !isCustom {
      check()
      // In a transaction, whose changes may move elements, all are taken at once.
      if realm.group == nil, let firsts = firstItems(1, resolved) {
        return RLMIterator(
          LinkCursor(
            realm, table, keys: firsts,
            then: firsts.count < Self.firstsMin ? nil : itemsBehind(firsts.count)))
      }
    }
    return makeIterator(of: items())
  }

  /// Goes through the elements that are at some positions now.
  func makeIterator(at positions: some Sequence<Int>) -> RLMIterator<Element> {
    let items = items()
    return makeIterator(of: positions.map { items[$0] })
  }

  /// Goes through the elements of some items.
  func makeIterator(of items: [Int64]) -> RLMIterator<Element> {
    guard let table = origin.table else {
      // Places of values mean other ones after a change: all are taken at once.
      return RLMIterator(CopyCursor(items.compactMap { element($0) }))
    }
    if !isCustom { return RLMIterator(LinkCursor(realm, table, keys: items)) }
    return RLMIterator(
      KeyCursor(keys: items.map { ObjectKey(rawValue: $0) }) { [self] key in
        check()
        return element(key.rawValue)
      })
  }

  /// What gives the elements of the Realm's version behind the first ones, wherever the Realm is by
  /// then.
  private func itemsBehind(_ count: Int) -> () -> [Int64] {
    let snapshot = realm.currentSnapshot()
    return { [self] in
      let isThere = realm.group == nil && realm.snapshot === snapshot
      var source: QuerySource? = self
      if !isThere {
        let frozen = ConfinedRealm(freezing: realm, at: snapshot.settled)
        source = moved(to: frozen) as? QuerySource
      }
      return Array(source?.items().dropFirst(count) ?? [])
    }
  }

  override func moved(to realm: ConfinedRealm) -> ResultsSource<Element>? {
    let isEmptied = origin.isGone || realm.takesEmptied && origin.owner != nil
    let moved = origin.moved(to: realm) ?? (isEmptied ? GoneOrigin(origin, in: realm) : nil)
    return moved.map { QuerySource($0, condition, orders, sharing: self) }
  }

  override func makeQueryOrigin() -> any QueryOrigin { origin }

  override func makeTracker(_ keyPaths: [String]?) -> CollectionTracker {
    check()
    if let nested = origin as? NestedOrigin { return nested.makeTracker(of: self, keyPaths) }
    return QueryTracker(self, keyPaths)
  }

  override var owner: (table: TablePointer, key: ObjectKey)? { origin.owner }
}
