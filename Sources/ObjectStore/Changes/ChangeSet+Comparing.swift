// What differs between two versions, found by comparing them: for spans that nobody recorded. Equal
// references are equal subtrees, so only what differs is looked at. Values that were assigned
// again, and moves inside of collections, cannot be told this way: only differing content is
// reported.
package import Storage
internal import Trees

extension ChangeSet {
  /// What differs between two versions of a file.
  ///
  /// - Precondition: both snapshots live.
  /// - Complexity: O(blocks that differ).
  package static func between(_ old: Snapshot, _ new: Snapshot) -> ChangeSet {
    let oldSchema = StoredSchema.loadOrStop(old.reader, root: old.root)
    let newSchema = StoredSchema.loadOrStop(new.reader, root: new.root, reusing: oldSchema)
    return between((old.reader, old.root, oldSchema), (new.reader, new.root, newSchema))
  }

  /// One of two versions to compare.
  package typealias Side = (reader: BlockReader, root: BlockReference, schema: StoredSchema)

  /// What differs between two versions whose schemas are known.
  package static func between(_ old: Side, _ new: Side) -> ChangeSet {
    var result = ChangeSet()
    var oldTables: [UInt64: StoredTable] = [:]
    for table in old.schema.tables { oldTables[table.tableKey] = table }
    for table in new.schema.tables {
      let reader = TableReader(reader: new.reader, root: new.root, table: table)
      guard let oldTable = oldTables[table.tableKey] else {
        var changes = TableChanges()
        changes.firstNewKey = ObjectKey(rawValue: 0)
        if reader.count > 0 { result.tables[table.tableKey] = changes }
        continue
      }
      let comparison = TableComparison(
        old: TableReader(reader: old.reader, root: old.root, table: oldTable), oldTable,
        new: reader, table)
      let changes = comparison.changes()
      if !changes.isEmpty { result.tables[table.tableKey] = changes }
    }
    return result
  }
}

extension ChangeSet {
  /// What differs in some tables of two versions with the same schema, if that is little.
  ///
  /// Of collections only is told that they differ.
  ///
  /// - Parameters:
  ///   - tables: their indexes.
  ///   - clustersMax: in more clusters nothing is compared.
  /// - Returns: nil when more differs.
  package static func little(
    between old: Snapshot, _ new: Snapshot, _ schema: StoredSchema, tables: Set<Int>,
    clustersMax: Int
  ) -> ChangeSet? {
    var result = ChangeSet()
    var left = clustersMax
    for index in tables {
      let table = schema.tables[index]
      let comparison = TableComparison(
        old: TableReader(reader: old.reader, root: old.root, table: table), table,
        new: TableReader(reader: new.reader, root: new.root, table: table), table,
        comparesCollections: false)
      guard let changes = comparison.changes(clustersLeft: &left) else { return nil }
      if !changes.isEmpty { result.tables[table.tableKey] = changes }
    }
    return result
  }
}

extension TableReader {
  /// What happened in a collection since an older version, by its content.
  ///
  /// - Parameters:
  ///   - key: an object that is in both versions.
  ///   - columns: where the collection is in both versions.
  package func elementChanges(
    since old: TableReader, _ key: ObjectKey, columns: (old: Int, new: Int), _ kind: CollectionKind
  ) -> ElementChanges {
    guard let before = old.locate(key), let after = locate(key) else { return ElementChanges() }
    if kind == .map {
      return .ofSorted(
        old.mapKeys(before, columns.old), mapKeys(after, columns.new),
        values: (old.mapValues(before, columns.old), mapValues(after, columns.new)))
    }
    return .between(old.elements(before, columns.old), elements(after, columns.new), kind)
  }
}

/// The comparison of one table's two versions.
private struct TableComparison {
  private let old: TableReader
  private let new: TableReader
  /// Columns that both have.
  private let columns: [Column]
  private let comparesCollections: Bool

  /// A column in both versions.
  private struct Column {
    let key: UInt64
    let old: Int
    let new: Int
    let isPacked: Bool
    let collection: CollectionKind
  }

