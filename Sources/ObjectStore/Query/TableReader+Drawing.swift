// Values of one column of many objects, drawn a leaf at a time where the objects lie together. What
// is made of them is the caller's matter.
internal import Storage
internal import Trees

extension TableReader {
  /// Writes the packed values of some objects of a column to `values`.
  ///
  /// What is written for null is unspecified.
  ///
  /// - Parameters:
  ///   - keys: in any order; those in order are read a leaf at a time.
  ///   - null: called with the place of each object whose value is null, or that is not there, in
  ///     order.
  /// - Complexity: O(1) an object in order, else O(log n).
  package func draw(
    _ keys: UnsafeBufferPointer<Int64>, _ column: Int, into values: UnsafeMutablePointer<Int64>,
    null: (Int) -> Void
  ) {
    let isOptional = optionalColumns[column] != 0
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: PackedLeaf.rowsMax) { buffer in
      let unpacked = buffer.baseAddress.unsafelyUnwrapped
      forEachCluster(of: keys) { range, cluster in
        guard let cluster else { return range.forEach(null) }
        let leaf = leaf(cluster, column)
        let rows = leaf.map { PackedLeaf.rows($0) } ?? 0
        let isWhole = range.count >= 16
        if isWhole, let leaf { PackedLeaf.unpack(leaf, into: unpacked) }
        if isWhole, isAll(keys, range, cluster), rows == range.count, !PackedLeaf.hasNulls(leaf!) {
          (values + range.lowerBound).update(from: unpacked, count: rows)
          return
        }
        for index in range {
          guard let row = Cluster.row(cluster, slot: Int(truncatingIfNeeded: keys[index] & 255))
          else {
            null(index)
            continue
          }
          if row >= rows {
            // Rows behind the leaf's end have the default.
            values[index] = 0
            if isOptional { null(index) }
          } else {
            values[index] = isWhole ? unpacked[row] : PackedLeaf.value(leaf!, row)
            if isOptional, PackedLeaf.isNull(leaf!, row) { null(index) }
          }
        }
      }
    }
  }

  /// Runs `body` with the bytes that each of some objects has in a column, in the order of the
  /// keys.
  ///
  /// Bytes of at most `drawnBytesMax` are valid as long as the reader, longer ones inside of `body`
  /// only.
  ///
  /// - Parameter body: gets the object's place and its bytes; nil for null, and when the object is
  ///   not there.
  /// - Complexity: O(1) an object in order, else O(log n).
  package func drawBytes(
    _ keys: UnsafeBufferPointer<Int64>, _ column: Int,
    _ body: (Int, UnsafeRawBufferPointer?) -> Void
  ) {
    let isOptional = optionalColumns[column] != 0
    let missing = isOptional ? nil : UnsafeRawBufferPointer(start: nil, count: 0)
    forEachCluster(of: keys) { range, cluster in
      guard let cluster else { return range.forEach { body($0, nil) } }
      let reference = Cluster.column(cluster, column)
      let block = reference.isNone ? nil : tree.reader.pointer(reference)
      let isLeaf = block.map { BlockHeader.kind($0) == .bytesLeaf } ?? false
      let rows = block.map { BytesColumn.rows(tree.reader, $0) } ?? 0
      for index in range {
        guard let row = Cluster.row(cluster, slot: Int(truncatingIfNeeded: keys[index] & 255))
        else {
          body(index, nil)
          continue
        }
        if row >= rows {
          body(index, missing)
        } else if isLeaf {
          let isNull = isOptional && BytesLeaf.isNull(block!, row)
          body(index, isNull ? nil : BytesLeaf.bytes(block!, row))
        } else {
          BytesColumn.withBytes(tree.reader, reference, row) { body(index, $0 ?? missing) }
        }
      }
    }
  }

  /// The longest bytes that `drawBytes` gives as they lie in the file.
  package static var drawnBytesMax: Int { LongValue.inlineMax }

  /// Runs `body` with each run of keys of one cluster; with nil when there is no such cluster.
  @inline(__always)
  private func forEachCluster(
    of keys: UnsafeBufferPointer<Int64>, _ body: (Range<Int>, UnsafeRawPointer?) -> Void
  ) {
    var start = 0
    while start < keys.count {
      let number = keys[start] &>> Cluster.slotBits
      var end = start &+ 1
      while end < keys.count, keys[end] &>> Cluster.slotBits == number { end &+= 1 }
      body(start..<end, tree.cluster(Int(truncatingIfNeeded: number)))
      start = end
    }
  }

  /// Whether a run of keys is all objects of a cluster in which rows are slots.
  private func isAll(
    _ keys: UnsafeBufferPointer<Int64>, _ range: Range<Int>, _ cluster: UnsafeRawPointer
  ) -> Bool {
    guard !Cluster.isSparse(cluster), range.count == Cluster.rows(cluster) else { return false }
    // Keys need not be in order, nor be different.
    for index in range where Int(truncatingIfNeeded: keys[index] & 255) != index &- range.lowerBound
    {
      return false
    }
    return true
  }
}
