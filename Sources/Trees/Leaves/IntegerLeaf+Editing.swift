// Making and changing packed integer leaves. In place while the value fits the width; otherwise the
// leaf is encoded anew, with room downward so that falling values do not do it each time. A leaf
// that becomes full is encoded as tightly as possible, because appending then ends.
internal import Glibc
package import Storage

/// How the elements of a leaf are stored.
private struct Encoding {
  var code: UInt8
  var base: Int64?

  /// The smallest encoding of values in a range.
  init(minimum: Int64, maximum: Int64, count: Int) {
    let plain = minimum < 0 ? 7 : Encoding.code(UInt64(bitPattern: maximum))
    let range = Encoding.code(UInt64(bitPattern: maximum &- minimum))
    let plainBytes = IntegerLeaf.valueBytes(plain, count)
    if range < plain, IntegerLeaf.valueBytes(range, count) + 8 < plainBytes {
      code = range
      base = minimum
    } else {
      code = plain
      base = nil
    }
  }

  /// The code of the narrowest element that holds `element`.
  @inline(__always)
  static func code(_ element: UInt64) -> UInt8 {
    let bits = 64 - element.leadingZeroBitCount
    return bits == 0 ? 0 : UInt8(truncatingIfNeeded: 65 - (bits - 1).leadingZeroBitCount)
  }
}

/// A null bitmap of up to 256 bits.
private typealias Bitmap = SIMD4<UInt64>

extension IntegerLeaf {
  // MARK: - Making

  /// A new leaf.
  /// - Parameters:
  ///   - values: 1 to 256 values; those of nulls do not matter.
  ///   - nulls: bitmap of ceil(count / 8) bytes, bit set = null.
  package static func make(
    _ editor: BlockEditor, _ values: UnsafeBufferPointer<Int64>, nulls: UnsafePointer<UInt8>? = nil
  ) -> BlockReference {
    let count = values.count
    precondition(count >= 1 && count <= countMax)
    var bitmap = Bitmap()
    if let nulls {
      withUnsafeMutableBytes(of: &bitmap) { target in
        target.copyMemory(from: UnsafeRawBufferPointer(start: nulls, count: (count + 7) / 8))
        if count & 7 != 0 { target[count / 8] &= (1 << UInt8(count & 7)) - 1 }
      }
    }
    let leaf = editor.allocate(kind: kind, count: count, payloadBytes: 0)
    var (minimum, maximum) = range(values, bitmap)
    if minimum > maximum { (minimum, maximum) = (0, 0) }
    encode(
      editor, leaf, values, bitmap,
      Encoding(minimum: minimum, maximum: maximum, count: count))
    return leaf
  }

  /// Smallest and largest value that is not null; max and min of Int64 when all are.
  private static func range(
    _ values: UnsafeBufferPointer<Int64>, _ bitmap: Bitmap
  ) -> (Int64, Int64) {
    var minimum = Int64.max
    var maximum = Int64.min
    if bitmap == Bitmap() {
      for value in values {
        minimum = min(minimum, value)
        maximum = max(maximum, value)
      }
    } else {
      for index in 0..<values.count where !isSet(bitmap, index) {
        minimum = min(minimum, values[index])
        maximum = max(maximum, values[index])
      }
    }
    return (minimum, maximum)
  }

  /// Gives a provisional leaf new content.
  private static func encode(
    _ editor: BlockEditor, _ leaf: BlockReference, _ values: UnsafeBufferPointer<Int64>,
    _ bitmap: Bitmap, _ encoding: Encoding
  ) {
    let count = values.count
    let hasNulls = bitmap != Bitmap()
    let width =
      encoding.code | (encoding.base == nil ? 0 : baseFlag) | (hasNulls ? nullsFlag : 0)
    let block = resized(editor, leaf, width, count)
    BlockHeader.setWidth(block, width)
    BlockHeader.setCount(block, count)
    let base = encoding.base ?? 0
    if encoding.base != nil {
      block.storeBytes(of: base, toByteOffset: BlockHeader.length, as: Int64.self)
    }
    let target = block + valuesOffset(width)
    memset(target, 0, valueBytes(encoding.code, count))
    switch encoding.code {
    case 0: break
    case 4: pack(values, base, target, UInt8.self)
    case 5: pack(values, base, target, UInt16.self)
    case 6: pack(values, base, target, UInt32.self)
    case 7: pack(values, base, target, UInt64.self)
    default:
      let bits = bits(encoding.code)
      let mask = (UInt64(1) << UInt64(bits)) - 1
      let words = target.assumingMemoryBound(to: UInt64.self)
      for index in 0..<count {
        let position = index &* bits
        words[position &>> 6] |=
          (UInt64(bitPattern: values[index] &- base) & mask)
          &<< UInt64(truncatingIfNeeded: position)
      }
    }
    if hasNulls {
      for index in 0..<count where isSet(bitmap, index) {
        storeElement(block, width, index, 0)
      }
      storeBitmap(block, width, count, bitmap)
    }
  }

