// Following the objects that link to an object.
internal import ObjectStore

/// Follows the objects of a class that link to an object by one of its columns.
///
/// They are in key order, an object as often as it links.
final class BacklinkTracker: CollectionTracker {
  /// The object that is linked to.
  private let target: TablePointer
  private let key: ObjectKey
  /// Where the links come from.
  private let origin: TablePointer
  private let column: Int
  private var filter: KeyPathFilter
  private var keys: [ObjectKey]
  /// Whether the object that is linked to is gone.
  private var isOver = false

  init(
    _ realm: ConfinedRealm, to key: ObjectKey, of target: TablePointer, from origin: TablePointer,
    _ column: Int, _ keys: [ObjectKey], _ keyPaths: [String]?
  ) {
    self.target = target
    self.key = key
    self.origin = origin
    self.column = column
    self.keys = keys
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
      return CollectionChange(deletions: Array(keys.indices)).told
    }
    let links = step.reader(stored.index).backlinks(column, key, in: target)
    var changed = filter.changedElements(step)
    var candidates: Set<ObjectKey> = []
    if let changes = step.changes(stored.index) {
      let columnKey = stored.columnKeys[column]
      for (key, columns) in changes.modified where columns.contains(columnKey) {
        candidates.insert(key)
      }
      step.forEachDeleted(stored.index) { candidates.insert($0) }
      // Those that are new come behind all others.
      let all = links.count
      let known = links.count(before: changes.firstNewKey)
      for position in known..<all { candidates.insert(links.key(at: position)) }
    }
    var edits = CollectionChange()
    var removed: [Int] = []
    for candidate in candidates {
      let range = range(of: candidate)
      let count = links.count(of: candidate)
      if count < range.count { removed += range.dropFirst(count) }
      if count > range.count {
        let first = links.count(before: candidate)
        edits.insertions += first + range.count..<first + count
      }
    }
    edits.deletions = removed.sorted()
    edits.insertions.sort()
    for position in edits.deletions.reversed() { keys.remove(at: position) }
    for position in edits.insertions { keys.insert(links.key(at: position), at: position) }
    let inserted = Set(edits.insertions)
    if changed.count > keys.count { changed = changed.intersection(keys) }
    edits.modifications =
      changed.flatMap { range(of: $0) }.filter { !inserted.contains($0) }.sorted()
    return edits.told
  }

  /// The positions of an object.
  private func range(of key: ObjectKey) -> Range<Int> {
    let first = keys.lowerBound { $0 < key }
    let end = keys.lowerBound { $0 <= key }
    return first..<end
  }
}
