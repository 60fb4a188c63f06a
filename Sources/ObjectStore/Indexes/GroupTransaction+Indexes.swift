// Keeping ordered indexes inside a transaction: every object has a pair (order of its value,
// object) in the tree of each indexed column.
internal import Trees

extension GroupTransaction {
  /// Enters a new object into the indexes of its table.
  func indexNewObject(_ tableEditor: TableEditor, _ key: ObjectKey) {
    let lookup = tableEditor.lookup
    guard let location = lookup.locate(key) else { stopForMissing(tableEditor, key) }
    for column in tableEditor.table.indexedColumns {
      let order = lookup.order(location, column)
      tableEditor.changePairs(column, .index) { $0.insert(Pair(order, key.rawValue)) }
    }
  }

  /// Sets a packed value of a column that is the primary key, indexed or a link.
  @inline(never)
  func setMaintained(
    _ tableEditor: TableEditor, _ key: ObjectKey, _ column: Int, integer value: Int64?
  ) {
    let table = tableEditor.table
    let traits = table.traits[column]
    if traits.isLink {
      setLink(table, key, column, value.map { ObjectKey(rawValue: $0) })
      return
    }
    let order = value.map { OrderKey.integer($0, traits.order) } ?? OrderKey.null
    withIndex(tableEditor, key, column, order) {
      let isOptional = table.optionalColumns[column] != 0
      guard column == table.keyColumn else {
        storeInteger(tableEditor, key, column, value, isOptional)
        return
      }
      changeKey(tableEditor, key, value.map { IndexHash.integer($0) } ?? IndexHash.null) {
        self.storeInteger(tableEditor, key, column, value, isOptional)
      }
    }
  }

  /// Sets a bytes value of a column that is the primary key, indexed or of type `any`.
  @inline(never)
  func setMaintained(
    _ tableEditor: TableEditor, _ key: ObjectKey, _ column: Int, bytes: UnsafeRawBufferPointer?
  ) {
    let table = tableEditor.table
    if column == table.keyColumn {
      let isOptional = table.optionalColumns[column] != 0
      withIndex(tableEditor, key, column, table.order(bytes, column)) {
        changeKey(tableEditor, key, bytes.map { IndexHash.bytes($0) } ?? IndexHash.null) {
          self.storeBytes(tableEditor, key, column, bytes, isOptional)
        }
      }
      return
    }
    if table.traits[column].isAny {
      let lookup = tableEditor.lookup
      guard let location = lookup.locate(key) else { stopForMissing(tableEditor, key) }
      lookup.withBytes(location, column) { old in
        if let old { removeLinks(tableEditor, column, key, .bytes(old)) }
      }
      if let bytes { addLinks(tableEditor, column, key, .bytes(bytes)) }
    }
    storeIndexed(tableEditor, key, column, bytes)
  }

  /// Stores bytes and keeps the column's index, if there is one.
  func storeIndexed(
    _ tableEditor: TableEditor, _ key: ObjectKey, _ column: Int, _ bytes: UnsafeRawBufferPointer?
  ) {
    let table = tableEditor.table
    withIndex(tableEditor, key, column, table.order(bytes, column)) {
      storeBytes(tableEditor, key, column, bytes, table.optionalColumns[column] != 0)
    }
  }

  func storeIndexed(
    _ tableEditor: TableEditor, _ key: ObjectKey, _ column: Int, _ bytes: [UInt8]?
  ) {
    guard let bytes else {
      storeIndexed(tableEditor, key, column, nil as UnsafeRawBufferPointer?)
      return
    }
    bytes.withUnsafeBytes { storeIndexed(tableEditor, key, column, $0) }
  }

  /// Runs `store`, which gives an object's value another order.
  private func withIndex(
    _ tableEditor: TableEditor, _ key: ObjectKey, _ column: Int,
    _ newOrder: @autoclosure () -> Int64, _ store: () -> Void
  ) {
    guard tableEditor.table.schema.columns[column].isIndexed else {
      store()
      return
    }
    let lookup = tableEditor.lookup
    guard let location = lookup.locate(key) else { stopForMissing(tableEditor, key) }
    let old = lookup.order(location, column)
    let order = newOrder()
    store()
    if old == order { return }
    tableEditor.changePairs(column, .index) { pairs in
      pairs.remove(Pair(old, key.rawValue))
      pairs.insert(Pair(order, key.rawValue))
    }
  }

  /// Makes the index of a column that has none.
  func buildIndex(_ table: StoredTable, _ column: Int) {
    withTable(table) { tableEditor in
      var pairs: [Pair] = []
      let reader = tableEditor.reader
      pairs.reserveCapacity(reader.count)
      reader.forEachObject { key, location in
        pairs.append(Pair(reader.order(location, column), key.rawValue))
        return true
      }
      pairs.sort()
      tableEditor.changePairs(column, .index) { tree in
        pairs.withUnsafeBufferPointer { tree.build($0) }
      }
    }
  }
}

extension StoredTable {
  /// The order of bytes in the index of a column.
  fileprivate func order(_ bytes: UnsafeRawBufferPointer?, _ column: Int) -> Int64 {
    bytes.map { OrderKey.bytes($0, traits[column].indexForm) } ?? OrderKey.null
  }
}