  @inline(__always)
  private static func pack<Element: FixedWidthInteger>(
    _ values: UnsafeBufferPointer<Int64>, _ base: Int64, _ target: UnsafeMutableRawPointer,
    _: Element.Type
  ) {
    let elements = target.assumingMemoryBound(to: Element.self)
    for index in 0..<values.count {
      elements[index] = Element(truncatingIfNeeded: values[index] &- base)
    }
  }

  // MARK: - Changing

  /// Sets an element; nil makes it null.
  /// - Returns: the reference to store in the parent.
  package static func setting(
    _ editor: BlockEditor, _ leaf: BlockReference, _ index: Int, _ value: Int64?
  ) -> BlockReference {
    let current = editor.reader.pointer(leaf)
    precondition(index >= 0 && index < count(current))
    if !leaf.isProvisional {
      // Writing what is there already must not copy the leaf.
      let same = isNull(current, index) ? value == nil : value == self.value(current, index)
      if same { return leaf }
    }
    let leaf = editor.mutable(leaf)
    var block = editor.pointer(leaf)
    let width = BlockHeader.width(block)
    let count = BlockHeader.count(block)
    if let value {
      guard let element = element(of: value, block, width) else {
        recode(editor, leaf, index, value)
        return leaf
      }
      storeElement(block, width, index, element)
      if width & nullsFlag != 0 {
        setBit(block + bitmapOffset(width, count), index, false)
      }
      return leaf
    }
    storeElement(block, width, index, 0)
    if width & nullsFlag == 0 {
      block = resized(editor, leaf, width | nullsFlag, count)
      BlockHeader.setWidth(block, width | nullsFlag)
      storeBitmap(block, width, count, Bitmap())
    }
    setBit(block + bitmapOffset(width, count), index, true)
    return leaf
  }

  /// Adds an element at the end of a leaf of fewer than 256.
  /// - Returns: the reference to store in the parent.
  package static func appending(
    _ editor: BlockEditor, _ leaf: BlockReference, _ value: Int64?
  ) -> BlockReference {
    let leaf = leaf.isProvisional ? leaf : editor.mutable(leaf)
    let block = editor.pointer(leaf)
    let width = BlockHeader.width(block)
    let count = BlockHeader.count(block)
    precondition(count < countMax)
    if _fastPath(width & nullsFlag == 0), let value,
      let element = element(of: value, block, width)
    {
      // Likely to become full: room for that now spares copies.
      if count == 32 { reserve(editor, leaf, valueBytes(width & codeMask, countMax) + 8) }
      let grown = resized(editor, leaf, width, count &+ 1)
      appendElement(grown, width, count, element)
      BlockHeader.setCount(grown, count &+ 1)
      if count &+ 1 == countMax { tighten(editor, leaf) }
      return leaf
    }
    return appending(editor, leaf, repeating: value, count: 1)
  }

  /// Adds the same element several times; the leaf ends with at most 256.
  /// - Returns: the reference to store in the parent.
  package static func appending(
    _ editor: BlockEditor, _ leaf: BlockReference, repeating value: Int64?, count added: Int
  ) -> BlockReference {
    if added == 0 { return leaf }
    let leaf = editor.mutable(leaf)
    var block = editor.pointer(leaf)
    let count = BlockHeader.count(block)
    precondition(added > 0 && count + added <= countMax)
    var width = BlockHeader.width(block)
    if let value, element(of: value, block, width) == nil {
      recode(editor, leaf, nil, value)
      block = editor.pointer(leaf)
      width = BlockHeader.width(block)
    }
    let element = value.flatMap { Self.element(of: $0, block, width) } ?? 0
    var bitmap = loadBitmap(block, width, count)
    if value == nil {
      for index in count..<(count + added) { set(&bitmap, index) }
      width |= nullsFlag
    }
    block = resized(editor, leaf, width, count + added)
    BlockHeader.setWidth(block, width)
    for index in count..<(count + added) { appendElement(block, width, index, element) }
    BlockHeader.setCount(block, count + added)
    if width & nullsFlag != 0 { storeBitmap(block, width, count + added, bitmap) }
    if count + added == countMax { tighten(editor, leaf) }
    return leaf
  }

