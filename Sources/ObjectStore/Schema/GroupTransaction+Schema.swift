// Changes of tables and columns inside a transaction. All give new StoredTables: those from before
// are not to be used with the transaction any more.
internal import Storage
internal import Trees

extension GroupTransaction {
  /// Drops a column with its values; later columns move up.
  ///
  /// Embedded objects that it linked to are deleted.
  ///
  /// - Precondition: not the primary key.
  /// - Complexity: O(n), by the leaf.
  @discardableResult
  package func removeColumn(_ table: StoredTable, _ column: Int) -> StoredTable {
    precondition(column != table.keyColumn, "the primary key of \(table.schema.name) cannot go")
    closeCollection()
    var declared = table.schema
    declared.columns.remove(at: column)
    var keys = table.columnKeys
    keys.remove(at: column)
    let changed = StoredTable(
      index: table.index, tableKey: table.tableKey, schema: declared, columnKeys: keys,
      nextColumnKey: table.nextColumnKey)
    withTable(table) { tableEditor in
      if table.linkColumns.contains(column) {
        if let embedded = schema.embeddedTarget(table.index, column) {
          tableEditor.lookup.pairTree(column, .links).forEach { pair in
            orphans.append((embedded, ObjectKey(rawValue: pair.first)))
            return true
          }
        }
        tableEditor.changePairs(column, .links) { $0.removeAll() }
      }
      if table.indexedColumns.contains(column) {
        tableEditor.changePairs(column, .index) { $0.removeAll() }
      }
      tableEditor.tree.removeColumn(column)
      var origins = Array(table.schema.columns.indices)
      origins.remove(at: column)
      tableEditor.change(to: changed, columnsFrom: origins)
      tableEditor.tree.columnCount = origins.count
    }
    replace(changed)
    noteChange(table.index)
    deleteOrphans()
    return changed
  }

  /// Gives a column another name.
  ///
  /// - Complexity: O(1).
  @discardableResult
  package func renameColumn(_ table: StoredTable, _ column: Int, to name: String) -> StoredTable {
    change(table) { declared in
      if declared.primaryKey == declared.columns[column].name { declared.primaryKey = name }
      declared.columns[column].name = name
    }
  }

  /// Drops a table with its objects; links from `any` columns become null.
  ///
  /// Later tables move up: their indexes change.
  ///
  /// - Precondition: no column of another table has it as target.
  package func removeTable(_ table: StoredTable) {
    precondition(
      schema.incoming[table.index].allSatisfy { $0.table == table.index },
      "\(table.schema.name) is the target of links")
    deleteAll(table)
    let old = baseBlock(table.index)
    if !old.isNone { editor.free(old) }
    removeTableEditor(table.index)
    var all = schema.tables
    all.remove(at: table.index)
    for index in table.index..<all.count {
      let moved = all[index]
      all[index] = StoredTable(
        index: index, tableKey: moved.tableKey, schema: moved.schema,
        columnKeys: moved.columnKeys, nextColumnKey: moved.nextColumnKey)
      tables[index]?._withUnsafeGuaranteedRef { $0.table = all[index] }
    }
    schema = StoredSchema(tables: all, schemaVersion: schema.schemaVersion)
    isSchemaChanged = true
  }

  /// Makes a column optional or required, and builds or drops its index; one of an older form is
  /// made anew.
  ///
  /// Nulls of a column that becomes required become 0, false or empty; see `ValueType.zeroBytes`.
  @discardableResult
  package func changeColumn(
    _ table: StoredTable, _ column: Int, isOptional: Bool, isIndexed: Bool
  ) -> StoredTable {
    closeCollection()
    let old = table.schema.columns[column]
    let wasIndexed = table.indexedColumns.contains(column)
    let changesNulls = isOptional != old.isOptional && old.type != .object
    let changesIndex = !wasIndexed || changesNulls || old.indexForm != .hashed
    if wasIndexed && (!isIndexed || changesIndex) {
      withTable(table) { $0.changePairs(column, .index) { $0.removeAll() } }
    }
    if changesNulls {
      if old.collection != .none {
        if !isOptional { fillNullElements(table, column) }
      } else {
        withTable(table) {
          $0.tree.storeDefaults(
            column, isPacked: old.type.isPacked, zero: old.type.zeroBytes)
        }
      }
      noteChange(table.index)
    }
    let changed = change(table) { declared in
      declared.columns[column].isOptional = isOptional
      declared.columns[column].isIndexed = isIndexed
      declared.columns[column].indexForm = .hashed
    }
    if changed.indexedColumns.contains(column) && changesIndex {
      buildIndex(changed, column)
    }
    return changed
  }

