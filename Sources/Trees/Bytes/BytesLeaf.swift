// Strings or data of up to 256 rows of one column, each at most 1 KB.
//
//   header  count = rows; width byte: bit 7 = has a null bitmap
//   16      [32 bytes null bitmap, one bit a row]
//   then    the values, one after the other
//   end     u16 a row, counted from the end of the block: where the row's value ends, from the first
//           value's start. So an append writes one value and one end.
//
// Null rows have no bytes. A whole column is one such leaf or several of them (BytesColumn).
public import Storage

/// Reading of bytes leaves.
@frozen @usableFromInline
package enum BytesLeaf {
  /// Rows that fit in one leaf.
  @inlinable package static var rowsMax: Int { 256 }
  @inlinable static var nullsFlag: UInt8 { 0x80 }
  @inlinable static var nullsOffset: Int { BlockHeader.length }
  @inlinable static var nullsLength: Int { 32 }

  /// Rows that the leaf holds.
  @inlinable @inline(__always)
  package static func rows(_ block: UnsafeRawPointer) -> Int { BlockHeader.count(block) }

  @inlinable static func hasNulls(_ block: UnsafeRawPointer) -> Bool {
    BlockHeader.width(block) & nullsFlag != 0
  }

  /// First byte of the first value.
  @inlinable @inline(__always)
  static func values(_ block: UnsafeRawPointer) -> UnsafeRawPointer {
    block + BlockHeader.length + (Int(BlockHeader.width(block) >> 7) &<< 5)
  }

  /// Where a row's value ends, counted from `values`.
  @inlinable @inline(__always)
  static func end(_ block: UnsafeRawPointer, _ row: Int) -> Int {
    Int(block.integer(at: endOffset(block, row), as: UInt16.self))
  }

  /// Where in the block it says where a row's value ends.
  @inlinable @inline(__always)
  package static func endOffset(_ block: UnsafeRawPointer, _ row: Int) -> Int {
    BlockHeader.blockLength(block) &- 2 &* (row &+ 1)
  }

  /// Where a row's value starts, counted from `values`.
  @inlinable @inline(__always)
  static func start(_ block: UnsafeRawPointer, _ row: Int) -> Int {
    row == 0 ? 0 : end(block, row &- 1)
  }

  /// The bytes of a row; empty for a null row.
  ///
  /// - Precondition: the leaf has the row.
  @inlinable @inline(__always)
  package static func bytes(_ block: UnsafeRawPointer, _ row: Int) -> UnsafeRawBufferPointer {
    let start = start(block, row)
    return UnsafeRawBufferPointer(
      start: values(block) + start, count: end(block, row) &- start)
  }

  /// Whether a row is null.
  ///
  /// - Precondition: the leaf has the row.
  @inlinable @inline(__always)
  package static func isNull(_ block: UnsafeRawPointer, _ row: Int) -> Bool {
    if !hasNulls(block) { return false }
    return block.load(fromByteOffset: nullsOffset &+ (row &>> 3), as: UInt8.self)
      & (1 &<< UInt8(truncatingIfNeeded: row & 7)) != 0
  }

  /// Bytes of all values.
  static func valuesLength(_ block: UnsafeRawPointer) -> Int {
    let rows = rows(block)
    return rows == 0 ? 0 : end(block, rows - 1)
  }

  /// Payload bytes of a leaf.
  static func payloadBytes(rows: Int, values: Int, nulls: Bool) -> Int {
    (nulls ? nullsLength : 0) + values + 2 * rows
  }

  /// Payload bytes that the leaf needs, without what rounding adds.
  static func payloadBytes(_ block: UnsafeRawPointer) -> Int {
    payloadBytes(
      rows: rows(block), values: valuesLength(block), nulls: hasNulls(block))
  }

  /// Adds what is wrong with the leaf's bytes to `findings`.
  static func check(_ block: UnsafeRawPointer, name: String, _ findings: inout [String]) {
    let rows = rows(block)
    if BlockHeader.width(block) & 0x7f != 0 { findings.append("\(name): unknown bytes leaf flags") }
    if rows == 0 || rows > rowsMax { findings.append("\(name): \(rows) rows in a bytes leaf") }
    let length = BlockHeader.blockLength(block)
    guard BlockHeader.length + 2 * rows <= length else {
      findings.append("\(name): no room for \(rows) ends in \(length) bytes")
      return
    }
    let expected = BlockHeader.blockLength(forPayload: payloadBytes(block))
    if length != expected {
      findings.append("\(name): bytes leaf of \(length) bytes, expected \(expected)")
      return
    }
    var last = 0
    for row in 0..<rows {
      let end = end(block, row)
      if end < last { findings.append("\(name): row \(row) ends before it starts") }
      if end - last > LongValue.inlineMax { findings.append("\(name): row \(row) is too long") }
      if isNull(block, row) && end != last { findings.append("\(name): null row \(row) has bytes") }
      last = end
    }
    if hasNulls(block) {
      for row in rows..<rowsMax where isNull(block, row) {
        findings.append("\(name): null bit \(row) behind the last of \(rows) rows")
      }
    }
  }
}
