// Where elements are, and where they belong, among others in an order: by bisection when few are
// looked for, in one pass over all when they are many. So a step costs no more than one pass,
// however much it changes.

/// Elements in an order.
struct KeyedPlaces {
  /// More than one in so many looked for: one pass takes less than a bisection for each.
  private static let shareMax = 16

  let count: Int
  /// The element at a position.
  let element: (Int) -> KeyedElement
  let order: KeyOrder

  private func areMany(_ wanted: Int) -> Bool { wanted > 8 && wanted > count / Self.shareMax }

  /// The positions of those among some elements that are here, ascending.
  func positions(of wanted: Set<KeyedElement>) -> [Int] {
    if areMany(wanted.count) { return (0..<count).filter { wanted.contains(element($0)) } }
    var found: [Int] = []
    for element in wanted {
      guard let place = order.place(of: element) else { continue }
      var position = (0..<count).lowerBound { order.isBefore(self.element($0), place) }
      // An object that links several times is there as often.
      while position < count, self.element(position) == element {
        found.append(position)
        position += 1
      }
    }
    return found.sorted()
  }

  /// Other elements in the order, each with the number of elements here that come before it.
  func gaps(of others: [KeyedElement]) -> [(gap: Int, element: KeyedElement)] {
    let placed = others.compactMap { element in
      order.place(of: element).map { (place: $0, element: element) }
    }
    let areMany = areMany(placed.count)
    var gap = 0
    // Numbers are sorted: to compare places takes much longer.
    var numbers = placed.indices.map { (prefix: order.prefix(of: placed[$0].place), index: $0) }
    numbers.sort { left, right in
      left.prefix == right.prefix
        ? order.isBefore(placed[left.index].place, placed[right.index].place)
        : left.prefix < right.prefix
    }
    return numbers.map {
      let (place, element) = placed[$0.index]
      if areMany {
        while gap < count, order.isBefore(self.element(gap), place) { gap += 1 }
      } else {
        gap = (gap..<count).lowerBound { order.isBefore(self.element($0), place) }
      }
      return (gap, element)
    }
  }
}

/// Positions of a sequence without some.
struct OtherPositions {
  let count: Int
  /// For each position left out: how many others come before it.
  private let gaps: [Int]

  /// - Parameter positions: ascending.
  init(_ all: Int, without positions: [Int]) {
    gaps = positions.enumerated().map { $1 - $0 }
    count = all - positions.count
  }

  subscript(number: Int) -> Int { number + gaps.lowerBound { $0 <= number } }
}

extension Array {
  /// Takes out the items at some positions, ascending, and puts in others so that they are at
  /// theirs.
  mutating func replace(_ removed: [Int], _ inserted: [(position: Int, item: Element)]) {
    if removed.count == 1, inserted.count == 1 {
      // Only those between the two places move.
      let (from, to) = (removed[0], inserted[0].position)
      withUnsafeMutableBufferPointer { items in
        if from < to {
          for index in from..<to { items[index] = items[index + 1] }
        } else {
          for index in (to..<from).reversed() { items[index + 1] = items[index] }
        }
        items[to] = inserted[0].item
      }
      return
    }
    if removed.count + inserted.count <= 8 {
      for position in removed.reversed() { remove(at: position) }
      for item in inserted { insert(item.item, at: item.position) }
      return
    }
    var result: [Element] = []
    result.reserveCapacity(count - removed.count + inserted.count)
    var (nextRemoved, nextInserted) = (0, 0)
    for (position, item) in enumerated() {
      if nextRemoved < removed.count, removed[nextRemoved] == position {
        nextRemoved += 1
        continue
      }
      while nextInserted < inserted.count, inserted[nextInserted].position == result.count {
        result.append(inserted[nextInserted].item)
        nextInserted += 1
      }
      result.append(item)
    }
    result += inserted[nextInserted...].map(\.item)
    self = result
  }
}
