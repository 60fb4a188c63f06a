// What queries find again and again in a running transaction that changes what they look at:
// `while let first = results.first { realm.delete(first) }`. From the third time on the elements
// are not found anew, but edited by what the transaction has touched since.
internal import ObjectStore
internal import Platform

/// The elements of one query in a running transaction.
///
/// Only of queries that choose from the objects of a class by these objects' own values.
final class PassingElements {
  // Both belong to the Realm, which keeps this while its transaction runs.
  private let table: TablePointer
  private unowned let realm: ConfinedRealm
  private let condition: PlanCondition?
  private let classes: Set<Int>
  private let paths: KeyedQuery.Paths
  // Unchecked exclusivity: as those of ElementSharing.
  @exclusivity(unchecked) private var keys: OrderedKeys
  /// Of distinct results.
  @exclusivity(unchecked) private var groups: PassingGroups?
  /// Up to where the transaction's changes are known.
  @exclusivity(unchecked) private var mark: TouchMark
  @exclusivity(unchecked) private var generation: UInt64

  /// - Parameters:
  ///   - items: the elements as they are now.
  ///   - members: of distinct results those among which these were chosen, in the order for that.
  init(
    _ query: PassingQuery, _ group: GroupTransaction, _ stored: StoredTable, items: [Int64],
    members: [Int64]
  ) {
    table = query.table
    realm = query.realm
    condition = query.condition
    classes = query.classes
    paths = query.paths
    let readers = PlanReaders(realm, classes)
    let subjects = SubjectReader(TableOrigin(realm: realm, objects: table))
    keys = OrderedKeys(items, paths.isEmpty ? nil : KeyOrder(paths, readers, subjects))
    groups = query.distinct.map { PassingGroups($0, members, readers, subjects) }
    mark = group.touchMark(stored)
    generation = query.table.pointee.generation
  }

  var count: Int { keys.count }
  var all: [Int64] { keys.all }

  /// The key at a position; nil when there are fewer.
  func key(at position: Int) -> Int64? {
    position >= 0 && position < keys.count ? keys[position] : nil
  }

  /// The first keys, so many if there are.
  func first(_ count: Int) -> [Int64] { (0..<min(count, keys.count)).map { keys[$0] } }

  /// The position of an object; nil when it is no element.
  func position(of key: Int64) -> Int? {
    let subjects = SubjectReader(TableOrigin(realm: realm, objects: table))
    return keys.position(
      of: key, paths.isEmpty ? nil : KeyOrder(paths, PlanReaders(realm, classes), subjects))
  }

  /// Goes on to the transaction's state; false when that takes longer than to find the elements
  /// anew.
  func advance(_ group: GroupTransaction, _ stored: StoredTable) -> Bool {
    if table.pointee.generation == generation { return true }
    guard let touched = group.touched(stored, since: mark),
      touched.count <= max(64, keys.count / 16), let reader = realm.reader(of: table)
    else { return false }
    let readers = PlanReaders(realm, classes)
    let subjects = SubjectReader(TableOrigin(realm: realm, objects: table))
    let order = paths.isEmpty ? nil : KeyOrder(paths, readers, subjects)
    func remove(_ key: Int64) {
      if groups?.remove(key, from: &keys, order, readers, subjects) == nil {
        keys.remove(key, order)
      }
    }
    func look(_ key: Int64) {
      remove(key)
      guard let location = reader.locate(ObjectKey(rawValue: key)),
        condition?.matches(.object(ObjectKey(rawValue: key), location), reader, readers) ?? true
      else { return }
      if groups?.insert(key, into: &keys, order, readers, subjects) == nil {
        keys.insert(key, order)
      }
    }
    if touched.count == 1, let key = touched.first {
      look(key)
    } else {
      // Each is taken out first: the others are then where their places say.
      let distinct = Set(touched)
      for key in distinct { remove(key) }
      for key in distinct { look(key) }
    }
    var new = 0
    var last = ObjectKey(rawValue: mark.nextKey - 1)
    while let key = reader.nextKey(after: last) {
      new += 1
      if new > max(64, keys.count / 16) { return false }
      look(key.rawValue)
      last = key
    }
    mark = group.touchMark(stored)
    generation = table.pointee.generation
    return true
  }
}

