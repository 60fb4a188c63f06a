// The 16 bytes at the start of every block. Layout, little-endian:
//
//   0  u32  checksum   low half of XXH3 over bytes 4 ..< length, seeded with salt and offset
//   4  u8   kind       top bit set: the payload starts with `count` references of 8 bytes
//   5  u8   width      meaning belongs to the kind (packed leaves: element width and flags)
//   6  u16  units      length of the whole block in units of 16 bytes
//   8  u48  birth      version whose commit wrote the block
//  14  u16  count      references (node kinds) or elements (leaf kinds)
//
// Because every node starts with its references, Storage can walk, check, move and copy any tree
// without knowing what it means. Kinds below 16 are Storage's own.
internal import Platform

/// What a block holds.
///
/// The top bit says that its payload starts with references.
@frozen @usableFromInline
package struct BlockKind: Hashable, Sendable, RawRepresentable {
  @usableFromInline package let rawValue: UInt8
  @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// True when the payload starts with `count` references.
  @inlinable package var isNode: Bool { rawValue & 0x80 != 0 }
}

extension BlockKind {
  /// Space deltas of some commits.
  package static let spaceLog = BlockKind(rawValue: 2)
  /// The free and kept runs of a part of the file; in formats before 3, of all of it.
  package static let spaceCheckpoint = BlockKind(rawValue: 3)
  /// Where the parts of the checkpoint are.
  package static let spacePartList = BlockKind(rawValue: 4)

  /// Whether the block belongs to the space journal, which only a writer reads.
  var isJournal: Bool { (2...4).contains(rawValue) }
}

/// Access to the header of a block in memory.
@usableFromInline
package enum BlockHeader {
  /// Length of a header; the payload follows.
  @inlinable package static var length: Int { 16 }
  /// Blocks start and end on multiples of this.
  @inlinable package static var unit: Int { 16 }
  /// The longest block, header included.
  @inlinable package static var blockLengthMax: Int { 65_536 }

  @inlinable package static func checksum(_ block: UnsafeRawPointer) -> UInt32 {
    UInt32(littleEndian: block.load(as: UInt32.self))
  }

  @inlinable package static func kind(_ block: UnsafeRawPointer) -> BlockKind {
    BlockKind(rawValue: block.load(fromByteOffset: 4, as: UInt8.self))
  }

  @inlinable package static func width(_ block: UnsafeRawPointer) -> UInt8 {
    block.load(fromByteOffset: 5, as: UInt8.self)
  }

  /// Length of the whole block in bytes.
  @inlinable package static func blockLength(_ block: UnsafeRawPointer) -> Int {
    Int(UInt16(littleEndian: block.load(fromByteOffset: 6, as: UInt16.self))) &* unit
  }

  @inlinable package static func birth(_ block: UnsafeRawPointer) -> Version {
    Version(UInt64(littleEndian: block.load(fromByteOffset: 8, as: UInt64.self)) & 0xffff_ffff_ffff)
  }

  @inlinable package static func count(_ block: UnsafeRawPointer) -> Int {
    Int(UInt16(littleEndian: block.load(fromByteOffset: 14, as: UInt16.self)))
  }

  /// Start of the payload.
  @inlinable package static func payload(_ block: UnsafeRawPointer) -> UnsafeRawPointer {
    block + length
  }

  /// Reference number `index` of a node block.
  @inlinable package static func reference(_ block: UnsafeRawPointer, _ index: Int)
    -> BlockReference
  {
    BlockReference(
      stored: UInt64(
        littleEndian: block.load(fromByteOffset: length &+ index &* 8, as: UInt64.self)))
  }

  // MARK: - Writing

  @inlinable package static func setKind(_ block: UnsafeMutableRawPointer, _ kind: BlockKind) {
    block.storeBytes(of: kind.rawValue, toByteOffset: 4, as: UInt8.self)
  }

  @inlinable package static func setWidth(_ block: UnsafeMutableRawPointer, _ width: UInt8) {
    block.storeBytes(of: width, toByteOffset: 5, as: UInt8.self)
  }

  /// `count` at most 65,535.
  @inlinable package static func setCount(_ block: UnsafeMutableRawPointer, _ count: Int) {
    block.storeBytes(of: UInt16(count).littleEndian, toByteOffset: 14, as: UInt16.self)
  }

  @inlinable package static func setReference(
    _ block: UnsafeMutableRawPointer, _ index: Int, _ reference: BlockReference
  ) {
    block.storeBytes(
      of: reference.stored.littleEndian, toByteOffset: length &+ index &* 8, as: UInt64.self)
  }

  package static func setBlockLength(_ block: UnsafeMutableRawPointer, _ length: Int) {
    block.storeBytes(of: UInt16(length / unit).littleEndian, toByteOffset: 6, as: UInt16.self)
  }

  package static func setBirth(_ block: UnsafeMutableRawPointer, _ birth: Version) {
    let count = UInt64(BlockHeader.count(block))
    block.storeBytes(
      of: (birth.rawValue | count << 48).littleEndian, toByteOffset: 8, as: UInt64.self)
  }

  package static func setChecksum(_ block: UnsafeMutableRawPointer, _ checksum: UInt32) {
    block.storeBytes(of: checksum.littleEndian, as: UInt32.self)
  }

  /// The checksum a block of `length` bytes must carry at this place of a file with this salt.
  package static func expectedChecksum(
    _ block: UnsafeRawPointer, length: Int, at offset: UInt64, salt: UInt64
  ) -> UInt32 {
    UInt32(
      truncatingIfNeeded: hash64(
        block + 4, count: length - 4, seed: salt ^ offset))
  }

  /// Block length that holds a payload of so many bytes.
  @inlinable package static func blockLength(forPayload bytes: Int) -> Int {
    (length + bytes + unit - 1) & ~(unit - 1)
  }
}
