// Collections of an object. A list's or set's cell refers to its tree of elements, a map's to a
// root of two trees at the same positions.
//
//   mapRoot  header count = 2; references: keys (bytes, sorted), values
public import Storage
public import Trees

extension TableReader {
  /// What the cell of a collection refers to; none if it is empty.
  @inlinable @inline(__always)
  func cell(_ location: RowLocation, _ column: Int) -> BlockReference {
    ReferenceLeaf.reference(
      tree.reader, Cluster.column(location.cluster, column), location.row)
  }

  /// The elements of a list or set.
  ///
  /// - Complexity: O(1).
  @inlinable
  package func elements(_ location: RowLocation, _ column: Int) -> ElementReader {
    elements(cell(location, column), column)
  }

  @inlinable
  func elements(_ root: BlockReference, _ column: Int) -> ElementReader {
    ElementReader(
      reader: tree.reader, root: root, order: traits[column].order,
      isLinks: traits[column].isLink)
  }

  /// The keys of a map, sorted by their bytes; as many as its values, at the same positions.
  @inlinable
  package func mapKeys(_ location: RowLocation, _ column: Int) -> ElementReader {
    let cell = cell(location, column)
    return ElementReader(
      reader: tree.reader,
      root: cell.isNone ? .none : BlockHeader.reference(tree.reader.pointer(cell, .mapRoot), 0),
      order: .bytes, isLinks: false)
  }

  /// The values of a map, in the order of its keys.
  @inlinable
  package func mapValues(_ location: RowLocation, _ column: Int) -> ElementReader {
    let cell = cell(location, column)
    return elements(
      cell.isNone ? .none : BlockHeader.reference(tree.reader.pointer(cell, .mapRoot), 1), column)
  }

  /// Where a map has a key; nil if it has not.
  ///
  /// - Complexity: O(log n).
  package func mapPosition(
    _ location: RowLocation, _ column: Int, _ key: UnsafeRawBufferPointer
  ) -> Int? { mapKeys(location, column).position(of: .bytes(key), sorted: true) }
}
