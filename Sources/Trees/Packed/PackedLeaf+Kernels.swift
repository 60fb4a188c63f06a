// Work on whole packed leaves: one pass over the elements, no call a row. Queries and aggregates
// are made of these. All loops are plain, so that the compiler vectorises them.
internal import Glibc
internal import Storage

extension PackedLeaf {
  /// Unpacks the leaf into `values`, which has room for 256.
  ///
  /// Null rows give unspecified values.
  ///
  /// - Returns: rows unpacked.
  @discardableResult
  package static func unpack(
    _ block: UnsafeRawPointer, into values: UnsafeMutablePointer<Int64>
  ) -> Int {
    let flags = BlockHeader.width(block)
    let rows = rows(block)
    let base = base(block)
    let elements = elements(block, flags: flags)
    switch flags & 7 {
    case 0: for row in 0..<rows { values[row] = base }
    case 4:
      let bytes = elements.assumingMemoryBound(to: UInt8.self)
      for row in 0..<rows { values[row] = base &+ Int64(bytes[row]) }
    case 5:
      let words = elements.assumingMemoryBound(to: UInt16.self)
      for row in 0..<rows { values[row] = base &+ Int64(UInt16(littleEndian: words[row])) }
    case 6:
      let words = elements.assumingMemoryBound(to: UInt32.self)
      for row in 0..<rows { values[row] = base &+ Int64(UInt32(littleEndian: words[row])) }
    case 7:
      let words = elements.assumingMemoryBound(to: Int64.self)
      for row in 0..<rows { values[row] = base &+ Int64(littleEndian: words[row]) }
    case let code:
      let shift = Int(code) - 1
      let mask = Int64(elementMax(code: code))
      for row in 0..<rows {
        let bit = row &<< shift
        let byte = elements.load(fromByteOffset: bit &>> 3, as: UInt8.self)
        values[row] = base &+ (Int64(byte &>> UInt8(truncatingIfNeeded: bit & 7)) & mask)
      }
    }
    return rows
  }

  /// The sum of the values that are not null; wraps on overflow.
  package static func sum(_ block: UnsafeRawPointer) -> Int64 {
    let flags = BlockHeader.width(block)
    let rows = rows(block)
    let elements = elements(block, flags: flags)
    var sum: UInt64 = 0
    switch flags & 7 {
    case 0: break
    case 4:
      // Elements behind the last row are zero, up to the end of the block. Four sums of 16 bits:
      // 256 elements of 8 bits cannot overflow one.
      let words = elements.assumingMemoryBound(to: UInt64.self)
      let low: UInt64 = 0x00ff_00ff_00ff_00ff
      var sums: UInt64 = 0
      for word in 0..<((rows &+ 7) &>> 3) {
        sums &+= (words[word] & low) &+ ((words[word] &>> 8) & low)
      }
      sum = (sums &* 0x0001_0001_0001_0001) &>> 48
    case 5:
      let words = elements.assumingMemoryBound(to: UInt16.self)
      var narrow: UInt32 = 0
      for row in 0..<rows { narrow &+= UInt32(UInt16(littleEndian: words[row])) }
      sum = UInt64(narrow)
    case 6:
      let words = elements.assumingMemoryBound(to: UInt32.self)
      for row in 0..<rows { sum &+= UInt64(UInt32(littleEndian: words[row])) }
    case 7:
      let words = elements.assumingMemoryBound(to: UInt64.self)
      for row in 0..<rows { sum &+= UInt64(littleEndian: words[row]) }
    case let code: sum = sumOfBits(elements, count: rows * bits(code: code), code: code)
    }
    let present = rows - nullCount(block)
    return base(block) &* Int64(present) &+ Int64(bitPattern: sum)
  }

  /// Sum of elements of 1, 2 or 4 bits by population counts of their planes.
  private static func sumOfBits(_ elements: UnsafeRawPointer, count: Int, code: UInt8) -> UInt64 {
    let planes: [UInt8]
    switch code {
    case 1: planes = [0xff]
    case 2: planes = [0x55, 0xaa]
    default: planes = [0x11, 0x22, 0x44, 0x88]
    }
    var sum: UInt64 = 0
    for index in 0..<((count + 7) / 8) {
      let byte = elements.load(fromByteOffset: index, as: UInt8.self)
      for (power, plane) in planes.enumerated() {
        sum &+= UInt64((byte & plane).nonzeroBitCount) << UInt64(power)
      }
    }
    return sum
  }

  /// Smallest and largest value that is not null; nil if there is none.
  package static func range(_ block: UnsafeRawPointer) -> ClosedRange<Int64>? {
    let rows = rows(block)
    if hasNulls(block) || rows == 0 { return rangeOfSome(block) }
    let flags = BlockHeader.width(block)
    let base = base(block)
    let elements = elements(block, flags: flags)
    switch flags & 7 {
    case 0: return base...base
    case 4: return range(elements.assumingMemoryBound(to: UInt8.self), rows, base)
    case 5: return range(elements.assumingMemoryBound(to: UInt16.self), rows, base)
    case 6: return range(elements.assumingMemoryBound(to: UInt32.self), rows, base)
    case 7:
      let words = elements.assumingMemoryBound(to: Int64.self)
      var (least, greatest) = (Int64.max, Int64.min)
      for row in 0..<rows {
        let value = base &+ Int64(littleEndian: words[row])
        least = min(least, value)
        greatest = max(greatest, value)
      }
      return least...greatest
    default: return rangeOfSome(block)
    }
  }

