// What a transaction remembers of the hashes of the objects that it adds, so that splitting a
// bucket need not read the objects: their keys lie all over the file.

/// The lower halves of the hashes of objects that were added one after the other.
///
/// Belongs to one HashIndexEditor, inside of which it is, so that a transaction that adds nothing
/// allocates nothing.
struct RecentHashes: ~Copyable {
  /// Objects that are remembered at most; of further ones nothing is known.
  static let countMax = 4 << 20

  /// By key less `firstKey`.
  private var lows = UnsafeMutableBufferPointer<UInt32>(start: nil, count: 0)
  private(set) var count = 0
  private var firstKey: Int64 = 0

  deinit { lows.deallocate() }

  /// Remembers the hash of an object that is in the index from now on.
  @inline(__always)
  mutating func note(_ hash: UInt64, _ key: Int64) {
    let place = key &- firstKey
    if _slowPath(place < 0 || place >= count) {
      if place != count || count == lows.count { return noteBeyond(hash, key) }
      count &+= 1
    }
    lows.baseAddress.unsafelyUnwrapped[Int(truncatingIfNeeded: place)] = UInt32(
      truncatingIfNeeded: hash)
  }

  @inline(never)
  private mutating func noteBeyond(_ hash: UInt64, _ key: Int64) {
    if count == 0 {
      firstKey = key
    } else if key != firstKey + Int64(count) {
      // Keys come one after the other. Another one is of an object whose value was changed.
      return
    }
    if count == lows.count {
      if count == Self.countMax { return }
      let grown = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: max(64, 2 * count))
      _ = grown.initialize(from: lows)
      lows.deallocate()
      lows = grown
    }
    lows[count] = UInt32(truncatingIfNeeded: hash)
    count += 1
  }

  /// The lower half of an object's hash; nil if it is not known.
  @inline(__always)
  func low(_ key: Int64) -> UInt32? {
    let place = key &- firstKey
    guard place >= 0 && place < count else { return nil }
    return lows.baseAddress.unsafelyUnwrapped[Int(truncatingIfNeeded: place)]
  }
}
