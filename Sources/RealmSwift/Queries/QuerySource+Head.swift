// Queries that are followed as far as needed: the first elements, a loop that may be left, an
// index's ends, one object's place. Lists of all elements are made in QuerySource.
internal import ObjectStore
internal import Platform
internal import Storage

/// The first elements of a query, and the search for further ones.
struct QueryHead {
  let stamp: [UInt64]
  var items: [Int64]
  var finder: MatchFinder

  /// How many elements are kept when not all were asked for; who asks for later ones gets the whole
  /// list.
  static var keptMost: Int { 4_096 }
}

extension QuerySource {
  /// The plan; of a query without a condition one of all objects.
  func wholePlan(_ resolved: Resolved) -> QueryPlan {
    resolved.plan ?? QueryPlan(condition: .constant(true), tables: [])
  }

  /// The class, by position, where the elements are objects in key order that a plan finds.
  func unorderedTable(_ resolved: Resolved) -> Int? {
    guard resolved.orderings.isEmpty, let origin = origin as? TableOrigin else { return nil }
    return realm.position(of: origin.objects.pointee.binding)
  }

  /// The first elements, at least so many if there are; nil when all of them are known, or have to
  /// be.
  func head(_ count: Int) -> [Int64]? {
    check()
    let resolved = resolved
    guard let table = unorderedTable(resolved), count <= QueryHead.keptMost else { return nil }
    let stamp = stamp(resolved)
    if known(stamp) != nil { return nil }
    var head: QueryHead
    // Taken out while it is searched on: a search belongs to one thread.
    let known = state.withLock { state -> QueryHead? in
      guard let head = state.head, head.stamp == stamp else { return nil }
      if head.items.count < count, !head.finder.isDone { state.head = nil }
      return head
    }
    if let known {
      head = known
      if head.items.count >= count || head.finder.isDone { return head.items }
    } else {
      guard let run = wholePlan(resolved).run(realm, table, limit: count) else { return [] }
      head = QueryHead(stamp: stamp, items: [], finder: MatchFinder(run))
    }
    // Twice as many as before: who asks for one after the other gets all of them in few steps.
    head.finder.find(max(count, head.items.count * 2), into: &head.items)
    noteLooks(of: head)
    let isDone = head.finder.isDone
    if isDone {
      keep(head.items, stamp)
    } else {
      state.withLock { $0.head = head }
    }
    return head.items
  }

  // MARK: - The first of sorted elements

  /// So many first elements may be asked for before all are sorted.
  private static var firstsMax: Int { 1_024 }
  /// So many are found at least.
  static var firstsMin: Int { 64 }
  /// So often they are found before all are sorted, which takes about as long.
  private static var firstsFoundMax: Int { 8 }

  /// The first of sorted elements, at least `count` unless there are no more; nil when all of them
  /// have to be found.
  func firstItems(_ count: Int, _ resolved: Resolved) -> [Int64]? {
    // Of few elements all are sorted as soon.
    guard count <= Self.firstsMax, let paths = PlanOrdering.sortPaths(resolved.orderings),
      let all = candidateCount, all > 4 * Self.firstsMax
    else { return nil }
    let stamp = stamp(resolved)
    if known(stamp) != nil { return nil }
    let firsts = state.withLock { state in
      state.firsts.flatMap { $0.stamp == stamp ? $0 : nil }
    }
    if let firsts, firsts.items.count >= count || firsts.isComplete { return firsts.items }
    if let passing = passing(looks: .max) { return passing.first(count) }
    // Asked for again and again, all are sorted once: the list of all follows the Realm.
    if !realm.isFrozen, version(resolved) != nil {
      let isOften = state.withLock { state in
        state.firstsFound = state.firstsFound < Self.firstsFoundMax ? state.firstsFound + 1 : 0
        return state.firstsFound == 0
      }
      if isOften { return nil }
    }
    let limit = count <= Self.firstsMin ? Self.firstsMin : Self.firstsMax
    let items = findFirst(limit, by: paths, resolved)
    let found = Found(
      stamp: stamp, version: version(resolved), items: items, isComplete: items.count < limit)
    state.withLock { state in
      state.firsts = found
      state.isAsked = true
    }
    if found.version != nil, !realm.isFrozen { hold() }
    return items
  }

  private func findFirst(
    _ limit: Int, by paths: SortOrder.Paths, _ resolved: Resolved
  ) -> [Int64] {
    let tables = resolved.orderings.reduce(into: Set<Int>()) { $0.formUnion($1.tables) }
    var first = FirstElements(limit, SortOrder(paths, tables, origin))
    forEachMatches(resolved) { first.add($0) }
    return first.result()
  }

