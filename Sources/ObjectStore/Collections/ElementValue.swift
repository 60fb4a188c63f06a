// One element of a list, set or map, as it passes through this layer.

/// A value on its way into or out of a collection or an index.
///
/// Trivial: bytes are borrowed from the caller, or from a block while a version lives.
@frozen @usableFromInline
package enum ElementValue {
  case null
  /// A packed value: integers as such, Bool 0 or 1, Double, Date and Float as bit patterns.
  case integer(Int64)
  /// A string, data, object id, decimal, UUID or encoded `any`.
  ///
  /// Given to a transaction, they may not lie in one of its blocks.
  case bytes(UnsafeRawBufferPointer)
  case link(ObjectKey)
}

/// How a column's values compare.
@frozen @usableFromInline
package enum ElementOrder: UInt8, Sendable {
  /// By value; Bool and links too.
  case signed = 0
  /// Bit patterns of Double, by number.
  case double
  /// Bit patterns of Float, by number.
  case float
  /// Byte by byte, a prefix first.
  case bytes
}

extension ValueType {
  /// How values of the type compare.
  package var order: ElementOrder {
    switch self {
    case .int, .bool, .object, .linkingObjects: return .signed
    case .double, .date: return .double
    case .float: return .float
    default: return .bytes
    }
  }
}
