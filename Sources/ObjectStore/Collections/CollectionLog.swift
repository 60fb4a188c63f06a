// What a running transaction does to the elements of single lists, sets and maps, one edit after
// the other, for those who look at them again and again meanwhile. TouchLog tells the same of the
// objects of a table.
internal import Trees

/// One edit of a collection.
///
/// The position is that among the elements after the edits before it.
package enum CollectionEdit {
  case removed(at: Int)
  /// With the object that the element links to; nil for none, and for values.
  case inserted(at: Int, ObjectKey?)
  /// As above.
  case assigned(at: Int, ObjectKey?)
}

/// The edits of one collection.
///
/// Belongs to one GroupTransaction.
final class CollectionLog {
  /// More are not kept: who has not asked for so long looks at the whole collection.
  private static let editsMax = 65_536
  /// The same of elements that are edited at once.
  private static let editedMax = 1_024

  // Unchecked exclusivity: as the GroupTransaction.
  @exclusivity(unchecked) fileprivate private(set) var edits: [CollectionEdit] = []
  /// How often earlier ones were dropped.
  @exclusivity(unchecked) fileprivate private(set) var round: Int

  /// - Parameter round: none that another log of the collection had.
  fileprivate init(round: Int) { self.round = round }

  /// - Parameter elements: as they are after the changes.
  func note(_ changes: ElementChanges, _ elements: ElementReader) {
    var edited = 0
    changes.forEach { kind, _, _, count in if kind != .kept { edited += count } }
    if edited > Self.editedMax || edits.count + edited > Self.editsMax { return drop() }
    // What comes before a place is there already as it is afterwards.
    changes.forEach { kind, _, position, count in
      switch kind {
      case .kept: break
      case .deleted: edits += repeatElement(.removed(at: position), count: count)
      case .inserted, .modified:
        elements.forEach(from: position) { index, value in
          if index == position + count { return false }
          var link: ObjectKey?
          if case .link(let key) = value { link = key }
          edits.append(kind == .inserted ? .inserted(at: index, link) : .assigned(at: index, link))
          return true
        }
      }
    }
  }

  private func drop() { (edits, round) = ([], round + 1) }
}

/// A place in the log of a collection.
package struct CollectionMark {
  fileprivate let round: Int
  fileprivate let count: Int
}

extension GroupTransaction {
  /// So many collections are noted at a time.
  private static let collectionLogsMax = 64

  /// The place behind all edits of a list, set or map; they are noted from now on.
  package func collectionMark(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int
  ) -> CollectionMark {
    let place = LinkCollection(table: table.index, column: column, origin: key)
    if collectionLogs[place] == nil {
      if collectionLogs.count == Self.collectionLogsMax { collectionLogs = [:] }
      collectionLogs[place] = CollectionLog(round: collectionRound)
      // No log drops its edits so often.
      collectionRound += 1 << 32
    }
    let log = collectionLogs[place]!
    return CollectionMark(round: log.round, count: log.edits.count)
  }

  /// The edits since a mark; nil when they are not known.
  package func collectionEdits(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, since mark: CollectionMark
  ) -> ArraySlice<CollectionEdit>? {
    let place = LinkCollection(table: table.index, column: column, origin: key)
    guard let log = collectionLogs[place], log.round == mark.round else { return nil }
    return log.edits[mark.count...]
  }
}
