// Changing one leaf of byte strings. Every function here takes a provisional leaf and keeps its
// reference; sizes are BytesColumn's business, except that a block never outgrows its 14-bit ends:
// a leaf of at most `payloadMax` grows by one row's change before it is split.
internal import Glibc
internal import Storage

extension BytesLeaf {
  /// A new leaf without rows, with memory for so large a payload.
  static func make(_ editor: BlockEditor, reserving payloadBytes: Int = 4) -> BlockReference {
    let leaf = editor.allocate(kind: plainKind, count: 0, payloadBytes: payloadBytes)
    editor.resize(leaf, payloadBytes: 4)
    return leaf
  }

  /// Adds a row at the end; `bytes` has at most `inlineMax`.
  @inline(__always)
  static func append(
    _ editor: BlockEditor, _ leaf: BlockReference, _ bytes: UnsafeRawBufferPointer, _ flags: UInt16
  ) {
    var block = editor.pointer(leaf)
    let isNode = BlockHeader.kind(block).isNode
    let bodyOffset = BlockHeader.length &+ (isNode ? BlockHeader.count(block) &* 8 : 0)
    let rows = rows(block + bodyOffset)
    let total = total(block + bodyOffset)
    let newTotal = total &+ bytes.count
    let used = bodyOffset &+ 4 &+ newTotal &+ rows &* 2 &+ 2
    let length = BlockHeader.blockLength(block)
    if (used &+ 15) & ~15 != length {
      // Few large steps: memory of a block that has moved is lost to the transaction.
      if length < 256, used >= 256 { IntegerLeaf.reserve(editor, leaf, 1024 - 16) }
      if length < 1024, used >= 1024 { IntegerLeaf.reserve(editor, leaf, payloadMax) }
      editor.resize(leaf, payloadBytes: used &- BlockHeader.length)
      block = editor.pointer(leaf)
    }
    let body = block + bodyOffset
    if bytes.count > 0, let start = bytes.baseAddress {
      memmove(body + 4 + newTotal, body + 4 + total, rows &* 2)
      memcpy(body + 4 + total, start, bytes.count)
    }
    body.storeBytes(
      of: UInt16(truncatingIfNeeded: newTotal) | flags,
      toByteOffset: 4 &+ newTotal &+ rows &* 2, as: UInt16.self)
    setSizes(block, body, rows: rows &+ 1, total: newTotal)
  }

  /// Adds a row with a long value at the end.
  static func appendLong(
    _ editor: BlockEditor, _ leaf: BlockReference, _ value: BlockReference, length: Int
  ) {
    let index = referenceCount(editor.pointer(leaf))
    insertReference(editor, leaf, index, value)
    withInlineBytes(index, length) { append(editor, leaf, $0, longFlag) }
  }

  /// Sets a row to bytes of at most `inlineMax`, or to null.
  ///
  /// Frees a long value it had.
  static func set(
    _ editor: BlockEditor, _ leaf: BlockReference, _ row: Int, _ bytes: UnsafeRawBufferPointer?
  ) {
    freeLong(editor, leaf, row)
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    replace(editor, leaf, row, bytes ?? none, bytes == nil ? nullFlag : 0)
  }

  /// Sets a row to a long value.
  ///
  /// Frees a long value it had.
  static func setLong(
    _ editor: BlockEditor, _ leaf: BlockReference, _ row: Int, _ value: BlockReference, length: Int
  ) {
    freeLong(editor, leaf, row)
    var index = 0
    let body = body(editor.pointer(leaf))
    for other in 0..<row where end(body, other) & longFlag != 0 { index += 1 }
    insertReference(editor, leaf, index, value)
    withInlineBytes(index, length) { replace(editor, leaf, row, $0, longFlag) }
    renumber(editor.pointer(leaf), from: row + 1, by: 1)
  }

  /// Removes a row and the long value it had.
  static func remove(_ editor: BlockEditor, _ leaf: BlockReference, _ row: Int) {
    freeLong(editor, leaf, row)
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    replace(editor, leaf, row, none, 0)
    let block = editor.pointer(leaf)
    let body = UnsafeMutableRawPointer(mutating: body(block))
    let rows = rows(body)
    let ends = body + 4 + total(body)
    memmove(ends + row * 2, ends + row * 2 + 2, (rows - row - 1) * 2)
    setSizes(block, body, rows: rows - 1, total: total(body))
    editor.resize(leaf, payloadBytes: usedBytes(block))
  }

