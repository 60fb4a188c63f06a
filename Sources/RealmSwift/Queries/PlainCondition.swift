// Conditions on objects and values that belong to no Realm, asked one by one through key-value
// coding. What a Realm stores is asked by QueryPlan instead; how two values compare is decided by
// PlanValue for both.
internal import Foundation

/// What a condition is asked about, without a file.
struct PlainCondition {
  /// The object or value.
  let subject: Any?
  /// The elements of the sub-queries that are around here, by name.
  private var variables: [String: Any?] = [:]

  init(subject: Any?) { self.subject = subject }

  /// Whether the condition holds; stops when it names what an object does not have.
  func holds(_ tree: PredicateTree) -> Bool {
    var walk = PredicateWalk(tree, merges: true)
    var value = true
    while let step = walk.next() {
      switch step {
      // Of no parts.
      case .begin(let joint): value = joint == .and
      case .leaf(.constant(let constant)): value = constant
      case .leaf(.comparison(let comparison)): value = holds(comparison)
      case .leaf(.joined): break
      case .end(let joint): if joint == .not { value.toggle() }
      }
      if case .begin = step { continue }
      // The parts behind the one that decides are not asked.
      if walk.joint == .and && !value || walk.joint == .or && value { walk.skipGroup() }
    }
    return value
  }

  private func holds(_ comparison: PredicateComparison) -> Bool {
    if comparison.comparator == .geoWithin {
      misuse(.argument, "Places are only compared in queries of a Realm.")
    }
    let right = values(comparison.right)
    let fits: (Any?) -> Bool = { left in
      func fits(_ comparator: PredicateComparator, _ right: Any?) -> Bool {
        Self.holds(left, comparator, right, comparison.options)
      }
      switch comparison.comparator {
      case .between: return fits(.greaterOrEqual, right[0]) && fits(.lessOrEqual, right[1])
      default: return right.contains { fits(comparison.comparator, $0) }
      }
    }
    let left = values(comparison.left)
    return comparison.quantifier == .all ? left.allSatisfy(fits) : left.contains(where: fits)
  }

  private static func holds(
    _ left: Any?, _ comparator: PredicateComparator, _ right: Any?, _ options: StringOptions
  ) -> Bool {
    if left is ObjectBase || right is ObjectBase {
      let isSame = (left as? ObjectBase)?.isEqual(right) ?? false
      switch comparator {
      case .equal, .isIn: return isSame
      case .notEqual: return !isSame
      default: return false
      }
    }
    let wanted = constant(right, as: left)
    return constant(left, as: right).withValue { left in
      wanted.withValue { left.holds(comparator, $0, options) }
    }
  }

  /// The form in which a value is compared with another one: truth values with numbers as numbers.
  private static func constant(_ value: Any?, as other: Any?) -> PlanConstant {
    if other is Decimal128, let value = Decimal128._fromAny(value) { return .decimal(value.number) }
    switch value {
    case nil: return .null
    case let value as Bool:
      return other is any BinaryInteger ? .integer(value ? 1 : 0) : .bool(value)
    case let value as any BinaryInteger:
      return .integer(Int64(clamping: value))
    case let value as Float: return .number(Double(value))
    case let value as Double: return .number(value)
    case let value as Date: return .date(value.timeIntervalSinceReferenceDate)
    case let value as String: return .text(Array(value.utf8))
    case let value as Decimal128: return .decimal(value.number)
    case let value as any _BytesValue:
      return .bytes(type(of: value)._rlmType, value._withBytes { Array($0) })
    default: misuse(.argument, "'\(ValueText.of(value))' is no value that a condition can compare.")
    }
  }

  // MARK: - Operands

  /// The values that one side of a comparison leads to.
  private func values(_ operand: PredicateOperand) -> [Any?] {
    switch operand {
    case .value(let value): return [queryValue(value)]
    case .values(let values): return values.map { queryValue($0) }
    case .path(let path): return ways(path).flatMap { Self.elements($0.value) }
    case .subquery(let subquery):
      let elements = ways(subquery.collection).elements().merged { $0.identityKey }
      var inner = self
      var count = 0
      for element in elements {
        inner.variables[subquery.variable] = .some(element.value)
        if inner.holds(subquery.condition) { count = count.addingClamped(element.count) }
      }
      return [count]
    }
  }

