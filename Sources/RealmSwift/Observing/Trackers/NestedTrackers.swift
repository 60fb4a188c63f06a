// What observers of a list or dictionary inside of a mixed value, and of results chosen from one,
// are to be told. The value is written as a whole, so nobody notes which of its parts change: the
// content before and after is compared.
internal import ObjectStore

/// The content of a collection inside of a mixed value, as its observer knows it.
struct NestedContent {
  /// What can be read and compared.
  let place: MixedPlace
  let tag: AnyTag
  private let filter: KeyPathFilter

  /// Stops when key paths are given: the values have none.
  init(_ place: MixedPlace, _ tag: AnyTag, _ keyPaths: [String]?) {
    self.place = place
    self.tag = tag
    filter = KeyPathFilter(keyPaths, place.cell.realm, nil)
  }

  /// What has to change so that there may be something to tell.
  var watched: Watched {
    // Values may lead to objects of any class.
    filter.followsLinks ? .everything : .tables([place.cell.storedTable.tableKey])
  }

  /// The entries or elements as bytes, by key or position; nil when there is no such collection any
  /// more.
  func read() -> [(key: String, value: [UInt8])]? {
    if place.isInvalidated(tag) { return nil }
    var parts: [(key: String, value: [UInt8])] = []
    place.forEachPart(tag) { part in
      parts.append((part.key.map { String(_bytes: $0) } ?? "", Array(part.value)))
      return true
    }
    return parts
  }

  /// Whether a step can have changed the collection itself.
  func mayHaveChanged(_ step: VersionStep) -> Bool {
    let stored = place.cell.storedTable
    return step.isDeleted(stored.index, place.cell.key) || step.changes(stored.index) != nil
  }

  /// Which of the values lead to objects that have changed.
  func leadingToChanges(_ values: [[UInt8]], _ step: VersionStep) -> [Int] {
    guard filter.followsLinks else { return [] }
    let changed = place.cell.changedLinks(step)
    if changed.isEmpty { return [] }
    return values.indices.filter { index in
      values[index].withUnsafeBytes { AnyCoding.hasLink($0, where: changed.contains) }
    }
  }
}

/// Follows a list inside of a mixed value, or results that were chosen from a list or dictionary
/// there.
final class NestedTracker: CollectionTracker {
  private let content: NestedContent
  private let read: () -> [[UInt8]]
  private var known: [[UInt8]]
  private var isOver = false

  /// - Parameter read: the elements while the collection is there.
  init(_ content: NestedContent, _ read: @escaping () -> [[UInt8]]) {
    self.content = content
    self.read = read
    known = read()
  }

  override var watched: Watched { content.watched }

  override func advance(_ step: VersionStep) -> CollectionChange? {
    if isOver { return nil }
    let old = known
    if content.mayHaveChanged(step) {
      isOver = content.place.isInvalidated(content.tag)
      known = isOver ? [] : read()
    }
    var change = Self.change(from: old, to: known)
    let inserted = Set(change.insertions)
    let changed = content.leadingToChanges(known, step).filter { !inserted.contains($0) }
    change.modifications = Set(change.modifications + changed).sorted()
    return change.told
  }

  /// What differs: elements between two that stayed count as changed in pairs, and the rest as gone
  /// or new.
  static func change(from old: [[UInt8]], to new: [[UInt8]]) -> CollectionChange {
    var change = CollectionChange()
    if old == new { return change }
    let (removed, inserted) = differences(from: old, to: new)
    var (before, after) = (0, 0)
    while before < old.count || after < new.count {
      let (isRemoved, isInserted) = (removed.contains(before), inserted.contains(after))
      switch (isRemoved, isInserted) {
      case (true, true): change.modifications.append(after)
      case (true, false): change.deletions.append(before)
      case (false, true): change.insertions.append(after)
      case (false, false): break
      }
      if isRemoved || !isInserted { before += 1 }
      if isInserted || !isRemoved { after += 1 }
    }
    return change
  }
}

/// Looking for what stayed takes the square of what differs, in time and in memory.
private let differencesMax = 2_000

/// The positions of elements that are gone, and of those that are new.
private func differences(
  from old: [[UInt8]], to new: [[UInt8]]
) -> (removed: Set<Int>, inserted: Set<Int>) {
  // Mostly some elements in a row were added, changed or removed.
  let shorter = min(old.count, new.count)
  var start = 0
  while start < shorter, old[start] == new[start] { start += 1 }
  var end = 0
  while end < shorter - start, old[old.count - 1 - end] == new[new.count - 1 - end] { end += 1 }
  let (before, after) = (old[start..<old.count - end], new[start..<new.count - end])
  if before.isEmpty || after.isEmpty { return (Set(before.indices), Set(after.indices)) }
  var removed: Set<Int> = []
  var inserted: Set<Int> = []
  if before.count + after.count > differencesMax {
    // Position by position.
    removed = Set(before.indices.filter { !after.indices.contains($0) || old[$0] != new[$0] })
    inserted = Set(after.indices.filter { !before.indices.contains($0) || old[$0] != new[$0] })
    return (removed, inserted)
  }
  for difference in after.difference(from: before) {
    switch difference {
    case .remove(let offset, _, _): removed.insert(start + offset)
    case .insert(let offset, _, _): inserted.insert(start + offset)
    }
  }
  return (removed, inserted)
}

/// Follows a dictionary inside of a mixed value.
final class NestedMapTracker: MapFollower {
  private let content: NestedContent
  private var known: [(key: String, value: [UInt8])]
  private var isOver = false

  init(_ content: NestedContent) {
    self.content = content
    known = content.read() ?? []
  }

  var watched: Watched { content.watched }

  func advance(_ step: VersionStep) -> MapChange? {
    if isOver { return nil }
    let old = known
    if content.mayHaveChanged(step) {
      let read = content.read()
      isOver = read == nil
      known = read ?? []
    }
    let before = Dictionary(uniqueKeysWithValues: old.map { (StoredText($0.key), $0.value) })
    let leading = Set(content.leadingToChanges(known.map(\.value), step))
    var change = MapChange()
    for (index, entry) in known.enumerated() {
      if let value = before[StoredText(entry.key)] {
        if value != entry.value || leading.contains(index) {
          change.modifications.append(entry.key)
        }
      } else {
        change.insertions.append(entry.key)
      }
    }
    let after = Set(known.map { StoredText($0.key) })
    change.deletions = old.map(\.key).filter { !after.contains(StoredText($0)) }
    return change.isEmpty ? nil : change
  }
}

// MARK: - What is followed

extension MixedPlace {
  /// The tracker of the list in this place.
  func makeTracker(_ keyPaths: [String]?) -> CollectionTracker {
    let content = NestedContent(self, .list, keyPaths)
    return NestedTracker(content) { content.read()?.map(\.value) ?? [] }
  }
}

extension NestedOrigin {
  /// The tracker of results that were chosen from the collection.
  func makeTracker<Element: RealmCollectionValue>(
    of results: ResultsSource<Element>, _ keyPaths: [String]?
  ) -> CollectionTracker {
    let realm = place.cell.realm
    return NestedTracker(NestedContent(place, tag, keyPaths)) {
      (0..<results.count).map { position in
        var writer = AnyValueWriter { (realm.tableKey(of: $0), $0._key) }
        writer.append(AnyRealmValue._fromAny(results.element(at: position)._anyElement) ?? .none)
        return writer.bytes
      }
    }
  }
}
