// What an observer of a map is to be told when its Realm has moved to a newer version.
internal import ObjectStore

/// What happened to a map between two versions, by keys.
struct MapChange: Equatable {
  /// Keys that are gone, in the order of keys; here and below.
  var deletions: [String] = []
  var insertions: [String] = []
  /// Keys whose values were assigned, or whose objects changed.
  var modifications: [String] = []

  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

/// Follows a map, as a `CollectionTracker` does other collections.
protocol MapFollower: AnyObject {
  /// What has to change so that there may be something to tell.
  var watched: Watched { get }
  /// Goes on to the newer version of a step.
  ///
  /// - Returns: what the observer is to be told; nil for nothing.
  func advance(_ step: VersionStep) -> MapChange?
}

/// Follows one map.
final class MapTracker: MapFollower {
  private let cell: CollectionCell
  private let keyPaths: [String]?
  private var filter: KeyPathFilter
  /// Whether the object that has the map is gone.
  private var isOver = false

  /// Stops when a key path cannot be observed.
  ///
  /// - Parameter keyPaths: as of `CollectionTracker.make`, of the objects that are the map's
  ///   values.
  init(_ cell: CollectionCell, keyPaths: [String]?) {
    self.cell = cell
    self.keyPaths = keyPaths
    filter = KeyPathFilter(keyPaths, cell.realm, cell.target)
  }

  /// What has to change so that there may be something to tell.
  var watched: Watched { .elements(cell, keyPaths) }

  /// Goes on to the newer version of a step.
  ///
  /// - Returns: what the observer is to be told; nil for nothing.
  func advance(_ step: VersionStep) -> MapChange? {
    if isOver { return nil }
    let owner = cell.storedTable
    if step.isDeleted(owner.index, cell.key) {
      isOver = true
      var change = MapChange()
      let keys = oldKeys(step)
      change.deletions = (0..<(keys?.count ?? 0)).map { keys!.text(at: $0) }
      return change.isEmpty ? nil : change
    }
    return step.told(cell.toldTogether(keyPaths)) { self.change(step, owner) }
  }

  private func change(_ step: VersionStep, _ owner: StoredTable) -> MapChange? {
    var change = MapChange()
    let elements = step.elementChanges(owner.index, cell.key, cell.column)
    let objects = cell.changedPositions(&filter, step)
    if elements == nil && objects.isEmpty { return nil }
    let reader = step.reader(owner.index)
    guard let location = reader.locate(cell.key) else { return nil }
    let keys = reader.mapKeys(location, cell.column)
    var (deleted, inserted): ([Int], [Int]) = ([], [])
    var modified = Set(objects)
    elements?.forEach { kind, old, new, count in
      switch kind {
      case .kept: break
      case .modified: modified.formUnion(new..<new + count)
      case .inserted: inserted += new..<new + count
      case .deleted: deleted += old..<old + count
      }
    }
    modified.subtract(inserted)
    let before = deleted.isEmpty ? nil : oldKeys(step)
    let gone = Set(deleted.compactMap { (before?.text(at: $0)).map { StoredText($0) } })
    for position in inserted {
      // Taken out and put in again: it has another value.
      if gone.contains(StoredText(keys.text(at: position))) {
        modified.insert(position)
      } else {
        change.insertions.append(keys.text(at: position))
      }
    }
    let returned = Set(inserted.map { StoredText(keys.text(at: $0)) })
    change.deletions = deleted.compactMap { before?.text(at: $0) }
      .filter { !returned.contains(StoredText($0)) }
    change.modifications = modified.sorted().map { keys.text(at: $0) }
    return change.isEmpty ? nil : change
  }

  /// The keys in the older version.
  private func oldKeys(_ step: VersionStep) -> ElementReader? {
    let stored = cell.storedTable
    guard let older = step.older(stored), let location = older.reader.locate(cell.key),
      let column = older.table.columnKeys.firstIndex(of: stored.columnKeys[cell.column])
    else { return nil }
    return older.reader.mapKeys(location, column)
  }
}
