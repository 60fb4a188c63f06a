// The word that tells every process which version is the newest one.

/// A version together with the place of its commit record, in one word.
@frozen @usableFromInline
package struct DurableHead: Hashable, Sendable, CustomStringConvertible {
  /// The version times 256, plus the number of the home: a greater version is a greater word.
  @usableFromInline package let rawValue: UInt64

  @inlinable package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// - Precondition: the version is below 2^55 and the home below 256.
  @inlinable
  package init(version: Version, home: Int) {
    precondition(version.rawValue < 1 << 55, "a version number is out of range")
    precondition(home >= 0 && home < 256, "a home number is out of range")
    rawValue = version.rawValue << 8 | UInt64(home)
  }

  /// Nobody has published a version since the lock file was made.
  @inlinable package static var unknown: DurableHead { DurableHead(rawValue: 0) }
  @inlinable package var isUnknown: Bool { rawValue == 0 }

  /// Whether it can be a version that a file has, in a home that a file has: other programs can
  /// write to a lock file, too.
  package var isPossible: Bool {
    isUnknown || version.rawValue > 0 && version < CommitRecord.versionMax && home < 8
  }

  @inlinable package var version: Version { Version(rawValue >> 8) }
  /// Number of the home that holds the version's commit record.
  @inlinable package var home: Int { Int(rawValue & 255) }

  @usableFromInline
  package var description: String { isUnknown ? "unknown" : "\(version) in home \(home)" }
}
