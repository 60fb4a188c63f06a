// What tells the objects of a condition without looking at all others: the primary key, an ordered
// index, the links to an object. How many they are is known from counts in the trees, before any is
// looked at.
internal import ObjectStore
internal import Platform

/// Objects that may fulfil a condition, or are all that do.
indirect enum KeySource {
  /// Of a primary key; in order.
  case keys([Int64])
  /// Those whose value in an indexed column has an order in one of some ranges.
  case orders(column: Int, OrderSet)
  /// Those that link to one of some objects through a column, `isSingle` if each links once at
  /// most.
  case links(column: Int, targets: [Int64], isSingle: Bool)
  /// Those of any, which may share some.
  case union([KeySource])
  /// Those of all.
  case intersection([KeySource])

  /// Number of keys; the greatest possible one of unions and intersections.
  func count(_ reader: TableReader) -> Int {
    switch self {
    case .keys(let keys): return keys.count
    case .orders(let column, let orders):
      return orders.ranges.reduce(0) { $0 + reader.indexedCount(column, $1) }
    case .links(let column, let targets, _):
      return targets.reduce(0) { $0 + KeyStream(reader, column, target: $1).count }
    case .union(let sources): return sources.reduce(0) { $0 + $1.count(reader) }
    case .intersection(let sources): return sources.map { $0.count(reader) }.min() ?? 0
    }
  }

  /// Number of keys whose values lie between the bounds of ranges, and at none of them: of texts,
  /// whose first bytes alone are looked at, only these are certain.
  func countInside(_ reader: TableReader) -> Int {
    switch self {
    case .orders(let column, let orders):
      return orders.ranges.reduce(0) { sum, range in
        guard range.lowerBound < .max, range.lowerBound + 1 < range.upperBound else { return sum }
        let inside = range.lowerBound + 1...range.upperBound - 1
        return sum + reader.indexedCount(column, inside)
      }
    case .union(let sources): return sources.reduce(0) { $0 + $1.countInside(reader) }
    case .keys, .links, .intersection: return count(reader)
    }
  }

  /// Whether `count` counts each object once.
  var isCounted: Bool {
    switch self {
    case .keys, .orders: return true
    case .links(_, _, let isSingle): return isSingle
    case .union(let sources): return sources.count == 1 && sources[0].isCounted
    case .intersection: return false
    }
  }

  /// The tree that has the keys in order; nil when they have to be brought into order.
  func stream(_ reader: TableReader) -> KeyStream? {
    switch self {
    case .orders(let column, let orders):
      guard orders.ranges.count == 1, let range = orders.ranges.first,
        range.lowerBound == range.upperBound
      else {
        return nil
      }
      return KeyStream(reader, column, order: range.lowerBound)
    case .links(let column, let targets, _):
      return targets.count == 1 ? KeyStream(reader, column, target: targets[0]) : nil
    default: return nil
    }
  }

  /// The keys in order, each once.
  ///
  /// - Parameter count: what `count` returns, where it is known.
  func sortedKeys(_ reader: TableReader, count: Int? = nil) -> [Int64] {
    if case .keys(let keys) = self { return keys }
    if case .intersection(let sources) = self {
      let lists = sources.map { $0.sortedKeys(reader) }
      return lists.dropFirst().reduce(lists.first ?? []) { common($0, $1) }
    }
    if let stream = stream(reader) {
      var keys: [Int64] = []
      stream.appendKeys(to: &keys)
      if case .links(_, _, false) = self { return withoutRepeated(keys) }
      return keys
    }
    guard let range = reader.keyRange else { return [] }
    var keys: [Int64] = []
    // A bit a key brings many into order faster than comparisons do.
    if (count ?? self.count(reader)) > (range.upperBound - range.lowerBound) / 512 + 64 {
      var bits = KeyBits(range)
      forEach(reader) { bits.insert(ObjectKey(rawValue: $0)) }
      bits.appendKeys(to: &keys)
      return keys
    }
    forEach(reader) { keys.append($0) }
    keys.sort()
    return withoutRepeated(keys)
  }

  /// Runs `body` on the keys, in any order and some of them more than once.
  private func forEach(_ reader: TableReader, _ body: (Int64) -> Void) {
    switch self {
    case .keys(let keys): keys.forEach(body)
    case .orders(let column, let orders):
      for range in orders.ranges { reader.forEachKey(column, range, body) }
    case .links(let column, let targets, _):
      var keys: [Int64] = []
      for target in targets { KeyStream(reader, column, target: target).appendKeys(to: &keys) }
      keys.forEach(body)
    case .intersection: sortedKeys(reader).forEach(body)
    case .union(let sources): for source in sources { source.forEach(reader, body) }
    }
  }
}

