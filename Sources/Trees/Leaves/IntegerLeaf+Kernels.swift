// Whole-leaf kernels over packed integers, one tight loop a width, and the leaf's own check.
internal import Storage

extension IntegerLeaf {
  /// Sum of all values that are not null, wrapping.
  package static func sum(_ block: UnsafeRawPointer) -> Int64 {
    let width = BlockHeader.width(block)
    let count = BlockHeader.count(block)
    let values = block + valuesOffset(width)
    let words = values.assumingMemoryBound(to: UInt64.self)
    let wordCount = valueBytes(width & codeMask, count) / 8
    var sum: UInt64 = 0
    switch width & codeMask {
    case 0: break
    case 1:
      for index in 0..<wordCount { sum &+= UInt64(words[index].nonzeroBitCount) }
    case 2:
      for index in 0..<wordCount {
        sum &+= UInt64((words[index] & 0x5555_5555_5555_5555).nonzeroBitCount)
        sum &+= UInt64((words[index] & 0xaaaa_aaaa_aaaa_aaaa).nonzeroBitCount) &* 2
      }
    case 3:
      for index in 0..<wordCount {
        let pairs =
          (words[index] & 0x0f0f_0f0f_0f0f_0f0f) &+ ((words[index] &>> 4) & 0x0f0f_0f0f_0f0f_0f0f)
        sum &+= (pairs &* 0x0101_0101_0101_0101) &>> 56
      }
    case 4:
      // At most 32 words: pairs of bytes added as 16-bit lanes stay below 65,536.
      var lanes: UInt64 = 0
      for index in 0..<wordCount {
        lanes &+= words[index] & 0x00ff_00ff_00ff_00ff
        lanes &+= (words[index] &>> 8) & 0x00ff_00ff_00ff_00ff
      }
      sum = (lanes & 0xffff) &+ ((lanes &>> 16) & 0xffff) &+ ((lanes &>> 32) & 0xffff)
      sum &+= lanes &>> 48
    case 5:
      var lanes: UInt64 = 0
      for index in 0..<wordCount {
        lanes &+= words[index] & 0x0000_ffff_0000_ffff
        lanes &+= (words[index] &>> 16) & 0x0000_ffff_0000_ffff
      }
      sum = (lanes & 0xffff_ffff) &+ (lanes &>> 32)
    case 6:
      for index in 0..<wordCount {
        sum &+= (words[index] & 0xffff_ffff) &+ (words[index] &>> 32)
      }
    default:
      for index in 0..<count { sum &+= words[index] }
    }
    let base = base(block, width)
    if base == 0 { return Int64(bitPattern: sum) }
    return Int64(bitPattern: sum) &+ base &* Int64(count &- nullCount(block))
  }

  /// Number of nulls.
  package static func nullCount(_ block: UnsafeRawPointer) -> Int {
    let width = BlockHeader.width(block)
    if width & nullsFlag == 0 { return 0 }
    let count = BlockHeader.count(block)
    let words = (block + bitmapOffset(width, count)).assumingMemoryBound(to: UInt64.self)
    var nulls = 0
    for index in 0..<(bitmapBytes(count) / 8) { nulls &+= words[index].nonzeroBitCount }
    return nulls
  }

  /// Number of elements that are not null and equal to `value`.
  package static func countEqual(_ block: UnsafeRawPointer, _ value: Int64) -> Int {
    let width = BlockHeader.width(block)
    let code = width & codeMask
    let count = BlockHeader.count(block)
    let base = base(block, width)
    let element = UInt64(bitPattern: value &- base)
    if code != 7, value < base || element &>> UInt64(bits(code)) != 0 { return 0 }
    let values = block + valuesOffset(width)
    var equal = 0
    switch code {
    case 0: equal = count
    case 1: equal = equalFields(values, 1, count, element, 0xffff_ffff_ffff_ffff)
    case 2: equal = equalFields(values, 2, count, element, 0x5555_5555_5555_5555)
    case 3: equal = equalFields(values, 4, count, element, 0x1111_1111_1111_1111)
    case 4: equal = equalLanes(values, 8, count, element, 0x0101_0101_0101_0101)
    case 5: equal = equalLanes(values, 16, count, element, 0x0001_0001_0001_0001)
    case 6: equal = equalLanes(values, 32, count, element, 0x0000_0001_0000_0001)
    default:
      let words = values.assumingMemoryBound(to: UInt64.self)
      for index in 0..<count { equal &+= words[index] == element ? 1 : 0 }
    }
    // Nulls have the element 0.
    return element == 0 ? equal &- nullCount(block) : equal
  }

  /// Counts equal elements of 8, 16 or 32 bits; `ones` has the lowest bit of each lane set.
  @inline(__always)
  private static func equalLanes(
    _ values: UnsafeRawPointer, _ bits: UInt64, _ count: Int, _ element: UInt64, _ ones: UInt64
  ) -> Int {
    let words = values.assumingMemoryBound(to: UInt64.self)
    let pattern = ones &* element
    let high = ones &<< (bits &- 1)
    let wordCount = (count &* Int(bits) &+ 63) / 64
    // A lane counts at most 128 words: no lane overflows.
    var different: UInt64 = 0
    for index in 0..<wordCount {
      let word = words[index] ^ pattern
      let nonzero = (((word & ~high) &+ ~high) | word) & high
      different &+= nonzero &>> (bits &- 1)
    }
    var total = 0
    while different != 0 {
      total &+= Int(truncatingIfNeeded: different & ((1 &<< bits) &- 1))
      different &>>= bits
    }
    let fields = wordCount &* (64 / Int(bits))
    let equal = fields &- total
    return element == 0 ? equal &- (fields &- count) : equal
  }

