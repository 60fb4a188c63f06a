// What an observer of a collection is to be told when its Realm has moved to a newer version. A
// tracker knows the collection as its observer knows it. Used only where the Realm may be used.
internal import ObjectStore

/// What happened to a collection between two versions.
struct CollectionChange: Equatable {
  /// Positions in the older version of elements that are gone, ascending.
  ///
  /// An element that moved is deleted at one place and inserted at another.
  var deletions: [Int] = []
  /// Positions in the newer version of elements that are new, ascending.
  var insertions: [Int] = []
  /// Positions in the newer version of elements that changed and stayed, ascending.
  var modifications: [Int] = []

  init(deletions: [Int] = [], insertions: [Int] = [], modifications: [Int] = []) {
    self.deletions = deletions
    self.insertions = insertions
    self.modifications = modifications
  }

  /// What leads from some elements to others: all between the equal ones at both ends go and come.
  init(from older: [Int64], to newer: [Int64]) {
    let shared = min(older.count, newer.count)
    let first = (0..<shared).first { older[$0] != newer[$0] } ?? shared
    let last =
      (0..<shared - first).first { older[older.count - 1 - $0] != newer[newer.count - 1 - $0] }
      ?? shared - first
    deletions = Array(first..<older.count - last)
    insertions = Array(first..<newer.count - last)
  }

  /// Both changes as one.
  func followed(by next: CollectionChange) -> CollectionChange {
    // Positions between the two, of elements that this change has not inserted, as older ones; and
    // of those that the next one does not delete, as newer ones.
    let older = OtherPositions(.max, without: deletions)
    let newer = OtherPositions(.max, without: next.insertions)
    let inserted = Set(insertions)
    let deleted = Set(next.deletions)
    func after(_ positions: [Int]) -> [Int] {
      positions.filter { !deleted.contains($0) }.map { position in
        newer[position - next.deletions.lowerBound { $0 < position }]
      }
    }
    let gone = next.deletions.filter { !inserted.contains($0) }.map { position in
      older[position - insertions.lowerBound { $0 < position }]
    }
    let new = after(insertions)
    // Who was new and has changed is new.
    let changed = Set(next.modifications + after(modifications)).subtracting(new)
    return CollectionChange(
      deletions: (deletions + gone).sorted(), insertions: (next.insertions + new).sorted(),
      modifications: changed.sorted())
  }

  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

  /// Nil when nothing happened.
  var told: CollectionChange? { isEmpty ? nil : self }
}

/// Follows one collection.
///
/// Made with the collection as it is in the Realm's version.
class CollectionTracker {
  /// Goes on to the newer version of a step.
  ///
  /// Every step of the Realm has to be told, one after the other; a step may span several commits.
  ///
  /// - Returns: what the observer is to be told; nil for nothing.
  func advance(_ step: VersionStep) -> CollectionChange? { fatalError("abstract") }

  /// What has to change so that there may be something to tell.
  ///
  /// A step that does not concern it may be left out.
  var watched: Watched { .everything }

  /// The tracker of a managed collection; stops when a key path cannot be observed.
  ///
  /// - Parameter keyPaths: nil: elements also change through up to four links; empty: only the
  ///   collection itself changes; else elements change through these.
  static func make<Collection: RealmCollection>(
    _ collection: Collection, keyPaths: [String]?
  ) -> CollectionTracker {
    guard let collection = collection as? any TrackedCollection else {
      misuse(.argument, "Change notifications are only supported on managed collections.")
    }
    return collection.makeTracker(keyPaths)
  }
}

// MARK: - Collections that can be followed

/// A collection that has a tracker.
protocol TrackedCollection {
  /// The tracker; stops when the collection is not managed.
  func makeTracker(_ keyPaths: [String]?) -> CollectionTracker
}

/// Stops: nothing changes behind the client's back.
private func stopForUnmanaged() -> Never {
  misuse(.ownership, "Change notifications are only supported on managed collections.")
}

extension Results: TrackedCollection {
  func makeTracker(_ keyPaths: [String]?) -> CollectionTracker { source.makeTracker(keyPaths) }
}

extension LinkingObjects: TrackedCollection {
  func makeTracker(_ keyPaths: [String]?) -> CollectionTracker {
    guard let source else { stopForUnmanaged() }
    return source.makeTracker(keyPaths)
  }
}

extension List: TrackedCollection {
  func makeTracker(_ keyPaths: [String]?) -> CollectionTracker {
    if let nestedPlace { return nestedPlace.makeTracker(keyPaths) }
    guard let cell else { stopForUnmanaged() }
    return ElementTracker(cell, keyPaths)
  }
}

