// A way from the objects of a class through links, with the columns that are watched on it. It is
// asked the other way round: from objects that changed back to those that lead to them.
internal import ObjectStore

/// Columns along a way through links.
struct WatchedPath: Hashable {
  /// From one object to others.
  enum Hop: Hashable {
    /// Links of a column, of any number.
    case links(column: Int)
    /// The objects of the next table that link here by a column of theirs.
    case backlinks(column: Int)

    var isBacklinks: Bool {
      if case .backlinks = self { return true }
      return false
    }
  }

  /// What is watched of the objects after some hops.
  struct Level: Hashable {
    /// Index of the stored table.
    var table: Int
    var columns: Columns
  }

  /// Columns of one table.
  enum Columns: Hashable {
    case some(ColumnSet)
    case all

    func intersects(_ changed: ColumnSet) -> Bool {
      switch self {
      case .some(let columns): columns.intersects(changed)
      case .all: true
      }
    }
  }

  /// One more than hops; the first is that of the observed objects.
  private(set) var levels: [Level]
  private(set) var hops: [Hop] = []

  /// The path that is only the objects themselves.
  init(table: Int) { levels = [Level(table: table, columns: .some(ColumnSet()))] }

  var table: Int { levels[0].table }
  /// The table that the path ends in.
  var end: Int { levels[levels.count - 1].table }

  /// The path that watches a column of the last objects too.
  func watching(_ column: Int, _ schema: StoredSchema) -> WatchedPath {
    var path = self
    if case .some(var columns) = levels[levels.count - 1].columns {
      columns.insert(schema.tables[end].columnKeys[column])
      path.levels[levels.count - 1].columns = .some(columns)
    }
    return path
  }

  /// The path that watches all columns of the last objects.
  func watchingAll() -> WatchedPath {
    var path = self
    path.levels[levels.count - 1].columns = .all
    return path
  }

  /// The path that goes on through links, which are watched too.
  func following(_ column: Int, to table: Int, _ schema: StoredSchema) -> WatchedPath {
    var path = watching(column, schema)
    path.hops.append(.links(column: column))
    path.levels.append(Level(table: table, columns: .some(ColumnSet())))
    return path
  }

  /// The path that goes on to those that link to the last objects.
  func followingBack(_ column: Int, of table: Int) -> WatchedPath {
    var path = self
    path.hops.append(.backlinks(column: column))
    path.levels.append(Level(table: table, columns: .some(ColumnSet())))
    return path
  }
}

// MARK: - Of key paths

extension WatchedPath {
  /// The path of a key path; stops when it cannot be observed.
  ///
  /// - Returns: the path, and the position of its first property in the class; nil for `*`.
  static func of(
    _ keyPath: [String], _ realm: ConfinedRealm, _ start: TableBinding
  ) -> (path: WatchedPath, property: Int?) {
    let schema = realm.classes.stored
    func stop(_ owner: TableBinding, _ name: String, _ reason: String) -> Never {
      misuse(
        .argument,
        "Cannot observe key path '\(keyPath.joined(separator: "."))': property "
          + "'\(owner.schema.name).\(name)' \(reason)")
    }
    var path = WatchedPath(table: start.table!.index)
    var owner: TableBinding? = start
    var first: Int?
    for (index, name) in keyPath.enumerated() {
      guard let binding = owner else { preconditionFailure("checked at the step before") }
      let isLast = index == keyPath.count - 1
      if name == "*" && isLast {
        return (path.watchingAll(), first)
      }
      guard let position = binding.schema.index(ofProperty: name) else {
        stop(binding, name, "does not exist.")
      }
      if index == 0 { first = position }
      let property = binding.schema.properties[position]
      if property.codec.type == .linkingObjects {
        let origin = realm.origin(of: property)
        path = path.followingBack(origin.column, of: origin.binding.table!.index)
        owner = origin.binding
        // Who links is watched, though nothing of those that do.
        continue
      }
      let column = binding.columns[position]
      if isLast { return (path.watching(column, schema), first) }
      guard property.codec.type == .object, let target = property.codec.objectClass else {
        stop(
          binding, name, "of type '\(property.codec.type)' may only be the final property in it.")
      }
      let next = realm.target(target, binding, column)
      path = path.following(column, to: next.table!.index, schema)
      owner = next
    }
    return (path, first)
  }
}

