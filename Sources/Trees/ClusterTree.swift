// A table's objects: a radix tree on the object key. Keys are counters and never reused, so nothing
// ever splits or balances: 256 keys a cluster, 64 children a branch, as many levels as the highest key
// needs. Order is key order, which is insertion order. Counts in the branches give access by position.
//
// Branch payload:  [64 references] [64 x u32 objects below]
// Cluster payload: [reference of each column's leaf] [u16 rows] [u16 flags] [32 bytes of presence, if
// flagged]. Without the flag the rows are slots 0 ..< rows. A missing column leaf (no reference, or
// fewer references than the schema has columns) means the column's default in every row.
public import Storage

/// Where an object is: its cluster and its row there.
///
/// Valid as long as the version, or until the next change in a transaction.
@frozen @usableFromInline
package struct RowLocation {
  @usableFromInline package let cluster: UnsafeRawPointer
  @usableFromInline package let row: Int

  @inlinable package init(cluster: UnsafeRawPointer, row: Int) {
    self.cluster = cluster
    self.row = row
  }
}

/// Reading cluster blocks.
@frozen @usableFromInline
package enum Cluster {
  package static let kind = BlockKind(rawValue: 0x96)
  package static let capacity = 256
  static let sparseFlag: UInt16 = 1
  static let presenceLength = 32

  /// The leaf of a column; none: every row has the default.
  @inlinable @inline(__always)
  package static func leaf(_ cluster: UnsafeRawPointer, _ column: Int) -> BlockReference {
    column < BlockHeader.count(cluster) ? BlockHeader.reference(cluster, column) : .none
  }

  @inline(__always)
  static func tail(_ cluster: UnsafeRawPointer) -> UnsafeRawPointer {
    cluster + BlockHeader.length + BlockHeader.count(cluster) * 8
  }

  /// Number of objects.
  package static func rows(_ cluster: UnsafeRawPointer) -> Int {
    Int(tail(cluster).loadUnaligned(as: UInt16.self))
  }

  static func isSparse(_ cluster: UnsafeRawPointer) -> Bool {
    tail(cluster).loadUnaligned(fromByteOffset: 2, as: UInt16.self) & sparseFlag != 0
  }

  static func presence(_ cluster: UnsafeRawPointer, _ word: Int) -> UInt64 {
    tail(cluster).loadUnaligned(fromByteOffset: 4 + word * 8, as: UInt64.self)
  }

  /// The row of a slot; nil when no object is there.
  package static func row(_ cluster: UnsafeRawPointer, slot: Int) -> Int? {
    if !isSparse(cluster) { return slot < rows(cluster) ? slot : nil }
    let word = slot >> 6
    let bits = presence(cluster, word)
    let bit = UInt64(1) << UInt64(slot & 63)
    guard bits & bit != 0 else { return nil }
    var row = (bits & (bit - 1)).nonzeroBitCount
    for earlier in 0..<word { row += presence(cluster, earlier).nonzeroBitCount }
    return row
  }

  /// The slot of a row, which must exist.
  package static func slot(_ cluster: UnsafeRawPointer, row: Int) -> Int {
    if !isSparse(cluster) { return row }
    var rest = row
    for word in 0..<4 {
      var bits = presence(cluster, word)
      let count = bits.nonzeroBitCount
      if rest >= count {
        rest -= count
        continue
      }
      for _ in 0..<rest { bits &= bits - 1 }
      return word << 6 + bits.trailingZeroBitCount
    }
    preconditionFailure("row \(row) is not in the cluster")
  }

  /// The lowest occupied slot that is not below `slot`.
  static func firstSlot(_ cluster: UnsafeRawPointer, from slot: Int) -> Int? {
    if !isSparse(cluster) { return slot < rows(cluster) ? slot : nil }
    var word = slot >> 6
    guard word < 4 else { return nil }
    var bits = presence(cluster, word) & (~0 << UInt64(slot & 63))
    while bits == 0 {
      word += 1
      guard word < 4 else { return nil }
      bits = presence(cluster, word)
    }
    return word << 6 + bits.trailingZeroBitCount
  }
}

