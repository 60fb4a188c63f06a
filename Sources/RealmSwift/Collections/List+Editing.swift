// Lists: changes of many elements at once, and moves of some of them.
public import Foundation
internal import ObjectStore

extension List: MutableCollection {
  /// Adds elements at the end.
  ///
  /// - Complexity: O(elements).
  public func append<Elements: Sequence>(objectsIn objects: Elements)
  where Elements.Element == Element {
    switch storage {
    case .unmanaged:
      let added = Array(objects)
      edit { $0.append(contentsOf: added) }
    case .managed(let cell):
      let group = cell.requireWriting()
      let bulk = BulkAppend(cell, group)
      if !bulk.appendMemory(of: objects) {
        // Taken first, here and below: the elements may be the list's own.
        cell.withKeptValues(Array(objects)) { bulk.append($0) }
        bulk.finish()
      }
      cell.changed()
    case .nested(let place): replace(in: place, with: Array(objects)) { $0..<$0 }
    }
  }

  /// Puts elements at a position; stops when it is behind the end.
  public func insert<Elements: Collection>(contentsOf objects: Elements, at index: Int)
  where Elements.Element == Element {
    switch storage {
    case .unmanaged:
      checkBounds(index, count + 1)
      let added = Array(objects)
      edit { $0.insert(contentsOf: added, at: index) }
    case .managed(let cell):
      let group = cell.requireWriting()
      checkBounds(index, cell.requireElements().count + 1)
      var position = index
      cell.withKeptValues(Array(objects)) {
        group.listInsert(cell.storedTable, cell.key, cell.column, at: position, $0)
        position += 1
      }
      cell.changed()
    case .nested(let place):
      replace(in: place, with: Array(objects)) { count in
        checkBounds(index, count + 1)
        return index..<index
      }
    }
  }

  /// Removes the first elements; stops when there are not as many.
  public func removeFirst(_ number: Int = 1) {
    checkRemoval(number)
    removeSubrange(0..<number)
  }

  /// Removes the last elements; stops when there are not as many.
  public func removeLast(_ number: Int = 1) {
    let count = checkRemoval(number)
    removeSubrange(count - number..<count)
  }

  @discardableResult
  private func checkRemoval(_ number: Int) -> Int {
    let count = count
    if number < 0 {
      misuse(.bounds, "The number of elements to remove must not be negative, is \(number).")
    }
    if number > count {
      misuse(
        .bounds,
        "It is not possible to remove more objects (\(number)) from a list than it already contains "
          + "(\(count)).")
    }
    return count
  }

  /// Removes the elements of a range; stops when it is out of bounds.
  public func removeSubrange<Bounds: RangeExpression>(_ boundsExpression: Bounds)
  where Bounds.Bound == Int {
    let range = checkRange(boundsExpression)
    switch storage {
    case .unmanaged: edit { $0.removeSubrange(range) }
    case .managed(let cell):
      let group = cell.requireWriting()
      if range.isEmpty { return }
      group.listRemove(cell.storedTable, cell.key, cell.column, range)
      cell.changed()
    case .nested(let place): replace(in: place, with: []) { _ in range }
    }
  }

  /// The range, which has to lie inside the list.
  private func checkRange<Bounds: RangeExpression>(_ bounds: Bounds) -> Range<Int>
  where Bounds.Bound == Int {
    let range = bounds.relative(to: self)
    checkBounds(range.lowerBound, count + 1)
    checkBounds(range.upperBound, count + 1)
    return range
  }

  /// Removes the elements at positions; stops when one is out of bounds.
  public func remove(atOffsets offsets: IndexSet) {
    if let last = offsets.last { checkBounds(last, count) }
    if offsets.isEmpty { return }
    switch storage {
    // In one pass, however many ranges there are.
    case .unmanaged: edit { $0 = $0[...].without(offsets) }
    case .nested(let place): place.rearrange { $0 = $0[...].without(offsets) }
    case .managed: for range in offsets.rangeView.reversed() { removeSubrange(range) }
    }
  }

  /// Puts elements in the place of those of a range; stops when it is out of bounds.
  public func replaceSubrange<Elements: Collection, Bounds: RangeExpression>(
    _ subrange: Bounds, with newElements: Elements
  ) where Elements.Element == Element, Bounds.Bound == Int {
    let range = checkRange(subrange)
    // Taken first: the elements may be the list's own.
    let elements = Array(newElements)
    if let place = nestedPlace { return replace(in: place, with: elements) { _ in range } }
    guard let cell, Element._rlmType == .any else {
      removeSubrange(range)
      insert(contentsOf: elements, at: range.lowerBound)
      return
    }
    let group = cell.requireWriting()
    var position = range.lowerBound
    cell.withKeptValues(
      elements,
      behind: {
        if !range.isEmpty { group.listRemove(cell.storedTable, cell.key, cell.column, range) }
      }
    ) {
      group.listInsert(cell.storedTable, cell.key, cell.column, at: position, $0)
      position += 1
    }
    cell.changed()
  }