  /// What a path leads to; a collection at its end is one value.
  private func ways(_ path: PropertyPath) -> [PlainWay] {
    var ways = [PlainWay(queryValue(path.variable.map { variables[$0] ?? nil } ?? subject))]
    var steps = path.steps[...]
    while let step = steps.popFirst() {
      switch step {
      case .property(let name):
        ways = ways.elements().merged { $0.managedIdentity }
        ways.replace { ($0 as? ObjectBase)?.value(forKey: name) }
      case .key(let key): ways.replace { untypedEntries($0)?[StoredText(key)] ?? nil }
      case .index(let index):
        ways.replace { value in
          let elements = Self.elements(value)
          return index < elements.count ? elements[index] : nil
        }
      case .last: ways.replace { Self.elements($0).last ?? nil }
      case .anyElement, .mapValues: ways = ways.elements()
      case .mapKeys: ways = ways.flatMap { way in Self.keys(way.value).map { way.on(to: $0) } }
      case .aggregate(let aggregate):
        // What is left of the path is the property of the elements.
        var names: [String] = []
        while case .property(let name) = steps.first {
          names.append(name)
          steps.removeFirst()
        }
        let rest = names.isEmpty ? "self" : names.joined(separator: ".")
        ways.replace { Self.aggregate(aggregate, of: $0, rest) }
      }
      ways.replace { queryValue($0) }
    }
    return ways
  }

  private static func aggregate(
    _ aggregate: PredicateAggregate, of value: Any?, _ keyPath: String
  ) -> Any? {
    if aggregate == .count { return elements(value).count }
    let keyPath = "\(aggregate.rawValue).\(keyPath)"
    if let map = value as? any RealmKeyedCollection { return map.value(forKeyPath: keyPath) }
    return (value as? any _KeyPathReadable)?._value(forKeyPath: keyPath)
  }

  private static func keys(_ map: Any?) -> [Any?] {
    (untypedEntries(map) ?? [:]).keys.map { $0.text }
  }

  /// The elements of a collection, the values of a map, or the value itself.
  fileprivate static func elements(_ value: Any?) -> [Any?] {
    switch value {
    case let values as any _UntypedElements: return values._untypedElements.map { queryValue($0) }
    case let map as any _UntypedEntries: return map._untypedEntries.values.map { queryValue($0) }
    default: return [value]
    }
  }
}

/// What a part of a path leads to, and in how many ways.
///
/// So an object is asked once for what is behind it, however many ways lead to it. PathMemo does
/// the same for what a Realm stores.
private struct PlainWay {
  var value: Any?
  /// A number that is too large is the largest there is.
  var count = 1

  init(_ value: Any?) { self.value = value }

  /// As many ways to another value.
  func on(to value: Any?) -> PlainWay {
    var way = self
    way.value = value
    return way
  }
}

extension [PlainWay] {
  fileprivate mutating func replace(_ value: (Any?) -> Any?) {
    for index in indices { self[index].value = value(self[index].value) }
  }

  /// The ways to the elements of the collections among the values.
  fileprivate func elements() -> [PlainWay] {
    flatMap { way in PlainCondition.elements(way.value).map { way.on(to: $0) } }
  }

  /// One way for each object, with the number of all that lead to it, in the order of the first.
  ///
  /// - Parameter identity: what tells a managed object, where instances can stand for one another.
  fileprivate func merged(_ identity: (ObjectBase) -> ManagedIdentity?) -> [PlainWay] {
    if count < 2 { return self }
    var positions: [AnyHashable: Int] = [:]
    var merged: [PlainWay] = []
    for way in self {
      guard let object = way.value as? ObjectBase else {
        merged.append(way)
        continue
      }
      let key = identity(object).map { AnyHashable($0) } ?? AnyHashable(ObjectIdentifier(object))
      if let position = positions[key] {
        merged[position].count = merged[position].count.addingClamped(way.count)
      } else {
        positions[key] = merged.count
        merged.append(way)
      }
    }
    return merged
  }
}

extension Int {
  fileprivate func addingClamped(_ other: Int) -> Int {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }
}
