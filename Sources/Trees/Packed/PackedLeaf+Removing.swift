// Removing several rows of a packed leaf at once.
internal import Glibc
internal import Storage

extension PackedLeaf {
  /// Removes rows, as `remove` does with each.
  ///
  /// - Parameter removed: ascending; rows that the leaf does not have are passed over.
  @inline(__always)
  static func remove(
    _ editor: BlockEditor, _ reference: inout BlockReference,
    rows removed: some BidirectionalCollection<Int>
  ) {
    if reference.isNone { return }
    let old = editor.reader.pointer(reference)
    let (rows, flags) = (rows(old), BlockHeader.width(old))
    let code = flags & 7
    // Elements of less than a byte, and bits that say which are null, move one row at a time.
    guard removed.count > 1, code >= 4, flags & nullsFlag == 0, removed.count < rows,
      removed.last! < rows
    else {
      for row in removed.reversed() { remove(editor, &reference, row) }
      return
    }
    reference = editor.mutable(reference)
    let block = editor.pointer(reference)
    let elements = block + nullsOffset
    let size = bits(code: code) / 8
    // What is kept between two removed rows comes down to the end of what is kept before.
    var end = removed.first! * size
    var start = end + size
    func keep(upTo stop: Int) {
      memmove(elements + end, elements + start, stop - start)
      end += stop - start
      start = stop + size
    }
    for row in removed.dropFirst() { keep(upTo: row * size) }
    keep(upTo: rows * size)
    // What is behind the last row is zero, so that equal content means equal bytes.
    memset(elements + end, 0, rows * size - end)
    let left = rows - removed.count
    BlockHeader.setCount(block, left)
    editor.resize(reference, payloadBytes: payloadBytes(rows: left, code: code, nulls: false))
  }
}
