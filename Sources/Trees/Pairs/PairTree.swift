// A sorted multiset of pairs of integers: a B+tree that counts. Backlinks (target, origin) and
// ordered indexes (order of the value, object) are such trees.
//
//   pairBranch  header count n = children; width byte = level (1 above leaves); n references;
//               then a child: i64 first, i64 second of a pair that is not greater than any of its pairs
//               and not less than any before them (of child 0 it says nothing); u64 pairs below it
//
// An empty tree has no block; a small one is one PairLeaf.
public import Platform
public import Storage

/// Reading of a tree of pairs.
@frozen @usableFromInline
package struct PairTree: Sendable {
  /// Children of a full branch.
  @inlinable package static var fanOut: Int { 64 }
  @inlinable static var entryBytes: Int { 24 }
  static let levelsMax = 14

  @usableFromInline package let reader: BlockReader
  @usableFromInline package let root: BlockReference

  @inlinable package init(reader: BlockReader, root: BlockReference) {
    self.reader = reader
    self.root = root
  }

  /// Number of pairs.
  package var count: Int { root.isNone ? 0 : Self.pairs(top) }

  /// The root of a tree that is not empty.
  @inlinable @inline(__always)
  var top: UnsafeRawPointer {
    let block = reader.pointer(root)
    let kind = BlockHeader.kind(block)
    if _slowPath(kind != .pairLeaf && kind != .pairBranch) { reader.stop(at: block) }
    return block
  }

  /// A child of a branch: a leaf at the lowest level, else a branch of the next level, so that
  /// every way down ends.
  @inlinable @inline(__always)
  func child(_ branch: UnsafeRawPointer, _ child: Int) -> UnsafeRawPointer {
    let block = reader.pointer(BlockHeader.reference(branch, child))
    let level = BlockHeader.width(branch) &- 1
    let isRight =
      level == 0
      ? BlockHeader.kind(block) == .pairLeaf
      : BlockHeader.kind(block) == .pairBranch && BlockHeader.width(block) == level
    if _slowPath(!isRight) { reader.stop(at: block) }
    return block
  }

  /// Pairs of a block and all below it.
  static func pairs(_ block: UnsafeRawPointer) -> Int {
    let count = BlockHeader.count(block)
    if BlockHeader.kind(block) == .pairLeaf { return count }
    var sum = 0
    for child in 0..<count { sum += pairs(block, child) }
    return sum
  }

  @inlinable @inline(__always)
  static func entry(_ branch: UnsafeRawPointer, _ child: Int) -> Int {
    BlockHeader.length &+ BlockHeader.count(branch) &* 8 &+ child &* entryBytes
  }

  @inlinable @inline(__always)
  static func key(_ branch: UnsafeRawPointer, _ child: Int) -> Pair {
    let entry = entry(branch, child)
    return Pair(
      branch.integer(at: entry, as: Int64.self), branch.integer(at: entry &+ 8, as: Int64.self))
  }

  @inlinable @inline(__always)
  static func pairs(_ branch: UnsafeRawPointer, _ child: Int) -> Int {
    branch.integer(at: entry(branch, child) &+ 16, as: Int.self)
  }

  /// The last child whose key is less than a pair, or with `orEqual` not greater.
  @inlinable @inline(__always)
  static func child(_ branch: UnsafeRawPointer, _ pair: Pair, orEqual: Bool) -> Int {
    let others = BlockHeader.count(branch) &- 1
    // Not greater is less than the next pair there could be.
    guard let bound = orEqual ? pair.next : pair else { return others }
    return countPairsBelow(
      (bound.first, bound.second), in: branch + entry(branch, 1), count: others,
      stride: entryBytes)
  }

  /// Number of pairs less than one, or with `orEqual` not greater: the position of the first other
  /// one.
  ///
  /// - Complexity: O(log n).
  package func rank(_ pair: Pair, orEqual: Bool = false) -> Int {
    if root.isNone { return 0 }
    var block = top
    var rank = 0
    while BlockHeader.kind(block) == .pairBranch {
      let child = Self.child(block, pair, orEqual: orEqual)
      for earlier in 0..<child { rank += Self.pairs(block, earlier) }
      block = childToSearch(block, child)
    }
    return rank
      + (orEqual ? PairLeaf.upperBound(block, pair) : PairLeaf.lowerBound(block, pair))
  }

  /// Number of pairs with this first.
  ///
  /// - Complexity: O(log n).
  package func count(first: Int64) -> Int {
    rank(Pair(first, .max), orEqual: true) - rank(Pair(first, .min))
  }

  /// Whether the tree has a pair.
  package func contains(_ pair: Pair) -> Bool {
    var isThere = false
    forEach(from: pair) {
      isThere = $0 == pair
      return false
    }
    return isThere
  }

  /// The pair at a position.
  ///
  /// - Precondition: the position is below `count`.
  /// - Complexity: O(log n).
  package func pair(at position: Int) -> Pair {
    let (leaf, index) = leaf(at: position)
    return PairLeaf.pair(leaf, index)
  }

  /// The second of a pair, by its position among those that have the same first.
  ///
  /// - Precondition: the position is below `count(first:)`.
  /// - Complexity: O(log n).
  package func second(of first: Int64, at position: Int) -> Int64 {
    let (leaf, index) = leaf(at: rank(Pair(first, .min)) + position)
    let pair = PairLeaf.pair(leaf, index)
    if pair.first != first {
      let count = count(first: first)
      precondition(position < count, "pair \(position) of \(count) with one first")
      reader.stop(at: leaf, "it has fewer pairs of one first than its parent says")
    }
    return pair.second
  }

  func leaf(at position: Int) -> (leaf: UnsafeRawPointer, index: Int) {
    precondition(!root.isNone && position >= 0, "position \(position) of \(count) pairs")
    var block = top
    var index = position
    while BlockHeader.kind(block) == .pairBranch {
      var child = 0
      while child < BlockHeader.count(block) - 1, index >= Self.pairs(block, child) {
        index -= Self.pairs(block, child)
        child += 1
      }
      block = self.child(block, child)
    }
    if index >= BlockHeader.count(block) {
      precondition(position < count, "position \(position) of \(count) pairs")
      reader.stop(at: block, "it has fewer pairs than its parent says")
    }
    return (block, index)
  }

  /// A child of a branch; if it is a leaf, the search in it finds most of its lines on their way
  /// from memory already, instead of waiting for one after the other.
  @inline(__always)
  private func childToSearch(_ branch: UnsafeRawPointer, _ child: Int) -> UnsafeRawPointer {
    let reference = BlockHeader.reference(branch, child)
    if BlockHeader.width(branch) == 1 {
      reader.prefetch(reference, allOf: 1...Self.linesOfLeaf)
    }
    return self.child(branch, child)
  }

  /// Lines of a leaf as it usually is: 200 pairs of four bytes.
  private static let linesOfLeaf = 12

  /// Runs `body` on each pair that is not less than one, in order, until it returns false.
  @inlinable
  package func forEach(
    from lower: Pair = Pair(.min, .min), _ body: (Pair) -> Bool
  ) {
    if root.isNone { return }
    _ = forEach(top, from: lower, body)
  }

  /// Copies the seconds of the pairs with a first, in order, until `seconds` is full or they end.
  ///
  /// - Parameter second: the least one that is copied.
  /// - Returns: seconds copied.
  package func copySeconds(
    of first: Int64, from second: Int64 = .min,
    into seconds: UnsafeMutableBufferPointer<Int64>
  ) -> Int {
    if root.isNone { return 0 }
    let lower = Pair(first, second)
    var block = top
    while BlockHeader.kind(block) == .pairBranch {
      block = childToSearch(block, Self.child(block, lower, orEqual: false))
    }
    let index = PairLeaf.lowerBound(block, lower)
    var copied = PairLeaf.copySeconds(block, of: first, from: index, into: seconds)
    if copied == seconds.count || index &+ copied < BlockHeader.count(block) { return copied }
    // They may go on in the next leaf.
    copied = 0
    forEach(from: lower) { pair in
      if pair.first != first { return false }
      seconds[copied] = pair.second
      copied &+= 1
      return copied < seconds.count
    }
    return copied
  }

  /// - Returns: false when `body` did.
  @usableFromInline
  func forEach(
    _ block: UnsafeRawPointer, from lower: Pair, _ body: (Pair) -> Bool
  ) -> Bool {
    let count = BlockHeader.count(block)
    if BlockHeader.kind(block) == .pairLeaf {
      var index = PairLeaf.lowerBound(block, lower)
      while index < count {
        if !body(PairLeaf.pair(block, index)) { return false }
        index &+= 1
      }
      return true
    }
    let first = Self.child(block, lower, orEqual: false)
    if !forEach(childToSearch(block, first), from: lower, body) { return false }
    for child in first &+ 1..<count {
      if !forEach(self.child(block, child), from: lower, body) {
        return false
      }
    }
    return true
  }

  /// Runs `body` on each pair that is not greater than one, in descending order, until it returns
  /// false.
  package func forEachDescending(
    from upper: Pair = Pair(.max, .max), _ body: (Pair) -> Bool
  ) {
    if root.isNone { return }
    _ = forEachDescending(top, from: upper, body)
  }

  private func forEachDescending(
    _ block: UnsafeRawPointer, from upper: Pair, _ body: (Pair) -> Bool
  ) -> Bool {
    if BlockHeader.kind(block) == .pairLeaf {
      var index = PairLeaf.upperBound(block, upper)
      while index > 0 {
        index -= 1
        if !body(PairLeaf.pair(block, index)) { return false }
      }
      return true
    }
    var child = Self.child(block, upper, orEqual: true)
    while child >= 0 {
      if !forEachDescending(self.child(block, child), from: upper, body) {
        return false
      }
      child -= 1
    }
    return true
  }

  // MARK: - Checking

  /// Walks the tree.
  ///
  /// - Returns: what is wrong; empty for a sound tree.
  package func checkInvariants(name: String) -> [String] {
    var findings: [String] = []
    if root.isNone { return findings }
    let block = reader.pointer(root)
    let level = BlockHeader.kind(block) == .pairBranch ? Int(BlockHeader.width(block)) : 0
    if level > Self.levelsMax { return ["\(name): a tree of level \(level)"] }
    if level > 0, BlockHeader.count(block) < 2 { findings.append("\(name): root with one child") }
    _ = check(block, level: level, Pair(.min, .min), Pair(.max, .max), name, &findings)
    return findings
  }

  private func check(
    _ block: UnsafeRawPointer, level: Int, _ lower: Pair, _ upper: Pair, _ name: String,
    _ findings: inout [String]
  ) -> Int {
    let count = BlockHeader.count(block)
    if level == 0 {
      guard BlockHeader.kind(block) == .pairLeaf else {
        findings.append("\(name): block of kind \(BlockHeader.kind(block).rawValue) as a leaf")
        return 0
      }
      PairLeaf.check(block, name: name, &findings)
      if count > 0,
        PairLeaf.pair(block, 0) < lower || upper < PairLeaf.pair(block, count - 1)
      {
        findings.append("\(name): a leaf with pairs that belong elsewhere")
      }
      return count
    }
    guard BlockHeader.kind(block) == .pairBranch, Int(BlockHeader.width(block)) == level,
      count > 0, count <= Self.fanOut,
      BlockHeader.blockLength(block)
        == BlockHeader.blockLength(forPayload: count * (8 + Self.entryBytes))
    else {
      findings.append("\(name): a block that is not a branch of level \(level)")
      return 0
    }
    var sum = 0
    for child in 0..<count {
      let found = check(
        reader.pointer(BlockHeader.reference(block, child)), level: level - 1,
        child == 0 ? lower : Self.key(block, child),
        child + 1 < count ? Self.key(block, child + 1) : upper, name, &findings)
      if found != Self.pairs(block, child) {
        findings.append(
          "\(name): child \(child) has \(found) pairs, counted as \(Self.pairs(block, child))")
      }
      sum += found
    }
    return sum
  }
}
