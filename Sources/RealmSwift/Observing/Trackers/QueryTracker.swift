// Following the elements of a query, by what changed alone: QueryTracker+Keyed. Only after a change
// of the schema elements are found anew, and their places compared.
internal import ObjectStore

/// A query as its tracker sees it.
protocol TrackedQuery: AnyObject {
  var origin: any QueryOrigin { get }
  /// Its condition and orders in the terms of the Realm's schema, and the classes that it depends
  /// on.
  var plan: (condition: QueryPlan?, orderings: [PlanOrdering], tables: [Int]) { get }
  /// The keys or positions of the elements, in order.
  func items() -> [Int64]
  /// The keys of the elements among which distinct ones are chosen, in order.
  func elementsBeforeDistinct() -> [Int64]
  /// Forgets what was found.
  func forget()
  /// Takes over what its tracker knows to be the elements now.
  func adopt(_ items: [Int64])
  /// What other queries that are the same have in common with it; nil when it is like no other.
  var identity: QueryIdentity? { get }
}

/// Follows the elements of a query.
final class QueryTracker: CollectionTracker {
  let query: any TrackedQuery
  private var filter: KeyPathFilter
  /// The elements, as the observer knows them.
  @exclusivity(unchecked) private(set) var elements: KnownElements
  /// Who has the same knows them together with this; nil for nobody.
  private let identity: TrackedIdentity?
  /// How often elements were found anew.
  private(set) var findings = 0
  private(set) var resolved: Resolved
  /// Whether the object that the elements hang on is gone.
  private var isOver = false

  /// What the query depends on, in the terms of one schema.
  struct Resolved {
    let classes: SchemaBindings
    let dependencies: [WatchedPath]
    /// Nil for queries that are not followed by what changed alone.
    let keyed: KeyedQuery?
    /// Indexes of the stored tables.
    let tables: [Int]

    var ranksByPosition: Bool { keyed?.ranksByPosition ?? false }
  }

  init(_ query: any TrackedQuery, _ keyPaths: [String]?) {
    self.query = query
    let realm = query.origin.realm
    filter = KeyPathFilter(keyPaths, realm, query.origin.table)
    elements = KnownElements(query.items())
    resolved = Self.resolve(query)
    identity = query.identity.map { TrackedIdentity(query: $0, keyPaths: keyPaths) }
    isOver = query.origin.isGone
    super.init()
    if isOver { return }
    prepare(resolved.keyed)
    if let identity { elements = realm.elementSharing.shared(elements, of: identity) }
  }

  /// Follows the elements for nobody but the query itself.
  ///
  /// - Parameter items: those of the older version of the step to come.
  init(_ query: any TrackedQuery, _ resolved: Resolved, items: [Int64]) {
    self.query = query
    filter = KeyPathFilter([], query.origin.realm, query.origin.table)
    elements = KnownElements(items)
    self.resolved = resolved
    identity = nil
    super.init()
  }

  // Edited where they are: nothing of them is copied for that.

  var items: [Int64] {
    _read { yield elements.items }
    _modify { yield &elements.items }
  }
  var ranks: [Int64] {
    _read { yield elements.ranks }
    _modify { yield &elements.ranks }
  }
  var groups: [DistinctGroups] {
    _read { yield elements.groups }
    _modify { yield &elements.groups }
  }

  /// Whether both know their elements together.
  func knowsSame(as other: QueryTracker) -> Bool { elements === other.elements }

  static func resolve(_ query: any TrackedQuery) -> Resolved {
    let realm = query.origin.realm
    let plan = query.plan
    var dependencies: [WatchedPath] = []
    if let table = query.origin.table?.pointee.binding.table {
      let start = WatchedPath(table: table.index)
      if let condition = plan.condition?.condition {
        dependencies = WatchedPath.of(condition, from: start, realm)
      }
      for path in plan.orderings.flatMap(\.paths) {
        dependencies += WatchedPath.of(path, from: start, realm)
      }
    }
    // A long condition looks at few different paths.
    var seen: Set<WatchedPath> = []
    dependencies.removeAll { !seen.insert($0).inserted }
    return Resolved(
      classes: realm.classes, dependencies: dependencies, keyed: KeyedQuery(query),
      tables: plan.tables.compactMap { realm.bindings[$0].table?.index })
  }

