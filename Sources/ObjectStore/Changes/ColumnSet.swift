// Which columns of an object were changed, by their keys: keys stay when columns move or get other
// names.

/// A set of column keys.
///
/// Keys are small counters: most sets are one word.
package struct ColumnSet: Hashable, Sendable {
  /// Keys below 64, a bit each.
  private var low: UInt64 = 0
  /// The others; nil while there are none.
  private var high: Set<UInt64>?

  package init() {}

  package var isEmpty: Bool { low == 0 && high == nil }

  package func contains(_ key: UInt64) -> Bool {
    if _fastPath(key < 64) { return low & (1 &<< key) != 0 }
    return high?.contains(key) ?? false
  }

  package mutating func insert(_ key: UInt64) {
    if _fastPath(key < 64) {
      low |= 1 &<< key
    } else {
      high = (high ?? []).union([key])
    }
  }

  package func forEach(_ body: (UInt64) -> Void) {
    var rest = low
    while rest != 0 {
      body(UInt64(rest.trailingZeroBitCount))
      rest &= rest &- 1
    }
    high?.forEach(body)
  }

  package mutating func formUnion(_ other: ColumnSet) {
    low |= other.low
    if let more = other.high { high = (high ?? []).union(more) }
  }

  /// Whether a column is in both.
  package func intersects(_ other: ColumnSet) -> Bool {
    if low & other.low != 0 { return true }
    guard let high, let more = other.high else { return false }
    return !high.isDisjoint(with: more)
  }
}