extension MutableSet: TrackedCollection {
  func makeTracker(_ keyPaths: [String]?) -> CollectionTracker {
    guard let cell else { stopForUnmanaged() }
    return ElementTracker(cell, keyPaths)
  }
}

extension AnyRealmCollection: TrackedCollection {
  func makeTracker(_ keyPaths: [String]?) -> CollectionTracker { makeBaseTracker(keyPaths) }
}

/// Follows the objects of a class.
///
/// They are in key order, and new ones come last: nothing has to be remembered.
final class TableTracker: CollectionTracker {
  private let table: TablePointer
  private let keyPaths: [String]?
  private var filter: KeyPathFilter

  init(_ realm: ConfinedRealm, _ table: TablePointer, _ keyPaths: [String]?) {
    self.table = table
    self.keyPaths = keyPaths
    filter = KeyPathFilter(keyPaths, realm, table)
  }

  override var watched: Watched {
    guard let stored = table.pointee.binding.table else { return .everything }
    return .tables(filter.watchedTables().union([stored.tableKey]))
  }

  override func advance(_ step: VersionStep) -> CollectionChange? {
    guard let stored = table.pointee.binding.table else { return nil }
    return step.told(ToldTogether(subject: .table(stored.tableKey), keyPaths: keyPaths)) {
      change(step, stored)
    }
  }

  private func change(_ step: VersionStep, _ stored: StoredTable) -> CollectionChange? {
    var change = CollectionChange()
    let reader = step.reader(stored.index)
    let changes = step.changes(stored.index)
    if let changes {
      if let older = step.older(stored)?.reader {
        change.deletions =
          changes.isCleared
          ? Array(0..<older.count) : changes.deleted.map { older.rank(of: $0) }
      }
      change.insertions = Array(reader.rank(of: changes.firstNewKey)..<reader.count)
    }
    change.modifications = filter.changedElements(step).keys
      .filter { changes?.isNew($0) != true }.sorted().map { reader.rank(of: $0) }
    return change.told
  }
}

/// Follows the elements of a list or set.
final class ElementTracker: CollectionTracker {
  private let cell: CollectionCell
  private let keyPaths: [String]?
  private var filter: KeyPathFilter
  /// Whether the object that has the collection is gone.
  private var isOver = false

  override var watched: Watched { .elements(cell, keyPaths) }

  init(_ cell: CollectionCell, _ keyPaths: [String]?) {
    self.cell = cell
    self.keyPaths = keyPaths
    filter = KeyPathFilter(keyPaths, cell.realm, cell.target)
  }

  override func advance(_ step: VersionStep) -> CollectionChange? {
    if isOver { return nil }
    let owner = cell.storedTable
    if step.isDeleted(owner.index, cell.key) {
      isOver = true
      return CollectionChange(deletions: Array(0..<cell.count(in: step, isOld: true))).told
    }
    return step.told(cell.toldTogether(keyPaths)) { change(step, owner) }
  }

  private func change(_ step: VersionStep, _ owner: StoredTable) -> CollectionChange? {
    var change = CollectionChange()
    var modified: Set<Int> = []
    if let elements = step.elementChanges(owner.index, cell.key, cell.column) {
      elements.forEach { kind, old, new, count in
        switch kind {
        case .kept: break
        case .modified: modified.formUnion(new..<new + count)
        case .inserted: change.insertions += new..<new + count
        case .deleted: change.deletions += old..<old + count
        }
      }
    }
    let inserted = Set(change.insertions)
    for position in cell.changedPositions(&filter, step)
    where !inserted.contains(position) {
      modified.insert(position)
    }
    change.modifications = modified.sorted()
    return change.told
  }
}

extension CollectionCell {
  /// What its observers have in common.
  func toldTogether(_ keyPaths: [String]?) -> ToldTogether {
    ToldTogether(
      subject: .elements(table: storedTable.tableKey, key, column: column), keyPaths: keyPaths)
  }

  /// The class that elements link to; nil for elements that are no objects.
  var target: TablePointer? { objectClass.map { realm.targetTable(of: $0, table, column) } }

  /// The number of elements in one of a step's versions; 0 if the object is not there.
  func count(in step: VersionStep, isOld: Bool) -> Int {
    elements(in: step, isOld: isOld)?.count ?? 0
  }

