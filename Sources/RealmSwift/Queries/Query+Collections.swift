// Collections in queries: their elements, counts and aggregates, and conditions on the elements
// that have to hold together.

extension Query where T: RealmCollection, T.Element: ObjectBase {
  /// A property of the collection's objects; a comparison with it asks for any of them.
  public subscript<Value>(dynamicMember member: KeyPath<T.Element, Value>) -> Query<Value> {
    self.member(member, Value.self)
  }
}

extension Query {
  /// The element at a position of the list; null when the list is shorter.
  public subscript<Element>(index: Int) -> Query<Element> where T == List<Element> {
    Query<Element>(path.single(.index(index)))
  }
}

extension Query where T: RealmCollection {
  /// The number of elements.
  public var count: Query<Int> { Query<Int>(path.appending(.aggregate(.count))) }

  /// Whether an element is in the collection.
  public func contains(_ value: T.Element) -> Query<Bool> { has(value) }

  /// Whether one of several elements is in the collection.
  public func containsAny<Values: Sequence>(in values: Values) -> Query<Bool>
  where Values.Element == T.Element {
    isOne(of: values)
  }

  /// Whether any element is another value.
  public static func == (left: Query<T>, right: T.Element) -> Query<Bool> {
    left.compared(.equal, right)
  }

  /// Whether any element is not another value.
  public static func != (left: Query<T>, right: T.Element) -> Query<Bool> {
    left.compared(.notEqual, right)
  }
}

extension Query where T: RealmCollection, T.Element.PersistedType: _QueryOrdered {
  /// Whether any element is smaller.
  public static func < (left: Query<T>, right: T.Element) -> Query<Bool> {
    left.compared(.less, right)
  }

  /// Whether any element is smaller or equal.
  public static func <= (left: Query<T>, right: T.Element) -> Query<Bool> {
    left.compared(.lessOrEqual, right)
  }

  /// Whether any element is greater.
  public static func > (left: Query<T>, right: T.Element) -> Query<Bool> {
    left.compared(.greater, right)
  }

  /// Whether any element is greater or equal.
  public static func >= (left: Query<T>, right: T.Element) -> Query<Bool> {
    left.compared(.greaterOrEqual, right)
  }
}

extension Query
where T: RealmCollection, T.Element.PersistedType: _QueryNumeric, T.Element: Comparable {
  /// Whether all of the elements lie in a range, and there is one.
  public func contains(_ range: Range<T.Element>) -> Query<Bool> {
    allBetween(range.lowerBound, .less, range.upperBound)
  }

  /// Whether all of the elements lie in a range, and there is one.
  public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> {
    allBetween(range.lowerBound, .lessOrEqual, range.upperBound)
  }
}

extension Query
where
  T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: _HasPersistedType,
  T.Element.Wrapped.PersistedType: _QueryNumeric, T.Element.Wrapped: Comparable
{
  /// Whether all of the elements that are not nil lie in a range, and there is one.
  public func contains(_ range: Range<T.Element.Wrapped>) -> Query<Bool> {
    allBetween(range.lowerBound, .less, range.upperBound)
  }

  /// Whether all of the elements that are not nil lie in a range, and there is one.
  public func contains(_ range: ClosedRange<T.Element.Wrapped>) -> Query<Bool> {
    allBetween(range.lowerBound, .lessOrEqual, range.upperBound)
  }
}

extension Query where T: RealmCollection, T.Element.PersistedType: _QueryNumeric {
  /// The smallest element.
  public var min: Query<T.Element> { aggregate(.min) }
  /// The largest element.
  public var max: Query<T.Element> { aggregate(.max) }
  /// The sum of the elements.
  public var sum: Query<T.Element> { aggregate(.sum) }
  /// The mean of the elements, beside values of their type; null when there is none.
  public var avg: Query<T.Element> { aggregate(.average) }
}

