// A queue whose entries have growing numbers, by which any of them can be taken out without looking
// at the others. It knows nothing of what waits in it.

/// A queue of entries with growing numbers; removed ones leave holes, which go when there are many.
@usableFromInline
package struct NumberedList<Element> {
  /// Numbers grow and may wrap around: they are compared by their distance from the first one's.
  @usableFromInline package typealias Number = UInt32

  /// As many as `places`.
  @usableFromInline var numbers: [Number] = []
  /// Nil in a hole; the first and the last place from `head` on are no holes.
  @usableFromInline var places: [Element?] = []
  /// Places before it are given up.
  @usableFromInline var head = 0
  @usableFromInline package var count = 0
  /// Places that were looked at, moved or passed over: for tests of the cost.
  @usableFromInline package var steps = 0

  @inlinable package init() {}

  @inlinable package var isEmpty: Bool { count == 0 }

  @inlinable package var first: (number: Number, element: Element)? {
    guard head < places.count, let element = places[head] else { return nil }
    return (numbers[head], element)
  }

  /// The entries in order.
  package var elements: [Element] { places[head...].compactMap(\.self) }

  /// Adds an entry at the end.
  ///
  /// - Precondition: its number comes after those of all others, less than 2^32 after the first
  ///   one's.
  @inlinable
  package mutating func append(_ element: Element, number: Number) {
    if head < numbers.count {
      let first = numbers[head]
      precondition(
        number &- first > numbers[numbers.count - 1] &- first, "numbers of a list must grow")
    }
    numbers.append(number)
    places.append(element)
    count += 1
  }

  /// Takes out the first entry.
  ///
  /// - Precondition: the list is not empty.
  @inlinable @discardableResult
  package mutating func removeFirst() -> Element {
    precondition(count > 0, "the list is empty")
    return take(at: head)!
  }

  /// Takes out the entry of a number; nil when there is none.
  ///
  /// - Complexity: O(log n), and O(1) for moving others, averaged over many calls.
  @inlinable
  package mutating func remove(_ number: Number) -> Element? {
    index(of: number).flatMap { take(at: $0) }
  }

  @inlinable
  mutating func index(of number: Number) -> Int? {
    guard head < numbers.count else { return nil }
    let first = numbers[head]
    var range = head..<numbers.count
    while !range.isEmpty {
      steps += 1
      let middle = range.lowerBound + range.count / 2
      let found = numbers[middle]
      if found == number { return middle }
      let isBefore = found &- first < number &- first
      range = isBefore ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return nil
  }

  @inlinable
  mutating func take(at index: Int) -> Element? {
    guard let element = places[index] else { return nil }
    places[index] = nil
    count -= 1
    while places.count > head, places[places.count - 1] == nil {
      places.removeLast()
      numbers.removeLast()
      steps += 1
    }
    while head < places.count, places[head] == nil {
      head += 1
      steps += 1
    }
    // Each removal pays for moving one entry, so moving all of them is paid for by as many
    // removals.
    if places.count > 2 * count + 32 { dropHoles() }
    return element
  }

  @usableFromInline
  mutating func dropHoles() {
    steps += places.count
    let kept = places.indices.dropFirst(head).filter { places[$0] != nil }
    numbers = kept.map { numbers[$0] }
    places = kept.map { places[$0] }
    head = 0
  }
}
