// Which changes can concern an observer, or who has read something: what the others change is
// passed over without asking them. So a commit costs what it changes, however many observers there
// are.
internal import ObjectStore

/// What has to change so that there may be something to tell.
struct Watched {
  /// What those have in common who are asked together.
  enum Subject: Hashable {
    /// Objects of a table, by their own columns.
    case rows(table: UInt64)
    /// Objects of a table, by key paths of which some lead through links.
    case paths(table: UInt64, [String])
    /// Lists, sets or maps in a column of a table's objects; the key paths are those of their
    /// elements.
    case elements(table: UInt64, column: Int, [String]?)
    /// Values of any type in a column of a table's objects, with everything that they lead to.
    case mixed(table: UInt64, column: Int)
    /// Objects of a table, by its index, that a query chooses and orders by some paths; with
    /// everything that objects lead to, if it follows links. All that lies in the tables.
    case query(table: Int, [WatchedPath], followsLinks: Bool, tables: Set<UInt64>)
    /// Whatever is in some tables.
    case tables(Set<UInt64>)
    /// Every change.
    case everything
  }

  let subject: Subject
  /// The object, or that which has the collection; for tables it has no meaning.
  let key: ObjectKey
  /// The class of that object.
  let table: TablePointer?
  /// The class of a collection's elements; nil for values.
  let target: TablePointer?
  /// Where a collection's links are.
  let column: Int

  private init(
    _ subject: Subject, _ key: ObjectKey = ObjectKey(rawValue: 0), _ table: TablePointer? = nil,
    target: TablePointer? = nil, column: Int = 0
  ) {
    self.subject = subject
    self.key = key
    self.table = table
    self.target = target
    self.column = column
  }

  static var everything: Watched { Watched(.everything) }

  static func tables(_ tables: Set<UInt64>) -> Watched { Watched(.tables(tables)) }

  /// What a query chooses from the objects of a class.
  static func query(
    _ table: Int, _ paths: [WatchedPath], followsLinks: Bool, tables: Set<UInt64>
  ) -> Watched {
    Watched(.query(table: table, paths, followsLinks: followsLinks, tables: tables))
  }

  /// What concerns one of two.
  func union(_ other: Watched) -> Watched {
    if self == other { return self }
    if case .query(let table, let paths, let followsLinks, let tables) = subject,
      case .query(table, let others, let alsoFollows, let otherTables) = other.subject
    {
      return .query(
        table, paths + others.filter { !paths.contains($0) },
        followsLinks: followsLinks || alsoFollows, tables: tables.union(otherTables))
    }
    guard let tables = wholeTables, let others = other.wholeTables else { return .everything }
    return .tables(tables.union(others))
  }

  /// Tables in which everything lies that is watched; nil if that is not known.
  private var wholeTables: Set<UInt64>? {
    switch subject {
    case .tables(let tables), .query(_, _, _, let tables): tables
    default: nil
    }
  }

  /// An object.
  ///
  /// - Parameter keyPaths: nil or empty: its own properties.
  static func object(_ table: TablePointer, _ key: ObjectKey, _ keyPaths: [String]?) -> Watched {
    let binding = table.pointee.binding
    guard let stored = binding.table else { return .everything }
    let isOfRow = (keyPaths ?? []).allSatisfy { path in
      if path.contains(".") { return false }
      guard let index = binding.schema.index(ofProperty: path) else { return true }
      return binding.schema.properties[index].codec.type != .linkingObjects
    }
    return Watched(
      isOfRow
        ? .rows(table: stored.tableKey)
        : .paths(table: stored.tableKey, keyPaths.unsafelyUnwrapped),
      key, table)
  }

  /// A list, set or map.
  static func elements(_ cell: CollectionCell, _ keyPaths: [String]?) -> Watched {
    let stored = cell.storedTable
    let target = cell.target
    // Values of any type may lead anywhere.
    if target == nil, keyPaths == nil, stored.schema.columns[cell.column].type == .any {
      return Watched(
        .mixed(table: stored.tableKey, column: cell.column), cell.key, cell.table,
        column: cell.column)
    }
    return Watched(
      .elements(table: stored.tableKey, column: cell.column, target == nil ? [] : keyPaths),
      cell.key, cell.table, target: target, column: cell.column)
  }
}

