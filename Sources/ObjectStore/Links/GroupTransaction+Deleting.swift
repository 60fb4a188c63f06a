// What a deletion takes with it: links to the object become null or go, its own links leave the
// trees of links, the embedded objects that it owns are deleted, its values leave the indexes.
internal import Trees

extension GroupTransaction {
  /// Removes an object of a table with links or indexes, or that can be linked to.
  ///
  /// - Returns: whether it was there.
  func deleteWithLinks(_ table: StoredTable, _ key: ObjectKey) -> Bool {
    let isThere = deleteObject(table.index, key)
    deleteOrphans()
    return isThere
  }

  /// Removes several objects; keys of none are passed over.
  ///
  /// A list or map that links to many of them is gone through once.
  package func delete(_ table: StoredTable, _ keys: [ObjectKey]) {
    if schema.isPlain(table) { return deletePlain(table, keys) }
    if keys.count == 1 {
      _ = delete(table, keys[0])
      return
    }
    lateLinks = []
    forEachPrefetched(table, keys) { deleteObject(table.index, $0) }
    deleteOrphans()
    removeLateLinks()
  }

  /// The same of objects without links and indexes: those of one cluster together.
  private func deletePlain(_ table: StoredTable, _ keys: [ObjectKey]) {
    if keys.isEmpty { return }
    closeCollection()
    noteChange(table.index)
    withTable(table) { tableEditor in
      let keys = Self.distinct(keys)
      var start = 0
      while start < keys.count {
        let cluster = keys[start].rawValue >> Cluster.slotBits
        let end =
          keys[start...].firstIndex { $0.rawValue >> Cluster.slotBits != cluster } ?? keys.count
        deletePlain(tableEditor, keys[start..<end])
        start = end
      }
    }
  }

  /// - Parameter keys: of one cluster, ascending.
  private func deletePlain(_ tableEditor: TableEditor, _ keys: ArraySlice<ObjectKey>) {
    let table = tableEditor.table
    if table.keyColumn >= 0, keys.count > 1 { tableEditor.prefetchIndex(keys) }
    var present: [Int64] = []
    present.reserveCapacity(keys.count)
    for key in keys {
      // The tree stays while only the index changes.
      guard let location = tableEditor.lookup.locate(key) else { continue }
      if table.keyColumn >= 0 { tableEditor.removeFromIndex(key, at: location) }
      present.append(key.rawValue)
      noteDeleted(tableEditor, key)
    }
    tableEditor.tree.delete(
      together: present, columns: table.layouts, keyColumn: table.keyColumn)
  }

  /// So many objects' places in the primary key index are loaded together, since they lie anywhere.
  private static let prefetchedKeys = 16

  /// Runs `body` on each key of an object to be deleted.
  private func forEachPrefetched(
    _ table: StoredTable, _ keys: [ObjectKey], _ body: (ObjectKey) -> Void
  ) {
    for start in stride(from: 0, to: keys.count, by: Self.prefetchedKeys) {
      let part = keys[start..<min(start + Self.prefetchedKeys, keys.count)]
      if table.keyColumn >= 0, part.count > 1 { withTable(table) { $0.prefetchIndex(part) } }
      for key in part { body(key) }
    }
  }

  /// Removes one object; what it owned is in `orphans` then.
  @discardableResult
  func deleteObject(_ index: Int, _ key: ObjectKey) -> Bool {
    let table = schema.tables[index]
    guard withTable(table, { $0.lookup.locate(key) != nil }) else { return false }
    closeCollection()
    noteChange(index)
    for place in schema.incoming[index] {
      nullify(place, key.rawValue...key.rawValue)
    }
    if !schema.anyColumns.isEmpty {
      let packed = AnyCoding.packed(tableKey: table.tableKey, key)
      for place in schema.anyColumns { nullify(place, packed...packed) }
    }
    closeCollection()
    withTable(table) { tableEditor in
      // Good until the tree changes: before that only trees of pairs and the hash index do.
      let location = tableEditor.lookup.locate(key)!
      removeOutgoing(tableEditor, key, location)
      for column in table.indexedColumns {
        let order = tableEditor.lookup.order(location, column)
        tableEditor.changePairs(column, .index) { _ = $0.remove(Pair(order, key.rawValue)) }
      }
      if table.keyColumn >= 0 { tableEditor.removeFromIndex(key, at: location) }
      _ = tableEditor.tree.delete(
        key.rawValue, columns: table.layouts, keyColumn: table.keyColumn)
      noteDeleted(tableEditor, key)
    }
    return true
  }

