// The objects that new properties begin with. They are there before the migration block runs, which
// may say that a property is no new one but has another name: then nobody needs them.
internal import ObjectStore

/// The objects that a migration has added as values of new properties.
struct DefaultObjects {
  /// A property that objects were given a value of.
  private struct Filling {
    let className: String
    let columnName: String
    /// By class: the key of the next new object, before and after.
    let before: [String: Int64]
    var after: [String: Int64] = [:]
  }

  private var fillings: [Filling] = []

  /// Notes that objects are about to be given their values of a property, and no more of the one
  /// before.
  mutating func willFill(_ className: String, _ columnName: String, _ group: GroupTransaction) {
    didFill(group)
    fillings.append(
      Filling(className: className, columnName: columnName, before: Self.nextKeys(group)))
  }

  /// Notes that objects have their values of all properties.
  mutating func didFill(_ group: GroupTransaction) {
    if fillings.isEmpty { return }
    fillings[fillings.count - 1].after = Self.nextKeys(group)
  }

  private static func nextKeys(_ group: GroupTransaction) -> [String: Int64] {
    var keys: [String: Int64] = [:]
    for table in group.schema.tables {
      let nextKey: Int64 = group.reader(table).nextKey
      keys[table.schema.name] = nextKey
    }
    return keys
  }

  /// Deletes the objects that were added for a property and that nobody links to, after its column
  /// was removed.
  func deleteUnlinked(_ className: String, _ columnName: String, _ group: GroupTransaction) {
    let filling = fillings.first {
      $0.className == className && $0.columnName == columnName
    }
    guard let filling else { return }
    // One of them may have been all that linked to another.
    var isDone = false
    while !isDone {
      isDone = true
      for table in group.schema.tables where !table.schema.isEmbedded {
        guard let first = filling.before[table.schema.name],
          let end = filling.after[table.schema.name], first < end
        else { continue }
        let unlinked = (first..<end).map { ObjectKey(rawValue: $0) }.filter { key in
          group.contains(table, key) && !Self.isLinked(table, key, group)
        }
        if unlinked.isEmpty { continue }
        group.delete(table, unlinked)
        isDone = false
      }
    }
  }

  private static func isLinked(
    _ table: StoredTable, _ key: ObjectKey, _ group: GroupTransaction
  ) -> Bool {
    group.schema.linkColumns(to: table.index).contains { place in
      group.reader(group.schema.tables[place.table])
        .backlinks(place.column, key, in: table).count > 0
    }
  }
}
