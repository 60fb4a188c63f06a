// Changing a cluster of this transaction: its slots and its column references.
internal import Glibc
internal import Storage

extension Cluster {
  /// A new cluster of one object.
  static func make(_ editor: BlockEditor, slot: Int, columns: Int) -> BlockReference {
    let isSparse = slot != 0
    let reference = editor.allocate(
      kind: isSparse ? .sparseCluster : .cluster, count: columns,
      payloadBytes: columns * 8 + (isSparse ? presenceLength : 0))
    if isSparse {
      setBit(UnsafeMutableRawPointer(mutating: presence(editor.pointer(reference))), slot, true)
    }
    return reference
  }

  /// Adds an object behind all others.
  ///
  /// - Returns: its row.
  static func append(_ editor: BlockEditor, _ reference: BlockReference, slot: Int) -> Int {
    let row = rows(editor.pointer(reference))
    if !isSparse(editor.pointer(reference)), slot != row { addPresence(editor, reference) }
    let block = editor.pointer(reference)
    if isSparse(block) { setBit(UnsafeMutableRawPointer(mutating: presence(block)), slot, true) }
    BlockHeader.setWidth(block, UInt8(row))
    return row
  }

  /// Takes an object out of a cluster that has others; its columns have lost the row already.
  static func remove(_ editor: BlockEditor, _ reference: BlockReference, slot: Int) {
    let rows = rows(editor.pointer(reference))
    if !isSparse(editor.pointer(reference)), slot != rows - 1 { addPresence(editor, reference) }
    let block = editor.pointer(reference)
    BlockHeader.setWidth(block, UInt8(rows - 2))
    if isSparse(block) {
      setBit(UnsafeMutableRawPointer(mutating: presence(block)), slot, false)
      dropPresence(editor, reference)
    }
  }

  /// Makes room for at least so many columns.
  static func growColumns(_ editor: BlockEditor, _ reference: BlockReference, to columns: Int) {
    let old = editor.pointer(reference)
    let oldColumns = BlockHeader.count(old)
    if columns <= oldColumns { return }
    let isSparse = isSparse(old)
    editor.resize(reference, payloadBytes: columns * 8 + (isSparse ? presenceLength : 0))
    let block = editor.pointer(reference)
    if isSparse {
      let start = block + BlockHeader.length
      memmove(start + columns * 8, start + oldColumns * 8, presenceLength)
      memset(start + oldColumns * 8, 0, (columns - oldColumns) * 8)
    }
    BlockHeader.setCount(block, columns)
  }

  /// Drops a column, whose block is gone already; later ones move up.
  static func removeColumn(_ editor: BlockEditor, _ reference: BlockReference, _ column: Int) {
    let block = editor.pointer(reference)
    let columns = BlockHeader.count(block)
    let tail = isSparse(block) ? presenceLength : 0
    let start = block + BlockHeader.length
    memmove(
      start + column * 8, start + (column + 1) * 8, (columns - column - 1) * 8 + tail)
    memset(start + (columns - 1) * 8 + tail, 0, 8)
    BlockHeader.setCount(block, columns - 1)
    editor.resize(reference, payloadBytes: (columns - 1) * 8 + tail)
  }

  private static func addPresence(_ editor: BlockEditor, _ reference: BlockReference) {
    let columns = BlockHeader.count(editor.pointer(reference))
    editor.resize(reference, payloadBytes: columns * 8 + presenceLength)
    let block = editor.pointer(reference)
    let bits = block + BlockHeader.length + columns * 8
    memset(bits, 0, presenceLength)
    for row in 0..<rows(block) { setBit(bits, row, true) }
    BlockHeader.setKind(block, .sparseCluster)
  }

  /// Goes back to the form without a bitmap if no slot is missing before the last used one.
  private static func dropPresence(_ editor: BlockEditor, _ reference: BlockReference) {
    let block = editor.pointer(reference)
    let rows = rows(block)
    if rank(block, slot: rows - 1) != rows - 1 || !bit(presence(block), rows - 1) { return }
    let columns = BlockHeader.count(block)
    BlockHeader.setKind(block, .cluster)
    editor.resize(reference, payloadBytes: columns * 8)
  }
}