  /// Takes back all links of an object.
  private func removeOutgoing(
    _ tableEditor: TableEditor, _ key: ObjectKey, _ location: RowLocation
  ) {
    let table = tableEditor.table
    if table.linkColumns.isEmpty { return }
    // Only trees of pairs change below.
    let lookup = tableEditor.lookup
    for column in table.linkColumns {
      switch table.schema.columns[column].collection {
      case .none:
        if table.traits[column].isLink {
          if let target = lookup.link(location, column) {
            removeLinks(tableEditor, column, key, .link(target))
          }
        } else {
          lookup.withBytes(location, column) { bytes in
            if let bytes { removeLinks(tableEditor, column, key, .bytes(bytes)) }
          }
        }
      case .list, .set:
        let elements = lookup.elements(location, column)
        removeLinks(tableEditor, column, key, elements, 0..<elements.count)
      case .map:
        let values = lookup.mapValues(location, column)
        removeLinks(tableEditor, column, key, values, 0..<values.count)
      }
    }
  }

  /// Prepares a table for losing all its objects at once.
  func detachAll(_ table: StoredTable) {
    for place in schema.incoming[table.index] where place.table != table.index {
      nullify(place, 0...Int64.max)
    }
    for place in schema.anyColumns where place.table != table.index {
      nullify(place, AnyCoding.packed(tableKey: table.tableKey))
    }
    closeCollection()
    withTable(table) { tableEditor in
      for column in table.linkColumns {
        if let embedded = schema.embeddedTarget(table.index, column) {
          tableEditor.lookup.pairTree(column, .links).forEach { pair in
            orphans.append((embedded, ObjectKey(rawValue: pair.first)))
            return true
          }
        }
        tableEditor.changePairs(column, .links) { $0.removeAll() }
      }
      for column in table.indexedColumns {
        tableEditor.changePairs(column, .index) { $0.removeAll() }
      }
    }
  }

  // MARK: - Links to what is deleted

  /// So many pairs of an object are removed one by one, which needs no look for their positions.
  private static let pairsOneByOne = 8

  /// Makes the links of a column that lead to some targets null, or takes them out of lists and
  /// sets.
  ///
  /// - Parameter targets: as they are entered in the column's tree of links.
  private func nullify(_ place: LinkColumn, _ targets: ClosedRange<Int64>) {
    let table = schema.tables[place.table]
    let column = place.column
    let pairs = withTable(table) { tableEditor -> [Pair] in
      var pairs: [Pair] = []
      tableEditor.lookup.pairTree(column, .links).forEach(from: Pair(targets.lowerBound, .min)) {
        guard $0.first <= targets.upperBound else { return false }
        pairs.append($0)
        return true
      }
      if pairs.isEmpty { return pairs }
      tableEditor.changePairs(column, .links) { editor in
        if pairs.count > Self.pairsOneByOne {
          editor.removeAll(firsts: targets)
        } else {
          for pair in pairs { editor.remove(pair) }
        }
      }
      return pairs
    }
    if pairs.isEmpty { return }
    noteChange(place.table)
    if targets.lowerBound != targets.upperBound {
      // An origin comes several times; the first time all its links go.
      for origin in Self.distinct(pairs.map { ObjectKey(rawValue: $0.second) }) {
        nullify(place, table, origin, targets, maximum: .max)
      }
      return
    }
    // The pairs of an origin are neighbours.
    var start = 0
    while start < pairs.count {
      let origin = pairs[start].second
      var end = start + 1
      while end < pairs.count, pairs[end].second == origin { end += 1 }
      nullify(place, table, ObjectKey(rawValue: origin), targets, maximum: end - start)
      start = end
    }
  }