  /// Counts equal fields of 1, 2 or 4 bits; `ones` has the lowest bit of each field set.
  @inline(__always)
  private static func equalFields(
    _ values: UnsafeRawPointer, _ bits: Int, _ count: Int, _ element: UInt64, _ ones: UInt64
  ) -> Int {
    let words = values.assumingMemoryBound(to: UInt64.self)
    let pattern = ones &* element
    let wordCount = (count &* bits &+ 63) / 64
    let fields = wordCount &* (64 / bits)
    var different = 0
    for index in 0..<wordCount {
      var word = words[index] ^ pattern
      if bits == 4 { word |= word &>> 2 }
      if bits >= 2 { word |= word &>> 1 }
      different &+= (word & ones).nonzeroBitCount
    }
    let equal = fields &- different
    return element == 0 ? equal &- (fields &- count) : equal
  }

  /// Smallest and largest value that is not null; nil when all are null.
  package static func minMax(_ block: UnsafeRawPointer) -> (min: Int64, max: Int64)? {
    let width = BlockHeader.width(block)
    let count = BlockHeader.count(block)
    let base = base(block, width)
    let values = block + valuesOffset(width)
    if width & nullsFlag != 0 {
      var minimum = Int64.max
      var maximum = Int64.min
      var found = false
      for index in 0..<count where !isNull(block, index) {
        let value = value(block, index)
        minimum = min(minimum, value)
        maximum = max(maximum, value)
        found = true
      }
      return found ? (minimum, maximum) : nil
    }
    switch width & codeMask {
    case 0: return (base, base)
    case 1, 2, 3:
      var minimum = UInt64.max
      var maximum: UInt64 = 0
      for index in 0..<count {
        let element = packedElement(block, width, index)
        minimum = min(minimum, element)
        maximum = max(maximum, element)
      }
      return (base &+ Int64(bitPattern: minimum), base &+ Int64(bitPattern: maximum))
    case 4: return elementRange(values, UInt8.self, count, base)
    case 5: return elementRange(values, UInt16.self, count, base)
    case 6: return elementRange(values, UInt32.self, count, base)
    default: return elementRange(values, Int64.self, count, 0)
    }
  }

  @inline(__always)
  private static func elementRange<Element: FixedWidthInteger>(
    _ values: UnsafeRawPointer, _: Element.Type, _ count: Int, _ base: Int64
  ) -> (min: Int64, max: Int64) {
    let elements = values.assumingMemoryBound(to: Element.self)
    var minimum = Element.max
    var maximum = Element.min
    for index in 0..<count {
      let element = elements[index]
      minimum = element < minimum ? element : minimum
      maximum = element > maximum ? element : maximum
    }
    return (
      base &+ Int64(truncatingIfNeeded: minimum), base &+ Int64(truncatingIfNeeded: maximum)
    )
  }

  // MARK: - Check

  /// What is wrong with a leaf; empty when it is sound.
  package static func checkInvariants(_ block: UnsafeRawPointer) -> [String] {
    var findings: [String] = []
    let width = BlockHeader.width(block)
    let code = width & codeMask
    let count = BlockHeader.count(block)
    if BlockHeader.kind(block) != kind {
      return ["integer leaf: kind \(BlockHeader.kind(block).rawValue)"]
    }
    if count < 1 || count > countMax { return ["integer leaf: count \(count)"] }
    if code > 7 || width & 0xc0 != 0 || (code == 7 && width & baseFlag != 0) {
      return ["integer leaf: width byte \(width)"]
    }
    let hasBitmap = width & nullsFlag != 0
    let used = bitmapOffset(width, count) + (hasBitmap ? bitmapBytes(count) : 0)
    if (used + 15) & ~15 != BlockHeader.blockLength(block) {
      return ["integer leaf: \(BlockHeader.blockLength(block)) bytes long, \(used) used"]
    }
    let words = (block + valuesOffset(width)).assumingMemoryBound(to: UInt64.self)
    let bits = count * bits(code)
    if bits & 63 != 0, words[bits / 64] >> UInt64(bits & 63) != 0 {
      findings.append("integer leaf: bits behind the last element")
    }
    if hasBitmap {
      let bitmap = (block + bitmapOffset(width, count)).assumingMemoryBound(to: UInt64.self)
      if count & 63 != 0, bitmap[count / 64] >> UInt64(count & 63) != 0 {
        findings.append("integer leaf: null bits behind the last element")
      }
      for index in 0..<count where isNull(block, index) {
        let element = code == 7 ? words[index] : packedElement(block, width, index)
        if element != 0 { findings.append("integer leaf: null \(index) has an element") }
      }
    }
    return findings
  }
}
