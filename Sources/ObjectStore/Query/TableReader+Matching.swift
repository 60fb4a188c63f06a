// Conditions on one column, a leaf at a time: which rows of a cluster have a value in a range. What
// the conditions are is the caller's matter.
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

  /// Whether a cluster has its rows in any slots, so that `slots` says which.
  package func isSparse(_ cluster: UnsafeRawPointer) -> Bool { Cluster.isSparse(cluster) }

  /// The rows whose integer lies in a range; null rows if `includesNull`.
  ///
  /// - Complexity: O(rows).
  package func rows(
    _ cluster: UnsafeRawPointer, _ column: Int, in range: ClosedRange<Int64>, includesNull: Bool
  ) -> RowSet {
    packedRows(cluster, column, includesNull, hasDefault: range.contains(0)) {
      PackedLeaf.rows($0, in: range)
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
    packedRows(cluster, column, includesNull, hasDefault: range.contains(0)) {
      PackedLeaf.rows($0, in: range, isFloat: isFloat)
    }
  }

  /// The rows, among some, for whose packed value a test holds; null rows if `includesNull`.
  ///
  /// - Complexity: O(rows).
  package func rows(
    _ cluster: UnsafeRawPointer, _ column: Int, among candidates: RowSet, includesNull: Bool,
    where test: (Int64) -> Bool
  ) -> RowSet {
    let nulls = nullRows(cluster, column).intersection(candidates)
    let others = candidates.subtracting(nulls)
    var found = includesNull ? nulls : RowSet()
    if others.isEmpty { return found }
    guard let leaf = leaf(cluster, column) else { return test(0) ? found.union(others) : found }
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: PackedLeaf.rowsMax) { buffer in
      let values = buffer.baseAddress.unsafelyUnwrapped
      let stored = PackedLeaf.unpack(leaf, into: values)
      others.forEach { row in
        if test(row < stored ? values[row] : 0) { found.insert(row) }
        return true
      }
    }
    return found
  }

  /// The rows whose packed value is null.
  package func nullRows(_ cluster: UnsafeRawPointer, _ column: Int) -> RowSet {
    packedRows(cluster, column, true, hasDefault: false) { _ in .zero }
  }

  /// Lets `select` choose among the rows of a leaf that are not null; what the leaf does not have
  /// is decided here.
  @inline(__always)
  private func packedRows(
    _ cluster: UnsafeRawPointer, _ column: Int, _ includesNull: Bool, hasDefault: Bool,
    _ select: (UnsafeRawPointer) -> SIMD4<UInt64>
  ) -> RowSet {
    var found = RowSet()
    var stored = RowSet()
    if let leaf = leaf(cluster, column) {
      found = RowSet(words: select(leaf))
      stored = RowSet(first: PackedLeaf.rows(leaf))
      if includesNull, optionalColumns[column] != 0 {
        found = found.union(RowSet(words: PackedLeaf.nulls(leaf)))
      }
    }
    if optionalColumns[column] == 0 ? hasDefault : includesNull {
      found = found.union(allRows(cluster).subtracting(stored))
    }
    return found
  }

  /// The rows, among some, for whose bytes a test holds; null rows if `includesNull`.
  ///
  /// - Complexity: O(candidates).
  package func rows(
    _ cluster: UnsafeRawPointer, _ column: Int, among candidates: RowSet, includesNull: Bool,
    where test: (UnsafeRawBufferPointer) -> Bool
  ) -> RowSet {
    let reference = Cluster.column(cluster, column)
    let isOptional = optionalColumns[column] != 0
    var found = RowSet()
    func decide(_ row: Int, _ bytes: UnsafeRawBufferPointer?) {
      let holds: Bool
      if let bytes {
        holds = test(bytes)
      } else {
        holds = isOptional ? includesNull : test(UnsafeRawBufferPointer(start: nil, count: 0))
      }
      if holds { found.insert(row) }
    }
    if !reference.isNone, let block = bytesLeaf(reference) {
      let rows = BytesLeaf.rows(block)
      candidates.forEach { row in
        decide(
          row, row < rows && !BytesLeaf.isNull(block, row) ? BytesLeaf.bytes(block, row) : nil)
        return true
      }
    } else {
      candidates.forEach { row in
        BytesColumn.withBytes(tree.reader, reference, row) { decide(row, $0) }
        return true
      }
    }
    return found
  }

  /// The one leaf of a column; nil when it has several.
  private func bytesLeaf(_ reference: BlockReference) -> UnsafeRawPointer? {
    let block = tree.reader.pointer(reference)
    return BlockHeader.kind(block) == .bytesLeaf ? block : nil
  }
}
