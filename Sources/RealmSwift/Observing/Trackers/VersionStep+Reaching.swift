// From what changed back to the objects that lead to it, by the trees that say who links to an
// object: the cost follows the change, never the number of observed objects.
//
// Only the newer version has to be walked. Where the way from an object differs between the
// versions, the last object before the difference has another link: it is one of those that
// changed, and the newer version leads there.
internal import ObjectStore

/// How many links an observer follows that has not listed key paths.
private let linksMax = 4

extension VersionStep {
  /// The objects of a table that changed, or that lead to one that changed by at most four links.
  ///
  /// New objects of the table are left out, but not those that new links lead to.
  func reaching(_ table: Int) -> ChangedObjects {
    if let known = reachingByTable[table] { return known }
    let found = ChangedObjects(findReaching(table))
    reachingByTable[table] = found
    return found
  }

  private func findReaching(_ table: Int) -> Set<ObjectKey> {
    let reach = LinkReach(schema, to: table, linkColumns)
    // There is no bound that could be passed.
    return reach.objects(leadingTo: modified(reach), reader)!
  }

  /// The objects of a table that changed, or that lead to one that changed by any number of links;
  /// nil when more than so many lie on the way.
  ///
  /// New objects of the table are left out, but not those that new links lead to.
  func reachingOverAnyLinks(_ table: Int, atMost most: Int) -> ChangedObjects? {
    if let known = reachingOverAnyLinksByTable[table] { return known }
    let reach = LinkReach(schema, to: table, linkColumns, isUnlimited: true)
    let found = reach.objects(leadingTo: modified(reach), atMost: most, reader).map {
      ChangedObjects($0)
    }
    reachingOverAnyLinksByTable[table] = .some(found)
    return found
  }

  /// The objects that changed, in the tables to which a table leads.
  private func modified(_ reach: LinkReach) -> [Int: Set<ObjectKey>] {
    var modified: [Int: Set<ObjectKey>] = [:]
    for other in schema.tables.indices where reach.leads(to: other) {
      guard let changed = changes(other)?.modified, !changed.isEmpty else { continue }
      modified[other] = Set(changed.keys)
    }
    return modified
  }

  /// The objects of the newer version from which a path now leads, or led before, to something
  /// else.
  ///
  /// New objects are not left out.
  func reaching(_ path: WatchedPath) -> ChangedObjects { reaching([path]) }

  /// The objects from which one of several paths leads to something else; all paths begin in one
  /// table.
  func reaching(_ paths: [WatchedPath]) -> ChangedObjects {
    if let known = reachingByPaths[paths] { return known }
    let found: ChangedObjects
    if paths.count == 1 {
      found = ChangedObjects(findReaching(paths[0]))
    } else {
      let parts = paths.map { reaching($0) }.filter { !$0.isEmpty }
      found =
        parts.count == 1
        ? parts[0] : ChangedObjects(parts.reduce(into: []) { $0.formUnion($1.keys) })
    }
    reachingByPaths[paths] = found
    return found
  }

  private func findReaching(_ path: WatchedPath) -> Set<ObjectKey> {
    var current: Set<ObjectKey> = []
    addChanged(path.levels[path.hops.count], to: &current)
    for index in path.hops.indices.reversed() {
      let (level, next) = (path.levels[index], path.levels[index + 1])
      var found: Set<ObjectKey> = []
      switch path.hops[index] {
      case .links(let column):
        let reader = reader(level.table)
        for key in current {
          reader.backlinks(column, key, in: schema.tables[next.table]).forEach {
            found.insert($0)
            return true
          }
        }
      case .backlinks(let column):
        let reader = reader(next.table)
        for key in current {
          if let location = reader.locate(key) {
            reader.forEachLink(location, column, schema.tables[next.table]) { found.insert($0) }
          }
        }
        addTargets(of: next.table, column, in: level.table, to: &found)
      }
      addChanged(level, to: &found)
      current = found
    }
    return current
  }

  private func addChanged(_ level: WatchedPath.Level, to keys: inout Set<ObjectKey>) {
    guard let changes = changes(level.table) else { return }
    for (key, columns) in changes.modified where level.columns.intersects(columns) {
      keys.insert(key)
    }
  }

  /// Adds the objects to which other objects of a table, or another number of them, link by a
  /// column than before.
  ///
  /// Not those to which an object links as often as before, though others of its links changed.
  private func addTargets(
    of table: Int, _ column: Int, in targets: Int, to keys: inout Set<ObjectKey>
  ) {
    guard let changes = changes(table) else { return }
    let stored = schema.tables[table]
    let columnKey = stored.columnKeys[column]
    let reader = reader(table)
    let before = older(stored).flatMap { older in
      older.table.columnKeys.firstIndex(of: columnKey).map { (older: older, column: $0) }
    }
    func forEachOld(_ key: ObjectKey, _ body: (ObjectKey) -> Void) {
      guard let before, let location = before.older.reader.locate(key) else { return }
      before.older.reader.forEachLink(location, before.column, before.older.table) {
        if !isDeleted(targets, $0) { body($0) }
      }
    }
    func forEachCurrent(_ key: ObjectKey, _ body: (ObjectKey) -> Void) {
      guard let location = reader.locate(key) else { return }
      reader.forEachLink(location, column, stored, body)
    }
    forEachDeleted(table) { key in forEachOld(key) { keys.insert($0) } }
    for (key, columns) in changes.modified where columns.contains(columnKey) {
      var counts: [ObjectKey: Int] = [:]
      forEachOld(key) { counts[$0, default: 0] -= 1 }
      forEachCurrent(key) { counts[$0, default: 0] += 1 }
      for (target, count) in counts where count != 0 { keys.insert(target) }
    }
    forEachNew(table) { key in
      forEachCurrent(key) { keys.insert($0) }
      return true
    }
  }
}

