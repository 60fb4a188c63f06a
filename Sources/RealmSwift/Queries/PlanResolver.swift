// From names to columns: gives a predicate tree its meaning for one class, and stops with a message
// where it has none.
internal import Foundation
internal import ObjectStore

/// What a condition speaks of: objects of a class, or elements that are no objects.
struct PlanScope {
  /// The class; nil for elements.
  let binding: TableBinding?
  /// The sort of elements.
  let type: PropertyType
  /// What the text calls it, without `$`; nil for the whole condition's subject.
  let variable: String?
  /// For messages.
  let name: String
}

/// Makes plans for one Realm.
struct PlanResolver {
  let realm: ConfinedRealm
  /// The classes that are looked at, by position.
  var tables: Set<Int> = []
  /// See `QueryPlan.slotCount`.
  private var slotCount = 0

  init(_ realm: ConfinedRealm) { self.realm = realm }

  /// A plan of a condition on objects of a class.
  static func plan(
    _ tree: PredicateTree, _ realm: ConfinedRealm, _ binding: TableBinding
  ) -> QueryPlan {
    let name = binding.schema.name
    return plan(
      tree, realm, PlanScope(binding: binding, type: .object, variable: nil, name: name))
  }

  /// A plan of a condition on objects or elements.
  static func plan(
    _ tree: PredicateTree, _ realm: ConfinedRealm, _ scope: PlanScope
  ) -> QueryPlan {
    var resolver = PlanResolver(realm)
    if let binding = scope.binding { resolver.tables.insert(realm.position(of: binding)) }
    let condition = resolver.resolve(tree, scope)
    return QueryPlan(
      condition: condition, tables: resolver.tables, slotCount: resolver.slotCount)
  }

  /// The path of a key path, and the classes that it looks at.
  static func path(
    _ path: PropertyPath, _ realm: ConfinedRealm, _ binding: TableBinding
  ) -> (path: PlanPath, tables: Set<Int>) {
    var resolver = PlanResolver(realm)
    resolver.tables.insert(realm.position(of: binding))
    let scope = PlanScope(
      binding: binding, type: .object, variable: nil, name: binding.schema.name)
    let found = resolver.resolvePath(path, scope)
    return (found.path, resolver.tables)
  }

  // MARK: - Conditions

  private mutating func resolve(_ tree: PredicateTree, _ scope: PlanScope) -> PlanCondition {
    let planned = tree.joiningComparisons().folded { leaf in
      switch leaf {
      case .constant(let value): PlannedCondition(.constant(value))
      case .comparison(let comparison): PlannedCondition(resolve(comparison, scope))
      case .joined: preconditionFailure("a joint among the leaves")
      }
    } joined: { joint, parts in
      PlannedCondition(joint, parts)
    }
    return planned.condition
  }

  private mutating func resolve(
    _ comparison: PredicateComparison, _ scope: PlanScope
  ) -> PlanCondition {
    var comparison = comparison
    if case .path(let all) = comparison.left, case .path(let path) = comparison.right,
      comparison.comparator == .isIn, comparison.quantifier == .all,
      collections(all, scope) > 0, collections(path, scope) > 0
    {
      // Each is one of them: a comparison takes any value of its right side.
      comparison.comparator = .equal
    }
    if case .path(let path) = comparison.right, comparison.comparator == .isIn {
      // One of a collection's elements is the value.
      comparison.right = comparison.left
      comparison.left = .path(path)
      comparison.comparator = .equal
      comparison.quantifier = .any
    }
    // The side with a property stands on the left.
    if case .value = comparison.left, let mirrored = comparison.comparator.mirrored {
      swap(&comparison.left, &comparison.right)
      comparison.comparator = mirrored
    }
    if let tree = comparison.byMembers({ collections($0, scope) }) { return resolve(tree, scope) }
    let left = resolve(comparison.left, scope)
    checkQuantifier(comparison, left)
    guard let leftType = left.type else { return resolveConstant(comparison, left, scope) }
    check(comparison.comparator, leftType)
    if comparison.comparator == .geoWithin { return resolveArea(comparison, left) }
    switch comparison.right {
    case .value(let value):
      return condition(comparison, left, [value])
    case .values(let values):
      return condition(comparison, left, values)
    case .path, .subquery:
      let right = resolve(comparison.right, scope)
      checkTypes(comparison, left, right)
      return .values(
        ValuesTest(
          left: left.operand, isAll: comparison.quantifier == .all,
          right: .operand(right.operand, comparison.comparator, comparison.options),
          slots: &slotCount))
    }
  }

  /// How many collections a path passes; more than none: it leads to several values.
  private mutating func collections(_ path: PropertyPath, _ scope: PlanScope) -> Int {
    if case .path(let path) = resolve(.path(path), scope).operand { return path.collections }
    return 0
  }

  /// Whether a linked place lies inside of an area.
  private mutating func resolveArea(
    _ comparison: PredicateComparison, _ left: ResolvedOperand
  ) -> PlanCondition {
    guard case .value(let value) = comparison.right, let area = GeoArea(value) else {
      misuse(.argument, "The right side of geoWithin has to be a GeoBox, GeoCircle or GeoPolygon.")
    }
    guard let target = left.target, let test = AreaTest(area, realm.bindings[target]) else {
      misuse(
        .argument,
        "'\(left.name)' cannot be used in a geoWithin query: it has to link to objects with the "
          + "properties 'type', a String, and 'coordinates', a List<Double>.")
    }
    return .values(
      ValuesTest(
        left: left.operand, isAll: comparison.quantifier == .all, right: .area(test),
        slots: &slotCount))
  }

