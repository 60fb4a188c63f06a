// Splitting and merging leaves and branches of a collection's tree. Everything here works on the
// open leaf and its path, and closes it when it has changed the path.
internal import Glibc
internal import Storage

extension ElementTreeEditor {
  /// Leaves with fewer rows are joined with a neighbour when both fit into this times three.
  private static let mergeRows = 64
  /// Branches with fewer children likewise.
  private static let mergeChildren = ElementTree.fanOut / 4

  // MARK: - Growing

  /// Writes the open leaf out, which appends have filled, where the transaction has much in memory.
  func sealFullLeaf() {
    guard _slowPath(editor.provisionalBytes > editor.limits.bytes), leaf.isProvisional else {
      return
    }
    let sealed = editor.seal(leaf)
    if levels == 0 {
      root = sealed
    } else {
      let entry = path[levels - 1]
      BlockHeader.setReference(editor.pointer(entry.branch), entry.child, sealed)
    }
    leaf = sealed
  }

  /// Puts a new leaf behind the open one.
  func insertSibling(_ leaf: BlockReference, rows: Int) {
    insertChild(leaf, elements: rows, at: levels - 1, after: true)
    count += rows
    close()
  }

  /// Puts a leaf that rows of the open one have gone to behind it.
  func insertSibling(_ leaf: BlockReference, taking rows: Int) {
    shiftEnds(by: -rows)
    insertChild(leaf, elements: rows, at: levels - 1, after: true)
    close()
  }

  /// Puts a leaf of one element before a position, or at the end.
  func insertLeaf(_ newLeaf: BlockReference, at position: Int) {
    if root.isNone {
      root = newLeaf
      count = 1
      return
    }
    openLeaf(at: position)
    let row = position - leafStart
    if row > 0, row < leafRows {
      insertSibling(BytesLeaf.split(editor, leaf, at: row), taking: leafRows - row)
      // The right part begins with the position.
      openLeaf(at: position)
    }
    insertChild(newLeaf, elements: 1, at: levels - 1, after: position > leafStart)
    count += 1
    close()
  }

  /// Puts a child beside the path's child of a level; -1 is above the root.
  private func insertChild(
    _ child: BlockReference, elements: Int, at level: Int, after: Bool
  ) {
    if level < 0 {
      growRoot(child, elements: elements, after: after)
      return
    }
    let entry = path[level]
    let index = entry.child + (after ? 1 : 0)
    if BlockHeader.count(editor.pointer(entry.branch)) < ElementTree.fanOut {
      insert(child, elements: elements, into: entry.branch, at: index)
      for upper in 0..<level { raiseEnds(path[upper], by: elements) }
      return
    }
    // Full: the new child goes into a branch of its own at the end, else into one of two halves.
    let isLast = index == ElementTree.fanOut
    let kept = isLast ? ElementTree.fanOut : ElementTree.fanOut / 2
    let levelNumber = Int(BlockHeader.width(editor.pointer(entry.branch)))
    let right = makeBranch(level: levelNumber)
    let moved = moveChildren(from: entry.branch, at: kept, to: right)
    for upper in 0..<level { raiseEnds(path[upper], by: -moved) }
    if index <= kept && !isLast {
      insert(child, elements: elements, into: entry.branch, at: index)
      for upper in 0..<level { raiseEnds(path[upper], by: elements) }
      insertChild(right, elements: moved, at: level - 1, after: true)
    } else {
      insert(child, elements: elements, into: right, at: index - kept)
      insertChild(right, elements: moved + elements, at: level - 1, after: true)
    }
  }

  /// Makes a new root of the old one and a neighbour.
  private func growRoot(_ child: BlockReference, elements: Int, after: Bool) {
    let old = editor.reader.pointer(root)
    let level = BlockHeader.kind(old) == .elementBranch ? Int(BlockHeader.width(old)) + 1 : 1
    precondition(level <= ElementTree.levelsMax, "a collection's tree is too high")
    let branch = makeBranch(level: level)
    insert(root, elements: ElementTree.elements(old), into: branch, at: 0)
    insert(child, elements: elements, into: branch, at: after ? 1 : 0)
    root = branch
  }