extension Watched: Hashable {
  static func == (left: Watched, right: Watched) -> Bool {
    left.subject == right.subject && left.key == right.key
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(subject)
    hasher.combine(key)
  }
}

/// Those who want to be told, by what they watch.
struct WatchIndex<Member> {
  private var groups: [Watched.Subject: WatchGroup<Member>] = [:]

  var isEmpty: Bool { groups.isEmpty }

  /// All of them.
  var members: [Member] { groups.values.flatMap(\.all) }

  mutating func add(_ member: Member, _ watched: Watched, _ realm: ConfinedRealm) {
    if let group = groups[watched.subject] { return group.add(member, watched.key) }
    let group = WatchGroup<Member>(watched, realm)
    group.add(member, watched.key)
    groups[watched.subject] = group
  }

  /// Those who watch the same.
  func members(like watched: Watched) -> [Member] {
    groups[watched.subject]?.members(of: watched.key) ?? []
  }

  mutating func remove(_ watched: Watched, where isMember: (Member) -> Bool) {
    guard let group = groups[watched.subject] else { return }
    group.remove(watched.key, isMember)
    if group.isEmpty { groups[watched.subject] = nil }
  }

  /// Whether changes, none of them of the schema, can concern one of them, as far as that can be
  /// told without looking at the versions.
  func canBeConcerned(by changes: ChangeSet) -> Bool {
    groups.values.contains { $0.canBeConcerned(by: changes) }
  }

  /// Those whom a step can concern; all of them after a change of the schema.
  func concerned(by step: VersionStep) -> [Member] {
    groups.values.flatMap { $0.concerned(by: step) }
  }
}

/// Those who watch objects, or collections, of one kind.
private final class WatchGroup<Member> {
  private let watched: Watched
  /// Of the objects, or of the elements of collections.
  private var filter: KeyPathFilter?
  /// Tables whose changed objects can concern elements of a collection.
  private lazy var reached = filter?.watchedTables() ?? []
  /// Whether objects that only come or go can change elements: they may link to these.
  private lazy var followsBacklinks =
    filter?.watchedPaths().contains { $0.hops.contains(where: \.isBacklinks) } ?? false
  private var members: [ObjectKey: [Member]] = [:]

  init(_ watched: Watched, _ realm: ConfinedRealm) {
    self.watched = watched
    switch watched.subject {
    case .paths(_, let keyPaths): filter = KeyPathFilter(keyPaths, realm, watched.table)
    case .elements(_, _, let keyPaths) where watched.target != nil:
      filter = KeyPathFilter(keyPaths, realm, watched.target)
    default: filter = nil
    }
  }

  var isEmpty: Bool { members.isEmpty }

  var all: [Member] { members.values.flatMap { $0 } }

  func members(of key: ObjectKey) -> [Member] { members[key] ?? [] }

  func add(_ member: Member, _ key: ObjectKey) { members[key, default: []].append(member) }

  func remove(_ key: ObjectKey, _ isMember: (Member) -> Bool) {
    members[key]?.removeAll(where: isMember)
    if members[key]?.isEmpty == true { members[key] = nil }
  }

  func canBeConcerned(by changes: ChangeSet) -> Bool {
    switch watched.subject {
    case .everything, .mixed: true
    case .tables(let tables), .query(_, _, _, let tables):
      changes.tables.keys.contains(where: tables.contains)
    case .rows(let table): isChanged(table, changes)
    case .paths(let table, _):
      changes.tables[table] != nil || changes.tables.keys.contains(where: reached.contains)
    case .elements(let table, _, _):
      isChanged(table, changes) || changes.tables.keys.contains(where: reached.contains)
    }
  }

  /// Whether a watched object of a table was changed or deleted.
  private func isChanged(_ table: UInt64, _ changes: ChangeSet) -> Bool {
    var isFound = false
    forEachChanged(table, changes) { _, _ in isFound = true }
    return isFound
  }

