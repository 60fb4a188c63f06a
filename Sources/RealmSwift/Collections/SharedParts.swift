// A long sequence of which several versions are kept: those that follow from each other share most
// of their parts, so that a new version costs what differs, and not a copy of all.

/// Elements in an order, in parts.
struct SharedParts<Element>: RandomAccessCollection {
  private static var partMax: Int { 512 }

  /// None is empty.
  private var parts: [[Element]] = []
  /// Where each part ends.
  private var ends: [Int] = []

  init() {}

  init(_ elements: some Sequence<Element>) { append(contentsOf: elements) }

  var startIndex: Int { 0 }
  var endIndex: Int { ends.last ?? 0 }

  subscript(position: Int) -> Element {
    // Short sequences are most common.
    if parts.count == 1 { return parts[0][position] }
    let part = self.part(of: position)
    return parts[part][position - start(of: part)]
  }

  private func start(of part: Int) -> Int { part == 0 ? 0 : ends[part - 1] }

  /// The part that holds a position; the number of parts for the end.
  private func part(of position: Int) -> Int { ends.lowerBound { $0 <= position } }

  mutating func append(_ element: Element) {
    if let last = parts.last, last.count < Self.partMax {
      parts[parts.count - 1].append(element)
      ends[ends.count - 1] += 1
    } else {
      parts.append([element])
      ends.append(endIndex + 1)
    }
  }

  mutating func append(contentsOf elements: some Sequence<Element>) {
    for element in elements { append(element) }
  }

  /// Puts others in the place of some elements.
  ///
  /// - Complexity: O(parts + elements of those that hold the range + new ones).
  mutating func replace(_ range: Range<Int>, with elements: [Element]) {
    let first = Swift.min(part(of: range.lowerBound), Swift.max(0, parts.count - 1))
    let end =
      range.isEmpty ? Swift.min(first + 1, parts.count) : part(of: range.upperBound - 1) + 1
    let start = start(of: first)
    var merged: [Element] = []
    for part in parts[first..<end] { merged += part }
    merged.replaceSubrange(range.lowerBound - start..<range.upperBound - start, with: elements)
    parts.replaceSubrange(first..<end, with: Self.split(merged))
    var last = 0
    ends = parts.map {
      last += $0.count
      return last
    }
  }

  private static func split(_ elements: [Element]) -> [[Element]] {
    if elements.count <= partMax { return elements.isEmpty ? [] : [elements] }
    // Half full, so that some more have room.
    let size = partMax / 2
    return stride(from: 0, to: elements.count, by: size).map {
      Array(elements[$0..<Swift.min($0 + size, elements.count)])
    }
  }

  /// The first position of an element that fulfils a condition.
  func firstIndex(where isWanted: (Element) throws -> Bool) rethrows -> Int? {
    for (part, elements) in parts.enumerated() {
      if let offset = try elements.firstIndex(where: isWanted) { return start(of: part) + offset }
    }
    return nil
  }

  /// How many elements at the beginning, and at the end, are those of another version: a part that
  /// both have is not looked at.
  ///
  /// They overlap nowhere in either.
  func shared(
    with other: SharedParts, _ areEqual: (Element, Element) -> Bool
  ) -> (first: Int, last: Int) {
    let most = Swift.min(count, other.count)
    var first = 0
    var part = 0
    while part < parts.count, part < other.parts.count,
      Self.isSame(parts[part], other.parts[part])
    {
      first += parts[part].count
      part += 1
    }
    while first < most, areEqual(self[first], other[first]) { first += 1 }
    var last = 0
    part = 1
    while part <= parts.count, part <= other.parts.count {
      let (own, others) = (parts[parts.count - part], other.parts[other.parts.count - part])
      guard Self.isSame(own, others), last + own.count <= most - first else { break }
      last += own.count
      part += 1
    }
    while last < most - first, areEqual(self[count - 1 - last], other[other.count - 1 - last]) {
      last += 1
    }
    return (first, last)
  }

  private static func isSame(_ left: [Element], _ right: [Element]) -> Bool {
    left.count == right.count
      && left.withUnsafeBufferPointer { left in
        right.withUnsafeBufferPointer { left.baseAddress == $0.baseAddress }
      }
  }
}
