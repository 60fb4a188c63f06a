// Up to 256 objects: a node with one reference a column. Object keys 256 n ... 256 n + 255 share
// the cluster of number n; the key's low 8 bits are its slot.
//
//   cluster        header count = columns; width byte = rows - 1; references. Slots 0 ..< rows are used.
//   sparseCluster  the same, then 32 bytes presence bitmap, one bit a slot; row = set bits before it.
//
// A reference of 0, or a column behind the last, means that all rows have the column's default, so
// a new column costs nothing. What is below a reference is the column's business.
public import Storage

/// Reading of clusters.
@frozen @usableFromInline
package enum Cluster {
  /// Objects that fit in one cluster.
  @inlinable package static var slotsMax: Int { 256 }
  /// Bits of a key that name its slot.
  @inlinable package static var slotBits: Int64 { 8 }
  @inlinable static var presenceLength: Int { 32 }
  /// Columns for which a cluster has room, also one with a presence bitmap.
  package static let columnsMax =
    (BlockHeader.blockLengthMax - BlockHeader.length - presenceLength) / 8

  /// Objects in the cluster.
  @inlinable @inline(__always)
  package static func rows(_ block: UnsafeRawPointer) -> Int { Int(BlockHeader.width(block)) &+ 1 }

  /// Columns that the cluster knows.
  @inlinable @inline(__always)
  package static func columns(_ block: UnsafeRawPointer) -> Int { BlockHeader.count(block) }

  /// The block of a column; none if all rows have the default.
  @inlinable @inline(__always)
  package static func column(_ block: UnsafeRawPointer, _ column: Int) -> BlockReference {
    column < BlockHeader.count(block) ? BlockHeader.reference(block, column) : .none
  }

  @inlinable package static func isSparse(_ block: UnsafeRawPointer) -> Bool {
    BlockHeader.kind(block) == .sparseCluster
  }

  @inlinable static func presence(_ block: UnsafeRawPointer) -> UnsafeRawPointer {
    block + BlockHeader.length + BlockHeader.count(block) &* 8
  }

  @inlinable static func word(_ block: UnsafeRawPointer, _ index: Int) -> UInt64 {
    presence(block).integer(at: index &* 8, as: UInt64.self)
  }

  /// The row of a slot; nil if no object has it.
  @inlinable @inline(__always)
  package static func row(_ block: UnsafeRawPointer, slot: Int) -> Int? {
    if _fastPath(!isSparse(block)) { return slot < rows(block) ? slot : nil }
    return sparseRow(block, slot: slot)
  }

  @usableFromInline
  static func sparseRow(_ block: UnsafeRawPointer, slot: Int) -> Int? {
    let last = word(block, slot >> 6)
    let mask: UInt64 = 1 &<< UInt64(slot & 63)
    if last & mask == 0 { return nil }
    return rank(block, slot: slot)
  }

  /// Number of objects in slots before this one.
  package static func rank(_ block: UnsafeRawPointer, slot: Int) -> Int {
    if !isSparse(block) { return min(slot, rows(block)) }
    var rank = 0
    for index in 0..<(slot >> 6) { rank += word(block, index).nonzeroBitCount }
    if slot & 63 != 0 {
      rank += (word(block, slot >> 6) & ((1 &<< UInt64(slot & 63)) - 1)).nonzeroBitCount
    }
    return rank
  }

  /// The slot of a row.
  package static func slot(_ block: UnsafeRawPointer, row: Int) -> Int {
    if !isSparse(block) { return row }
    var left = row
    for index in 0..<4 {
      var word = word(block, index)
      let count = word.nonzeroBitCount
      if left >= count {
        left -= count
        continue
      }
      while left > 0 {
        word &= word &- 1
        left -= 1
      }
      return index * 64 + word.trailingZeroBitCount
    }
    preconditionFailure("a cluster of \(rows(block)) rows has no row \(row)")
  }

  /// The first used slot at or after one; nil if there is none.
  package static func nextSlot(_ block: UnsafeRawPointer, from slot: Int) -> Int? {
    if slot >= slotsMax { return nil }
    if !isSparse(block) { return slot < rows(block) ? slot : nil }
    var word = word(block, slot >> 6) & (~0 &<< UInt64(slot & 63))
    var index = slot >> 6
    while word == 0 {
      index += 1
      if index == 4 { return nil }
      word = self.word(block, index)
    }
    return index * 64 + word.trailingZeroBitCount
  }

  /// Writes the slots of all rows to `slots`, which has room for 256.
  ///
  /// - Returns: rows.
  @discardableResult
  package static func slots(
    _ block: UnsafeRawPointer, into slots: UnsafeMutablePointer<UInt8>
  ) -> Int {
    let rows = rows(block)
    if !isSparse(block) {
      for row in 0..<rows { slots[row] = UInt8(truncatingIfNeeded: row) }
      return rows
    }
    var row = 0
    for index in 0..<4 {
      var word = word(block, index)
      while word != 0, row < slotsMax {
        slots[row] = UInt8(truncatingIfNeeded: index * 64 + word.trailingZeroBitCount)
        row += 1
        word &= word &- 1
      }
    }
    return row
  }
}

/// Where an object is: its cluster and its row there.
///
/// Valid while the version's snapshot lives; in a transaction until the next change of the table.
@frozen @usableFromInline
package struct RowLocation {
  @usableFromInline package let cluster: UnsafeRawPointer
  @usableFromInline package let row: Int

  @inlinable package init(cluster: UnsafeRawPointer, row: Int) {
    self.cluster = cluster
    self.row = row
  }
}