  /// Moves rows `row...` of a leaf to a new leaf.
  static func split(
    _ editor: BlockEditor, _ leaf: BlockReference, at row: Int
  ) -> BlockReference {
    var source = editor.pointer(leaf)
    var body = UnsafeMutableRawPointer(mutating: body(source))
    let rows = rows(body)
    let references = referenceCount(source)
    let kept = Int(start(body, row))
    let moved = total(body) - kept
    var keptReferences = 0
    for other in 0..<row where end(body, other) & longFlag != 0 { keptReferences += 1 }
    let movedReferences = references - keptReferences

    let right = editor.allocate(
      kind: movedReferences > 0 ? longKind : plainKind, count: movedReferences,
      payloadBytes: movedReferences * 8 + 4 + moved + (rows - row) * 2)
    let target = editor.pointer(right)
    source = editor.pointer(leaf)
    body = UnsafeMutableRawPointer(mutating: Self.body(source))
    memcpy(
      target + BlockHeader.length, source + BlockHeader.length + keptReferences * 8,
      movedReferences * 8)
    let targetBody = target + BlockHeader.length + movedReferences * 8
    memcpy(targetBody + 4, body + 4 + kept, moved)
    memcpy(targetBody + 4 + moved, body + 4 + total(body) + row * 2, (rows - row) * 2)
    setSizes(target, targetBody, rows: rows - row, total: moved)
    shiftEnds(targetBody, from: 0, by: -kept)
    renumber(target, from: 0, by: -keptReferences)

    memmove(body + 4 + kept, body + 4 + total(body), row * 2)
    let newBody = source + BlockHeader.length + keptReferences * 8
    memmove(newBody, body, 4 + kept + row * 2)
    setReferenceCount(source, keptReferences)
    setSizes(source, newBody, rows: row, total: kept)
    editor.resize(leaf, payloadBytes: usedBytes(source))
    return right
  }

  /// Moves all rows of `right` to the end of `leaf` and gives `right` up.
  static func merge(_ editor: BlockEditor, _ leaf: BlockReference, _ right: BlockReference) {
    let added = editor.reader.pointer(right)
    let addedReferences = referenceCount(added)
    let old = editor.pointer(leaf)
    let references = referenceCount(old)
    let oldUsed = usedBytes(old)
    editor.resize(leaf, payloadBytes: oldUsed + usedBytes(added) - 4)
    let block = editor.pointer(leaf)
    let addedBody = body(added)
    let oldBody = block + BlockHeader.length + references * 8
    let newBody = oldBody + addedReferences * 8
    let rows = rows(oldBody)
    let total = total(oldBody)
    let addedRows = Self.rows(addedBody)
    let addedTotal = Self.total(addedBody)
    // From the back, because everything moves up.
    memcpy(
      newBody + 4 + total + addedTotal + rows * 2, addedBody + 4 + addedTotal, addedRows * 2)
    memmove(newBody + 4 + total + addedTotal, oldBody + 4 + total, rows * 2)
    memmove(newBody + 4, oldBody + 4, total)
    memcpy(newBody + 4 + total, addedBody + 4, addedTotal)
    memcpy(
      block + BlockHeader.length + references * 8, added + BlockHeader.length,
      addedReferences * 8)
    setReferenceCount(block, references + addedReferences)
    setSizes(block, newBody, rows: rows + addedRows, total: total + addedTotal)
    shiftEnds(newBody, from: rows, by: total)
    renumber(block, from: rows, by: references)
    editor.free(right)
  }

  /// The row at which a leaf of at least two is best split: near the middle by bytes.
  static func middle(_ block: UnsafeRawPointer) -> Int {
    let body = body(block)
    let rows = rows(body)
    let half = (usedBytes(block) - 4) / 2
    var row = 1
    var references = 0
    while row < rows - 1 {
      if end(body, row - 1) & longFlag != 0 { references += 1 }
      // Nearer to the middle without the next row than with it: stop.
      let before = start(body, row) + row * 2 + references * 8
      let after = start(body, row + 1) + row * 2 + 2 + references * 8
      if after > half, after - half >= half - before { break }
      row += 1
    }
    return row
  }

  // MARK: - Parts

  /// Gives a row other bytes and flags; long values are the caller's business.
  private static func replace(
    _ editor: BlockEditor, _ leaf: BlockReference, _ row: Int, _ bytes: UnsafeRawBufferPointer,
    _ flags: UInt16
  ) {
    var block = editor.pointer(leaf)
    let bodyOffset = BlockHeader.length + referenceCount(block) * 8
    let total = total(block + bodyOffset)
    let rows = rows(block + bodyOffset)
    let start = start(block + bodyOffset, row)
    let end = Int(end(block + bodyOffset, row) & endMask)
    let change = bytes.count - (end - start)
    let used = bodyOffset - BlockHeader.length + 4 + total + change + rows * 2
    if change > 0 {
      editor.resize(leaf, payloadBytes: used)
      block = editor.pointer(leaf)
    }
    let body = block + bodyOffset
    if change != 0 {
      memmove(body + 4 + start + bytes.count, body + 4 + end, total - end + rows * 2)
      setSizes(block, body, rows: rows, total: total + change)
      shiftEnds(body, from: row, by: change)
    }
    if let source = bytes.baseAddress { memcpy(body + 4 + start, source, bytes.count) }
    body.storeBytes(
      of: UInt16(start + bytes.count) | flags, toByteOffset: 4 + total + change + row * 2,
      as: UInt16.self)
    if change < 0 { editor.resize(leaf, payloadBytes: used) }
  }

