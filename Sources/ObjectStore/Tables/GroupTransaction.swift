// Changes to tables inside one write transaction. Every change of an object passes through one of
// insert, setInteger, setBytes and delete: what records or observes changes belongs there. Nothing is
// written here; `finish` gives the root that Storage commits.
package import Storage
internal import Trees

#if PLANTED_BUGS
  internal import Platform
#endif

/// The object layer of a running write transaction.
package final class GroupTransaction {
  let editor: BlockEditor
  private let baseRoot: BlockReference
  package private(set) var schema: StoredSchema
  private var tables: [WorkingTable] = []
  private var isSchemaChanged = false
  private var nextTableKey: UInt64 = 1

  /// One table while it is changed.
  struct WorkingTable {
    var root: TableRoot
    var block: BlockReference
    var isChanged = false
    /// The cluster changed last, whose path is provisional.
    var recentCluster = BlockReference.none
    var recentFirstKey: Int64 = -1
  }

  /// - Parameter root: the group root on which the transaction builds.
  package init(_ editor: BlockEditor, root: BlockReference) {
    self.editor = editor
    baseRoot = root
    schema = StoredSchema.load(editor.reader, root: root)
    guard !root.isNone else { return }
    let group = editor.reader.pointer(root)
    nextTableKey = GroupRoot.nextTableKey(group)
    for table in schema.tables {
      let block = BlockHeader.reference(group, GroupRoot.firstTableSlot + table.index)
      tables.append(
        WorkingTable(root: TableRoot(editor.reader.pointer(block)), block: block))
    }
  }

  /// A transaction on a schema that is known already, which spares its decoding.
  package init(_ editor: BlockEditor, root: BlockReference, schema: StoredSchema) {
    self.editor = editor
    baseRoot = root
    self.schema = schema
    guard !root.isNone else { return }
    let group = editor.reader.pointer(root)
    nextTableKey = GroupRoot.nextTableKey(group)
    for table in schema.tables {
      let block = BlockHeader.reference(group, GroupRoot.firstTableSlot + table.index)
      tables.append(
        WorkingTable(root: TableRoot(editor.reader.pointer(block)), block: block))
    }
  }

  // MARK: - Schema

  /// Adds a table; its name must be new.
  package func createTable(_ table: TableSchema) {
    precondition(schema.table(named: table.name) == nil, "table \(table.name) exists")
    let stored = StoredTable(index: schema.tables.count, tableKey: nextTableKey, schema: table)
    nextTableKey += 1
    schema = StoredSchema(tables: schema.tables + [stored], schemaVersion: schema.schemaVersion)
    tables.append(WorkingTable(root: TableRoot(), block: .none, isChanged: true))
    isSchemaChanged = true
  }

  package func setSchemaVersion(_ version: UInt64) {
    guard version != schema.schemaVersion else { return }
    schema = StoredSchema(tables: schema.tables, schemaVersion: version)
    isSchemaChanged = true
  }

  // MARK: - Objects

  /// A reader that sees the transaction's changes so far; good until the next change.
  package func reader(_ table: StoredTable) -> TableReader {
    TableReader(reader: editor.reader, table: table, root: tables[table.index].root)
  }

  /// A new object with the default in every column: null, 0, false or empty.
  package func insert(_ table: StoredTable) -> ObjectKey {
    precondition(table.primaryKeyColumn == nil, "\(table.schema.name) needs a primary key")
    return append(table, primaryKey: .none)
  }

  /// The object with this primary key, made when there is none.
  package func insert(
    _ table: StoredTable, primaryKeyInteger value: Int64?
  ) -> (key: ObjectKey, inserted: Bool) {
    if let found = reader(table).find(integer: value) { return (found, false) }
    let key = append(table, primaryKey: .integer(value))
    addToIndex(table, key, hash: value.map(HashIndex.hash) ?? HashIndex.nullHash)
    return (key, true)
  }

  /// The object with this primary key, made when there is none.
  package func insert(
    _ table: StoredTable, primaryKeyBytes bytes: UnsafeRawBufferPointer?
  ) -> (key: ObjectKey, inserted: Bool) {
    if let found = reader(table).find(bytes: bytes) { return (found, false) }
    let key = append(table, primaryKey: .bytes(bytes))
    addToIndex(table, key, hash: TableReader.hash(bytes))
    return (key, true)
  }

  /// Sets a packed value; nil is null.
  package func setInteger(_ table: StoredTable, _ key: ObjectKey, _ column: Int, _ value: Int64?) {
    #if PLANTED_BUGS
      if PlantedBug.dropChange.strikes(everyCalls: 500) { return }
    #endif
    let (cluster, row) = mutableRow(table, key, column)
    var leaf = BlockHeader.reference(editor.pointer(cluster), column)
    if leaf.isNone {
      let rows = Cluster.rows(editor.pointer(cluster))
      leaf = integerLeaf(table, column, rows: rows - 1, then: table.isOptional(column) ? nil : 0)
    }
    let new = IntegerLeaf.setting(editor, leaf, row, value)
    BlockHeader.setReference(editor.pointer(cluster), column, new)
  }

  /// Sets a string or data value; nil is null.
  package func setBytes(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, _ bytes: UnsafeRawBufferPointer?
  ) {
    let (cluster, row) = mutableRow(table, key, column)
    var leaf = BlockHeader.reference(editor.pointer(cluster), column)
    if leaf.isNone {
      let rows = Cluster.rows(editor.pointer(cluster))
      let filler: UnsafeRawBufferPointer? =
        table.isOptional(column) ? nil : UnsafeRawBufferPointer(start: nil, count: 0)
      leaf = bytesColumn(table, column, rows: rows - 1, then: filler)
    }
    let new = BytesColumn.setting(editor, leaf, row, bytes)
    BlockHeader.setReference(editor.pointer(cluster), column, new)
  }

  /// Removes an object.
  ///
  /// - Returns: whether it was there.
  package func delete(_ table: StoredTable, _ key: ObjectKey) -> Bool {
    let reader = reader(table)
    guard let location = reader.locate(key) else { return false }
    if let column = table.primaryKeyColumn {
      removeFromIndex(table, key, hash: hash(reader, table, column, location))
    }
    if Cluster.rows(location.cluster) > 1 {
      let (cluster, row) = mutableRow(table, key, 0)
      for column in 0..<BlockHeader.count(editor.pointer(cluster)) {
        let leaf = BlockHeader.reference(editor.pointer(cluster), column)
        if leaf.isNone { continue }
        let new =
          table.schema.columns[column].type.isPacked
          ? IntegerLeaf.removing(editor, leaf, row) : BytesColumn.removing(editor, leaf, row)
        BlockHeader.setReference(editor.pointer(cluster), column, new)
      }
    }
    tables[table.index].root.clusters.remove(editor, key.rawValue)
    tables[table.index].recentCluster = .none
    tables[table.index].isChanged = true
    return true
  }

  /// Removes all objects of a table.
  package func deleteAll(_ table: StoredTable) {
    editor.freeTree(tables[table.index].root.clusters.root)
    editor.freeTree(tables[table.index].root.index.root)
    tables[table.index].root.clusters = ClusterTree()
    tables[table.index].root.index = HashIndex()
    tables[table.index].recentCluster = .none
    tables[table.index].isChanged = true
  }

  // MARK: - Finishing

  /// Writes the table roots and the group root.
  ///
  /// - Returns: the root of the version to be; the base's when nothing was changed.
  package func finish() -> BlockReference {
    guard isSchemaChanged || tables.contains(where: \.isChanged) else { return baseRoot }
    let count = GroupRoot.firstTableSlot + tables.count
    var group = baseRoot
    if group.isNone || isSchemaChanged {
      var schemaBlob = BlockReference.none
      if !group.isNone {
        editor.freeTree(
          BlockHeader.reference(editor.reader.pointer(group), GroupRoot.schemaSlot))
        editor.free(group)
      }
      SchemaCoding.encode(schema.tables).withUnsafeBytes { bytes in
        schemaBlob = LongValue.make(editor, bytes)
      }
      group = editor.allocate(
        kind: GroupRoot.kind, count: count, payloadBytes: count * 8 + GroupRoot.tailLength)
      let block = editor.pointer(group)
      BlockHeader.setReference(block, GroupRoot.schemaSlot, schemaBlob)
      let tail = BlockHeader.length + count * 8
      block.storeBytes(of: schema.schemaVersion, toByteOffset: tail, as: UInt64.self)
      block.storeBytes(of: nextTableKey, toByteOffset: tail + 8, as: UInt64.self)
      for (index, table) in tables.enumerated() {
        BlockHeader.setReference(block, GroupRoot.firstTableSlot + index, table.block)
      }
    } else {
      group = editor.mutable(group)
    }
    for index in tables.indices where tables[index].isChanged {
      let block =
        tables[index].block.isNone
        ? TableRoot.allocate(editor) : editor.mutable(tables[index].block)
      tables[index].root.store(editor.pointer(block))
      tables[index].block = block
      BlockHeader.setReference(editor.pointer(group), GroupRoot.firstTableSlot + index, block)
    }
    return group
  }

  // MARK: - Rows

  private enum PrimaryKey {
    case none
    case integer(Int64?)
    case bytes(UnsafeRawBufferPointer?)
  }

  /// The cluster and row of an object that exists, ready to be changed.
  private func mutableRow(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int
  ) -> (cluster: BlockReference, row: Int) {
    let index = table.index
    let firstKey = key.rawValue & ~255
    if tables[index].recentCluster.isNone || tables[index].recentFirstKey != firstKey {
      tables[index].isChanged = true
      tables[index].recentCluster = tables[index].root.clusters.mutableCluster(
        editor, key.rawValue)
      tables[index].recentFirstKey = firstKey
    }
    let cluster = tables[index].recentCluster
    if BlockHeader.count(editor.pointer(cluster)) <= column {
      ClusterTree.widen(editor, cluster, columns: table.schema.columns.count)
    }
    guard let row = Cluster.row(editor.pointer(cluster), slot: Int(key.rawValue & 255)) else {
      preconditionFailure("object \(key.rawValue) of \(table.schema.name) does not exist")
    }
    return (cluster, row)
  }

  /// Adds a row behind all others.
  private func append(_ table: StoredTable, primaryKey: PrimaryKey) -> ObjectKey {
    let index = table.index
    let key = tables[index].root.nextKey
    tables[index].root.nextKey += 1
    tables[index].isChanged = true
    let firstKey = key & ~255
    let columns = table.schema.columns
    if !tables[index].recentCluster.isNone, tables[index].recentFirstKey == firstKey {
      tables[index].root.clusters.appendAgain(editor, tables[index].recentCluster, key)
    } else {
      let finished = tables[index].recentFirstKey
      let wasAppending = !tables[index].recentCluster.isNone && finished + 256 == firstKey
      let (cluster, _) = tables[index].root.clusters.append(editor, key, columns: columns.count)
      if wasAppending, editor.provisionalBytes > Self.sealBytes {
        tables[index].root.clusters.seal(editor, clusterOf: finished)
      }
      tables[index].recentCluster = cluster
      tables[index].recentFirstKey = firstKey
    }
    let cluster = tables[index].recentCluster
    ClusterTree.widen(editor, cluster, columns: columns.count)
    let rows = Cluster.rows(editor.pointer(cluster))
    for column in columns.indices {
      let isKey = column == table.primaryKeyColumn
      let leaf = BlockHeader.reference(editor.pointer(cluster), column)
      var new = leaf
      if columns[column].type.isPacked {
        var value: Int64? = columns[column].isOptional ? nil : 0
        if isKey, case .integer(let primary) = primaryKey { value = primary }
        if leaf.isNone {
          new = integerLeaf(table, column, rows: rows - 1, then: value)
        } else {
          new = IntegerLeaf.appending(editor, new, value)
        }
      } else {
        var bytes: UnsafeRawBufferPointer? =
          columns[column].isOptional ? nil : UnsafeRawBufferPointer(start: nil, count: 0)
        if isKey, case .bytes(let primary) = primaryKey { bytes = primary }
        if leaf.isNone {
          new = bytesColumn(table, column, rows: rows - 1, then: bytes)
        } else {
          new = BytesColumn.appending(editor, new, bytes)
        }
      }
      if new != leaf { BlockHeader.setReference(editor.pointer(cluster), column, new) }
    }
    return ObjectKey(rawValue: key)
  }

  /// Transactions with more changed bytes write finished clusters out early.
  private static let sealBytes = 8 << 20

  /// A new leaf: the column's default in `rows` rows, then one value.
  private func integerLeaf(
    _ table: StoredTable, _ column: Int, rows: Int, then last: Int64?
  ) -> BlockReference {
    let filler: Int64? = table.isOptional(column) ? nil : 0
    var first = (rows > 0 ? filler : last) ?? 0
    var nullBit: UInt8 = (rows > 0 ? filler : last) == nil ? 1 : 0
    let hasNull = nullBit == 1
    var leaf = withUnsafePointer(to: &first) { value in
      withUnsafePointer(to: &nullBit) { nulls in
        IntegerLeaf.make(
          editor, UnsafeBufferPointer(start: value, count: 1), nulls: hasNull ? nulls : nil)
      }
    }
    guard rows > 0 else { return leaf }
    if rows > 1 { leaf = IntegerLeaf.appending(editor, leaf, repeating: filler, count: rows - 1) }
    return IntegerLeaf.appending(editor, leaf, last)
  }

  /// A new column: the default in `rows` rows, then one value.
  private func bytesColumn(
    _ table: StoredTable, _ column: Int, rows: Int, then last: UnsafeRawBufferPointer?
  ) -> BlockReference {
    let filler: UnsafeRawBufferPointer? =
      table.isOptional(column) ? nil : UnsafeRawBufferPointer(start: nil, count: 0)
    guard rows > 0 else { return BytesColumn.make(editor, last) }
    var new = BytesColumn.make(editor, filler)
    if rows > 1 { new = BytesColumn.appending(editor, new, repeating: filler, count: rows - 1) }
    return BytesColumn.appending(editor, new, last)
  }

  // MARK: - Primary key index

  private func addToIndex(_ table: StoredTable, _ key: ObjectKey, hash: UInt64) {
    let rehash = rehash(table)
    tables[table.index].root.index.insert(
      editor, hash: hash, key: key.rawValue, rehash: rehash)
  }

  private func removeFromIndex(_ table: StoredTable, _ key: ObjectKey, hash: UInt64) {
    let rehash = rehash(table)
    tables[table.index].root.index.remove(
      editor, hash: hash, key: key.rawValue, rehash: rehash)
  }

  /// The hash of any object's primary key, read from its column.
  private func rehash(_ table: StoredTable) -> (Int64) -> UInt64 {
    let reader = reader(table)
    let column = table.primaryKeyColumn!
    return { [self] key in
      hash(reader, table, column, reader.locate(ObjectKey(rawValue: key))!)
    }
  }

  private func hash(
    _ reader: TableReader, _ table: StoredTable, _ column: Int, _ location: RowLocation
  ) -> UInt64 {
    if table.schema.columns[column].type.isPacked {
      return reader.isNull(location, column)
        ? HashIndex.nullHash : HashIndex.hash(reader.integer(location, column))
    }
    return reader.withBytes(location, column) { TableReader.hash($0) }
  }
}

