// A key that a transaction has given to a new object is given again when that was rolled back. The
// accessors of the first object are not those of the second: this tells one from the other.
internal import ObjectStore

/// The roll-backs of one class in one confined Realm that have taken objects away.
struct RollBacks {
  private struct RollBack {
    /// The first key that the transaction gave.
    let firstKey: ObjectKey
    /// The generation of the table behind it.
    let generation: UInt64
  }

  /// By key and generation, both of which grow.
  private var all: [RollBack] = []
  /// The oldest ones are forgotten: an accessor that was kept through so many is rare.
  private static let countMax = 1 << 16

  /// Adds the latest one.
  mutating func add(_ firstKey: ObjectKey, generation: UInt64) {
    // It takes away whatever an older one with as many keys did.
    while let last = all.last, last.firstKey >= firstKey { all.removeLast() }
    if all.count == Self.countMax { all.removeFirst(Self.countMax / 2) }
    all.append(RollBack(firstKey: firstKey, generation: generation))
  }

  /// Whether the object that had a key in a generation of the table was taken away since.
  @inline(__always)
  func haveTaken(_ key: ObjectKey, since generation: UInt64) -> Bool {
    all.isEmpty ? false : findTaken(key, since: generation)
  }

  /// - Complexity: O(log roll-backs).
  private func findTaken(_ key: ObjectKey, since generation: UInt64) -> Bool {
    var (low, high) = (0, all.count)
    while low < high {
      let middle = (low + high) / 2
      if all[middle].firstKey <= key { low = middle + 1 } else { high = middle }
    }
    return low > 0 && all[low - 1].generation > generation
  }
}
