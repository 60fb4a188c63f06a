// Packed integers of one column of one cluster: layout, reading one element, reading all. Changing a
// leaf is in IntegerLeaf+Editing.swift, sums and searches in IntegerLeaf+Kernels.swift.
//
// Layout: header (count = elements; width byte: low 4 bits the width code, 0x10 base, 0x20 nulls),
// Int64 base when there is one, elements of 0, 1, 2, 4, 8, 16, 32 or 64 bits up to a multiple of 8
// bytes, null bitmap up to a multiple of 8 bytes. Little-endian throughout. Always true:
// - an element is the unsigned difference of value and base; bits behind the last one are zero;
// - a null has the element 0, and bitmap bits behind the last one are zero;
// - 64-bit elements have no base: they are the values.
public import Storage

/// A leaf of up to 256 integers.
@frozen @usableFromInline
package enum IntegerLeaf {
  @inlinable package static var kind: BlockKind { BlockKind(rawValue: 0x10) }
  /// Elements a leaf may have.
  @inlinable package static var countMax: Int { 256 }

  @inlinable static var codeMask: UInt8 { 0x0f }
  @inlinable static var baseFlag: UInt8 { 0x10 }
  @inlinable static var nullsFlag: UInt8 { 0x20 }

  /// Bits of an element of a width code.
  @inlinable @inline(__always)
  static func bits(_ code: UInt8) -> Int { (1 &<< Int(code)) &>> 1 }

  /// Bytes of so many elements, up to a multiple of 8.
  @inlinable @inline(__always)
  static func valueBytes(_ code: UInt8, _ count: Int) -> Int {
    ((count &* bits(code) &+ 63) &>> 6) &<< 3
  }

  /// Bytes of the null bitmap of so many elements.
  @inlinable @inline(__always)
  static func bitmapBytes(_ count: Int) -> Int { ((count &+ 63) &>> 6) &<< 3 }

  /// Offset of the elements in the block.
  @inlinable @inline(__always)
  static func valuesOffset(_ width: UInt8) -> Int {
    BlockHeader.length &+ Int((width & baseFlag) &>> 1)
  }

  /// Offset of the null bitmap in the block.
  @inlinable @inline(__always)
  static func bitmapOffset(_ width: UInt8, _ count: Int) -> Int {
    valuesOffset(width) &+ valueBytes(width & codeMask, count)
  }

  @inlinable @inline(__always)
  static func base(_ block: UnsafeRawPointer, _ width: UInt8) -> Int64 {
    width & baseFlag == 0 ? 0 : block.load(fromByteOffset: BlockHeader.length, as: Int64.self)
  }

  /// Number of elements.
  @inlinable @inline(__always)
  package static func count(_ block: UnsafeRawPointer) -> Int { BlockHeader.count(block) }

  /// Whether any element may be null.
  @inlinable @inline(__always)
  package static func hasNulls(_ block: UnsafeRawPointer) -> Bool {
    BlockHeader.width(block) & nullsFlag != 0
  }

  /// Whether an element is null.
  @inlinable @inline(__always)
  package static func isNull(_ block: UnsafeRawPointer, _ index: Int) -> Bool {
    let width = BlockHeader.width(block)
    if width & nullsFlag == 0 { return false }
    return isNullBit(block, bitmapOffset(width, BlockHeader.count(block)), index)
  }

  @inlinable @inline(__always)
  static func isNullBit(_ block: UnsafeRawPointer, _ offset: Int, _ index: Int) -> Bool {
    let byte = block.load(fromByteOffset: offset &+ (index &>> 3), as: UInt8.self)
    return byte & (1 &<< UInt8(truncatingIfNeeded: index & 7)) != 0
  }

  /// The value of an element; 0 for a null.
  @inlinable @inline(__always)
  package static func value(_ block: UnsafeRawPointer, _ index: Int) -> Int64 {
    assert(index >= 0 && index < BlockHeader.count(block))
    let width = BlockHeader.width(block)
    if width & ~nullsFlag == 7 {
      return block.load(fromByteOffset: BlockHeader.length &+ index &* 8, as: Int64.self)
    }
    let element = packedElement(block, width, index)
    if _fastPath(width & baseFlag == 0) { return Int64(bitPattern: element) }
    if width & nullsFlag != 0, isNull(block, index) { return 0 }
    return block.load(fromByteOffset: BlockHeader.length, as: Int64.self)
      &+ Int64(bitPattern: element)
  }

  /// The stored difference, for widths below 64 bits.
  @inlinable @inline(__always)
  static func packedElement(_ block: UnsafeRawPointer, _ width: UInt8, _ index: Int) -> UInt64 {
    let code = width & codeMask
    if code == 0 { return 0 }
    let bits = bits(code)
    let position = index &* bits
    let word = block.load(
      fromByteOffset: valuesOffset(width) &+ ((position &>> 6) &<< 3), as: UInt64.self)
    return (word &>> UInt64(truncatingIfNeeded: position))
      & ((1 &<< UInt64(truncatingIfNeeded: bits)) &- 1)
  }

  /// Writes all values to `target`, which has room for `count(block)`; nulls become 0.
  package static func unpack(
    _ block: UnsafeRawPointer, into target: UnsafeMutablePointer<Int64>
  ) {
    let width = BlockHeader.width(block)
    let count = BlockHeader.count(block)
    let base = base(block, width)
    let values = block + valuesOffset(width)
    switch width & codeMask {
    case 0: target.update(repeating: base, count: count)
    case 1: unpackWords(values, 1, count, base, target)
    case 2: unpackWords(values, 2, count, base, target)
    case 3: unpackWords(values, 4, count, base, target)
    case 4: unpackElements(values, UInt8.self, count, base, target)
    case 5: unpackElements(values, UInt16.self, count, base, target)
    case 6: unpackElements(values, UInt32.self, count, base, target)
    default: target.update(from: values.assumingMemoryBound(to: Int64.self), count: count)
    }
    if width & nullsFlag != 0, base != 0 {
      let bitmap = bitmapOffset(width, count)
      for index in 0..<count where isNullBit(block, bitmap, index) { target[index] = 0 }
    }
  }

  @inline(__always)
  private static func unpackElements<Element: FixedWidthInteger & UnsignedInteger>(
    _ values: UnsafeRawPointer, _: Element.Type, _ count: Int, _ base: Int64,
    _ target: UnsafeMutablePointer<Int64>
  ) {
    let elements = values.assumingMemoryBound(to: Element.self)
    for index in 0..<count {
      target[index] = base &+ Int64(truncatingIfNeeded: elements[index])
    }
  }

  @inline(__always)
  private static func unpackWords(
    _ values: UnsafeRawPointer, _ bits: Int, _ count: Int, _ base: Int64,
    _ target: UnsafeMutablePointer<Int64>
  ) {
    let words = values.assumingMemoryBound(to: UInt64.self)
    let mask = (UInt64(1) &<< UInt64(bits)) &- 1
    let elementsPerWord = 64 / bits
    var index = 0
    while index < count {
      var word = words[index / elementsPerWord]
      let end = min(count, index &+ elementsPerWord)
      while index < end {
        target[index] = base &+ Int64(bitPattern: word & mask)
        word &>>= UInt64(bits)
        index &+= 1
      }
    }
  }
}
