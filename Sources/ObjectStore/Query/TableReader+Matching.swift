// Conditions on one column, a leaf at a time: which rows of a cluster have a value in a range. What the
// conditions are is the caller's matter.
internal import Storage
package import Trees

extension TableReader {
  /// A row of a cluster.
  package static func location(_ cluster: UnsafeRawPointer, _ row: Int) -> RowLocation {
    RowLocation(cluster: cluster, row: row)
  }

  /// All rows of a cluster.
  package func allRows(_ cluster: UnsafeRawPointer) -> RowSet {
    RowSet(first: Cluster.rows(cluster))
  }

  /// The slots of all rows of a cluster: what to add to the key of slot 0.
  package func slots(
    _ cluster: UnsafeRawPointer, into slots: UnsafeMutablePointer<UInt8>
  ) { Cluster.slots(cluster, into: slots) }

  /// The rows whose integer lies in a range; null rows if `includesNull`.
  ///
  /// - Complexity: O(rows).
  package func rows(
    _ cluster: UnsafeRawPointer, _ column: Int, in range: ClosedRange<Int64>, includesNull: Bool
  ) -> RowSet {
    packedRows(cluster, column, includesNull) { values, count in
      var result = SIMD4<UInt64>.zero
      for index in 0..<((count &+ 63) &>> 6) {
        var word: UInt64 = 0
        for bit in 0..<min(64, count &- index &* 64) {
          let value = values[index &* 64 &+ bit]
          let isInside = value >= range.lowerBound && value <= range.upperBound
          word |= (isInside ? 1 : 0) &<< UInt64(bit)
        }
        result[index] = word
      }
      return RowSet(words: result)
    }
  }

  /// The rows whose Double or Float lies in a range; null rows if `includesNull`.
  ///
  /// A value that is no number lies in no range.
  ///
  /// - Complexity: O(rows).
  package func rows(
    _ cluster: UnsafeRawPointer, _ column: Int, in range: ClosedRange<Double>, isFloat: Bool,
    includesNull: Bool
  ) -> RowSet {
    packedRows(cluster, column, includesNull) { values, count in
      var result = RowSet()
      for row in 0..<count {
        let bits = values[row]
        let value =
          isFloat
          ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
          : Double(bitPattern: UInt64(bitPattern: bits))
        if value >= range.lowerBound && value <= range.upperBound { result.insert(row) }
      }
      return result
    }
  }

  /// Unpacks a column of a cluster and lets `select` choose among its rows; nulls are decided here.
  @inline(__always)
  private func packedRows(
    _ cluster: UnsafeRawPointer, _ column: Int, _ includesNull: Bool,
    _ select: (UnsafeMutablePointer<Int64>, Int) -> RowSet
  ) -> RowSet {
    let rows = Cluster.rows(cluster)
    let isOptional = optionalColumns[column] != 0
    return withUnsafeTemporaryAllocation(of: Int64.self, capacity: PackedLeaf.rowsMax) { buffer in
      let values = buffer.baseAddress!
      var nulls = RowSet()
      var stored = 0
      if let leaf = leaf(cluster, column) {
        stored = PackedLeaf.rows(leaf)
        PackedLeaf.unpack(leaf, into: values)
        if PackedLeaf.hasNulls(leaf) {
          for row in 0..<stored where PackedLeaf.isNull(leaf, row) { nulls.insert(row) }
        }
      }
      for row in stored..<max(rows, stored) {
        values[row] = 0
        if isOptional { nulls.insert(row) }
      }
      let selected = select(values, rows).subtracting(nulls)
      return includesNull ? selected.union(nulls) : selected
    }
  }
}