/// The ways by which objects of a table lead over links to others.
struct LinkReach {
  private let schema: StoredSchema
  private let table: Int
  /// For each table the columns whose links can lead to it.
  private let linkColumns: [[(table: Int, column: Int)]]
  private let distances: [Int]
  /// Whether any number of links is followed, not only as many as an observer follows.
  private let isUnlimited: Bool

  init(
    _ schema: StoredSchema, to table: Int, _ linkColumns: [[(table: Int, column: Int)]],
    isUnlimited: Bool = false
  ) {
    self.schema = schema
    self.table = table
    self.linkColumns = linkColumns
    self.isUnlimited = isUnlimited
    distances = schema.linkDistances(
      from: table, linkColumns, atMost: isUnlimited ? schema.tables.count : linksMax)
  }

  init(_ schema: StoredSchema, to table: Int, isUnlimited: Bool = false) {
    self.init(
      schema, to: table, schema.tables.indices.map { schema.linkColumns(to: $0) },
      isUnlimited: isUnlimited)
  }

  /// Whether objects of the table may lead to those of another one, or are these.
  func leads(to other: Int) -> Bool { distances[other] < .max }

  /// The objects of the table that lead to some objects, and those among these that are of the
  /// table; nil when more than `most` objects lie on the way.
  ///
  /// - Parameters:
  ///   - objects: by their tables.
  ///   - reader: reads a table.
  func objects(
    leadingTo objects: [Int: Set<ObjectKey>], atMost most: Int = .max,
    _ reader: (Int) -> TableReader
  ) -> Set<ObjectKey>? {
    var seen = objects
    var current = objects.flatMap { table, keys in keys.map { (table: table, key: $0) } }
    var count = current.count
    var steps = 1
    func isNear(_ table: Int) -> Bool {
      leads(to: table) && (isUnlimited || distances[table] + steps <= linksMax)
    }
    while !current.isEmpty && (isUnlimited || steps <= linksMax) {
      var next: [(table: Int, key: ObjectKey)] = []
      for (target, key) in current {
        for place in linkColumns[target] where isNear(place.table) {
          if count > most { return nil }
          reader(place.table).backlinks(place.column, key, in: schema.tables[target]).forEach {
            if seen[place.table, default: []].insert($0).inserted {
              next.append((place.table, $0))
              count += 1
            }
            return count <= most
          }
        }
      }
      current = next
      steps += 1
    }
    return count > most ? nil : seen[table] ?? []
  }
}

extension StoredSchema {
  /// How many links lead at least from a table to each other one; `Int.max` where none do, or more
  /// than `most`.
  ///
  /// - Parameter linkColumns: for each table the columns whose links can lead to it.
  fileprivate func linkDistances(
    from table: Int, _ linkColumns: [[(table: Int, column: Int)]], atMost most: Int
  ) -> [Int] {
    var distances = Array(repeating: Int.max, count: tables.count)
    distances[table] = 0
    // The tables that link to each are known; so one round finds all that lie one link further.
    for distance in 1...most {
      for target in tables.indices where distances[target] > distance {
        let isNext = linkColumns[target].contains { distances[$0.table] == distance - 1 }
        if isNext { distances[target] = distance }
      }
    }
    return distances
  }

  /// The tables to which a table leads over no more links than an observer follows, and itself.
  func tables(nearTo table: Int) -> [Int] {
    let distances = linkDistances(
      from: table, tables.indices.map { linkColumns(to: $0) }, atMost: linksMax)
    return tables.indices.filter { distances[$0] < .max }
  }

  /// The tables to which a table leads over any number of links, without itself.
  func tables(behind table: Int) -> Set<Int> {
    let distances = linkDistances(
      from: table, tables.indices.map { linkColumns(to: $0) }, atMost: tables.count)
    return Set(tables.indices.filter { $0 != table && distances[$0] < .max })
  }
}

extension TableReader {
  /// Runs `body` on the objects that an object links to by a column of links, whatever its kind.
  func forEachLink(
    _ location: RowLocation, _ column: Int, _ table: StoredTable, _ body: (ObjectKey) -> Void
  ) {
    switch table.schema.columns[column].collection {
    case .none:
      if let target = link(location, column) { body(target) }
    case .list, .set:
      _ = elements(location, column).forEachElement {
        if let key = $0.asLink { body(key) }
        return true
      }
    case .map:
      _ = mapValues(location, column).forEachElement {
        if let key = $0.asLink { body(key) }
        return true
      }
    }
  }
}
