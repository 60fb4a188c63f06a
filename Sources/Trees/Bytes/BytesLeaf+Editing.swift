// Changing one bytes leaf of this transaction. The callers (BytesColumn) see to it that it fits.
internal import Glibc
internal import Storage

extension BytesLeaf {
  /// A new leaf of one row; nil is null.
  ///
  /// - Parameter reserve: payload bytes that it will probably need.
  static func make(
    _ editor: BlockEditor, _ value: UnsafeRawBufferPointer?, reserve: Int = 0
  ) -> BlockReference {
    let reference = editor.allocate(
      kind: .bytesLeaf, count: 0, payloadBytes: reserve, isResident: false)
    if reserve > 0 { editor.resize(reference, payloadBytes: 0) }
    append(editor, reference, value)
    return reference
  }

  /// Payload bytes after an append.
  static func payloadBytes(
    _ block: UnsafeRawPointer, appending value: UnsafeRawBufferPointer?
  ) -> Int {
    payloadBytes(
      rows: rows(block) + 1, values: valuesLength(block) + (value?.count ?? 0),
      nulls: hasNulls(block) || value == nil)
  }

  /// Adds a row at the end.
  static func append(
    _ editor: BlockEditor, _ reference: BlockReference, _ value: UnsafeRawBufferPointer?
  ) {
    if value == nil && !hasNulls(editor.pointer(reference)) { addNulls(editor, reference) }
    var block = editor.pointer(reference)
    let rows = rows(block)
    let oldValues = valuesLength(block)
    let newEnd = oldValues + (value?.count ?? 0)
    let oldLength = BlockHeader.blockLength(block)
    let payload = payloadBytes(rows: rows + 1, values: newEnd, nulls: hasNulls(block))
    if BlockHeader.blockLength(forPayload: payload) != oldLength {
      editor.resize(reference, payloadBytes: payload)
      block = editor.pointer(reference)
      moveEnds(block, rows: rows, from: oldLength)
    }
    let length = BlockHeader.blockLength(block)
    if let value {
      if let source = value.baseAddress {
        memcpy(UnsafeMutableRawPointer(mutating: values(block)) + oldValues, source, value.count)
      }
    } else {
      setBit(block + nullsOffset, rows, true)
    }
    block.store(UInt16(newEnd), at: length - 2 * (rows + 1))
    BlockHeader.setCount(block, rows + 1)
  }

  /// Adds a row before another, or at the end.
  static func insert(
    _ editor: BlockEditor, _ reference: BlockReference, _ row: Int,
    _ value: UnsafeRawBufferPointer?
  ) {
    let rows = rows(editor.pointer(reference))
    if row == rows {
      append(editor, reference, value)
      return
    }
    if value == nil && !hasNulls(editor.pointer(reference)) { addNulls(editor, reference) }
    var block = editor.pointer(reference)
    let hasNulls = hasNulls(block)
    let added = value?.count ?? 0
    let oldValues = valuesLength(block)
    let oldLength = BlockHeader.blockLength(block)
    editor.resize(
      reference,
      payloadBytes: payloadBytes(rows: rows + 1, values: oldValues + added, nulls: hasNulls))
    block = editor.pointer(reference)
    moveEnds(block, rows: rows, from: oldLength)
    let start = start(block, row)
    let bytes = UnsafeMutableRawPointer(mutating: values(block)) + start
    memmove(bytes + added, bytes, oldValues - start)
    if let source = value?.baseAddress { memcpy(bytes, source, added) }
    // Ends lie in descending order of their rows, so that those of later rows move down by one.
    let later = rows - row
    let ends = (block + BlockHeader.blockLength(block) - 2 * (rows + 1))
      .assumingMemoryBound(to: UInt16.self)
    for index in 0..<later {
      ends[index] = (UInt16(littleEndian: ends[index + 1]) &+ UInt16(added)).littleEndian
    }
    ends[later] = UInt16(start + added).littleEndian
    if hasNulls { insertBit(block + nullsOffset, at: row, value == nil) }
    BlockHeader.setCount(block, rows + 1)
  }

  /// Changes the bytes of a row; nil is null.
  static func replace(
    _ editor: BlockEditor, _ reference: BlockReference, _ row: Int,
    _ value: UnsafeRawBufferPointer?
  ) {
    if value == nil && !hasNulls(editor.pointer(reference)) { addNulls(editor, reference) }
    var block = editor.pointer(reference)
    let rows = rows(block)
    let start = start(block, row)
    let end = end(block, row)
    let difference = (value?.count ?? 0) - (end - start)
    let oldValues = valuesLength(block)
    let oldLength = BlockHeader.blockLength(block)
    let hasNulls = hasNulls(block)
    if difference != 0 {
      let payload = payloadBytes(rows: rows, values: oldValues + difference, nulls: hasNulls)
      if difference > 0 {
        editor.resize(reference, payloadBytes: payload)
        block = editor.pointer(reference)
        moveEnds(block, rows: rows, from: oldLength)
      }
      let bytes = UnsafeMutableRawPointer(mutating: values(block))
      memmove(bytes + end + difference, bytes + end, oldValues - end)
      let length = BlockHeader.blockLength(block)
      for later in row..<rows {
        let offset = length - 2 * (later + 1)
        block.store(
          UInt16(truncatingIfNeeded: Int(block.integer(at: offset, as: UInt16.self)) + difference),
          at: offset)
      }
      if difference < 0 { shrink(editor, reference, payload) }
      block = editor.pointer(reference)
    }
    if let value, let source = value.baseAddress {
      memcpy(UnsafeMutableRawPointer(mutating: values(block)) + start, source, value.count)
    }
    if hasNulls { setBit(block + nullsOffset, row, value == nil) }
  }