/// Keys by the values of some paths, then by themselves; or by themselves alone, without an order.
private struct OrderedKeys {
  private var keys: OrderedChunks
  /// The place of each in the order.
  private var places: [Int64: KeyOrder.Place] = [:]

  /// - Parameter items: in the order.
  init(_ items: [Int64], _ order: KeyOrder?) {
    keys = OrderedChunks(items)
    guard let order else { return }
    places.reserveCapacity(items.count)
    for key in items { places[key] = order.place(of: KeyedElement(key: key, rank: key)) }
  }

  var count: Int { keys.count }
  var first: Int64? { keys.first }
  var all: [Int64] { keys.all }
  subscript(position: Int) -> Int64 { keys[position] }

  func position(of key: Int64, _ order: KeyOrder?) -> Int? {
    guard let order else { return keys.position(of: key) { $0 < key } }
    guard let place = places[key] else { return nil }
    return keys.position(of: key) { order.isBefore(places[$0]!, place) }
  }

  mutating func remove(_ key: Int64, _ order: KeyOrder?) {
    guard let order else { return keys.remove(key) { $0 < key } }
    guard let place = places[key] else { return }
    keys.remove(key) { order.isBefore(places[$0]!, place) }
    places[key] = nil
  }

  mutating func insert(_ key: Int64, _ order: KeyOrder?) {
    guard let order else { return keys.insert(key) { $0 < key } }
    guard let place = order.place(of: KeyedElement(key: key, rank: key)) else { return }
    keys.insert(key) { order.isBefore(places[$0]!, place) }
    places[key] = place
  }
}

/// The objects among which distinct ones are chosen, by their values: the first of each group is
/// chosen.
private struct PassingGroups {
  private let ordering: PlanOrdering
  /// By which the first of a group is chosen.
  private let paths: KeyedQuery.Paths
  private var members: [[UInt8]: OrderedKeys] = [:]
  private var groupByKey: [Int64: [UInt8]] = [:]

  /// - Parameter items: in the order in which the first ones are chosen.
  init(
    _ distinct: PassingQuery.Distinct, _ items: [Int64], _ readers: PlanReaders,
    _ subjects: SubjectReader
  ) {
    ordering = distinct.ordering
    paths = distinct.paths
    var keys: [[UInt8]: [Int64]] = [:]
    groupByKey.reserveCapacity(items.count)
    for key in items {
      guard let group = ordering.group(of: key, readers, subjects) else { continue }
      keys[group, default: []].append(key)
      groupByKey[key] = group
    }
    let order = makeOrder(readers, subjects)
    members = keys.mapValues { OrderedKeys($0, order) }
  }

  private func makeOrder(_ readers: PlanReaders, _ subjects: SubjectReader) -> KeyOrder? {
    paths.isEmpty ? nil : KeyOrder(paths, readers, subjects)
  }

  /// Takes an object out; the next one of its group is chosen, if it was.
  mutating func remove(
    _ key: Int64, from chosen: inout OrderedKeys, _ shown: KeyOrder?, _ readers: PlanReaders,
    _ subjects: SubjectReader
  ) {
    guard let group = groupByKey.removeValue(forKey: key) else { return }
    let wasFirst = members[group]?.first == key
    let order = makeOrder(readers, subjects)
    members[group]?.remove(key, order)
    if members[group]?.count == 0 { members[group] = nil }
    guard wasFirst else { return }
    chosen.remove(key, shown)
    if let next = members[group]?.first { chosen.insert(next, shown) }
  }

