// Work on whole columns, leaf by leaf: aggregates, counts, and the complete check of a table.
public import Storage
public import Trees

extension TableReader {
  /// Visits clusters in key order until `body` returns false.
  ///
  /// - Parameters:
  ///   - columns: columns whose leaves will be looked at.
  ///   - body: gets the key of the cluster's slot 0, and the cluster.
  @inlinable
  package func forEachCluster(
    reading columns: [Int] = [],
    _ body: (_ firstKey: ObjectKey, _ cluster: UnsafeRawPointer) -> Bool
  ) {
    tree.forEachCluster(reading: columns) { number, cluster in
      body(ObjectKey(rawValue: Int64(number) &<< Cluster.slotBits), cluster)
    }
  }

  /// Visits objects in key order until `body` returns false.
  package func forEachObject(_ body: (ObjectKey, RowLocation) -> Bool) {
    tree.forEachCluster { number, cluster in
      let rows = Cluster.rows(cluster)
      return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Cluster.slotsMax) { slots in
        Cluster.slots(cluster, into: slots.baseAddress!)
        for row in 0..<rows {
          let key = ObjectKey(rawValue: Int64(number) &<< Cluster.slotBits | Int64(slots[row]))
          if !body(key, RowLocation(cluster: cluster, row: row)) { return false }
        }
        return true
      }
    }
  }

  /// The leaf of a packed column; nil if all rows of the cluster have the default.
  @inlinable
  package func leaf(_ cluster: UnsafeRawPointer, _ column: Int) -> UnsafeRawPointer? {
    let reference = Cluster.column(cluster, column)
    if reference.isNone { return nil }
    let leaf = tree.reader.pointer(reference, .packedLeaf)
    if _slowPath(PackedLeaf.rows(leaf) > Cluster.rows(cluster)) {
      tree.reader.stop(at: leaf, "it has more rows than its cluster")
    }
    return leaf
  }

  /// The sum of an integer column over the objects where it is not null; wraps on overflow.
  ///
  /// - Complexity: O(n), by the leaf.
  package func sum(_ column: Int) -> Int64 {
    var sum: Int64 = 0
    tree.forEachCluster { _, cluster in
      if let leaf = leaf(cluster, column) { sum &+= PackedLeaf.sum(leaf) }
      return true
    }
    return sum
  }

  /// The sum of a column of Double over the objects where it is not null.
  package func sumOfDoubles(_ column: Int) -> Double {
    var sum = 0.0
    tree.forEachCluster { _, cluster in
      if let leaf = leaf(cluster, column) { sum += PackedLeaf.sumOfDoubles(leaf) }
      return true
    }
    return sum
  }

  /// Smallest and largest value of an integer column; nil if all are null or there is no object.
  package func range(_ column: Int) -> ClosedRange<Int64>? {
    let isOptional = optionalColumns[column] != 0
    var result: ClosedRange<Int64>?
    tree.forEachCluster { _, cluster in
      let leaf = leaf(cluster, column)
      var found = leaf.flatMap { PackedLeaf.range($0) }
      if !isOptional, leaf.map({ PackedLeaf.rows($0) }) ?? 0 < Cluster.rows(cluster) {
        found = found.map { min($0.lowerBound, 0)...max($0.upperBound, 0) } ?? 0...0
      }
      if let found {
        result =
          result.map {
            min($0.lowerBound, found.lowerBound)...max($0.upperBound, found.upperBound)
          } ?? found
      }
      return true
    }
    return result
  }

  /// Number of objects whose packed value equals `value`; nil counts nulls.
  ///
  /// - Complexity: O(n), by the leaf.
  package func count(_ column: Int, equalTo value: Int64?) -> Int {
    let isOptional = optionalColumns[column] != 0
    let countsDefaults = isOptional ? value == nil : value == 0
    var count = 0
    tree.forEachCluster { _, cluster in
      var rows = 0
      if let leaf = leaf(cluster, column) {
        rows = PackedLeaf.rows(leaf)
        count &+= value.map { PackedLeaf.count(leaf, equalTo: $0) } ?? PackedLeaf.nullCount(leaf)
      }
      if countsDefaults { count &+= Cluster.rows(cluster) &- rows }
      return true
    }
    return count
  }

  /// Walks the table: its tree, columns and index.
  ///
  /// - Returns: what is wrong, one sentence each; empty for a sound table.
  package func checkInvariants(_ table: StoredTable) -> [String] {
    let name = table.schema.name
    var (findings, objects) = tree.checkInvariants(
      columns: table.layouts, nextKey: nextKey, name: name)
    if !findings.isEmpty { return findings }
    if objects != count { findings.append("\(name): \(objects) objects, counted as \(count)") }
    findings += checkPairs(table)
    guard keyColumn >= 0 else {
      if !indexRoot.isNone { findings.append("\(name): an index without a primary key") }
      return findings
    }
    let (indexFindings, entries) = index.checkInvariants(name: "\(name) index") { key in
      keyHash(ObjectKey(rawValue: key), table.layouts[keyColumn])
    }
    findings += indexFindings
    if entries != count { findings.append("\(name): \(entries) index entries, \(count) objects") }
    return findings
  }

  /// Starts to load what the primary keys of some objects are read from.
  func prefetchKeys(_ keys: UnsafeBufferPointer<Int64>) {
    for key in keys {
      guard let cluster = tree.cluster(Int(truncatingIfNeeded: key &>> Cluster.slotBits)) else {
        continue
      }
      let leaf = Cluster.column(cluster, keyColumn)
      // Where the element of a packed leaf is when it takes one byte.
      reader.prefetch(leaf, and: 24 &+ Int(truncatingIfNeeded: key & 255))
    }
  }

  /// The hash of an object's primary key; nil if there is no such object.
  func keyHash(_ key: ObjectKey, _ layout: ClusterTree.ColumnLayout) -> UInt64? {
    locate(key).map { keyHash($0, layout) }
  }

  /// The same of an object whose place is known.
  func keyHash(_ location: RowLocation, _ layout: ClusterTree.ColumnLayout) -> UInt64 {
    switch layout {
    case .packed:
      return isNull(location, keyColumn)
        ? IndexHash.null : IndexHash.integer(integer(location, keyColumn))
    case .bytes:
      return withBytes(location, keyColumn) { $0.map { IndexHash.bytes($0) } ?? IndexHash.null }
    case .references: preconditionFailure("a collection is no primary key")
    }
  }
}
