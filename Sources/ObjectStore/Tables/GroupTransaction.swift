// Changes to tables inside one write transaction. Every change of an object passes through one of
// insert, setInteger, setBytes and delete: what records or observes changes belongs there. Nothing
// is written here; `finish` gives the root that Storage commits.
package import Storage
internal import Trees

#if PLANTED_BUGS
  internal import Platform
#endif

/// The object layer of a running write transaction.
///
/// Belongs to the transaction's Realm; never shared between threads.
package final class GroupTransaction {
  let editor: BlockEditor
  private let baseRoot: BlockReference
  /// The schema as the transaction has it now.
  @exclusivity(unchecked) package internal(set) var schema: StoredSchema
  /// By table index; nil until the transaction touches the table.
  ///
  /// Owned; unmanaged, because a retain and release a change would cost more than the change.
  @exclusivity(unchecked) var tables: [Unmanaged<TableEditor>?]
  /// By table index: its index in the base version, nil for a new table.
  ///
  /// Nil as a whole while no table was removed: then the indexes are the same.
  @exclusivity(unchecked) private var baseIndexes: [Int?]?
  /// The collection that was changed last; nil until one is.
  @exclusivity(unchecked) var collection: Unmanaged<CollectionEditor>?
  /// Embedded objects that have lost their link, and are to be deleted.
  @exclusivity(unchecked) var orphans: [(table: Int, key: ObjectKey)] = []
  /// Links to deleted objects that lists, maps and mixed values still have, in no order; nil unless
  /// several objects are being deleted.
  @exclusivity(unchecked) var lateLinks: [LateLink]?
  /// Where links to deleted objects were searched in large lists and maps.
  @exclusivity(unchecked) var linkSearches: [LinkCollection: LinkSearch] = [:]
  /// Whether any were searched in this transaction.
  @exclusivity(unchecked) var hasSearchedLinks = false
  @exclusivity(unchecked) package var linkSearchLimits = LinkSearch.Limits()
  /// The edits of collections that somebody looks at again and again.
  @exclusivity(unchecked) var collectionLogs: [LinkCollection: CollectionLog] = [:]
  /// What the next of these logs begins with.
  @exclusivity(unchecked) var collectionRound = 0
  /// Tables that cascades have changed since the client last asked.
  ///
  /// The first 64 have bits of their own: a delete must not allocate for this.
  @exclusivity(unchecked) private var changedFirstTables: UInt64 = 0
  @exclusivity(unchecked) private var changedOtherTables: Set<Int> = []
  @exclusivity(unchecked) var isSchemaChanged = false
  /// Names of tables in which a migration gave an object the primary key that another one has.
  package var tablesWithDoubtfulKeys: Set<String> = []
  private var nextTableKey: UInt64 = 1
  /// What `recordedChanges` is to have in the end.
  package let recording: Recording
  /// The tables, by index, whose touched objects are to be noted once it has opened them.
  @exclusivity(unchecked) var tablesToNote: Set<Int> = []
  /// By tables that it has not touched yet: the columns whose links are noted then.
  @exclusivity(unchecked) var linksToNote: [Int: Set<Int>] = [:]

  /// - Parameter root: the group root on which the transaction builds; none for an empty file.
  package convenience init(
    _ editor: BlockEditor, root: BlockReference, recording: Recording = .nothing
  ) {
    self.init(
      editor, root: root, schema: StoredSchema.loadOrStop(editor.reader, root: root),
      recording: recording)
  }

  /// A transaction on a schema that is known already, which spares its decoding.
  package init(
    _ editor: BlockEditor, root: BlockReference, schema: StoredSchema,
    recording: Recording = .nothing
  ) {
    RootStructure.register()
    self.editor = editor
    self.recording = recording
    baseRoot = root
    self.schema = schema
    tables = Array(repeating: nil, count: schema.tables.count)
    if !root.isNone {
      nextTableKey = GroupRoot.nextTableKey(editor.reader.pointer(root, GroupRoot.kind))
    }
  }

  deinit {
    for tableEditor in tables { tableEditor?.release() }
    collection?.release()
  }

  // MARK: - Schema

  /// Adds a table; its name must be new.
  package func createTable(_ table: TableSchema) {
    precondition(schema.table(named: table.name) == nil, "table \(table.name) exists")
    table.requireFitting()
    precondition(tables.count < GroupRoot.tablesMax, "\(tables.count) tables are all that fit")
    let stored = StoredTable(index: schema.tables.count, tableKey: nextTableKey, schema: table)
    nextTableKey += 1
    schema = StoredSchema(tables: schema.tables + [stored], schemaVersion: schema.schemaVersion)
    let tableEditor = TableEditor(editor, stored, block: .none)
    note(in: tableEditor)
    tables.append(.passRetained(tableEditor))
    baseIndexes?.append(nil)
    isSchemaChanged = true
  }

  /// Adds a column behind the others.
  ///
  /// All objects have its default; nothing is rewritten.
  ///
  /// - Returns: the table as it is now; the old one is not to be used with this transaction any
  ///   more.
  @discardableResult
  package func addColumn(_ table: StoredTable, _ column: ColumnSchema) -> StoredTable {
    var declared = table.schema
    declared.columns.append(column)
    declared.requireFitting()
    let stored = StoredTable(
      index: table.index, tableKey: table.tableKey, schema: declared,
      columnKeys: table.columnKeys + [table.nextColumnKey], nextColumnKey: table.nextColumnKey + 1)
    withTable(table) { tableEditor in
      tableEditor.change(
        to: stored, columnsFrom: Array(table.schema.columns.indices) + [nil])
      tableEditor.tree.columnCount = declared.columns.count
    }
    replace(stored)
    if column.isIndexed && column.collection == .none {
      buildIndex(stored, declared.columns.count - 1)
    }
    return stored
  }

  /// Sets the version that clients count their schemas by.
  package func setSchemaVersion(_ version: UInt64) {
    guard version != schema.schemaVersion else { return }
    schema = StoredSchema(tables: schema.tables, schemaVersion: version)
    isSchemaChanged = true
  }

  // MARK: - Objects

  /// A reader that sees the transaction's changes so far; good until the next change.
  package func reader(_ table: StoredTable) -> TableReader {
    if let tableEditor = tables[table.index] {
      return tableEditor._withUnsafeGuaranteedRef { $0.reader }
    }
    return TableReader(reader: editor.reader, block: baseBlock(table.index), table: table)
  }

  /// Whether there is such an object, the transaction's changes included.
  ///
  /// - Complexity: one comparison where the object's neighbour was changed last.
  package func contains(_ table: StoredTable, _ key: ObjectKey) -> Bool {
    guard let tableEditor = tables[table.index] else { return reader(table).locate(key) != nil }
    return tableEditor._withUnsafeGuaranteedRef {
      $0.tree.openClusterHas(key.rawValue) ?? ($0.lookup.locate(key) != nil)
    }
  }

  /// A new object with the default in every column: null, 0, false or empty.
  package func insert(_ table: StoredTable) -> ObjectKey {
    precondition(table.keyColumn < 0, "\(table.schema.name) needs a primary key")
    return withTable(table) { tableEditor in
      let key = ObjectKey(rawValue: tableEditor.tree.insert())
      if !table.indexedColumns.isEmpty { indexNewObject(tableEditor, key) }
      return key
    }
  }

  /// Says that so many objects, with keys that are not there, are about to be inserted.
  ///
  /// It saves the splitting of the primary key index on the way.
  package func reserve(_ table: StoredTable, newObjects count: Int) {
    if table.keyColumn >= 0 { withTable(table) { $0.reserveIndex(count) } }
  }

  /// The object with this primary key, made when there is none.
  package func insert(
    _ table: StoredTable, primaryKeyInteger value: Int64?
  ) -> (key: ObjectKey, inserted: Bool) {
    return withTable(table) { tableEditor in
      if let found = tableEditor.lookup.find(integer: value) { return (found, false) }
      let key = tableEditor.tree.insert()
      let column = table.keyColumn
      if let value {
        _ = tableEditor.tree.setInteger(
          key, column, value, isOptional: table.optionalColumns[column] != 0)
      }
      tableEditor.insertIntoIndex(
        ObjectKey(rawValue: key), hash: value.map { IndexHash.integer($0) } ?? IndexHash.null)
      if !table.indexedColumns.isEmpty { indexNewObject(tableEditor, ObjectKey(rawValue: key)) }
      return (ObjectKey(rawValue: key), true)
    }
  }

  /// The object with this primary key, made when there is none.
  package func insert(
    _ table: StoredTable, primaryKeyBytes bytes: UnsafeRawBufferPointer?
  ) -> (key: ObjectKey, inserted: Bool) {
    return withTable(table) { tableEditor in
      let hash = bytes.map { IndexHash.bytes($0) } ?? IndexHash.null
      if let found = tableEditor.find(bytes, hash: hash) { return (found, false) }
      let key = tableEditor.tree.insert()
      let column = table.keyColumn
      _ = tableEditor.tree.setBytes(
        key, column, bytes, isOptional: table.optionalColumns[column] != 0, isKey: true)
      tableEditor.insertIntoIndex(ObjectKey(rawValue: key), hash: hash)
      if !table.indexedColumns.isEmpty { indexNewObject(tableEditor, ObjectKey(rawValue: key)) }
      return (ObjectKey(rawValue: key), true)
    }
  }

  /// Sets a packed value; nil is null.
  ///
  /// - Precondition: the object exists; nil only for an optional column.
  package func setInteger(_ table: StoredTable, _ key: ObjectKey, _ column: Int, _ value: Int64?) {
    #if PLANTED_BUGS
      if PlantedBug.dropChange.strikes(everyCalls: 500) { return }
    #endif
    withTable(table) { tableEditor in
      let isOptional = table.optionalColumns[column] != 0
      if table.traits[column].isMaintained {
        setMaintained(tableEditor, key, column, integer: value)
      } else {
        storeInteger(tableEditor, key, column, value, isOptional)
      }
      noteModified(tableEditor, key, column)
    }
  }

  /// Sets a string or data value; nil is null.
  ///
  /// - Parameter bytes: may not lie in a block of this transaction: copy values read from it.
  /// - Precondition: the object exists; nil only for an optional column.
  package func setBytes(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, _ bytes: UnsafeRawBufferPointer?
  ) {
    withTable(table) { tableEditor in
      let isOptional = table.optionalColumns[column] != 0
      if table.traits[column].isMaintained {
        setMaintained(tableEditor, key, column, bytes: bytes)
      } else {
        storeBytes(tableEditor, key, column, bytes, isOptional)
      }
      noteModified(tableEditor, key, column)
    }
  }

  /// Removes an object, its embedded objects, and the links to it.
  ///
  /// To-one links and values of maps become null, elements of lists and sets go.
  ///
  /// - Returns: whether it was there.
  package func delete(_ table: StoredTable, _ key: ObjectKey) -> Bool {
    closeCollection()
    if _slowPath(!schema.isPlain(table)) { return deleteWithLinks(table, key) }
    noteChange(table.index)
    return withTable(table) { tableEditor in
      if table.keyColumn >= 0 { tableEditor.removeFromIndex(key) }
      let isThere = tableEditor.tree.delete(
        key.rawValue, columns: table.layouts, keyColumn: table.keyColumn)
      if isThere { noteDeleted(tableEditor, key) }
      return isThere
    }
  }

  /// Removes all objects of a table, their embedded objects, and the links to them.
  ///
  /// Keys are not used again.
  package func deleteAll(_ table: StoredTable) {
    closeCollection()
    noteChange(table.index)
    if !schema.isPlain(table) { detachAll(table) }
    withTable(table) { tableEditor in
      tableEditor.tree.deleteAll()
      tableEditor.index.removeAll()
      tableEditor.recorder?.noteCleared()
      tableEditor.touches?.drop()
      tableEditor.dropLinkLogs()
    }
    deleteOrphans()
  }

  /// Runs `body` on the tables whose objects were changed or deleted by cascades, or by `delete`
  /// and `deleteAll` themselves, since the last call: indexes into `schema.tables`, each once.
  package func takeChangedTables(_ body: (Int) -> Void) {
    while changedFirstTables != 0 {
      body(changedFirstTables.trailingZeroBitCount)
      changedFirstTables &= changedFirstTables &- 1
    }
    if changedOtherTables.isEmpty { return }
    changedOtherTables.forEach(body)
    changedOtherTables = []
  }

  @inline(__always)
  func noteChange(_ table: Int) {
    if table < 64 {
      changedFirstTables |= 1 << UInt64(table)
    } else {
      changedOtherTables.insert(table)
    }
  }

  /// Takes a table out of those that the transaction has; later ones move up.
  func removeTableEditor(_ index: Int) {
    if baseIndexes == nil {
      let inBase =
        baseRoot.isNone
        ? 0 : BlockHeader.count(editor.reader.pointer(baseRoot)) - GroupRoot.firstTableSlot
      baseIndexes = tables.indices.map { $0 < inBase ? $0 : nil }
    }
    tables.remove(at: index)?.release()
    baseIndexes?.remove(at: index)
  }

  /// Whether the transaction has given keys to new objects of a table.
  package func hasAdded(to table: StoredTable) -> Bool {
    guard let tableEditor = tables[table.index] else { return false }
    return tableEditor._withUnsafeGuaranteedRef { $0.hasAdded }
  }

  // MARK: - Finishing

  /// Writes the table roots and the group root.
  ///
  /// - Returns: the root of the version to be; the base's when nothing was changed.
  package func finish() -> BlockReference {
    var changed: [(index: Int, block: BlockReference)] = []
    for (index, tableEditor) in tables.enumerated() {
      guard let tableEditor else { continue }
      let block = tableEditor._withUnsafeGuaranteedRef { $0.finish() }
      if block != baseBlock(index) { changed.append((index, block)) }
    }
    if !isSchemaChanged && changed.isEmpty { return baseRoot }
    let root = isSchemaChanged ? rootWithNewSchema() : editor.mutable(baseRoot)
    let block = editor.pointer(root)
    for table in changed {
      BlockHeader.setReference(block, GroupRoot.firstTableSlot + table.index, table.block)
    }
    return root
  }

  // MARK: - Parts

  @inline(__always)
  func withTable<Result>(
    _ table: StoredTable, _ body: (TableEditor) -> Result
  ) -> Result {
    let tableEditor = tables[table.index] ?? openTable(table)
    return tableEditor._withUnsafeGuaranteedRef { body($0) }
  }

  /// Has changes of a table noted that the transaction has not changed yet.
  private func note(in tableEditor: TableEditor) {
    if recording != .nothing { tableEditor.record(notesMax: recording.notesMax) }
  }

  @inline(never)
  func openTable(_ table: StoredTable) -> Unmanaged<TableEditor> {
    let tableEditor = TableEditor(editor, table, block: baseBlock(table.index))
    note(in: tableEditor)
    if tablesToNote.contains(table.index) { tableEditor.touches = TouchLog() }
    for column in linksToNote[table.index] ?? [] { tableEditor.linkLogs[column] = TouchLog() }
    let opened = Unmanaged.passRetained(tableEditor)
    tables[table.index] = opened
    return opened
  }

  /// The root of a table in the base version.
  func baseBlock(_ index: Int) -> BlockReference {
    guard !baseRoot.isNone else { return .none }
    var index = index
    if let baseIndexes {
      guard let base = baseIndexes[index] else { return .none }
      index = base
    }
    let block = editor.reader.pointer(baseRoot)
    let slot = GroupRoot.firstTableSlot + index
    return slot < BlockHeader.count(block) ? BlockHeader.reference(block, slot) : .none
  }

  func storeInteger(
    _ tableEditor: TableEditor, _ key: ObjectKey, _ column: Int, _ value: Int64?,
    _ isOptional: Bool
  ) {
    let isThere: Bool
    if let value {
      isThere = tableEditor.tree.setInteger(key.rawValue, column, value, isOptional: isOptional)
    } else {
      precondition(isOptional, "null in column \(column) of \(tableEditor.table.schema.name)")
      isThere = tableEditor.tree.setIntegerNull(key.rawValue, column)
    }
    if !isThere { stopForMissing(tableEditor, key) }
  }

  func storeBytes(
    _ tableEditor: TableEditor, _ key: ObjectKey, _ column: Int,
    _ bytes: UnsafeRawBufferPointer?, _ isOptional: Bool
  ) {
    precondition(
      bytes != nil || isOptional, "null in column \(column) of \(tableEditor.table.schema.name)")
    if !tableEditor.tree.setBytes(key.rawValue, column, bytes, isOptional: isOptional) {
      stopForMissing(tableEditor, key)
    }
  }

  @inline(never)
  func stopForMissing(_ tableEditor: TableEditor, _ key: ObjectKey) -> Never {
    // Callers have looked for their own objects; this one was found in an index or a link.
    tableEditor.stopForDamage(
      "object \(key.rawValue) of \(tableEditor.table.schema.name) does not exist")
  }

  /// Changes the primary key of an object, in the index too.
  ///
  /// That it is not taken is known.
  func changeKey(
    _ tableEditor: TableEditor, _ key: ObjectKey, _ hash: UInt64, _ store: () -> Void
  ) {
    let layout = tableEditor.table.layouts[tableEditor.table.keyColumn]
    if tableEditor.lookup.keyHash(key, layout) == hash {
      store()
      return
    }
    tableEditor.removeFromIndex(key)
    store()
    tableEditor.insertIntoIndex(key, hash: hash)
  }

  /// Puts a changed table into the schema.
  func replace(_ table: StoredTable) {
    var all = schema.tables
    all[table.index] = table
    schema = StoredSchema(tables: all, schemaVersion: schema.schemaVersion)
    isSchemaChanged = true
  }

  private func rootWithNewSchema() -> BlockReference {
    let count = GroupRoot.firstTableSlot + tables.count
    let root = editor.allocate(
      kind: GroupRoot.kind, count: count, payloadBytes: count * 8 + GroupRoot.tailLength)
    let encoded = SchemaCoding.encode(schema.tables)
    let schemaBlock = encoded.withUnsafeBytes { LongValue.make(editor, $0) }
    let block = editor.pointer(root)
    BlockHeader.setReference(block, GroupRoot.schemaSlot, schemaBlock)
    for index in tables.indices {
      BlockHeader.setReference(block, GroupRoot.firstTableSlot + index, baseBlock(index))
    }
    let tail = BlockHeader.length + count * 8
    block.store(schema.schemaVersion, at: tail)
    block.store(nextTableKey, at: tail + 8)
    if !baseRoot.isNone {
      editor.freeTree(
        BlockHeader.reference(editor.reader.pointer(baseRoot), GroupRoot.schemaSlot))
      editor.free(baseRoot)
    }
    return root
  }
}
