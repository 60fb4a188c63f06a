// Changing lists, sets and maps inside a transaction. Links that come and go are entered in the
// column's tree of links; embedded objects that lose theirs are deleted.
internal import Trees

extension GroupTransaction {
  // MARK: - Lists

  /// The number of elements of a list or set.
  package func listCount(_ table: StoredTable, _ key: ObjectKey, _ column: Int) -> Int {
    withCollection(table, key, column) { _, collection in collection.elements.count }
  }

  /// Puts an element at a position; later ones move back.
  ///
  /// - Precondition: the object exists and the position is not behind the end; here and below.
  package func listInsert(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, at position: Int, _ value: ElementValue
  ) {
    withCollection(table, key, column) { tableEditor, collection in
      collection.insert(value, at: position)
      if table.traits[column].isMaintained { addLinks(tableEditor, column, key, value) }
      noteElements(tableEditor, collection) { $0.insert(at: position) }
    }
  }

  /// Puts an element behind the others.
  package func listAppend(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, _ value: ElementValue
  ) {
    withCollection(table, key, column) { tableEditor, collection in
      switch value {
      case .integer(let integer): collection.elements.append(integer: integer)
      case .link(let target): collection.elements.append(integer: target.rawValue)
      default: collection.insert(value, at: collection.elements.count)
      }
      if table.traits[column].isMaintained { addLinks(tableEditor, column, key, value) }
      noteElements(tableEditor, collection) { $0.insert(at: collection.elements.count - 1) }
    }
  }

  /// Appends packed values that are no links.
  package func listAppend(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, integers: UnsafeBufferPointer<Int64>
  ) {
    precondition(!table.traits[column].isLink, "links are appended one by one")
    withCollection(table, key, column) { tableEditor, collection in
      collection.elements.append(integers: integers)
      if integers.isEmpty { return }
      noteElements(tableEditor, collection) {
        $0.insert(at: collection.elements.count - integers.count, count: integers.count)
      }
    }
  }

  /// Changes an element.
  package func listSet(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, at position: Int, _ value: ElementValue
  ) {
    withCollection(table, key, column) { tableEditor, collection in
      if table.traits[column].isMaintained {
        removeLinks(tableEditor, column, key, collection.reader, position..<position + 1)
        addLinks(tableEditor, column, key, value)
      }
      collection.set(value, at: position)
      noteElements(tableEditor, collection) { $0.modify(at: position) }
    }
    deleteOrphans()
  }

  /// Removes an element; later ones move up.
  package func listRemove(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, at position: Int
  ) {
    withCollection(table, key, column) { tableEditor, collection in
      if table.traits[column].isMaintained {
        removeLinks(tableEditor, column, key, collection.reader, position..<position + 1)
      }
      collection.elements.remove(at: position)
      noteElements(tableEditor, collection) { $0.remove(position..<position + 1) }
    }
    deleteOrphans()
  }

  /// Removes some elements; later ones move up.
  package func listRemove(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, _ range: Range<Int>
  ) {
    withCollection(table, key, column) { tableEditor, collection in
      if table.traits[column].isMaintained {
        removeLinks(tableEditor, column, key, collection.reader, range)
      }
      collection.elements.remove(range)
      if !range.isEmpty { noteElements(tableEditor, collection) { $0.remove(range) } }
    }
    deleteOrphans()
  }

  /// Moves an element so that it is at `to` afterwards.
  package func listMove(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, from: Int, to: Int
  ) {
    withCollection(table, key, column) { tableEditor, collection in
      collection.elements.move(from: from, to: to)
      if from != to { noteElements(tableEditor, collection) { $0.move(from: from, to: to) } }
    }
  }

  /// Empties a list, set or map.
  package func removeAllElements(_ table: StoredTable, _ key: ObjectKey, _ column: Int) {
    withCollection(table, key, column) { tableEditor, collection in
      if table.traits[column].isMaintained {
        removeLinks(tableEditor, column, key, collection.reader, 0..<collection.elements.count)
      }
      let count = collection.elements.count
      collection.elements.removeAll()
      if collection.isMap { collection.keys.removeAll() }
      if count > 0 { noteElements(tableEditor, collection) { $0.remove(0..<count) } }
    }
    deleteOrphans()
  }

  // MARK: - Sets

  /// Adds a value unless the set has it.
  ///
  /// - Returns: where it is.
  @discardableResult
  package func setInsert(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, _ value: ElementValue
  ) -> (position: Int, inserted: Bool) {
    withCollection(table, key, column) { tableEditor, collection in
      let (position, isThere) = collection.reader.search(value)
      if isThere { return (position, false) }
      collection.insert(value, at: position)
      if table.traits[column].isMaintained { addLinks(tableEditor, column, key, value) }
      noteElements(tableEditor, collection) { $0.insert(at: position) }
      return (position, true)
    }
  }

  /// Removes a value.
  ///
  /// - Returns: where it was; nil if the set did not have it.
  @discardableResult
  package func setRemove(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, _ value: ElementValue
  ) -> Int? {
    let removed = withCollection(table, key, column) { tableEditor, collection -> Int? in
      let reader = collection.reader
      guard let position = reader.position(of: value, sorted: true) else { return nil }
      if table.traits[column].isMaintained {
        removeLinks(tableEditor, column, key, reader, position..<position + 1)
      }
      collection.elements.remove(at: position)
      noteElements(tableEditor, collection) { $0.remove(position..<position + 1) }
      return position
    }
    deleteOrphans()
    return removed
  }

  // MARK: - Maps

  /// Sets the value of a key.
  ///
  /// - Returns: whether the key is new.
  @discardableResult
  package func mapSet(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, _ mapKey: UnsafeRawBufferPointer,
    _ value: ElementValue
  ) -> Bool {
    let inserted = withCollection(table, key, column) { tableEditor, collection in
      let (position, isThere) = collection.keyReader.search(.bytes(mapKey))
      if isThere {
        if table.traits[column].isMaintained {
          removeLinks(tableEditor, column, key, collection.reader, position..<position + 1)
        }
        collection.set(value, at: position)
      } else {
        collection.keys.insert(bytes: mapKey, at: position)
        collection.insert(value, at: position)
      }
      if table.traits[column].isMaintained { addLinks(tableEditor, column, key, value) }
      noteElements(tableEditor, collection) { changes in
        if isThere { changes.modify(at: position) } else { changes.insert(at: position) }
      }
      return !isThere
    }
    deleteOrphans()
    return inserted
  }

  /// Removes a key with its value.
  ///
  /// - Returns: whether the map had the key.
  @discardableResult
  package func mapRemove(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, _ mapKey: UnsafeRawBufferPointer
  ) -> Bool {
    let removed = withCollection(table, key, column) { tableEditor, collection in
      guard let position = collection.keyReader.position(of: .bytes(mapKey), sorted: true)
      else { return false }
      if table.traits[column].isMaintained {
        removeLinks(tableEditor, column, key, collection.reader, position..<position + 1)
      }
      collection.keys.remove(at: position)
      collection.elements.remove(at: position)
      noteElements(tableEditor, collection) { $0.remove(position..<position + 1) }
      return true
    }
    deleteOrphans()
    return removed
  }
}
