internal import Glibc
// A packed leaf of byte strings (String, Data), part of a column. Payload:
//
//   [references of long values, 8 bytes each, header's count] [u16 rows] [u16 bytes used]
//   [bytes of all rows] [u16 end of each row; top bit: null when empty, else a long value]
//
// Ends follow the bytes, so that appending moves only them. A value longer than 1,024 bytes lives in a
// tree of chunks; its row then holds the number of its reference and its length.
public import Storage

/// Reading and changing one leaf of byte strings.
@frozen @usableFromInline
package enum BytesLeaf {
  /// Always a node kind: its references are those of long values, mostly none.
  package static let kind = BlockKind(rawValue: 0x91)
  /// Longer values go out of line.
  package static let inlineLengthMax = 1024
  /// Leaves are split when their bytes pass this.
  package static let bytesMax = 4096
  @usableFromInline static let special: UInt16 = 0x8000
  /// Row content of a long value: u16 reference index, u64 length.
  static let longRowLength = 10

  /// One row, taken apart.
  enum Row {
    case null
    case bytes(UnsafeRawBufferPointer)
    case long(BlockReference, length: UInt64)

    var inlineLength: Int {
      switch self {
      case .null: return 0
      case .bytes(let bytes): return bytes.count
      case .long: return longRowLength
      }
    }
  }

  // MARK: - Reading

  @inlinable @inline(__always)
  static func body(_ leaf: UnsafeRawPointer) -> UnsafeRawPointer {
    BlockHeader.payload(leaf) + BlockHeader.count(leaf) &* 8
  }

  @inlinable package static func rows(_ leaf: UnsafeRawPointer) -> Int {
    Int(body(leaf).loadUnaligned(as: UInt16.self))
  }

  @inlinable static func bytesUsed(_ leaf: UnsafeRawPointer) -> Int {
    Int(body(leaf).loadUnaligned(fromByteOffset: 2, as: UInt16.self))
  }

  /// Place of a row: its bytes, and whether it is null or long.
  @inlinable @inline(__always)
  static func place(_ leaf: UnsafeRawPointer, _ row: Int)
    -> (bytes: UnsafeRawBufferPointer, isSpecial: Bool)
  {
    let body = body(leaf)
    let used = Int(body.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
    let ends = body + 4 + used
    let coded = ends.loadUnaligned(fromByteOffset: row &* 2, as: UInt16.self)
    let start =
      row == 0
      ? 0 : Int(ends.loadUnaligned(fromByteOffset: row &* 2 &- 2, as: UInt16.self) & 0x7fff)
    let end = Int(coded & 0x7fff)
    return (
      UnsafeRawBufferPointer(start: body + 4 + start, count: end &- start), coded & 0x8000 != 0
    )
  }

  static func row(_ leaf: UnsafeRawPointer, _ index: Int) -> Row {
    let (bytes, isSpecial) = place(leaf, index)
    if !isSpecial { return .bytes(bytes) }
    if bytes.isEmpty { return .null }
    let number = Int(bytes.loadUnaligned(as: UInt16.self))
    return .long(
      BlockHeader.reference(leaf, number),
      length: bytes.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
  }

  // MARK: - Writing

  /// A new leaf of these rows.
  ///
  /// The bytes may lie in blocks of this editor that are not resized.
  static func make(_ editor: BlockEditor, _ rows: [Row]) -> BlockReference {
    var used = 0
    var longs = 0
    for row in rows {
      used += row.inlineLength
      if case .long = row { longs += 1 }
    }
    let leaf = editor.allocate(
      kind: kind, count: longs, payloadBytes: longs * 8 + 4 + used + rows.count * 2)
    let block = editor.pointer(leaf)
    let body = block + BlockHeader.length + longs * 8
    body.storeBytes(of: UInt16(rows.count), as: UInt16.self)
    body.storeBytes(of: UInt16(used), toByteOffset: 2, as: UInt16.self)
    var position = 0
    var long = 0
    for (index, row) in rows.enumerated() {
      var mark: UInt16 = 0
      switch row {
      case .null: mark = special
      case .bytes(let bytes):
        if bytes.count > 0 { memcpy(body + 4 + position, bytes.baseAddress!, bytes.count) }
        position += bytes.count
      case .long(let reference, let length):
        mark = special
        BlockHeader.setReference(block, long, reference)
        (body + 4 + position).storeBytes(of: UInt16(long), as: UInt16.self)
        (body + 4 + position).storeBytes(of: length, toByteOffset: 2, as: UInt64.self)
        position += longRowLength
        long += 1
      }
      (body + 4 + used).storeBytes(
        of: UInt16(position) | mark, toByteOffset: index * 2, as: UInt16.self)
    }
    return leaf
  }

  /// All rows of a leaf.
  static func allRows(_ leaf: UnsafeRawPointer) -> [Row] {
    (0..<rows(leaf)).map { row(leaf, $0) }
  }

  /// Appends short bytes to a provisional leaf in place.
  static func append(
    _ editor: BlockEditor, _ leaf: BlockReference, _ bytes: UnsafeRawBufferPointer?
  ) {
    var block = editor.pointer(leaf)
    let rows = rows(block)
    let used = bytesUsed(block)
    let added = bytes?.count ?? 0
    let length = BlockHeader.count(block) * 8 + 4 + used + added + (rows + 1) * 2
    if BlockHeader.blockLength(forPayload: length) != BlockHeader.blockLength(block) {
      editor.resize(leaf, payloadBytes: length)
      block = editor.pointer(leaf)
    }
    let body = block + BlockHeader.length + BlockHeader.count(block) * 8
    if added > 0 {
      memmove(body + 4 + used + added, body + 4 + used, rows * 2)
      memcpy(body + 4 + used, bytes!.baseAddress!, added)
    }
    (body + 4 + used + added).storeBytes(
      of: UInt16(used + added) | (bytes == nil ? special : 0), toByteOffset: rows * 2,
      as: UInt16.self)
    body.storeBytes(of: UInt16(rows + 1), as: UInt16.self)
    body.storeBytes(of: UInt16(used + added), toByteOffset: 2, as: UInt16.self)
  }

  /// Replaces a short or null row of a provisional leaf by another such row, in place.
  ///
  /// - Returns: false when the old row is long or the leaf would be too long.
  static func replace(
    _ editor: BlockEditor, _ leaf: BlockReference, _ row: Int, _ bytes: UnsafeRawBufferPointer?
  ) -> Bool {
    var block = editor.pointer(leaf)
    let (old, isSpecial) = place(block, row)
    if isSpecial, !old.isEmpty { return false }
    let rows = rows(block)
    let used = bytesUsed(block)
    let start = old.baseAddress! - (UnsafeRawPointer(body(block)) + 4)
    let difference = (bytes?.count ?? 0) - old.count
    guard used + difference <= bytesMax + bytesMax / 2 else { return false }
    let oldEnd = start + old.count
    let references = BlockHeader.count(block) * 8
    // What follows the row: the later rows and all ends.
    let following = used - oldEnd + rows * 2
    if difference > 0 {
      editor.resize(leaf, payloadBytes: references + 4 + used + difference + rows * 2)
      block = editor.pointer(leaf)
    }
    let content = block + BlockHeader.length + references + 4
    if difference != 0 {
      memmove(content + oldEnd + difference, content + oldEnd, following)
      (content - 2).storeBytes(of: UInt16(used + difference), as: UInt16.self)
    }
    if let bytes, bytes.count > 0 { memcpy(content + start, bytes.baseAddress!, bytes.count) }
    let ends = content + used + difference
    for later in row..<rows {
      let end = ends.loadUnaligned(fromByteOffset: later * 2, as: UInt16.self)
      var mark = end & special
      if later == row { mark = bytes == nil ? special : 0 }
      let position = UInt16(Int(end & 0x7fff) + difference) | mark
      ends.storeBytes(of: position, toByteOffset: later * 2, as: UInt16.self)
    }
    if difference < 0 {
      editor.resize(leaf, payloadBytes: references + 4 + used + difference + rows * 2)
    }
    return true
  }
}
