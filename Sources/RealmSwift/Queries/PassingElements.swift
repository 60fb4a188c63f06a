// What queries find again and again in a running transaction that changes what they look at:
// `while let first = results.first { realm.delete(first) }`. From the third time on the elements
// are not found anew, but edited by what the transaction has touched since.
internal import ObjectStore
internal import Platform

/// The elements of one query in a running transaction.
///
/// Only of queries that choose from the objects of a class, or of a list, set or map, by these
/// objects' own values, and by those of other classes while the transaction does not change these.
/// Elements are known by ranks: the keys of the class's objects, or the places in the collection.
final class PassingElements {
  // Both belong to the Realm, which keeps this while its transaction runs.
  private let table: TablePointer
  private unowned let realm: ConfinedRealm
  private let condition: PlanCondition?
  private let classes: Set<Int>
  private let otherClasses: [Int]
  private let paths: KeyedQuery.Paths
  /// The objects of a list, set or map, which does not change meanwhile; nil: all of the class.
  private let members: PassingMembers?
  // Unchecked exclusivity: as those of ElementSharing.
  @exclusivity(unchecked) private var keys: OrderedKeys
  /// Of distinct results.
  @exclusivity(unchecked) private var groups: PassingGroups?
  /// Up to where the transaction's changes are known.
  @exclusivity(unchecked) private var mark: TouchMark
  @exclusivity(unchecked) private var generation: UInt64
  /// The state of the other classes when the elements were found.
  private let others: [UInt64]
  @exclusivity(unchecked) private var derivations: [ObjectIdentifier: Derivation] = [:]

  /// - Parameters:
  ///   - items: finds the elements as they are now.
  ///   - candidates: of distinct results those among which they were chosen, in the order for that.
  init(
    _ query: PassingQuery, _ group: GroupTransaction, _ stored: StoredTable, items: () -> [Int64],
    candidates: [Int64]
  ) {
    table = query.table
    realm = query.realm
    condition = query.condition
    classes = query.classes
    otherClasses = query.otherClasses
    paths = query.paths
    others = Self.generations(of: query.otherClasses, query.realm)
    let readers = PlanReaders(realm, classes)
    let subjects = SubjectReader(TableOrigin(realm: realm, objects: table))
    let order = paths.isEmpty ? nil : KeyOrder(paths, readers, subjects)
    if let cell = query.cell, let reader = realm.reader(of: table) {
      let members = PassingMembers(cell)
      keys = OrderedKeys(
        sorting: members.keys.indices.lazy.map(Int64.init).filter { [condition] rank in
          subjects.withSubject(members.keys[Int(rank)]) {
            condition?.matches($0, reader, readers) ?? true
          } == true
        }, order, objects: members.keys)
      self.members = members
    } else {
      keys = OrderedKeys(items(), order)
      members = nil
    }
    groups = query.distinct.map { PassingGroups($0, candidates, readers, subjects) }
    mark = group.touchMark(stored)
    generation = query.table.pointee.generation
  }

  private static func generations(of classes: [Int], _ realm: ConfinedRealm) -> [UInt64] {
    classes.map { realm.table(atIndex: $0).pointee.generation }
  }

  var count: Int { keys.count }
  /// The keys of all elements.
  var all: [Int64] { members == nil ? keys.all : keys.all.map(object) }

  /// The object of a rank.
  func object(_ rank: Int64) -> Int64 { members.map { $0.keys[Int(rank)] } ?? rank }

  /// The key at a position; nil when there are fewer.
  func key(at position: Int) -> Int64? {
    position >= 0 && position < keys.count ? object(keys[position]) : nil
  }

  /// The first keys, so many if there are.
  func first(_ count: Int) -> [Int64] { (0..<min(count, keys.count)).map { object(keys[$0]) } }

  /// The first position of an object; nil when it is no element.
  func position(of key: Int64) -> Int? {
    let subjects = SubjectReader(TableOrigin(realm: realm, objects: table))
    let order = paths.isEmpty ? nil : KeyOrder(paths, PlanReaders(realm, classes), subjects)
    return ranks(of: key).compactMap { keys.position(of: $0, order) }.min()
  }

  /// Where an object is among all that may be chosen.
  func ranks(of key: Int64) -> [Int64] { members.map { $0.ranks(of: key) } ?? [key] }

