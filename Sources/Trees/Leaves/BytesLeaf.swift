// One leaf of byte strings: layout and reading. Changing one row is in BytesLeaf+Editing.swift; a
// column of several leaves is BytesColumn's.
//
// Layout: references of long values (kind 0x91 only, in row order), then the body:
//   u16  rows
//   u16  total        bytes of all rows together
//   bytes of all rows, one after the other
//   u16  ends[rows]   low 14 bits: end of the row's bytes; 0x8000 long, 0x4000 null
// The ends stand behind the bytes, so that appending moves only them. A long row's bytes are
// u16 reference number, u64 length. Fields are unaligned and little-endian.
public import Storage

/// A leaf of byte strings.
@frozen @usableFromInline
package enum BytesLeaf {
  @inlinable package static var plainKind: BlockKind { BlockKind(rawValue: 0x11) }
  @inlinable package static var longKind: BlockKind { BlockKind(rawValue: 0x91) }

  /// Values of more bytes are stored out of line.
  @inlinable package static var inlineMax: Int { 1024 }
  /// A leaf with a larger payload is split; one block of 4 KB.
  @inlinable static var payloadMax: Int { 4096 - BlockHeader.length }
  /// A leaf with a smaller payload is merged into a neighbour when both fit `mergedMax`.
  @inlinable static var payloadMin: Int { 1024 }
  @inlinable static var mergedMax: Int { 3072 }
  /// Bytes that a long value takes in the leaf.
  @inlinable static var longRowBytes: Int { 10 }

  @inlinable static var longFlag: UInt16 { 0x8000 }
  @inlinable static var nullFlag: UInt16 { 0x4000 }
  @inlinable static var endMask: UInt16 { 0x3fff }

  /// Number of long values.
  @inlinable @inline(__always)
  static func referenceCount(_ block: UnsafeRawPointer) -> Int {
    BlockHeader.kind(block).isNode ? BlockHeader.count(block) : 0
  }

  @inlinable @inline(__always)
  static func body(_ block: UnsafeRawPointer) -> UnsafeRawPointer {
    block + (BlockHeader.length &+ referenceCount(block) &* 8)
  }

  @inlinable @inline(__always)
  static func rows(_ body: UnsafeRawPointer) -> Int {
    Int(body.loadUnaligned(as: UInt16.self))
  }

  @inlinable @inline(__always)
  static func total(_ body: UnsafeRawPointer) -> Int {
    Int(body.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
  }

  /// End and flags of a row.
  @inlinable @inline(__always)
  static func end(_ body: UnsafeRawPointer, _ row: Int) -> UInt16 {
    body.loadUnaligned(fromByteOffset: 4 &+ total(body) &+ row &* 2, as: UInt16.self)
  }

  /// Offset of a row's bytes behind the body's first four.
  @inlinable @inline(__always)
  static func start(_ body: UnsafeRawPointer, _ row: Int) -> Int {
    row == 0 ? 0 : Int(end(body, row &- 1) & endMask)
  }

  /// Bytes of the payload in use.
  @inlinable @inline(__always)
  static func usedBytes(_ block: UnsafeRawPointer) -> Int {
    let body = body(block)
    return referenceCount(block) &* 8 &+ 4 &+ total(body) &+ rows(body) &* 2
  }

  /// Number and length of the long value whose inline bytes start at `start`.
  @inlinable
  static func longValue(_ body: UnsafeRawPointer, _ row: Int) -> (reference: Int, length: Int) {
    let bytes = body + 4 + start(body, row)
    return (
      Int(bytes.loadUnaligned(as: UInt16.self)),
      Int(truncatingIfNeeded: bytes.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
    )
  }

  /// What is wrong with a leaf; empty when it is sound.
  static func checkInvariants(_ reader: BlockReader, _ leaf: BlockReference) -> [String] {
    let block = reader.pointer(leaf)
    let kind = BlockHeader.kind(block)
    guard kind == plainKind || kind == longKind else { return ["bytes leaf: \(kind)"] }
    let body = body(block)
    let rows = rows(body)
    if BlockHeader.blockLength(block) != BlockHeader.blockLength(forPayload: usedBytes(block)) {
      return ["bytes leaf: \(usedBytes(block)) bytes used of another block length"]
    }
    var findings: [String] = []
    if kind == plainKind, BlockHeader.count(block) != rows {
      findings.append("bytes leaf: \(rows) rows, header says \(BlockHeader.count(block))")
    }
    if kind == longKind, BlockHeader.count(block) == 0 {
      findings.append("bytes leaf: no reference in a leaf with long values")
    }
    var position = 0
    var references = 0
    for row in 0..<rows {
      let end = end(body, row)
      let next = Int(end & endMask)
      let isLong = end & longFlag != 0
      let isNull = end & nullFlag != 0
      let length = next - position
      if length < 0 || next > total(body) || length > inlineMax || (isNull && length != 0)
        || (isLong && (isNull || length != longRowBytes))
      {
        return findings + ["bytes leaf: row \(row) ends at \(next) after \(position)"]
      }
      if isLong {
        let value = longValue(body, row)
        if value.reference != references || references >= referenceCount(block) {
          return findings + ["bytes leaf: row \(row) has reference \(value.reference)"]
        }
        let reference = BlockHeader.reference(block, references)
        if value.length != LongValue.length(reader, reference) || value.length <= inlineMax {
          findings.append("bytes leaf: row \(row) says \(value.length) bytes")
        }
        findings += LongValue.checkInvariants(reader, reference)
        references += 1
      }
      position = next
    }
    if position != total(body) { findings.append("bytes leaf: bytes behind the last row") }
    if references != referenceCount(block) {
      findings.append("bytes leaf: references without a row")
    }
    return findings
  }
}
