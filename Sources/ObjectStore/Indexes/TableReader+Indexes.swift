// Look-ups in ordered indexes.
internal import Storage
internal import Trees

extension TableReader {
  /// The order of an object's value.
  func order(_ location: RowLocation, _ column: Int) -> Int64 {
    let order = traits[column].order
    if order == .bytes {
      let form = traits[column].indexForm
      return withBytes(location, column) { $0.map { OrderKey.bytes($0, form) } ?? OrderKey.null }
    }
    return isNull(location, column)
      ? OrderKey.null : OrderKey.integer(integer(location, column), order)
  }

  /// How the index of a column sorts bytes.
  package func indexForm(_ column: Int) -> IndexForm { traits[column].indexForm }

  /// The order of a value of a column.
  package func order(of value: ElementValue, _ column: Int) -> Int64 {
    switch value {
    case .null: OrderKey.null
    case .integer(let integer): OrderKey.integer(integer, traits[column].order)
    case .bytes(let bytes): OrderKey.bytes(bytes, traits[column].indexForm)
    case .link(let key): key.rawValue
    }
  }

  /// The orders of values that an index cannot tell to be less or greater than one.
  private func orders(around value: ElementValue, _ column: Int) -> ClosedRange<Int64> {
    if case .bytes(let bytes) = value { return OrderKey.range(bytes, traits[column].indexForm) }
    let order = order(of: value, column)
    return order...order
  }

  /// Runs `body` on the objects whose value in an indexed column equals one, in key order, until it
  /// returns false.
  ///
  /// - Parameter value: null, an integer (bit patterns for Date, Double, Float) or bytes.
  /// - Complexity: O(log n) and the matches; bytes of the same order are compared too.
  package func forEachIndexed(
    _ column: Int, equal value: ElementValue, _ body: (ObjectKey) -> Bool
  ) {
    let order = order(of: value, column)
    pairTree(column, .index).forEach(from: Pair(order, .min)) { pair in
      guard pair.first == order else { return false }
      let key = ObjectKey(rawValue: pair.second)
      return isValue(key, column, value, order) ? body(key) : true
    }
  }

  /// Whether an object whose value has the order of another one has that value.
  private func isValue(
    _ key: ObjectKey, _ column: Int, _ value: ElementValue, _ order: Int64
  ) -> Bool {
    switch value {
    case .integer, .link:
      if order != OrderKey.null { return true }
      return locate(key).map { !isNull($0, column) } ?? false
    case .null:
      guard let location = locate(key) else { return false }
      if traits[column].isPacked { return isNull(location, column) }
      return withBytes(location, column) { $0 == nil }
    case .bytes(let wanted):
      guard let location = locate(key) else { return false }
      return withBytes(location, column) { bytes in
        bytes.map { $0.hasSameBytes(as: wanted) } ?? false
      }
    }
  }

  /// Number of objects whose value in an indexed column equals one.
  package func indexedCount(_ column: Int, equal value: ElementValue) -> Int {
    var count = 0
    forEachIndexed(column, equal: value) { _ in
      count += 1
      return true
    }
    return count
  }

  /// Runs `body` on the objects whose value in an indexed column lies between two, both included,
  /// until it returns false.
  ///
  /// Exact for packed columns, except that null and `Int64.min` have one order. For bytes the order
  /// and the bounds look at the first bytes only (`IndexForm.prefixLength`): the caller compares
  /// objects that begin alike, and those at the bounds; null and bytes that are all zeros may have
  /// one order.
  /// Nulls come first, with `OrderKey.null`; a `lower` that is not null leaves them out.
  ///
  /// - Parameters:
  ///   - lower: nil for no bound; `upper` too.
  ///   - body: gets the value's order (`OrderKey`) and the object; equal orders come in key order
  ///     (descending walks: reversed).
  package func forEachIndexed(
    _ column: Int, from lower: ElementValue? = nil, through upper: ElementValue? = nil,
    ascending: Bool = true, _ body: (_ order: Int64, _ key: ObjectKey) -> Bool
  ) {
    let tree = pairTree(column, .index)
    let low = lower.map { orders(around: $0, column).lowerBound } ?? .min
    let high = upper.map { orders(around: $0, column).upperBound } ?? .max
    var skipsNulls = false
    if let lower, low == OrderKey.null {
      if case .null = lower {} else { skipsNulls = true }
    }
    func visit(_ pair: Pair) -> Bool {
      let key = ObjectKey(rawValue: pair.second)
      if skipsNulls, pair.first == OrderKey.null, isValue(key, column, .null, pair.first) {
        return true
      }
      return body(pair.first, key)
    }
    if ascending {
      tree.forEach(from: Pair(low, .min)) { $0.first <= high && visit($0) }
    } else {
      tree.forEachDescending(from: Pair(high, .max)) { $0.first >= low && visit($0) }
    }
  }
}