/// Keys in order, each once.
private func withoutRepeated(_ keys: [Int64]) -> [Int64] {
  var result: [Int64] = []
  result.reserveCapacity(keys.count)
  for key in keys where key != result.last { result.append(key) }
  return result
}

/// The keys of both lists, which are in order.
private func common(_ left: [Int64], _ right: [Int64]) -> [Int64] {
  var result: [Int64] = []
  var place = 0
  for key in left {
    while place < right.count, right[place] < key { place += 1 }
    if place == right.count { break }
    if right[place] == key { result.append(key) }
  }
  return result
}

/// Ranges of orders, in order and apart from each other.
struct OrderSet {
  let ranges: [ClosedRange<Int64>]

  init(_ range: ClosedRange<Int64>) { ranges = [range] }

  init(_ ranges: [ClosedRange<Int64>]) {
    var joined: [ClosedRange<Int64>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = joined.last, range.lowerBound <= last.upperBound {
        joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        joined.append(range)
      }
    }
    self.ranges = joined
  }

  func contains(_ order: Int64) -> Bool { ranges.contains { $0.contains(order) } }

  func union(_ other: OrderSet) -> OrderSet { OrderSet(ranges + other.ranges) }

  func intersection(_ other: OrderSet) -> OrderSet {
    OrderSet(
      ranges.flatMap { own in
        other.ranges.filter { $0.overlaps(own) }.map { $0.clamped(to: own) }
      })
  }
}

// MARK: - Of columns

extension ColumnTest {
  /// The orders that the values of all rows that fit have in an index, `isExact` if no others have
  /// them; nil when they are no few ranges.
  func orders(_ reader: TableReader, isOptional: Bool) -> (orders: OrderSet, isExact: Bool)? {
    switch range {
    case .nothing: return (OrderSet([]), true)
    case .nulls(let isOutside):
      // Of integers the least one has the order of null, of numbers one that is none.
      return isOutside || !isOptional ? nil : (OrderSet(OrderKey.null...OrderKey.null), false)
    case .integers(let range, let isOutside, _):
      if isOutside { return nil }
      let orders = shifted(range)
      return (OrderSet(orders), !(isOptional && orders.contains(OrderKey.null)))
    case .numbers(let range, let isOutside, _):
      if isOutside { return nil }
      return numberOrders(range).map { (OrderSet($0), true) } ?? (OrderSet([]), true)
    case nil: break
    }
    guard test.options.isEmpty else { return nil }
    switch test.comparator {
    case .equal, .isIn:
      var ranges: [ClosedRange<Int64>] = []
      var isExact = true
      for constant in test.constants {
        guard let order = constant.order(reader, column, type) else { return nil }
        if order == OrderKey.null || !type.isOrderedPacked { isExact = false }
        ranges.append(order...order)
      }
      return (OrderSet(ranges), isExact)
    default: return type == .string ? textOrders(reader.indexForm(column)) : nil
    }
  }

  /// A bug for tests: the range ends too early.
  private func shifted(_ range: ClosedRange<Int64>) -> ClosedRange<Int64> {
    if PlantedBug.indexRangeShort.isActive, range.lowerBound < range.upperBound {
      return range.lowerBound...range.upperBound - 1
    }
    return range
  }