  /// The element at a position by key or position; nil when there are fewer.
  func item(at position: Int) -> Int64? {
    if realm.isFrozen, let items = state.withLock({ $0.found?.items }) {
      return items.indices.contains(position) ? items[position] : nil
    }
    if position >= 0, let firsts = firstItems(position + 1, resolved) {
      return position < firsts.count ? firsts[position] : nil
    }
    let items = items()
    return items.indices.contains(position) ? items[position] : nil
  }

  // MARK: - In a running transaction

  /// The elements in a running transaction, where they are edited by what it touches; nil where
  /// they have to be found.
  ///
  /// - Parameters:
  ///   - looks: how many objects are looked at otherwise, at most all.
  ///   - ofAll: also where the elements are all that there are, in their own order.
  func passing(looks: Int = 0, ofAll: Bool = false) -> PassingElements? {
    guard realm.group != nil else { return nil }
    return passingInTransaction(looks, ofAll)
  }

  @inline(never)
  private func passingInTransaction(_ looks: Int, _ ofAll: Bool) -> PassingElements? {
    guard let writing = realm.writing, looks > 0 || realm.passingQueries != nil,
      let count = candidateCount ?? linkCount, count > 1_024,
      version(resolved) == nil,
      let identity = passingIdentity ?? (ofAll ? makeIdentity() : nil)
    else { return nil }
    let queries = realm.passingQueries ?? PassingQueries()
    realm.passingQueries = queries
    return queries.elements(
      identity, self, looks: min(looks, count), of: count, writing.group
    ) { findItems() }
  }

  /// From how many objects of a class, or elements of a list, set or map the query chooses; nil of
  /// others.
  var candidateCount: Int? {
    switch origin {
    case let origin as TableOrigin: realm.reader(of: origin.objects)?.count
    case let origin as CellOrigin: origin.cell.contentIfThere()?.count
    default: nil
    }
  }

  /// How many objects link to the one whose linking objects the query chooses from; nil of others.
  var linkCount: Int? {
    guard let origin = origin as? any LinkingOrigin, let table = origin.table,
      let target = origin.linked.table.pointee.binding.table
    else { return nil }
    return realm.reader(of: table)?.backlinks(origin.column, origin.linked.key, in: target).count
  }

  /// Notes how many elements of a collection were looked at to find the first ones.
  ///
  /// Looked at again and again, all are found once: their list goes on with the Realm, or with its
  /// transaction.
  func note(looks: Int) {
    if looks <= 256 { return }
    if realm.group != nil {
      _ = passing(looks: looks)
    } else if !realm.isFrozen, let count = candidateCount ?? linkCount, count > 1_024 {
      let isOften = state.withLock { state in
        state.looked += looks
        if state.looked <= 4 * count { return false }
        state.looked = 0
        return true
      }
      if isOften { _ = items() }
    }
  }

  /// Notes how many objects were looked at to find the first elements.
  private func noteLooks(of head: QueryHead) {
    guard realm.group != nil, let table = (origin as? TableOrigin)?.objects,
      let reader = realm.reader(of: table)
    else { return }
    let looks = head.items.last.map { reader.rank(of: ObjectKey(rawValue: $0)) } ?? reader.count
    note(looks: looks)
  }

  /// Whether the elements were listed, and are still those.
  func isKnown(_ resolved: Resolved) -> Bool {
    known(stamp(resolved)) != nil
  }

  /// Goes through objects while the search for further ones is still to come; nil where that cannot
  /// be.
  func makeLazyCursor() -> AccessorCursor? {
    check()
    let resolved = resolved
    // The blocks of a transaction change under a search.
    guard realm.group == nil, !isCustom, let table = origin.table,
      let index = unorderedTable(resolved), !isKnown(resolved)
    else { return nil }
    let snapshot = realm.currentSnapshot()
    guard let run = wholePlan(resolved).run(realm, index) else { return nil }
    let stamp = stamp(resolved)
    return FoundCursor(realm, table, MatchFinder(run), snapshot) { [self] items in
      if stamp == self.stamp(self.resolved) {
        keep(items, stamp)
      }
    }
  }

  /// The key of the object with the least or greatest value of a column, where an index tells it of
  /// all objects of a class; nil where the values are to be looked at.
  func indexedExtreme(
    _ column: Int, _ type: PropertyType, isGreatest: Bool
  ) -> (reader: TableReader, location: RowLocation)? {
    guard let origin = origin as? TableOrigin, resolved.plan == nil,
      let reader = realm.reader(of: origin.objects),
      let stored = origin.objects.pointee.binding.table, stored.schema.columns[column].isIndexed
    else { return nil }
    let first = OrderKey.null + 1
    let orders: ClosedRange<Int64>
    switch type {
    case .int:
      orders = stored.isOptional(column) ? first...Int64.max : OrderKey.null...Int64.max
      // Null and the least integer have one order.
      if !isGreatest, orders.lowerBound == first,
        reader.indexedCount(column, OrderKey.null...OrderKey.null) > 0
      {
        return nil
      }
    case .date, .double:
      let least = OrderKey.integer((-Double.infinity)._packed, .double)
      let greatest = OrderKey.integer(Double.infinity._packed, .double)
      orders = least...greatest
      // What is no number decides by its place among the objects.
      if reader.indexedCount(column, first...Int64.max) != reader.indexedCount(column, orders) {
        return nil
      }
    default: return nil
    }
    guard let key = reader.extremeKey(column, orders, isGreatest: isGreatest),
      let location = reader.locate(key)
    else { return nil }
    return (reader, location)
  }

