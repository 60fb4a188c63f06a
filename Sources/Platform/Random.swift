// Random numbers: a seeded generator that repeats, and the kernel's bytes that never do.
internal import Glibc

#if CONTROLLED_SCHEDULING
  internal import RaceHunt
#endif

/// xoshiro256** with a seed: the same seed gives the same numbers on every machine.
///
/// Not for secrets.
@frozen @usableFromInline
package struct RandomGenerator: RandomNumberGenerator, Sendable {
  @usableFromInline var first: UInt64
  @usableFromInline var second: UInt64
  @usableFromInline var third: UInt64
  @usableFromInline var fourth: UInt64

  /// Spreads the seed with splitmix64, which never gives the all-zero state.
  package init(seed: UInt64) {
    var state = seed
    func spread() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var value = state
      value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
      value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
      return value ^ (value >> 31)
    }
    first = spread()
    second = spread()
    third = spread()
    fourth = spread()
  }

  @inlinable package mutating func next() -> UInt64 {
    let product = second &* 5
    let result = ((product << 7) | (product >> 57)) &* 9
    let shifted = second << 17
    third ^= first
    fourth ^= second
    second ^= third
    first ^= fourth
    third ^= shifted
    fourth = (fourth << 45) | (fourth >> 19)
    return result
  }

  /// True once in `count` calls on average.
  ///
  /// `count` is at least 1.
  @inlinable package mutating func oneIn(_ count: UInt64) -> Bool {
    next(upperBound: count) == 0
  }

  /// A generator of its own for one part of a run, so that parts do not shift each other's numbers.
  package mutating func split() -> RandomGenerator { RandomGenerator(seed: next()) }
}

/// Fills memory with random bytes of the kernel: for file ids, salts and keys.
package func fillWithSystemRandom(_ buffer: UnsafeMutableRawBufferPointer) {
  var filled = 0
  while filled < buffer.count {
    let received = Int(shim_random_bytes(buffer.baseAddress! + filled, buffer.count - filled))
    if received < 0 && errno == EINTR { continue }
    precondition(received > 0, "the kernel gives no random bytes: errno \(errno)")
    filled += received
  }
}

/// 64 random bits of the kernel; in an exploration they follow from the seed, as all does there.
package func systemRandom() -> UInt64 {
  #if CONTROLLED_SCHEDULING
    if let bits = Control.randomBits { return bits }
  #endif
  var value: UInt64 = 0
  withUnsafeMutableBytes(of: &value) { fillWithSystemRandom($0) }
  return value
}