  /// The elements, or the values of a map, in one of a step's versions; nil if the object is not
  /// there.
  func elements(in step: VersionStep, isOld: Bool) -> ElementReader? {
    let stored = storedTable
    var reader = step.reader(stored.index)
    var column = column
    if isOld {
      guard let older = step.older(stored),
        let before = older.table.columnKeys.firstIndex(of: stored.columnKeys[column])
      else { return nil }
      (reader, column) = (older.reader, before)
    }
    guard let location = reader.locate(key) else { return nil }
    return kind == .map ? reader.mapValues(location, column) : reader.elements(location, column)
  }

  /// Where the elements of a query on links are among all, given their keys in an order that leaves
  /// equal ones as they are.
  func ranks(of keys: [Int64]) -> [Int64] { ranks(of: keys, in: requireContent()) }

  /// The same of one version's elements.
  func ranks(of keys: [Int64], in elements: ElementReader) -> [Int64] {
    var positions: [Int64: [Int64]] = [:]
    elements.forEach { position, value in
      if let key = value.asLink { positions[key.rawValue, default: []].append(Int64(position)) }
      return true
    }
    var used: [Int64: Int] = [:]
    return keys.map { key in
      let number = used[key, default: 0]
      used[key] = number + 1
      return positions[key]![number]
    }
  }

  /// Where some objects are in a step's newer version.
  func positions(of objects: ChangedObjects, in step: VersionStep) -> [Int] {
    guard !objects.isEmpty, let elements = elements(in: step, isOld: false) else { return [] }
    return positions(of: objects, elements, step.reader(storedTable.index))
  }

  /// Where elements, or values of a map, are in a step's newer version whose objects have changed
  /// for an observer.
  func changedPositions(_ filter: inout KeyPathFilter, _ step: VersionStep) -> [Int] {
    let reader = step.reader(storedTable.index)
    guard let location = reader.locate(key) else { return [] }
    let elements =
      kind == .map ? reader.mapValues(location, column) : reader.elements(location, column)
    if elements.count == 0 { return [] }
    if storedTable.schema.columns[column].type == .any {
      return filter.followsLinks ? mixedPositions(elements, step) : []
    }
    return positions(of: filter.changedElements(step), elements, reader)
  }

  /// Tells which links in some values of any type, as they are entered in a tree of links, lead to
  /// objects that changed; nil when none does.
  func changedLinks(_ step: VersionStep, among values: Int) -> ((_ packed: Int64) -> Bool)? {
    let reaching = step.reachingAnywhere
    if reaching.isEmpty || values == 0 { return nil }
    // Through the fewer of both.
    if reaching.values.reduce(0, { $0 + $1.count }) > values {
      return { packed in
        let (tableKey, key) = AnyCoding.unpacked(packed)
        return reaching[tableKey]?.contains(key) ?? false
      }
    }
    let reader = step.reader(storedTable.index)
    var changed: Set<Int64> = []
    for target in step.schema.tables {
      for object in reaching[target.tableKey]?.keys ?? []
      where reader.backlinks(column, object, in: target).count(of: key) > 0 {
        changed.insert(AnyCoding.packed(tableKey: target.tableKey, object))
      }
    }
    return changed.isEmpty ? nil : { changed.contains($0) }
  }

  /// Where values of any type are that lead to objects which changed.
  private func mixedPositions(_ elements: ElementReader, _ step: VersionStep) -> [Int] {
    guard let isChanged = changedLinks(step, among: elements.count) else { return [] }
    var positions: [Int] = []
    elements.forEach { position, value in
      if case .bytes(let bytes) = value, AnyCoding.hasLink(bytes, where: isChanged) {
        positions.append(position)
      }
      return true
    }
    return positions
  }

  private func positions(
    of objects: ChangedObjects, _ elements: ElementReader, _ reader: TableReader
  ) -> [Int] {
    guard !objects.isEmpty, let target = target?.pointee.binding.table else { return [] }
    // Links know where they come from: who is not among the elements is not looked for.
    let among =
      objects.count < elements.count
      ? objects.keys.filter { reader.backlinks(column, $0, in: target).count(of: key) > 0 }
      : objects.keys
    if among.isEmpty { return [] }
    if kind == .set {
      return among.compactMap { elements.position(of: .link($0), sorted: true) }
    }
    if among.count == 1 { return elements.positions(of: among.first!) }
    var positions: [Int] = []
    elements.forEach { position, value in
      if let key = value.asLink, among.contains(key) { positions.append(position) }
      return true
    }
    return positions
  }
}
