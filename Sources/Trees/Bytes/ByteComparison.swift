// Comparing values that are stored as bytes. Most are decided by their first 8 bytes, which are compared as
// one number.
internal import Glibc

extension UnsafeRawBufferPointer {
  /// Whether both have the same bytes.
  package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    count == other.count
      && (count == 0
        || memcmp(baseAddress.unsafelyUnwrapped, other.baseAddress.unsafelyUnwrapped, count) == 0)
  }

  /// Byte by byte, a prefix first: negative, 0 or positive.
  package func compare(to other: UnsafeRawBufferPointer) -> Int {
    let common = Swift.min(count, other.count)
    if common == 0 { return count &- other.count }
    let left = baseAddress.unsafelyUnwrapped
    let right = other.baseAddress.unsafelyUnwrapped
    if common >= 8 {
      let first = UInt64(bigEndian: left.loadUnaligned(as: UInt64.self))
      let second = UInt64(bigEndian: right.loadUnaligned(as: UInt64.self))
      if first != second { return first < second ? -1 : 1 }
    }
    let result = memcmp(left, right, common)
    return result != 0 ? Int(result) : count &- other.count
  }
}
