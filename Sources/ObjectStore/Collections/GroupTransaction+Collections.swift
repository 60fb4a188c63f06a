// Changing lists, sets and maps inside a transaction.

extension GroupTransaction {
  // MARK: - Lists

  /// Puts an element at a position; later ones move back.
  ///
  /// - Precondition: the object exists and the position is not behind the end; here and below.
  package func listInsert(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, at position: Int, _ value: ElementValue
  ) { fatalError("not built yet: listInsert") }

  package func listAppend(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, _ value: ElementValue
  ) { fatalError("not built yet: listAppend") }

  /// Appends packed values that are no links.
  package func listAppend(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, integers: UnsafeBufferPointer<Int64>
  ) { fatalError("not built yet: listAppend integers") }

  package func listSet(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, at position: Int, _ value: ElementValue
  ) { fatalError("not built yet: listSet") }

  package func listRemove(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, at position: Int
  ) { fatalError("not built yet: listRemove") }

  package func listRemove(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, _ range: Range<Int>
  ) { fatalError("not built yet: listRemove range") }

  /// Moves an element so that it is at `to` afterwards.
  package func listMove(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, from: Int, to: Int
  ) { fatalError("not built yet: listMove") }

  /// Empties a list, set or map.
  package func removeAllElements(_ table: StoredTable, _ key: ObjectKey, _ column: Int) {
    fatalError("not built yet: removeAllElements")
  }

  // MARK: - Sets

  /// Adds a value unless the set has it.
  ///
  /// - Returns: where it is.
  @discardableResult
  package func setInsert(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, _ value: ElementValue
  ) -> (position: Int, inserted: Bool) { fatalError("not built yet: setInsert") }

  /// - Returns: where it was; nil if the set did not have it.
  @discardableResult
  package func setRemove(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, _ value: ElementValue
  ) -> Int? { fatalError("not built yet: setRemove") }

  // MARK: - Maps

  /// Sets the value of a key.
  ///
  /// - Returns: whether the key is new.
  @discardableResult
  package func mapSet(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, _ mapKey: UnsafeRawBufferPointer,
    _ value: ElementValue
  ) -> Bool { fatalError("not built yet: mapSet") }

  /// - Returns: whether the map had the key.
  @discardableResult
  package func mapRemove(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, _ mapKey: UnsafeRawBufferPointer
  ) -> Bool { fatalError("not built yet: mapRemove") }
}
