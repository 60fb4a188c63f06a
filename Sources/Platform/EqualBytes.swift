// Looking for a byte among many at once.

/// Which of the 16 bytes at an address equal a value: one bit a byte, the first one's lowest.
@inlinable @inline(__always)
package func equalBytes(_ address: UnsafeRawPointer, _ value: UInt8) -> UInt64 {
  shim_equal_bytes(address, value)
}
