// The numbers that name things in a file: places of blocks and versions.

/// Where a block is: its offset in the file, a multiple of 16.
///
/// Inside a write transaction a block that has no place yet has a provisional reference (top bit
/// set); commits replace it by an offset.
@frozen @usableFromInline
package struct BlockReference: Hashable, Comparable, Sendable, CustomStringConvertible {
  @usableFromInline package let rawValue: UInt64

  @inlinable package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// No block.
  @inlinable package static var none: BlockReference { BlockReference(rawValue: 0) }

  @inlinable package var isNone: Bool { rawValue == 0 }

  /// True for a block of the running write transaction that has no place in the file yet.
  @inlinable package var isProvisional: Bool { rawValue >> 63 == 1 }

  @inlinable package static func < (left: BlockReference, right: BlockReference) -> Bool {
    left.rawValue < right.rawValue
  }

  @usableFromInline
  package var description: String {
    if isNone { return "none" }
    return isProvisional ? "provisional \(rawValue & 0xffff_ffff)" : "block \(rawValue)"
  }
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