  override var watched: Watched {
    if resolved.classes !== query.origin.realm.classes { return .everything }
    let tables = resolved.classes.stored.tables
    var found = filter.watchedTables()
    for path in resolved.dependencies {
      for level in path.levels { found.insert(tables[level.table].tableKey) }
    }
    for table in resolved.tables { found.insert(tables[table].tableKey) }
    for table in [query.origin.table, query.origin.owner?.table] {
      guard let table else { continue }
      guard let stored = table.pointee.binding.table else { return .everything }
      found.insert(stored.tableKey)
    }
    if let keyed = resolved.keyed, case .table = keyed.source {
      var seen: Set<WatchedPath> = []
      let paths = (resolved.dependencies + filter.watchedPaths()).filter {
        seen.insert($0).inserted
      }
      return .query(keyed.table, paths, followsLinks: filter.followsLinks, tables: found)
    }
    return .tables(found)
  }

  override func advance(_ step: VersionStep) -> CollectionChange? {
    if isOver { return nil }
    if let owner = query.origin.owner, let table = owner.table.pointee.binding.table,
      step.isDeleted(table.index, owner.key)
    {
      isOver = true
      return CollectionChange(deletions: Array(items.indices)).told
    }
    if let known = step.advanced[ObjectIdentifier(elements)] {
      elements = known.after
      query.forget()
      query.adopt(items)
      return known.change
    }
    if isKnownUniquelyReferenced(&elements) { return follow(step) }
    let before = elements
    elements = before.copy()
    let change = follow(step)
    step.advanced[ObjectIdentifier(before)] = AdvancedElements(
      before: before, after: elements, change: change)
    if let identity { step.new.elementSharing.note(elements, of: identity) }
    return change
  }

  private func follow(_ step: VersionStep) -> CollectionChange? {
    let keepsSchema = step.keepsSchema && resolved.classes === step.new.classes
    if resolved.classes !== step.new.classes { resolved = Self.resolve(query) }
    let changed = filter.changedElements(step)
    if keepsSchema, let keyed = resolved.keyed,
      let change = advance(
        keyed, step, affected: step.reaching(resolved.dependencies), changed: changed)
    {
      return change.told
    }
    findings += 1
    let isTouched = !keepsSchema || resolved.tables.contains { step.changes($0) != nil }
    let old = items
    if isTouched {
      items = query.items()
      prepare(resolved.keyed)
    }
    return compare(old, step, changed: changed).told
  }

  // MARK: - Comparing places

  /// What happened since the elements were others, with as few moves as possible.
  private func compare(
    _ old: [Int64], _ step: VersionStep, changed: ChangedObjects
  ) -> CollectionChange {
    var change = CollectionChange()
    let cell = (query.origin as? CellOrigin)?.cell
    let elements = cell.flatMap {
      step.elementChanges($0.storedTable.index, $0.key, $0.column)
    }
    let places: [Int?]
    if query.origin.table != nil {
      places = old == items ? Array(items.indices) : Self.places(of: old, in: items)
    } else {
      // Values are known by their positions, which move.
      var placeByPosition: [Int64: Int] = [:]
      for (place, position) in items.enumerated() { placeByPosition[position] = place }
      let positions = old.map { Int($0) }
      let moved: [Int?] = elements?.newPositions(ofOld: positions) ?? positions
      places = moved.map { $0.flatMap { placeByPosition[Int64($0)] } }
    }
    var isKept = Array(repeating: false, count: items.count)
    let stays = LongestAscent.of(places)
    for (position, stays) in stays.enumerated() {
      if stays { isKept[places[position]!] = true } else { change.deletions.append(position) }
    }
    for (place, isKept) in isKept.enumerated() where !isKept { change.insertions.append(place) }
    if query.origin.table == nil {
      var assigned: Set<Int> = []
      elements?.forEach { kind, _, new, count in
        if kind == .modified { assigned.formUnion(new..<new + count) }
      }
      change.modifications = items.indices.filter {
        isKept[$0] && assigned.contains(Int(items[$0]))
      }
    } else if !changed.isEmpty {
      change.modifications = items.indices.filter {
        isKept[$0] && changed.contains(ObjectKey(rawValue: items[$0]))
      }
    }
    return change
  }

  /// Where objects are now; the second of two equal ones is the second one now.
  private static func places(of old: [Int64], in new: [Int64]) -> [Int?] {
    var placesByKey: [Int64: [Int]] = [:]
    for place in new.indices.reversed() { placesByKey[new[place], default: []].append(place) }
    return old.map { placesByKey[$0]?.popLast() }
  }
}
