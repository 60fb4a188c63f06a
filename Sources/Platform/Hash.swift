// Hashing for checksums and hash indexes: XXH3 of libxxhash.

/// XXH3 of `count` bytes, 64 bits, seeded.
package func hash64(_ bytes: UnsafeRawPointer, count: Int, seed: UInt64) -> UInt64 {
  shim_hash64(bytes, count, seed)
}
