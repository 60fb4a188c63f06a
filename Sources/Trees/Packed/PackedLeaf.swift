// A column's integers for up to 256 rows, packed to the narrowest width that holds them all.
//
//   header  count = rows; width byte: bits 0..2 width code, bit 7 = has a null bitmap
//   16  i64  base
//   24  [32 bytes null bitmap, one bit a row]
//   then     rows x width bits, unsigned; value = base + element
//
// Width codes 0..7 stand for 0, 1, 2, 4, 8, 16, 32 and 64 bits. The base is 0 unless another one
// saves a width step. Null rows hold element 0. Everything that is at most 64 bits is stored here
// as an Int64 bit pattern: Bool, integers, Double, Float (32 bits), Date, object keys.
//
// A leaf may have fewer rows than its cluster: the rest have the column's default.
public import Storage

/// Reading of packed integer leaves.
@frozen @usableFromInline
package enum PackedLeaf {
  /// Rows that fit in one leaf.
  @inlinable package static var rowsMax: Int { 256 }
  @inlinable static var nullsFlag: UInt8 { 0x80 }
  /// Bytes of a null bitmap.
  @inlinable static var nullsLength: Int { 32 }
  @inlinable static var baseOffset: Int { BlockHeader.length }
  @inlinable static var nullsOffset: Int { BlockHeader.length + 8 }

  /// Rows that the leaf holds.
  @inlinable @inline(__always)
  package static func rows(_ block: UnsafeRawPointer) -> Int { BlockHeader.count(block) }

  @inlinable static func widthCode(_ block: UnsafeRawPointer) -> UInt8 {
    BlockHeader.width(block) & 7
  }

  @inlinable package static func hasNulls(_ block: UnsafeRawPointer) -> Bool {
    BlockHeader.width(block) & nullsFlag != 0
  }

  @inlinable static func base(_ block: UnsafeRawPointer) -> Int64 {
    block.integer(at: baseOffset, as: Int64.self)
  }

  @inlinable @inline(__always)
  static func elements(_ block: UnsafeRawPointer, flags: UInt8) -> UnsafeRawPointer {
    block + nullsOffset + (Int(flags >> 7) &<< 5)
  }

  /// Bits of an element.
  @inlinable static func bits(code: UInt8) -> Int { code == 0 ? 0 : 1 &<< (Int(code) - 1) }

  /// The largest element of a width.
  @inlinable static func elementMax(code: UInt8) -> UInt64 {
    code == 7 ? .max : (1 &<< UInt64(bits(code: code))) &- 1
  }

  /// The value of a row; unspecified for a null row.
  ///
  /// - Precondition: the leaf has the row.
  /// - Complexity: O(1).
  @inlinable @inline(__always)
  package static func value(_ block: UnsafeRawPointer, _ row: Int) -> Int64 {
    let flags = BlockHeader.width(block)
    let elements = elements(block, flags: flags)
    let element: UInt64
    switch flags & 7 {
    case 4: element = UInt64(elements.load(fromByteOffset: row, as: UInt8.self))
    case 7: element = elements.integer(at: row &<< 3, as: UInt64.self)
    case 5: element = UInt64(elements.integer(at: row &<< 1, as: UInt16.self))
    case 6: element = UInt64(elements.integer(at: row &<< 2, as: UInt32.self))
    case 0: element = 0
    case 1:
      element = UInt64(elements.load(fromByteOffset: row &>> 3, as: UInt8.self) &>> (row & 7)) & 1
    case 2:
      let byte = elements.load(fromByteOffset: row &>> 2, as: UInt8.self)
      element = UInt64(byte &>> ((row & 3) &<< 1)) & 3
    default:
      let byte = elements.load(fromByteOffset: row &>> 1, as: UInt8.self)
      element = UInt64(byte &>> ((row & 1) &<< 2)) & 15
    }
    return base(block) &+ Int64(bitPattern: element)
  }

  /// Where the element of row 0 is in the block, and the bits of an element.
  package static func layout(_ block: UnsafeRawPointer) -> (offset: Int, bits: Int) {
    let flags = BlockHeader.width(block)
    return (nullsOffset + (flags & nullsFlag != 0 ? nullsLength : 0), bits(code: flags & 7))
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

  /// Number of null rows.
  @inlinable package static func nullCount(_ block: UnsafeRawPointer) -> Int {
    if !hasNulls(block) { return 0 }
    var count = 0
    for word in 0..<4 {
      count &+= block.integer(at: nullsOffset + word * 8, as: UInt64.self).nonzeroBitCount
    }
    return count
  }

  /// Payload bytes of a leaf.
  static func payloadBytes(rows: Int, code: UInt8, nulls: Bool) -> Int {
    8 + (nulls ? nullsLength : 0) + (rows * bits(code: code) + 7) / 8
  }

  /// The narrowest width code for an element.
  static func code(for element: UInt64) -> UInt8 {
    let significant = 64 - element.leadingZeroBitCount
    if significant == 0 { return 0 }
    return UInt8(significant == 1 ? 1 : 65 - (significant - 1).leadingZeroBitCount)
  }
}

extension PackedLeaf {
  /// Adds what is wrong with the leaf's bytes to `findings`.
  package static func check(_ block: UnsafeRawPointer, name: String, _ findings: inout [String]) {
    let flags = BlockHeader.width(block)
    let rows = rows(block)
    if flags & 0x78 != 0 { findings.append("\(name): unknown leaf flags \(flags)") }
    if rows == 0 || rows > rowsMax { findings.append("\(name): \(rows) rows in a packed leaf") }
    let payload = payloadBytes(rows: rows, code: flags & 7, nulls: flags & nullsFlag != 0)
    let expected = BlockHeader.blockLength(forPayload: payload)
    let length = BlockHeader.blockLength(block)
    if length != expected {
      findings.append("\(name): packed leaf of \(length) bytes, expected \(expected)")
      return
    }
    if flags & nullsFlag != 0 {
      for row in 0..<rowsMax where isNull(block, row) {
        if row >= rows {
          findings.append("\(name): null bit \(row) behind the last of \(rows) rows")
        } else if value(block, row) != base(block) {
          findings.append("\(name): null row \(row) holds an element")
        }
      }
    }
  }
}
