// The way from an object to values: through links and collections to a column, the elements of a
// collection, or one value made of them.
internal import ObjectStore

/// A path with a meaning for one class.
struct PlanPath {
  var hops: [Hop] = []
  var end: End
  /// The sort of the values.
  var type: PropertyType
  /// The class that values that are links lead to, by its position.
  var target: Int?

  /// From one object to others.
  enum Hop {
    /// A link; null leads to a null value.
    case link(column: Int, target: Int)
    /// A list or set of objects.
    case elements(column: Int, target: Int)
    /// The object at a position of a list, nil being the last one; null leads to a null value.
    case element(column: Int, position: Int?, target: Int)
    /// The objects that are a map's values.
    case mapValues(column: Int, target: Int)
    /// The object of a map's key; null leads to a null value.
    case mapValue(column: Int, key: [UInt8], target: Int)
    /// The objects of a class that link here by a column of it.
    case backlinks(column: Int, origin: Int, target: StoredTable)
  }

  /// What is taken of the last object.
  indirect enum End {
    /// The object itself, or the element that is no object.
    case subject
    case column(Int)
    /// The values of a list or set.
    case elements(column: Int)
    /// The value at a position of a list, nil being the last one.
    case element(column: Int, position: Int?)
    case mapKeys(column: Int)
    case mapValues(column: Int)
    case mapValue(column: Int, key: [UInt8])
    case aggregate(PredicateAggregate, PlanPath)
    /// What a mixed value has at some places.
    case nested(column: Int, [PathStep])
    /// The same of mixed values that are elements.
    case inside(End, [PathStep])

    /// Whether it may be any number of values.
    fileprivate var isMultiple: Bool {
      switch self {
      case .subject, .column, .element, .mapValue, .aggregate: return false
      case .elements, .mapKeys, .mapValues: return true
      case .nested(_, let steps): return steps.contains(.anyElement)
      case .inside(let element, let steps):
        return element.isMultiple || steps.contains(.anyElement)
      }
    }
  }

  /// The same way with another end.
  func ending(_ end: End) -> PlanPath {
    var path = self
    path.end = end
    return path
  }

  /// Whether a collection of a property is on the way to the end.
  var passesCollection: Bool { passesCollection(from: 0) }

  /// - Parameter index: the first hop that counts.
  private func passesCollection(from index: Int) -> Bool {
    hops[index...].contains { hop in
      switch hop {
      case .link, .element, .mapValue: return false
      case .elements, .mapValues, .backlinks: return true
      }
    }
  }

  /// Whether there may be any number of values.
  var isMultiple: Bool { isMultiple(from: 0) }

  /// How many collections are on the way, the one at its end included.
  var collections: Int {
    let passed = hops.count { hop in
      switch hop {
      case .elements, .mapValues, .backlinks: true
      case .link, .element, .mapValue: false
      }
    }
    return passed + (end.isMultiple ? 1 : 0)
  }

  /// Whether there may be any number of values behind an object on the way.
  ///
  /// - Parameter index: of the hop that leads on from the object.
  func isMultiple(from index: Int) -> Bool { end.isMultiple || passesCollection(from: index) }

  /// Runs `body` on each value until it returns false.
  ///
  /// - Parameter memo: what is known of the ways to values; they are not given again, `body` has to
  ///   answer equal values alike.
  /// - Returns: false when `body` did.
  @discardableResult
  func forEach(
    _ subject: PlanSubject, _ readers: PlanReaders, memo: PathMemo? = nil,
    _ body: (PlanValue) -> Bool
  ) -> Bool {
    step(subject, start, 0, readers, memo, body)
  }

  /// The class of the object that the path starts from, by its position.
  var start: Int = -1

