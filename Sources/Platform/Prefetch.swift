// Hints to the processor's cache.

/// Starts to load the cache line of an address, without waiting for it.
///
/// Any address will do: one that cannot be read is ignored.
@inlinable @inline(__always)
package func prefetch(_ address: UnsafeRawPointer) { shim_prefetch(address) }

/// The same for some lines of 64 bytes from the address on, with one call.
@inlinable @inline(__always)
package func prefetch(_ address: UnsafeRawPointer, lines: Int) {
  shim_prefetch_lines(address, Int64(lines))
}

/// The same for an address and one that is some bytes behind it, with one call.
@inlinable @inline(__always)
package func prefetch(_ address: UnsafeRawPointer, andBehind distance: Int) {
  shim_prefetch_both(address, Int64(distance))
}
