// Which rows of a packed leaf have a value in a range: one bit a row. The elements are compared as
// they are packed; marks of a byte a row, which the compiler vectorises, become bits eight at a
// time.
internal import Storage

extension PackedLeaf {
  /// The first rows of a leaf or cluster, one bit each.
  @inline(__always)
  static func first(_ rows: Int) -> SIMD4<UInt64> {
    var words = SIMD4<UInt64>.zero
    for index in 0..<4 {
      let bits = min(max(rows &- index &* 64, 0), 64)
      words[index] = bits == 64 ? ~0 : (1 &<< UInt64(bits)) &- 1
    }
    return words
  }

  /// The null rows, one bit each.
  package static func nulls(_ block: UnsafeRawPointer) -> SIMD4<UInt64> {
    var words = SIMD4<UInt64>.zero
    if !hasNulls(block) { return words }
    for word in 0..<4 {
      words[word] = block.integer(at: nullsOffset &+ word &* 8, as: UInt64.self)
    }
    return words
  }

  /// The rows whose value lies in a range, one bit each; a null row does not.
  ///
  /// - Complexity: O(rows), less than a nanosecond a row.
  package static func rows(
    _ block: UnsafeRawPointer, in range: ClosedRange<Int64>
  ) -> SIMD4<UInt64> {
    let flags = BlockHeader.width(block)
    let rows = rows(block)
    let elements = elements(block, flags: flags)
    let base = base(block)
    let code = flags & 7
    let found: SIMD4<UInt64>
    if code == 7 {
      let words = elements.assumingMemoryBound(to: Int64.self)
      let (low, span) = (range.lowerBound, UInt64(bitPattern: range.upperBound &- range.lowerBound))
      found = marked(rows) {
        UInt64(bitPattern: base &+ Int64(littleEndian: words[$0]) &- low) <= span
      }
    } else {
      let greatest = elementMax(code: code)
      // Elements are not negative: as differences to the base, the bounds are not either.
      if range.upperBound < base { return .zero }
      let low = range.lowerBound <= base ? 0 : UInt64(bitPattern: range.lowerBound &- base)
      let high = min(UInt64(bitPattern: range.upperBound &- base), greatest)
      if low > high { return .zero }
      if low == 0 && high == greatest { return first(rows) & ~nulls(block) }
      found = select(elements, rows, code: code, low: low, span: high &- low)
    }
    return found & ~nulls(block)
  }

  private static func select(
    _ elements: UnsafeRawPointer, _ rows: Int, code: UInt8, low: UInt64, span: UInt64
  ) -> SIMD4<UInt64> {
    switch code {
    case 1:
      // One of the two values.
      var words = SIMD4<UInt64>.zero
      for index in 0..<((rows &+ 63) &>> 6) {
        words[index] = elements.integer(at: index &* 8, as: UInt64.self)
      }
      return (low == 1 ? words : ~words) & first(rows)
    case 4:
      let bytes = elements.assumingMemoryBound(to: UInt8.self)
      let (low, span) = (UInt8(truncatingIfNeeded: low), UInt8(truncatingIfNeeded: span))
      return marked(rows) { bytes[$0] &- low <= span }
    case 5:
      let words = elements.assumingMemoryBound(to: UInt16.self)
      let (low, span) = (UInt16(truncatingIfNeeded: low), UInt16(truncatingIfNeeded: span))
      return marked(rows) { UInt16(littleEndian: words[$0]) &- low <= span }
    case 6:
      let words = elements.assumingMemoryBound(to: UInt32.self)
      let (low, span) = (UInt32(truncatingIfNeeded: low), UInt32(truncatingIfNeeded: span))
      return marked(rows) { UInt32(littleEndian: words[$0]) &- low <= span }
    default:
      let shift = Int(code) &- 1
      let mask = UInt8(truncatingIfNeeded: elementMax(code: code))
      let bytes = elements.assumingMemoryBound(to: UInt8.self)
      let (low, span) = (UInt8(truncatingIfNeeded: low), UInt8(truncatingIfNeeded: span))
      return marked(rows) { row in
        let bit = row &<< shift
        let element = (bytes[bit &>> 3] &>> UInt8(truncatingIfNeeded: bit & 7)) & mask
        return element &- low <= span
      }
    }
  }

