// A Realm's step from one version to a newer one, as trackers see it: what changed, and both
// versions to look things up. One step is shared by all trackers of a Realm, so that what several
// of them need is found once. Way back from what changed to what leads to it: VersionStep+Reaching.
internal import ObjectStore
internal import Storage

/// A step of a Realm from the version that its observers know to the one on which it stands.
///
/// Used where the Realm may be used, while it stands there.
final class VersionStep {
  /// The version that the observers know.
  let old: ConfinedRealm
  /// A form of `old` for values that clients are given, who can end them.
  private var shownTwin: ConfinedRealm?
  /// The Realm, on the newer version.
  ///
  /// Its observers may keep the step until their next call: that must not keep the Realm.
  unowned let new: ConfinedRealm
  let changes: ChangeSet
  /// The tables of the newer version.
  let schema: StoredSchema
  private let oldSnapshot: Snapshot
  private let newSnapshot: Snapshot
  /// Of each table of the newer version; copied here so that trackers find them by an index.
  private let tableChanges: [TableChanges?]
  private var readers: [TableReader?]
  /// By table key.
  private var oldTables: [UInt64: (table: StoredTable, reader: TableReader)] = [:]
  /// What led to changed objects over as many links as observers follow, by the table's index.
  var reachingByTable: [Int: ChangedObjects] = [:]
  /// The same over any number of links; nil for very many.
  var reachingOverAnyLinksByTable: [Int: ChangedObjects?] = [:]
  /// No changed objects.
  let noObjects = ChangedObjects([])
  /// From which objects some paths lead to something else.
  var reachingByPaths: [[WatchedPath]: ChangedObjects] = [:]
  /// Objects of all tables that changed, or lead to one that did, by their table's key: what values
  /// of any type may link to.
  private(set) lazy var reachingAnywhere: [UInt64: ChangedObjects] = {
    var found: [UInt64: ChangedObjects] = [:]
    for table in schema.tables {
      let objects = reaching(table.index)
      if !objects.isEmpty { found[table.tableKey] = objects }
    }
    return found
  }()
  /// What observers of one collection are told, who all are told the same.
  private var told: [ToldTogether: CollectionChange?] = [:]
  private var toldOfMaps: [ToldTogether: MapChange?] = [:]
  /// What has become of the elements that several trackers know together, by what they were.
  var advanced: [ObjectIdentifier: AdvancedElements] = [:]
  /// The same of sections.
  var advancedSections: [ObjectIdentifier: AdvancedSections] = [:]
  /// The same of lists, and of dictionaries, inside of mixed values.
  var advancedNestedLists: [ToldTogether: NestedTracker.State] = [:]
  var advancedNestedMaps: [ToldTogether: NestedMapTracker.State] = [:]
  /// The columns whose links can lead to each table.
  private(set) lazy var linkColumns = schema.tables.indices.map { schema.linkColumns(to: $0) }

  /// - Parameters:
  ///   - old: the frozen form of the Realm on the version that its observers know.
  ///   - new: the Realm, outside of a write transaction.
  convenience init(from old: ConfinedRealm, to new: ConfinedRealm) {
    self.init(
      from: old, to: new,
      recorded: new.history.changes(
        after: old.currentSnapshot().version, through: new.currentSnapshot().version))
  }

  /// - Parameter recorded: what the history has of the step; nil: the versions are compared.
  convenience init(from old: ConfinedRealm, to new: ConfinedRealm, recorded: ChangeSet?) {
    if let recorded {
      self.init(from: old, to: new, recorded)
    } else {
      let (first, last) = (old.currentSnapshot(), new.currentSnapshot())
      self.init(
        from: old, to: new,
        .between(
          (first.reader, first.root, old.classes.stored),
          (last.reader, last.root, new.classes.stored)))
    }
  }

  /// A step whose changes are known.
  init(from old: ConfinedRealm, to new: ConfinedRealm, _ changes: ChangeSet) {
    self.old = old
    self.new = new
    self.changes = changes
    schema = new.classes.stored
    oldSnapshot = old.currentSnapshot()
    newSnapshot = new.currentSnapshot()
    tableChanges = schema.tables.map { changes[$0] }
    readers = Array(repeating: nil, count: schema.tables.count)
  }

  /// The version that the observers know, for values that clients are given: one who invalidates
  /// their Realm ends nothing but such values.
  var shownOld: ConfinedRealm {
    if let shownTwin, !shownTwin.isInvalidatedFrozen { return shownTwin }
    let twin = old.frozenApart()
    shownTwin = twin
    return twin
  }

