// A set of object keys, one bit each from the least possible key to the greatest: what a condition
// on linked objects found, and what puts keys in order without comparing them.
internal import Trees

/// Some of the keys of one table.
package struct KeyBits: Sendable {
  /// Key of the first bit; a cluster's first key.
  private let base: Int64
  private var words: [UInt64]

  /// A set that can hold keys of a range.
  package init(_ keys: ClosedRange<Int64>) {
    base = keys.lowerBound & ~255
    words = Array(repeating: 0, count: Int((keys.upperBound - base) / 256 + 1) * 4)
  }

  /// Bytes that a set of keys of a range takes.
  package static func bytes(_ keys: ClosedRange<Int64>) -> Int {
    Int(clamping: (keys.upperBound - keys.lowerBound) / 8)
  }

  /// Adds a key, which has to be in the range.
  package mutating func insert(_ key: ObjectKey) {
    let bit = Int(key.rawValue - base)
    words[bit >> 6] |= 1 << UInt64(bit & 63)
  }

  /// Adds the keys of rows of a cluster whose rows are its slots.
  package mutating func insert(_ rows: RowSet, from firstKey: ObjectKey) {
    let first = Int(firstKey.rawValue - base) >> 6
    for index in 0..<4 { words[first + index] |= rows.words[index] }
  }

  /// Whether a key is in the set.
  @inline(__always)
  package func contains(_ key: Int64) -> Bool {
    let bit = UInt64(bitPattern: key &- base)
    guard bit < UInt64(words.count) << 6 else { return false }
    return words[Int(bit >> 6)] & (1 << (bit & 63)) != 0
  }

  /// The keys in order.
  package func appendKeys(to keys: inout [Int64]) {
    for (index, word) in words.enumerated() {
      var word = word
      while word != 0 {
        keys.append(base + Int64(index << 6 + word.trailingZeroBitCount))
        word &= word - 1
      }
    }
  }

  /// The rows, among some of a cluster, whose packed value is a key of the set; null ones if
  /// `includesNull`.
  package func rows(
    _ table: TableReader, _ cluster: UnsafeRawPointer, _ column: Int, among candidates: RowSet,
    includesNull: Bool
  ) -> RowSet {
    let nulls = table.nullRows(cluster, column).intersection(candidates)
    let others = candidates.subtracting(nulls)
    var found = includesNull ? nulls : RowSet()
    guard !others.isEmpty, let leaf = table.leaf(cluster, column) else { return found }
    let stored = PackedLeaf.rows(leaf)
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: PackedLeaf.rowsMax) { buffer in
      let values = buffer.baseAddress.unsafelyUnwrapped
      PackedLeaf.unpack(leaf, into: values)
      words.withUnsafeBufferPointer { words in
        let end = UInt64(words.count) << 6
        others.forEach { row in
          if row < stored {
            let bit = UInt64(bitPattern: values[row] &- base)
            if bit < end, words[Int(bit >> 6)] & (1 << (bit & 63)) != 0 { found.insert(row) }
          }
          return true
        }
      }
    }
    return found
  }
}
