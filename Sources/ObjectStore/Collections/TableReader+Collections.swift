// Collections of an object.
public import Trees

extension TableReader {
  /// The elements of a list or set.
  ///
  /// - Complexity: O(1).
  @usableFromInline
  package func elements(_ location: RowLocation, _ column: Int) -> ElementReader {
    fatalError("not built yet: elements")
  }

  /// The keys of a map, sorted by their bytes; as many as its values, at the same positions.
  @usableFromInline
  package func mapKeys(_ location: RowLocation, _ column: Int) -> ElementReader {
    fatalError("not built yet: mapKeys")
  }

  /// The values of a map, in the order of its keys.
  @usableFromInline
  package func mapValues(_ location: RowLocation, _ column: Int) -> ElementReader {
    fatalError("not built yet: mapValues")
  }

  /// Where a map has a key; nil if it has not.
  ///
  /// - Complexity: O(log n).
  package func mapPosition(
    _ location: RowLocation, _ column: Int, _ key: UnsafeRawBufferPointer
  ) -> Int? { fatalError("not built yet: mapPosition") }
}
