// What differs between two versions of a file, by object and column. Made by the transaction that
// changed it (TableRecorder), by composing the sets of several transactions, or by comparing two
// versions (ChangeSet+Comparing). Immutable values that any thread may read.

/// What differs between two versions.
package struct ChangeSet: Sendable {
  /// By table key.
  ///
  /// Tables without changes need not be in here.
  package internal(set) var tables: [UInt64: TableChanges] = [:]

  package init() {}

  package var isEmpty: Bool { tables.values.allSatisfy(\.isEmpty) }

  /// What the set takes to keep, in notes of some ten bytes.
  var notes: Int {
    tables.values.reduce(1) { sum, table in
      table.collections.values.reduce(sum + table.deleted.count + table.modified.count) {
        guard case .elements(let changes) = $1 else { return $0 + 1 }
        return $0 + changes.runs.count
      }
    }
  }

  /// The changes of a table; nil when there are none.
  package subscript(table: StoredTable) -> TableChanges? { tables[table.tableKey] }

  /// Adds what happened after these changes.
  ///
  /// - Complexity: O(size of `later`) and the sorting of deletions.
  package mutating func merge(_ later: ChangeSet) { merge(CollectionOfOne(later)) }

  /// Adds what happened after these changes, one set after the other.
  ///
  /// - Complexity: O(size of all sets) and one sorting of deletions, however many sets there are.
  package mutating func merge(_ later: some Sequence<ChangeSet>) {
    var unsorted: Set<UInt64> = []
    for set in later {
      for (key, changes) in set.tables {
        if tables[key, default: TableChanges()].add(changes) { unsorted.insert(key) }
      }
    }
    for key in unsorted { tables[key]!.deleted.sort() }
  }
}

/// What differs in one table.
package struct TableChanges: Sendable {
  /// The key that the next new object was to get in the older version.
  ///
  /// Keys are never reused, so the objects of the newer version from here on, and only they, are
  /// new.
  package internal(set) var firstNewKey = ObjectKey(rawValue: .max)
  /// Whether all objects of the older version are gone.
  package internal(set) var isCleared = false
  /// The other objects of the older version that are gone, ascending.
  package internal(set) var deleted: [ObjectKey] = []
  /// Objects of both versions, with the columns that were assigned or whose collections were
  /// changed.
  package internal(set) var modified: [ObjectKey: ColumnSet] = [:]
  /// What happened in the collections among these columns.
  package internal(set) var collections: [CollectionPlace: CollectionChanges] = [:]

  package init() {}

  package var isEmpty: Bool {
    firstNewKey.rawValue == .max && !isCleared && deleted.isEmpty && modified.isEmpty
  }

  /// Whether an object of the newer version is new.
  package func isNew(_ key: ObjectKey) -> Bool { key >= firstNewKey }

  /// Whether an object of the older version is gone.
  package func isDeleted(_ key: ObjectKey) -> Bool {
    if key >= firstNewKey { return false }
    if isCleared { return true }
    var low = 0
    var high = deleted.count
    while low < high {
      let middle = (low + high) / 2
      if deleted[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < deleted.count && deleted[low] == key
  }

  /// Adds what happened after these changes.
  ///
  /// - Returns: whether deletions were added, which have to be sorted.
  fileprivate mutating func add(_ later: TableChanges) -> Bool {
    let firstNew = min(firstNewKey, later.firstNewKey)
    let known = firstNewKey
    defer { firstNewKey = firstNew }
    if later.isCleared {
      isCleared = true
      deleted = []
      modified = [:]
      collections = [:]
    }
    for (key, columns) in later.modified where key < known {
      modified[key, default: ColumnSet()].formUnion(columns)
    }
    for (place, changes) in later.collections where place.object < known {
      collections[place, default: .elements(ElementChanges())].merge(changes)
    }
    if later.isCleared || isCleared || later.deleted.isEmpty { return false }
    let gone = later.deleted.filter { $0 < known }
    if gone.isEmpty { return false }
    deleted += gone
    forget(gone)
    return true
  }

  /// Drops what was noted of objects that are gone.
  mutating func forget(_ gone: [ObjectKey]) {
    for key in gone {
      // The columns of changed collections are among the modified ones.
      guard let columns = modified.removeValue(forKey: key), !collections.isEmpty else { continue }
      columns.forEach { collections[CollectionPlace(key, $0)] = nil }
    }
  }
}

/// A collection of an object.
package struct CollectionPlace: Hashable, Sendable {
  package let object: ObjectKey
  /// Key of the column.
  package let column: UInt64

  package init(_ object: ObjectKey, _ column: UInt64) {
    self.object = object
    self.column = column
  }
}

/// What happened in a collection.
package enum CollectionChanges: Hashable, Sendable {
  case elements(ElementChanges)
  /// So much that it was not kept: the elements of both versions have to be compared.
  case many

  /// More runs than this are not kept: noting and composing them would take longer than comparing.
  static let runsMax = 1024

  mutating func merge(_ later: CollectionChanges) {
    guard case .elements(var changes) = self, case .elements(let more) = later else {
      self = .many
      return
    }
    changes.merge(more)
    self = changes.runs.count > Self.runsMax ? .many : .elements(changes)
  }
}
