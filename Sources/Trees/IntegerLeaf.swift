internal import Glibc
// A packed column of integers: the values of one property of up to 256 objects. Also holds Bool, Date
// and floating point as bit patterns. Elements are as narrow as the widest of them: 0, 1, 2, 4, 8, 16,
// 32 or 64 bits, counted from a base where that saves a step.
//
// Payload: [base, i64, if flagged] [elements, packed, lowest bits first] [null bitmap, if flagged]
// The header's count is the number of elements, its width byte the width code (low 4 bits) and flags.
public import Storage

/// Reading and changing packed integer leaves.
@frozen @usableFromInline
package enum IntegerLeaf {
  package static let kind = BlockKind(rawValue: 0x10)
  @usableFromInline static let baseFlag: UInt8 = 0x10
  @usableFromInline static let nullsFlag: UInt8 = 0x20

  // MARK: - Reading

  /// Number of elements.
  @inlinable package static func count(_ leaf: UnsafeRawPointer) -> Int { BlockHeader.count(leaf) }

  /// The element at `index`; 0 for a null.
  @inlinable @inline(__always)
  package static func value(_ leaf: UnsafeRawPointer, _ index: Int) -> Int64 {
    let width = BlockHeader.width(leaf)
    var payload = BlockHeader.payload(leaf)
    var base: Int64 = 0
    if width & 0x10 != 0 {
      base = payload.loadUnaligned(as: Int64.self)
      payload += 8
    }
    return base &+ element(payload, width & 0x0f, index)
  }

  /// The packed element, without the base.
  @inlinable @inline(__always)
  static func element(_ elements: UnsafeRawPointer, _ code: UInt8, _ index: Int) -> Int64 {
    switch code {
    case 0: return 0
    case 7: return elements.loadUnaligned(fromByteOffset: index &* 8, as: Int64.self)
    case 6: return Int64(elements.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self))
    case 5: return Int64(elements.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self))
    case 4: return Int64(elements.load(fromByteOffset: index, as: UInt8.self))
    default:
      let bits = 1 &<< Int(code &- 1)
      let position = index &* bits
      let byte = elements.load(fromByteOffset: position &>> 3, as: UInt8.self)
      return Int64(byte &>> UInt8(truncatingIfNeeded: position & 7)) & ((1 &<< Int64(bits)) &- 1)
    }
  }

  @inlinable @inline(__always)
  package static func isNull(_ leaf: UnsafeRawPointer, _ index: Int) -> Bool {
    if BlockHeader.width(leaf) & 0x20 == 0 { return false }
    let byte = (nulls(leaf) + index >> 3).load(as: UInt8.self)
    return byte & (1 &<< UInt8(truncatingIfNeeded: index & 7)) != 0
  }

  /// Start of the null bitmap.
  @usableFromInline
  static func nulls(_ leaf: UnsafeRawPointer) -> UnsafeRawPointer {
    let width = BlockHeader.width(leaf)
    return BlockHeader.payload(leaf) + elementsOffset(width)
      + elementBytes(width & 0x0f, BlockHeader.count(leaf))
  }

  @inline(__always)
  private static func elementsOffset(_ width: UInt8) -> Int { width & baseFlag != 0 ? 8 : 0 }

  @inline(__always)
  static func elementBytes(_ code: UInt8, _ count: Int) -> Int {
    code == 0 ? 0 : (count << Int(code - 1) + 7) >> 3
  }

  private static func payloadBytes(_ width: UInt8, _ count: Int) -> Int {
    elementsOffset(width) + elementBytes(width & 0x0f, count)
      + (width & nullsFlag != 0 ? (count + 7) >> 3 : 0)
  }

  /// All elements in order.
  package static func unpack(_ leaf: UnsafeRawPointer, into values: UnsafeMutablePointer<Int64>) {
    let count = BlockHeader.count(leaf)
    let width = BlockHeader.width(leaf)
    var elements = BlockHeader.payload(leaf)
    var base: Int64 = 0
    if width & baseFlag != 0 {
      base = elements.loadUnaligned(as: Int64.self)
      elements += 8
    }
    switch width & 0x0f {
    case 0: for index in 0..<count { values[index] = base }
    case 4:
      for index in 0..<count {
        values[index] = base &+ Int64(elements.load(fromByteOffset: index, as: UInt8.self))
      }
    case 5:
      for index in 0..<count {
        let value = elements.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self)
        values[index] = base &+ Int64(value)
      }
    case 6:
      for index in 0..<count {
        let value = elements.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self)
        values[index] = base &+ Int64(value)
      }
    case 7:
      for index in 0..<count {
        values[index] =
          base &+ elements.loadUnaligned(fromByteOffset: index &* 8, as: Int64.self)
      }
    case let code:
      for index in 0..<count { values[index] = base &+ element(elements, code, index) }
    }
  }

  /// Wrapping sum of all elements that are not null.
  package static func sum(_ leaf: UnsafeRawPointer) -> Int64 {
    let count = BlockHeader.count(leaf)
    let width = BlockHeader.width(leaf)
    if width & nullsFlag != 0 {
      var sum: Int64 = 0
      for index in 0..<count where !isNull(leaf, index) { sum &+= value(leaf, index) }
      return sum
    }
    var elements = BlockHeader.payload(leaf)
    var sum: Int64 = 0
    if width & baseFlag != 0 {
      sum = elements.loadUnaligned(as: Int64.self) &* Int64(count)
      elements += 8
    }
    switch width & 0x0f {
    case 0: return sum
    case 4:
      for index in 0..<count { sum &+= Int64(elements.load(fromByteOffset: index, as: UInt8.self)) }
    case 5:
      for index in 0..<count {
        sum &+= Int64(elements.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self))
      }
    case 6:
      for index in 0..<count {
        sum &+= Int64(elements.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self))
      }
    case 7:
      for index in 0..<count {
        sum &+= elements.loadUnaligned(fromByteOffset: index &* 8, as: Int64.self)
      }
    case let code: for index in 0..<count { sum &+= element(elements, code, index) }
    }
    return sum
  }

  /// Number of elements that equal `value`; nulls never do.
  package static func countEqual(_ leaf: UnsafeRawPointer, _ wanted: Int64) -> Int {
    let count = BlockHeader.count(leaf)
    let width = BlockHeader.width(leaf)
    var matches = 0
    if width & (nullsFlag | baseFlag) == 0, width & 0x0f == 4 {
      guard let byte = UInt8(exactly: wanted) else { return 0 }
      let elements = BlockHeader.payload(leaf)
      for index in 0..<count {
        matches &+= elements.load(fromByteOffset: index, as: UInt8.self) == byte ? 1 : 0
      }
      return matches
    }
    for index in 0..<count where value(leaf, index) == wanted && !isNull(leaf, index) {
      matches += 1
    }
    return matches
  }

  // MARK: - Changing

  /// A leaf of `count` times the same value.
  package static func make(
    _ editor: BlockEditor, repeating value: Int64?, count: Int
  ) -> BlockReference {
    var values = [Int64](repeating: value ?? 0, count: count)
    let nulls = value == nil ? [Bool](repeating: true, count: count) : nil
    return make(editor, &values, nulls)
  }

  /// A leaf of these values.
  package static func make(
    _ editor: BlockEditor, _ values: inout [Int64], _ nulls: [Bool]?
  ) -> BlockReference {
    let width = bestWidth(values, nulls)
    let leaf = editor.allocate(
      kind: kind, width: width, count: values.count,
      payloadBytes: payloadBytes(width, values.count))
    fill(editor.pointer(leaf), values, nulls)
    return leaf
  }

  /// Sets one element.
  ///
  /// - Returns: the leaf's reference from now on.
  package static func setting(
    _ editor: BlockEditor, _ leaf: BlockReference, _ index: Int, _ value: Int64?
  ) -> BlockReference {
    let leaf = editor.mutable(leaf)
    let block = editor.pointer(leaf)
    let width = BlockHeader.width(block)
    if let value {
      if store(block, width, index, value) {
        if width & nullsFlag != 0 { setNull(block, index, false) }
        return leaf
      }
    } else if width & nullsFlag != 0 {
      setNull(block, index, true)
      storeElement(
        block + BlockHeader.length + elementsOffset(width), width & 0x0f, index, 0)
      return leaf
    }
    var (values, nulls) = decode(block)
    values[index] = value ?? 0
    if value == nil, nulls == nil { nulls = [Bool](repeating: false, count: values.count) }
    nulls?[index] = value == nil
    return encode(editor, leaf, values, nulls)
  }

  /// Adds one element at the end.
  package static func appending(
    _ editor: BlockEditor, _ leaf: BlockReference, _ value: Int64?
  ) -> BlockReference {
    let leaf = editor.mutable(leaf)
    var block = editor.pointer(leaf)
    let width = BlockHeader.width(block)
    let count = BlockHeader.count(block)
    let hasNulls = width & nullsFlag != 0
    if value.map({ fits(block, width, $0) }) ?? hasNulls {
      let length = payloadBytes(width, count + 1)
      if BlockHeader.blockLength(forPayload: length) != BlockHeader.blockLength(block) {
        editor.resize(leaf, payloadBytes: length)
        block = editor.pointer(leaf)
      }
      if hasNulls { moveNulls(block, width, count) }
      BlockHeader.setCount(block, count + 1)
      if let value {
        _ = store(block, width, count, value)
        if hasNulls { setNull(block, count, false) }
      } else {
        storeElement(
          block + BlockHeader.length + elementsOffset(width), width & 0x0f, count, 0)
        setNull(block, count, true)
      }
      return leaf
    }
    var (values, nulls) = decode(block)
    values.append(value ?? 0)
    if value == nil, nulls == nil { nulls = [Bool](repeating: false, count: count) }
    nulls?.append(value == nil)
    return encode(editor, leaf, values, nulls)
  }

  /// Removes one element; the ones behind it move up.
  package static func removing(
    _ editor: BlockEditor, _ leaf: BlockReference, _ index: Int
  ) -> BlockReference {
    let leaf = editor.mutable(leaf)
    var (values, nulls) = decode(editor.pointer(leaf))
    values.remove(at: index)
    nulls?.remove(at: index)
    return encode(editor, leaf, values, nulls)
  }

  // MARK: - Encoding

  /// Moves the null bitmap behind where one more element ends, and clears what it leaves.
  private static func moveNulls(_ block: UnsafeMutableRawPointer, _ width: UInt8, _ count: Int) {
    let elements = block + BlockHeader.length + elementsOffset(width)
    let old = elementBytes(width & 0x0f, count)
    let new = elementBytes(width & 0x0f, count + 1)
    let length = (count + 7) >> 3
    memmove(elements + new, elements + old, length)
    if new > old { memset(elements + old, 0, new - old) }
    if count & 7 == 0 {
      elements.storeBytes(of: 0, toByteOffset: new + length, as: UInt8.self)
    }
  }

  private static func setNull(_ block: UnsafeMutableRawPointer, _ index: Int, _ isNull: Bool) {
    let byte = UnsafeMutableRawPointer(mutating: nulls(block)) + index >> 3
    let bit = UInt8(1) << UInt8(index & 7)
    let old = byte.load(as: UInt8.self)
    byte.storeBytes(of: isNull ? old | bit : old & ~bit, as: UInt8.self)
  }

  @inline(__always)
  private static func fits(_ block: UnsafeRawPointer, _ width: UInt8, _ value: Int64) -> Bool {
    let code = width & 0x0f
    if code == 7 { return true }
    let base =
      width & baseFlag != 0 ? BlockHeader.payload(block).loadUnaligned(as: Int64.self) : 0
    let (distance, overflow) = value.subtractingReportingOverflow(base)
    return !overflow && distance >= 0
      && (code == 0 ? distance == 0 : distance < 1 << (1 << Int64(code - 1)))
  }

  /// Stores in place; false when the value is too wide.
  private static func store(
    _ block: UnsafeMutableRawPointer, _ width: UInt8, _ index: Int, _ value: Int64
  ) -> Bool {
    guard fits(block, width, value) else { return false }
    let elements = block + BlockHeader.length + elementsOffset(width)
    let base =
      width & baseFlag != 0 ? BlockHeader.payload(block).loadUnaligned(as: Int64.self) : 0
    storeElement(elements, width & 0x0f, index, UInt64(bitPattern: value &- base))
    return true
  }

  @inline(__always)
  private static func storeElement(
    _ elements: UnsafeMutableRawPointer, _ code: UInt8, _ index: Int, _ value: UInt64
  ) {
    switch code {
    case 0: break
    case 7: elements.storeBytes(of: value, toByteOffset: index &* 8, as: UInt64.self)
    case 6:
      elements.storeBytes(
        of: UInt32(truncatingIfNeeded: value), toByteOffset: index &* 4, as: UInt32.self)
    case 5:
      elements.storeBytes(
        of: UInt16(truncatingIfNeeded: value), toByteOffset: index &* 2, as: UInt16.self)
    case 4:
      elements.storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: index, as: UInt8.self)
    default:
      let bits = 1 << Int(code - 1)
      let position = index * bits
      let shift = UInt8(position & 7)
      let mask = UInt8((1 << bits) - 1) << shift
      let old = elements.load(fromByteOffset: position >> 3, as: UInt8.self)
      let new = old & ~mask | UInt8(truncatingIfNeeded: value) << shift & mask
      elements.storeBytes(of: new, toByteOffset: position >> 3, as: UInt8.self)
    }
  }

  private static func decode(_ block: UnsafeRawPointer) -> ([Int64], [Bool]?) {
    let count = BlockHeader.count(block)
    let values = [Int64](unsafeUninitializedCapacity: count) { buffer, used in
      if count > 0 { unpack(block, into: buffer.baseAddress!) }
      used = count
    }
    if BlockHeader.width(block) & nullsFlag == 0 { return (values, nil) }
    return (values, (0..<count).map { isNull(block, $0) })
  }

  /// Writes values into an existing provisional leaf, in whatever width they need now.
  private static func encode(
    _ editor: BlockEditor, _ leaf: BlockReference, _ values: [Int64], _ nulls: [Bool]?
  ) -> BlockReference {
    let nulls = nulls?.contains(true) == true ? nulls : nil
    let width = bestWidth(values, nulls)
    editor.resize(leaf, payloadBytes: payloadBytes(width, values.count))
    let block = editor.pointer(leaf)
    BlockHeader.setWidth(block, width)
    BlockHeader.setCount(block, values.count)
    memset(block + BlockHeader.length, 0, BlockHeader.blockLength(block) - BlockHeader.length)
    fill(block, values, nulls)
    return leaf
  }

  /// The narrowest width, with a base only where that saves a step.
  private static func bestWidth(_ values: [Int64], _ nulls: [Bool]?) -> UInt8 {
    var low = Int64.max
    var high = Int64.min
    for (index, value) in values.enumerated() where nulls?[index] != true {
      low = min(low, value)
      high = max(high, value)
    }
    let flags: UInt8 = nulls == nil ? 0 : nullsFlag
    if low > high { return flags }
    let plain: UInt8 = low < 0 ? 8 : code(UInt64(high))
    let (distance, overflow) = high.subtractingReportingOverflow(low)
    let based: UInt8 = overflow ? 8 : code(UInt64(distance))
    if based < min(plain, 7) || (plain == 8 && based < 8) { return flags | baseFlag | based }
    return flags | min(plain, 7)
  }

  /// Width code for numbers up to `high`.
  private static func code(_ high: UInt64) -> UInt8 {
    if high == 0 { return 0 }
    let bits = 64 - high.leadingZeroBitCount
    return UInt8(bits <= 1 ? 1 : 65 - (bits - 1).leadingZeroBitCount)
  }

  private static func fill(
    _ block: UnsafeMutableRawPointer, _ values: [Int64], _ nulls: [Bool]?
  ) {
    let width = BlockHeader.width(block)
    var elements = block + BlockHeader.length
    var base: Int64 = 0
    if width & baseFlag != 0 {
      base = zip(values.indices, values).reduce(Int64.max) { low, element in
        nulls?[element.0] == true ? low : min(low, element.1)
      }
      elements.storeBytes(of: base, as: Int64.self)
      elements += 8
    }
    for (index, value) in values.enumerated() {
      let isNull = nulls?[index] == true
      storeElement(elements, width & 0x0f, index, isNull ? 0 : UInt64(bitPattern: value &- base))
    }
    guard let nulls else { return }
    let bitmap = elements + elementBytes(width & 0x0f, values.count)
    for (index, isNull) in nulls.enumerated() where isNull {
      let old = bitmap.load(fromByteOffset: index >> 3, as: UInt8.self)
      bitmap.storeBytes(of: old | 1 << UInt8(index & 7), toByteOffset: index >> 3, as: UInt8.self)
    }
  }
}
