// Changing a bytes column inside a transaction: choosing, splitting and merging its parts.
internal import Glibc
package import Storage

extension BytesColumn {
  /// Sets a row; nil is null.
  ///
  /// Rows between the column's end and this one get the default.
  ///
  /// - Parameters:
  ///   - isOptional: the column's default is null, else no bytes.
  ///   - reserve: payload bytes that a new leaf will probably need.
  ///   - longest: payload bytes of the longest leaf that an append makes.
  package static func set(
    _ editor: BlockEditor, _ reference: inout BlockReference, _ row: Int,
    _ value: UnsafeRawBufferPointer?, isOptional: Bool, reserve: Int = 0,
    longest: Int = leafBytesMax
  ) {
    precondition(row < BytesLeaf.rowsMax, "row \(row) in a cluster")
    var rows = reference.isNone ? 0 : rows(editor.reader.pointer(reference))
    if row >= rows {
      if value == nil && isOptional { return }
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      while rows < row {
        append(editor, &reference, isOptional ? nil : none, reserve, longest)
        rows += 1
      }
      append(editor, &reference, value, reserve, longest)
      return
    }
    reference = editor.mutable(reference)
    closeUp(editor, &reference)
    let block = editor.pointer(reference)
    let isShort = (value?.count ?? 0) <= LongValue.inlineMax
    if BlockHeader.kind(block) == .bytesLeaf {
      if isShort && replaceInLeaf(editor, reference, row, value) { return }
      wrap(editor, &reference)
    }
    if isShort {
      replaceShort(editor, reference, row, value)
    } else {
      replaceLong(editor, reference, row, value!)
    }
    merge(editor, &reference, around: part(editor.pointer(reference), row: row))
  }

  /// Removes a row; later rows move up.
  ///
  /// The column vanishes with its last row.
  ///
  /// - Parameter keepingLeaves: whether the row may only be noted as removed.
  package static func remove(
    _ editor: BlockEditor, _ reference: inout BlockReference, _ row: Int,
    keepingLeaves: Bool = true
  ) {
    if reference.isNone { return }
    let count = rows(editor.reader.pointer(reference))
    if row >= count { return }
    if count == 1 {
      editor.freeTree(reference)
      reference = .none
      return
    }
    if keepingLeaves, noteRemoved(editor, &reference, CollectionOfOne(row)) { return }
    reference = editor.mutable(reference)
    closeUp(editor, &reference)
    if BlockHeader.kind(editor.pointer(reference)) == .bytesLeaf {
      BytesLeaf.remove(editor, reference, row)
      return
    }
    removeStored(editor, &reference, row)
  }

  /// Removes rows, as `remove` does with each.
  ///
  /// - Parameters:
  ///   - rows: ascending; those that the column does not have are passed over.
  ///   - keepingLeaves: whether the rows may only be noted as removed.
  @inline(__always)
  static func remove(
    _ editor: BlockEditor, _ reference: inout BlockReference,
    rows: some BidirectionalCollection<Int>, keepingLeaves: Bool
  ) {
    if reference.isNone { return }
    if keepingLeaves, rows.count > 1, rows.last! < self.rows(editor.reader.pointer(reference)),
      noteRemoved(editor, &reference, rows)
    {
      return
    }
    for row in rows.reversed() { remove(editor, &reference, row, keepingLeaves: keepingLeaves) }
  }

  /// Removes a row of a split node without removed rows.
  private static func removeStored(
    _ editor: BlockEditor, _ reference: inout BlockReference, _ row: Int
  ) {
    let part = part(editor.pointer(reference), row: row)
    let start = start(editor.pointer(reference), part)
    let child = child(editor, reference, part)
    if isLeaf(editor, child), BytesLeaf.rows(editor.reader.pointer(child)) > 1 {
      BytesLeaf.remove(editor, mutableChild(editor, reference, part), row - start)
      shiftStarts(editor, reference, after: part, by: -1)
    } else {
      editor.freeTree(child)
      shiftStarts(editor, reference, after: part, by: -1)
      removePart(editor, reference, part)
    }
    merge(editor, &reference, around: part)
  }

  // MARK: - Rows that are removed and still there

  /// Leaves shorter than this are written anew at once: the bitmap would be no shorter.
  private static let keptLeafMin = 512

