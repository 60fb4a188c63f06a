// What queries find again and again in a running transaction that changes what they look at:
// `while let first = results.first { realm.delete(first) }`. From the third time on the elements
// are not found anew, but edited by what the transaction has touched since.
internal import ObjectStore

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
  @exclusivity(unchecked) private var keys: OrderedChunks
  /// Of sorted elements: the place of each in the order.
  @exclusivity(unchecked) private var places: [Int64: KeyOrder.Place] = [:]
  /// Up to where the transaction's changes are known.
  @exclusivity(unchecked) private var mark: TouchMark
  @exclusivity(unchecked) private var generation: UInt64

  /// - Parameter items: the elements as they are now.
  init(_ query: PassingQuery, _ group: GroupTransaction, _ stored: StoredTable, items: [Int64]) {
    table = query.table
    realm = query.realm
    condition = query.condition
    classes = query.classes
    paths = query.paths
    keys = OrderedChunks(items)
    mark = group.touchMark(stored)
    generation = query.table.pointee.generation
    if paths.isEmpty { return }
    places.reserveCapacity(items.count)
    let order = makeOrder()
    for key in items { places[key] = order.place(of: KeyedElement(key: key, rank: key)) }
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
    if paths.isEmpty { return keys.position(of: key) { $0 < key } }
    guard let place = places[key] else { return nil }
    let order = makeOrder()
    return keys.position(of: key) { order.isBefore(places[$0]!, place) }
  }

  private func makeOrder() -> KeyOrder {
    KeyOrder(
      paths, PlanReaders(realm, classes), SubjectReader(TableOrigin(realm: realm, objects: table)))
  }

  /// Goes on to the transaction's state; false when that takes longer than to find the elements
  /// anew.
  func advance(_ group: GroupTransaction, _ stored: StoredTable) -> Bool {
    if table.pointee.generation == generation { return true }
    guard let touched = group.touched(stored, since: mark),
      touched.count <= max(64, keys.count / 16), let reader = realm.reader(of: table)
    else { return false }
    let readers = PlanReaders(realm, classes)
    let order = paths.isEmpty ? nil : makeOrder()
    func look(_ key: Int64) {
      remove(key, order)
      guard let location = reader.locate(ObjectKey(rawValue: key)),
        condition?.matches(.object(ObjectKey(rawValue: key), location), reader, readers) ?? true
      else { return }
      insert(key, order)
    }
    if touched.count == 1, let key = touched.first {
      look(key)
    } else {
      // Each is taken out first: the others are then where their places say.
      let distinct = Set(touched)
      for key in distinct { remove(key, order) }
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

  private func remove(_ key: Int64, _ order: KeyOrder?) {
    guard let order else { return keys.remove(key) { $0 < key } }
    guard let place = places[key] else { return }
    keys.remove(key) { order.isBefore(places[$0]!, place) }
    places[key] = nil
  }

  private func insert(_ key: Int64, _ order: KeyOrder?) {
    guard let order else { return keys.insert(key) { $0 < key } }
    guard let place = order.place(of: KeyedElement(key: key, rank: key)) else { return }
    keys.insert(key) { order.isBefore(places[$0]!, place) }
    places[key] = place
  }
}

/// A query that is asked in a running transaction.
struct PassingQuery {
  let table: TablePointer
  unowned let realm: ConfinedRealm
  let condition: PlanCondition?
  let paths: KeyedQuery.Paths
  let classes: Set<Int>

  /// Nil for queries whose elements depend on more than the values of each.
  init?(_ query: any TrackedQuery) {
    guard let origin = query.origin as? TableOrigin,
      let stored = origin.objects.pointee.binding.table
    else { return nil }
    let plan = query.plan
    guard plan.tables.count == 1, !plan.orderings.contains(where: \.isDistinct) else { return nil }
    let start = WatchedPath(table: stored.index)
    let paths = plan.orderings.isEmpty ? [] : PlanOrdering.sortPaths(plan.orderings) ?? []
    var watched = paths.flatMap { WatchedPath.of($0.path, from: start, origin.realm) }
    if let condition = plan.condition?.condition {
      watched += WatchedPath.of(condition, from: start, origin.realm)
    }
    if watched.contains(where: { !$0.hops.isEmpty }) { return nil }
    table = origin.objects
    realm = origin.realm
    condition = plan.condition?.condition
    self.paths = paths
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
    // Once to be counted and once to be listed is what a single look takes.
    guard entries[identity]!.looked > 2 * objects else { return nil }
    entries[identity]!.looked = 0
    let elements = PassingElements(passing, group, stored, items: find())
    entries[identity]!.elements = elements
    return elements
  }
}
