// Objects of one class that have changed for observers, found once for all of them.
internal import ObjectStore

/// Objects of one table that have changed, by themselves or by what they lead to.
final class ChangedObjects {
  let keys: Set<ObjectKey>
  /// The same as bits; nil until many elements were asked about.
  private var bits: KeyBits?

  init(_ keys: Set<ObjectKey>) { self.keys = keys }

  var isEmpty: Bool { keys.isEmpty }
  var count: Int { keys.count }

  func contains(_ key: ObjectKey) -> Bool { keys.contains(key) }

  /// The positions, ascending, of those among some elements that have changed.
  ///
  /// - Parameter elements: keys in any order.
  /// - Complexity: O(elements), a nanosecond for each.
  func positions(in elements: [Int64]) -> [Int] {
    guard let bits = bits ?? makeBits() else { return [] }
    self.bits = bits
    var found: [Int] = []
    elements.withUnsafeBufferPointer { elements in
      for position in elements.indices where bits.contains(elements[position]) {
        found.append(position)
      }
    }
    return found
  }

  private func makeBits() -> KeyBits? {
    guard var least = keys.first else { return nil }
    var greatest = least
    for key in keys { (least, greatest) = (min(least, key), max(greatest, key)) }
    var bits = KeyBits(least.rawValue...greatest.rawValue)
    for key in keys { bits.insert(key) }
    return bits
  }
}
