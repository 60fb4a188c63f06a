// The generator of the module: small, and the same on every machine.

/// SplitMix64.
struct Random {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// The seed of the schedule with this number.
  init(seed: UInt64, schedule: Int) {
    state = seed ^ (UInt64(truncatingIfNeeded: schedule) &* 0xD134_2543_DE82_EF95)
    state = next()
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number below `bound`, which is small: what is not quite uniform cannot be noticed.
  mutating func next(below bound: Int) -> Int {
    Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// A number from 0 to 1, without 1.
  mutating func nextFraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}