  init(
    old: TableReader, _ oldTable: StoredTable, new: TableReader, _ newTable: StoredTable,
    comparesCollections: Bool = true
  ) {
    self.comparesCollections = comparesCollections
    self.old = old
    self.new = new
    columns = newTable.columnKeys.indices.compactMap { index in
      let key = newTable.columnKeys[index]
      guard let before = oldTable.columnKeys.firstIndex(of: key) else { return nil }
      let column = newTable.schema.columns[index]
      return Column(
        key: key, old: before, new: index, isPacked: column.type.isPacked,
        collection: column.collection)
    }
  }

  func changes() -> TableChanges {
    var unbounded = Int.max
    // There is no bound that could be passed.
    return changes(clustersLeft: &unbounded)!
  }

  /// - Parameter left: how many clusters may differ; less those that do.
  /// - Returns: nil when more do.
  func changes(clustersLeft left: inout Int) -> TableChanges? {
    var changes = TableChanges()
    if new.nextKey > old.nextKey { changes.firstNewKey = ObjectKey(rawValue: old.nextKey) }
    if new.count == 0 {
      changes.isCleared = old.count > 0
      return changes
    }
    var clusters = left
    ClusterTree.forEachDifference(old.tree, new.tree) { number, before, after in
      clusters -= 1
      if clusters < 0 { return }
      compare(ObjectKey(rawValue: Int64(number) << Cluster.slotBits), before, after, &changes)
    }
    left = clusters
    return clusters < 0 ? nil : changes
  }

  /// One cluster.
  ///
  /// - Parameter first: the key of its slot 0.
  private func compare(
    _ first: ObjectKey, _ before: UnsafeRawPointer, _ after: UnsafeRawPointer?,
    _ changes: inout TableChanges
  ) {
    var rows: [(slot: Int, old: Int, new: Int)] = []
    var isAligned = true
    for row in 0..<Cluster.rows(before) {
      let slot = Cluster.slot(before, row: row)
      if let after, let newRow = Cluster.row(after, slot: slot) {
        rows.append((slot, row, newRow))
        isAligned = isAligned && newRow == row
      } else {
        changes.deleted.append(ObjectKey(rawValue: first.rawValue + Int64(slot)))
      }
    }
    guard let after else { return }
    for column in columns {
      let left = Cluster.column(before, column.old)
      let right = Cluster.column(after, column.new)
      if left == right && (isAligned || left.isNone) { continue }
      for (slot, oldRow, newRow) in rows {
        let key = ObjectKey(rawValue: first.rawValue + Int64(slot))
        compare(
          key, column, RowLocation(cluster: before, row: oldRow),
          RowLocation(cluster: after, row: newRow), &changes)
      }
    }
  }

  private func compare(
    _ key: ObjectKey, _ column: Column, _ before: RowLocation, _ after: RowLocation,
    _ changes: inout TableChanges
  ) {
    if column.collection != .none {
      if old.cell(before, column.old) == new.cell(after, column.new) { return }
      let place = CollectionPlace(key, column.key)
      if comparesCollections {
        let elements = new.elementChanges(
          since: old, key, columns: (column.old, column.new), column.collection)
        if elements.isEmpty { return }
        changes.collections[place] = .elements(elements)
      } else {
        changes.collections[place] = .many
      }
    } else if isEqual(column, before, after) {
      return
    }
    changes.modified[key, default: ColumnSet()].insert(column.key)
  }

  private func isEqual(_ column: Column, _ before: RowLocation, _ after: RowLocation) -> Bool {
    if column.isPacked {
      let isNull = old.isNull(before, column.old)
      return isNull == new.isNull(after, column.new)
        && (isNull || old.integer(before, column.old) == new.integer(after, column.new))
    }
    return old.withBytes(before, column.old) { first in
      new.withBytes(after, column.new) { second in
        guard let first, let second else { return first == nil && second == nil }
        return first.compare(to: second) == 0
      }
    }
  }
}
