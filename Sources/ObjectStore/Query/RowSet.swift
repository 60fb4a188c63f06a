// Which rows of a cluster are meant: one bit each.

/// Some of up to 256 rows of a cluster.
@frozen @usableFromInline
package struct RowSet: Equatable, Sendable {
  @usableFromInline var words: SIMD4<UInt64>

  @inlinable init(words: SIMD4<UInt64>) { self.words = words }

  /// No row.
  @inlinable package init() { words = .zero }

  /// The first `count` rows.
  @inlinable package init(first count: Int) {
    words = .zero
    for index in 0..<4 {
      let bits = min(max(count &- index &* 64, 0), 64)
      words[index] = bits == 64 ? ~0 : (1 &<< UInt64(bits)) &- 1
    }
  }

  @inlinable package var isEmpty: Bool { words == .zero }

  /// Number of rows.
  @inlinable package var count: Int {
    words[0].nonzeroBitCount &+ words[1].nonzeroBitCount &+ words[2].nonzeroBitCount
      &+ words[3].nonzeroBitCount
  }

  /// The one row, if there is one alone.
  package var only: Int? { count == 1 ? first : nil }

  /// The first row; nil when there is none.
  package var first: Int? {
    for index in 0..<4 where words[index] != 0 {
      return index &* 64 &+ words[index].trailingZeroBitCount
    }
    return nil
  }

  @inlinable package mutating func insert(_ row: Int) {
    words[row &>> 6] |= 1 &<< UInt64(row & 63)
  }

  @inlinable package func contains(_ row: Int) -> Bool {
    words[row &>> 6] & (1 &<< UInt64(row & 63)) != 0
  }

  /// The rows of both.
  @inlinable package func intersection(_ other: RowSet) -> RowSet {
    RowSet(words: words & other.words)
  }

  /// The rows of one or both.
  @inlinable package func union(_ other: RowSet) -> RowSet { RowSet(words: words | other.words) }

  /// The first rows, no more than so many.
  package func prefix(_ count: Int) -> RowSet {
    var rows = RowSet()
    var left = count
    forEach { row in
      if left > 0 { rows.insert(row) }
      left -= 1
      return left > 0
    }
    return rows
  }

  /// The rows that the other set does not have.
  @inlinable package func subtracting(_ other: RowSet) -> RowSet {
    RowSet(words: words & ~other.words)
  }

  /// Runs `body` on each row in order, until it returns false.
  ///
  /// - Returns: false when `body` did.
  @inlinable @discardableResult
  package func forEach(_ body: (Int) throws -> Bool) rethrows -> Bool {
    for index in 0..<4 {
      var word = words[index]
      while word != 0 {
        if try !body(index &* 64 &+ word.trailingZeroBitCount) { return false }
        word &= word &- 1
      }
    }
    return true
  }
}
