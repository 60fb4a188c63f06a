// The strings or data of one column of one cluster: none, one BytesLeaf, or a split node.
//
//   bytesSplit  header count n = parts; n references; u16 start row of each part, then u16 rows;
//               width byte 1: behind that 32 bytes of removed rows, one bit a row
//
// Removed rows are rows of the parts that the column does not have any more: its row r is the one
// with r rows before it that were not removed. So a deletion leaves the leaves, which are much
// longer than all else of an object, where they are; when more than an eighth of the rows was
// removed, the leaves are written anew.
//
// A part is a BytesLeaf of some rows or a LongValue of exactly one row. Leaves stay at or below
// `leafBytesMax`, those of primary keys below `keyLeafBytesMax`. A column may have fewer rows than
// its cluster: the rest have the default.
public import Storage

/// Reading of bytes columns.
@frozen @usableFromInline
package enum BytesColumn {
  /// Payload of the longest leaf.
  @inlinable package static var leafBytesMax: Int { 6_144 - 16 }
  /// Payload of the longest leaf of a primary key: a look-up should not have to go by a split node.
  @inlinable package static var keyLeafBytesMax: Int { 16_384 - 16 }
  /// When more than one of so many rows is removed, leaves are written anew.
  static let removedShare = 8

  @inlinable static func startsOffset(_ split: UnsafeRawPointer) -> Int {
    BlockHeader.length &+ BlockHeader.count(split) &* 8
  }

  /// First row of a part of a split node; the node's rows for the part behind the last.
  @inlinable static func start(_ split: UnsafeRawPointer, _ part: Int) -> Int {
    Int(split.integer(at: startsOffset(split) &+ part &* 2, as: UInt16.self))
  }

  /// Rows that the column's block holds.
  @inlinable
  package static func rows(_ block: UnsafeRawPointer) -> Int {
    if BlockHeader.kind(block) == .bytesLeaf { return BlockHeader.count(block) }
    let stored = storedRows(block)
    return _fastPath(!hasRemoved(block)) ? stored : stored &- removedCount(block)
  }

  /// The same of a block that was not looked at yet.
  @inlinable
  package static func rows(_ reader: BlockReader, _ block: UnsafeRawPointer) -> Int {
    BlockHeader.kind(block) == .bytesLeaf ? BlockHeader.count(block) : splitRows(reader, block)
  }

  /// The same of a block that has to be a split node.
  @inlinable
  static func splitRows(_ reader: BlockReader, _ block: UnsafeRawPointer) -> Int {
    if _slowPath(BlockHeader.kind(block) != .bytesSplit) { reader.stop(at: block) }
    return rows(block)
  }

  /// A part of a split node; a leaf has the rows that its place says.
  @inlinable
  static func part(
    _ reader: BlockReader, _ split: UnsafeRawPointer, _ part: Int
  ) -> UnsafeRawPointer {
    let block = reader.pointer(BlockHeader.reference(split, part))
    let rows = BlockHeader.kind(block) == .bytesLeaf ? BlockHeader.count(block) : 1
    if _slowPath(rows != start(split, part &+ 1) &- start(split, part)) {
      reader.stop(at: block, "it has other rows than its place says")
    }
    return block
  }

  /// Rows of a split node's parts.
  @inlinable static func storedRows(_ split: UnsafeRawPointer) -> Int {
    start(split, BlockHeader.count(split))
  }

  // MARK: - Removed rows

  @inlinable static var removedFlag: UInt8 { 1 }
  @inlinable static var removedLength: Int { 32 }

  /// Whether rows of a split node's parts were removed from the column.
  @inlinable static func hasRemoved(_ split: UnsafeRawPointer) -> Bool {
    BlockHeader.width(split) & removedFlag != 0
  }

  @inlinable static func removedOffset(_ split: UnsafeRawPointer) -> Int {
    startsOffset(split) &+ (BlockHeader.count(split) &+ 1) &* 2
  }

  @inlinable static func removedWord(_ split: UnsafeRawPointer, _ word: Int) -> UInt64 {
    split.integer(at: removedOffset(split) &+ word &* 8, as: UInt64.self)
  }

  @usableFromInline static func removedCount(_ split: UnsafeRawPointer) -> Int {
    (0..<4).reduce(0) { $0 + removedWord(split, $1).nonzeroBitCount }
  }

  /// The row of the parts that a row of the column is.
  @inlinable static func storedRow(_ split: UnsafeRawPointer, _ row: Int) -> Int {
    hasRemoved(split) ? storedRowBehindRemoved(split, row) : row
  }

  /// Passes over the removed rows one by one: they are few, and mostly none or some lie before a
  /// row.
  @usableFromInline
  static func storedRowBehindRemoved(_ split: UnsafeRawPointer, _ row: Int) -> Int {
    var stored = row
    for word in 0..<4 {
      var removed = removedWord(split, word)
      while removed != 0 {
        if word &* 64 &+ removed.trailingZeroBitCount > stored { return stored }
        stored &+= 1
        removed &= removed &- 1
      }
    }
    return stored
  }

  /// The part of a split node that has a row.
  @inlinable static func part(_ split: UnsafeRawPointer, row: Int) -> Int {
    var low = 0
    var high = BlockHeader.count(split)
    while high &- low > 1 {
      let middle = (low &+ high) &>> 1
      if start(split, middle) <= row { low = middle } else { high = middle }
    }
    return low
  }

  /// Runs `body` on a row's bytes; nil for a null row and for one that the column does not have.
  ///
  /// The bytes are in the block unless the value is longer than a chunk. Valid inside `body` only.
  @inlinable @inline(__always)
  package static func withBytes<Result>(
    _ reader: BlockReader, _ reference: BlockReference, _ row: Int,
    _ body: (UnsafeRawBufferPointer?) throws -> Result
  ) rethrows -> Result {
    if reference.isNone { return try body(nil) }
    var block = reader.pointer(reference)
    var row = row
    if BlockHeader.kind(block) == .bytesLeaf {
      if row >= BlockHeader.count(block) { return try body(nil) }
    } else {
      if row >= splitRows(reader, block) { return try body(nil) }
      row = storedRow(block, row)
      let part = part(block, row: row)
      row = row &- start(block, part)
      block = self.part(reader, block, part)
      if BlockHeader.kind(block) != .bytesLeaf {
        return try LongValue.withBytes(reader, block) { try body($0) }
      }
    }
    return try body(BytesLeaf.isNull(block, row) ? nil : BytesLeaf.bytes(block, row))
  }

  /// Whether a row has these bytes.
  @inlinable @inline(__always)
  package static func isEqual(
    _ reader: BlockReader, _ reference: BlockReference, _ row: Int, _ bytes: UnsafeRawBufferPointer
  ) -> Bool {
    if _fastPath(!reference.isNone && !bytes.isEmpty) {
      let block = reader.pointer(reference)
      if _fastPath(BlockHeader.kind(block) == .bytesLeaf) {
        // A null row has no bytes.
        return row < BytesLeaf.rows(block) && BytesLeaf.bytes(block, row).hasSameBytes(as: bytes)
      }
    }
    return isEqualSlowly(reader, reference, row, bytes)
  }

  /// The same for split columns, long values and no bytes; a row that the column does not have is
  /// null.
  @usableFromInline
  static func isEqualSlowly(
    _ reader: BlockReader, _ reference: BlockReference, _ row: Int, _ bytes: UnsafeRawBufferPointer
  ) -> Bool {
    withBytes(reader, reference, row) { $0.map { $0.hasSameBytes(as: bytes) } ?? false }
  }

  /// Starts to load the primary key of a row, and what says where in the leaf it is, all at once.
  ///
  /// Worth it for a row that was not looked at lately.
  ///
  /// - Parameters:
  ///   - length: of the keys, as it is thought.
  ///   - rows: of the cluster.
  @inlinable @inline(__always)
  package static func prefetchKey(
    _ reader: BlockReader, _ reference: BlockReference, _ row: Int, length: Int, rows: Int
  ) {
    reader.prefetch(reference)
    let values = rows &* length
    // Else there is a split node most often, which only tells the way.
    if values &+ 2 &* rows > keyLeafBytesMax { return }
    let leafLength = BlockHeader.blockLength(forPayload: values &+ 2 &* rows)
    reader.prefetch(reference, offset: leafLength &- 2 &* (row &+ 1))
    // Texts may be a little shorter or longer than the one that is looked for.
    let spread = length <= 16 ? 0 : row &>> 1
    let place = BlockHeader.length &+ row &* length
    var line = (place &- spread) & ~63
    while line < place &+ length &+ spread {
      reader.prefetch(reference, offset: line)
      line &+= 64
    }
  }

  /// Whether a row is null or not there.
  @inlinable
  package static func isNull(
    _ reader: BlockReader, _ reference: BlockReference, _ row: Int
  ) -> Bool {
    if reference.isNone { return true }
    var block = reader.pointer(reference)
    if BlockHeader.kind(block) == .bytesLeaf {
      return row >= BlockHeader.count(block) || BytesLeaf.isNull(block, row)
    }
    if row >= splitRows(reader, block) { return true }
    let row = storedRow(block, row)
    let part = part(block, row: row)
    let start = start(block, part)
    block = self.part(reader, block, part)
    return BlockHeader.kind(block) == .bytesLeaf && BytesLeaf.isNull(block, row &- start)
  }
}

