// From what a running transaction has touched back to the elements of a query that lead to it over
// links: VersionStep+Reaching tells the same of a step of the Realm.
internal import ObjectStore

/// The links over which a query looks at other objects.
struct PassingPaths {
  /// Links of a table's column.
  private struct LinkColumn: Hashable {
    let table: Int
    let column: Int
  }

  /// A state of a transaction: up to where what it touches is known.
  struct Marks {
    fileprivate let touches: [TouchMark]
    fileprivate let links: [TouchMark]
  }

  /// What a transaction has touched.
  private struct Touched {
    /// By tables.
    var objects: [Int: ArraySlice<Int64>] = [:]
    /// Those to which links lead, or led, that have come or gone.
    var targets: [LinkColumn: ArraySlice<Int64>] = [:]
  }

  private let schema: StoredSchema
  /// Those with at least one link.
  private let paths: [WatchedPath]
  /// The tables on them, without that of the elements unless a path leads there again.
  let tables: [StoredTable]
  /// The links that are followed against their direction: who links to an object is no value of it.
  private let backlinks: [LinkColumn]

  /// - Parameter watched: the paths of the query's conditions and orders.
  init(_ watched: [WatchedPath], _ schema: StoredSchema) {
    var seen: Set<WatchedPath> = []
    paths = watched.filter { !$0.hops.isEmpty && seen.insert($0).inserted }
    self.schema = schema
    let found = Set(paths.flatMap { $0.levels.dropFirst().map(\.table) })
    tables = found.sorted().map { schema.tables[$0] }
    var backlinks: Set<LinkColumn> = []
    for path in paths {
      for (hop, level) in zip(path.hops, path.levels.dropFirst()) {
        if case .backlinks(let column) = hop {
          backlinks.insert(LinkColumn(table: level.table, column: column))
        }
      }
    }
    self.backlinks = Array(backlinks)
  }

  /// The state of a transaction, whose touches of these tables are noted from now on.
  func marks(_ group: GroupTransaction) -> Marks {
    Marks(
      touches: tables.map { group.touchMark($0) },
      links: backlinks.map { group.linkMark(schema.tables[$0.table], $0.column) })
  }

  /// The elements' objects that lead to what was touched since; nil when that is not known, or more
  /// than so many objects lie on the way.
  ///
  /// An object whose link is another one was touched itself, and who links to an object no longer
  /// is noted with it, so that the ways of now are enough.
  func objects(
    leadingToTouchedSince marks: Marks, _ group: GroupTransaction, atMost most: Int
  ) -> Set<Int64>? {
    var touched = Touched()
    for (table, mark) in zip(tables, marks.touches) {
      guard let keys = group.touched(table, since: mark), keys.count <= most else { return nil }
      if !keys.isEmpty { touched.objects[table.index] = keys }
    }
    for (link, mark) in zip(backlinks, marks.links) {
      let table = schema.tables[link.table]
      guard let keys = group.linkTargets(table, link.column, since: mark), keys.count <= most
      else { return nil }
      if !keys.isEmpty { touched.targets[link] = keys }
    }
    if touched.objects.isEmpty && touched.targets.isEmpty { return [] }
    var found: Set<Int64> = []
    for path in paths {
      guard let objects = objects(path, touched, group, atMost: most) else { return nil }
      found.formUnion(objects)
    }
    return found.count > most ? nil : found
  }

  private func objects(
    _ path: WatchedPath, _ touched: Touched, _ group: GroupTransaction, atMost most: Int
  ) -> Set<Int64>? {
    var current: Set<Int64> = []
    for index in path.hops.indices.reversed() {
      let (table, nextTable) = (path.levels[index].table, path.levels[index + 1].table)
      current.formUnion(touched.objects[nextTable] ?? [])
      var found: Set<Int64> = []
      switch path.hops[index] {
      case .links(let column):
        if current.isEmpty { continue }
        let reader = group.reader(schema.tables[table])
        for key in current {
          reader.backlinks(column, ObjectKey(rawValue: key), in: schema.tables[nextTable]).forEach {
            found.insert($0.rawValue)
            return found.count <= most
          }
        }
      case .backlinks(let column):
        found.formUnion(touched.targets[LinkColumn(table: nextTable, column: column)] ?? [])
        let reader = group.reader(schema.tables[nextTable])
        for key in current {
          guard let location = reader.locate(ObjectKey(rawValue: key)) else { continue }
          reader.forEachLink(location, column, schema.tables[nextTable]) {
            found.insert($0.rawValue)
          }
          if found.count > most { return nil }
        }
      }
      if found.count > most { return nil }
      current = found
    }
    return current
  }
}
