// From what a running transaction has touched back to the elements of a query that lead to it over
// links: VersionStep+Reaching tells the same of a step of the Realm.
internal import ObjectStore

/// The links over which a query looks at other objects.
struct PassingPaths {
  private let schema: StoredSchema
  /// Those with at least one link.
  private let paths: [WatchedPath]
  /// The tables on them, without that of the elements unless a path leads there again.
  let tables: [StoredTable]

  /// - Parameter watched: the paths of the query's conditions and orders; none of them goes against
  ///   the direction of links.
  init(_ watched: [WatchedPath], _ schema: StoredSchema) {
    var seen: Set<WatchedPath> = []
    paths = watched.filter { !$0.hops.isEmpty && seen.insert($0).inserted }
    self.schema = schema
    let found = Set(paths.flatMap { $0.levels.dropFirst().map(\.table) })
    tables = found.sorted().map { schema.tables[$0] }
  }

  /// The state of a transaction, whose touches of these tables are noted from now on.
  func marks(_ group: GroupTransaction) -> [TouchMark] { tables.map { group.touchMark($0) } }

  /// The elements' objects that lead to what was touched since; nil when that is not known, or more
  /// than so many objects lie on the way.
  ///
  /// An object whose link is another one was touched itself, so that the ways of now are enough.
  func objects(
    leadingToTouchedSince marks: [TouchMark], _ group: GroupTransaction, atMost most: Int
  ) -> Set<Int64>? {
    var touched: [Int: ArraySlice<Int64>] = [:]
    for (table, mark) in zip(tables, marks) {
      guard let keys = group.touched(table, since: mark), keys.count <= most else { return nil }
      if !keys.isEmpty { touched[table.index] = keys }
    }
    if touched.isEmpty { return [] }
    var found: Set<Int64> = []
    for path in paths {
      guard let objects = objects(path, touched, group, atMost: most) else { return nil }
      found.formUnion(objects)
    }
    return found.count > most ? nil : found
  }

  private func objects(
    _ path: WatchedPath, _ touched: [Int: ArraySlice<Int64>], _ group: GroupTransaction,
    atMost most: Int
  ) -> Set<Int64>? {
    var current: Set<Int64> = []
    for index in path.hops.indices.reversed() {
      guard case .links(let column) = path.hops[index] else { return nil }
      let (origin, target) = (path.levels[index].table, path.levels[index + 1].table)
      current.formUnion(touched[target] ?? [])
      if current.isEmpty { continue }
      let reader = group.reader(schema.tables[origin])
      var next: Set<Int64> = []
      for key in current {
        reader.backlinks(column, ObjectKey(rawValue: key), in: schema.tables[target]).forEach {
          next.insert($0.rawValue)
          return next.count <= most
        }
        if next.count > most { return nil }
      }
      current = next
    }
    return current
  }
}
