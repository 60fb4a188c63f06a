// Links of an object, and who links to one. A column's tree of links holds a pair (target, origin)
// for each link; the target is an object key, or for `any` columns AnyCoding's packing of table and
// object.
public import Trees

/// The objects of one table that link through one column to one object, in the order of their keys.
///
/// An object that links several times (a list that holds the target twice) comes as often. Trivial;
/// valid as long as the TableReader that gave it.
@frozen @usableFromInline
package struct Backlinks {
  @usableFromInline let tree: PairTree
  @usableFromInline let first: Int64

  /// Number of links.
  ///
  /// - Complexity: O(log n).
  package var count: Int { tree.count(first: first) }

  /// The origin at a position.
  ///
  /// - Precondition: the position is below `count`.
  /// - Complexity: O(log n).
  package func key(at position: Int) -> ObjectKey {
    ObjectKey(rawValue: tree.second(of: first, at: position))
  }

  /// Copies the keys of the origins, in order, until `keys` is full or they end.
  ///
  /// - Returns: keys copied.
  /// - Complexity: O(log n + keys).
  package func copyKeys(into keys: UnsafeMutableBufferPointer<Int64>) -> Int {
    tree.copySeconds(of: first, into: keys)
  }

  /// Runs `body` on each origin until it returns false.
  @inlinable
  package func forEach(_ body: (ObjectKey) -> Bool) {
    tree.forEach(from: Pair(first, .min)) { pair in
      pair.first == first && body(ObjectKey(rawValue: pair.second))
    }
  }
}

extension TableReader {
  /// The object that a to-one link leads to.
  ///
  /// - Complexity: O(1).
  @inlinable
  package func link(_ location: RowLocation, _ column: Int) -> ObjectKey? {
    optionalInteger(location, column).map { ObjectKey(rawValue: $0) }
  }

  /// Who of this table links through `column` to an object.
  ///
  /// - Parameters:
  ///   - column: of links, or `any`.
  ///   - targetTable: the table of the target.
  package func backlinks(
    _ column: Int, _ target: ObjectKey, in targetTable: StoredTable
  ) -> Backlinks {
    Backlinks(
      tree: pairTree(column, .links),
      first: traits[column].isAny
        ? AnyCoding.packed(tableKey: targetTable.tableKey, target) : target.rawValue)
  }
}

extension StoredSchema {
  /// The columns whose links can lead to a table: those of its objects, and all of type `any`.
  package func linkColumns(to table: Int) -> [(table: Int, column: Int)] {
    (incoming[table] + anyColumns).map { ($0.table, $0.column) }
  }
}

extension Backlinks {
  /// How many links come from objects before one in key order.
  ///
  /// - Complexity: O(log n).
  package func count(before origin: ObjectKey) -> Int {
    tree.rank(Pair(first, origin.rawValue)) - tree.rank(Pair(first, .min))
  }

  /// How often one object links.
  ///
  /// - Complexity: O(log n).
  package func count(of origin: ObjectKey) -> Int {
    tree.rank(Pair(first, origin.rawValue), orEqual: true)
      - tree.rank(Pair(first, origin.rawValue))
  }
}