extension BytesColumn {
  /// Adds what is wrong with the column's blocks to `findings`.
  package static func check(
    _ reader: BlockReader, _ block: UnsafeRawPointer, name: String, _ findings: inout [String]
  ) {
    if BlockHeader.kind(block) == .bytesLeaf {
      BytesLeaf.check(block, name: name, &findings)
      if BlockHeader.blockLength(block) - BlockHeader.length > keyLeafBytesMax {
        findings.append("\(name): leaf of \(BlockHeader.blockLength(block)) bytes")
      }
      return
    }
    guard BlockHeader.kind(block) == .bytesSplit else {
      findings.append(
        "\(name): block of kind \(BlockHeader.kind(block).rawValue) in a bytes column")
      return
    }
    let parts = BlockHeader.count(block)
    let hasRemoved = hasRemoved(block)
    let expected = BlockHeader.blockLength(
      forPayload: parts * 10 + 2 + (hasRemoved ? removedLength : 0))
    if BlockHeader.width(block) & ~removedFlag != 0 {
      findings.append("\(name): unknown flags of a split node")
    }
    guard parts > 0, BlockHeader.blockLength(block) == expected else {
      findings.append("\(name): split node of \(parts) parts has a wrong length")
      return
    }
    if start(block, 0) != 0 { findings.append("\(name): first part starts at \(start(block, 0))") }
    for part in 0..<parts {
      let child = reader.pointer(BlockHeader.reference(block, part))
      let rows: Int
      switch BlockHeader.kind(child) {
      case .bytesLeaf:
        check(reader, child, name: name, &findings)
        rows = BytesLeaf.rows(child)
        if parts == 1, !hasRemoved { findings.append("\(name): split node with one leaf") }
      case .chunk, .chunkNode:
        LongValue.check(reader, child, name: name, &findings)
        if LongValue.length(child) <= LongValue.inlineMax {
          findings.append("\(name): short value out of line")
        }
        rows = 1
      case let kind:
        findings.append("\(name): block of kind \(kind.rawValue) as a part of a column")
        return
      }
      if start(block, part) + rows != start(block, part + 1) {
        findings.append("\(name): part \(part) has \(rows) rows, not what its place says")
      }
    }
    if hasRemoved { checkRemoved(reader, block, name: name, &findings) }
  }

  private static func checkRemoved(
    _ reader: BlockReader, _ block: UnsafeRawPointer, name: String, _ findings: inout [String]
  ) {
    let stored = storedRows(block)
    let removed = removedCount(block)
    if stored > BytesLeaf.rowsMax || removed == 0 || removed > stored / removedShare {
      findings.append("\(name): \(removed) of \(stored) rows are removed")
      return
    }
    for row in 0..<BytesLeaf.rowsMax where bit(block + removedOffset(block), row) {
      if row >= stored {
        findings.append("\(name): removed row \(row) of \(stored)")
      } else if BlockHeader.kind(
        reader.pointer(BlockHeader.reference(block, part(block, row: row)))) != .bytesLeaf
      {
        findings.append("\(name): removed row \(row) is a long value")
      }
    }
  }
}