  /// Makes a column the primary key, or no column.
  ///
  /// - Returns: the table as it is now, or, when two objects have the same value, the table as it
  ///   was and one of these objects.
  package func setPrimaryKey(
    _ table: StoredTable, _ column: Int?
  ) -> (table: StoredTable, duplicate: ObjectKey?) {
    var declared = table.schema
    declared.primaryKey = column.map { declared.columns[$0].name }
    let changed = StoredTable(
      index: table.index, tableKey: table.tableKey, schema: declared,
      columnKeys: table.columnKeys, nextColumnKey: table.nextColumnKey)
    let duplicate = withTable(table) { tableEditor -> ObjectKey? in
      let oldIndex = tableEditor.index
      tableEditor.index = HashIndexEditor(editor, root: .none, bucketCount: 1, count: 0)
      tableEditor.change(to: changed, columnsFrom: Array(declared.columns.indices))
      if column != nil, let duplicate = indexPrimaryKeys(tableEditor) {
        tableEditor.index.removeAll()
        tableEditor.index = oldIndex
        tableEditor.change(to: table, columnsFrom: Array(declared.columns.indices))
        return duplicate
      }
      oldIndex.removeAll()
      return nil
    }
    if duplicate != nil { return (table, duplicate) }
    replace(changed)
    return (changed, nil)
  }

  /// Makes a table one of embedded objects, or of others.
  ///
  /// Objects stay; that each embedded object has one link is the caller's business.
  @discardableResult
  package func setEmbedded(_ table: StoredTable, _ isEmbedded: Bool) -> StoredTable {
    change(table) { $0.isEmbedded = isEmbedded }
  }

  // MARK: - Parts

  /// Changes what is declared of a table, but not which columns it has.
  private func change(
    _ table: StoredTable, _ change: (inout TableSchema) -> Void
  ) -> StoredTable {
    var declared = table.schema
    change(&declared)
    declared.requireFitting()
    let changed = StoredTable(
      index: table.index, tableKey: table.tableKey, schema: declared,
      columnKeys: table.columnKeys, nextColumnKey: table.nextColumnKey)
    withTable(table) {
      $0.change(to: changed, columnsFrom: Array(declared.columns.indices))
    }
    replace(changed)
    return changed
  }

  /// Enters all objects into the empty index of the primary key.
  ///
  /// - Returns: an object whose value another one has too; then not all are entered.
  private func indexPrimaryKeys(_ tableEditor: TableEditor) -> ObjectKey? {
    let reader = tableEditor.reader
    let column = tableEditor.table.keyColumn
    var duplicate: ObjectKey?
    reader.forEachObject { key, location in
      let lookup = tableEditor.lookup
      let hash: UInt64
      let found: ObjectKey?
      if tableEditor.table.traits[column].isPacked {
        let value = reader.isNull(location, column) ? nil : reader.integer(location, column)
        hash = value.map { IndexHash.integer($0) } ?? IndexHash.null
        found = lookup.find(integer: value)
      } else {
        (hash, found) = reader.withBytes(location, column) { bytes in
          (bytes.map { IndexHash.bytes($0) } ?? IndexHash.null, lookup.find(bytes: bytes))
        }
      }
      if found != nil {
        duplicate = key
        return false
      }
      tableEditor.insertIntoIndex(key, hash: hash)
      return true
    }
    return duplicate
  }

  /// Makes null elements of collections 0, false or empty.
  private func fillNullElements(_ table: StoredTable, _ column: Int) {
    if table.traits[column].isPacked {
      fillNullElements(table, column, with: .integer(0))
      return
    }
    table.schema.columns[column].type.zeroBytes.withUnsafeBytes {
      fillNullElements(table, column, with: .bytes($0))
    }
  }

  private func fillNullElements(
    _ table: StoredTable, _ column: Int, with none: ElementValue
  ) {
    var keys: [ObjectKey] = []
    let reader = reader(table)
    reader.forEachObject { key, location in
      if !reader.cell(location, column).isNone { keys.append(key) }
      return true
    }
    let isSet = table.schema.columns[column].collection == .set
    for key in keys {
      withCollection(table, key, column) { _, collection in
        for position in 0..<collection.elements.count
        where collection.elements.tree.isNull(at: position) {
          if isSet {
            // Null was the first; 0 may be there already, or belong elsewhere.
            collection.elements.remove(at: position)
            let (place, isThere) = collection.reader.search(none)
            if !isThere {
              collection.insert(none, at: place)
            }
            break
          }
          collection.set(none, at: position)
        }
      }
    }
    closeCollection()
  }
}