  /// Removes an element of a leaf of at least two.
  /// - Returns: the reference to store in the parent.
  package static func removing(
    _ editor: BlockEditor, _ leaf: BlockReference, _ index: Int
  ) -> BlockReference {
    let leaf = editor.mutable(leaf)
    let block = editor.pointer(leaf)
    let width = BlockHeader.width(block)
    let count = BlockHeader.count(block)
    precondition(index >= 0 && index < count && count >= 2)
    let bits = Self.bits(width & codeMask)
    var bitmap = loadBitmap(block, width, count)
    if bits > 0 {
      removeBits(block + valuesOffset(width), index &* bits, bits, count &* bits)
    }
    BlockHeader.setCount(block, count - 1)
    if width & nullsFlag != 0 {
      withUnsafeMutableBytes(of: &bitmap) { removeBits($0.baseAddress!, index, 1, count) }
      storeBitmap(block, width, count - 1, bitmap)
    }
    _ = resized(editor, leaf, width, count - 1)
    return leaf
  }

  // MARK: - Parts

  /// The stored form of a value, or nil if the leaf's width does not hold it.
  @inline(__always)
  private static func element(
    of value: Int64, _ block: UnsafeRawPointer, _ width: UInt8
  ) -> UInt64? {
    if width & codeMask == 7 { return UInt64(bitPattern: value) }
    let base = base(block, width)
    let element = UInt64(bitPattern: value &- base)
    let bits = UInt64(truncatingIfNeeded: bits(width & codeMask))
    return value >= base && element &>> bits == 0 ? element : nil
  }

  @inline(__always)
  private static func storeElement(
    _ block: UnsafeMutableRawPointer, _ width: UInt8, _ index: Int, _ element: UInt64
  ) {
    let code = width & codeMask
    if code == 0 { return }
    let bits = bits(code)
    let position = index &* bits
    let word =
      (block + valuesOffset(width)).assumingMemoryBound(to: UInt64.self)
      + (position &>> 6)
    if code == 7 {
      word.pointee = element
      return
    }
    let mask =
      ((UInt64(1) &<< UInt64(truncatingIfNeeded: bits)) &- 1)
      &<< UInt64(truncatingIfNeeded: position)
    word.pointee =
      (word.pointee & ~mask) | (element &<< UInt64(truncatingIfNeeded: position))
  }

  /// Stores an element behind the last one: the first of a word sets the whole word.
  @inline(__always)
  private static func appendElement(
    _ block: UnsafeMutableRawPointer, _ width: UInt8, _ index: Int, _ element: UInt64
  ) {
    let code = width & codeMask
    if code == 0 { return }
    let position = index &* bits(code)
    let word =
      (block + valuesOffset(width)).assumingMemoryBound(to: UInt64.self)
      + (position &>> 6)
    let shift = UInt64(truncatingIfNeeded: position & 63)
    word.pointee = shift == 0 ? element : word.pointee | element &<< shift
  }

  /// The leaf's block, as long as an encoding needs.
  @inline(__always)
  private static func resized(
    _ editor: BlockEditor, _ leaf: BlockReference, _ width: UInt8, _ count: Int
  ) -> UnsafeMutableRawPointer {
    let block = editor.pointer(leaf)
    let used = bitmapOffset(width, count) &+ (width & nullsFlag == 0 ? 0 : bitmapBytes(count))
    if (used &+ 15) & ~15 == BlockHeader.blockLength(block) { return block }
    editor.resize(leaf, payloadBytes: used &- BlockHeader.length)
    return editor.pointer(leaf)
  }

  /// Gives a provisional block memory to grow into; its length stays.
  @inline(never)
  static func reserve(_ editor: BlockEditor, _ leaf: BlockReference, _ payloadBytes: Int) {
    let length = BlockHeader.blockLength(editor.pointer(leaf))
    if length >= BlockHeader.blockLength(forPayload: payloadBytes) { return }
    editor.resize(leaf, payloadBytes: payloadBytes)
    editor.resize(leaf, payloadBytes: length - BlockHeader.length)
  }

