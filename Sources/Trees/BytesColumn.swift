// A column of byte strings of one cluster: one leaf, or several under a split node when the leaf would
// be long. Keeping leaves near 4 KB keeps small changes small.
//
// Split node payload: [references of the leaves] [u16 first row of each leaf]
public import Storage

/// Byte strings of the rows of one cluster.
@frozen @usableFromInline
package enum BytesColumn {
  static let splitKind = BlockKind(rawValue: 0x92)

  // MARK: - Reading

  /// The leaf that holds a row, and the row's number in it.
  @usableFromInline
  static func find(_ reader: BlockReader, _ column: BlockReference, _ row: Int)
    -> (leaf: UnsafeRawPointer, row: Int)
  {
    let block = reader.pointer(column)
    if BlockHeader.kind(block) != splitKind { return (block, row) }
    let index = leafIndex(block, row)
    return (reader.pointer(BlockHeader.reference(block, index)), row - firstRow(block, index))
  }

  @inline(__always)
  private static func firstRow(_ split: UnsafeRawPointer, _ index: Int) -> Int {
    let offset = BlockHeader.length + BlockHeader.count(split) * 8 + index * 2
    return Int(split.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  private static func leafIndex(_ split: UnsafeRawPointer, _ row: Int) -> Int {
    var low = 0
    var high = BlockHeader.count(split)
    while high - low > 1 {
      let middle = (low + high) / 2
      if firstRow(split, middle) <= row { low = middle } else { high = middle }
    }
    return low
  }

  /// Runs `body` on the bytes of a row, nil for null.
  ///
  /// Short values are not copied.
  package static func withBytes<R, E: Error>(
    _ reader: BlockReader, _ column: BlockReference, _ row: Int,
    _ body: (UnsafeRawBufferPointer?) throws(E) -> R
  ) throws(E) -> R {
    let (leaf, row) = find(reader, column, row)
    switch BytesLeaf.row(leaf, row) {
    case .null: return try body(nil)
    case .bytes(let bytes): return try body(bytes)
    case .long(let reference, let length):
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(length), alignment: 16)
      defer { copy.deallocate() }
      LongValue.read(reader, reference, into: copy)
      return try body(UnsafeRawBufferPointer(copy))
    }
  }

  package static func isNull(_ reader: BlockReader, _ column: BlockReference, _ row: Int) -> Bool {
    let (leaf, row) = find(reader, column, row)
    let (bytes, isSpecial) = BytesLeaf.place(leaf, row)
    return isSpecial && bytes.isEmpty
  }

  package static func rowCount(_ reader: BlockReader, _ column: BlockReference) -> Int {
    let block = reader.pointer(column)
    if BlockHeader.kind(block) != splitKind { return BytesLeaf.rows(block) }
    let last = BlockHeader.count(block) - 1
    return firstRow(block, last)
      + BytesLeaf.rows(reader.pointer(BlockHeader.reference(block, last)))
  }

  // MARK: - Changing

  /// A column of `count` times the same value.
  package static func make(
    _ editor: BlockEditor, repeating bytes: UnsafeRawBufferPointer?, count: Int
  ) -> BlockReference {
    var column = BytesLeaf.make(editor, [])
    for _ in 0..<count { column = appending(editor, column, bytes) }
    return column
  }

  /// Adds one row at the end.
  ///
  /// - Returns: the column's reference from now on.
  package static func appending(
    _ editor: BlockEditor, _ column: BlockReference, _ bytes: UnsafeRawBufferPointer?
  ) -> BlockReference {
    let column = editor.mutable(column)
    let block = editor.pointer(column)
    let isSplit = BlockHeader.kind(block) == splitKind
    var leaf = column
    if isSplit {
      let last = BlockHeader.count(block) - 1
      leaf = editor.mutable(BlockHeader.reference(block, last))
      BlockHeader.setReference(block, last, leaf)
    }
    let isLong = (bytes?.count ?? 0) > BytesLeaf.inlineLengthMax
    let leafBlock = editor.pointer(leaf)
    let isFull =
      BytesLeaf.bytesUsed(leafBlock) + (isLong ? BytesLeaf.longRowLength : bytes?.count ?? 0)
      > BytesLeaf.bytesMax
    if !isLong, !isFull {
      BytesLeaf.append(editor, leaf, bytes)
      return column
    }
    let row = newRow(editor, bytes)
    if isFull {
      let rows = rowCount(editor.reader, column)
      let next = BytesLeaf.make(editor, [row])
      if isSplit { return addLeaf(editor, column, next, firstRow: rows) }
      return makeSplit(editor, [(column, 0), (next, rows)])
    }
    let new = BytesLeaf.make(editor, BytesLeaf.allRows(leafBlock) + [row])
    return replace(editor, column, isSplit, leaf, with: new)
  }

  /// Sets one row.
  package static func setting(
    _ editor: BlockEditor, _ column: BlockReference, _ row: Int, _ bytes: UnsafeRawBufferPointer?
  ) -> BlockReference {
    if (bytes?.count ?? 0) <= BytesLeaf.inlineLengthMax {
      let column = editor.mutable(column)
      let block = editor.pointer(column)
      var leaf = column
      var first = 0
      if BlockHeader.kind(block) == splitKind {
        let index = leafIndex(block, row)
        first = firstRow(block, index)
        leaf = editor.mutable(BlockHeader.reference(block, index))
        BlockHeader.setReference(block, index, leaf)
      }
      if BytesLeaf.replace(editor, leaf, row - first, bytes) { return column }
      return setSlowly(editor, column, row, bytes)
    }
    return setSlowly(editor, column, row, bytes)
  }

  /// Sets a row by rewriting its leaf: long values, and leaves that have to be split.
  private static func setSlowly(
    _ editor: BlockEditor, _ column: BlockReference, _ row: Int, _ bytes: UnsafeRawBufferPointer?
  ) -> BlockReference {
    changing(editor, column, row) { rows, index in
      if case .long(let reference, _) = rows[index] { editor.freeTree(reference) }
      rows[index] = newRow(editor, bytes)
    }
  }

  /// Removes one row; the ones behind it move up.
  ///
  /// A column keeps at least one row.
  package static func removing(
    _ editor: BlockEditor, _ column: BlockReference, _ row: Int
  ) -> BlockReference {
    changing(editor, column, row) { rows, index in
      if case .long(let reference, _) = rows[index] { editor.freeTree(reference) }
      rows.remove(at: index)
    }
  }

  private static func newRow(
    _ editor: BlockEditor, _ bytes: UnsafeRawBufferPointer?
  ) -> BytesLeaf.Row {
    guard let bytes else { return .null }
    if bytes.count <= BytesLeaf.inlineLengthMax { return .bytes(bytes) }
    return .long(LongValue.make(editor, bytes), length: UInt64(bytes.count))
  }

  /// Rewrites the leaf of one row, and splits or drops it where its size demands.
  private static func changing(
    _ editor: BlockEditor, _ column: BlockReference, _ row: Int,
    _ change: (inout [BytesLeaf.Row], Int) -> Void
  ) -> BlockReference {
    let block = editor.reader.pointer(column)
    let isSplit = BlockHeader.kind(block) == splitKind
    var parts: [(reference: BlockReference, firstRow: Int)] = [(column, 0)]
    if isSplit {
      parts = (0..<BlockHeader.count(block)).map {
        (BlockHeader.reference(block, $0), firstRow(block, $0))
      }
    }
    let index = isSplit ? leafIndex(block, row) : 0
    let old = parts[index].reference
    let oldBlock = editor.reader.pointer(old)
    var rows = BytesLeaf.allRows(oldBlock)
    let oldCount = rows.count
    change(&rows, row - parts[index].firstRow)
    let news = pieces(rows).map { BytesLeaf.make(editor, Array($0)) }
    editor.free(old)
    if isSplit, news.count == 1, rows.count == oldCount {
      let column = editor.mutable(column)
      BlockHeader.setReference(editor.pointer(column), index, news[0])
      return column
    }
    var first = parts[index].firstRow
    var replacement: [(reference: BlockReference, firstRow: Int)] = []
    for leaf in news {
      let count = BytesLeaf.rows(editor.pointer(leaf))
      // An empty leaf stays only where it is the whole column.
      if count > 0 || parts.count == 1 {
        replacement.append((leaf, first))
      } else {
        editor.free(leaf)
      }
      first += count
    }
    let difference = rows.count - oldCount
    for later in parts.indices where later > index { parts[later].firstRow += difference }
    parts.replaceSubrange(index...index, with: replacement)
    if isSplit { editor.free(column) }
    return parts.count == 1 ? parts[0].reference : makeSplit(editor, parts)
  }

  /// Rows in pieces whose leaves are short enough.
  private static func pieces(_ rows: [BytesLeaf.Row]) -> [ArraySlice<BytesLeaf.Row>] {
    let total = rows.reduce(0) { $0 + $1.inlineLength }
    if total <= BytesLeaf.bytesMax + BytesLeaf.bytesMax / 2 { return [rows[...]] }
    var half = 0
    var used = 0
    while used < total / 2 {
      used += rows[half].inlineLength
      half += 1
    }
    return [rows[..<half], rows[half...]]
  }

  private static func makeSplit(
    _ editor: BlockEditor, _ parts: [(reference: BlockReference, firstRow: Int)]
  ) -> BlockReference {
    let split = editor.allocate(
      kind: splitKind, count: parts.count, payloadBytes: parts.count * 10)
    let block = editor.pointer(split)
    for (index, part) in parts.enumerated() {
      BlockHeader.setReference(block, index, part.reference)
      block.storeBytes(
        of: UInt16(part.firstRow), toByteOffset: BlockHeader.length + parts.count * 8 + index * 2,
        as: UInt16.self)
    }
    return split
  }

  private static func addLeaf(
    _ editor: BlockEditor, _ split: BlockReference, _ leaf: BlockReference, firstRow first: Int
  ) -> BlockReference {
    let block = editor.pointer(split)
    var parts = (0..<BlockHeader.count(block)).map {
      (BlockHeader.reference(block, $0), firstRow(block, $0))
    }
    parts.append((leaf, first))
    editor.free(split)
    return makeSplit(editor, parts)
  }

  private static func replace(
    _ editor: BlockEditor, _ column: BlockReference, _ isSplit: Bool, _ leaf: BlockReference,
    with new: BlockReference
  ) -> BlockReference {
    editor.free(leaf)
    guard isSplit else { return new }
    let block = editor.pointer(column)
    BlockHeader.setReference(block, BlockHeader.count(block) - 1, new)
    return column
  }
}