  /// A comparison of a property with values.
  private mutating func condition(
    _ comparison: PredicateComparison, _ left: ResolvedOperand, _ values: [Any?]
  ) -> PlanCondition {
    let constants = values.map { constant($0, for: left) }
    let test = ValueTest(
      comparison.comparator, comparison.options, constants, left.type!)
    if case .path(let path) = left.operand, path.hops.isEmpty, case .column(let column) = path.end,
      path.type != .any, comparison.quantifier == nil
    {
      return .column(ColumnTest(column: column, type: path.type, test: test))
    }
    let values = ValuesTest(
      left: left.operand, isAll: comparison.quantifier == .all, right: .test(test),
      slots: &slotCount)
    if case .path(let path) = left.operand,
      let linked = LinkedTest(path, test, values, slots: &slotCount)
    {
      return .linked(linked)
    }
    return .values(values)
  }

  /// A comparison whose left side is a value: `"abc" CONTAINS name`, `1 == 1`.
  private mutating func resolveConstant(
    _ comparison: PredicateComparison, _ left: ResolvedOperand, _ scope: PlanScope
  ) -> PlanCondition {
    guard case .value(let value) = comparison.left else {
      misuse(.argument, "The left side of \(comparison.comparator.rawValue) has to be a property.")
    }
    let right = resolve(comparison.right, scope)
    guard right.type != nil else {
      misuse(
        .argument,
        "Predicate expressions must compare a keypath and another keypath or a "
          + "constant value.")
    }
    check(comparison.comparator, right.type!)
    return .values(
      ValuesTest(
        left: .constant(constant(value, for: right)), isAll: false,
        right: .operand(right.operand, comparison.comparator, comparison.options),
        slots: &slotCount))
  }

  // MARK: - Operands

  /// An operand, and what is known of its values.
  private struct ResolvedOperand {
    let operand: PlanOperand
    /// Nil for a value of the condition.
    let type: PropertyType?
    /// The class of objects.
    var target: Int?
    /// For messages: the property's name and its class's.
    var name = ""
    var className = ""
  }

  private mutating func resolve(_ operand: PredicateOperand, _ scope: PlanScope) -> ResolvedOperand
  {
    switch operand {
    case .value, .values: return ResolvedOperand(operand: .constant(.null), type: nil)
    case .path(let path):
      let found = resolvePath(path, scope)
      return ResolvedOperand(
        operand: .path(found.path), type: found.path.type, target: found.path.target,
        name: path.text, className: found.className)
    case .subquery(let subquery):
      let collection = resolvePath(subquery.collection, scope).path
      guard collection.isMultiple else {
        misuse(
          .argument,
          "SUBQUERY must have a collection as its first argument: '\(subquery.collection.text)' is "
            + "none.")
      }
      let binding = collection.target.map { realm.bindings[$0] }
      let inner = PlanScope(
        binding: binding, type: collection.type, variable: subquery.variable,
        name: binding?.schema.name ?? collection.type.description)
      let condition = resolve(subquery.condition, inner)
      let slot = slotCount
      slotCount += 2
      return ResolvedOperand(
        operand: .subquery(collection, condition, slot: slot), type: .int, name: "SUBQUERY",
        className: scope.name)
    }
  }

  // MARK: - Checks

  private func checkQuantifier(_ comparison: PredicateComparison, _ left: ResolvedOperand) {
    guard case .path(let path) = left.operand else { return }
    // `[*]` says by itself that any of the values may fit.
    if case .nested = path.end, comparison.quantifier == nil, !path.passesCollection { return }
    if case .inside(let element, _) = path.end, comparison.quantifier == nil,
      !path.ending(element).isMultiple
    {
      return
    }
    if comparison.quantifier == nil, path.isMultiple {
      misuse(
        .argument,
        "Key paths that include a collection property must use aggregate operations: put ANY, ALL "
          + "or NONE before '\(left.name)'.")
    }
    if comparison.quantifier != nil, !path.isMultiple {
      misuse(
        .argument,
        "Aggregate operations can only be used on key paths that include a collection property: "
          + "'\(left.name)' includes none.")
    }
  }

  private func check(_ comparator: PredicateComparator, _ type: PropertyType) {
    let isAllowed: Bool
    switch comparator {
    case .equal, .notEqual, .isIn: isAllowed = true
    case .less, .lessOrEqual, .greater, .greaterOrEqual, .between:
      isAllowed = ![.bool, .object, .linkingObjects].contains(type)
    case .contains, .beginsWith, .endsWith: isAllowed = [.string, .data, .any].contains(type)
    case .like: isAllowed = [.string, .any].contains(type)
    case .geoWithin: isAllowed = type == .object
    }
    if !isAllowed {
      misuse(
        .argument, "Operator '\(comparator.rawValue)' not supported for type '\(type)'.")
    }
  }

  private func checkTypes(
    _ comparison: PredicateComparison, _ left: ResolvedOperand, _ right: ResolvedOperand
  ) {
    func sort(_ type: PropertyType?) -> PropertyType? {
      switch type {
      case .int, .float, .double, .decimal128: return .double
      case .linkingObjects: return .object
      default: return type
      }
    }
    if left.type == .any || right.type == .any { return }
    if sort(left.type) == sort(right.type), left.target == right.target { return }
    misuse(
      .argument,
      "Property type mismatch between '\(left.name)' (\(left.type!)) and '\(right.name)' "
        + "(\(right.type!)).")
  }

  /// A value in the form of the property that it is compared with.
  private func constant(_ value: Any?, for operand: ResolvedOperand) -> PlanConstant {
    guard let value = queryValue(value) else { return .null }
    if let constant = PlanConstant(value, operand.type!, realm, target: operand.target) {
      return constant
    }
    misuse(
      .argument,
      "Expected object of type \(operand.type!) for property '\(operand.name)' on object of type "
        + "'\(operand.className)', but received: \(ValueText.of(value))")
  }
}