  /// Encodes a leaf whose width does not hold `value`, and stores the value at `index` (nil: not yet).
  @inline(never)
  private static func recode(
    _ editor: BlockEditor, _ leaf: BlockReference, _ index: Int?, _ value: Int64
  ) {
    withUnpacked(editor, leaf) { values, bitmap in
      var bitmap = bitmap
      if let index {
        values[index] = value
        clear(&bitmap, index)
      }
      var (minimum, maximum) = range(UnsafeBufferPointer(values), bitmap)
      minimum = min(minimum, value)
      maximum = max(maximum, value)
      var encoding = Encoding(minimum: minimum, maximum: maximum, count: values.count + 1)
      if minimum == value, encoding.base != nil {
        // The value lies below all others, and more of its kind may follow.
        let (lower, overflow) = minimum.subtractingReportingOverflow(maximum &- minimum)
        let floor: Int64 = minimum >= 0 ? 0 : .min
        let low = overflow || maximum &- minimum < 0 ? floor : max(lower, floor)
        let roomy = Encoding(minimum: low, maximum: maximum, count: values.count + 1)
        if roomy.code <= 6 { encoding = roomy }
      }
      encode(editor, leaf, UnsafeBufferPointer(values), bitmap, encoding)
    }
  }

  /// Encodes a leaf as small as it can be.
  @inline(never)
  private static func tighten(_ editor: BlockEditor, _ leaf: BlockReference) {
    let block = editor.pointer(leaf)
    let width = BlockHeader.width(block)
    if width & codeMask == 0 { return }
    let (minimum, maximum) = minMax(block) ?? (0, 0)
    let encoding = Encoding(minimum: minimum, maximum: maximum, count: count(block))
    let isSame = encoding.code == width & codeMask
    if isSame, (encoding.base == nil) == (width & baseFlag == 0) { return }
    withUnpacked(editor, leaf) { values, bitmap in
      encode(editor, leaf, UnsafeBufferPointer(values), bitmap, encoding)
    }
  }

  private static func withUnpacked(
    _ editor: BlockEditor, _ leaf: BlockReference,
    _ body: (UnsafeMutableBufferPointer<Int64>, Bitmap) -> Void
  ) {
    let block = editor.pointer(leaf)
    let count = BlockHeader.count(block)
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: count) { values in
      unpack(block, into: values.baseAddress!)
      body(values, loadBitmap(block, BlockHeader.width(block), count))
    }
  }

  // MARK: - Bits

  private static func isSet(_ bitmap: Bitmap, _ index: Int) -> Bool {
    bitmap[index / 64] & (1 << UInt64(index & 63)) != 0
  }

  private static func set(_ bitmap: inout Bitmap, _ index: Int) {
    bitmap[index / 64] |= 1 << UInt64(index & 63)
  }

  private static func clear(_ bitmap: inout Bitmap, _ index: Int) {
    bitmap[index / 64] &= ~(1 << UInt64(index & 63))
  }

  private static func loadBitmap(
    _ block: UnsafeRawPointer, _ width: UInt8, _ count: Int
  ) -> Bitmap {
    var bitmap = Bitmap()
    if width & nullsFlag != 0 {
      let source = block + bitmapOffset(width, count)
      withUnsafeMutableBytes(of: &bitmap) { target in
        _ = memcpy(target.baseAddress!, source, bitmapBytes(count))
      }
    }
    return bitmap
  }

  private static func storeBitmap(
    _ block: UnsafeMutableRawPointer, _ width: UInt8, _ count: Int, _ bitmap: Bitmap
  ) {
    let target = block + bitmapOffset(width, count)
    withUnsafeBytes(of: bitmap) { source in
      _ = memcpy(target, source.baseAddress!, bitmapBytes(count))
    }
  }

  private static func setBit(
    _ bitmap: UnsafeMutableRawPointer, _ index: Int, _ isSet: Bool
  ) {
    let bytes = bitmap.assumingMemoryBound(to: UInt8.self)
    let bit = UInt8(1) << UInt8(index & 7)
    if isSet { bytes[index / 8] |= bit } else { bytes[index / 8] &= ~bit }
  }

  /// Removes `width` bits (a divisor of 64) at `position` of `total` bits stored in 64-bit words.
  private static func removeBits(
    _ memory: UnsafeMutableRawPointer, _ position: Int, _ width: Int, _ total: Int
  ) {
    let words = memory.assumingMemoryBound(to: UInt64.self)
    let wordCount = (total + 63) / 64
    var index = position / 64
    if width == 64 {
      memmove(words + index, words + index + 1, (wordCount - index - 1) * 8)
      words[wordCount - 1] = 0
      return
    }
    let below = (UInt64(1) &<< UInt64(position & 63)) &- 1
    words[index] = (words[index] & below) | ((words[index] &>> UInt64(width)) & ~below)
    while index + 1 < wordCount {
      words[index] |= words[index + 1] &<< UInt64(64 - width)
      words[index + 1] &>>= UInt64(width)
      index += 1
    }
  }
}
