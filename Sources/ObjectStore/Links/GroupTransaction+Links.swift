// Links, embedded objects, and what a deletion takes with it.

extension GroupTransaction {
  /// Makes an object's to-one link lead to another object, or nowhere.
  ///
  /// An embedded object that it led to is deleted.
  ///
  /// - Precondition: both objects exist; an embedded target is not linked yet.
  package func setLink(
    _ table: StoredTable, _ key: ObjectKey, _ column: Int, _ target: ObjectKey?
  ) { fatalError("not built yet: setLink") }

  /// A new object of an embedded table, with defaults.
  ///
  /// The caller links it at once.
  package func insertEmbedded(_ table: StoredTable) -> ObjectKey {
    fatalError("not built yet: insertEmbedded")
  }

  /// Tables whose objects were changed or deleted by cascades (and by `delete` and `deleteAll`
  /// themselves) since the last call: indexes into `schema.tables`, each once.
  package func takeChangedTables() -> [Int] { [] }
}