  private func makeBranch(level: Int) -> BlockReference {
    editor.allocate(kind: .elementBranch, width: UInt8(level), count: 0, payloadBytes: 0)
  }

  /// Puts a child into a branch that has room for it.
  private func insert(
    _ child: BlockReference, elements: Int, into branch: BlockReference, at index: Int
  ) {
    let count = BlockHeader.count(editor.pointer(branch))
    editor.resize(branch, payloadBytes: (count + 1) * 12)
    let block = editor.pointer(branch)
    let start = block + BlockHeader.length
    memmove(start + (count + 1) * 8, start + count * 8, count * 4)
    memmove(start + (index + 1) * 8, start + index * 8, (count - index) * 8)
    BlockHeader.setReference(block, index, child)
    BlockHeader.setCount(block, count + 1)
    let ends = start + (count + 1) * 8
    memmove(ends + (index + 1) * 4, ends + index * 4, (count - index) * 4)
    let before = index == 0 ? 0 : ends.integer(at: index * 4 - 4, as: UInt32.self)
    ends.store(before, at: index * 4)
    raiseEnds(PathEntry(branch: branch, child: index), by: elements)
  }

  /// Moves a branch's children from `index` on to the empty branch `target`.
  ///
  /// - Returns: elements moved.
  private func moveChildren(
    from branch: BlockReference, at index: Int, to target: BlockReference
  ) -> Int {
    let count = BlockHeader.count(editor.pointer(branch))
    if index == count { return 0 }
    editor.resize(target, payloadBytes: (count - index) * 12)
    let source = editor.pointer(branch)
    let right = editor.pointer(target)
    BlockHeader.setCount(right, count - index)
    let before = ElementTree.start(source, index)
    let moved = ElementTree.end(source, count - 1) - before
    for child in index..<count {
      BlockHeader.setReference(right, child - index, BlockHeader.reference(source, child))
      right.store(
        UInt32(ElementTree.end(source, child) - before),
        at: BlockHeader.length + (count - index) * 8 + (child - index) * 4)
    }
    truncate(branch, children: index)
    return moved
  }

  /// Keeps a branch's first children.
  private func truncate(_ branch: BlockReference, children: Int) {
    let block = editor.pointer(branch)
    let count = BlockHeader.count(block)
    let start = block + BlockHeader.length
    memmove(start + children * 8, start + count * 8, children * 4)
    memset(start + children * 12, 0, (count - children) * 12)
    BlockHeader.setCount(block, children)
    editor.resize(branch, payloadBytes: children * 12)
  }

  /// Adds to the counts of a branch's children from one on.
  private func raiseEnds(_ entry: PathEntry, by difference: Int) {
    let block = editor.pointer(entry.branch)
    let count = BlockHeader.count(block)
    let ends = block + BlockHeader.length + count * 8
    for child in entry.child..<count {
      let end = ends.integer(at: child * 4, as: UInt32.self)
      ends.store(UInt32(Int(end) + difference), at: child * 4)
    }
  }

  // MARK: - Shrinking