extension Query where T: RealmCollection, T.Element.PersistedType: _QueryMean {
  /// The mean of the elements; null when there is none.
  @_disfavoredOverload
  public var avg: Query<Double?> { aggregate(.average) }
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryNumeric {
  /// The smallest value of the collection on the way here.
  public var min: Query<T> { aggregate(.min) }
  /// The largest value of the collection on the way here.
  public var max: Query<T> { aggregate(.max) }
  /// The sum of the values of the collection on the way here.
  public var sum: Query<T> { aggregate(.sum) }
  /// The mean of the values of the collection on the way here, beside values of their type; null
  /// when there is none.
  public var avg: Query<T> { aggregate(.average) }
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryMean {
  /// The mean of the values of the collection on the way here; null when there is none.
  @_disfavoredOverload
  public var avg: Query<Double?> { aggregate(.average) }
}

extension Query where T: RealmCollection, T.Element.PersistedType: _QuerySequence {
  /// Whether any element begins with a value.
  public func starts(with value: T.Element, options: StringOptions = []) -> Query<Bool> {
    compared(.beginsWith, value, options)
  }

  /// Whether any element ends with a value.
  public func ends(with value: T.Element, options: StringOptions = []) -> Query<Bool> {
    compared(.endsWith, value, options)
  }
}

extension Query where T: RealmCollection, T.Element.PersistedType: _QueryString {
  /// Whether any element fits a pattern: `*` is any text, `?` is one character.
  public func like(_ value: T.Element, caseInsensitive: Bool = false) -> Query<Bool> {
    compared(.like, value, caseInsensitive ? .caseInsensitive : [])
  }
}

extension Query {
  /// Whether the smallest and the largest value of the collection lie between two.
  func allBetween(
    _ lower: Any, _ comparator: PredicateComparator, _ upper: Any
  ) -> Query<Bool> {
    let min: Query<T> = aggregate(.min)
    let max: Query<T> = aggregate(.max)
    return min.compared(.greaterOrEqual, lower) && max.compared(comparator, upper)
  }

  /// One value of the path's last collection: the operator stands behind the collection.
  func aggregate<Result>(_ aggregate: PredicateAggregate) -> Query<Result> {
    var path = path
    let place = path.collections.last ?? path.steps.count
    path.steps.insert(.aggregate(aggregate), at: place)
    return Query<Result>(path)
  }
}

// MARK: - Conditions on elements

extension Query where T == Bool {
  /// How many elements of the collection, that all paths of the condition begin with, fulfil it.
  ///
  ///     realm.objects(Person.self).where { ($0.dogs.age > 3 && $0.dogs.name == "Rex").count > 1 }
  public var count: Query<Int> {
    let condition = content.condition
    var collection: PropertyPath?
    condition.findCollection(&collection)
    guard let collection else { stopForSubquery() }
    let variable = "col\(condition.subqueryDepth + 1)"
    return Query<Int>(
      .subquery(
        Subquery(
          collection: collection, variable: variable,
          condition: condition.onElement(of: collection, variable))))
  }
}

private func stopForSubquery() -> Never {
  misuse(.argument, "Subqueries must contain a keypath starting with a collection.")
}

extension PredicateTree {
  /// Finds the collection that all paths begin with; stops when one begins with none or another
  /// one.
  fileprivate func findCollection(_ collection: inout PropertyPath?) {
    forEachComparison { comparison in
      for operand in [comparison.left, comparison.right] {
        switch operand {
        case .value, .values: break
        case .path(let path): path.findCollection(&collection)
        case .subquery(let subquery): subquery.collection.findCollection(&collection)
        }
      }
    }
  }

  /// How deep sub-queries are nested.
  var subqueryDepth: Int {
    var depth = 0
    forEachComparison { comparison in
      for operand in [comparison.left, comparison.right] {
        if case .subquery(let subquery) = operand { depth = max(depth, subquery.depth) }
      }
    }
    return depth
  }

  /// The condition with all paths starting from an element of the collection.
  fileprivate func onElement(of collection: PropertyPath, _ variable: String) -> PredicateTree {
    mapped { leaf in
      guard case .comparison(var comparison) = leaf else { return leaf }
      comparison.left = comparison.left.onElement(of: collection, variable)
      comparison.right = comparison.right.onElement(of: collection, variable)
      if !comparison.left.isMultiple { comparison.quantifier = nil }
      return .comparison(comparison)
    }
  }
}

extension PredicateOperand {
  fileprivate func onElement(of collection: PropertyPath, _ variable: String) -> PredicateOperand {
    switch self {
    case .value, .values: return self
    case .path(let path): return .path(path.onElement(of: collection, variable))
    case .subquery(var subquery):
      subquery.collection = subquery.collection.onElement(of: collection, variable)
      return .subquery(subquery)
    }
  }
}

extension PropertyPath {
  fileprivate func findCollection(_ collection: inout PropertyPath?) {
    if steps.contains(where: { if case .key = $0 { true } else { false } }) {
      misuse(.argument, "Subqueries do not support map subscripts.")
    }
    guard let length = collections.first else { stopForSubquery() }
    let prefix = PropertyPath(
      variable: variable, steps: Array(steps[..<length]), collections: [length])
    if let collection, collection.steps != prefix.steps { stopForSubquery() }
    collection = prefix
  }

  fileprivate func onElement(of collection: PropertyPath, _ variable: String) -> PropertyPath {
    let length = collection.steps.count
    return PropertyPath(
      variable: variable, steps: Array(steps[length...]),
      collections: collections.dropFirst().map { $0 - length })
  }
}
