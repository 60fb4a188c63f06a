// A table: a radix tree over cluster numbers (object key >> 8). Keys are counters that are never
// reused, so there are no splits and nothing to balance; order is key order is insertion order.
//
//   branch  header count n = children, the last one not empty; width byte = level (1 above clusters);
//           n references; u32 objects below each
//
// Fan-out 64: a level looks at 6 bits of the cluster number. A tree of depth 0 is a single cluster
// of number 0. Empty clusters and branches do not exist.
public import Storage

/// Reading of a table's tree.
@frozen @usableFromInline
package struct ClusterTree: Sendable {
  /// Bits of a cluster number that a level looks at.
  @inlinable package static var branchBits: Int { 6 }
  @inlinable static var fanOut: Int { 64 }
  /// Levels that 63-bit keys can need.
  @inlinable package static var depthMax: Int { 10 }

  @usableFromInline package let reader: BlockReader
  @usableFromInline package let root: BlockReference
  /// Branch levels above the clusters.
  @usableFromInline package let depth: Int

  @inlinable package init(reader: BlockReader, root: BlockReference, depth: Int) {
    self.reader = reader
    self.root = root
    self.depth = depth
  }

  /// A block of the tree: a cluster below so many levels of branches.
  ///
  /// Levels are those of the way down, so every way ends; a branch of another level has the right
  /// layout.
  @inlinable @inline(__always)
  static func block(
    _ reader: BlockReader, _ reference: BlockReference, level: Int
  ) -> UnsafeRawPointer {
    if level > 0 { return reader.pointer(reference, .branch) }
    let block = reader.pointer(reference)
    // Both kinds in one comparison: they differ in the lowest bit only.
    if _slowPath(BlockHeader.kind(block).rawValue & ~1 != BlockKind.cluster.rawValue) {
      reader.stop(at: block)
    }
    return block
  }

  @inlinable @inline(__always)
  func top(_ level: Int) -> UnsafeRawPointer { Self.block(reader, root, level: level) }

  /// A cluster by number; nil if it has no object.
  ///
  /// - Complexity: O(depth).
  @inlinable @inline(__always)
  package func cluster(_ number: Int) -> UnsafeRawPointer? {
    if root.isNone || number &>> (depth &* Self.branchBits) != 0 { return nil }
    var reference = root
    var shift = depth &* Self.branchBits
    while shift > 0 {
      shift &-= Self.branchBits
      let block = reader.pointer(reference, .branch)
      let index = (number &>> shift) & (Self.fanOut &- 1)
      if index >= BlockHeader.count(block) { return nil }
      reference = BlockHeader.reference(block, index)
      if reference.isNone { return nil }
    }
    return Self.block(reader, reference, level: 0)
  }

  /// The lowest branch above a cluster, and the child that it is there; nil without such a cluster.
  ///
  /// For depth > 0 only.
  @inlinable @inline(__always)
  func parent(of number: Int) -> (branch: UnsafeRawPointer, index: Int)? {
    if root.isNone || depth == 0 || number &>> (depth &* Self.branchBits) != 0 { return nil }
    var block = top(1)
    var shift = depth &* Self.branchBits
    while true {
      shift &-= Self.branchBits
      let index = (number &>> shift) & (Self.fanOut &- 1)
      if index >= BlockHeader.count(block) { return nil }
      let child = BlockHeader.reference(block, index)
      if child.isNone { return nil }
      if shift == 0 { return (block, index) }
      block = Self.block(reader, child, level: 1)
    }
  }

  /// Starts to load a cluster, if there is one of the number.
  @inlinable @inline(__always)
  package func prefetchCluster(_ number: Int) {
    guard let parent = parent(of: number) else { return }
    reader.prefetch(BlockHeader.reference(parent.branch, parent.index))
  }

  @inlinable static func objects(_ branch: UnsafeRawPointer, _ index: Int) -> Int {
    Int(
      branch.integer(
        at: BlockHeader.length &+ BlockHeader.count(branch) &* 8 &+ index &* 4, as: UInt32.self))
  }

  /// The lowest branch with the first cluster at or after `number`, and the number of its child 0.
  ///
  /// For depth > 0 only.
  @usableFromInline
  func lowestBranch(from number: Int) -> (branch: UnsafeRawPointer, first: Int)? {
    if root.isNone || number >> (depth * Self.branchBits) != 0 { return nil }
    return lowestBranch(top(1), level: depth, from: number, first: 0)
  }

  private func lowestBranch(
    _ branch: UnsafeRawPointer, level: Int, from number: Int, first: Int
  ) -> (branch: UnsafeRawPointer, first: Int)? {
    let shift = (level - 1) * Self.branchBits
    var index = number <= first ? 0 : (number - first) >> shift
    while index < BlockHeader.count(branch) {
      let child = BlockHeader.reference(branch, index)
      if !child.isNone {
        if level == 1 { return (branch, first) }
        if let found = lowestBranch(
          Self.block(reader, child, level: 1), level: level - 1, from: number,
          first: first + index << shift)
        {
          return found
        }
      }
      index += 1
    }
    return nil
  }

  /// Runs `body` on each cluster at or after `number`, in order, until it returns false.
  ///
  /// - Parameters:
  ///   - isScan: whether most clusters will be visited, so that reading them ahead pays.
  ///   - columns: columns whose leaves will be looked at.
  @inlinable
  package func forEachCluster(
    from number: Int = 0, isScan: Bool = true, reading columns: [Int] = [],
    _ body: (_ number: Int, _ cluster: UnsafeRawPointer) -> Bool
  ) {
    if depth == 0 {
      if number == 0, !root.isNone { _ = body(0, top(0)) }
      return
    }
    var number = number
    while let (branch, first) = lowestBranch(from: number) {
      let count = BlockHeader.count(branch)
      var index = max(number &- first, 0)
      if isScan {
        reader.willVisit(
          BlockHeader.reference(branch, index), through: BlockHeader.reference(branch, count &- 1))
      }
      while index < count {
        let child = BlockHeader.reference(branch, index)
        if !columns.isEmpty { prefetch(branch, behind: index, columns) }
        if !child.isNone, !body(first &+ index, Self.block(reader, child, level: 0)) { return }
        index &+= 1
      }
      number = first &+ Self.fanOut
    }
  }

  /// Starts to load the cluster some places behind one, and leaves of a cluster that was loaded so
  /// before.
  @usableFromInline
  func prefetch(_ branch: UnsafeRawPointer, behind index: Int, _ columns: [Int]) {
    let count = BlockHeader.count(branch)
    if index &+ 6 < count {
      reader.prefetch(BlockHeader.reference(branch, index &+ 6), lines: 1)
    }
    if index &+ 3 >= count { return }
    let next = BlockHeader.reference(branch, index &+ 3)
    if next.isNone { return }
    let cluster = Self.block(reader, next, level: 0)
    for column in columns {
      // As many lines as elements of one byte take.
      reader.prefetch(Cluster.column(cluster, column), lines: 5)
    }
  }

  /// Starts to load what an iteration that comes to a cluster will read of the next one: that, and
  /// its leaves where they are if both clusters are laid out alike.
  package func prefetchCluster(behind number: Int) {
    guard let parent = parent(of: number), parent.index &+ 1 < BlockHeader.count(parent.branch)
    else { return }
    let reference = BlockHeader.reference(parent.branch, parent.index)
    let next = BlockHeader.reference(parent.branch, parent.index &+ 1)
    reader.prefetch(next, lines: 1)
    let cluster = Self.block(reader, reference, level: 0)
    let distance = next.offset &- reference.offset
    for column in 0..<min(Cluster.columns(cluster), 6) {
      let leaf = BlockHeader.reference(cluster, column)
      reader.prefetch(BlockReference(anyAt: leaf.offset &+ distance), lines: 2)
    }
  }

  /// The cluster with the object at a position, and the objects before it in the tree.
  ///
  /// - Complexity: O(depth x 64).
  package func cluster(
    at position: Int
  ) -> (number: Int, cluster: UnsafeRawPointer, before: Int)? {
    if root.isNone || position < 0 { return nil }
    var block = top(depth)
    var number = 0
    var before = 0
    for level in (0..<depth).reversed() {
      var index = 0
      let count = BlockHeader.count(block)
      while index < count {
        let objects = Self.objects(block, index)
        if position < before + objects { break }
        before += objects
        index += 1
      }
      if index == count { return nil }
      number = number << Self.branchBits + index
      block = Self.block(reader, BlockHeader.reference(block, index), level: level)
    }
    if position >= before + Cluster.rows(block) { return nil }
    return (number, block, before)
  }

  /// Number of objects in clusters before this one.
  ///
  /// - Complexity: O(depth x 64).
  package func objects(before number: Int) -> Int {
    if root.isNone { return 0 }
    var block = top(depth)
    var before = 0
    var shift = depth * Self.branchBits
    while shift > 0 {
      shift -= Self.branchBits
      let index = (number >> shift) & (Self.fanOut - 1)
      let count = BlockHeader.count(block)
      for earlier in 0..<min(index, count) { before += Self.objects(block, earlier) }
      if index >= count { break }
      let child = BlockHeader.reference(block, index)
      if child.isNone { break }
      block = Self.block(reader, child, level: shift)
    }
    return before
  }
}
