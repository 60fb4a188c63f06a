// Up to 256 sorted pairs of integers, each half packed to the fewest bytes that hold all of them.
//
//   header  count = pairs; width byte: bits 0..1 = log2 of a first's bytes, bits 2..3 of a second's
//   16  i64  base of the firsts
//   24  i64  base of the seconds
//   32       pairs: first - base, second - base, unsigned
internal import Glibc
public import Platform
public import Storage

/// Two integers, ordered by the first, then by the second.
@frozen @usableFromInline
package struct Pair: Hashable, Comparable, Sendable {
  @usableFromInline package var first: Int64
  @usableFromInline package var second: Int64

  @inlinable @inline(__always)
  package init(_ first: Int64, _ second: Int64) {
    self.first = first
    self.second = second
  }

  @inlinable @inline(__always)
  package static func < (left: Pair, right: Pair) -> Bool {
    left.first != right.first ? left.first < right.first : left.second < right.second
  }

  /// The least pair that is greater; nil for the greatest.
  @inlinable @inline(__always)
  var next: Pair? {
    if second < .max { return Pair(first, second &+ 1) }
    return first < .max ? Pair(first &+ 1, .min) : nil
  }
}

/// Leaves of a tree of pairs.
@frozen @usableFromInline
package enum PairLeaf {
  @inlinable static var pairsMax: Int { 256 }
  @inlinable static var pairsOffset: Int { BlockHeader.length &+ 16 }

  @inlinable @inline(__always)
  static func firstCode(_ flags: UInt8) -> UInt8 { flags & 3 }

  @inlinable @inline(__always)
  static func secondCode(_ flags: UInt8) -> UInt8 { flags &>> 2 & 3 }

  @inlinable @inline(__always)
  static func stride(_ flags: UInt8) -> Int {
    1 &<< Int(firstCode(flags)) &+ 1 &<< Int(secondCode(flags))
  }

  @inlinable @inline(__always)
  static func load(_ bytes: UnsafeRawPointer, code: UInt8) -> Int64 {
    switch code {
    case 0: Int64(bytes.load(as: UInt8.self))
    case 1: Int64(bytes.integer(at: 0, as: UInt16.self))
    case 2: Int64(bytes.integer(at: 0, as: UInt32.self))
    default: bytes.integer(at: 0, as: Int64.self)
    }
  }

  /// The pair at an index.
  @inlinable @inline(__always)
  package static func pair(_ block: UnsafeRawPointer, _ index: Int) -> Pair {
    let flags = BlockHeader.width(block)
    let bytes = block + pairsOffset + index &* stride(flags)
    let code = firstCode(flags)
    return Pair(
      block.integer(at: BlockHeader.length, as: Int64.self) &+ load(bytes, code: code),
      block.integer(at: BlockHeader.length &+ 8, as: Int64.self)
        &+ load(bytes + 1 &<< Int(code), code: secondCode(flags)))
  }

  /// Index of the first pair that is not less.
  @inlinable
  package static func lowerBound(_ block: UnsafeRawPointer, _ pair: Pair) -> Int {
    let flags = BlockHeader.width(block)
    let (code, stride) = (firstCode(flags), stride(flags))
    let base = block.integer(at: BlockHeader.length, as: Int64.self)
    if pair.second == .min && code < 3 {
      // Firsts are stored as what they are above the base; only sums of 64 bits may wrap.
      return pair.first <= base
        ? 0
        : countBelow(
          UInt64(bitPattern: pair.first &- base), in: block + pairsOffset,
          count: BlockHeader.count(block), stride: stride, code: code)
    }
    var low = 0
    var high = BlockHeader.count(block)
    while low < high {
      let middle = (low &+ high) &>> 1
      let first = base &+ load(block + pairsOffset + middle &* stride, code: code)
      // The second is looked at only where it decides.
      let isLess =
        first != pair.first
        ? first < pair.first : self.pair(block, middle).second < pair.second
      if isLess { low = middle &+ 1 } else { high = middle }
    }
    return low
  }

  /// Copies the seconds of pairs from an index on, as long as they have a first, until `seconds` is
  /// full.
  ///
  /// - Returns: seconds copied.
  static func copySeconds(
    _ block: UnsafeRawPointer, of first: Int64, from index: Int,
    into seconds: UnsafeMutableBufferPointer<Int64>
  ) -> Int {
    let flags = BlockHeader.width(block)
    let (firstCode, secondCode) = (firstCode(flags), secondCode(flags))
    let stride = stride(flags)
    let base = block.integer(at: BlockHeader.length &+ 8, as: Int64.self)
    // As it is stored.
    let first = first &- block.integer(at: BlockHeader.length, as: Int64.self)
    let end = min(BlockHeader.count(block) &- index, seconds.count)
    var place = block + pairsOffset + index &* stride
    var copied = 0
    while copied < end, load(place, code: firstCode) == first {
      seconds[copied] = base &+ load(place + 1 &<< Int(firstCode), code: secondCode)
      copied &+= 1
      place += stride
    }
    return copied
  }

  /// Index of the first pair that is greater.
  @inlinable
  static func upperBound(_ block: UnsafeRawPointer, _ pair: Pair) -> Int {
    var low = 0
    var high = BlockHeader.count(block)
    while low < high {
      let middle = (low &+ high) &>> 1
      if pair < self.pair(block, middle) { high = middle } else { low = middle &+ 1 }
    }
    return low
  }

  // MARK: - Editing

  /// A new leaf.
  static func make(_ editor: BlockEditor, _ pairs: UnsafeBufferPointer<Pair>) -> BlockReference {
    let reference = editor.allocate(kind: .pairLeaf, count: 0, payloadBytes: 16)
    write(editor, reference, pairs, growsDown: (false, false))
    return reference
  }

  /// Inserts a pair into a leaf of this transaction that has room.
  static func insert(_ editor: BlockEditor, _ leaf: BlockReference, _ pair: Pair, at index: Int) {
    var block = editor.pointer(leaf)
    let count = BlockHeader.count(block)
    let flags = BlockHeader.width(block)
    let first = UInt64(bitPattern: pair.first &- firstBase(block))
    let second = UInt64(bitPattern: pair.second &- secondBase(block))
    guard count > 0, first <= elementMax(firstCode(flags)),
      second <= elementMax(secondCode(flags))
    else {
      withPairs(editor, leaf, room: 1) { pairs in
        let start = pairs.baseAddress!
        memmove(start + index + 1, start + index, (count - index) * MemoryLayout<Pair>.stride)
        pairs[index] = pair
        write(
          editor, leaf, UnsafeBufferPointer(rebasing: pairs[0...count]),
          growsDown: (
            count > 0 && pair.first < firstBase(editor.pointer(leaf)),
            count > 0 && pair.second < secondBase(editor.pointer(leaf))
          ))
      }
      return
    }
    let stride = stride(flags)
    editor.resize(leaf, payloadBytes: 16 &+ (count &+ 1) &* stride)
    block = editor.pointer(leaf)
    let place = block + pairsOffset + index &* stride
    memmove(place + stride, place, (count &- index) &* stride)
    BlockHeader.setCount(block, count &+ 1)
    store(place, first, code: firstCode(flags))
    store(place + 1 &<< Int(firstCode(flags)), second, code: secondCode(flags))
  }

  /// Removes pairs of a leaf of this transaction; not all of them.
  static func remove(_ editor: BlockEditor, _ leaf: BlockReference, _ range: Range<Int>) {
    let block = editor.pointer(leaf)
    let count = BlockHeader.count(block)
    let stride = stride(BlockHeader.width(block))
    let pairs = block + pairsOffset
    memmove(
      pairs + range.lowerBound * stride, pairs + range.upperBound * stride,
      (count - range.upperBound) * stride)
    let left = count - range.count
    // What is behind the last pair is zero, so that equal content means equal bytes.
    memset(pairs + left * stride, 0, range.count * stride)
    BlockHeader.setCount(block, left)
    editor.resize(leaf, payloadBytes: 16 + left * stride)
  }

  /// Moves the pairs from `index` on into a new leaf.
  static func split(
    _ editor: BlockEditor, _ leaf: BlockReference, at index: Int
  ) -> BlockReference {
    var right = BlockReference.none
    withPairs(editor, leaf, room: 0) { pairs in
      right = make(editor, UnsafeBufferPointer(rebasing: pairs[index...]))
      write(
        editor, leaf, UnsafeBufferPointer(rebasing: pairs[..<index]), growsDown: (false, false))
    }
    return right
  }

  /// Adds all pairs of the next leaf.
  static func append(_ editor: BlockEditor, _ leaf: BlockReference, leaf next: BlockReference) {
    let other = editor.reader.pointer(next)
    let added = BlockHeader.count(other)
    let count = BlockHeader.count(editor.pointer(leaf))
    withPairs(editor, leaf, room: added) { pairs in
      for index in 0..<added { pairs[count + index] = pair(other, index) }
      write(editor, leaf, UnsafeBufferPointer(pairs), growsDown: (false, false))
    }
  }

  private static func withPairs(
    _ editor: BlockEditor, _ leaf: BlockReference, room: Int,
    _ body: (UnsafeMutableBufferPointer<Pair>) -> Void
  ) {
    let count = BlockHeader.count(editor.pointer(leaf))
    withUnsafeTemporaryAllocation(of: Pair.self, capacity: count + room) { pairs in
      let block = UnsafeRawPointer(editor.pointer(leaf))
      for index in 0..<count { pairs[index] = pair(block, index) }
      body(pairs)
    }
  }

  /// Writes a whole leaf.
  ///
  /// `growsDown`: leave room below the smallest first or second, not above the largest.
  private static func write(
    _ editor: BlockEditor, _ leaf: BlockReference, _ pairs: UnsafeBufferPointer<Pair>,
    growsDown: (first: Bool, second: Bool)
  ) {
    var least = pairs[0]
    var greatest = pairs[0]
    for pair in pairs {
      least.first = min(least.first, pair.first)
      greatest.first = max(greatest.first, pair.first)
      least.second = min(least.second, pair.second)
      greatest.second = max(greatest.second, pair.second)
    }
    let first = form(least.first, greatest.first, growsDown: growsDown.first)
    let second = form(least.second, greatest.second, growsDown: growsDown.second)
    let flags = first.code | second.code << 2
    let stride = stride(flags)
    editor.resize(leaf, payloadBytes: 16 + pairs.count * stride)
    let block = editor.pointer(leaf)
    BlockHeader.setWidth(block, flags)
    BlockHeader.setCount(block, pairs.count)
    memset(
      block + BlockHeader.length, 0, BlockHeader.blockLength(block) - BlockHeader.length)
    block.store(first.base, at: BlockHeader.length)
    block.store(second.base, at: BlockHeader.length + 8)
    var place = block + pairsOffset
    for pair in pairs {
      store(place, UInt64(bitPattern: pair.first &- first.base), code: first.code)
      store(
        place + 1 &<< Int(first.code), UInt64(bitPattern: pair.second &- second.base),
        code: second.code)
      place += stride
    }
  }

  /// Base and width code for values of a range.
  private static func form(
    _ least: Int64, _ greatest: Int64, growsDown: Bool
  ) -> (base: Int64, code: UInt8) {
    let difference = UInt64(bitPattern: greatest &- least)
    let code: UInt8 =
      difference <= 0xff ? 0 : difference <= 0xffff ? 1 : difference <= 0xffff_ffff ? 2 : 3
    if growsDown, code < 3 {
      let (lowest, overflow) = greatest.subtractingReportingOverflow(Int64(elementMax(code)))
      if !overflow { return (lowest, code) }
    }
    return (least, code)
  }

  @inline(__always)
  private static func firstBase(_ block: UnsafeRawPointer) -> Int64 {
    block.integer(at: BlockHeader.length, as: Int64.self)
  }

  @inline(__always)
  private static func secondBase(_ block: UnsafeRawPointer) -> Int64 {
    block.integer(at: BlockHeader.length &+ 8, as: Int64.self)
  }

  @inline(__always)
  private static func elementMax(_ code: UInt8) -> UInt64 {
    code == 3 ? .max : 1 &<< (8 &<< UInt64(code)) &- 1
  }

  @inline(__always)
  private static func store(_ place: UnsafeMutableRawPointer, _ value: UInt64, code: UInt8) {
    switch code {
    case 0: place.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
    case 1: place.store(UInt16(truncatingIfNeeded: value), at: 0)
    case 2: place.store(UInt32(truncatingIfNeeded: value), at: 0)
    default: place.store(value, at: 0)
    }
  }

  /// Adds what is wrong with the leaf's bytes to `findings`.
  static func check(_ block: UnsafeRawPointer, name: String, _ findings: inout [String]) {
    let count = BlockHeader.count(block)
    if count == 0 || count > pairsMax { findings.append("\(name): a leaf of \(count) pairs") }
    let payload = 16 + count * stride(BlockHeader.width(block))
    if BlockHeader.blockLength(block) != BlockHeader.blockLength(forPayload: payload) {
      findings.append("\(name): leaf of \(count) pairs has a wrong length")
      return
    }
    for index in 1..<max(count, 1) where pair(block, index) < pair(block, index - 1) {
      findings.append("\(name): pair \(index) is less than the one before")
    }
  }
}
