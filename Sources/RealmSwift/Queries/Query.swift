// The type-safe form of conditions: `where { $0.age > 5 && $0.name == "Ann" }`. A query is a path
// to a value or a condition; its operators make longer ones. The operators are in the files beside.
internal import Foundation

/// A value or a condition that a query closure speaks of.
///
/// Inside of `where` the argument stands for every object of the collection. Its properties are
/// queries too, and comparing one gives the condition, a `Query<Bool>`.
///
///     let adults = realm.objects(Person.self).where { $0.age >= 18 && $0.dogs.count > 0 }
@dynamicMemberLookup
public struct Query<T> {
  let content: QueryContent

  init(_ path: PropertyPath) { content = .operand(.path(path)) }
  init(_ operand: PredicateOperand) { content = .operand(operand) }
  init(_ tree: PredicateTree) { content = .condition(tree) }

  /// What the closure is given.
  static var root: Query { Query(PropertyPath()) }

  /// The path that the query is; stops when it is something else.
  var path: PropertyPath {
    if case .operand(.path(let path)) = content { return path }
    misuse(.argument, "Cannot apply a keypath to \(content.text).")
  }

  /// The side of a comparison that the query is; stops when it is a condition.
  var operand: PredicateOperand {
    if case .operand(let operand) = content { return operand }
    misuse(.argument, "Cannot compare \(content.text): it is a condition.")
  }

  /// A property of the object that the query is.
  func member<Value>(_ keyPath: AnyKeyPath, _: Value.Type) -> Query<Value> {
    let path = path
    if case .key = path.steps.last {
      misuse(.argument, "Cannot apply key path to Map subscripts.")
    }
    let names = KeyPathNames.of(keyPath)
    let discoverable = Value.self as? any _RealmSchemaDiscoverable.Type
    let isCollection =
      discoverable.map { $0._rlmCollection != .none || $0._rlmType == .linkingObjects } ?? false
    var longer = path
    for (index, name) in names.enumerated() {
      longer = longer.appending(
        .property(name), isCollection: isCollection && index == names.count - 1)
    }
    return Query<Value>(longer)
  }

  /// A query without a Realm, to look at its text.
  public static func _constructForTesting() -> Query<T> { root }

  /// The condition as text in `NSPredicate`'s grammar, and the arguments of its placeholders.
  public func _constructPredicate() -> (String, [Any]) {
    let text = PredicateText(content.condition)
    return (text.text, text.arguments)
  }
}

/// What a query has become so far.
enum QueryContent {
  case operand(PredicateOperand)
  case condition(PredicateTree)

  /// The condition; a truth value by itself means that it is true.
  var condition: PredicateTree {
    switch self {
    case .condition(let tree): return tree
    case .operand(let operand): return Self.truth(operand, true)
    }
  }

  /// The opposite; of a truth value by itself that it is false, which null is not.
  var opposite: PredicateTree {
    if case .operand(let operand) = self, !operand.isMultiple { return Self.truth(operand, false) }
    return .not(condition)
  }

  private static func truth(_ operand: PredicateOperand, _ value: Bool) -> PredicateTree {
    .comparison(
      PredicateComparison(
        left: operand, comparator: .equal, right: .value(value),
        quantifier: operand.isMultiple ? .any : nil, isTruth: true))
  }

  var text: String {
    switch self {
    case .condition(let tree): return PredicateText(tree).text
    case .operand(let operand):
      return PredicateText(makeComparison(operand, .equal, .value(nil))).text
    }
  }
}

// MARK: - Properties

extension Query where T: ObjectBase {
  /// A property of the object.
  public subscript<Value>(dynamicMember member: KeyPath<T, Value>) -> Query<Value> {
    self.member(member, Value.self)
  }
}

extension Query where T: OptionalProtocol, T.Wrapped: ObjectBase {
  /// A property of the object that the link leads to.
  public subscript<Value>(dynamicMember member: KeyPath<T.Wrapped, Value>) -> Query<Value> {
    self.member(member, Value.self)
  }
}

// MARK: - Conditions

extension Query where T == Bool {
  /// The opposite.
  public static prefix func ! (query: Query<Bool>) -> Query<Bool> {
    Query(query.content.opposite)
  }

  /// Both conditions.
  public static func && (left: Query<Bool>, right: Query<Bool>) -> Query<Bool> {
    Query(left.content.condition && right.content.condition)
  }

  /// One of the conditions, or both.
  public static func || (left: Query<Bool>, right: Query<Bool>) -> Query<Bool> {
    Query(left.content.condition || right.content.condition)
  }
}

