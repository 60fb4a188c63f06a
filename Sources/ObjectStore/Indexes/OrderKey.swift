// Values as 64-bit integers that keep their order: what ordered indexes are sorted by. Part of the
// file format.
public import Trees

/// Maps values to integers of the same order.
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

  /// The order of bytes: their first 8, big-endian.
  @inlinable package static func bytes(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    Int64(bitPattern: bytes.firstBytes ^ 1 &<< 63)
  }
}
