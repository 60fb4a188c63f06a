// The numbers that name things in a file: places of blocks and versions. A reference is no place:
// it also says which block it expects there, so the two have different types. Bits of a reference:
//
//   0 ..< 4   birth tag, low bits       44 ..< 63  birth tag, high bits
//   4 ..< 44  offset in units of 16     63         provisional
internal import Platform

/// A block that somebody refers to: where it is, and which of the blocks that were there one after
/// the other.
///
/// The second is its *birth tag*, made of the version whose commit wrote it. A block that was there
/// before, or comes after it, has another one, and is not taken for it at its first touch.
///
/// Inside a write transaction a block that has no place yet has a provisional reference: a number.
@frozen @usableFromInline
package struct BlockReference: Hashable, Sendable, CustomStringConvertible {
  /// As it stands in parents.
  @usableFromInline package let stored: UInt64

  @inlinable package init(stored: UInt64) { self.stored = stored }

  /// The block that is born in the tag's version at an offset.
  @inlinable package init(offset: UInt64, _ tag: BirthTag) { stored = offset | tag.bits }

  /// Whatever block is at an offset, as files before format version 3 refer to it.
  @inlinable package init(anyAt offset: UInt64) { stored = offset }

  /// The block of a running transaction that has this number.
  @inlinable package init(provisional number: Int) { stored = UInt64(number) | 1 << 63 }

  /// No block.
  @inlinable package static var none: BlockReference { BlockReference(stored: 0) }

  @inlinable package var isNone: Bool { stored == 0 }

  /// True for a block of the running write transaction that has no place in the file yet.
  @inlinable package var isProvisional: Bool { stored >> 63 == 1 }

  /// The file's offsets are below this: 16 TiB.
  @inlinable package static var offsetEnd: UInt64 { 1 << 44 }

  /// Where the block begins in the file.
  ///
  /// Of a provisional block a number that no file reaches.
  @inlinable package var offset: UInt64 { stored & 0x8000_0fff_ffff_fff0 }

  /// Of a provisional block.
  @inlinable package var number: Int { Int(truncatingIfNeeded: stored & 0xffff_ffff) }

  /// Whether the block that it expects may have this birth.
  ///
  /// Always true for a reference without a tag.
  package func expects(_ birth: Version) -> Bool {
    let bits = stored & BirthTag.mask
    return bits == 0 || bits == BirthTag(birth).bits || PlantedBug.tagIgnored.isActive
  }

  @usableFromInline
  package var description: String {
    if isNone { return "none" }
    return isProvisional ? "provisional \(number)" : "block \(offset)"
  }
}

/// What a reference remembers of the birth of the block that it expects: 23 bits, never all zero.
///
/// Multiplying by the golden ratio spreads numbers that are near each other as far as can be: two
/// births that are less than a million versions apart never share a tag, of any two others one pair
/// in eight million does.
@frozen @usableFromInline
package struct BirthTag: Sendable {
  @usableFromInline let bits: UInt64

  @inlinable package init(_ birth: Version) {
    let tag = max((birth.rawValue &* 0x9e37_79b9_7f4a_7c15) >> 41, 1)
    bits = (tag >> 4) << 44 | tag & 15
  }

  /// Where it is in a reference.
  @usableFromInline static let mask: UInt64 = 0x7fff_f000_0000_000f
}

/// Number of a committed state.
///
/// Grows with every commit; a number names one state only, for ever.
@frozen @usableFromInline
package struct Version: Hashable, Comparable, Sendable, CustomStringConvertible {
  @usableFromInline package let rawValue: UInt64

  @inlinable package init(_ rawValue: UInt64) { self.rawValue = rawValue }

  @inlinable package static func < (left: Version, right: Version) -> Bool {
    left.rawValue < right.rawValue
  }

  @inlinable package var next: Version { Version(rawValue + 1) }

  @usableFromInline package var description: String { String(rawValue) }
}