// MARK: - Making comparisons

/// A comparison of which the left side may lead to several values: one of them has to fit.
func makeComparison(
  _ left: PredicateOperand, _ comparator: PredicateComparator, _ right: PredicateOperand,
  _ options: StringOptions = []
) -> PredicateTree {
  if left.isMultiple && right.isMultiple {
    misuse(.argument, "Comparing two collection columns is not permitted.")
  }
  // The side with several values stands on the left, where the quantifier counts.
  if right.isMultiple, let mirrored = comparator.mirrored {
    return makeComparison(right, mirrored, left, options)
  }
  return .comparison(
    PredicateComparison(
      left: left, comparator: comparator, right: right, options: options,
      quantifier: left.isMultiple ? .any : nil))
}

extension PredicateOperand {
  /// Whether the operand leads to the values of a collection.
  var isMultiple: Bool {
    guard case .path(let path) = self else { return false }
    // Of the last collection an aggregate makes one value.
    return path.collections.count > (path.hasAggregate ? 1 : 0)
  }
}

extension PropertyPath {
  /// Whether the values of the path's collection become one value.
  var hasAggregate: Bool {
    steps.contains { if case .aggregate = $0 { true } else { false } }
  }
}

extension Query {
  func compared(
    _ comparator: PredicateComparator, _ value: Any?, _ options: StringOptions = []
  ) -> Query<Bool> {
    let value = queryValue(value)
    // What stands for no stored object is compared by what it holds.
    if let object = value as? EmbeddedObject, object._realm == nil {
      return Query<Bool>(
        PredicateTree.values(of: object, at: path, differs: comparator == .notEqual))
    }
    return Query<Bool>(makeComparison(operand, comparator, .value(value), options))
  }

  func compared<Other>(
    _ comparator: PredicateComparator, with other: Query<Other>, _ options: StringOptions = []
  ) -> Query<Bool> {
    Query<Bool>(makeComparison(operand, comparator, other.operand, options))
  }

  func between(_ lower: Any, _ upper: Any) -> Query<Bool> {
    Query<Bool>(
      makeComparison(operand, .between, .values([queryValue(lower), queryValue(upper)])))
  }

  /// From a value up to another one, which does not count.
  func halfOpen(_ lower: Any, _ upper: Any) -> Query<Bool> {
    compared(.greaterOrEqual, lower) && compared(.less, upper)
  }

  func isOne<Values: Sequence>(of values: Values) -> Query<Bool> {
    if let words = wordsOnLongRange(values) { misuse(.argument, words) }
    let values = values.map { queryValue($0) }
    let hasMembers = values.contains { value in
      !isPlain(value) && (value as? EmbeddedObject).map { $0._realm == nil } == true
    }
    if hasMembers {
      return Query<Bool>(.or(values.map { compared(.equal, $0).content.condition }))
    }
    return Query<Bool>(makeComparison(operand, .isIn, .values(values)))
  }

  /// Whether a value is among those of the collection.
  func has(_ value: Any?) -> Query<Bool> {
    let value = queryValue(value)
    if let object = value as? EmbeddedObject, object._realm == nil {
      return compared(.equal, value)
    }
    return Query<Bool>(
      .comparison(
        PredicateComparison(left: .value(value), comparator: .isIn, right: .path(path))))
  }
}

/// A value as the file knows it: enumerations by their raw values, own types by what they are
/// stored as, Foundation's and Swift's other texts, bytes and numbers as the types of properties.
func queryValue(_ value: Any?) -> Any? {
  // To ask for protocols takes long, and there may be tens of thousands of constants.
  if isPlain(value) { return value }
  guard let value = unwrapped(value) else { return nil }
  if let value = value as? any _Persistable { return unwrapped(value._anyValue) }
  if let value = value as? any RawRepresentable { return unwrapped(value.rawValue) }
  // Numbers of Foundation's can be cast to Swift's, and these to Foundation's.
  if type(of: value) is NSNumber.Type {
    return (value as? NSDecimalNumber).map { Decimal128(number: $0) } ?? value
  }
  switch value {
  case let value as NSUUID: return UUID._fromAny(value)
  // Before Foundation's: it can be cast to that.
  case let value as Substring: return String(value)
  case is NSString: return value as? String ?? value
  case is NSData: return value as? Data ?? value
  case let value as Decimal: return Decimal128._fromAny(value) ?? value
  case let value as any BinaryFloatingPoint: return Double(value)
  default: return value
  }
}