  /// Whether an object of the class is among the elements.
  func isMatch(_ object: ObjectBase, _ resolved: Resolved) -> Bool {
    guard let table = origin.table, let reader = realm.reader(of: table),
      let location = reader.locate(object.lastingKey)
    else { return false }
    guard let plan = resolved.plan else { return true }
    return plan.condition.matches(
      .object(object._key, location), reader, PlanReaders(realm, plan.tables))
  }

  // MARK: - Positions

  /// So many known elements are asked one by one; of more, the first one that fulfils a condition
  /// is found as that of a query.
  private static var askedMax: Int { 256 }

  /// The first position of an element that fulfils a condition.
  func position(matching tree: PredicateTree) -> Int? {
    check()
    let added = PlanResolver.plan(tree, realm, origin.scope)
    let resolved = resolved
    let readers = added.readers(realm)
    let table = origin.table.flatMap { realm.reader(of: $0) }
    let reader = SubjectReader(origin)
    func isMatch(_ item: Int64) -> Bool {
      reader.withSubject(item) { added.condition.matches($0, table, readers) } ?? false
    }
    if origin is TableOrigin, !resolved.orderings.contains(where: \.isDistinct) {
      if let known = known(stamp(resolved)) {
        if let position = known.prefix(Self.askedMax).firstIndex(where: isMatch) { return position }
        if known.count <= Self.askedMax { return nil }
      }
      return filtered(tree).findFirst().flatMap { position(of: $0) }
    }
    if resolved.orderings.isEmpty {
      var position = -1
      var isFound = false
      forEachMatch(resolved) { _, subject in
        position += 1
        isFound = added.condition.matches(subject, table, readers)
        return !isFound
      }
      return isFound ? position : nil
    }
    return items().firstIndex(where: isMatch)
  }

  /// The first element of those that are objects of a class and not chosen to be distinct, without
  /// keeping anything of the search.
  private func findFirst() -> Int64? {
    let resolved = resolved
    if let paths = PlanOrdering.sortPaths(resolved.orderings) {
      return findFirst(1, by: paths, resolved).first
    }
    guard let table = unorderedTable(resolved),
      let run = wholePlan(resolved).run(realm, table, limit: 1)
    else { return nil }
    var keys: [Int64] = []
    var finder = MatchFinder(run)
    finder.find(1, into: &keys)
    return keys.first
  }

  /// How many elements come before the object of a key, which is one of them if they are those of a
  /// class in its order.
  func position(of key: Int64) -> Int? {
    let resolved = resolved
    let stamp = stamp(resolved)
    if let items = known(stamp) { return position(of: key, in: items, stamp) }
    if let passing = passing(looks: .max) { return passing.position(of: key) }
    guard let table = unorderedTable(resolved) else { return position(of: key, in: items(), stamp) }
    if resolved.plan == nil, let origin = origin as? TableOrigin {
      return realm.reader(of: origin.objects)?.position(of: ObjectKey(rawValue: key))
    }
    guard let run = wholePlan(resolved).run(realm, table) else { return nil }
    var position = 0
    run.forEachCluster { scan, rows in
      if scan.firstKey.rawValue + 256 <= key {
        position += rows.count
        return true
      }
      return rows.forEach { row in
        if scan.key(row).rawValue < key { position += 1 }
        return true
      } && scan.firstKey.rawValue <= key
    }
    return position
  }

  /// The first position of a key among all elements of one state of the tables.
  private func position(of key: Int64, in items: [Int64], _ stamp: [UInt64]) -> Int? {
    // Who asks for many would look through all for each.
    let searchesMax = 64
    if items.count <= 1_024 { return items.firstIndex(of: key) }
    let byKey = state.withLock { state -> [Int64: Int]? in
      var positions =
        state.positions.flatMap { $0.stamp == stamp ? $0 : nil } ?? Positions(stamp: stamp)
      positions.searches += 1
      if positions.byKey == nil, positions.searches > searchesMax {
        positions.byKey = Dictionary(
          zip(items, items.indices), uniquingKeysWith: { first, _ in first })
      }
      state.positions = positions
      return positions.byKey
    }
    return byKey.map { $0[key] } ?? items.firstIndex(of: key)
  }
}
