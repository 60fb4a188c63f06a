// Hints to the processor's cache. The import is public because the hint is inlined into the layers
// above.
public import CShim

/// Starts to load the cache line of an address, without waiting for it.
///
/// Any address will do: one that cannot be read is ignored.
@inlinable @inline(__always)
package func prefetch(_ address: UnsafeRawPointer) { shim_prefetch(address) }
