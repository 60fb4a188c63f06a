// A table of contents of a large sorted collection, for those who look up many values in one
// version of it: what each section begins with lies side by side in memory, so that a look-up
// touches a few lines of that and one leaf, instead of a leaf for each step of a search through
// branches.
internal import Glibc
internal import Platform
internal import Storage
internal import Trees

/// What the sections of a set, or of the keys of a map, begin with.
///
/// Good for the tree that it was made from, wherever its root is found again: blocks of versions
/// never change. Belongs to one confined collection.
package final class ElementFences {
  // Unchecked by the compiler only in that they are pointers: allocated and filled by `init`, freed
  // by `deinit`, never changed in between.

  /// Neighbouring elements of one leaf.
  private struct Section {
    let leaf: BlockReference
    /// Position of the first one.
    let position: UInt32
    /// Row of the first one.
    let row: UInt16
    let rows: UInt16
    /// Where the first one is in the leaf; for the cache only.
    let offset: UInt16
    /// Of bytes: where the leaf says where the last one ends; for the cache only.
    let ends: UInt16
    /// Bits of a packed element.
    let bits: UInt8
  }

  /// Elements of a section of bytes, where there are not too many.
  private static let rowsOfBytes = 16
  /// Elements of a section of packed values: what a leaf has.
  private static let rowsOfPacked = 256
  /// Sections at most; a larger collection has none.
  private static let sectionsMax = 1 << 18
  /// Rows to each side of where a value should be.
  private static let near = 8
  /// A smaller collection has none.
  private static let countMin = 1_024

  /// The order of the first element of each section: of bytes of the 8 bytes behind `prefix`.
  private let bounds: UnsafeMutablePointer<Int64>
  private let sections: UnsafeMutablePointer<Section>
  private let count: Int
  /// What all elements begin with, if they are bytes.
  private let prefix: UnsafeMutableRawBufferPointer
  private let order: ElementOrder
  private let root: BlockReference
  private let birth: Version

  /// How many look-ups a collection should have had before this pays; nil if it never does.
  package static func lookUpsBefore(_ elements: ElementReader) -> Int? {
    let root = elements.tree.root
    guard elements.count >= countMin, !root.isNone, !root.isProvisional else { return nil }
    let rows = sectionRows(elements)
    return elements.count / rows > sectionsMax ? nil : max(elements.count / rows / 2, 64)
  }

  private static func sectionRows(_ elements: ElementReader) -> Int {
    if elements.order != .bytes { return rowsOfPacked }
    var rows = rowsOfBytes
    while rows < BytesLeaf.rowsMax, elements.count / rows > sectionsMax { rows *= 2 }
    return rows
  }

  /// - Precondition: `lookUpsBefore` gives a number.
  package init(_ elements: ElementReader) {
    let reader = elements.tree.reader
    order = elements.order
    root = elements.tree.root
    birth = BlockHeader.birth(reader.pointer(root))
    let prefix = Self.commonPrefix(elements)
    self.prefix = prefix
    var bounds: [Int64] = []
    var sections: [Section] = []
    let rows = Self.sectionRows(elements)
    var position = 0
    Self.forEachLeaf(reader, root, reader.pointer(root)) { reference, leaf in
      elements.checkLeaf(leaf)
      let leafRows = ElementTree.elements(leaf)
      for row in stride(from: 0, to: leafRows, by: rows) {
        sections.append(
          Self.section(
            elements, reference, leaf, row..<min(row + rows, leafRows), position: position + row))
        bounds.append(Self.bound(elements, leaf, row, prefix.count))
      }
      position += leafRows
    }
    count = sections.count
    self.bounds = .allocate(capacity: count)
    self.bounds.initialize(from: bounds, count: count)
    self.sections = .allocate(capacity: count)
    self.sections.initialize(from: sections, count: count)
  }

  deinit {
    bounds.deallocate()
    sections.deallocate()
    prefix.deallocate()
  }

  /// Whether it was made from these very elements.
  package func isOf(_ elements: ElementReader) -> Bool {
    elements.tree.root == root
      && BlockHeader.birth(elements.tree.reader.pointer(root)) == birth
  }

  // MARK: - Making

  private static func forEachLeaf(
    _ reader: BlockReader, _ reference: BlockReference, _ block: UnsafeRawPointer,
    _ body: (BlockReference, UnsafeRawPointer) -> Void
  ) {
    guard BlockHeader.kind(block) == .elementBranch else { return body(reference, block) }
    for child in 0..<BlockHeader.count(block) {
      forEachLeaf(
        reader, BlockHeader.reference(block, child), ElementTree.child(reader, block, child), body)
    }
  }

  private static func section(
    _ elements: ElementReader, _ reference: BlockReference, _ leaf: UnsafeRawPointer,
    _ rows: Range<Int>, position: Int
  ) -> Section {
    var offset = 0
    var ends = 0
    var bits = 0
    if elements.order != .bytes {
      (offset, bits) = PackedLeaf.layout(leaf)
    } else if BlockHeader.kind(leaf) == .bytesLeaf {
      offset = BytesLeaf.bytes(leaf, rows.lowerBound).baseAddress! - leaf
      ends = BytesLeaf.endOffset(leaf, rows.upperBound - 1)
    }
    return Section(
      leaf: reference, position: UInt32(position), row: UInt16(rows.lowerBound),
      rows: UInt16(rows.count), offset: UInt16(clamping: offset), ends: UInt16(clamping: ends),
      bits: UInt8(bits))
  }

  /// What the first and the last element begin with, and so all between them.
  private static func commonPrefix(_ elements: ElementReader) -> UnsafeMutableRawBufferPointer {
    var common: [UInt8] = []
    if elements.order == .bytes {
      common = elements.withBytes(at: 0) {
        $0.map { [UInt8]($0.prefix(LongValue.inlineMax)) } ?? []
      }
      elements.withBytes(at: elements.count - 1) { last in
        let shared = zip(common, last ?? UnsafeRawBufferPointer(start: nil, count: 0))
        common = shared.prefix { $0 == $1 }.map(\.0)
      }
    }
    let prefix = UnsafeMutableRawBufferPointer.allocate(byteCount: common.count, alignment: 8)
    prefix.copyBytes(from: common)
    return prefix
  }

  private static func bound(
    _ elements: ElementReader, _ leaf: UnsafeRawPointer, _ row: Int, _ prefix: Int
  ) -> Int64 {
    if ElementTree.isNull(leaf, row) { return OrderKey.null }
    if elements.order != .bytes {
      return OrderKey.integer(PackedLeaf.value(leaf, row), elements.order)
    }
    return ElementTree.withBytes(elements.tree.reader, leaf, row) { bound($0!, behind: prefix) }
  }

  @inline(__always)
  private static func bound(_ bytes: UnsafeRawBufferPointer, behind prefix: Int) -> Int64 {
    OrderKey.firstBytes(UnsafeRawBufferPointer(rebasing: bytes[prefix...]))
  }

  // MARK: - Looking up

  /// The number of bounds that are not above a value.
  @inline(__always)
  private func boundsUp(to value: Int64) -> Int { countUpTo(value, in: bounds, count: count) }

  /// Where a packed value or a link is; both zeros are one number.
  ///
  /// - Parameter elements: for which `isOf` holds.
  package func position(ofInteger integer: Int64, in elements: ElementReader) -> Int? {
    let wanted = OrderKey.integer(integer, order)
    let above = boundsUp(to: wanted)
    if above == 0 { return nil }
    let section = sections + (above &- 1)
    let rows = Int(section.pointee.rows)
    let reader = elements.tree.reader
    // Where it is if the section's values are evenly distributed; its line comes together with the
    // header's.
    let start = Double(bounds[above &- 1])
    let width = above < count ? Double(bounds[above]) - start : 0
    let share = width > 0 ? (Double(wanted) - start) / width : 0.5
    let guess = min(Int(share * Double(rows)), rows &- 1)
    reader.prefetch(
      section.pointee.leaf,
      and: Int(section.pointee.offset) &+ (guess &* Int(section.pointee.bits)) &>> 3)
    let leaf = reader.pointer(section.pointee.leaf)
    let hasNulls = PackedLeaf.hasNulls(leaf)
    var low = 0
    var high = rows
    if order == .signed && !hasNulls {
      // Most often it is near the guess, and counted without jumps.
      low = max(guess &- Self.near, 0)
      high = min(guess &+ Self.near, rows)
      let below = PackedLeaf.count(leaf, rows: low..<high, below: wanted)
      if below == 0 {
        (low, high) = (0, low)
      } else if below < high &- low {
        low = low &+ below
        high = low
      } else {
        (low, high) = (high, rows)
      }
    }
    while low < high {
      let middle = (low &+ high) &>> 1
      let isBelow =
        hasNulls && PackedLeaf.isNull(leaf, middle)
        || OrderKey.integer(PackedLeaf.value(leaf, middle), order) < wanted
      if isBelow { low = middle &+ 1 } else { high = middle }
    }
    guard low < rows, !hasNulls || !PackedLeaf.isNull(leaf, low),
      OrderKey.integer(PackedLeaf.value(leaf, low), order) == wanted
    else { return nil }
    return Int(section.pointee.position) &+ low
  }

  /// Where bytes are.
  ///
  /// - Parameter elements: for which `isOf` holds.
  package func position(ofBytes wanted: UnsafeRawBufferPointer, in elements: ElementReader) -> Int?
  {
    if prefix.count > 0 {
      guard wanted.count >= prefix.count,
        memcmp(wanted.baseAddress!, prefix.baseAddress!, prefix.count) == 0
      else { return nil }
    }
    let bound = Self.bound(wanted, behind: prefix.count)
    let above = boundsUp(to: bound)
    if above == 0 { return nil }
    if _slowPath(bounds[above &- 1] == bound) {
      return position(among: above, bound, wanted, elements)
    }
    prefetch(sections[above &- 1], elements.tree.reader)
    return position(in: above &- 1, wanted, elements)
  }

  /// Starts to load all that a search in a section of bytes looks at.
  @inline(__always)
  private func prefetch(_ section: Section, _ reader: BlockReader) {
    reader.prefetch(section.leaf)
    reader.prefetch(section.leaf, offset: Int(section.ends))
    // Most keys are short.
    for line in 0..<4 {
      reader.prefetch(section.leaf, offset: Int(section.offset) &+ line &* 64)
    }
  }

  /// - Parameter above: sections begin with as much as the wanted bytes; which one it is their
  ///   other bytes say.
  private func position(
    among above: Int, _ bound: Int64, _ wanted: UnsafeRawBufferPointer, _ elements: ElementReader
  ) -> Int? {
    var low = boundsUp(to: bound - (bound == .min ? 0 : 1))
    if bound == .min { low = 0 }
    var high = above
    // The last section whose first element does not come behind.
    while low < high {
      let middle = (low &+ high) &>> 1
      let section = sections + middle
      if order(elements, section.pointee.leaf, Int(section.pointee.row), wanted) <= 0 {
        low = middle &+ 1
      } else {
        high = middle
      }
    }
    return low == 0 ? nil : position(in: low &- 1, wanted, elements)
  }

  private func position(
    in number: Int, _ wanted: UnsafeRawBufferPointer, _ elements: ElementReader
  ) -> Int? {
    let section = sections + number
    let row = Int(section.pointee.row)
    let leaf = elements.tree.reader.pointer(section.pointee.leaf)
    var low = 0
    var high = Int(section.pointee.rows)
    if _fastPath(BlockHeader.kind(leaf) == .bytesLeaf && !BytesLeaf.isNull(leaf, row)) {
      while low < high {
        let middle = (low &+ high) &>> 1
        let order = BytesLeaf.bytes(leaf, row &+ middle).compare(to: wanted)
        if order == 0 { return Int(section.pointee.position) &+ middle }
        if order < 0 { low = middle &+ 1 } else { high = middle }
      }
      return nil
    }
    for middle in 0..<high {
      let order = order(elements, section.pointee.leaf, row &+ middle, wanted)
      if order == 0 { return Int(section.pointee.position) &+ middle }
    }
    return nil
  }

  /// How a row compares with what is looked for; null comes first.
  private func order(
    _ elements: ElementReader, _ leaf: BlockReference, _ row: Int, _ wanted: UnsafeRawBufferPointer
  ) -> Int {
    let reader = elements.tree.reader
    return ElementTree.withBytes(reader, reader.pointer(leaf), row) { bytes in
      bytes.map { $0.compare(to: wanted) } ?? -1
    }
  }
}