  /// Removes a row of a leaf that has more than one.
  static func remove(_ editor: BlockEditor, _ reference: BlockReference, _ row: Int) {
    let block = editor.pointer(reference)
    let rows = rows(block)
    let start = start(block, row)
    let removed = end(block, row) - start
    let oldValues = valuesLength(block)
    let length = BlockHeader.blockLength(block)
    let bytes = UnsafeMutableRawPointer(mutating: values(block))
    memmove(bytes + start, bytes + start + removed, oldValues - start - removed)
    for later in row + 1..<max(rows, row + 1) {
      let end = block.integer(at: length - 2 * (later + 1), as: UInt16.self)
      block.store(end - UInt16(removed), at: length - 2 * later)
    }
    let hasNulls = hasNulls(block)
    if hasNulls { removeBits(block + nullsOffset, at: row, count: 1, of: rowsMax) }
    BlockHeader.setCount(block, rows - 1)
    shrink(
      editor, reference,
      payloadBytes(rows: rows - 1, values: oldValues - removed, nulls: hasNulls))
  }

  /// Moves the rows from `row` on into a new leaf.
  ///
  /// Neither part may be empty.
  static func split(
    _ editor: BlockEditor, _ reference: BlockReference, at row: Int
  ) -> BlockReference {
    let block = editor.pointer(reference)
    let right = copy(editor, block, row..<rows(block))
    truncate(editor, reference, rows: row)
    return right
  }

  /// Keeps the first rows only; at least one.
  static func truncate(_ editor: BlockEditor, _ reference: BlockReference, rows count: Int) {
    let block = editor.pointer(reference)
    let hasNulls = hasNulls(block)
    let values = start(block, count)
    if hasNulls {
      for row in count..<rowsMax { setBit(block + nullsOffset, row, false) }
    }
    BlockHeader.setCount(block, count)
    shrink(editor, reference, payloadBytes(rows: count, values: values, nulls: hasNulls))
  }

  /// A new leaf with some rows of a block.
  static func copy(
    _ editor: BlockEditor, _ source: UnsafeRawPointer, _ range: Range<Int>
  ) -> BlockReference {
    let hasNulls = hasNulls(source)
    let first = start(source, range.lowerBound)
    let count = start(source, range.upperBound) - first
    let reference = editor.allocate(
      kind: .bytesLeaf, width: hasNulls ? nullsFlag : 0, count: range.count,
      payloadBytes: payloadBytes(rows: range.count, values: count, nulls: hasNulls))
    let block = editor.pointer(reference)
    memcpy(UnsafeMutableRawPointer(mutating: values(block)), values(source) + first, count)
    let length = BlockHeader.blockLength(block)
    for row in range {
      block.store(
        UInt16(end(source, row) - first), at: length - 2 * (row - range.lowerBound + 1))
      if hasNulls && isNull(source, row) {
        setBit(block + nullsOffset, row - range.lowerBound, true)
      }
    }
    return reference
  }

  /// The row that divides a leaf's bytes best; never the first.
  static func middleRow(_ leaf: UnsafeRawPointer) -> Int {
    let rows = rows(leaf)
    let half = valuesLength(leaf) / 2
    var row = 1
    while row < rows - 1 && end(leaf, row - 1) < half { row += 1 }
    return row
  }

  /// Adds all rows of another leaf.
  static func append(
    _ editor: BlockEditor, _ reference: BlockReference, leaf source: BlockReference
  ) {
    for row in 0..<rows(editor.reader.pointer(source)) {
      let block = editor.reader.pointer(source)
      append(editor, reference, isNull(block, row) ? nil : bytes(block, row))
    }
  }

  // MARK: - Layout

  private static func addNulls(_ editor: BlockEditor, _ reference: BlockReference) {
    var block = editor.pointer(reference)
    let rows = rows(block)
    let count = valuesLength(block)
    let oldLength = BlockHeader.blockLength(block)
    editor.resize(
      reference, payloadBytes: payloadBytes(rows: rows, values: count, nulls: true))
    block = editor.pointer(reference)
    moveEnds(block, rows: rows, from: oldLength)
    memmove(block + nullsOffset + nullsLength, block + nullsOffset, count)
    memset(block + nullsOffset, 0, nullsLength)
    BlockHeader.setWidth(block, nullsFlag)
  }

  /// After the block became longer: the ends go to its new end.
  private static func moveEnds(
    _ block: UnsafeMutableRawPointer, rows: Int, from oldLength: Int
  ) {
    let length = BlockHeader.blockLength(block)
    if length != oldLength {
      memmove(block + length - 2 * rows, block + oldLength - 2 * rows, 2 * rows)
    }
  }

  /// Moves the ends down to where they belong in a shorter block, zeroes the gap before them, and
  /// resizes the block.
  private static func shrink(_ editor: BlockEditor, _ reference: BlockReference, _ payload: Int) {
    let block = editor.pointer(reference)
    let rows = rows(block)
    let oldLength = BlockHeader.blockLength(block)
    let length = BlockHeader.blockLength(forPayload: payload)
    let valuesEnd = values(block) + valuesLength(block)
    if length != oldLength {
      memmove(block + length - 2 * rows, block + oldLength - 2 * rows, 2 * rows)
    }
    let gap = UnsafeMutableRawPointer(mutating: valuesEnd)
    memset(gap, 0, block + length - 2 * rows - gap)
    editor.resize(reference, payloadBytes: payload)
  }
}
