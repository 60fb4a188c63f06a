// Noting what a transaction changes, table by table, while somebody observes. New objects need no
// note: their keys come behind all others. Without an observer there is no recorder, and each
// change costs one test.
internal import Trees

/// Notes what a transaction changes in one table.
///
/// Belongs to one TableEditor.
final class TableRecorder {
  /// The key of the first object that the transaction can make.
  private let firstNewKey: ObjectKey
  @exclusivity(unchecked) private var changes = TableChanges()
  /// The collection that was changed last, and its changes, which `changes` does not have then.
  @exclusivity(unchecked) private var place: CollectionPlace?
  @exclusivity(unchecked) private var elements = ElementChanges()
  @exclusivity(unchecked) private var isMany = false
  private let notesMax: Int
  /// Whether there were more notes than `notesMax`.
  @exclusivity(unchecked) private(set) var hasGivenUp = false

  /// - Parameter notesMax: of more objects nothing is noted.
  init(firstNewKey: ObjectKey, notesMax: Int) {
    self.firstNewKey = firstNewKey
    self.notesMax = notesMax
  }

  /// A value was assigned.
  func noteModified(_ key: ObjectKey, _ column: UInt64) {
    if key >= firstNewKey || hasGivenUp { return }
    changes.modified[key, default: ColumnSet()].insert(column)
    if changes.modified.count > notesMax { giveUp() }
  }

  /// An object was deleted.
  func noteDeleted(_ key: ObjectKey) {
    if key >= firstNewKey || hasGivenUp { return }
    changes.deleted.append(key)
    if changes.deleted.count > notesMax { giveUp() }
  }

  private func giveUp() {
    noteCleared()
    hasGivenUp = true
  }

  /// All objects were deleted.
  func noteCleared() {
    changes = TableChanges()
    changes.isCleared = true
    place = nil
  }

  /// Something happened in a collection.
  func noteElements(
    _ key: ObjectKey, _ column: UInt64, _ change: (inout ElementChanges) -> Void
  ) {
    if key >= firstNewKey || hasGivenUp { return }
    if place?.object != key || place?.column != column { open(CollectionPlace(key, column)) }
    if isMany { return }
    change(&elements)
    if elements.runs.count > CollectionChanges.runsMax {
      isMany = true
      elements = ElementChanges()
    }
  }

  private func open(_ next: CollectionPlace) {
    close()
    noteModified(next.object, next.column)
    place = next
    isMany = false
    switch changes.collections.removeValue(forKey: next) {
    case .elements(let known): elements = known
    case .many: isMany = true
    case nil: break
    }
  }

  private func close() {
    guard let place else { return }
    changes.collections[place] = isMany ? .many : .elements(elements)
    self.place = nil
    elements = ElementChanges()
  }

  /// What was noted.
  ///
  /// - Parameter nextKey: the key of the next new object.
  func finish(nextKey: ObjectKey) -> TableChanges {
    close()
    var result = changes
    if nextKey > firstNewKey { result.firstNewKey = firstNewKey }
    if result.isCleared { result.deleted = [] }
    result.deleted.sort()
    result.forget(result.deleted)
    return result
  }
}

extension GroupTransaction {
  /// How much of its changes a transaction notes.
  package enum Recording: Sendable {
    case nothing
    /// What can be had more cheaply by comparing two versions is not noted.
    case few
    case everything

    /// Objects of a table.
    var notesMax: Int {
      switch self {
      case .nothing: 0
      case .few: 4096
      case .everything: .max
      }
    }
  }

  /// What the transaction has changed so far; empty if it is not recorded, nil if that was more
  /// than it notes.
  package func recordedChanges() -> ChangeSet? {
    var result = ChangeSet()
    for tableEditor in tables {
      guard let tableEditor = tableEditor?._withUnsafeGuaranteedRef({ $0 }),
        let recorder = tableEditor.recorder
      else { continue }
      if recorder.hasGivenUp { return nil }
      let changes = recorder.finish(
        nextKey: ObjectKey(rawValue: tableEditor.tree.shape.nextKey))
      if !changes.isEmpty { result.tables[tableEditor.table.tableKey] = changes }
    }
    return result
  }

  // MARK: - Noting

  // Where nobody notes: one load and test. All else stays out of line.

  @inline(__always)
  func noteModified(_ tableEditor: TableEditor, _ key: ObjectKey, _ column: Int) {
    if _slowPath(tableEditor.isNoting) { recordModified(tableEditor, key, column) }
  }

  @inline(never)
  private func recordModified(_ tableEditor: TableEditor, _ key: ObjectKey, _ column: Int) {
    tableEditor.recorder?.noteModified(key, tableEditor.table.columnKeys[column])
    tableEditor.touches?.note(key)
  }

  @inline(__always)
  func noteDeleted(_ tableEditor: TableEditor, _ key: ObjectKey) {
    if _slowPath(tableEditor.isNoting) {
      tableEditor.recorder?.noteDeleted(key)
      tableEditor.touches?.note(key)
    }
  }

  /// Notes a change of the open collection that has changed something.
  @inline(__always)
  func noteElements(
    _ tableEditor: TableEditor, _ collection: CollectionEditor,
    _ change: (inout ElementChanges) -> Void
  ) {
    if _slowPath(tableEditor.isNoting) {
      let key = ObjectKey(rawValue: collection.key)
      tableEditor.recorder?.noteElements(
        key, tableEditor.table.columnKeys[collection.column], change)
      tableEditor.touches?.note(key)
    }
    if _slowPath(!linkSearches.isEmpty || !collectionLogs.isEmpty) {
      follow(tableEditor.table.index, collection, change)
    }
  }

  /// Tells those who follow the collection of a change of it.
  @inline(never)
  private func follow(
    _ table: Int, _ collection: CollectionEditor, _ change: (inout ElementChanges) -> Void
  ) {
    let place = LinkCollection(
      table: table, column: collection.column, origin: ObjectKey(rawValue: collection.key))
    let (search, log) = (linkSearches[place], collectionLogs[place])
    if search == nil, log == nil { return }
    var changes = ElementChanges()
    change(&changes)
    search?.follow(changes, collection.reader)
    log?.note(changes, collection.reader)
  }
}
