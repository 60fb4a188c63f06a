// Which objects of a table a running transaction touches, one after the other, for those who look
// at the table again and again meanwhile: they have to look only at what was touched since.
internal import Trees

/// Keys of touched objects of one table, in order, an object perhaps several times.
///
/// Belongs to one TableEditor.
final class TouchLog {
  /// More are not kept: who has not asked for so long looks at the whole table.
  private static let keysMax = 65_536

  // Unchecked exclusivity: as the GroupTransaction that owns the table's editor.
  @exclusivity(unchecked) fileprivate private(set) var keys: [Int64] = []
  /// How often earlier keys were dropped.
  @exclusivity(unchecked) fileprivate private(set) var round = 0
  /// The key that was noted last, unless a place was marked behind it.
  @exclusivity(unchecked) private var last: Int64?

  func note(_ key: ObjectKey) {
    // Most often one object is changed several times in a row.
    if last == key.rawValue { return }
    if keys.count == Self.keysMax { drop() }
    keys.append(key.rawValue)
    last = key.rawValue
  }

  /// The place behind all that was noted; what is touched next is noted behind it.
  fileprivate func mark() -> Int {
    last = nil
    return keys.count
  }

  /// Forgets all: more was touched than is noted.
  func drop() {
    keys = []
    round += 1
    last = nil
  }
}

/// A place in the log of a table.
package struct TouchMark {
  fileprivate let round: Int
  fileprivate let count: Int
  /// The key of the next new object.
  package let nextKey: Int64
}

extension GroupTransaction {
  /// Begins to note which objects are touched, unless that has begun.
  ///
  /// That touches nothing.
  package func touchMark(_ table: StoredTable) -> TouchMark {
    if !hasTouched(table) {
      tablesToNote.insert(table.index)
      return TouchMark(round: 0, count: 0, nextKey: reader(table).nextKey)
    }
    return withTable(table) { tableEditor in
      let log = tableEditor.touches ?? TouchLog()
      tableEditor.touches = log
      return TouchMark(
        round: log.round, count: log.mark(), nextKey: tableEditor.tree.shape.nextKey)
    }
  }

  /// The objects that were changed or deleted since a mark, without those that came after it; nil
  /// when that is not known.
  package func touched(_ table: StoredTable, since mark: TouchMark) -> ArraySlice<Int64>? {
    if !hasTouched(table) { return [] }
    return withTable(table) { tableEditor in
      guard let log = tableEditor.touches, log.round == mark.round, log.keys.count >= mark.count
      else { return nil }
      return log.keys[mark.count...]
    }
  }

  /// Whether the transaction has touched a table.
  package func hasTouched(_ table: StoredTable) -> Bool { tables[table.index] != nil }
}
