// Repeatable random numbers, and the changes that every engine is given alike.

/// splitmix64: the same seed gives the same numbers.
struct SeededRandom {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 &+ 1 }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    return mixed(state)
  }

  /// A number below `bound`; the bias is far below what these benchmarks could notice.
  mutating func next(below bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }
}

/// Spreads the bits of a number.
func mixed(_ number: UInt64) -> UInt64 {
  var value = number
  value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
  value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
  return value ^ (value >> 31)
}

/// Random keys of objects 0 ..< count.
func randomKeys(_ number: Int, below count: Int, seed: UInt64) -> [Int] {
  var random = SeededRandom(seed: seed)
  return (0..<number).map { _ in random.next(below: count) }
}