  /// The rows whose number lies in a range, one bit each; a null row and what is no number do not.
  ///
  /// - Parameter isFloat: whether the values are bit patterns of Float, else of Double.
  package static func rows(
    _ block: UnsafeRawPointer, in range: ClosedRange<Double>, isFloat: Bool
  ) -> SIMD4<UInt64> {
    let (low, high) = (range.lowerBound, range.upperBound)
    let flags = BlockHeader.width(block)
    let found: SIMD4<UInt64>
    if !isFloat, flags & 7 == 7, base(block) == 0 {
      let values = elements(block, flags: flags).assumingMemoryBound(to: UInt64.self)
      found = marked(rows(block)) {
        let value = Double(bitPattern: UInt64(littleEndian: values[$0]))
        return value >= low && value <= high
      }
    } else {
      found = withUnsafeTemporaryAllocation(of: Int64.self, capacity: rowsMax) { buffer in
        let values = buffer.baseAddress.unsafelyUnwrapped
        let rows = unpack(block, into: values)
        if isFloat {
          return marked(rows) {
            let value = Double(Float(bitPattern: UInt32(truncatingIfNeeded: values[$0])))
            return value >= low && value <= high
          }
        }
        return marked(rows) {
          let value = Double(bitPattern: UInt64(bitPattern: values[$0]))
          return value >= low && value <= high
        }
      }
    }
    return found & ~nulls(block)
  }

  /// The rows for which a test holds, one bit each.
  @inline(__always)
  private static func marked(_ rows: Int, _ test: (Int) -> Bool) -> SIMD4<UInt64> {
    withUnsafeTemporaryAllocation(byteCount: rowsMax, alignment: 16) { marks in
      let marks = marks.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self)
      for row in 0..<rows { marks[row] = test(row) ? 1 : 0 }
      let groups = (rows &+ 7) &>> 3
      for row in rows..<groups &* 8 { marks[row] = 0 }
      var words = SIMD4<UInt64>.zero
      var index = 0
      while index &* 8 < groups {
        var word: UInt64 = 0
        for group in index &* 8..<min(index &* 8 &+ 8, groups) {
          let eight = UnsafeRawPointer(marks).integer(at: group &* 8, as: UInt64.self)
          // Each mark goes to its place among the eight highest bits; no two meet on the way.
          word |= ((eight &* 0x0102_0408_1020_4080) &>> 56) &<< UInt64((group & 7) &* 8)
        }
        words[index] = word
        index &+= 1
      }
      return words
    }
  }
}

// MARK: - Few neighbouring rows

extension PackedLeaf {
  /// How many of some neighbouring rows have a value below another one; takes as long whatever they
  /// have.
  ///
  /// - Precondition: the leaf has the rows, and none of them is null.
  @inline(__always)
  package static func count(_ block: UnsafeRawPointer, rows: Range<Int>, below value: Int64) -> Int
  {
    let base = base(block)
    let flags = BlockHeader.width(block)
    let elements = elements(block, flags: flags)
    // Values are at or above the base, except those of 64 bits, whose sum may wrap.
    let wanted = value <= base ? 0 : UInt64(bitPattern: value &- base)
    switch flags & 7 {
    case 4: return count(elements, rows, below: wanted, of: UInt8.self)
    case 5: return count(elements, rows, below: wanted, of: UInt16.self)
    case 6: return count(elements, rows, below: wanted, of: UInt32.self)
    default:
      var below = 0
      for row in rows { below &+= self.value(block, row) < value ? 1 : 0 }
      return below
    }
  }

  @inline(__always)
  private static func count<Element: FixedWidthInteger & UnsignedInteger>(
    _ elements: UnsafeRawPointer, _ rows: Range<Int>, below wanted: UInt64, of type: Element.Type
  ) -> Int {
    guard let wanted = Element(exactly: wanted) else { return rows.count }
    var below = 0
    for row in rows {
      let element = elements.integer(at: row &* MemoryLayout<Element>.size, as: Element.self)
      below &+= element < wanted ? 1 : 0
    }
    return below
  }
}
