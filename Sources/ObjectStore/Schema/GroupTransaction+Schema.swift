// Changes of tables and columns inside a transaction. All give new StoredTables: those from before are
// not to be used with the transaction any more.

extension GroupTransaction {
  /// Drops a column with its values; later columns move up.
  ///
  /// Embedded objects that it linked to are deleted.
  ///
  /// - Precondition: not the primary key.
  /// - Complexity: O(n), by the leaf.
  @discardableResult
  package func removeColumn(_ table: StoredTable, _ column: Int) -> StoredTable {
    fatalError("not built yet: removeColumn")
  }

  /// - Complexity: O(1).
  @discardableResult
  package func renameColumn(_ table: StoredTable, _ column: Int, to name: String) -> StoredTable {
    fatalError("not built yet: renameColumn")
  }

  /// Drops a table with its objects; links from `any` columns become null.
  ///
  /// Later tables move up: their indexes change.
  ///
  /// - Precondition: no column of another table has it as target.
  package func removeTable(_ table: StoredTable) { fatalError("not built yet: removeTable") }

  /// Makes a column optional or required, and builds or drops its index.
  ///
  /// Nulls of a column that becomes required become 0, false or empty.
  @discardableResult
  package func changeColumn(
    _ table: StoredTable, _ column: Int, isOptional: Bool, isIndexed: Bool
  ) -> StoredTable { fatalError("not built yet: changeColumn") }

  /// Makes a column the primary key, or no column.
  ///
  /// - Returns: the table as it is now, or, when two objects have the same value, the table as it was
  ///   and one of these objects.
  package func setPrimaryKey(
    _ table: StoredTable, _ column: Int?
  ) -> (table: StoredTable, duplicate: ObjectKey?) { fatalError("not built yet: setPrimaryKey") }

  /// Makes a table one of embedded objects, or of others.
  ///
  /// Objects stay; that each embedded object has one link is the caller's business.
  @discardableResult
  package func setEmbedded(_ table: StoredTable, _ isEmbedded: Bool) -> StoredTable {
    fatalError("not built yet: setEmbedded")
  }
}