  /// Removes ascending rows by bits in the split node; false where a leaf itself is to be changed.
  @inline(__always)
  private static func noteRemoved(
    _ editor: BlockEditor, _ reference: inout BlockReference,
    _ rows: some BidirectionalCollection<Int>
  ) -> Bool {
    let block = editor.reader.pointer(reference)
    let isLeaf = BlockHeader.kind(block) == .bytesLeaf
    let stored = isLeaf ? BytesLeaf.rows(block) : storedRows(block)
    let removed = isLeaf || !hasRemoved(block) ? 0 : removedCount(block)
    guard stored <= BytesLeaf.rowsMax, removed + rows.count <= stored / removedShare else {
      return false
    }
    if isLeaf {
      if reference.isProvisional || BlockHeader.blockLength(block) < keptLeafMin { return false }
      wrap(editor, &reference)
    } else {
      for row in rows {
        // A part of several rows is a leaf, which need not be read.
        let part = part(block, row: storedRow(block, row))
        guard !BlockHeader.reference(block, part).isProvisional,
          start(block, part + 1) - start(block, part) > 1
        else { return false }
      }
      reference = editor.mutable(reference)
    }
    if removed == 0 {
      let payload = BlockHeader.count(editor.pointer(reference)) * 10 + 2
      editor.resize(reference, payloadBytes: payload + removedLength)
      let split = editor.pointer(reference)
      memset(split + removedOffset(split), 0, removedLength)
      BlockHeader.setWidth(split, removedFlag)
    }
    let split = editor.pointer(reference)
    // The last first: the rows before it are still where they were.
    for row in rows.reversed() {
      setBit(split + removedOffset(split), removed == 0 ? row : storedRow(split, row), true)
    }
    return true
  }

  /// Takes rows that were only noted as removed out of their leaves.
  private static func closeUp(_ editor: BlockEditor, _ reference: inout BlockReference) {
    let split = editor.pointer(reference)
    guard BlockHeader.kind(split) == .bytesSplit, hasRemoved(split) else { return }
    withUnsafeTemporaryAllocation(byteCount: removedLength, alignment: 8) { removed in
      let bits = removed.baseAddress!
      memcpy(bits, split + removedOffset(split), removedLength)
      let stored = storedRows(split)
      memset(split + removedOffset(split), 0, removedLength)
      BlockHeader.setWidth(split, 0)
      editor.resize(reference, payloadBytes: BlockHeader.count(split) * 10 + 2)
      for row in (0..<stored).reversed() where bit(bits, row) {
        // Parts that have gone may have left a leaf of an older version.
        reference = editor.mutable(reference)
        if BlockHeader.kind(editor.pointer(reference)) == .bytesLeaf {
          BytesLeaf.remove(editor, reference, row)
        } else {
          removeStored(editor, &reference, row)
        }
      }
      reference = editor.mutable(reference)
    }
  }

  // MARK: - Appending

  private static func append(
    _ editor: BlockEditor, _ reference: inout BlockReference, _ value: UnsafeRawBufferPointer?,
    _ reserve: Int, _ longest: Int
  ) {
    let isShort = (value?.count ?? 0) <= LongValue.inlineMax
    if reference.isNone {
      if isShort {
        reference = BytesLeaf.make(editor, value, reserve: reserve)
      } else {
        reference = editor.allocate(kind: .bytesSplit, count: 0, payloadBytes: 2, isResident: false)
        insertPart(editor, reference, 0, LongValue.make(editor, value!), rows: 1)
      }
      return
    }
    if !reference.isProvisional { reference = editor.mutable(reference) }
    closeUp(editor, &reference)
    if BlockHeader.kind(editor.pointer(reference)) == .bytesLeaf {
      if isShort && appendToLeaf(editor, reference, value, longest) { return }
      wrap(editor, &reference)
    }
    let parts = BlockHeader.count(editor.pointer(reference))
    if isShort {
      if isLeaf(editor, child(editor, reference, parts - 1)) {
        if appendToLeaf(editor, mutableChild(editor, reference, parts - 1), value, leafBytesMax) {
          shiftStarts(editor, reference, after: parts - 1, by: 1)
          return
        }
      }
      insertPart(
        editor, reference, parts, BytesLeaf.make(editor, value, reserve: reserve), rows: 1)
    } else {
      insertPart(editor, reference, parts, LongValue.make(editor, value!), rows: 1)
    }
  }