  /// The same for the links of one object.
  private func nullify(
    _ place: LinkColumn, _ table: StoredTable, _ origin: ObjectKey, _ targets: ClosedRange<Int64>,
    maximum: Int
  ) {
    if lateLinks != nil, nullifyLater(place, origin, targets, maximum: maximum) { return }
    if table.traits[place.column].isAny {
      nullifyAny(table, origin, place.column, where: targets.contains) { reader in
        if targets.lowerBound != targets.upperBound {
          return LinkSearch.look(in: reader, where: targets.contains)
        }
        return self.positions(
          LinkCollection(table: table.index, column: place.column, origin: origin),
          of: targets.lowerBound, in: reader, maximum: maximum, isMixed: true)
      }
    } else {
      nullifyLinks(table, origin, place.column, targets, maximum: maximum)
    }
  }

  /// The same keys in ascending order, each once.
  ///
  /// Most often they ascend already: objects link to those that were made with them.
  private static func distinct(_ keys: [ObjectKey]) -> [ObjectKey] {
    var sorted = keys
    sorted.sort()
    var last: ObjectKey?
    sorted.removeAll { key in
      defer { last = key }
      return key == last
    }
    return sorted
  }

  /// - Parameter maximum: so many links to the targets are in the collection, which is searched no
  ///   further.
  private func nullifyLinks(
    _ table: StoredTable, _ origin: ObjectKey, _ column: Int, _ targets: ClosedRange<Int64>,
    maximum: Int
  ) {
    let collection = table.schema.columns[column].collection
    if collection == .none {
      withTable(table) { tableEditor in
        storeInteger(tableEditor, origin, column, nil, true)
        noteModified(tableEditor, origin, column)
      }
      return
    }
    if targets.lowerBound != targets.upperBound, collection != .map {
      // The whole target table goes.
      withCollection(table, origin, column) { tableEditor, opened in
        let count = opened.elements.count
        opened.elements.removeAll()
        if count > 0 { noteElements(tableEditor, opened) { $0.remove(0..<count) } }
      }
      return
    }
    nullifyElements(table, origin, column) { reader in
      if targets.lowerBound != targets.upperBound {
        return (0..<reader.count).filter { !reader.isNull(at: $0) }
      }
      if collection == .set {
        let link = ElementValue.link(ObjectKey(rawValue: targets.lowerBound))
        return reader.position(of: link, sorted: true).map { [$0] } ?? []
      }
      return self.positions(
        LinkCollection(table: table.index, column: column, origin: origin),
        of: targets.lowerBound, in: reader, maximum: maximum, isMixed: false)
    }
  }

  /// Takes elements out of a list or set, or makes values of a map null.
  ///
  /// - Parameter positions: finds them, in ascending order.
  private func nullifyElements(
    _ table: StoredTable, _ origin: ObjectKey, _ column: Int,
    _ positions: (ElementReader) -> [Int]
  ) {
    let isMap = table.schema.columns[column].collection == .map
    withCollection(table, origin, column) { tableEditor, opened in
      for position in positions(opened.reader).reversed() {
        if isMap {
          opened.set(.null, at: position)
          noteElements(tableEditor, opened) { $0.modify(at: position) }
        } else {
          opened.elements.remove(at: position)
          noteElements(tableEditor, opened) { $0.remove(position..<position + 1) }
        }
      }
    }
  }

  // MARK: - Links of lists and maps, together

  /// Puts off taking a link out of a list, a map, or what has mixed values; false for all others.
  private func nullifyLater(
    _ place: LinkColumn, _ origin: ObjectKey, _ targets: ClosedRange<Int64>, maximum: Int
  ) -> Bool {
    let column = schema.tables[place.table].schema.columns[place.column]
    guard targets.lowerBound == targets.upperBound,
      column.type == .any || column.collection == .list || column.collection == .map
    else { return false }
    let collection = LinkCollection(table: place.table, column: place.column, origin: origin)
    lateLinks!.append(
      LateLink(collection: collection, target: targets.lowerBound, count: maximum))
    return true
  }

