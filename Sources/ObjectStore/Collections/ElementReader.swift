// Reading one collection of one version, or of a running transaction until its next change. A trivial
// value like TableReader.
public import Storage

/// The elements of a list or set, or the keys or values of a map.
///
/// Valid as long as the TableReader that gave it.
@frozen @usableFromInline
package struct ElementReader {
  @usableFromInline let reader: BlockReader
  @usableFromInline let root: BlockReference
  @usableFromInline let order: ElementOrder
  /// Whether integers are object keys.
  @usableFromInline let isLinks: Bool
  /// Number of elements.
  @usableFromInline package let count: Int

  /// A packed element; unspecified for null.
  ///
  /// - Precondition: the position is below `count`; here and below.
  /// - Complexity: O(log n).
  @usableFromInline
  package func integer(at position: Int) -> Int64 { fatalError("not built yet: integer(at:)") }

  /// - Complexity: O(log n).
  @usableFromInline
  package func isNull(at position: Int) -> Bool { fatalError("not built yet: isNull(at:)") }

  /// Runs `body` on an element's bytes; nil for null.
  ///
  /// The bytes are valid inside `body` only.
  ///
  /// - Complexity: O(log n).
  @usableFromInline
  package func withBytes<Result>(
    at position: Int, _ body: (UnsafeRawBufferPointer?) throws -> Result
  ) rethrows -> Result { fatalError("not built yet: withBytes(at:)") }

  /// The object that an element links to; nil for null, which a map's value may be.
  ///
  /// - Complexity: O(log n).
  @usableFromInline
  package func link(at position: Int) -> ObjectKey? { fatalError("not built yet: link(at:)") }

  /// Where a value is first.
  ///
  /// - Parameter sorted: the elements are a set's or a map's keys.
  /// - Complexity: O(log n) when sorted, else O(n).
  package func position(of value: ElementValue, sorted: Bool) -> Int? {
    fatalError("not built yet: position(of:)")
  }

  /// Runs `body` on each element from a position on, in order, until it returns false.
  ///
  /// Bytes are valid inside `body` only.
  package func forEach(
    from position: Int = 0, _ body: (_ position: Int, _ value: ElementValue) -> Bool
  ) { fatalError("not built yet: forEach(from:)") }

  /// Copies packed elements from a position on until `values` is full or they end; null gives 0.
  ///
  /// For those who go through a list in order: a leaf at a time, no call an element.
  ///
  /// - Returns: elements copied.
  package func copyIntegers(
    from position: Int, into values: UnsafeMutableBufferPointer<Int64>
  ) -> Int { fatalError("not built yet: copyIntegers") }
}