  private func step(
    _ subject: PlanSubject, _ table: Int, _ index: Int, _ readers: PlanReaders,
    _ memo: PathMemo?, _ body: (PlanValue) -> Bool
  ) -> Bool {
    if index == hops.count { return finish(subject, table, readers, body) }
    guard case .object(let key, let location) = subject, let reader = readers[table] else {
      return true
    }
    func go(_ key: ObjectKey?, _ target: Int) -> Bool {
      // What leads nowhere is null at the end of the path; a collection there has no elements.
      guard let key else { return isMultiple(from: index + 1) || body(.null) }
      func follow() -> Bool {
        guard let location = readers[target]?.locate(key) else { return true }
        return step(.object(key, location), target, index + 1, readers, memo, body)
      }
      return memo?.goesOn(from: key, after: index + 1, follow) ?? follow()
    }
    switch hops[index] {
    case .link(let column, let target): return go(reader.link(location, column), target)
    case .elements(let column, let target):
      return reader.elements(location, column).forEachElement { go($0.asLink, target) }
    case .element(let column, let position, let target):
      let elements = reader.elements(location, column)
      return go(elements.position(position).flatMap { elements.link(at: $0) }, target)
    case .mapValues(let column, let target):
      return reader.mapValues(location, column).forEachElement { go($0.asLink, target) }
    case .mapValue(let column, let name, let target):
      let position = name.withUnsafeBytes { reader.mapPosition(location, column, $0) }
      return go(position.flatMap { reader.mapValues(location, column).link(at: $0) }, target)
    case .backlinks(let column, let origin, let target):
      guard let links = readers[origin]?.backlinks(column, key, in: target) else { return true }
      var goesOn = true
      links.forEach {
        goesOn = go($0, origin)
        return goesOn
      }
      return goesOn
    }
  }

  private func finish(
    _ subject: PlanSubject, _ table: Int, _ readers: PlanReaders, _ body: (PlanValue) -> Bool
  ) -> Bool {
    guard case .object(let key, let location) = subject, let reader = readers[table] else {
      // An element has no properties.
      if case .value(let value) = subject { return body(value) }
      return true
    }
    let target = target ?? -1
    switch end {
    case .subject: return body(.link(table: table, key))
    case .column(let column):
      return reader.withValue(location, column, type, target: target, body)
    case .elements(let column):
      return reader.elements(location, column).forEachElement {
        body(PlanValue($0, type, target: target))
      }
    case .element(let column, let position):
      let elements = reader.elements(location, column)
      guard let position = elements.position(position) else { return body(.null) }
      return elements.withElement(at: position) { body(PlanValue($0, type, target: target)) }
    case .mapKeys(let column):
      return reader.mapKeys(location, column).forEachElement {
        body(PlanValue($0, .string, target: target))
      }
    case .mapValues(let column):
      return reader.mapValues(location, column).forEachElement {
        body(PlanValue($0, type, target: target))
      }
    case .mapValue(let column, let name):
      guard let position = name.withUnsafeBytes({ reader.mapPosition(location, column, $0) })
      else { return body(.null) }
      return reader.mapValues(location, column).withElement(at: position) {
        body(PlanValue($0, type, target: target))
      }
    case .aggregate(let aggregate, let path):
      return path.aggregated(aggregate, subject, readers).withValue(body)
    case .nested(let column, let steps):
      return reader.withBytes(location, column) { bytes in
        bytes.map { MixedPath.forEach($0, steps[...], body) } ?? true
      }
    case .inside(let element, let steps):
      return ending(element).finish(subject, table, readers) { value in
        // Others have nothing inside.
        guard case .bytes(.any, let bytes) = value else { return true }
        return MixedPath.forEach(bytes, steps[...], body)
      }
    }
  }

  /// What a value of the path, an object or an element, is asked as; nil where a link leads
  /// nowhere.
  func subject(of value: PlanValue, _ readers: PlanReaders) -> PlanSubject? {
    guard case .link(let table, let key) = value else {
      return type == .object ? nil : .value(value)
    }
    return readers[table]?.locate(key).map { .object(key, $0) }
  }
}

// MARK: - Aggregates

extension PlanPath {
  /// One value made of all values of the path; nulls do not count, except as elements.
  func aggregated(
    _ aggregate: PredicateAggregate, _ subject: PlanSubject, _ readers: PlanReaders
  ) -> PlanConstant {
    if aggregate == .count, let count = storedCount(subject, readers) {
      return .integer(Int64(count))
    }
    var folding = AggregateFolding(aggregate, type)
    forEach(subject, readers) {
      folding.add($0)
      return true
    }
    return folding.result
  }