  /// Goes on to the transaction's state; false when that takes longer than to find the elements
  /// anew.
  func advance(_ group: GroupTransaction, _ stored: StoredTable) -> Bool {
    if !otherClasses.isEmpty, Self.generations(of: otherClasses, realm) != others { return false }
    if table.pointee.generation == generation { return true }
    guard let touched = group.touched(stored, since: mark),
      touched.count <= max(64, keys.count / 16), let reader = realm.reader(of: table)
    else { return false }
    let readers = PlanReaders(realm, classes)
    let subjects = SubjectReader(TableOrigin(realm: realm, objects: table))
    let order = paths.isEmpty ? nil : KeyOrder(paths, readers, subjects)
    func remove(_ key: Int64) {
      if groups?.remove(key, from: &keys, order, readers, subjects) == nil {
        for rank in ranks(of: key) { keys.remove(rank, order) }
      }
    }
    func look(_ key: Int64) {
      remove(key)
      guard let location = reader.locate(ObjectKey(rawValue: key)),
        condition?.matches(.object(ObjectKey(rawValue: key), location), reader, readers) ?? true
      else { return }
      if groups?.insert(key, into: &keys, order, readers, subjects) == nil {
        for rank in ranks(of: key) { keys.insert(rank, order) }
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
    // None of the new ones is in a collection that has not changed.
    while members == nil, let key = reader.nextKey(after: last) {
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

// MARK: - What is derived from the elements

extension PassingElements {
  /// A place in the edits of the elements.
  struct EditMark {
    fileprivate let round: Int
    fileprivate let count: Int
  }

  /// An element that went or came: its rank, and where it was in the order until then.
  ///
  /// - place: nil without an order, and of one that came.
  typealias Edit = (rank: Int64, place: KeyOrder.Place?)

  /// The ranks of all elements.
  var ranks: [Int64] { keys.all }

  /// The place behind all edits; begins to note them.
  func editMark() -> EditMark {
    let log = keys.log ?? EditLog()
    keys.log = log
    return EditMark(round: log.round, count: log.edits.count)
  }

  /// The edits since a mark, one after the other; nil when that is not known.
  func edits(since mark: EditMark) -> ArraySlice<Edit>? {
    guard let log = keys.log, log.round == mark.round else { return nil }
    return log.edits[mark.count...]
  }

  /// Whether a rank is one of an element.
  func isThere(_ rank: Int64) -> Bool { keys.isThere(rank, isOrdered: !paths.isEmpty) }

  /// Whether one rank comes before another.
  ///
  /// - Parameter formerPlaces: replace those that the elements have now.
  func comparison(_ formerPlaces: [Int64: KeyOrder.Place?]) -> (Int64, Int64) -> Bool {
    if paths.isEmpty { return { $0 < $1 } }
    let subjects = SubjectReader(TableOrigin(realm: realm, objects: table))
    let order = KeyOrder(paths, PlanReaders(realm, classes), subjects)
    func place(_ rank: Int64) -> KeyOrder.Place {
      // Of an element that came the edit has none; it was not there then.
      (formerPlaces[rank] ?? nil) ?? keys.places[rank]!
    }
    return { order.isBefore(place($0), place($1)) }
  }

  /// What somebody derives from the elements, which goes when they do.
  ///
  /// - Parameter owner: whose it is.
  func derived(for owner: AnyObject) -> AnyObject? {
    derivations[ObjectIdentifier(owner)].flatMap { $0.owner === owner ? $0.value : nil }
  }

  func derive(_ value: AnyObject?, for owner: AnyObject) {
    derivations = derivations.filter { $0.value.owner != nil }
    derivations[ObjectIdentifier(owner)] = value.map { Derivation(owner: owner, value: $0) }
  }
}

/// What is derived from elements, and whose it is.
private struct Derivation {
  weak var owner: AnyObject?
  let value: AnyObject
}

/// Which elements went and came, one after the other.
private final class EditLog {
  /// More are not kept: who has not asked for so long looks at all.
  private static let editsMax = 65_536

  // Unchecked exclusivity: as those of PassingElements.
  @exclusivity(unchecked) private(set) var edits: [PassingElements.Edit] = []
  /// How often earlier ones were dropped.
  @exclusivity(unchecked) private(set) var round = 0

  func note(_ rank: Int64, _ place: KeyOrder.Place?) {
    if edits.count == Self.editsMax { (edits, round) = ([], round + 1) }
    edits.append((rank, place))
  }
}

/// The objects of a list, set or map.
private struct PassingMembers {
  /// In the order of the collection.
  private(set) var keys: [Int64] = []
  /// Where each of them is first.
  private var firstRanks: [Int64: Int64] = [:]
  /// Where those that are there several times are besides.
  private var laterRanks: [Int64: [Int64]] = [:]

  init(_ cell: CellOrigin) {
    cell.forEach { key, _ in
      let rank = Int64(keys.count)
      if firstRanks[key] == nil {
        firstRanks[key] = rank
      } else {
        laterRanks[key, default: []].append(rank)
      }
      keys.append(key)
      return true
    }
  }

  func ranks(of key: Int64) -> [Int64] {
    firstRanks[key].map { [$0] + (laterRanks[key] ?? []) } ?? []
  }
}

/// Ranks by the values of some paths, then by themselves; or by themselves alone, without an order.
private struct OrderedKeys {
  private var keys: OrderedChunks
  /// The place of each in the order.
  private(set) var places: [Int64: KeyOrder.Place] = [:]
  /// The object of each rank; nil: its key is the rank.
  private let objects: [Int64]?
  /// What happened to them, if somebody wants to know.
  var log: EditLog?

  /// - Parameter items: in the order.
  init(_ items: [Int64], _ order: KeyOrder?) {
    objects = nil
    keys = OrderedChunks(items)
    guard let order else { return }
    places.reserveCapacity(items.count)
    for key in items { places[key] = order.place(of: KeyedElement(key: key, rank: key)) }
  }

  /// - Parameter ranks: ascending.
  init(sorting ranks: some Sequence<Int64>, _ order: KeyOrder?, objects: [Int64]) {
    self.objects = objects
    var ranks = Array(ranks)
    if let order {
      for rank in ranks {
        places[rank] = order.place(of: KeyedElement(key: objects[Int(rank)], rank: rank))
      }
      ranks.sort { [places] in order.isBefore(places[$0]!, places[$1]!) }
    }
    keys = OrderedChunks(ranks)
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

  /// - Parameter isOrdered: whether there is an order.
  func isThere(_ key: Int64, isOrdered: Bool) -> Bool {
    isOrdered ? places[key] != nil : position(of: key, nil) != nil
  }

  mutating func remove(_ key: Int64, _ order: KeyOrder?) {
    guard let order else {
      log?.note(key, nil)
      return keys.remove(key) { $0 < key }
    }
    guard let place = places[key] else { return }
    keys.remove(key) { order.isBefore(places[$0]!, place) }
    places[key] = nil
    log?.note(key, place)
  }

  mutating func insert(_ key: Int64, _ order: KeyOrder?) {
    log?.note(key, nil)
    guard let order else { return keys.insert(key) { $0 < key } }
    let object = objects.map { $0[Int(key)] } ?? key
    guard let place = order.place(of: KeyedElement(key: object, rank: key)) else { return }
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
  /// The class of the elements.
  let table: TablePointer
  /// The list, set or map that the query chooses from; nil: all objects of the class.
  let cell: CellOrigin?
  unowned let realm: ConfinedRealm
  let condition: PlanCondition?
  let paths: KeyedQuery.Paths
  let distinct: Distinct?
  /// The classes that the query looks at.
  let classes: Set<Int>
  /// The same without that of the elements.
  let otherClasses: [Int]

  typealias Distinct = (ordering: PlanOrdering, paths: KeyedQuery.Paths)

  /// How many times all objects are looked at before what is found is kept: once to be counted and
  /// once to be listed is what a single look takes.
  var looksBeforeKept: Int {
    distinct == nil ? 2 : distinctFindingsMax.load(ordering: .relaxed)
  }

  /// Nil for queries whose elements depend on each other.
  init?(_ query: any TrackedQuery) {
    let origin = query.origin
    guard origin is TableOrigin || origin is CellOrigin, let table = origin.table,
      let stored = table.pointee.binding.table
    else { return nil }
    cell = origin as? CellOrigin
    self.table = table
    let plan = query.plan
    let orders = KeyedQuery.orders(plan.orderings)
    guard orders.distinct.count <= (cell == nil ? 1 : 0) else { return nil }
    // Of a list of the own class each change of an object may be one of the list.
    if cell?.owner?.table == table { return nil }
    let start = WatchedPath(table: stored.index)
    var watched = plan.orderings.flatMap(\.paths).flatMap {
      WatchedPath.of($0, from: start, origin.realm)
    }
    if let condition = plan.condition?.condition {
      watched += WatchedPath.of(condition, from: start, origin.realm)
    }
    // A link that leads to the elements' class again: an element depends on others.
    if watched.contains(where: { $0.levels.dropFirst().contains { $0.table == stored.index } }) {
      return nil
    }
    realm = origin.realm
    condition = plan.condition?.condition
    paths = orders.sorts
    distinct = orders.distinct.first
    classes = Set(plan.tables)
    let own = origin.realm.position(of: table.pointee.binding)
    otherClasses = classes.filter { $0 != own }.sorted()
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
    /// How often these were asked for.
    var uses = 0
    /// How many times as much as usual is looked at before elements are kept again: they were of
    /// no use.
    var reluctance = 1
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
      if elements.advance(group, stored) {
        entries[identity]!.uses += 1
        return elements
      }
      if entries[identity]!.uses < 16 {
        entries[identity]!.reluctance = min(64, 2 * entries[identity]!.reluctance)
      }
      entries[identity]!.elements = nil
    }
    entries[identity]!.looked += looks
    guard
      entries[identity]!.looked
        > passing.looksBeforeKept * entries[identity]!.reluctance * objects
    else { return nil }
    entries[identity]!.looked = 0
    entries[identity]!.uses = 0
    let elements = PassingElements(
      passing, group, stored, items: find,
      candidates: passing.distinct == nil ? [] : query.elementsBeforeDistinct())
    entries[identity]!.elements = elements
    return elements
  }
}