  /// Adds an object, which is chosen if it is the first one of its group.
  mutating func insert(
    _ key: Int64, into chosen: inout OrderedKeys, _ shown: KeyOrder?, _ readers: PlanReaders,
    _ subjects: SubjectReader
  ) {
    guard let group = ordering.group(of: key, readers, subjects) else { return }
    groupByKey[key] = group
    let first = members[group]?.first
    let order = makeOrder(readers, subjects)
    members[group, default: OrderedKeys([], nil)].insert(key, order)
    guard members[group]?.first == key else { return }
    if let first { chosen.remove(first, shown) }
    chosen.insert(key, shown)
  }
}

/// A query that is asked in a running transaction.
struct PassingQuery {
  let table: TablePointer
  unowned let realm: ConfinedRealm
  let condition: PlanCondition?
  let paths: KeyedQuery.Paths
  let distinct: Distinct?
  let classes: Set<Int>

  typealias Distinct = (ordering: PlanOrdering, paths: KeyedQuery.Paths)

  /// How many times all objects are looked at before what is found is kept: once to be counted and
  /// once to be listed is what a single look takes.
  var looksBeforeKept: Int {
    distinct == nil ? 2 : distinctFindingsMax.load(ordering: .relaxed)
  }

  /// Nil for queries whose elements depend on more than the values of each.
  init?(_ query: any TrackedQuery) {
    guard let origin = query.origin as? TableOrigin,
      let stored = origin.objects.pointee.binding.table
    else { return nil }
    let plan = query.plan
    let orders = KeyedQuery.orders(plan.orderings)
    guard plan.tables.count == 1, orders.distinct.count <= 1 else { return nil }
    let start = WatchedPath(table: stored.index)
    var watched = plan.orderings.flatMap(\.paths).flatMap {
      WatchedPath.of($0, from: start, origin.realm)
    }
    if let condition = plan.condition?.condition {
      watched += WatchedPath.of(condition, from: start, origin.realm)
    }
    if watched.contains(where: { !$0.hops.isEmpty }) { return nil }
    table = origin.objects
    realm = origin.realm
    condition = plan.condition?.condition
    paths = orders.sorts
    distinct = orders.distinct.first
    classes = Set(plan.tables)
  }
}

/// The queries that are asked in a running transaction, whether their results are held or made anew
/// each time.
final class PassingQueries {
  /// More queries than this are not known at a time.
  private static let queriesMax = 64

  private struct Entry {
    /// Nil when the elements cannot be edited.
    let query: PassingQuery?
    /// How many objects were looked at to find elements anew.
    var looked = 0
    var elements: PassingElements?
  }

  @exclusivity(unchecked) private var entries: [QueryIdentity: Entry] = [:]

  /// The elements of a query, if they are known, or worth being known.
  ///
  /// - Parameters:
  ///   - looks: how many objects are looked at without them.
  ///   - objects: how many there are.
  ///   - find: finds all elements.
  func elements(
    _ identity: QueryIdentity, _ query: any TrackedQuery, looks: Int, of objects: Int,
    _ group: GroupTransaction, _ find: () -> [Int64]
  ) -> PassingElements? {
    if entries[identity] == nil {
      if entries.count == Self.queriesMax { entries = [:] }
      entries[identity] = Entry(query: PassingQuery(query))
    }
    guard let passing = entries[identity]?.query, let stored = passing.table.pointee.binding.table
    else { return nil }
    if let elements = entries[identity]?.elements {
      if elements.advance(group, stored) { return elements }
      entries[identity]?.elements = nil
    }
    entries[identity]!.looked += looks
    guard entries[identity]!.looked > passing.looksBeforeKept * objects else { return nil }
    entries[identity]!.looked = 0
    let elements = PassingElements(
      passing, group, stored, items: find(),
      members: passing.distinct == nil ? [] : query.elementsBeforeDistinct())
    entries[identity]!.elements = elements
    return elements
  }
}
