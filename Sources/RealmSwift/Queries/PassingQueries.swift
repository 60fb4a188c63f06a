// Which queries a running transaction asks again and again, and from when on their elements are
// kept: PassingElements follows these.
internal import ObjectStore
internal import Platform

/// A query that is asked in a running transaction.
struct PassingQuery {
  /// The class of the elements; of values that of the object that has them.
  let table: TablePointer
  /// The list, set or map that the query chooses from.
  let cell: CollectionCell?
  /// The sort of the values that it holds; nil for objects.
  private let valueType: PropertyType?
  /// The object whose linking objects the query chooses from; without both: all of the class.
  let link: Link?
  unowned let realm: ConfinedRealm
  private let condition: PlanCondition?
  let paths: KeyedQuery.Paths
  let distinct: Distinct?
  /// The classes that the query looks at.
  private let classes: Set<Int>
  /// The links by which it looks at others.
  let links: PassingPaths
  /// The other classes that it looks at in ways that are not followed.
  private let otherClasses: [Int]

  typealias Distinct = (ordering: PlanOrdering, paths: KeyedQuery.Paths)

  /// The object to which elements link, and by which column.
  struct Link {
    let column: Int
    let target: ObjectKey
    let targetTable: StoredTable

    /// How often an object links.
    private func count(of key: Int64, _ reader: TableReader) -> Int {
      reader.backlinks(column, target, in: targetTable).count(of: ObjectKey(rawValue: key))
    }

    func isMet(by key: Int64, _ reader: TableReader) -> Bool { count(of: key, reader) > 0 }

    func isMetTwice(by keys: Set<Int64>, _ reader: TableReader) -> Bool {
      keys.contains { count(of: $0, reader) > 1 }
    }
  }

  /// How many times all objects are looked at before what is found is kept: once to be counted and
  /// once to be listed is what a single look takes.
  var looksBeforeKept: Int {
    distinct == nil ? 2 : distinctFindingsMax.load(ordering: .relaxed)
  }

  /// Nil for queries whose elements depend on each other in ways that are not followed.
  init?(_ query: any TrackedQuery) {
    let origin = query.origin
    let linking = origin as? any LinkingOrigin
    cell = (origin as? CellOrigin)?.cell
    valueType = origin.table == nil ? origin.type : nil
    guard origin is TableOrigin || cell != nil || linking != nil,
      let table = origin.table ?? cell?.table, let stored = table.pointee.binding.table
    else { return nil }
    // Such values may lead to objects.
    if valueType == .any { return nil }
    link = linking.flatMap { linking in
      linking.linked.table.pointee.binding.table.map {
        Link(column: linking.column, target: linking.linked.key, targetTable: $0)
      }
    }
    if linking != nil, link == nil { return nil }
    self.table = table
    let plan = query.plan
    let orders = KeyedQuery.orders(plan.orderings)
    guard orders.distinct.count <= 1 else { return nil }
    let watched = valueType == nil ? Self.watched(plan, from: stored.index, origin.realm) : []
    links = PassingPaths(watched, origin.realm.classes.stored)
    realm = origin.realm
    condition = plan.condition?.condition
    paths = orders.sorts
    distinct = orders.distinct.first
    classes = Set(plan.tables)
    let own = origin.realm.position(of: table.pointee.binding)
    // What the elements hang on is followed by edits of the collection, or by who links.
    var read = plan.condition.map { Set($0.tables) } ?? []
    for ordering in plan.orderings { read.formUnion(ordering.tables) }
    if valueType == nil { read.remove(own) }
    let followed = Set(links.tables.map(\.index))
    otherClasses = read.sorted().filter { position in
      !(origin.realm.bindings[position].table.map { followed.contains($0.index) } ?? false)
    }
  }

  /// What the query looks at.
  private static func watched(
    _ plan: (condition: QueryPlan?, orderings: [PlanOrdering], tables: [Int]), from table: Int,
    _ realm: ConfinedRealm
  ) -> [WatchedPath] {
    let start = WatchedPath(table: table)
    var watched = plan.orderings.flatMap(\.paths).flatMap { WatchedPath.of($0, from: start, realm) }
    if let condition = plan.condition?.condition {
      watched += WatchedPath.of(condition, from: start, realm)
    }
    return watched
  }

  // MARK: - In the transaction's present state

  var isOfValues: Bool { valueType != nil }

  /// The state of the classes other than that of the elements.
  func generationsOfOthers() -> [UInt64] {
    otherClasses.map { realm.table(atIndex: $0).pointee.generation }
  }

  /// What reads the elements' class; nil of values.
  func reader() -> TableReader? { isOfValues ? nil : realm.reader(of: table) }

  func readers() -> PlanReaders { PlanReaders(realm, classes) }

  func subjects() -> SubjectReader {
    if let valueType, let content = cell?.contentIfThere() {
      return SubjectReader(content, valueType)
    }
    return SubjectReader(TableOrigin(realm: realm, objects: table))
  }

  /// The order of the elements; nil for that in which they are.
  func order(_ readers: PlanReaders, _ subjects: SubjectReader) -> KeyOrder? {
    paths.isEmpty ? nil : KeyOrder(paths, readers, subjects)
  }

  /// The key of a rank's object, or the position of its value; nil when nobody has the rank.
  ///
  /// - Parameter members: nil where ranks are keys.
  func item(_ rank: Int64, _ members: PassingMembers?) -> Int64? {
    guard let members else { return rank }
    return isOfValues ? members.position(of: rank).map { Int64($0) } : members.object(rank)
  }

  /// Whether an object or value is an element; false when it is gone.
  func isMatch(
    _ item: Int64, _ reader: TableReader?, _ readers: PlanReaders, _ subjects: SubjectReader
  ) -> Bool {
    if let link, let reader, !link.isMet(by: item, reader) { return false }
    let isMatch = subjects.withSubject(item) {
      condition?.matches($0, reader, readers) ?? true
    }
    return isMatch ?? false
  }
}

/// The queries that are asked in a running transaction, whether their results are held or made anew
/// each time.
final class PassingQueries {
  /// More queries than this are not known at a time, nor more elements of all of them.
  private static let queriesMax = 1_024
  private static let elementsMax = 4_000_000

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
    /// When it was asked for, counted in questions.
    var lastAsked = 0
  }

  @exclusivity(unchecked) private var entries: [QueryIdentity: Entry] = [:]
  /// How many questions there were.
  @exclusivity(unchecked) private var asked = 0

  /// Forgets the half of the queries that were not asked for longest.
  private func forgetHalf() {
    let asked = entries.values.map(\.lastAsked).sorted()
    let middle = asked[asked.count / 2]
    entries = entries.filter { $0.value.lastAsked >= middle }
  }

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
      if entries.count == Self.queriesMax { forgetHalf() }
      entries[identity] = Entry(query: PassingQuery(query))
    }
    asked += 1
    entries[identity]!.lastAsked = asked
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
    if elements == nil { entries[identity] = Entry(query: nil, lastAsked: asked) }
    if entries.values.reduce(0, { $0 + ($1.elements?.count ?? 0) }) > Self.elementsMax {
      forgetHalf()
    }
    return elements
  }
}
