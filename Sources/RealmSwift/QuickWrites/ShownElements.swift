// Positions in a list as it is shown, and where the elements that stand there are in the list as it
// is: another process may have changed it meanwhile.
internal import Foundation
internal import ObjectStore

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
  /// Of equal elements each takes a place of its own, next to where it was shown.
  func places(in list: List<Element>) -> [Int?] {
    var finder = PlaceFinder(list)
    return elements.map { position, element in
      element.flatMap { finder.place(of: $0, shownAt: position) }
    }
  }

  /// The positions of those that are still there; nil when none is, which the log is told.
  func foundPlaces(in list: List<Element>) -> IndexSet? {
    let places = IndexSet(places(in: list).compactMap { $0 })
    if !places.isEmpty { return places }
    logDeleted(Element.self)
    return nil
  }
}

/// Looks for elements in a list around the positions at which they were shown, and gives out each
/// place once.
private struct PlaceFinder<Element: RealmCollectionValue> {
  /// Farther away an element is looked up.
  private static var distanceMax: Int { 8 }

  private let list: List<Element>
  private let count: Int
  private var given: Set<Int> = []
  /// How far the last element has moved: those behind it mostly have moved as far.
  private var shift = 0
  /// The places of equal elements that are not given out, in order.
  ///
  /// Made by one look at the list when the first element is not near; from then on all are looked
  /// up.
  private var index: [ElementIdentity: [Int]]?

  init(_ list: List<Element>) {
    self.list = list
    count = list.count
  }

  mutating func place(of element: Element, shownAt position: Int) -> Int? {
    if index == nil, let place = near(position, element) {
      given.insert(place)
      shift = place - position
      return place
    }
    if index == nil { index = makeIndex() }
    let identity = ElementIdentity(element)
    let nearest = index![identity].flatMap { Self.nearest(position, in: $0) }
    return nearest.map { index![identity]!.remove(at: $0) }
  }

  private func near(_ position: Int, _ element: Element) -> Int? {
    if isFree(position + shift, element) { return position + shift }
    if isFree(position, element) { return position }
    for distance in 1...Self.distanceMax {
      if isFree(position - distance, element) { return position - distance }
      if isFree(position + distance, element) { return position + distance }
    }
    return nil
  }

  private func isFree(_ place: Int, _ element: Element) -> Bool {
    place >= 0 && place < count && !given.contains(place)
      && ElementIdentity.areEqual(list[place], element)
  }

  private func makeIndex() -> [ElementIdentity: [Int]] {
    var index: [ElementIdentity: [Int]] = [:]
    for (place, element) in list.enumerated() where !given.contains(place) {
      index[ElementIdentity(element), default: []].append(place)
    }
    return index
  }

  /// Which of some ascending places is next to a position; nil of none.
  private static func nearest(_ position: Int, in places: [Int]) -> Int? {
    if places.isEmpty { return nil }
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle] < position { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return 0 }
    let isBelow = low == places.count || position - places[low - 1] <= places[low] - position
    return isBelow ? low - 1 : low
  }
}

/// What makes two elements of a list, in whichever versions, one.
private enum ElementIdentity: Hashable {
  case object(table: UInt64?, ObjectKey)
  case unmanaged(ObjectIdentifier)
  case value(ValueIdentity)

  init(_ element: Any) {
    switch element {
    case let object as ObjectBase: self.init(object: object)
    case let value as AnyRealmValue: self.init(mixed: value)
    // Whose stored form may be an object that is made anew each time.
    case let value as any _CustomPersistable & Hashable: self = .value(.other(AnyHashable(value)))
    default: self = .value(ValueIdentity(element))
    }
  }

  private init(mixed value: AnyRealmValue) {
    if case .object(let object) = value {
      self.init(object: object)
    } else {
      self = .value(ValueIdentity(value))
    }
  }

  private init(object: ObjectBase) {
    self =
      object._realm == nil
      ? .unmanaged(ObjectIdentifier(object))
      : .object(table: object._table?.pointee.binding.table?.tableKey, object._key)
  }

  /// The same without making identities, for the usual types.
  static func areEqual<Element: RealmCollectionValue>(_ left: Element, _ right: Element) -> Bool {
    if StoredBits.areEqual(left, right) { return true }
    if left is String || left is ObjectBase || PlainType.contains(Element.self) { return false }
    return ElementIdentity(left) == ElementIdentity(right)
  }
}
