// A column whose values are trees of their own (collections): one reference a row, none for an
// empty collection. A node to Storage, so that what the rows own is walked, moved and freed with
// them.
//
//   referenceLeaf  header count = rows; references
//
// A leaf may have fewer rows than its cluster: the rest have no tree.
internal import Glibc
public import Storage

/// Columns of references.
@frozen @usableFromInline
package enum ReferenceLeaf {
  /// Rows that the leaf holds.
  @inlinable @inline(__always)
  package static func rows(_ block: UnsafeRawPointer) -> Int { BlockHeader.count(block) }

  /// The tree of a row of a column.
  @inlinable @inline(__always)
  package static func reference(
    _ reader: BlockReader, _ column: BlockReference, _ row: Int
  ) -> BlockReference {
    if column.isNone { return .none }
    let block = reader.pointer(column, .referenceLeaf)
    return row < BlockHeader.count(block) ? BlockHeader.reference(block, row) : .none
  }

  /// Sets a row; rows between the leaf's end and this one get no tree.
  ///
  /// - Parameter reserve: payload bytes that a new leaf will probably need.
  static func set(
    _ editor: BlockEditor, _ column: inout BlockReference, _ row: Int, _ value: BlockReference,
    reserve: Int
  ) {
    precondition(row < Cluster.slotsMax, "row \(row) in a cluster")
    let rows = column.isNone ? 0 : BlockHeader.count(editor.reader.pointer(column, .referenceLeaf))
    if row >= rows && value.isNone { return }
    if column.isNone {
      column = editor.allocate(
        kind: .referenceLeaf, count: 0, payloadBytes: max(reserve, (row + 1) * 8))
      editor.resize(column, payloadBytes: 0)
    } else if !column.isProvisional {
      column = editor.mutable(column)
    }
    if row >= rows {
      editor.resize(column, payloadBytes: (row + 1) * 8)
      BlockHeader.setCount(editor.pointer(column), row + 1)
    }
    BlockHeader.setReference(editor.pointer(column), row, value)
  }

  /// Removes a row with its tree; later rows move up.
  static func remove(_ editor: BlockEditor, _ column: inout BlockReference, _ row: Int) {
    let rows = column.isNone ? 0 : BlockHeader.count(editor.reader.pointer(column, .referenceLeaf))
    if row >= rows { return }
    editor.freeTree(BlockHeader.reference(editor.reader.pointer(column), row))
    if rows == 1 {
      editor.free(column)
      column = .none
      return
    }
    column = editor.mutable(column)
    let block = editor.pointer(column)
    let start = block + BlockHeader.length
    memmove(start + row * 8, start + (row + 1) * 8, (rows - row - 1) * 8)
    BlockHeader.setReference(block, rows - 1, .none)
    BlockHeader.setCount(block, rows - 1)
    editor.resize(column, payloadBytes: (rows - 1) * 8)
  }

  /// Adds what is wrong with the leaf to `findings`; not what its rows refer to.
  static func check(_ block: UnsafeRawPointer, name: String, _ findings: inout [String]) {
    let rows = rows(block)
    if rows == 0 { findings.append("\(name): an empty reference leaf") }
    if BlockHeader.blockLength(block) != BlockHeader.blockLength(forPayload: rows * 8) {
      findings.append("\(name): reference leaf of \(rows) rows has a wrong length")
    }
  }
}
