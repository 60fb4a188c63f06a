// A collection's tree inside a write transaction. The leaf last touched stays open: its path is
// copied once, and what follows in the same leaf, as appends do, does not descend again. What
// changes the path itself (splits, merges) closes it; ElementTreeEditor+Structure has that.
internal import Glibc
package import Storage

/// Changes one collection's tree after another.
///
/// Belongs to one write transaction; never shared between threads. Whoever else frees or writes out
/// blocks of the open tree has to call `close` first, or `open` afterwards.
package final class ElementTreeEditor {
  struct PathEntry {
    var branch: BlockReference
    var child: Int
  }

  let editor: BlockEditor
  /// Root of the open tree; none if it is empty.
  @exclusivity(unchecked) package internal(set) var root = BlockReference.none
  /// Elements in the open tree.
  @exclusivity(unchecked) package internal(set) var count = 0
  /// Whether its elements are packed values.
  @exclusivity(unchecked) package private(set) var isPacked = true

  /// The open leaf: a block of this transaction unless it is a long value; none if none is open.
  @exclusivity(unchecked) var leaf = BlockReference.none
  /// Position of its first element.
  @exclusivity(unchecked) var leafStart = 0
  /// Its elements.
  @exclusivity(unchecked) var leafRows = 0
  /// Branches above the open leaf.
  @exclusivity(unchecked) var levels = 0
  /// The branches from the root down, blocks of this transaction, and the child taken in each.
  let path: UnsafeMutablePointer<PathEntry>

  package init(_ editor: BlockEditor) {
    self.editor = editor
    path = .allocate(capacity: ElementTree.levelsMax + 2)
    path.initialize(
      repeating: PathEntry(branch: .none, child: 0), count: ElementTree.levelsMax + 2)
  }

  deinit { path.deallocate() }

  /// Goes to another tree, or to this one after others have changed it.
  package func open(_ root: BlockReference, isPacked: Bool) {
    self.root = root
    self.isPacked = isPacked
    count = ElementTree(reader: editor.reader, root: root).count
    close()
  }

  /// Forgets the open leaf.
  func close() {
    leaf = .none
    levels = 0
  }

  /// Reads the tree as it is now.
  package var tree: ElementTree { ElementTree(reader: editor.reader, root: root) }

  // MARK: - Packed elements

  /// Appends a value.
  @inline(__always)
  package func append(integer value: Int64) {
    if _fastPath(
      !leaf.isNone && leafStart &+ leafRows == count && leafRows < PackedLeaf.rowsMax
        && PackedLeaf.storeIfFits(editor.pointer(leaf), leafRows, value))
    {
      didInsert()
      return
    }
    insert(integer: value, at: count)
  }

  /// Puts a value before a position, or at the end; nil is null.
  package func insert(integer value: Int64?, at position: Int) {
    precondition(position >= 0 && position <= count, "position \(position) of \(count)")
    if root.isNone {
      PackedLeaf.insert(editor, &root, 0, value)
      count = 1
      return
    }
    openLeaf(at: position)
    var row = position - leafStart
    if leafRows == PackedLeaf.rowsMax {
      if row == leafRows {
        if position == count { sealFullLeaf() }
        var next = BlockReference.none
        PackedLeaf.insert(editor, &next, 0, value)
        insertSibling(next, rows: 1)
        return
      }
      let middle = leafRows / 2
      insertSibling(PackedLeaf.split(editor, leaf, at: middle), taking: leafRows - middle)
      openLeaf(at: position)
      row = position - leafStart
    }
    PackedLeaf.insert(editor, &leaf, row, value)
    didInsert()
  }

  /// Changes an element; nil is null.
  package func set(integer value: Int64?, at position: Int) {
    precondition(position >= 0 && position < count, "position \(position) of \(count)")
    openLeaf(at: position)
    let row = position - leafStart
    if let value {
      PackedLeaf.set(editor, &leaf, row, value, isOptional: false)
    } else {
      PackedLeaf.setNull(editor, &leaf, row)
    }
  }

  /// Appends values.
  package func append(integers values: UnsafeBufferPointer<Int64>) {
    var next = 0
    while next < values.count {
      if root.isNone {
        let taken = min(values.count, PackedLeaf.rowsMax)
        PackedLeaf.encode(
          editor, &root, UnsafeBufferPointer(rebasing: values[0..<taken]), nulls: nil)
        count = taken
        next = taken
        continue
      }
      openLeaf(at: count)
      if leafRows < PackedLeaf.rowsMax {
        append(integer: values[next])
        next += 1
        continue
      }
      sealFullLeaf()
      let taken = min(values.count - next, PackedLeaf.rowsMax)
      var added = BlockReference.none
      PackedLeaf.encode(
        editor, &added, UnsafeBufferPointer(rebasing: values[next..<next + taken]), nulls: nil)
      insertSibling(added, rows: taken)
      next += taken
    }
  }

  // MARK: - Bytes

  /// Puts bytes before a position, or at the end; nil is null.
  ///
  /// - Parameter value: may not lie in a block of this transaction.
  package func insert(bytes value: UnsafeRawBufferPointer?, at position: Int) {
    precondition(position >= 0 && position <= count, "position \(position) of \(count)")
    if let value, value.count > LongValue.inlineMax {
      insertLeaf(LongValue.make(editor, value), at: position)
      return
    }
    if root.isNone {
      root = BytesLeaf.make(editor, value)
      count = 1
      return
    }
    openLeaf(at: position)
    if !isLong, fits(value) {
      BytesLeaf.insert(editor, leaf, position - leafStart, value)
      didInsert()
      return
    }
    let row = position - leafStart
    if row == leafRows || row == 0 || isLong {
      if position == count { sealFullLeaf() }
      insertLeaf(BytesLeaf.make(editor, value), at: position)
      return
    }
    let middle =
      leafRows == BytesLeaf.rowsMax ? leafRows / 2 : BytesLeaf.middleRow(editor.pointer(leaf))
    insertSibling(
      BytesLeaf.split(editor, leaf, at: middle), taking: leafRows - middle)
    insert(bytes: value, at: position)
  }

  /// Changes an element; nil is null.
  ///
  /// - Parameter value: may not lie in a block of this transaction.
  package func set(bytes value: UnsafeRawBufferPointer?, at position: Int) {
    precondition(position >= 0 && position < count, "position \(position) of \(count)")
    openLeaf(at: position)
    let length = value?.count ?? 0
    if !isLong, length <= LongValue.inlineMax {
      let block = UnsafeRawPointer(editor.pointer(leaf))
      let row = position - leafStart
      let payload = BytesLeaf.payloadBytes(
        rows: leafRows,
        values: BytesLeaf.valuesLength(block) - BytesLeaf.bytes(block, row).count + length,
        nulls: BytesLeaf.hasNulls(block) || value == nil)
      if payload <= BytesColumn.leafBytesMax {
        BytesLeaf.replace(editor, leaf, row, value)
        return
      }
    }
    remove(at: position)
    insert(bytes: value, at: position)
  }

  /// Whether the open leaf is one long value.
  var isLong: Bool {
    let kind = BlockHeader.kind(editor.reader.pointer(leaf))
    return kind == .chunk || kind == .chunkNode
  }

  private func fits(_ value: UnsafeRawBufferPointer?) -> Bool {
    leafRows < BytesLeaf.rowsMax
      && BytesLeaf.payloadBytes(editor.pointer(leaf), appending: value)
        <= BytesColumn.leafBytesMax
  }

  // MARK: - Both

  /// Removes an element.
  package func remove(at position: Int) {
    precondition(position >= 0 && position < count, "position \(position) of \(count)")
    openLeaf(at: position)
    if leafRows == 1 {
      removeOpenLeaf()
      return
    }
    if isPacked {
      PackedLeaf.remove(editor, &leaf, position - leafStart)
    } else {
      BytesLeaf.remove(editor, leaf, position - leafStart)
    }
    leafRows -= 1
    count -= 1
    shiftEnds(by: -1)
    mergeOpenLeaf()
  }

  /// Removes some elements.
  package func remove(_ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "\(range) of \(count)")
    if range.count == count {
      removeAll()
      return
    }
    var left = range.count
    while left > 0 {
      openLeaf(at: range.lowerBound)
      if leafStart == range.lowerBound, leafRows <= left {
        left -= leafRows
        removeOpenLeaf()
      } else {
        remove(at: range.lowerBound)
        left -= 1
      }
    }
  }

  /// Removes all elements.
  package func removeAll() {
    close()
    editor.freeTree(root)
    root = .none
    count = 0
  }

  /// Moves an element so that it is at `target` afterwards.
  package func move(from source: Int, to target: Int) {
    precondition(target >= 0 && target < count, "position \(target) of \(count)")
    if source == target { return }
    if isPacked {
      let (leaf, row) = tree.leaf(at: source)
      let value = PackedLeaf.isNull(leaf, row) ? nil : PackedLeaf.value(leaf, row)
      remove(at: source)
      insert(integer: value, at: target)
      return
    }
    let value = tree.withBytes(at: source) { $0.map { [UInt8]($0) } }
    remove(at: source)
    guard let value else {
      insert(bytes: nil, at: target)
      return
    }
    value.withUnsafeBytes { insert(bytes: $0, at: target) }
  }

  // MARK: - The open leaf

  /// Opens the leaf with a position; the last one for the end.
  @inline(__always)
  func openLeaf(at position: Int) {
    if !leaf.isNone, position >= leafStart,
      position < leafStart + leafRows || position == leafStart + leafRows && position == count
    {
      return
    }
    descend(to: position)
  }

  @inline(never)
  private func descend(to position: Int) {
    root = mutable(root)
    var reference = root
    var expected = count
    leafStart = 0
    levels = 0
    while BlockHeader.kind(editor.reader.pointer(reference)) == .elementBranch {
      let block = editor.pointer(reference)
      let child = ElementTree.child(block, position: position - leafStart)
      leafStart += ElementTree.start(block, child)
      path[levels] = PathEntry(branch: reference, child: child)
      levels += 1
      let old = BlockHeader.reference(block, child)
      expected = ElementTree.end(block, child) - ElementTree.start(block, child)
      let childBlock = ElementTree.child(editor.reader, block, child)
      if ElementTree.elements(childBlock) != expected {
        editor.reader.stop(at: childBlock, "it has other elements than its parent says")
      }
      reference = mutable(old)
      if reference != old { BlockHeader.setReference(block, child, reference) }
    }
    leaf = reference
    let block = editor.reader.pointer(reference)
    ElementTree.checkLeaf(editor.reader, block, isPacked: isPacked)
    leafRows = ElementTree.elements(block)
  }

  /// A block as one that may be changed; long values never are.
  private func mutable(_ reference: BlockReference) -> BlockReference {
    if reference.isProvisional { return reference }
    switch BlockHeader.kind(editor.reader.pointer(reference)) {
    case .chunk, .chunkNode: return reference
    default: return editor.mutable(reference)
    }
  }

  /// The open leaf has one element more.
  @inline(__always)
  private func didInsert() {
    leafRows &+= 1
    count &+= 1
    if levels > 0 { shiftEnds(by: 1) }
  }

  /// Brings the counts above the open leaf up to date.
  func shiftEnds(by difference: Int) {
    for level in 0..<levels {
      let entry = path[level]
      let block = editor.pointer(entry.branch)
      let children = BlockHeader.count(block)
      let ends = (block + BlockHeader.length + children &* 8)
        .assumingMemoryBound(to: UInt32.self)
      let change = UInt32(truncatingIfNeeded: difference)
      for child in entry.child..<children {
        ends[child] = (UInt32(littleEndian: ends[child]) &+ change).littleEndian
      }
    }
  }
}
