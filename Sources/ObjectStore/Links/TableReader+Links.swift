// Links of an object, and who links to one.
public import Storage
public import Trees

/// The objects of one table that link through one column to one object, in the order of their keys.
///
/// An object that links several times (a list that holds the target twice) comes as often. Trivial;
/// valid as long as the TableReader that gave it.
@frozen @usableFromInline
package struct Backlinks {
  @usableFromInline let reader: BlockReader
  @usableFromInline let root: BlockReference
  @usableFromInline let first: Int64

  /// Number of links.
  ///
  /// - Complexity: O(log n).
  package var count: Int { fatalError("not built yet: Backlinks.count") }

  /// The origin at a position.
  ///
  /// - Complexity: O(log n).
  package func key(at position: Int) -> ObjectKey { fatalError("not built yet: Backlinks.key") }

  /// Runs `body` on each origin until it returns false.
  package func forEach(_ body: (ObjectKey) -> Bool) {
    fatalError("not built yet: Backlinks.forEach")
  }
}

extension TableReader {
  /// The object that a to-one link leads to.
  ///
  /// - Complexity: O(1).
  @inlinable
  package func link(_ location: RowLocation, _ column: Int) -> ObjectKey? {
    isNull(location, column)
      ? nil : ObjectKey(rawValue: integer(location, column))
  }

  /// Who of this table links through `column` to an object.
  ///
  /// - Parameters:
  ///   - column: of links, or `any`.
  ///   - targetTable: the table of the target.
  package func backlinks(
    _ column: Int, _ target: ObjectKey, in targetTable: StoredTable
  ) -> Backlinks { fatalError("not built yet: backlinks") }
}
