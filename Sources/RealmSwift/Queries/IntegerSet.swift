// A set of integers that is made once and asked often: a value of a scan is looked up in a few
// nanoseconds. What the integers stand for is the caller's matter.

/// Integers, found by hashing; several with the same hash lie one behind the other.
struct IntegerSet: Sendable {
  /// A power of two, at least half of them free.
  private var places: [Int64]
  /// What stands at a free place.
  private let free: Int64
  /// How many bits of a hash are not looked at.
  private let shift: UInt64

  init(_ integers: Set<Int64>) {
    var free = Int64.min
    while integers.contains(free) { free += 1 }
    self.free = free
    let bits = max(3, Int.bitWidth - (2 * integers.count).leadingZeroBitCount)
    shift = UInt64(Int.bitWidth - bits)
    places = Array(repeating: free, count: 1 << bits)
    for integer in integers {
      var place = place(integer)
      while places[place] != free { place = (place + 1) & (places.count - 1) }
      places[place] = integer
    }
  }

  func contains(_ integer: Int64) -> Bool {
    let mask = places.count - 1
    var place = place(integer)
    while places[place] != free {
      if places[place] == integer { return true }
      place = (place + 1) & mask
    }
    return false
  }

  /// Where an integer belongs: the upper bits of a product, to which all of its bits contribute.
  ///
  /// By the golden ratio: Knuth, The Art of Computer Programming, volume 3, section 6.4.
  private func place(_ integer: Int64) -> Int {
    Int(truncatingIfNeeded: (UInt64(bitPattern: integer) &* 0x9E37_79B9_7F4A_7C15) >> shift)
  }
}
