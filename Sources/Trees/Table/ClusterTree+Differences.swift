// Comparing the trees of one table in two versions: equal references are equal subtrees.
internal import Storage

extension ClusterTree {
  /// Runs `body` on each cluster of an older tree that is not the same block in a newer one, in
  /// order.
  ///
  /// Clusters that only the newer tree has are left out: all their objects are new.
  ///
  /// - Parameter body: gets the cluster in both trees; nil in the newer one if it has gone.
  /// - Complexity: O(blocks that differ).
  package static func forEachDifference(
    _ old: ClusterTree, _ new: ClusterTree,
    _ body: (_ number: Int, _ old: UnsafeRawPointer, _ new: UnsafeRawPointer?) -> Void
  ) {
    withoutActuallyEscaping(body) { body in
      let walk = DifferenceWalk(old: old.reader, new: new.reader, body: body)
      walk.compare(old.root, old.depth, new.root, new.depth, first: 0)
    }
  }
}

/// One comparison of two trees.
private struct DifferenceWalk {
  let old: BlockReader
  let new: BlockReader
  let body: (Int, UnsafeRawPointer, UnsafeRawPointer?) -> Void

  /// - Parameter first: the number of the first cluster below both blocks.
  func compare(
    _ oldBlock: BlockReference, _ oldLevel: Int, _ newBlock: BlockReference, _ newLevel: Int,
    first: Int
  ) {
    if oldBlock.isNone { return }
    if oldLevel == newLevel && oldBlock == newBlock { return }
    if newLevel > oldLevel, !newBlock.isNone {
      // The newer tree has grown: the older one lies below the first child.
      let child = BlockHeader.reference(new.pointer(newBlock, .branch), 0)
      compare(oldBlock, oldLevel, child, newLevel - 1, first: first)
      return
    }
    let block = ClusterTree.block(old, oldBlock, level: oldLevel)
    if oldLevel == 0 {
      body(first, block, newBlock.isNone ? nil : ClusterTree.block(new, newBlock, level: 0))
      return
    }
    let shift = (oldLevel - 1) * ClusterTree.branchBits
    let other = newBlock.isNone ? nil : ClusterTree.block(new, newBlock, level: newLevel)
    for index in 0..<BlockHeader.count(block) {
      var child = BlockReference.none
      var level = oldLevel - 1
      if let other, newLevel == oldLevel {
        if index < BlockHeader.count(other) { child = BlockHeader.reference(other, index) }
      } else if index == 0 {
        // The newer tree is lower.
        (child, level) = (newBlock, newLevel)
      }
      compare(
        BlockHeader.reference(block, index), oldLevel - 1, child, level,
        first: first + index << shift)
    }
  }
}
