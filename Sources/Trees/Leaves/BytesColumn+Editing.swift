// Changing a column of byte strings: which leaf, and when leaves split and merge. The last leaf is
// filled up before the next begins; a leaf that outgrows its block by a change is halved; a leaf that
// becomes small joins a neighbour when both fit one leaf well.
internal import Glibc
package import Storage

extension BytesColumn {
  /// A new column of one row; nil is null.
  /// - Returns: the column's reference, for the parent to store.
  package static func make(
    _ editor: BlockEditor, _ value: UnsafeRawBufferPointer?
  ) -> BlockReference {
    appending(editor, BytesLeaf.make(editor), value)
  }

  /// Adds a row at the end; nil is null.
  ///
  /// The value must not lie in this column's own blocks.
  /// - Returns: the reference to store in the parent.
  package static func appending(
    _ editor: BlockEditor, _ column: BlockReference, _ value: UnsafeRawBufferPointer?
  ) -> BlockReference {
    let column = column.isProvisional ? column : editor.mutable(column)
    let block = editor.pointer(column)
    if BlockHeader.kind(block) != splitKind {
      let leaf = appendToLast(editor, column, value)
      if leaf == column { return column }
      return makeNode(
        editor, column, leaf, firstRow: BytesLeaf.rows(BytesLeaf.body(editor.pointer(column))))
    }
    let last = BlockHeader.count(block) &- 1
    let old = BlockHeader.reference(block, last)
    let leaf = old.isProvisional ? old : editor.mutable(old)
    if leaf != old { BlockHeader.setReference(block, last, leaf) }
    let added = appendToLast(editor, leaf, value)
    if added != leaf {
      let rows = BytesLeaf.rows(BytesLeaf.body(editor.pointer(leaf)))
      let first = firstRow(editor.pointer(column), last) + rows
      insertLeaf(editor, column, last + 1, added, firstRow: first)
    }
    return column
  }

  /// Adds the same value several times.
  /// - Returns: the reference to store in the parent.
  package static func appending(
    _ editor: BlockEditor, _ column: BlockReference, repeating value: UnsafeRawBufferPointer?,
    count: Int
  ) -> BlockReference {
    var column = column
    for _ in 0..<count { column = appending(editor, column, value) }
    return column
  }

  /// Sets a row; nil is null.
  ///
  /// The value must not lie in this column's own blocks.
  /// - Returns: the reference to store in the parent.
  package static func setting(
    _ editor: BlockEditor, _ column: BlockReference, _ row: Int, _ value: UnsafeRawBufferPointer?
  ) -> BlockReference {
    changing(editor, column, row) { leaf, row in
      if let value, value.count > BytesLeaf.inlineMax {
        BytesLeaf.setLong(
          editor, leaf, row, LongValue.make(editor, value), length: value.count)
      } else {
        BytesLeaf.set(editor, leaf, row, value)
      }
    }
  }

  /// Removes a row; a column may become empty.
  /// - Returns: the reference to store in the parent.
  package static func removing(
    _ editor: BlockEditor, _ column: BlockReference, _ row: Int
  ) -> BlockReference {
    changing(editor, column, row) { leaf, row in
      BytesLeaf.remove(editor, leaf, row)
    } then: { node, index in
      for other in (index + 1)..<BlockHeader.count(node) {
        setFirstRow(node, other, firstRow(node, other) - 1)
      }
    }
  }

  /// Gives up a column with its long values.
  package static func free(_ editor: BlockEditor, _ column: BlockReference) {
    editor.freeTree(column)
  }

  // MARK: - Parts

  /// Adds a row to a provisional leaf, or to a new one when it is full; returns the leaf that has it.
  @inline(__always)
  private static func appendToLast(
    _ editor: BlockEditor, _ leaf: BlockReference, _ value: UnsafeRawBufferPointer?
  ) -> BlockReference {
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    let bytes = value ?? none
    let block = editor.pointer(leaf)
    let body = BytesLeaf.body(block)
    precondition(BytesLeaf.rows(body) < 256)
    let isLong = bytes.count > BytesLeaf.inlineMax
    let growth = isLong ? 2 &+ 8 &+ BytesLeaf.longRowBytes : 2 &+ bytes.count
    var target = leaf
    if BytesLeaf.usedBytes(block) &+ growth > BytesLeaf.payloadMax, BytesLeaf.rows(body) > 0 {
      target = BytesLeaf.make(editor, reserving: BytesLeaf.payloadMax)
    }
    if isLong {
      BytesLeaf.appendLong(
        editor, target, LongValue.make(editor, bytes), length: bytes.count)
    } else {
      BytesLeaf.append(editor, target, bytes, value == nil ? BytesLeaf.nullFlag : 0)
    }
    return target
  }

