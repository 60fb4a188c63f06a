// Look-ups in ordered indexes.
internal import Storage
internal import Trees

extension TableReader {
  /// The order of an object's value.
  func order(_ location: RowLocation, _ column: Int) -> Int64 {
    let order = traits[column].order
    if order == .bytes {
      return withBytes(location, column) { $0.map { OrderKey.bytes($0) } ?? OrderKey.null }
    }
    return isNull(location, column)
      ? OrderKey.null : OrderKey.integer(integer(location, column), order)
  }

  /// The order of a value of a column.
  private func order(of value: ElementValue, _ column: Int) -> Int64 {
    switch value {
    case .null: OrderKey.null
    case .integer(let integer): OrderKey.integer(integer, traits[column].order)
    case .bytes(let bytes): OrderKey.bytes(bytes)
    case .link(let key): key.rawValue
    }
  }

  /// Runs `body` on the objects whose value in an indexed column equals one, in key order, until it
  /// returns false.
  ///
  /// - Parameter value: null, an integer (bit patterns for Date, Double, Float) or bytes.
  /// - Complexity: O(log n) and the matches; bytes that begin with the same 8 are compared too.
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
  /// and the bounds look at the first 8 bytes only: the caller compares objects that come with the
  /// same `order`, and those at the bounds; null and bytes that begin with 8 zeros have one order.
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
    let low = lower.map { order(of: $0, column) } ?? .min
    let high = upper.map { order(of: $0, column) } ?? .max
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
