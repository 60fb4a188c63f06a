// The elements of a collection by position: a B+tree that counts. It is sorted only as far as its
// user keeps it sorted (sets, keys of maps).
//
//   elementBranch  header count n = children; width byte = level (1 above leaves); n references;
//                  u32 a child: elements of it and all children before it
//
// Leaves are PackedLeaf for packed values; BytesLeaf, or a LongValue of one element, for bytes. A
// tree of one leaf has no branch; an empty collection has no block.
public import Platform
public import Storage

/// Reading of a collection's tree.
@frozen @usableFromInline
package struct ElementTree: Sendable {
  /// Children of a full branch.
  @inlinable package static var fanOut: Int { 128 }
  static let levelsMax = 12

  @usableFromInline package let reader: BlockReader
  @usableFromInline package let root: BlockReference

  @inlinable package init(reader: BlockReader, root: BlockReference) {
    self.reader = reader
    self.root = root
  }

  /// Number of elements.
  @inlinable package var count: Int {
    root.isNone ? 0 : Self.elements(reader.pointer(root))
  }

  /// Elements of a block and all below it.
  @inlinable
  package static func elements(_ block: UnsafeRawPointer) -> Int {
    let kind = BlockHeader.kind(block)
    if kind == .elementBranch { return end(block, BlockHeader.count(block) &- 1) }
    return kind == .packedLeaf || kind == .bytesLeaf ? BlockHeader.count(block) : 1
  }

  /// Elements of a branch's children up to and with one.
  @inlinable @inline(__always)
  static func end(_ branch: UnsafeRawPointer, _ child: Int) -> Int {
    Int(
      branch.integer(
        at: BlockHeader.length &+ BlockHeader.count(branch) &* 8 &+ child &* 4, as: UInt32.self))
  }

  @inlinable @inline(__always)
  static func start(_ branch: UnsafeRawPointer, _ child: Int) -> Int {
    child == 0 ? 0 : end(branch, child &- 1)
  }

  /// The child of a branch that has a position; the last one for those behind it.
  @inlinable @inline(__always)
  static func child(_ branch: UnsafeRawPointer, position: Int) -> Int {
    let last = BlockHeader.count(branch) &- 1
    // Most often all children have about as many elements.
    let guess = min(position &* (last &+ 1) / max(end(branch, last), 1), last)
    if start(branch, guess) <= position, guess == last || position < end(branch, guess) {
      return guess
    }
    let ends = branch + BlockHeader.length + BlockHeader.count(branch) &* 8
    return countBelow(UInt64(position) &+ 1, in: ends, count: last, stride: 4, code: 2)
  }

  /// A child of a branch: a lower branch or a leaf, so that every way down ends.
  @inlinable @inline(__always)
  package static func child(
    _ reader: BlockReader, _ branch: UnsafeRawPointer, _ child: Int
  ) -> UnsafeRawPointer {
    let block = reader.pointer(BlockHeader.reference(branch, child))
    if _slowPath(
      BlockHeader.kind(block) == .elementBranch
        && BlockHeader.width(block) >= BlockHeader.width(branch))
    {
      reader.stop(at: block, "it stands as high as its parent")
    }
    return block
  }

  /// Stops if a leaf has no such row, or is none.
  @inlinable @inline(__always)
  static func require(_ reader: BlockReader, _ leaf: UnsafeRawPointer, _ row: Int) {
    if _slowPath(row >= elements(leaf)) {
      reader.stop(at: leaf, "it has fewer elements than its parent says")
    }
  }

  /// Stops if a block is no leaf of packed values, or of bytes.
  @inlinable @inline(__always)
  package static func checkLeaf(
    _ reader: BlockReader, _ leaf: UnsafeRawPointer, isPacked: Bool
  ) {
    let kind = BlockHeader.kind(leaf)
    let isRight =
      isPacked
      ? kind == .packedLeaf : kind == .bytesLeaf || kind == .chunk || kind == .chunkNode
    if _slowPath(!isRight) { reader.stop(at: leaf) }
  }

  /// The leaf with a position, and the position's row in it.
  ///
  /// - Precondition: the tree has the position.
  /// - Complexity: O(log n).
  @inlinable @inline(__always)
  package func leaf(at position: Int) -> (leaf: UnsafeRawPointer, row: Int) {
    var block = reader.pointer(root)
    var row = position
    while BlockHeader.kind(block) == .elementBranch {
      let child = Self.child(block, position: row)
      row = row &- Self.start(block, child)
      block = Self.child(reader, block, child)
    }
    Self.require(reader, block, row)
    return (block, row)
  }

  /// A packed element; unspecified for null.
  @inlinable
  package func integer(at position: Int) -> Int64 {
    var block = reader.pointer(root)
    var row = position
    while BlockHeader.kind(block) == .elementBranch {
      let child = Self.child(block, position: row)
      let start = Self.start(block, child)
      row = row &- start
      if BlockHeader.width(block) == 1, child &+ 1 < BlockHeader.count(block) {
        prefetchElement(
          row, of: Self.end(block, child) &- start, BlockHeader.reference(block, child),
          before: BlockHeader.reference(block, child &+ 1))
      }
      block = Self.child(reader, block, child)
    }
    if _slowPath(BlockHeader.kind(block) != .packedLeaf) { reader.stop(at: block) }
    Self.require(reader, block, row)
    return PackedLeaf.value(block, row)
  }

  /// Starts to load an element together with its leaf's header.
  ///
  /// How long elements are says the distance to the leaf behind it, which most often follows at
  /// once.
  @inlinable @inline(__always)
  func prefetchElement(
    _ row: Int, of rows: Int, _ leaf: BlockReference, before next: BlockReference
  ) {
    let length = next.offset &- leaf.offset
    if length < 64 || length > 2_112 { return }
    let elements = UInt32(truncatingIfNeeded: length) &- 24
    let place =
      UInt32(truncatingIfNeeded: row) &* elements / UInt32(truncatingIfNeeded: max(rows, 1))
    reader.prefetch(leaf, offset: 24 &+ Int(place))
  }

  /// Whether an element is null.
  @inlinable
  package func isNull(at position: Int) -> Bool {
    let (leaf, row) = leaf(at: position)
    return Self.isNull(leaf, row)
  }

  /// Whether a leaf's row is null.
  @inlinable
  package static func isNull(_ leaf: UnsafeRawPointer, _ row: Int) -> Bool {
    switch BlockHeader.kind(leaf) {
    case .packedLeaf: return PackedLeaf.isNull(leaf, row)
    case .bytesLeaf: return BytesLeaf.isNull(leaf, row)
    default: return false
    }
  }

  /// Runs `body` on an element's bytes; nil for null.
  @inlinable
  package func withBytes<Result>(
    at position: Int, _ body: (UnsafeRawBufferPointer?) throws -> Result
  ) rethrows -> Result {
    let (leaf, row) = leaf(at: position)
    return try Self.withBytes(reader, leaf, row, body)
  }

  /// Runs `body` on the bytes of a leaf's row; nil for null.
  @inlinable
  package static func withBytes<Result>(
    _ reader: BlockReader, _ leaf: UnsafeRawPointer, _ row: Int,
    _ body: (UnsafeRawBufferPointer?) throws -> Result
  ) rethrows -> Result {
    if BlockHeader.kind(leaf) == .bytesLeaf {
      return try body(BytesLeaf.isNull(leaf, row) ? nil : BytesLeaf.bytes(leaf, row))
    }
    return try LongValue.withBytes(reader, leaf) { try body($0) }
  }

  /// Runs `body` on each leaf from the one with `position` on, until it returns false.
  ///
  /// - Parameter body: gets the position of the leaf's first element, the leaf and its rows.
  @inlinable
  package func forEachLeaf(
    from position: Int = 0,
    _ body: (_ first: Int, _ leaf: UnsafeRawPointer, _ rows: Int) -> Bool
  ) {
    let count = count
    var next = position
    while next < count {
      let (leaf, row) = leaf(at: next)
      let rows = Self.elements(leaf)
      if !body(next &- row, leaf, rows) { return }
      next = next &- row &+ rows
    }
  }

  /// Where an element of a sorted tree is, or would have to be put.
  ///
  /// - Parameter compare: how a leaf's row compares with what is looked for: negative when it comes
  ///   before it, 0 when it is it.
  /// - Complexity: O(log n).
  @inlinable @inline(__always)
  package func search(
    _ compare: (_ leaf: UnsafeRawPointer, _ row: Int) -> Int
  ) -> (position: Int, isThere: Bool) {
    if root.isNone { return (0, false) }
    var block = reader.pointer(root)
    var start = 0
    while BlockHeader.kind(block) == .elementBranch {
      // The last child whose first element does not come behind.
      let isLowest = BlockHeader.width(block) == 1
      var low = 0
      var high = BlockHeader.count(block)
      while high &- low > 1 {
        let middle = (low &+ high) &>> 1
        let child = Self.child(reader, block, middle)
        let order = compare(isLowest ? child : firstLeaf(child), 0)
        if order <= 0 {
          low = middle
          if order == 0 { break }
        } else {
          high = middle
        }
      }
      start = start &+ Self.start(block, low)
      block = Self.child(reader, block, low)
    }
    var low = 0
    var high = Self.elements(block)
    while low < high {
      let middle = (low &+ high) &>> 1
      let order = compare(block, middle)
      if order == 0 { return (start &+ middle, true) }
      if order < 0 { low = middle &+ 1 } else { high = middle }
    }
    return (start &+ low, false)
  }

  @usableFromInline
  func firstLeaf(_ node: UnsafeRawPointer) -> UnsafeRawPointer {
    var block = node
    while BlockHeader.kind(block) == .elementBranch {
      block = Self.child(reader, block, 0)
    }
    return block
  }
}
