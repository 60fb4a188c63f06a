// Comparing values that are stored as bytes. Most are decided by their first 8 bytes, which are
// compared as one number.
internal import Glibc

extension UnsafeRawBufferPointer {
  /// Whether both have the same bytes.
  @inlinable @inline(__always)
  package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    if count != other.count { return false }
    if count == 0 { return true }
    let left = baseAddress.unsafelyUnwrapped
    let right = other.baseAddress.unsafelyUnwrapped
    if count < 8 { return left.firstBytes(count) == right.firstBytes(count) }
    if count > 64 { return left.compareRest(to: right, count, 0) == 0 }
    // Word by word; the last one, which ends where the bytes do, may overlap the one before.
    let last = count &- 8
    var start = 0
    while start < last {
      if (left + start).loadUnaligned(as: UInt64.self)
        != (right + start).loadUnaligned(as: UInt64.self)
      {
        return false
      }
      start &+= 8
    }
    return (left + last).loadUnaligned(as: UInt64.self)
      == (right + last).loadUnaligned(as: UInt64.self)
  }

  /// Byte by byte, a prefix first: negative, 0 or positive.
  @inlinable @inline(__always)
  package func compare(to other: UnsafeRawBufferPointer) -> Int {
    let common = Swift.min(count, other.count)
    let difference = count &- other.count
    if common == 0 { return difference }
    let left = baseAddress.unsafelyUnwrapped
    let right = other.baseAddress.unsafelyUnwrapped
    let first = left.firstBytes(common)
    let second = right.firstBytes(common)
    if first != second { return first < second ? -1 : 1 }
    if common <= 8 { return difference }
    if common > 16 { return left.compareRest(to: right, common, difference) }
    // The last 8 bytes; those that both numbers have are equal.
    let last = UInt64(bigEndian: (left + (common &- 8)).loadUnaligned(as: UInt64.self))
    let otherLast = UInt64(bigEndian: (right + (common &- 8)).loadUnaligned(as: UInt64.self))
    return last == otherLast ? difference : last < otherLast ? -1 : 1
  }

  /// The first 8 bytes as a number that is ordered as they are; of fewer, as if zeros followed.
  @inlinable @inline(__always)
  package var firstBytes: UInt64 {
    count == 0 ? 0 : baseAddress.unsafelyUnwrapped.firstBytes(count)
  }
}

extension UnsafeRawPointer {
  /// The first 8 of so many bytes, at least one, as a number that is ordered as they are; of fewer,
  /// as if zeros followed.
  @inlinable @inline(__always)
  func firstBytes(_ count: Int) -> UInt64 {
    if _fastPath(count >= 8) { return UInt64(bigEndian: loadUnaligned(as: UInt64.self)) }
    let value: UInt64
    if count >= 4 {
      // Two numbers that may overlap: the bits that both have are the same.
      let first = UInt64(UInt32(bigEndian: loadUnaligned(as: UInt32.self)))
      let last = UInt64(UInt32(bigEndian: (self + (count &- 4)).loadUnaligned(as: UInt32.self)))
      value = first &<< UInt64(8 &* (count &- 4)) | last
    } else {
      let first = UInt64(load(as: UInt8.self))
      let middle = UInt64(load(fromByteOffset: count &>> 1, as: UInt8.self))
      let last = UInt64(load(fromByteOffset: count &- 1, as: UInt8.self))
      let end = UInt64(8 &* (count &- 1))
      value = first &<< end | middle &<< (end &- UInt64(8 &* (count &>> 1))) | last
    }
    return value &<< UInt64(64 &- 8 &* count)
  }

  /// Compares so many bytes, then by what is left.
  @usableFromInline
  func compareRest(to other: UnsafeRawPointer, _ count: Int, _ difference: Int) -> Int {
    let result = memcmp(self, other, count)
    return result != 0 ? Int(result) : difference
  }
}
