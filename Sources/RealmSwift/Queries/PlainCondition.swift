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
  /// What sub-queries found of their elements.
  private let memo = PlainMemo()

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
    let fits: (PlainValue) -> Bool = { left in
      func fits(_ comparator: PredicateComparator, _ right: PlainValue) -> Bool {
        left.holds(comparator, right, comparison.options)
      }
      switch comparison.comparator {
      case .between: return fits(.greaterOrEqual, right[0]) && fits(.lessOrEqual, right[1])
      default: return right.contains { fits(comparison.comparator, $0) }
      }
    }
    let left = values(comparison.left)
    return comparison.quantifier == .all ? left.allSatisfy(fits) : left.contains(where: fits)
  }

  // MARK: - Operands

  /// The values that one side of a comparison leads to.
  private func values(_ operand: PredicateOperand) -> [PlainValue] {
    switch operand {
    case .value(let value): return [PlainValue(constant: value)]
    case .values(let values): return values.map { PlainValue(constant: $0) }
    case .path(let path): return ways(path).elements().map { PlainValue($0) }
    case .subquery(let subquery): return [PlainValue(constant: count(subquery))]
    }
  }

  /// How many elements fulfil a sub-query's condition.
  private func count(_ subquery: Subquery) -> Int {
    let elements = ways(subquery.collection).elements().merged { $0.identityKey }
    var inner = self
    var count = 0
    for element in elements where !element.isMissingObject {
      inner.variables[subquery.variable] = .some(element.value)
      let holds = memo.answer(subquery, of: element.value as? ObjectBase) {
        inner.holds(subquery.condition)
      }
      if holds { count = count.addingClamped(element.count) }
    }
    return count
  }

  /// What a path leads to; a collection at its end is one value.
  private func ways(_ path: PropertyPath) -> [PlainWay] {
    var ways = [PlainWay(path.variable.map { variables[$0] ?? nil } ?? subject)]
    var steps = path.steps[...]
    while let step = steps.popFirst() {
      switch step {
      case .property(let name):
        let isOneValue = Self.makeOneValue(steps)
        ways = ways.elements().merged { $0.managedIdentity }
          .compactMap { $0.going(to: name, isOneValue: isOneValue) }
      case .key(let key): ways.replaceInside { untypedEntries($0)?[StoredText(key)] ?? nil }
      case .index(let index):
        ways.replaceInside { value in
          let elements = PlainWay.members(value) ?? [value]
          return elements.indices.contains(index) ? elements[index] : nil
        }
      case .last: ways.replaceInside { (PlainWay.members($0) ?? [$0]).last ?? nil }
      case .anyElement, .mapValues: ways = ways.flatMap { $0.inside() }
      case .mapKeys: ways = ways.flatMap { way in Self.keys(way.value).map { way.on(to: $0) } }
      case .aggregate(let aggregate):
        // What is left of the path is the property of the elements.
        var names: [String] = []
        while case .property(let name) = steps.first {
          names.append(name)
          steps.removeFirst()
        }
        let rest = names.isEmpty ? "self" : names.joined(separator: ".")
        ways.replaceInside { Self.aggregate(aggregate, of: $0, rest) }
      }
    }
    return ways
  }

  /// Whether what follows makes one value of a collection.
  private static func makeOneValue(_ steps: ArraySlice<PathStep>) -> Bool {
    switch steps.first {
    case .key, .index, .last: return true
    default:
      return steps.contains { if case .aggregate = $0 { true } else { false } }
    }
  }

  private static func aggregate(
    _ aggregate: PredicateAggregate, of value: Any?, _ keyPath: String
  ) -> Any? {
    guard let value else { return nil }
    if aggregate == .count { return (PlainWay.members(value) ?? [value]).count }
    let keyPath = "\(aggregate.rawValue).\(keyPath)"
    if let map = value as? any RealmKeyedCollection { return map.value(forKeyPath: keyPath) }
    return (value as? any _KeyPathReadable)?._value(forKeyPath: keyPath)
  }

  private static func keys(_ map: Any?) -> [Any?] {
    (untypedEntries(map) ?? [:]).keys.map { $0.text }
  }
}

/// What was found of the elements of sub-queries while one subject is asked: an element that many
/// lead to is asked once.
private final class PlainMemo {
  private struct Question: Hashable {
    let subquery: ObjectIdentifier
    let element: AnyHashable
  }

  /// With the objects: no other takes their place in memory meanwhile.
  private var answers: [Question: (answer: Bool, ObjectBase)] = [:]
  /// Whether the conditions of sub-queries speak of their elements alone.
  private var areOwn: [ObjectIdentifier: Bool] = [:]

  func answer(_ subquery: Subquery, of element: ObjectBase?, _ ask: () -> Bool) -> Bool {
    let identity = ObjectIdentifier(subquery.identity)
    guard let element, let key = element.plainIdentity else { return ask() }
    if areOwn[identity] == nil { areOwn[identity] = subquery.speaksOfElementsAlone }
    if areOwn[identity] == false { return ask() }
    let question = Question(subquery: identity, element: key)
    if let known = answers[question] { return known.answer }
    let answer = ask()
    answers[question] = (answer, element)
    return answer
  }
}

extension ObjectBase {
  /// What tells the object while one subject is asked; nil where it is another instance each time.
  fileprivate final var plainIdentity: AnyHashable? {
    if _realm == nil { return AnyHashable(ObjectIdentifier(self)) }
    return identityKey.map { AnyHashable($0) }
  }
}

extension Subquery {
  /// Whether all paths of the condition begin with the sub-query's own element.
  fileprivate var speaksOfElementsAlone: Bool {
    var isOwn = true
    condition.forEachComparison { comparison in
      for operand in [comparison.left, comparison.right] {
        switch operand {
        case .path(let path): isOwn = isOwn && path.variable == variable
        case .subquery(let inner):
          isOwn =
            isOwn && inner.collection.variable == variable && inner.variable != variable
            && inner.speaksOfElementsAlone
        case .value, .values: break
        }
      }
    }
    return isOwn
  }
}