  /// Whether both versions have the same tables and columns.
  var keepsSchema: Bool { old.classes === new.classes }

  /// Reads a table, given by its index, of the newer version.
  func reader(_ table: Int) -> TableReader {
    if let reader = readers[table] { return reader }
    let reader = TableReader(
      reader: newSnapshot.reader, root: newSnapshot.root, table: schema.tables[table])
    readers[table] = reader
    return reader
  }

  /// The older version's form of a table of the newer one; nil if it had none.
  func older(_ table: StoredTable) -> (table: StoredTable, reader: TableReader)? {
    if let known = oldTables[table.tableKey] { return known }
    let tables = old.classes.stored.tables
    let found =
      table.index < tables.count && tables[table.index].tableKey == table.tableKey
      ? tables[table.index] : tables.first { $0.tableKey == table.tableKey }
    guard let found else { return nil }
    let result = (
      found, TableReader(reader: oldSnapshot.reader, root: oldSnapshot.root, table: found)
    )
    oldTables[table.tableKey] = result
    return result
  }

  /// What changed in a table of the newer version, given by its index.
  func changes(_ table: Int) -> TableChanges? { tableChanges[table] }

  /// Whether objects of a table of the newer version, given by its index, are new or gone.
  func comesOrGoes(_ table: Int) -> Bool {
    guard let changes = changes(table) else { return false }
    return changes.isCleared || !changes.deleted.isEmpty || changes.firstNewKey.rawValue < .max
  }

  /// Whether an object of the older version's table is gone.
  func isDeleted(_ table: Int, _ key: ObjectKey) -> Bool {
    tableChanges[table]?.isDeleted(key) ?? false
  }

  /// The changed columns of an object that is in both versions; nil for none.
  func modifiedColumns(_ table: Int, _ key: ObjectKey) -> ColumnSet? {
    tableChanges[table]?.modified[key]
  }

  /// What happened in a collection of an object that is in both versions; nil for nothing.
  func elementChanges(_ table: Int, _ key: ObjectKey, _ column: Int) -> ElementChanges? {
    let stored = schema.tables[table]
    let columnKey = stored.columnKeys[column]
    switch changes(table)?.collections[CollectionPlace(key, columnKey)] {
    case nil: return nil
    case .elements(let changes): return changes.isEmpty ? nil : changes
    case .many:
      guard let older = older(stored),
        let before = older.table.columnKeys.firstIndex(of: columnKey)
      else { return nil }
      let changes = reader(table).elementChanges(
        since: older.reader, key, columns: (before, column),
        stored.schema.columns[column].collection)
      return changes.isEmpty ? nil : changes
    }
  }

  /// What observers of the same are told; found for the first one alone.
  func told(_ together: ToldTogether, _ find: () -> CollectionChange?) -> CollectionChange? {
    if let known = told[together] { return known }
    let found = find()
    told[together] = .some(found)
    return found
  }

  /// The same of a map.
  func told(_ together: ToldTogether, _ find: () -> MapChange?) -> MapChange? {
    if let known = toldOfMaps[together] { return known }
    let found = find()
    toldOfMaps[together] = .some(found)
    return found
  }

  /// New objects of a table, ascending, until `body` returns false.
  func forEachNew(_ table: Int, _ body: (ObjectKey) -> Bool) {
    guard let first = changes(table)?.firstNewKey, first.rawValue < .max else { return }
    let reader = reader(table)
    var key = reader.nextKey(after: ObjectKey(rawValue: first.rawValue - 1))
    while let found = key {
      if !body(found) { return }
      key = reader.nextKey(after: found)
    }
  }

  /// Objects of the older version's table that are gone, ascending.
  func forEachDeleted(_ table: Int, _ body: (ObjectKey) -> Void) {
    guard let changes = changes(table) else { return }
    guard changes.isCleared else {
      changes.deleted.forEach(body)
      return
    }
    older(schema.tables[table])?.reader.forEachObject { key, _ in
      body(key)
      return true
    }
  }
}

/// What observers have in common who know nothing but the version, and so are told the same.
struct ToldTogether: Hashable {
  enum Subject: Hashable {
    /// All objects of a table.
    case table(UInt64)
    /// A list, set or map.
    case elements(table: UInt64, ObjectKey, column: Int)
    /// The objects that link to an object by a column of a table.
    case backlinks(table: UInt64, ObjectKey, from: UInt64, column: Int)
    /// A list or dictionary inside of a mixed value.
    case nested(table: UInt64, ObjectKey, column: Int, [PathStep], AnyTag)
  }

  let subject: Subject
  let keyPaths: [String]?
}