  /// The number of elements where the collection knows it.
  private func storedCount(_ subject: PlanSubject, _ readers: PlanReaders) -> Int? {
    guard case .object(let key, let location) = subject, let reader = readers[start] else {
      return nil
    }
    if hops.isEmpty {
      switch end {
      case .elements(let column): return reader.elements(location, column).count
      case .mapKeys(let column), .mapValues(let column):
        return reader.mapKeys(location, column).count
      default: return nil
      }
    }
    guard hops.count == 1, case .subject = end else { return nil }
    switch hops[0] {
    case .elements(let column, _): return reader.elements(location, column).count
    case .mapValues(let column, _): return reader.mapKeys(location, column).count
    case .backlinks(let column, let origin, let target):
      return readers[origin]?.backlinks(column, key, in: target).count ?? 0
    case .link, .element, .mapValue: return nil
    }
  }
}

/// Makes one value of many.
struct AggregateFolding {
  private let aggregate: PredicateAggregate
  private let type: PropertyType
  private var count = 0
  private var integers: Int64 = 0
  private var numbers = 0.0
  private var decimals = Decimal128()
  private var extreme = PlanConstant.null

  init(_ aggregate: PredicateAggregate, _ type: PropertyType) {
    self.aggregate = aggregate
    self.type = type
  }

  /// Mixed values are summed up as decimals, which hold all other numbers.
  private var isDecimal: Bool { type == .decimal128 || type == .any }

  mutating func add(_ value: PlanValue) {
    if case .null = value {
      if aggregate == .count { count += 1 }
      return
    }
    if type == .any, !counts(value) { return }
    count += 1
    switch aggregate {
    case .count: break
    case .sum, .average:
      if case .integer(let integer) = value { integers &+= integer }
      if isDecimal, let decimal = value.asDecimal {
        decimals += Decimal128(decimal)
      } else {
        numbers += value.asNumber ?? 0
      }
    case .min, .max:
      let isBetter = extreme.withValue { extreme in
        if case .null = extreme { return true }
        let order = value.columnOrder(extreme, type)
        return order == (aggregate == .min ? .less : .greater)
      }
      if isBetter { extreme = PlanConstant(value) }
    }
  }

  /// Whether a mixed value counts: a number, or for the extremes a date.
  private func counts(_ value: PlanValue) -> Bool {
    if aggregate == .count { return true }
    let isExtreme = aggregate == .min || aggregate == .max
    if case .date = value { return isExtreme }
    return value.asDecimal != nil
  }

  var result: PlanConstant {
    switch aggregate {
    case .count: return .integer(Int64(count))
    case .sum where isDecimal: return .decimal(decimals.number)
    case .average where isDecimal && count > 0:
      return .decimal((decimals / Decimal128(integerLiteral: Int64(count))).number)
    case .sum: return type == .int ? .integer(integers) : .number(numbers)
    case .average: return count == 0 ? .null : .number(numbers / Double(count))
    case .min, .max: return extreme
    }
  }
}

extension ElementReader {
  /// A position, nil being the last one; nil when there is no such element.
  fileprivate func position(_ position: Int?) -> Int? {
    let position = position ?? count - 1
    return 0..<count ~= position ? position : nil
  }

  /// What `body` says of the element at a position, which has to be there.
  fileprivate func withElement(at position: Int, _ body: (ElementValue) -> Bool) -> Bool {
    var answer = true
    forEach(from: position) { _, value in
      answer = body(value)
      return false
    }
    return answer
  }

  /// Runs `body` on each element until it returns false; false when it did.
  func forEachElement(_ body: (ElementValue) -> Bool) -> Bool {
    var goesOn = true
    forEach { _, value in
      goesOn = body(value)
      return goesOn
    }
    return goesOn
  }
}

extension ElementValue {
  /// The object that is linked; nil for null.
  var asLink: ObjectKey? {
    switch self {
    case .link(let key): return key
    case .integer(let value): return ObjectKey(rawValue: value)
    case .null, .bytes: return nil
    }
  }
}
