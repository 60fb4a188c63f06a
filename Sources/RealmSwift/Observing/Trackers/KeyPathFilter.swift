// Which changes of objects an observer of a collection or object wants to be told.
internal import ObjectStore

/// The key paths that an observer listed, or did not, for objects of one class.
struct KeyPathFilter {
  /// What the observer asked for.
  private enum Scope {
    /// Nothing was listed.
    case everything
    /// An empty list.
    case nothing
    /// The names of each listed key path.
    case listed([[String]])
  }

  /// A listed key path in the terms of a schema.
  struct Listed {
    let path: WatchedPath
    /// The position of its first property in the class; nil for `*`.
    let property: Int?
  }

  private let scope: Scope
  private let realm: ConfinedRealm
  /// The class of the objects; nil for elements that are no objects.
  private let table: TablePointer?
  private var listed: [Listed] = []
  /// Their paths: each step looks them up.
  private var paths: [WatchedPath] = []
  /// The schema in whose terms `listed` is.
  private var classes: SchemaBindings

  /// Stops when a key path cannot be observed.
  ///
  /// - Parameters:
  ///   - keyPaths: names with dots; the last one may be `*`, for all properties of that object.
  ///   - table: the class of the object or the elements; nil for elements that are no objects.
  init(_ keyPaths: [String]?, _ realm: ConfinedRealm, _ table: TablePointer?) {
    self.realm = realm
    self.table = table
    classes = realm.classes
    guard let keyPaths else {
      scope = .everything
      return
    }
    if table == nil, let first = keyPaths.first {
      misuse(
        .argument,
        "Cannot observe key path '\(first)': the elements are no objects and have no properties.")
    }
    let names = keyPaths.map { keyPath in
      let names = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      PropertyPath(steps: names.map { .property($0) }).checkLength()
      return names
    }
    scope = names.isEmpty ? .nothing : .listed(names)
    resolve()
  }

  private mutating func resolve() {
    classes = realm.classes
    guard case .listed(let names) = scope, let binding = table?.pointee.binding else { return }
    listed = names.map {
      let found = WatchedPath.of($0, realm, binding)
      return Listed(path: found.path, property: found.property)
    }
    paths = listed.map(\.path)
  }

  /// The listed key paths in the terms of the Realm's version; nil when none were listed.
  mutating func listedPaths() -> [Listed]? {
    guard case .listed = scope else { return nil }
    if classes !== realm.classes { resolve() }
    return listed
  }

  /// Whether elements change with everything that they lead to.
  var followsLinks: Bool {
    if case .everything = scope { return true }
    return false
  }

  /// The keys of the tables in which something has to change so that an element does.
  mutating func watchedTables() -> Set<UInt64> {
    guard let stored = table?.pointee.binding.table else { return [] }
    let tables = realm.classes.stored.tables
    switch scope {
    case .everything:
      let near = realm.classes.stored.tables(nearTo: stored.index)
      return Set(near.map { tables[$0].tableKey })
    case .nothing: return []
    case .listed:
      return (listedPaths() ?? []).reduce(into: []) { found, listed in
        for level in listed.path.levels { found.insert(tables[level.table].tableKey) }
      }
    }
  }

  /// The paths that were listed; none where elements change with everything, or with nothing.
  mutating func watchedPaths() -> [WatchedPath] {
    if classes !== realm.classes { resolve() }
    return paths
  }

  /// The elements of a collection that have changed for its observer, not only by their place;
  /// others of their class, and new ones, may be among them.
  mutating func changedElements(_ step: VersionStep) -> ChangedObjects {
    guard let stored = table?.pointee.binding.table else { return step.noObjects }
    switch scope {
    case .everything: return step.reaching(stored.index)
    case .nothing: return step.noObjects
    case .listed: return step.reaching(watchedPaths())
    }
  }
}