  private static func appendToLeaf(
    _ editor: BlockEditor, _ leaf: BlockReference, _ value: UnsafeRawBufferPointer?,
    _ longest: Int
  ) -> Bool {
    if BytesLeaf.payloadBytes(editor.pointer(leaf), appending: value) > longest {
      return false
    }
    BytesLeaf.append(editor, leaf, value)
    return true
  }

  // MARK: - Replacing

  private static func replaceInLeaf(
    _ editor: BlockEditor, _ leaf: BlockReference, _ row: Int, _ value: UnsafeRawBufferPointer?
  ) -> Bool {
    let block = UnsafeRawPointer(editor.pointer(leaf))
    let values =
      BytesLeaf.valuesLength(block) - BytesLeaf.bytes(block, row).count + (value?.count ?? 0)
    let payload = BytesLeaf.payloadBytes(
      rows: BytesLeaf.rows(block), values: values,
      nulls: BytesLeaf.hasNulls(block) || value == nil)
    if payload > leafBytesMax { return false }
    BytesLeaf.replace(editor, leaf, row, value)
    return true
  }

  private static func replaceShort(
    _ editor: BlockEditor, _ split: BlockReference, _ row: Int, _ value: UnsafeRawBufferPointer?
  ) {
    // Each round halves a leaf of at most 256 rows.
    for _ in 0..<10 {
      let block = UnsafeRawPointer(editor.pointer(split))
      let part = part(block, row: row)
      let start = start(block, part)
      let old = child(editor, split, part)
      if !isLeaf(editor, old) {
        editor.freeTree(old)
        let leaf = BytesLeaf.make(editor, value)
        BlockHeader.setReference(editor.pointer(split), part, leaf)
        return
      }
      let leaf = mutableChild(editor, split, part)
      if replaceInLeaf(editor, leaf, row - start, value) { return }
      let middle = BytesLeaf.middleRow(editor.pointer(leaf))
      let right = BytesLeaf.split(editor, leaf, at: middle)
      let rightRows = BytesLeaf.rows(editor.pointer(right))
      shiftStarts(editor, split, after: part, by: -rightRows)
      insertPart(editor, split, part + 1, right, rows: rightRows)
    }
    preconditionFailure("a short value does not fit into a leaf of its own")
  }

  private static func replaceLong(
    _ editor: BlockEditor, _ split: BlockReference, _ row: Int, _ value: UnsafeRawBufferPointer
  ) {
    let block = UnsafeRawPointer(editor.pointer(split))
    let part = part(block, row: row)
    let start = start(block, part)
    let old = child(editor, split, part)
    let long = LongValue.make(editor, value)
    guard isLeaf(editor, old), BytesLeaf.rows(editor.reader.pointer(old)) > 1 else {
      editor.freeTree(old)
      BlockHeader.setReference(editor.pointer(split), part, long)
      return
    }
    // The leaf's rows before and behind the long value stay leaves.
    let leaf = mutableChild(editor, split, part)
    let rows = BytesLeaf.rows(editor.pointer(leaf))
    let local = row - start
    if local + 1 < rows {
      let right = BytesLeaf.split(editor, leaf, at: local + 1)
      shiftStarts(editor, split, after: part, by: -(rows - local - 1))
      insertPart(editor, split, part + 1, right, rows: rows - local - 1)
    }
    if local == 0 {
      editor.free(leaf)
      BlockHeader.setReference(editor.pointer(split), part, long)
    } else {
      BytesLeaf.truncate(editor, leaf, rows: local)
      shiftStarts(editor, split, after: part, by: -1)
      insertPart(editor, split, part + 1, long, rows: 1)
    }
  }

  // MARK: - Merging

  /// Joins the part with a neighbour if both are small leaves, and undoes a split of one part.
  private static func merge(
    _ editor: BlockEditor, _ reference: inout BlockReference, around part: Int
  ) {
    var part = min(part, BlockHeader.count(editor.pointer(reference)) - 1)
    if part > 0, mergeNext(editor, reference, part - 1) { part -= 1 }
    _ = mergeNext(editor, reference, part)
    let block = editor.pointer(reference)
    if BlockHeader.count(block) == 1, isLeaf(editor, child(editor, reference, 0)) {
      let leaf = child(editor, reference, 0)
      editor.free(reference)
      reference = leaf
    }
  }

