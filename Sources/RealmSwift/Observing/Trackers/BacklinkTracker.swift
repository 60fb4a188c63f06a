// Following the objects that link to an object.
internal import ObjectStore

/// Follows the objects of a class that link to an object by one of its columns.
///
/// They are in key order, an object as often as it links. The trees of links of both versions say
/// where each is: nothing has to be remembered.
final class BacklinkTracker: CollectionTracker {
  /// The object that is linked to.
  private let target: TablePointer
  private let key: ObjectKey
  /// Where the links come from.
  private let origin: TablePointer
  private let column: Int
  private let keyPaths: [String]?
  private var filter: KeyPathFilter
  /// Whether the object that is linked to is gone.
  private var isOver = false

  init(
    _ realm: ConfinedRealm, to key: ObjectKey, of target: TablePointer, from origin: TablePointer,
    _ column: Int, _ keyPaths: [String]?
  ) {
    self.target = target
    self.key = key
    self.origin = origin
    self.column = column
    self.keyPaths = keyPaths
    filter = KeyPathFilter(keyPaths, realm, origin)
  }

  override var watched: Watched {
    guard let target = target.pointee.binding.table, let origin = origin.pointee.binding.table
    else { return .everything }
    return .tables(filter.watchedTables().union([target.tableKey, origin.tableKey]))
  }

  override func advance(_ step: VersionStep) -> CollectionChange? {
    guard !isOver, let target = target.pointee.binding.table,
      let stored = origin.pointee.binding.table
    else { return nil }
    if step.isDeleted(target.index, key) {
      isOver = true
      let count = olderLinks(step, target, stored)?.count ?? 0
      return CollectionChange(deletions: Array(0..<count)).told
    }
    let subject = ToldTogether.Subject.backlinks(
      table: target.tableKey, key, from: stored.tableKey, column: column)
    return step.told(ToldTogether(subject: subject, keyPaths: keyPaths)) {
      change(step, target, stored)
    }
  }

  /// Who linked in the older version; nil if it had no such class or column.
  private func olderLinks(
    _ step: VersionStep, _ target: StoredTable, _ stored: StoredTable
  ) -> Backlinks? {
    guard let older = step.older(stored), let olderTarget = step.older(target),
      let before = older.table.columnKeys.firstIndex(of: stored.columnKeys[column])
    else { return nil }
    return older.reader.backlinks(before, key, in: olderTarget.table)
  }

  private func change(
    _ step: VersionStep, _ target: StoredTable, _ stored: StoredTable
  ) -> CollectionChange? {
    let before = olderLinks(step, target, stored)
    let links = step.reader(stored.index).backlinks(column, key, in: target)
    var candidates: Set<ObjectKey> = []
    if let changes = step.changes(stored.index) {
      let columnKey = stored.columnKeys[column]
      for (key, columns) in changes.modified where columns.contains(columnKey) {
        candidates.insert(key)
      }
      step.forEachDeleted(stored.index) { candidates.insert($0) }
      // Those that are new come behind all others.
      for position in links.count(before: changes.firstNewKey)..<links.count {
        candidates.insert(links.key(at: position))
      }
    }
    var edits = CollectionChange()
    for candidate in candidates {
      let old = before.map { Self.range(of: candidate, $0) } ?? 0..<0
      let new = Self.range(of: candidate, links)
      if new.count < old.count { edits.deletions += old.dropFirst(new.count) }
      if new.count > old.count { edits.insertions += new.dropFirst(old.count) }
    }
    edits.deletions.sort()
    edits.insertions.sort()
    let inserted = Set(edits.insertions)
    edits.modifications = positions(of: filter.changedElements(step), links)
      .filter { !inserted.contains($0) }
    return edits.told
  }

  /// The positions of some objects, ascending.
  private func positions(of objects: ChangedObjects, _ links: Backlinks) -> [Int] {
    if objects.isEmpty { return [] }
    if objects.count < links.count / 8 {
      return objects.keys.flatMap { Self.range(of: $0, links) }.sorted()
    }
    var keys: [Int64] = []
    keys.reserveCapacity(links.count)
    links.forEach {
      keys.append($0.rawValue)
      return true
    }
    return objects.positions(in: keys)
  }

  /// The positions of an object.
  private static func range(of key: ObjectKey, _ links: Backlinks) -> Range<Int> {
    let first = links.count(before: key)
    return first..<first + links.count(of: key)
  }
}