  func concerned(by step: VersionStep) -> [Member] {
    if !step.keepsSchema { return all }
    switch watched.subject {
    case .everything: return all
    case .tables(let tables):
      return step.changes.tables.keys.contains(where: tables.contains) ? all : []
    case .query(let table, let paths, let followsLinks, _):
      // Asked once for all queries that look at the same.
      let isConcerned =
        step.comesOrGoes(table) || !step.reaching(paths).isEmpty
        || followsLinks && !step.reaching(table).isEmpty
      return isConcerned ? all : []
    case .rows(let table):
      var found: [Member] = []
      forEachChanged(table, step.changes) { found += $1 }
      return found
    case .paths(let table, _):
      var found = changed(table, step)
      for listed in filter?.listedPaths() ?? [] where !listed.path.hops.isEmpty {
        found.formUnion(step.reaching(listed.path).keys)
      }
      return all(among: found)
    case .elements(let table, _, _):
      guard let owners = owners(step) else { return all }
      return all(among: changed(table, step).union(owners))
    case .mixed(let table, _):
      guard let owners = ownersOfMixedValues(step) else { return all }
      return all(among: changed(table, step).union(owners))
    }
  }

  private func all(among keys: Set<ObjectKey>) -> [Member] {
    keys.flatMap { members[$0] ?? [] }
  }

  /// The watched objects of a table that were changed or deleted.
  private func changed(_ table: UInt64, _ step: VersionStep) -> Set<ObjectKey> {
    var found: Set<ObjectKey> = []
    forEachChanged(table, step.changes) { key, _ in found.insert(key) }
    return found
  }

  /// Runs `body` on the objects that were changed or deleted, and those who watch each.
  private func forEachChanged(
    _ table: UInt64, _ changes: ChangeSet, _ body: (ObjectKey, [Member]) -> Void
  ) {
    guard let changes = changes.tables[table] else { return }
    // Through the fewer of both.
    if changes.isCleared || members.count < changes.modified.count + changes.deleted.count {
      for (key, found) in members where changes.modified[key] != nil || changes.isDeleted(key) {
        body(key, found)
      }
    } else {
      for key in changes.modified.keys { if let found = members[key] { body(key, found) } }
      for key in changes.deleted { if let found = members[key] { body(key, found) } }
    }
  }

  /// The objects that have changed elements; nil when it takes less to ask all members.
  private func owners(_ step: VersionStep) -> Set<ObjectKey>? {
    guard let target = watched.target?.pointee.binding.table,
      step.changes.tables.contains(where: {
        reached.contains($0) && (followsBacklinks ? !$1.isEmpty : !$1.modified.isEmpty)
      }),
      let origin = watched.table?.pointee.binding.table
    else { return [] }
    let elements = filter?.changedElements(step) ?? step.noObjects
    return owners(of: elements, in: target, step.reader(origin.index))
  }

  /// The objects with values of any type that lead to what has changed; nil when it takes less to
  /// ask all members.
  private func ownersOfMixedValues(_ step: VersionStep) -> Set<ObjectKey>? {
    guard let origin = watched.table?.pointee.binding.table else { return [] }
    let reader = step.reader(origin.index)
    var found: Set<ObjectKey> = []
    for target in step.schema.tables {
      guard let objects = step.reachingAnywhere[target.tableKey] else { continue }
      guard let owners = owners(of: objects, in: target, reader) else { return nil }
      found.formUnion(owners)
    }
    return found
  }

  /// The objects that link to some objects of a table; nil when it takes less to ask all members.
  private func owners(
    of objects: ChangedObjects, in target: StoredTable, _ reader: TableReader
  ) -> Set<ObjectKey>? {
    if objects.count > members.count { return nil }
    var owners: Set<ObjectKey> = []
    for object in objects.keys {
      let links = reader.backlinks(watched.column, object, in: target)
      if links.count > members.count { return nil }
      links.forEach {
        owners.insert($0)
        return true
      }
    }
    return owners
  }
}
