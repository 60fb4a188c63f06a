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
  private let keyPaths: [String]?

  /// Stops when key paths are given: the values have none.
  init(_ place: MixedPlace, _ tag: AnyTag, _ keyPaths: [String]?) {
    self.place = place
    self.tag = tag
    self.keyPaths = keyPaths
    filter = KeyPathFilter(keyPaths, place.cell.realm, nil)
  }

  /// What has to change so that there may be something to tell.
  var watched: Watched { .elements(place.cell, keyPaths) }

  /// What observers of the collection itself have in common.
  var together: ToldTogether {
    let cell = place.cell
    return ToldTogether(
      subject: .nested(
        table: cell.storedTable.tableKey, cell.key, column: cell.column, place.steps, tag),
      keyPaths: keyPaths)
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
    let (table, key) = (place.cell.storedTable.index, place.cell.key)
    return !step.keepsSchema || step.isDeleted(table, key)
      || step.modifiedColumns(table, key) != nil
  }

  /// Which of the values lead to objects that have changed.
  func leadingToChanges(_ values: [[UInt8]], _ step: VersionStep) -> [Int] {
    guard filter.followsLinks, let isChanged = place.cell.changedLinks(step, among: values.count)
    else { return [] }
    return values.indices.filter { index in
      values[index].withUnsafeBytes { AnyCoding.hasLink($0, where: isChanged) }
    }
  }
}

/// Follows a list inside of a mixed value, or results that were chosen from a list or dictionary
/// there.
final class NestedTracker: CollectionTracker {
  /// What the observer knows, and what it was told last.
  struct State {
    var known: [[UInt8]]
    var isOver = false
    var change: CollectionChange?
  }

  private let content: NestedContent
  private let read: () -> [[UInt8]]
  /// Who has the same in common is told the same; nil of results, which may be chosen in any way.
  private let together: ToldTogether?
  private var state: State

  /// - Parameters:
  ///   - isWhole: whether the elements are those of the collection itself.
  ///   - read: the elements while the collection is there.
  init(_ content: NestedContent, isWhole: Bool, _ read: @escaping () -> [[UInt8]]) {
    self.content = content
    self.read = read
    together = isWhole ? content.together : nil
    state = State(known: read())
  }

  override var watched: Watched { content.watched }

  override func advance(_ step: VersionStep) -> CollectionChange? {
    if state.isOver { return nil }
    if let together, let state = step.advancedNestedLists[together] {
      self.state = state
    } else {
      state.change = follow(step)
      if let together { step.advancedNestedLists[together] = state }
    }
    return state.change
  }

  private func follow(_ step: VersionStep) -> CollectionChange? {
    var change = CollectionChange()
    if content.mayHaveChanged(step) {
      let old = state.known
      state.isOver = content.place.isInvalidated(content.tag)
      state.known = state.isOver ? [] : read()
      change = Self.change(from: old, to: state.known)
    }
    let changed = content.leadingToChanges(state.known, step)
    if !changed.isEmpty {
      let inserted = Set(change.insertions)
      change.modifications = Set(change.modifications + changed.filter { !inserted.contains($0) })
        .sorted()
    }
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
  /// What the observer knows, and what it was told last.
  struct State {
    var known: [(key: String, value: [UInt8])]
    var isOver = false
    var change: MapChange?
  }

  private let content: NestedContent
  private let together: ToldTogether
  private var state: State

  init(_ content: NestedContent) {
    self.content = content
    together = content.together
    state = State(known: content.read() ?? [])
  }

  var watched: Watched { content.watched }

  func advance(_ step: VersionStep) -> MapChange? {
    if state.isOver { return nil }
    if let state = step.advancedNestedMaps[together] {
      self.state = state
    } else {
      state.change = follow(step)
      step.advancedNestedMaps[together] = state
    }
    return state.change
  }

  private func follow(_ step: VersionStep) -> MapChange? {
    let old = state.known
    let mayHaveChanged = content.mayHaveChanged(step)
    if mayHaveChanged {
      let read = content.read()
      state.isOver = read == nil
      state.known = read ?? []
    }
    let leading = Set(content.leadingToChanges(state.known.map(\.value), step))
    guard mayHaveChanged else {
      // Only what the values lead to.
      let change = MapChange(modifications: leading.sorted().map { state.known[$0].key })
      return change.isEmpty ? nil : change
    }
    return change(from: old, to: state.known, leading)
  }

  private func change(
    from old: [(key: String, value: [UInt8])], to known: [(key: String, value: [UInt8])],
    _ leading: Set<Int>
  ) -> MapChange? {
    let before = Dictionary(uniqueKeysWithValues: old.map { (StoredText($0.key), $0.value) })
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
    return NestedTracker(content, isWhole: true) { content.read()?.map(\.value) ?? [] }
  }
}

extension NestedOrigin {
  /// The tracker of results that were chosen from the collection.
  func makeTracker<Element: RealmCollectionValue>(
    of results: ResultsSource<Element>, _ keyPaths: [String]?
  ) -> CollectionTracker {
    let realm = place.cell.realm
    return NestedTracker(NestedContent(place, tag, keyPaths), isWhole: false) {
      (0..<results.count).map { position in
        var writer = AnyValueWriter { (realm.tableKey(of: $0), $0._key) }
        writer.append(AnyRealmValue._fromAny(results.element(at: position)._anyElement) ?? .none)
        return writer.bytes
      }
    }
  }
}