  private static func mergeNext(
    _ editor: BlockEditor, _ split: BlockReference, _ part: Int
  ) -> Bool {
    if part + 1 >= BlockHeader.count(editor.pointer(split)) { return false }
    let left = child(editor, split, part)
    let right = child(editor, split, part + 1)
    guard isLeaf(editor, left), isLeaf(editor, right) else { return false }
    let leftBlock = self.part(editor.reader, editor.pointer(split), part)
    let rightBlock = self.part(editor.reader, editor.pointer(split), part + 1)
    // Half full at most, so that the next values do not split it again.
    if BytesLeaf.payloadBytes(leftBlock) + BytesLeaf.payloadBytes(rightBlock) > leafBytesMax / 2 {
      return false
    }
    let target = mutableChild(editor, split, part)
    BytesLeaf.append(editor, target, leaf: right)
    editor.free(right)
    removePart(editor, split, part + 1)
    return true
  }

  // MARK: - Parts of a split node

  private static func isLeaf(_ editor: BlockEditor, _ reference: BlockReference) -> Bool {
    BlockHeader.kind(editor.reader.pointer(reference)) == .bytesLeaf
  }

  private static func child(
    _ editor: BlockEditor, _ split: BlockReference, _ part: Int
  ) -> BlockReference {
    BlockHeader.reference(editor.pointer(split), part)
  }

  private static func mutableChild(
    _ editor: BlockEditor, _ split: BlockReference, _ part: Int
  ) -> BlockReference {
    var reference = child(editor, split, part)
    if reference.isProvisional { return reference }
    _ = self.part(editor.reader, editor.pointer(split), part)
    reference = editor.mutable(reference)
    BlockHeader.setReference(editor.pointer(split), part, reference)
    return reference
  }

  /// Makes the leaf the only part of a split node.
  private static func wrap(_ editor: BlockEditor, _ reference: inout BlockReference) {
    let rows = BytesLeaf.rows(editor.reader.pointer(reference))
    let split = editor.allocate(kind: .bytesSplit, count: 0, payloadBytes: 2, isResident: false)
    insertPart(editor, split, 0, reference, rows: rows)
    reference = split
  }

  private static func insertPart(
    _ editor: BlockEditor, _ split: BlockReference, _ part: Int, _ child: BlockReference, rows: Int
  ) {
    let parts = BlockHeader.count(editor.pointer(split))
    editor.resize(split, payloadBytes: (parts + 1) * 10 + 2)
    let block = editor.pointer(split)
    let references = block + BlockHeader.length
    let oldStarts = references + parts * 8
    let newStarts = oldStarts + 8
    memmove(newStarts, oldStarts, (parts + 1) * 2)
    memmove(references + (part + 1) * 8, references + part * 8, (parts - part) * 8)
    BlockHeader.setReference(block, part, child)
    memmove(newStarts + (part + 1) * 2, newStarts + part * 2, (parts + 1 - part) * 2)
    BlockHeader.setCount(block, parts + 1)
    shiftStarts(editor, split, after: part, by: rows)
  }

  /// The part's rows must be gone from the starts already.
  private static func removePart(_ editor: BlockEditor, _ split: BlockReference, _ part: Int) {
    let block = editor.pointer(split)
    let parts = BlockHeader.count(block)
    let references = block + BlockHeader.length
    let starts = references + parts * 8
    memmove(starts + part * 2, starts + (part + 1) * 2, (parts - part) * 2)
    memmove(references + part * 8, references + (part + 1) * 8, (parts - part - 1) * 8)
    memmove(starts - 8, starts, parts * 2)
    memset(starts - 8 + parts * 2, 0, 10)
    BlockHeader.setCount(block, parts - 1)
    editor.resize(split, payloadBytes: (parts - 1) * 10 + 2)
  }

  private static func shiftStarts(
    _ editor: BlockEditor, _ split: BlockReference, after part: Int, by difference: Int
  ) {
    let block = editor.pointer(split)
    let starts = block + startsOffset(block)
    for later in (part + 1)..<(BlockHeader.count(block) + 1) {
      let start = starts.integer(at: later * 2, as: UInt16.self)
      starts.store(UInt16(truncatingIfNeeded: Int(start) + difference), at: later * 2)
    }
  }
}
