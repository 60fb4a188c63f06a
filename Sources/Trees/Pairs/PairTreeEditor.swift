// A tree of pairs inside a write transaction. The leaf last touched stays open with the range of
// pairs that belong into it, so that neighbours do not descend again.
internal import Glibc
package import Storage

/// Changes one tree of pairs.
///
/// Belongs to one write transaction; never shared between threads.
package final class PairTreeEditor {
  private struct PathEntry {
    var branch: BlockReference
    var child: Int
  }

  /// Leaves with fewer pairs are joined with a neighbour when both fit into this times three.
  private static let mergePairs = 64
  /// Branches with fewer children likewise.
  private static let mergeChildren = PairTree.fanOut / 4

  private let editor: BlockEditor
  /// Root of the tree; none if it is empty.
  @exclusivity(unchecked) package private(set) var root: BlockReference
  /// The open leaf, a block of this transaction; none if none is open.
  @exclusivity(unchecked) private var leaf = BlockReference.none
  /// Pairs from `low` on and before `high` belong into the open leaf.
  @exclusivity(unchecked) private var low = Pair(.min, .min)
  @exclusivity(unchecked) private var high = Pair(.max, .max)
  /// Whether no leaf follows the open one.
  @exclusivity(unchecked) private var isLast = false
  @exclusivity(unchecked) private var levels = 0
  /// The branches from the root down, blocks of this transaction, and the child taken in each.
  private let path: UnsafeMutablePointer<PathEntry>

  package init(_ editor: BlockEditor, root: BlockReference) {
    self.editor = editor
    self.root = root
    path = .allocate(capacity: PairTree.levelsMax + 2)
    path.initialize(
      repeating: PathEntry(branch: .none, child: 0), count: PairTree.levelsMax + 2)
  }

  deinit { path.deallocate() }

  /// Reads the tree as it is now.
  package var tree: PairTree { PairTree(reader: editor.reader, root: root) }

  // MARK: - Changing

  /// Adds a pair, also one that is there already.
  package func insert(_ pair: Pair) {
    if root.isNone {
      root = withUnsafePointer(to: pair) {
        PairLeaf.make(editor, UnsafeBufferPointer(start: $0, count: 1))
      }
      return
    }
    openLeaf(for: pair)
    let count = BlockHeader.count(editor.pointer(leaf))
    var index = count
    // Ascending pairs go to the end.
    if pair < PairLeaf.pair(editor.pointer(leaf), count - 1) {
      index = PairLeaf.lowerBound(editor.pointer(leaf), pair)
    }
    if count < PairLeaf.pairsMax {
      PairLeaf.insert(editor, leaf, pair, at: index)
      changeCounts(by: 1)
      return
    }
    if isLast, index == count {
      let right = withUnsafePointer(to: pair) {
        PairLeaf.make(editor, UnsafeBufferPointer(start: $0, count: 1))
      }
      insertChild(right, key: pair, pairs: 1, at: levels - 1)
      close()
      return
    }
    let right = PairLeaf.split(editor, leaf, at: count / 2)
    changeCounts(by: -(count - count / 2))
    insertChild(
      right, key: PairLeaf.pair(editor.pointer(right), 0), pairs: count - count / 2,
      at: levels - 1)
    close()
    insert(pair)
  }

  /// Removes a pair once.
  ///
  /// - Returns: whether it was there.
  @discardableResult
  package func remove(_ pair: Pair) -> Bool {
    if root.isNone { return false }
    openLeaf(for: pair)
    var index = PairLeaf.lowerBound(editor.pointer(leaf), pair)
    if !isPair(pair, at: index) {
      // Equal pairs may begin in an earlier leaf than the one that new ones go to.
      let position = tree.rank(pair)
      if position == tree.count || tree.pair(at: position) != pair { return false }
      index = openLeaf(at: position)
    }
    removeFromLeaf(index..<index + 1)
    return true
  }

  /// Removes all pairs whose first lies in a range.
  package func removeAll(firsts: ClosedRange<Int64>) {
    let start = tree.rank(Pair(firsts.lowerBound, .min))
    var left = tree.rank(Pair(firsts.upperBound, .max), orEqual: true) - start
    while left > 0 {
      let index = openLeaf(at: start)
      let count = min(left, BlockHeader.count(editor.pointer(leaf)) - index)
      removeFromLeaf(index..<index + count)
      left -= count
    }
  }

  /// Removes all pairs.
  package func removeAll() {
    close()
    editor.freeTree(root)
    root = .none
  }

  /// Adds many pairs to an empty tree.
  ///
  /// - Parameter pairs: sorted.
  package func build(_ pairs: UnsafeBufferPointer<Pair>) {
    precondition(root.isNone, "pairs are there already")
    var next = 0
    while next < pairs.count {
      let part = UnsafeBufferPointer(
        rebasing: pairs[next..<min(next + PairLeaf.pairsMax, pairs.count)])
      let added = PairLeaf.make(editor, part)
      if root.isNone {
        root = added
      } else {
        openLeaf(for: Pair(.max, .max))
        insertChild(added, key: part[0], pairs: part.count, at: levels - 1)
        close()
      }
      next += part.count
    }
  }

  private func isPair(_ pair: Pair, at index: Int) -> Bool {
    let block = UnsafeRawPointer(editor.pointer(leaf))
    return index < BlockHeader.count(block) && PairLeaf.pair(block, index) == pair
  }

  // MARK: - The open leaf

  private func close() {
    leaf = .none
    levels = 0
  }

  /// Opens the leaf that a pair belongs into.
  @inline(__always)
  private func openLeaf(for pair: Pair) {
    if !leaf.isNone, !(pair < low), isLast || pair < high { return }
    descend { PairTree.child($0, pair, orEqual: true) }
  }

  /// Opens the leaf with a position.
  ///
  /// - Returns: the pair's index in it.
  private func openLeaf(at position: Int) -> Int {
    var index = position
    descend { block in
      var child = 0
      while child + 1 < BlockHeader.count(block), index >= PairTree.pairs(block, child) {
        index -= PairTree.pairs(block, child)
        child += 1
      }
      return child
    }
    if index >= BlockHeader.count(editor.pointer(leaf)) { stopForCount(editor.pointer(leaf)) }
    return index
  }

  private func stopForCount(_ block: UnsafeRawPointer) -> Never {
    editor.reader.stop(at: block, "it has other pairs than its parent says")
  }

  private func descend(_ choose: (UnsafeRawPointer) -> Int) {
    _ = tree.top
    root = editor.mutable(root)
    var reference = root
    low = Pair(.min, .min)
    isLast = true
    levels = 0
    while BlockHeader.kind(editor.pointer(reference)) == .pairBranch {
      let block = editor.pointer(reference)
      let child = choose(block)
      if child > 0 { low = PairTree.key(block, child) }
      if child + 1 < BlockHeader.count(block) {
        high = PairTree.key(block, child + 1)
        isLast = false
      }
      path[levels] = PathEntry(branch: reference, child: child)
      levels += 1
      let old = BlockHeader.reference(block, child)
      if !old.isProvisional {
        let childBlock = tree.child(block, child)
        if PairTree.pairs(childBlock) != PairTree.pairs(block, child) { stopForCount(childBlock) }
      }
      reference = editor.mutable(old)
      if reference != old { BlockHeader.setReference(block, child, reference) }
    }
    leaf = reference
  }

  private func changeCounts(by difference: Int) {
    for level in 0..<levels { changeCount(path[level], by: difference) }
  }

  private func changeCount(_ entry: PathEntry, by difference: Int) {
    let block = editor.pointer(entry.branch)
    let offset = PairTree.entry(block, entry.child) + 16
    block.store(block.integer(at: offset, as: Int.self) &+ difference, at: offset)
  }

  // MARK: - Growing

  /// Puts a child behind the path's child of a level; -1 is above the root.
  private func insertChild(_ child: BlockReference, key: Pair, pairs: Int, at level: Int) {
    if level < 0 {
      let old = editor.reader.pointer(root)
      let height =
        BlockHeader.kind(old) == .pairBranch ? Int(BlockHeader.width(old)) + 1 : 1
      precondition(height <= PairTree.levelsMax, "a tree of pairs is too high")
      let oldPairs = PairTree.pairs(old)
      let branch = makeBranch(level: height)
      insert(root, key: Pair(.min, .min), pairs: oldPairs, into: branch, at: 0)
      insert(child, key: key, pairs: pairs, into: branch, at: 1)
      root = branch
      return
    }
    let entry = path[level]
    let index = entry.child + 1
    if BlockHeader.count(editor.pointer(entry.branch)) < PairTree.fanOut {
      insert(child, key: key, pairs: pairs, into: entry.branch, at: index)
      for upper in 0..<level { changeCount(path[upper], by: pairs) }
      return
    }
    // Full: the new child goes into a branch of its own at the end, else into one of two halves.
    let isEnd = index == PairTree.fanOut
    let kept = isEnd ? PairTree.fanOut : PairTree.fanOut / 2
    let right = makeBranch(level: Int(BlockHeader.width(editor.pointer(entry.branch))))
    let moved = moveChildren(from: entry.branch, at: kept, to: right)
    for upper in 0..<level { changeCount(path[upper], by: -moved) }
    if index <= kept && !isEnd {
      insert(child, key: key, pairs: pairs, into: entry.branch, at: index)
      for upper in 0..<level { changeCount(path[upper], by: pairs) }
      let rightKey = PairTree.key(editor.pointer(right), 0)
      insertChild(right, key: rightKey, pairs: moved, at: level - 1)
    } else {
      insert(child, key: key, pairs: pairs, into: right, at: index - kept)
      let rightKey = PairTree.key(editor.pointer(right), 0)
      insertChild(right, key: rightKey, pairs: moved + pairs, at: level - 1)
    }
  }

  private func makeBranch(level: Int) -> BlockReference {
    editor.allocate(kind: .pairBranch, width: UInt8(level), count: 0, payloadBytes: 0)
  }

  /// Puts a child into a branch that has room for it.
  private func insert(
    _ child: BlockReference, key: Pair, pairs: Int, into branch: BlockReference, at index: Int
  ) {
    let size = PairTree.entryBytes
    let count = BlockHeader.count(editor.pointer(branch))
    editor.resize(branch, payloadBytes: (count + 1) * (8 + size))
    let block = editor.pointer(branch)
    let start = block + BlockHeader.length
    let entries = start + (count + 1) * 8
    memmove(entries, start + count * 8, count * size)
    memmove(start + (index + 1) * 8, start + index * 8, (count - index) * 8)
    memmove(entries + (index + 1) * size, entries + index * size, (count - index) * size)
    BlockHeader.setCount(block, count + 1)
    BlockHeader.setReference(block, index, child)
    entries.store(key.first, at: index * size)
    entries.store(key.second, at: index * size + 8)
    entries.store(pairs, at: index * size + 16)
  }

  /// Moves a branch's children from `index` on to the empty branch `target`.
  ///
  /// - Returns: pairs moved.
  private func moveChildren(
    from branch: BlockReference, at index: Int, to target: BlockReference
  ) -> Int {
    let count = BlockHeader.count(editor.pointer(branch))
    var moved = 0
    for child in index..<count {
      let block = editor.pointer(branch)
      let pairs = PairTree.pairs(block, child)
      insert(
        BlockHeader.reference(block, child), key: PairTree.key(block, child), pairs: pairs,
        into: target, at: child - index)
      moved += pairs
    }
    if index < count { truncate(branch, children: index) }
    return moved
  }

  /// Keeps a branch's first children.
  private func truncate(_ branch: BlockReference, children: Int) {
    let size = PairTree.entryBytes
    let block = editor.pointer(branch)
    let count = BlockHeader.count(block)
    let start = block + BlockHeader.length
    memmove(start + children * 8, start + count * 8, children * size)
    memset(start + children * (8 + size), 0, (count - children) * (8 + size))
    BlockHeader.setCount(block, children)
    editor.resize(branch, payloadBytes: children * (8 + size))
  }

  // MARK: - Shrinking

  private func removeFromLeaf(_ range: Range<Int>) {
    let count = BlockHeader.count(editor.pointer(leaf))
    changeCounts(by: -range.count)
    if range.count == count {
      removeOpenLeaf()
      return
    }
    PairLeaf.remove(editor, leaf, range)
    if levels > 0, count - range.count < Self.mergePairs, (count - range.count) % 8 == 0 {
      mergeOpenLeaf()
    }
  }

  /// Frees the open leaf and the branches that it leaves empty.
  private func removeOpenLeaf() {
    editor.free(leaf)
    var level = levels - 1
    while level >= 0 {
      let entry = path[level]
      if BlockHeader.count(editor.pointer(entry.branch)) > 1 {
        removeChild(entry.child, of: entry.branch)
        break
      }
      editor.free(entry.branch)
      level -= 1
    }
    if level < 0 {
      root = .none
    } else {
      mergeBranches(from: level)
      lowerRoot()
    }
    close()
  }

  private func removeChild(_ index: Int, of branch: BlockReference) {
    let size = PairTree.entryBytes
    let block = editor.pointer(branch)
    let count = BlockHeader.count(block)
    let start = block + BlockHeader.length
    let entries = start + count * 8
    memmove(
      entries + index * size, entries + (index + 1) * size, (count - index - 1) * size)
    memmove(start + index * 8, start + (index + 1) * 8, (count - index - 1) * 8)
    truncate(branch, children: count - 1)
  }

  /// Joins the open leaf with a neighbour if both are small.
  private func mergeOpenLeaf() {
    let entry = path[levels - 1]
    let block = editor.pointer(entry.branch)
    let children = BlockHeader.count(block)
    let limit = 3 * Self.mergePairs
    let first: Int
    if entry.child + 1 < children,
      PairTree.pairs(block, entry.child) + PairTree.pairs(block, entry.child + 1) <= limit
    {
      first = entry.child
    } else if entry.child > 0,
      PairTree.pairs(block, entry.child - 1) + PairTree.pairs(block, entry.child) <= limit
    {
      first = entry.child - 1
    } else {
      return
    }
    _ = (tree.child(block, first), tree.child(block, first + 1))
    let left = editor.mutable(BlockHeader.reference(block, first))
    BlockHeader.setReference(block, first, left)
    let right = BlockHeader.reference(block, first + 1)
    PairLeaf.append(editor, left, leaf: right)
    editor.free(right)
    joinCounts(entry.branch, first)
    mergeBranches(from: levels - 1)
    lowerRoot()
    close()
  }

  /// A branch's child has taken the pairs of the next one, which goes.
  private func joinCounts(_ branch: BlockReference, _ child: Int) {
    let pairs = PairTree.pairs(editor.pointer(branch), child + 1)
    changeCount(PathEntry(branch: branch, child: child), by: pairs)
    removeChild(child + 1, of: branch)
  }

  /// Joins the path's branches from a level upward with a neighbour while both are small.
  private func mergeBranches(from level: Int) {
    var level = level
    while level > 0 {
      let entry = path[level]
      if BlockHeader.count(editor.pointer(entry.branch)) >= Self.mergeChildren { return }
      let parent = path[level - 1]
      let block = editor.pointer(parent.branch)
      let siblings = BlockHeader.count(block)
      if siblings < 2 { return }
      let first = parent.child + 1 < siblings ? parent.child : parent.child - 1
      let right = BlockHeader.reference(block, first + 1)
      let rightBlock = tree.child(block, first + 1)
      let rightCount = BlockHeader.count(rightBlock)
      let leftCount = BlockHeader.count(
        tree.child(block, first))
      if leftCount + rightCount > 3 * Self.mergeChildren { return }
      let left = editor.mutable(BlockHeader.reference(block, first))
      BlockHeader.setReference(block, first, left)
      for child in 0..<rightCount {
        // The key of a first child is in its parent.
        let key =
          child == 0
          ? PairTree.key(block, first + 1) : PairTree.key(rightBlock, child)
        insert(
          BlockHeader.reference(rightBlock, child), key: key,
          pairs: PairTree.pairs(rightBlock, child), into: left, at: leftCount + child)
      }
      editor.free(right)
      joinCounts(parent.branch, first)
      level -= 1
    }
  }

  /// A root with one child gives way to it.
  private func lowerRoot() {
    while BlockHeader.kind(editor.reader.pointer(root)) == .pairBranch,
      BlockHeader.count(editor.reader.pointer(root)) == 1
    {
      let child = BlockHeader.reference(editor.reader.pointer(root), 0)
      editor.free(root)
      root = child
    }
  }
}
