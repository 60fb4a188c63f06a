// Look-ups in ordered indexes.

extension TableReader {
  /// Runs `body` on the objects whose value in an indexed column equals one, in key order, until it
  /// returns false.
  ///
  /// - Parameter value: null, an integer (bit patterns for Date, Double, Float) or bytes.
  /// - Complexity: O(log n) and the matches; bytes that begin with the same 8 are compared too.
  package func forEachIndexed(
    _ column: Int, equal value: ElementValue, _ body: (ObjectKey) -> Bool
  ) { fatalError("not built yet: forEachIndexed") }

  /// Number of objects whose value in an indexed column equals one.
  package func indexedCount(_ column: Int, equal value: ElementValue) -> Int {
    var count = 0
    forEachIndexed(column, equal: value) { _ in
      count += 1
      return true
    }
    return count
  }

  /// Runs `body` on the objects whose value in an indexed column lies between two, both included,
  /// until it returns false.
  ///
  /// Exact for packed columns. For bytes the order and the bounds look at the first 8 bytes only: the
  /// caller compares objects that come with the same `order`, and those at the bounds. Nulls come with
  /// `Int64.min`, before everything else; they are left out unless `lower` is nil or null.
  ///
  /// - Parameters:
  ///   - lower: nil for no bound; `upper` too.
  ///   - body: gets the value's order (`OrderKey`) and the object; equal orders come in key order
  ///     (descending walks: reversed).
  package func forEachIndexed(
    _ column: Int, from lower: ElementValue? = nil, through upper: ElementValue? = nil,
    ascending: Bool = true, _ body: (_ order: Int64, _ key: ObjectKey) -> Bool
  ) { fatalError("not built yet: forEachIndexed from through") }
}