extension ConfinedRealm {
  /// The class and column that linking objects of a property come from.
  func origin(of property: PropertyDescription) -> (binding: TableBinding, column: Int) {
    let name = property.objectClassName ?? ""
    guard let binding = classes.binding(named: name),
      let position = property.originProperty.flatMap({ binding.schema.index(ofProperty: $0) })
    else {
      misuse(
        .schema,
        "Property '\(name).\(property.originProperty ?? "")' declared as origin of linking objects "
          + "property does not exist.")
    }
    return (binding, binding.columns[position])
  }
}

// MARK: - Of queries

extension WatchedPath {
  /// The paths that a condition looks at.
  static func of(
    _ condition: PlanCondition, from path: WatchedPath, _ realm: ConfinedRealm
  ) -> [WatchedPath] {
    switch condition {
    case .constant: return []
    case .and(let parts), .or(let parts):
      return parts.flatMap { of($0, from: path, realm) }
    case .not(let part): return of(part, from: path, realm)
    case .nested(let nested): return nested.conditions.flatMap { of($0, from: path, realm) }
    case .column(let test): return [path.watching(test.column, realm.classes.stored)]
    case .linked(let test): return of(.values(test.values), from: path, realm)
    case .values(let test):
      let paths = of(test.left, from: path, realm)
      switch test.right {
      case .test: return paths
      case .operand(let right, _, _): return paths + of(right, from: path, realm)
      case .area: return paths + places(of: test.left, from: path, realm)
      }
    }
  }

  /// The path to the objects that hold places: where they are can change without the links to them.
  private static func places(
    of operand: PlanOperand, from path: WatchedPath, _ realm: ConfinedRealm
  ) -> [WatchedPath] {
    guard case .path(let plan) = operand, let target = plan.target else { return [] }
    let reached = extended(path, by: plan, realm)
    switch plan.end {
    case .column(let column), .elements(let column), .element(let column, _),
      .mapValues(let column), .mapValue(let column, _):
      let table = realm.bindings[target].table!.index
      return [reached.following(column, to: table, realm.classes.stored).watchingAll()]
    default: return [reached.watchingAll()]
    }
  }

  private static func of(
    _ operand: PlanOperand, from path: WatchedPath, _ realm: ConfinedRealm
  ) -> [WatchedPath] {
    switch operand {
    case .constant: return []
    case .path(let plan): return of(plan, from: path, realm)
    case .subquery(let plan, let condition, _):
      return of(plan, from: path, realm)
        + of(condition, from: extended(path, by: plan, realm), realm)
    }
  }

  /// The paths that a path of a plan looks at.
  static func of(
    _ plan: PlanPath, from path: WatchedPath, _ realm: ConfinedRealm
  ) -> [WatchedPath] {
    let schema = realm.classes.stored
    let reached = extended(path, by: plan, realm)
    switch plan.end {
    case .subject: return [reached]
    case .column(let column), .elements(let column), .element(let column, _),
      .mapKeys(let column), .mapValues(let column), .mapValue(let column, _),
      .nested(let column, _):
      return [reached.watching(column, schema)]
    case .inside(let element, _): return of(plan.ending(element), from: path, realm)
    case .aggregate(_, let inner): return of(inner, from: reached, realm)
    }
  }

  private static func extended(
    _ path: WatchedPath, by plan: PlanPath, _ realm: ConfinedRealm
  ) -> WatchedPath {
    let schema = realm.classes.stored
    func table(_ position: Int) -> Int { realm.bindings[position].table!.index }
    var path = path
    for hop in plan.hops {
      switch hop {
      case .link(let column, let target), .elements(let column, let target),
        .element(let column, _, let target), .mapValues(let column, let target),
        .mapValue(let column, _, let target):
        path = path.following(column, to: table(target), schema)
      case .backlinks(let column, let origin, _):
        path = path.followingBack(column, of: table(origin))
      }
    }
    return path
  }
}
