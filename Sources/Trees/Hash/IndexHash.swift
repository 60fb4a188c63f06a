// The hashes of hash indexes. They are part of the file format: a change makes every index useless.
// The top 8 bits are the fingerprint that a bucket stores, the low bits choose the bucket.
internal import Platform

/// Hashes of indexed values.
@frozen @usableFromInline
package enum IndexHash {
  /// The hash of an integer.
  ///
  /// Sixteen neighbours share a bucket, with fingerprints of their own: ids that are handed out in
  /// order touch one bucket for sixteen inserts.
  @inlinable @inline(__always)
  package static func integer(_ value: Int64) -> UInt64 {
    let bits = UInt64(bitPattern: value)
    var place = bits &>> 4
    place = (place ^ (place &>> 32)) &* 0xd6e8_feb8_6659_fd93
    place = (place ^ (place &>> 32)) &* 0xd6e8_feb8_6659_fd93
    place ^= place &>> 32
    let fingerprint = (bits ^ (bits &>> 29)) &* 0x9e37_79b9_7f4a_7c15
    return place & 0x00ff_ffff_ffff_ffff | fingerprint & 0xff00_0000_0000_0000
  }

  /// The hash of a string's or data's bytes.
  package static func bytes(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    guard let start = bytes.baseAddress else {
      return hash64(UnsafeRawPointer(bitPattern: 16)!, count: 0, seed: 0)
    }
    return hash64(start, count: bytes.count, seed: 0)
  }

  /// The hash of null.
  @inlinable package static var null: UInt64 { 0x6b1d_5f0f_9e21_c4a7 }
}
