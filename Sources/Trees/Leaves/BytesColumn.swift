// A column of byte strings (String, Data) of one cluster: one leaf, or a node of several leaves when
// one would outgrow its block. Which values are out of line is BytesLeaf's and LongValue's business.
//
//   split column (0x92)   references of leaves, u16 first row of each
public import Storage

/// Byte strings of up to 256 rows under one reference that the caller keeps.
@frozen @usableFromInline
package enum BytesColumn {
  @inlinable package static var splitKind: BlockKind { BlockKind(rawValue: 0x92) }

  // MARK: - Reading

  /// Number of rows.
  @inlinable
  package static func rowCount(_ reader: BlockReader, _ column: BlockReference) -> Int {
    let block = reader.pointer(column)
    if BlockHeader.kind(block) != splitKind { return BytesLeaf.rows(BytesLeaf.body(block)) }
    let last = BlockHeader.count(block) &- 1
    let leaf = reader.pointer(BlockHeader.reference(block, last))
    return firstRow(block, last) &+ BytesLeaf.rows(BytesLeaf.body(leaf))
  }

  /// Whether a row is null.
  @inlinable
  package static func isNull(
    _ reader: BlockReader, _ column: BlockReference, _ row: Int
  ) -> Bool {
    var row = row
    let body = BytesLeaf.body(leaf(reader, column, &row))
    return BytesLeaf.end(body, row) & BytesLeaf.nullFlag != 0
  }

  /// Calls `body` with a row's bytes, nil for null.
  ///
  /// The bytes are valid during the call only. Values of up to 32 KB are passed where they are; longer ones are copied to a buffer.
  @inlinable @inline(__always)
  package static func withBytes<R>(
    _ reader: BlockReader, _ column: BlockReference, _ row: Int,
    _ body: (UnsafeRawBufferPointer?) throws -> R
  ) rethrows -> R {
    var row = row
    let leaf = leaf(reader, column, &row)
    let leafBody = BytesLeaf.body(leaf)
    let end = BytesLeaf.end(leafBody, row)
    if _fastPath(end & ~BytesLeaf.endMask == 0) {
      let start = BytesLeaf.start(leafBody, row)
      return try body(
        UnsafeRawBufferPointer(start: leafBody + (4 &+ start), count: Int(end) &- start))
    }
    if end & BytesLeaf.nullFlag != 0 { return try body(nil) }
    return try withLongBytes(reader, leaf, row, body)
  }

  @usableFromInline
  static func withLongBytes<R>(
    _ reader: BlockReader, _ leaf: UnsafeRawPointer, _ row: Int,
    _ body: (UnsafeRawBufferPointer?) throws -> R
  ) rethrows -> R {
    let value = BytesLeaf.longValue(BytesLeaf.body(leaf), row)
    let reference = BlockHeader.reference(leaf, value.reference)
    if let bytes = LongValue.contiguousBytes(reader, reference) { return try body(bytes) }
    return try withUnsafeTemporaryAllocation(byteCount: value.length, alignment: 16) { buffer in
      LongValue.copy(reader, reference, to: buffer)
      return try body(UnsafeRawBufferPointer(buffer))
    }
  }

  /// Number of bytes of a row; 0 for null.
  package static func length(_ reader: BlockReader, _ column: BlockReference, _ row: Int) -> Int {
    var row = row
    let body = BytesLeaf.body(leaf(reader, column, &row))
    let end = BytesLeaf.end(body, row)
    if end & BytesLeaf.longFlag != 0 { return BytesLeaf.longValue(body, row).length }
    return Int(end & BytesLeaf.endMask) - BytesLeaf.start(body, row)
  }

  @inlinable @inline(__always)
  static func firstRow(_ node: UnsafeRawPointer, _ index: Int) -> Int {
    let offset = BlockHeader.length &+ BlockHeader.count(node) &* 8 &+ index &* 2
    return Int(node.load(fromByteOffset: offset, as: UInt16.self))
  }

  /// Number of the leaf with a row: the last one that starts at or before it.
  @inlinable @inline(__always)
  static func leafIndex(_ node: UnsafeRawPointer, _ row: Int) -> Int {
    var low = 0
    var count = BlockHeader.count(node)
    while count > 1 {
      let half = count &>> 1
      low = firstRow(node, low &+ half) <= row ? low &+ half : low
      count &-= half
    }
    return low
  }

  /// The block of the leaf with a row; `row` becomes the row in that leaf.
  @inlinable @inline(__always)
  static func leaf(
    _ reader: BlockReader, _ column: BlockReference, _ row: inout Int
  ) -> UnsafeRawPointer {
    let block = reader.pointer(column)
    if BlockHeader.kind(block) != splitKind { return block }
    let index = leafIndex(block, row)
    row &-= firstRow(block, index)
    return reader.pointer(BlockHeader.reference(block, index))
  }

  // MARK: - Check

  /// What is wrong with a column; empty when it is sound.
  package static func checkInvariants(
    _ reader: BlockReader, _ column: BlockReference
  ) -> [String] {
    let block = reader.pointer(column)
    if BlockHeader.kind(block) != splitKind {
      return BytesLeaf.checkInvariants(reader, column) + checkSize(block)
    }
    var findings: [String] = []
    let count = BlockHeader.count(block)
    if count < 2 { findings.append("bytes column: node of \(count) leaves") }
    if BlockHeader.blockLength(block) != BlockHeader.blockLength(forPayload: count * 10) {
      findings.append("bytes column: node of \(count) leaves of another block length")
    }
    var rows = 0
    for index in 0..<count {
      let reference = BlockHeader.reference(block, index)
      findings += BytesLeaf.checkInvariants(reader, reference)
      let leaf = reader.pointer(reference)
      findings += checkSize(leaf)
      if firstRow(block, index) != rows {
        findings.append("bytes column: leaf \(index) starts at row \(rows), node says otherwise")
      }
      let leafRows = BytesLeaf.rows(BytesLeaf.body(leaf))
      if leafRows == 0 { findings.append("bytes column: leaf \(index) is empty") }
      rows += leafRows
    }
    return findings
  }

  private static func checkSize(_ leaf: UnsafeRawPointer) -> [String] {
    let isTooLong =
      BytesLeaf.usedBytes(leaf) > BytesLeaf.payloadMax && BytesLeaf.rows(BytesLeaf.body(leaf)) > 1
    return isTooLong ? ["bytes column: leaf of \(BytesLeaf.usedBytes(leaf)) bytes"] : []
  }
}