  /// Frees the open leaf with its elements, and the branches that it leaves empty.
  func removeOpenLeaf() {
    shiftEnds(by: -leafRows)
    count -= leafRows
    editor.freeTree(leaf)
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

  /// Takes a child, whose elements are counted as none, out of a branch that has others.
  private func removeChild(_ index: Int, of branch: BlockReference) {
    let block = editor.pointer(branch)
    let count = BlockHeader.count(block)
    let start = block + BlockHeader.length
    let ends = start + count * 8
    memmove(ends + index * 4, ends + (index + 1) * 4, (count - index - 1) * 4)
    memmove(start + index * 8, start + (index + 1) * 8, (count - index - 1) * 8)
    truncate(branch, children: count - 1)
  }

  /// Joins the open leaf with a neighbour if both are small.
  func mergeOpenLeaf() {
    guard levels > 0, leafRows < Self.mergeRows, leafRows % 8 == 0 else { return }
    let entry = path[levels - 1]
    let children = BlockHeader.count(editor.pointer(entry.branch))
    let first: Int
    if entry.child + 1 < children, canMerge(entry.branch, entry.child) {
      first = entry.child
    } else if entry.child > 0, canMerge(entry.branch, entry.child - 1) {
      first = entry.child - 1
    } else {
      return
    }
    let block = editor.pointer(entry.branch)
    let left = editor.mutable(BlockHeader.reference(block, first))
    BlockHeader.setReference(block, first, left)
    let right = BlockHeader.reference(block, first + 1)
    if isPacked {
      PackedLeaf.append(editor, left, leaf: right)
    } else {
      BytesLeaf.append(editor, left, leaf: right)
    }
    editor.free(right)
    joinEnds(entry.branch, first)
    mergeBranches(from: levels - 1)
    lowerRoot()
    close()
  }

  /// Whether a branch's child and the next one are leaves that can be one.
  private func canMerge(_ branch: BlockReference, _ child: Int) -> Bool {
    let block = editor.pointer(branch)
    let left = editor.reader.pointer(BlockHeader.reference(block, child))
    let right = editor.reader.pointer(BlockHeader.reference(block, child + 1))
    let rows = BlockHeader.count(left) + BlockHeader.count(right)
    ElementTree.checkLeaf(editor.reader, left, isPacked: isPacked)
    ElementTree.checkLeaf(editor.reader, right, isPacked: isPacked)
    if isPacked { return rows <= 3 * Self.mergeRows }
    guard BlockHeader.kind(left) == .bytesLeaf, BlockHeader.kind(right) == .bytesLeaf else {
      return false
    }
    return rows <= 3 * Self.mergeRows
      && BytesLeaf.payloadBytes(left) + BytesLeaf.payloadBytes(right)
        <= BytesColumn.leafBytesMax * 3 / 4
  }

  /// A branch's child has taken the elements of the next one, which goes.
  private func joinEnds(_ branch: BlockReference, _ child: Int) {
    let block = editor.pointer(branch)
    let end = ElementTree.end(block, child + 1)
    block.store(
      UInt32(end), at: BlockHeader.length + BlockHeader.count(block) * 8 + child * 4)
    removeChild(child + 1, of: branch)
  }

  /// Joins the path's branches from a level upward with a neighbour while both are small.
  private func mergeBranches(from level: Int) {
    var level = level
    while level > 0 {
      let entry = path[level]
      let children = BlockHeader.count(editor.pointer(entry.branch))
      if children >= Self.mergeChildren { return }
      let parent = path[level - 1]
      let siblings = BlockHeader.count(editor.pointer(parent.branch))
      if siblings < 2 { return }
      let first = parent.child + 1 < siblings ? parent.child : parent.child - 1
      let block = editor.pointer(parent.branch)
      let right = BlockHeader.reference(block, first + 1)
      let leftCount = BlockHeader.count(
        editor.reader.pointer(BlockHeader.reference(block, first), .elementBranch))
      let rightBlock = editor.reader.pointer(right, .elementBranch)
      let rightCount = BlockHeader.count(rightBlock)
      if leftCount + rightCount > 3 * Self.mergeChildren { return }
      let left = editor.mutable(BlockHeader.reference(block, first))
      BlockHeader.setReference(block, first, left)
      for child in 0..<rightCount {
        insert(
          BlockHeader.reference(rightBlock, child),
          elements: ElementTree.end(rightBlock, child) - ElementTree.start(rightBlock, child),
          into: left, at: leftCount + child)
      }
      editor.free(right)
      joinEnds(parent.branch, first)
      level -= 1
    }
  }

  /// A root with one child gives way to it.
  private func lowerRoot() {
    while BlockHeader.kind(editor.reader.pointer(root)) == .elementBranch,
      BlockHeader.count(editor.reader.pointer(root)) == 1
    {
      // Of a lower level or a leaf: a way to the top never goes round.
      _ = ElementTree.child(editor.reader, editor.reader.pointer(root), 0)
      let child = BlockHeader.reference(editor.reader.pointer(root), 0)
      editor.free(root)
      root = child
    }
  }
}
