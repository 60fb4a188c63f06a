// Positions in a list as it is shown, and where the elements that stand there are in the list as it
// is: another process may have changed it meanwhile.
internal import Foundation

/// Elements of a list by the positions at which they are shown.
struct ShownElements<Element: RealmCollectionValue> {
  /// Nil behind the end.
  private let elements: [(position: Int, element: Element?)]

  /// Stops when a position is out of bounds.
  ///
  /// - Parameter orEnd: the position behind the last element is one, too.
  init(_ shown: List<Element>, _ positions: [Int], orEnd: Bool = false) {
    let count = shown.count
    elements = positions.map { position in
      checkBounds(position, orEnd ? count + 1 : count)
      return (position, position < count ? shown[position] : nil)
    }
  }

  /// The position of each element now: nil when it is gone, and behind the end.
  ///
  /// An element that is there several times is the one next to where it was shown.
  func places(in list: List<Element>) -> [Int?] {
    elements.map { position, element in
      guard let element else { return nil }
      let count = list.count
      if position < count, Self.areSame(list[position], element) { return position }
      for distance in 1..<max(count, position) + 1 {
        for place in [position - distance, position + distance]
        where place >= 0 && place < count && Self.areSame(list[place], element) {
          return place
        }
      }
      return nil
    }
  }

  /// The positions of those that are still there; nil when none is, which the log is told.
  func foundPlaces(in list: List<Element>) -> IndexSet? {
    let places = IndexSet(places(in: list).compactMap { $0 })
    if !places.isEmpty { return places }
    logDeleted(Element.self)
    return nil
  }

  private static func areSame(_ left: Element, _ right: Element) -> Bool {
    if let left = left as? ObjectBase, let right = right as? ObjectBase {
      return StoredBits.sameObject(left, right)
    }
    // By the stored bits, too: a number that is none equals nothing.
    return left == right || StoredBits.areEqual(left, right)
  }
}