  /// Changes the leaf with a row, then restores the sizes of leaves.
  private static func changing(
    _ editor: BlockEditor, _ column: BlockReference, _ row: Int,
    _ change: (BlockReference, Int) -> Void,
    then: (UnsafeMutableRawPointer, Int) -> Void = { _, _ in }
  ) -> BlockReference {
    precondition(row >= 0 && row < rowCount(editor.reader, column))
    let column = editor.mutable(column)
    let block = editor.pointer(column)
    if BlockHeader.kind(block) != splitKind {
      change(column, row)
      guard let right = splitIfTooLong(editor, column) else { return column }
      return makeNode(
        editor, column, right, firstRow: BytesLeaf.rows(BytesLeaf.body(editor.pointer(column))))
    }
    let index = leafIndex(block, row)
    let first = firstRow(block, index)
    let leaf = editor.mutable(BlockHeader.reference(block, index))
    BlockHeader.setReference(block, index, leaf)
    change(leaf, row - first)
    then(editor.pointer(column), index)
    if let right = splitIfTooLong(editor, leaf) {
      let rows = BytesLeaf.rows(BytesLeaf.body(editor.pointer(leaf)))
      insertLeaf(editor, column, index + 1, right, firstRow: first + rows)
      return column
    }
    return mergeIfSmall(editor, column, index)
  }

  private static func splitIfTooLong(
    _ editor: BlockEditor, _ leaf: BlockReference
  ) -> BlockReference? {
    let block = editor.pointer(leaf)
    if BytesLeaf.usedBytes(block) <= BytesLeaf.payloadMax { return nil }
    if BytesLeaf.rows(BytesLeaf.body(block)) < 2 { return nil }
    return BytesLeaf.split(editor, leaf, at: BytesLeaf.middle(block))
  }

  /// Joins a leaf that has become small with a neighbour, and drops a leaf without rows.
  private static func mergeIfSmall(
    _ editor: BlockEditor, _ column: BlockReference, _ index: Int
  ) -> BlockReference {
    let node = editor.pointer(column)
    let count = BlockHeader.count(node)
    let block = editor.pointer(BlockHeader.reference(node, index))
    let used = BytesLeaf.usedBytes(block)
    if used >= BytesLeaf.payloadMin { return column }
    if BytesLeaf.rows(BytesLeaf.body(block)) == 0 {
      editor.free(BlockHeader.reference(node, index))
      return removeLeaf(editor, column, index)
    }
    for left in [index - 1, index] where left >= 0 && left + 1 < count {
      let other = BlockHeader.reference(node, left == index ? index + 1 : left)
      let together = used + BytesLeaf.usedBytes(editor.reader.pointer(other)) - 4
      if together > BytesLeaf.mergedMax { continue }
      let target = editor.mutable(BlockHeader.reference(node, left))
      BlockHeader.setReference(node, left, target)
      BytesLeaf.merge(editor, target, BlockHeader.reference(node, left + 1))
      return removeLeaf(editor, column, left + 1)
    }
    return column
  }

  // MARK: - Node

  private static func setFirstRow(_ node: UnsafeMutableRawPointer, _ index: Int, _ row: Int) {
    let offset = BlockHeader.length + BlockHeader.count(node) * 8 + index * 2
    node.storeBytes(of: UInt16(row), toByteOffset: offset, as: UInt16.self)
  }

  private static func makeNode(
    _ editor: BlockEditor, _ left: BlockReference, _ right: BlockReference, firstRow: Int
  ) -> BlockReference {
    let reference = editor.allocate(kind: splitKind, count: 2, payloadBytes: 20)
    let node = editor.pointer(reference)
    BlockHeader.setReference(node, 0, left)
    BlockHeader.setReference(node, 1, right)
    setFirstRow(node, 1, firstRow)
    return reference
  }

  private static func insertLeaf(
    _ editor: BlockEditor, _ column: BlockReference, _ index: Int, _ leaf: BlockReference,
    firstRow: Int
  ) {
    let count = BlockHeader.count(editor.pointer(column))
    editor.resize(column, payloadBytes: (count + 1) * 10)
    let node = editor.pointer(column)
    let payload = node + BlockHeader.length
    let oldRows = payload + count * 8
    let newRows = payload + (count + 1) * 8
    memmove(newRows + (index + 1) * 2, oldRows + index * 2, (count - index) * 2)
    memmove(newRows, oldRows, index * 2)
    memmove(payload + (index + 1) * 8, payload + index * 8, (count - index) * 8)
    BlockHeader.setCount(node, count + 1)
    BlockHeader.setReference(node, index, leaf)
    setFirstRow(node, index, firstRow)
  }

  /// Drops a leaf from the node; a node with one leaf left becomes that leaf.
  private static func removeLeaf(
    _ editor: BlockEditor, _ column: BlockReference, _ index: Int
  ) -> BlockReference {
    let node = editor.pointer(column)
    let count = BlockHeader.count(node)
    if count == 2 {
      let remaining = BlockHeader.reference(node, 1 - index)
      editor.free(column)
      return remaining
    }
    let payload = node + BlockHeader.length
    let oldRows = payload + count * 8
    let newRows = payload + (count - 1) * 8
    memmove(payload + index * 8, payload + (index + 1) * 8, (count - 1 - index) * 8)
    memmove(newRows, oldRows, index * 2)
    memmove(newRows + index * 2, oldRows + (index + 1) * 2, (count - 1 - index) * 2)
    BlockHeader.setCount(node, count - 1)
    editor.resize(column, payloadBytes: (count - 1) * 10)
    return column
  }
}