  private func removeLateLinks() {
    var late = lateLinks ?? []
    lateLinks = nil
    late.sort()
    var start = 0
    while start < late.count {
      let collection = late[start].collection
      let end = late[start...].firstIndex { $0.collection != collection } ?? late.count
      removeLateLinks(of: collection, late[start..<end])
      start = end
    }
    closeCollection()
  }

  private func removeLateLinks(of collection: LinkCollection, _ late: ArraySlice<LateLink>) {
    let table = schema.tables[collection.table]
    // The origin may be among the deleted.
    guard withTable(table, { $0.lookup.locate(collection.origin) != nil }) else { return }
    // Most collections lose few of their links, and a set costs more than all else.
    let many = late.count > 8 ? Set(late.map(\.target)) : nil
    let isGone: (Int64) -> Bool = { target in
      many?.contains(target) ?? late.contains { $0.target == target }
    }
    if table.traits[collection.column].isAny {
      nullifyAny(table, collection.origin, collection.column, where: isGone) { reader in
        self.positions(collection, of: late, in: reader, isMixed: true, where: isGone)
      }
    } else {
      nullifyElements(table, collection.origin, collection.column) { reader in
        self.positions(collection, of: late, in: reader, isMixed: false, where: isGone)
      }
    }
  }

  // MARK: - Mixed values

  /// Makes links in a mixed value null; takes elements with such links out of a set, and makes the
  /// links in those of a list or map null.
  ///
  /// - Parameters:
  ///   - isGone: whether a link is meant, as it is entered in the column's tree of links.
  ///   - positions: finds the elements with such links, in ascending order.
  private func nullifyAny(
    _ table: StoredTable, _ origin: ObjectKey, _ column: Int,
    where isGone: (_ packed: Int64) -> Bool, at positions: (ElementReader) -> [Int]
  ) {
    let collection = table.schema.columns[column].collection
    if collection == .none {
      withTable(table) { tableEditor in
        let lookup = tableEditor.lookup
        guard let location = lookup.locate(origin) else { stopForMissing(tableEditor, origin) }
        let changed = lookup.withBytes(location, column) { bytes in
          bytes.flatMap { AnyCoding.nullified($0, where: isGone) }
        }
        storeIndexed(tableEditor, origin, column, changed)
        noteModified(tableEditor, origin, column)
      }
      return
    }
    withCollection(table, origin, column) { tableEditor, opened in
      var changes: [(position: Int, value: [UInt8]?)] = []
      let reader = opened.reader
      for position in positions(reader) {
        reader.forEach(from: position) { position, value in
          guard case .bytes(let bytes) = value, AnyCoding.hasLink(bytes, where: isGone) else {
            return false
          }
          if collection == .set {
            // It goes with the other links in it; those that are gone have been taken back.
            removeLinks(tableEditor, column, origin, value)
          }
          changes.append((position, AnyCoding.nullified(bytes, where: isGone)))
          return false
        }
      }
      for change in changes.reversed() {
        if collection == .set {
          opened.elements.remove(at: change.position)
          noteElements(tableEditor, opened) { $0.remove(change.position..<change.position + 1) }
          continue
        }
        if let value = change.value {
          value.withUnsafeBytes { opened.set(.bytes($0), at: change.position) }
        } else {
          opened.set(.null, at: change.position)
        }
        noteElements(tableEditor, opened) { $0.modify(at: change.position) }
      }
    }
  }
}

/// Links to a deleted object that a list or map, or a mixed value, still has.
struct LateLink: Comparable {
  let collection: LinkCollection
  /// As it is entered in the column's tree of links.
  let target: Int64
  /// How many there are.
  let count: Int

  static func < (left: LateLink, right: LateLink) -> Bool {
    left.collection != right.collection
      ? left.collection < right.collection : left.target < right.target
  }
}

/// A list, set or map with links of one object; also a column with a mixed value.
struct LinkCollection: Hashable, Comparable {
  let table: Int
  let column: Int
  let origin: ObjectKey

  static func < (left: LinkCollection, right: LinkCollection) -> Bool {
    (left.table, left.column, left.origin) < (right.table, right.column, right.origin)
  }
}