  /// The same of elements of one type; there is at least one.
  @inline(__always)
  private static func range<Element: FixedWidthInteger & UnsignedInteger>(
    _ elements: UnsafePointer<Element>, _ rows: Int, _ base: Int64
  ) -> ClosedRange<Int64> {
    var (least, greatest) = (Element.max, Element.min)
    for row in 0..<rows {
      least = min(least, Element(littleEndian: elements[row]))
      greatest = max(greatest, Element(littleEndian: elements[row]))
    }
    return base &+ Int64(least)...base &+ Int64(greatest)
  }

  /// The same of a leaf that may have nulls.
  private static func rangeOfSome(_ block: UnsafeRawPointer) -> ClosedRange<Int64>? {
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: rowsMax) { values in
      let rows = unpack(block, into: values.baseAddress!)
      var (least, greatest) = (Int64.max, Int64.min)
      for row in 0..<rows where !isNull(block, row) {
        least = min(least, values[row])
        greatest = max(greatest, values[row])
      }
      return least <= greatest ? least...greatest : nil
    }
  }

  /// The greatest absolute value that the leaf's values can have, as far as their width says.
  package static func magnitudeMax(_ block: UnsafeRawPointer) -> Double {
    let code = widthCode(block)
    if code == 7 { return 0x1p63 }
    return max(
      Double(base(block)).magnitude,
      (Double(base(block)) + Double(elementMax(code: code))).magnitude)
  }

  /// Number of rows that hold `value`; null rows do not count.
  package static func count(_ block: UnsafeRawPointer, equalTo value: Int64) -> Int {
    let flags = BlockHeader.width(block)
    let rows = rows(block)
    let element = UInt64(bitPattern: value &- base(block))
    if element > elementMax(code: flags & 7) { return 0 }
    let elements = elements(block, flags: flags)
    var count = 0
    switch flags & 7 {
    case 0: count = rows
    case 4: count = countBytes(elements, rows, UInt8(truncatingIfNeeded: element))
    case 5:
      let words = elements.assumingMemoryBound(to: UInt16.self)
      let wanted = UInt16(truncatingIfNeeded: element).littleEndian
      var narrow: UInt16 = 0
      for row in 0..<rows { narrow &+= words[row] == wanted ? 1 : 0 }
      count = Int(narrow)
    case 6:
      let words = elements.assumingMemoryBound(to: UInt32.self)
      let wanted = UInt32(truncatingIfNeeded: element).littleEndian
      var narrow: UInt32 = 0
      for row in 0..<rows { narrow &+= words[row] == wanted ? 1 : 0 }
      count = Int(narrow)
    case 7:
      let words = elements.assumingMemoryBound(to: UInt64.self)
      let wanted = element.littleEndian
      for row in 0..<rows { count &+= words[row] == wanted ? 1 : 0 }
    case let code:
      let shift = Int(code) - 1
      let mask = UInt8(truncatingIfNeeded: elementMax(code: code))
      let wanted = UInt8(truncatingIfNeeded: element)
      for row in 0..<rows {
        let bit = row &<< shift
        let byte = elements.load(fromByteOffset: bit &>> 3, as: UInt8.self)
        count &+= (byte &>> UInt8(truncatingIfNeeded: bit & 7)) & mask == wanted ? 1 : 0
      }
    }
    // Null rows hold element 0.
    return element == 0 ? count - nullCount(block) : count
  }

  /// Blocks of 128 rows keep the counter in one byte a lane.
  private static func countBytes(
    _ elements: UnsafeRawPointer, _ rows: Int, _ wanted: UInt8
  ) -> Int {
    let bytes = elements.assumingMemoryBound(to: UInt8.self)
    var count = 0
    var row = 0
    while row < rows {
      let end = min(row + 128, rows)
      var narrow: UInt8 = 0
      while row < end {
        narrow &+= bytes[row] == wanted ? 1 : 0
        row &+= 1
      }
      count &+= Int(narrow)
    }
    return count
  }

  /// The sum of a leaf of Double bit patterns over the values that are not null.
  package static func sumOfDoubles(_ block: UnsafeRawPointer) -> Double {
    if BlockHeader.width(block) == 7, base(block) == 0 {
      let values = elements(block, flags: 7).assumingMemoryBound(to: UInt64.self)
      return sum(rows(block)) { Double(bitPattern: UInt64(littleEndian: values[$0])) }
    }
    return withUnsafeTemporaryAllocation(of: Int64.self, capacity: rowsMax) { values in
      let rows = unpack(block, into: values.baseAddress!)
      return sum(rows) {
        isNull(block, $0) ? 0 : Double(bitPattern: UInt64(bitPattern: values[$0]))
      }
    }
  }

  /// Four running sums: one alone waits for its own additions.
  @inline(__always)
  private static func sum(_ rows: Int, _ value: (Int) -> Double) -> Double {
    var sums = (0.0, 0.0, 0.0, 0.0)
    var row = 0
    while row &+ 4 <= rows {
      sums.0 += value(row)
      sums.1 += value(row &+ 1)
      sums.2 += value(row &+ 2)
      sums.3 += value(row &+ 3)
      row &+= 4
    }
    var sum = (sums.0 + sums.1) + (sums.2 + sums.3)
    while row < rows {
      sum += value(row)
      row &+= 1
    }
    return sum
  }
}