  /// Frees the long value of a row, if it has one.
  ///
  /// The row's inline bytes stay.
  private static func freeLong(_ editor: BlockEditor, _ leaf: BlockReference, _ row: Int) {
    let block = editor.pointer(leaf)
    let body = body(block)
    if end(body, row) & longFlag == 0 { return }
    let index = longValue(body, row).reference
    editor.freeTree(BlockHeader.reference(block, index))
    renumber(block, from: row + 1, by: -1)
    removeReference(editor, leaf, index)
  }

  private static func insertReference(
    _ editor: BlockEditor, _ leaf: BlockReference, _ index: Int, _ reference: BlockReference
  ) {
    let used = usedBytes(editor.pointer(leaf))
    editor.resize(leaf, payloadBytes: used + 8)
    let block = editor.pointer(leaf)
    let position = block + BlockHeader.length + index * 8
    memmove(position + 8, position, used - index * 8)
    let count = referenceCount(block) + 1
    BlockHeader.setKind(block, longKind)
    BlockHeader.setCount(block, count)
    BlockHeader.setReference(block, index, reference)
  }

  private static func removeReference(
    _ editor: BlockEditor, _ leaf: BlockReference, _ index: Int
  ) {
    let block = editor.pointer(leaf)
    let used = usedBytes(block)
    let position = block + BlockHeader.length + index * 8
    memmove(position, position + 8, used - index * 8 - 8)
    setReferenceCount(block, referenceCount(block) - 1)
    if !BlockHeader.kind(block).isNode { BlockHeader.setCount(block, rows(body(block))) }
    editor.resize(leaf, payloadBytes: used - 8)
  }

  /// Sets kind and count for so many references; a plain leaf's count is set with its sizes.
  private static func setReferenceCount(_ block: UnsafeMutableRawPointer, _ count: Int) {
    BlockHeader.setKind(block, count > 0 ? longKind : plainKind)
    BlockHeader.setCount(block, count)
  }

  @inline(__always)
  private static func setSizes(
    _ block: UnsafeMutableRawPointer, _ body: UnsafeMutableRawPointer, rows: Int, total: Int
  ) {
    body.storeBytes(of: UInt16(truncatingIfNeeded: rows), as: UInt16.self)
    body.storeBytes(of: UInt16(truncatingIfNeeded: total), toByteOffset: 2, as: UInt16.self)
    if !BlockHeader.kind(block).isNode { BlockHeader.setCount(block, rows) }
  }

  /// Adds to the ends of rows `row...`; the flags stay, because the low bits never overflow.
  private static func shiftEnds(_ body: UnsafeMutableRawPointer, from row: Int, by change: Int) {
    let ends = body + 4 + total(body)
    let amount = UInt16(truncatingIfNeeded: change)
    for other in row..<rows(body) {
      let end = ends.loadUnaligned(fromByteOffset: other * 2, as: UInt16.self)
      ends.storeBytes(of: end &+ amount, toByteOffset: other * 2, as: UInt16.self)
    }
  }

  /// Adds to the reference numbers of long rows `row...`.
  private static func renumber(_ block: UnsafeMutableRawPointer, from row: Int, by change: Int) {
    if change == 0 || !BlockHeader.kind(block).isNode { return }
    let body = UnsafeMutableRawPointer(mutating: body(block))
    for other in row..<rows(body) where end(body, other) & longFlag != 0 {
      let number = longValue(body, other).reference + change
      body.storeBytes(
        of: UInt16(number), toByteOffset: 4 + start(body, other), as: UInt16.self)
    }
  }

  private static func withInlineBytes(
    _ reference: Int, _ length: Int, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    withUnsafeTemporaryAllocation(byteCount: longRowBytes, alignment: 8) { bytes in
      bytes.storeBytes(of: UInt16(reference), as: UInt16.self)
      bytes.storeBytes(of: UInt64(length), toByteOffset: 2, as: UInt64.self)
      body(UnsafeRawBufferPointer(bytes))
    }
  }
}
