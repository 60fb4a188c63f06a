// A set of strings of bytes that is made once and asked often, without an allocation a string. What
// the strings stand for is the caller's matter.
internal import Platform
internal import Trees

/// Strings of bytes, found by hashing, that lie one behind the other.
struct ByteStringSet: Sendable {
  private var bytes: [UInt8] = []
  /// Where each string begins, and the end of the last.
  private var starts = [0]
  /// One more than the number of a string; 0 for none.
  private var places: [UInt32] = []
  private var hashes: [UInt32] = []

  private var count: Int { starts.count - 1 }

  mutating func insert(_ string: UnsafeRawBufferPointer) {
    if 2 * (count + 1) > places.count { grow() }
    let hash = Self.hash(string)
    guard let place = freePlace(string, hash) else { return }
    bytes.append(contentsOf: string)
    starts.append(bytes.count)
    places[place] = UInt32(count)
    hashes[place] = hash
  }

  func contains(_ string: UnsafeRawBufferPointer) -> Bool {
    count > 0 && freePlace(string, Self.hash(string)) == nil
  }

  /// Where a string belongs; nil when it is there.
  private func freePlace(_ string: UnsafeRawBufferPointer, _ hash: UInt32) -> Int? {
    let mask = places.count - 1
    var place = Int(hash) & mask
    while places[place] != 0 {
      if hashes[place] == hash, isEqual(Int(places[place] - 1), string) { return nil }
      place = (place + 1) & mask
    }
    return place
  }

  private func isEqual(_ number: Int, _ string: UnsafeRawBufferPointer) -> Bool {
    bytes.withUnsafeBytes {
      UnsafeRawBufferPointer(rebasing: $0[starts[number]..<starts[number + 1]])
        .hasSameBytes(as: string)
    }
  }

  private mutating func grow() {
    let (old, oldHashes) = (places, hashes)
    let size = max(32, 4 * old.count)
    places = Array(repeating: 0, count: size)
    hashes = Array(repeating: 0, count: size)
    for index in old.indices where old[index] != 0 {
      var place = Int(oldHashes[index]) & (size - 1)
      while places[place] != 0 { place = (place + 1) & (size - 1) }
      places[place] = old[index]
      hashes[place] = oldHashes[index]
    }
  }

  private static func hash(_ string: UnsafeRawBufferPointer) -> UInt32 {
    guard let base = string.baseAddress, !string.isEmpty else { return 0 }
    return UInt32(truncatingIfNeeded: hash64(base, count: string.count, seed: 0))
  }
}
