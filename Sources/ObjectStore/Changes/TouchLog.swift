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

// MARK: - Who is linked to

extension GroupTransaction {
  /// Begins to note to which objects the links of a column lead that come or go, unless that has
  /// begun.
  ///
  /// - Parameter table: that of the links.
  package func linkMark(_ table: StoredTable, _ column: Int) -> TouchMark {
    if !hasTouched(table) {
      linksToNote[table.index, default: []].insert(column)
      return TouchMark(round: 0, count: 0, nextKey: 0)
    }
    return withTable(table) { tableEditor in
      let log = tableEditor.linkLogs[column] ?? TouchLog()
      tableEditor.linkLogs[column] = log
      return TouchMark(round: log.round, count: log.mark(), nextKey: 0)
    }
  }

  /// The objects to which links of a column lead, or led, that have come or gone since a mark; nil
  /// when that is not known.
  ///
  /// Objects that were deleted need not be among them.
  package func linkTargets(
    _ table: StoredTable, _ column: Int, since mark: TouchMark
  ) -> ArraySlice<Int64>? {
    if !hasTouched(table) { return [] }
    return withTable(table) { tableEditor in
      guard let log = tableEditor.linkLogs[column], log.round == mark.round,
        log.keys.count >= mark.count
      else { return nil }
      return log.keys[mark.count...]
    }
  }
}

extension TableEditor {
  /// Notes that a link of a column to an object has come or gone.
  @inline(__always)
  func noteLink(_ column: Int, to target: ObjectKey) {
    if _slowPath(!linkLogs.isEmpty) { linkLogs[column]?.note(target) }
  }

  /// Forgets which links have come or gone.
  func dropLinkLogs() { for log in linkLogs.values { log.drop() } }
}