extension TableReader {
  /// What is wrong with a table, one sentence each.
  package func checkInvariants(_ table: StoredTable) -> [String] {
    var findings = root.clusters.checkInvariants(reader)
    forEachCluster { first, cluster in
      for column in 0..<min(BlockHeader.count(cluster), table.schema.columns.count) {
        let leaf = Cluster.leaf(cluster, column)
        if leaf.isNone { continue }
        let rows =
          table.schema.columns[column].type.isPacked
          ? IntegerLeaf.count(reader.pointer(leaf)) : BytesColumn.rowCount(reader, leaf)
        if rows != Cluster.rows(cluster) {
          findings.append(
            "column \(column) of the cluster at \(first.rawValue) has \(rows) rows, "
              + "not \(Cluster.rows(cluster))")
        }
      }
      return findings.count < 100
    }
    if let column = table.primaryKeyColumn {
      findings += root.index.checkInvariants(reader) { key in
        guard let location = locate(ObjectKey(rawValue: key)) else { return 0 }
        if table.schema.columns[column].type.isPacked {
          return isNull(location, column)
            ? HashIndex.nullHash : HashIndex.hash(integer(location, column))
        }
        return withBytes(location, column) { TableReader.hash($0) }
      }
      if root.index.entryCount != count {
        findings.append("\(root.index.entryCount) index entries for \(count) objects")
      }
    }
    return findings
  }
}