  /// The orders of numbers in a range; nil when no number of the column's type lies there.
  private func numberOrders(_ range: ClosedRange<Double>) -> ClosedRange<Int64>? {
    guard type == .float else {
      return OrderKey.integer(
        range.lowerBound._packed, .double)...OrderKey.integer(
          range.upperBound._packed, .double)
    }
    // The numbers of the range that a Float can have.
    var lower = Float(range.lowerBound)
    if Double(lower) < range.lowerBound { lower = lower.nextUp }
    var upper = Float(range.upperBound)
    if Double(upper) > range.upperBound { upper = upper.nextDown }
    if lower > upper { return nil }
    return OrderKey.integer(lower._packed, .float)...OrderKey.integer(upper._packed, .float)
  }

  /// The orders of texts by their first bytes.
  private func textOrders(_ form: IndexForm) -> (orders: OrderSet, isExact: Bool)? {
    guard case .text(let bytes) = test.constants.first else { return nil }
    let orders = bytes.withUnsafeBytes { OrderKey.range($0, form) }
    switch test.comparator {
    case .less, .lessOrEqual: return (OrderSet(.min...orders.upperBound), false)
    case .greater, .greaterOrEqual: return (OrderSet(orders.lowerBound...Int64.max), false)
    case .between:
      guard case .text(let upper) = test.constants[1] else { return nil }
      let (first, last) = (
        orders.lowerBound, upper.withUnsafeBytes { OrderKey.range($0, form).upperBound }
      )
      return (first <= last ? OrderSet(first...last) : OrderSet([]), false)
    case .beginsWith:
      var (ranges, isExact) = ([ClosedRange<Int64>](), true)
      for constant in test.constants {
        guard case .text(let bytes) = constant, let found = prefixOrders(bytes[...], form) else {
          return nil
        }
        ranges += found.orders.ranges
        isExact = isExact && found.isExact
      }
      return (OrderSet(ranges), isExact)
    case .like:
      let special = [UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "\\")]
      guard let orders = prefixOrders(bytes.prefix { !special.contains($0) }, form) else {
        return nil
      }
      return (orders.orders, false)
    default: return nil
    }
  }

  private func prefixOrders(
    _ prefix: ArraySlice<UInt8>, _ form: IndexForm
  ) -> (orders: OrderSet, isExact: Bool)? {
    if prefix.isEmpty { return nil }
    let length = form.prefixLength
    let least = Array(prefix.prefix(length))
    let greatest = least + Array(repeating: 255, count: 8 - least.count)
    // No more than 8 bytes: these orders have no hash.
    let orders =
      least.withUnsafeBytes {
        OrderKey.bytes($0, form)
      }...greatest.withUnsafeBytes {
        OrderKey.bytes($0, form)
      }
    // Shorter texts are filled up with zeros.
    return (OrderSet(orders), prefix.count <= length && !prefix.contains(0))
  }
}

extension PlanConstant {
  /// The order of the value in an index of a column; nil when it has no form there.
  func order(_ reader: TableReader, _ column: Int, _ type: PropertyType) -> Int64? {
    var result: Int64?
    let isKnown = withElement(type) { result = reader.order(of: $0, column) }
    return isKnown ? result : nil
  }

  /// Runs `body` on the form that the constant has in a column; false when it has none.
  func withElement(_ type: PropertyType, _ body: (ElementValue) -> Void) -> Bool {
    switch (self, type) {
    case (.null, _): body(.null)
    case (.integer(let value), .int): body(.integer(value))
    case (.bool(let value), .bool): body(.integer(value ? 1 : 0))
    case (.number(let value), .double), (.date(let value), .date):
      if value.isNaN { return false }
      body(.integer(value._packed))
    case (.number(let value), .float):
      if value.isNaN || value.isTooLargeForFloat { return false }
      body(.integer(Float(value)._packed))
    case (.text(let bytes), .string): bytes.withUnsafeBytes { body(.bytes($0)) }
    case (.bytes(let own, let bytes), _) where own == type && own != .any:
      bytes.withUnsafeBytes { body(.bytes($0)) }
    default: return false
    }
    return true
  }
}