/// The shape of a tree: what a table root stores of it.
@frozen @usableFromInline
package struct ClusterTree: Sendable {
  static let branchKind = BlockKind(rawValue: 0x95)
  static let fanOut = 64

  @usableFromInline package var root: BlockReference
  /// Branch levels above the clusters.
  package var depth: Int
  /// Number of objects.
  package var count: Int

  package init(root: BlockReference = .none, depth: Int = 0, count: Int = 0) {
    self.root = root
    self.depth = depth
    self.count = count
  }

  @inline(__always)
  static func objects(_ branch: UnsafeRawPointer, _ slot: Int) -> Int {
    Int(
      branch.loadUnaligned(
        fromByteOffset: BlockHeader.length + fanOut * 8 + slot * 4, as: UInt32.self))
  }

  @inline(__always)
  private func slot(_ key: Int64, _ level: Int) -> Int { Int(key >> Int64(2 + 6 * level)) & 63 }

  private func isInRange(_ key: Int64) -> Bool { key >= 0 && key >> Int64(8 + 6 * depth) == 0 }

  // MARK: - Reading

  /// The cluster that would hold a key.
  package func cluster(_ reader: BlockReader, _ key: Int64) -> UnsafeRawPointer? {
    guard !root.isNone, isInRange(key) else { return nil }
    var block = reader.pointer(root)
    var level = depth
    while level > 0 {
      let child = BlockHeader.reference(block, slot(key, level))
      if child.isNone { return nil }
      block = reader.pointer(child)
      level -= 1
    }
    return block
  }

  package func locate(_ reader: BlockReader, _ key: Int64) -> RowLocation? {
    guard let cluster = cluster(reader, key), let row = Cluster.row(cluster, slot: Int(key & 255))
    else { return nil }
    return RowLocation(cluster: cluster, row: row)
  }

  /// The key at a position in key order, which must exist.
  package func key(_ reader: BlockReader, at position: Int) -> Int64 {
    precondition(position >= 0 && position < count, "position \(position) of \(count)")
    var block = reader.pointer(root)
    var rest = position
    var key: Int64 = 0
    for _ in 0..<depth {
      var slot = 0
      while true {
        let below = Self.objects(block, slot)
        if rest < below { break }
        rest -= below
        slot += 1
        precondition(slot < Self.fanOut, "branch counts are wrong")
      }
      key = key << 6 | Int64(slot)
      block = reader.pointer(BlockHeader.reference(block, slot))
    }
    return key << 8 | Int64(Cluster.slot(block, row: rest))
  }

  /// The position of a key in key order.
  package func position(_ reader: BlockReader, of key: Int64) -> Int? {
    guard !root.isNone, isInRange(key) else { return nil }
    var block = reader.pointer(root)
    var position = 0
    var level = depth
    while level > 0 {
      let slot = slot(key, level)
      for earlier in 0..<slot { position += Self.objects(block, earlier) }
      let child = BlockHeader.reference(block, slot)
      if child.isNone { return nil }
      block = reader.pointer(child)
      level -= 1
    }
    return Cluster.row(block, slot: Int(key & 255)).map { position + $0 }
  }

  /// The lowest key above `key`; with nil the lowest of all.
  package func nextKey(_ reader: BlockReader, after key: Int64?) -> Int64? {
    guard !root.isNone else { return nil }
    let start = key.map { $0 + 1 } ?? 0
    guard isInRange(start) else { return nil }
    return firstKey(reader, root, level: depth, from: start, prefix: 0)
  }

  private func firstKey(
    _ reader: BlockReader, _ node: BlockReference, level: Int, from start: Int64, prefix: Int64
  ) -> Int64? {
    let block = reader.pointer(node)
    if level == 0 {
      let first = start >> 8 == prefix ? Int(start & 255) : 0
      return Cluster.firstSlot(block, from: first).map { prefix << 8 | Int64($0) }
    }
    let shift = Int64(2 + 6 * level)
    let isOnPath = start >> (shift + 6) == prefix
    for slot in (isOnPath ? Int(start >> shift) & 63 : 0)..<Self.fanOut {
      let child = BlockHeader.reference(block, slot)
      if child.isNone { continue }
      let next = prefix << 6 | Int64(slot)
      if let key = firstKey(reader, child, level: level - 1, from: start, prefix: next) {
        return key
      }
    }
    return nil
  }

  /// Visits clusters in key order until `body` returns false.
  package func forEachCluster(
    _ reader: BlockReader, _ body: (_ firstKey: Int64, _ cluster: UnsafeRawPointer) -> Bool
  ) {
    if root.isNone { return }
    _ = visit(reader, root, depth, 0, body)
  }

  private func visit(
    _ reader: BlockReader, _ node: BlockReference, _ level: Int, _ prefix: Int64,
    _ body: (Int64, UnsafeRawPointer) -> Bool
  ) -> Bool {
    let block = reader.pointer(node)
    if level == 0 { return body(prefix << 8, block) }
    for slot in 0..<Self.fanOut {
      let child = BlockHeader.reference(block, slot)
      if child.isNone { continue }
      if !visit(reader, child, level - 1, prefix << 6 | Int64(slot), body) { return false }
    }
    return true
  }
}
