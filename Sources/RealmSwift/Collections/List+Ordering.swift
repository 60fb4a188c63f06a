// Lists: other orders of all their elements. The standard library has these for every mutable
// collection, by exchanges or by setting each element. Inside of a mixed value each of those writes
// the whole value, and embedded objects can only be moved.
internal import ObjectStore

/// What is put into other orders by means of its own.
///
/// Refines what the standard library asks for, so that these take the place of its own. As those
/// they need a variable.
public protocol _Reorderable: MutableCollection, RandomAccessCollection {
  /// Sorts the elements.
  func _sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows
  /// Puts the elements in the opposite order.
  func _reverse()
  /// Puts the elements in an order by chance.
  func _shuffle<Generator: RandomNumberGenerator>(using generator: inout Generator)
}

extension _Reorderable {
  /// Sorts the elements by a comparison, those that it calls equal in the order they have now.
  ///
  /// Of a managed list only inside a transaction, as all below. When the comparison throws, nothing
  /// has changed.
  ///
  /// - Complexity: O(n log n).
  public mutating func sort(
    by areInIncreasingOrder: (Element, Element) throws -> Bool
  ) rethrows {
    try _sort(by: areInIncreasingOrder)
  }

  /// Sorts the elements, the least first.
  ///
  /// - Complexity: O(n log n).
  public mutating func sort() where Element: Comparable { _sort(by: <) }

  /// Puts the elements in the opposite order.
  ///
  /// - Complexity: O(n log n).
  public mutating func reverse() { _reverse() }

  /// Puts the elements in an order by chance.
  ///
  /// - Complexity: O(n log n).
  public mutating func shuffle() {
    var generator = SystemRandomNumberGenerator()
    _shuffle(using: &generator)
  }

  /// Puts the elements in the order that an array of them would get from the generator.
  ///
  /// - Complexity: O(n log n).
  public mutating func shuffle<Generator: RandomNumberGenerator>(
    using generator: inout Generator
  ) {
    _shuffle(using: &generator)
  }
}

extension List: _Reorderable {
  /// Sorts the elements.
  public func _sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows {
    guard let cell else {
      _ = try withContiguousMutableStorageIfAvailable { try $0.sort(by: areInIncreasingOrder) }
      return
    }
    _ = cell.requireWriting()
    let elements = Array(self)
    let order = try elements.indices.sorted {
      try areInIncreasingOrder(elements[$0], elements[$1])
    }
    if (elements.first as? ObjectBase)?.isEmbedded == true {
      var rest = PositionsLeft(elements.count)
      for (position, source) in order.enumerated() {
        move(from: position + rest.take(source), to: position)
      }
    } else if Element._rlmType == .any {
      let group = cell.requireWriting()
      var position = 0
      cell.withKeptValues(order.map { elements[$0] }) {
        if order[position] != position {
          group.listSet(cell.storedTable, cell.key, cell.column, at: position, $0)
        }
        position += 1
      }
      cell.changed()
    } else {
      for (position, source) in order.enumerated() where position != source {
        self[position] = elements[source]
      }
    }
  }

  /// Puts the elements in the opposite order.
  public func _reverse() {
    switch storage {
    case .unmanaged: edit { $0.reverse() }
    case .nested(let place): place.rearrange { $0.reverse() }
    case .managed(let cell):
      _ = cell.requireWriting()
      for position in indices.dropLast() { move(from: endIndex - 1, to: position) }
    }
  }

  /// Puts the elements in an order by chance.
  public func _shuffle<Generator: RandomNumberGenerator>(using generator: inout Generator) {
    switch storage {
    case .unmanaged: edit { $0.shuffle(using: &generator) }
    case .nested(let place): place.rearrange { $0.shuffle(using: &generator) }
    case .managed(let cell):
      _ = cell.requireWriting()
      // The algorithm of the standard library.
      for position in indices.dropLast() {
        swapAt(position, position + .random(in: 0..<endIndex - position, using: &generator))
      }
    }
  }
}

/// Which of n positions have not been taken, as a Fenwick tree of their numbers.
private struct PositionsLeft {
  private var counts: [Int]

  init(_ count: Int) { counts = (0...count).map { $0 & -$0 } }

  /// Takes a position out.
  ///
  /// - Returns: how many are left in front of it.
  /// - Complexity: O(log n).
  mutating func take(_ position: Int) -> Int {
    var before = 0
    var index = position
    while index > 0 {
      before += counts[index]
      index &= index - 1
    }
    index = position + 1
    while index < counts.count {
      counts[index] -= 1
      index += index & -index
    }
    return before
  }
}
