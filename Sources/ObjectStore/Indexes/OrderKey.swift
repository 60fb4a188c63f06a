// Values as 64-bit integers: what ordered indexes are sorted by. Numbers and short bytes keep their
// order, long bytes that of their beginning. Part of the file format.
internal import Trees

/// How an index of byte strings (texts, data, identifiers) sorts them.
package enum IndexForm: Sendable {
  /// By their first 8 bytes: indexes that were made before format 4.
  case firstBytes
  /// By their first 8 bytes if they have no more; longer ones by their first 5 bytes, then by a
  /// hash of all of them, so that those which begin alike are told from each other.
  case hashed

  /// So many first bytes decide the order of all that have others.
  package var prefixLength: Int { self == .hashed ? OrderKey.hashedPrefixLength : 8 }
}

/// Maps values to integers.
@frozen @usableFromInline
package enum OrderKey {
  /// Null comes before everything.
  @inlinable package static var null: Int64 { .min }

  /// The order of a packed value.
  @inlinable package static func integer(_ value: Int64, _ order: ElementOrder) -> Int64 {
    switch order {
    case .signed, .bytes: return value
    case .double:
      // Both zeros are one number.
      if value == .min { return 0 }
      return value >= 0 ? value : value ^ .max
    case .float:
      let bits = Int32(truncatingIfNeeded: value)
      if bits == .min { return 0 }
      return Int64(bits >= 0 ? bits : bits ^ .max)
    }
  }

  // MARK: - Bytes

  /// Bytes of a long value that are in its order; the hash has the rest.
  static let hashedPrefixLength = 5
  /// The bits of the hash.
  private static let hashMask: Int64 = 1 << 24 - 1

  /// The order of the first 8 bytes, big-endian.
  @inline(__always)
  static func firstBytes(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    Int64(bitPattern: bytes.firstBytes ^ 1 &<< 63)
  }

  /// The order of bytes.
  package static func bytes(_ bytes: UnsafeRawBufferPointer, _ form: IndexForm) -> Int64 {
    let first = firstBytes(bytes)
    if form == .firstBytes || bytes.count <= 8 { return first }
    return first & ~hashMask | Int64(IndexHash.bytes(bytes) >> 40)
  }

  /// The orders of all bytes that have the same beginning, as far as orders keep it: those of
  /// lesser bytes are not above the range, those of greater ones not below it.
  package static func range(
    _ bytes: UnsafeRawBufferPointer, _ form: IndexForm
  ) -> ClosedRange<Int64> {
    let first = firstBytes(bytes)
    return form == .firstBytes ? first...first : (first & ~hashMask)...(first | hashMask)
  }
}