  /// Moves an element so that it is at `to` afterwards; stops when a position is out of bounds.
  public func move(from: Int, to: Int) {
    switch storage {
    case .unmanaged:
      checkBounds(from, count)
      checkBounds(to, count)
      edit { $0.insert($0.remove(at: from), at: to) }
    case .managed(let cell):
      let group = cell.requireWriting()
      let count = cell.requireElements().count
      checkBounds(from, count)
      checkBounds(to, count)
      if from == to { return }
      group.listMove(cell.storedTable, cell.key, cell.column, from: from, to: to)
      cell.changed()
    case .nested(let place):
      let count = place.count(.list)
      checkBounds(from, count)
      checkBounds(to, count)
      place.rearrange { $0.insert($0.remove(at: from), at: to) }
    }
  }

  /// Moves the elements at positions, in their order, in front of the element that is at `offset`
  /// now.
  ///
  /// Stops when a position is out of bounds; `offset` may be the number of elements.
  public func move(fromOffsets offsets: IndexSet, toOffset offset: Int) {
    if let last = offsets.last { checkBounds(last, count) }
    checkBounds(offset, count + 1)
    if offsets.isEmpty { return }
    switch storage {
    case .unmanaged: edit { $0.move(offsets, to: offset) }
    case .nested(let place): place.rearrange { $0.move(offsets, to: offset) }
    case .managed: moveOneByOne(offsets, to: offset)
    }
  }

  private func moveOneByOne(_ offsets: IndexSet, to offset: Int) {
    // Those in front of the place move one by one to just before it, the last one first; those
    // behind it follow.
    var place = offset
    for position in offsets.reversed() where position < offset {
      place -= 1
      move(from: position, to: place)
    }
    place = offset
    for position in offsets where position >= offset {
      move(from: position, to: place)
      place += 1
    }
  }

  /// Runs `body` on a copy of the elements, which then takes their place; nil for a property of a
  /// managed object, whose elements are changed one by one.
  ///
  /// Sorting and partitioning ask for it: inside of a mixed value each change writes all of it.
  public func withContiguousMutableStorageIfAvailable<Result>(
    _ body: (inout UnsafeMutableBufferPointer<Element>) throws -> Result
  ) rethrows -> Result? {
    switch storage {
    case .unmanaged(var elements):
      // The list stays readable meanwhile.
      let result = try elements.withUnsafeMutableBufferPointer(body)
      storage = .unmanaged(elements)
      return result
    case .managed: return nil
    case .nested(let place):
      var elements = nestedElements(place)
      let result = try elements.withUnsafeMutableBufferPointer(body)
      replace(in: place, with: elements) { 0..<$0 }
      return result
    }
  }

  /// Exchanges two elements; stops when a position is out of bounds.
  public func swapAt(_ first: Int, _ second: Int) {
    switch storage {
    case .unmanaged:
      checkBounds(first, count)
      checkBounds(second, count)
      edit { $0.swapAt(first, second) }
    case .nested(let place):
      let count = place.count(.list)
      checkBounds(first, count)
      checkBounds(second, count)
      place.rearrange { $0.swapAt(first, second) }
    case .managed:
      // By moves, which embedded objects survive.
      let (low, high) = (Swift.min(first, second), Swift.max(first, second))
      move(from: low, to: high)
      if high - low > 1 { move(from: high - 1, to: low) }
    }
  }
}

/// Appends to a managed list; integers go in together.
private final class BulkAppend {
  private let cell: CollectionCell
  private let group: GroupTransaction
  /// Not written yet.
  private var integers: [Int64] = []

  init(_ cell: CollectionCell, _ group: GroupTransaction) {
    self.cell = cell
    self.group = group
  }

  /// Appends an array of 64-bit integers as it lies in memory; false for anything else.
  func appendMemory<Elements: Sequence>(of elements: Elements) -> Bool {
    guard Elements.Element.self == Int.self || Elements.Element.self == Int64.self else {
      return false
    }
    let done: Void? = elements.withContiguousStorageIfAvailable { memory in
      UnsafeRawBufferPointer(memory).withMemoryRebound(to: Int64.self) {
        group.listAppend(cell.storedTable, cell.key, cell.column, integers: $0)
      }
    }
    return done != nil
  }

  func append(_ value: ElementValue) {
    if case .integer(let integer) = value {
      integers.append(integer)
      if integers.count == 4096 { finish() }
    } else {
      finish()
      group.listAppend(cell.storedTable, cell.key, cell.column, value)
    }
  }

  func finish() {
    if integers.isEmpty { return }
    integers.withUnsafeBufferPointer {
      group.listAppend(cell.storedTable, cell.key, cell.column, integers: $0)
    }
    integers.removeAll(keepingCapacity: true)
  }
}

extension ArraySlice {
  /// The elements but those at some positions.
  ///
  /// - Complexity: O(n).
  fileprivate func without(_ offsets: IndexSet) -> [Element] {
    var rest: [Element] = []
    rest.reserveCapacity(count)
    var start = startIndex
    for range in offsets.rangeView.lazy.map({ $0.clamped(to: indices) }) where !range.isEmpty {
      rest += self[start..<range.lowerBound]
      start = range.upperBound
    }
    return rest + self[start...]
  }
}

extension Array {
  /// Moves the elements at positions in front of the one that is at `offset` now.
  ///
  /// - Complexity: O(n).
  fileprivate mutating func move(_ offsets: IndexSet, to offset: Int) {
    let moved = offsets.map { self[$0] }
    self = self[..<offset].without(offsets) + moved + self[offset...].without(offsets)
  }
}
