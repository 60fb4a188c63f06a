// What indexes, links and keys tell of the objects of a condition: how many there are, which, and
// their rows by the cluster. Which of these is used is the caller's matter.
internal import Trees

/// Objects whose keys a tree of pairs holds in order: those of one value of an index, or that link
/// to one.
package struct KeyStream {
  private let tree: PairTree
  private let first: Int64

  /// The objects whose value in an indexed column has an order.
  package init(_ table: TableReader, _ column: Int, order: Int64) {
    tree = table.pairTree(column, .index)
    first = order
  }

  /// The objects that link through a column to an object; one comes as often as it links.
  package init(_ table: TableReader, _ column: Int, target: Int64) {
    tree = table.pairTree(column, .links)
    first = target
  }

  /// Number of keys.
  ///
  /// - Complexity: O(log n).
  package var count: Int { tree.count(first: first) }

  /// Copies keys that are not less than one, in order, until `keys` is full or they end.
  ///
  /// - Returns: keys copied.
  package func copyKeys(from key: Int64, into keys: UnsafeMutableBufferPointer<Int64>) -> Int {
    tree.copySeconds(of: first, from: key, into: keys)
  }

  /// Adds all keys to an array.
  package func appendKeys(to keys: inout [Int64]) {
    tree.forEach(from: Pair(first, .min)) { pair in
      guard pair.first == first else { return false }
      keys.append(pair.second)
      return true
    }
  }
}

extension TableReader {
  /// The orders that values of a column have; see `OrderKey`.
  package func elementOrder(_ column: Int) -> ElementOrder { traits[column].order }

  /// Number of objects whose value in an indexed column has an order in a range.
  ///
  /// - Complexity: O(log n).
  package func indexedCount(_ column: Int, _ orders: ClosedRange<Int64>) -> Int {
    let tree = pairTree(column, .index)
    let end = tree.rank(Pair(orders.upperBound, .max), orEqual: true)
    return orders.lowerBound == .min ? end : end - tree.rank(Pair(orders.lowerBound, .min))
  }

  /// Number of links of a column.
  package func linkCount(_ column: Int) -> Int { pairTree(column, .links).count }

  /// Runs `body` on the keys of objects whose value in an indexed column has an order in a range,
  /// in the order of values.
  package func forEachKey(
    _ column: Int, _ orders: ClosedRange<Int64>, _ body: (Int64) -> Void
  ) {
    pairTree(column, .index).forEach(from: Pair(orders.lowerBound, .min)) { pair in
      guard pair.first <= orders.upperBound else { return false }
      body(pair.second)
      return true
    }
  }

  /// The object with the least or the greatest order in an indexed column within a range, the first
  /// of several in key order; nil when there is none.
  ///
  /// - Complexity: O(log n).
  package func extremeKey(
    _ column: Int, _ orders: ClosedRange<Int64>, isGreatest: Bool
  ) -> ObjectKey? {
    let tree = pairTree(column, .index)
    let start = tree.rank(Pair(orders.lowerBound, .min))
    let end = tree.rank(Pair(orders.upperBound, .max), orEqual: true)
    if start >= end { return nil }
    if !isGreatest { return ObjectKey(rawValue: tree.pair(at: start).second) }
    let order = tree.pair(at: end - 1).first
    return ObjectKey(rawValue: tree.pair(at: tree.rank(Pair(order, .min))).second)
  }

  /// The keys from the first object's to the last one's; nil without objects.
  package var keyRange: ClosedRange<Int64>? {
    count == 0 ? nil : key(at: 0).rawValue...key(at: count - 1).rawValue
  }

  /// Number of rows that a cluster has at most: it has the objects with the keys from a multiple of
  /// this on.
  package static var clusterRowsMax: Int { 1 << Cluster.slotBits }

  /// Visits clusters in key order, from the one of a key on, until `body` returns false.
  ///
  /// - Parameters:
  ///   - isScan: whether most clusters will be visited, so that reading them ahead pays.
  ///   - columns: columns whose leaves will be looked at.
  package func forEachCluster(
    from key: Int64, isScan: Bool, reading columns: [Int],
    _ body: (_ firstKey: ObjectKey, _ cluster: UnsafeRawPointer) -> Bool
  ) {
    tree.forEachCluster(
      from: Int(key >> Cluster.slotBits), isScan: isScan, reading: columns
    ) { number, cluster in
      body(ObjectKey(rawValue: Int64(number) &<< Cluster.slotBits), cluster)
    }
  }

  /// The rows of a cluster whose slots are not below one.
  package func rows(_ cluster: UnsafeRawPointer, fromSlot slot: Int) -> RowSet {
    let all = allRows(cluster)
    return slot <= 0 ? all : all.subtracting(RowSet(first: Cluster.rank(cluster, slot: slot)))
  }

  /// Visits the clusters of keys, which are in order, with their rows, until `body` returns false.
  ///
  /// Keys of objects that are not there are passed over.
  ///
  /// - Returns: false when `body` did.
  @discardableResult
  package func forEachCluster(
    of keys: UnsafeBufferPointer<Int64>,
    _ body: (_ firstKey: ObjectKey, _ cluster: UnsafeRawPointer, _ rows: RowSet) -> Bool
  ) -> Bool {
    var index = 0
    while index < keys.count {
      let number = keys[index] >> Cluster.slotBits
      let cluster = tree.cluster(Int(number))
      var rows = RowSet()
      while index < keys.count, keys[index] >> Cluster.slotBits == number {
        if let cluster, let row = Cluster.row(cluster, slot: Int(keys[index] & 255)) {
          rows.insert(row)
        }
        index += 1
      }
      if index < keys.count { prefetchCluster(ObjectKey(rawValue: keys[index])) }
      if let cluster, !rows.isEmpty,
        !body(ObjectKey(rawValue: number << Cluster.slotBits), cluster, rows)
      {
        return false
      }
    }
    return true
  }
}
