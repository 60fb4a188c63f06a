// Smallest, largest, sum and mean of a property of all objects, or of values.
internal import ObjectStore

/// What values are folded into, for the functions below.
extension RealmCollection {
  /// One value of a property of all elements.
  private func folded(
    _ aggregate: PredicateAggregate, _ keyPath: String
  ) -> PlanConstant {
    querySource().aggregated(aggregate, keyPath)
  }

  /// One value of a property of all elements, or with "self" of the elements; nil for null.
  func value<Value>(
    _ aggregate: PredicateAggregate, _ keyPath: String, _: Value.Type
  ) -> Value? {
    if realm != nil, (self as? any InsideMixedValue)?.nestedPlace == nil {
      return folded(aggregate, keyPath).result(of: aggregate)
    }
    if Element.self == AnyRealmValue.self { return foldedMixed(aggregate).result(of: aggregate) }
    return converted(
      Aggregation(values(forKeyPath: keyPath, whole: false)).result(of: aggregate), aggregate)
  }

  /// The sum of a property of all elements; stops when the type has no such value.
  func sum<Value>(_ keyPath: String, _: Value.Type) -> Value {
    requiredSum(value(.sum, keyPath, Value.self))
  }

  /// One value of mixed values in memory, by the rules of those in a file.
  private func foldedMixed(_ aggregate: PredicateAggregate) -> PlanConstant {
    var folding = AggregateFolding(aggregate, .any)
    for element in self {
      // What links lead to does not count.
      var writer = AnyValueWriter { _ in (0, ObjectKey(rawValue: -1)) }
      writer.append(element as! AnyRealmValue)
      writer.bytes.withUnsafeBytes { folding.add(PlanValue(mixed: $0)) }
    }
    return folding.result
  }

  /// The smallest value of a property; nil when there is none.
  ///
  /// Stops when there is no such property, or it is no number or date; here and below.
  public func min<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: MinMaxType {
    value(.min, property, T.self)
  }

  /// The largest value of a property; nil when there is none.
  public func max<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: MinMaxType {
    value(.max, property, T.self)
  }

  /// The sum of the values of a property.
  ///
  /// Sums of integers have 64 bits and wrap around; of what does not fit into a smaller type the
  /// low bits remain. Here and below.
  public func sum<T: _HasPersistedType>(ofProperty property: String) -> T
  where T.PersistedType: AddableType {
    sum(property, T.self)
  }

  /// The mean of the values of a property; nil when there is none.
  public func average<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: AddableType {
    value(.average, property, T.self)
  }
}

// For generic code that knows of a type only that it has a smallest value, or can be summed up.
extension RealmCollection {
  /// The smallest value of a property; nil when there is none.
  @_disfavoredOverload
  public func min<T: MinMaxType>(ofProperty property: String) -> T? {
    value(.min, property, T.self)
  }

  /// The largest value of a property; nil when there is none.
  @_disfavoredOverload
  public func max<T: MinMaxType>(ofProperty property: String) -> T? {
    value(.max, property, T.self)
  }

  /// The sum of the values of a property.
  @_disfavoredOverload
  public func sum<T: AddableType>(ofProperty property: String) -> T {
    sum(property, T.self)
  }

  /// The mean of the values of a property; nil when there is none.
  @_disfavoredOverload
  public func average<T: AddableType>(ofProperty property: String) -> T? {
    value(.average, property, T.self)
  }
}

extension RealmCollection where Element: ObjectBase {
  /// The smallest value of a property; nil when there is none.
  public func min<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
  where T.PersistedType: MinMaxType {
    value(.min, _name(for: keyPath), T.self)
  }

  /// The smallest value of a property; nil when there is none.
  public func min<T: _HasPersistedType>(of keyPath: KeyPath<Element, T?>) -> T?
  where T.PersistedType: MinMaxType {
    value(.min, _name(for: keyPath), T.self)
  }

  /// The largest value of a property; nil when there is none.
  public func max<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
  where T.PersistedType: MinMaxType {
    value(.max, _name(for: keyPath), T.self)
  }

  /// The largest value of a property; nil when there is none.
  public func max<T: _HasPersistedType>(of keyPath: KeyPath<Element, T?>) -> T?
  where T.PersistedType: MinMaxType {
    value(.max, _name(for: keyPath), T.self)
  }

  /// The sum of the values of a property.
  public func sum<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T
  where T.PersistedType: AddableType {
    sum(_name(for: keyPath), T.self)
  }

  /// The sum of the values of a property.
  public func sum<T: _HasPersistedType>(of keyPath: KeyPath<Element, T?>) -> T
  where T.PersistedType: AddableType {
    sum(_name(for: keyPath), T.self)
  }

  /// The mean of the values of a property; nil when there is none.
  public func average<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
  where T.PersistedType: AddableType {
    value(.average, _name(for: keyPath), T.self)
  }

  /// The mean of the values of a property; nil when there is none.
  public func average<T: _HasPersistedType>(of keyPath: KeyPath<Element, T?>) -> T?
  where T.PersistedType: AddableType {
    value(.average, _name(for: keyPath), T.self)
  }

  /// The mean of the values of a property with its fraction; nil when there is none.
  @_disfavoredOverload
  public func average<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> Double?
  where T.PersistedType: AddableType {
    value(.average, _name(for: keyPath), Double.self)
  }

  /// The mean of the values of a property with its fraction; nil when there is none.
  @_disfavoredOverload
  public func average<T: _HasPersistedType>(of keyPath: KeyPath<Element, T?>) -> Double?
  where T.PersistedType: AddableType {
    value(.average, _name(for: keyPath), Double.self)
  }
}

// MARK: - Values

// Values of own types and enums are folded in their stored form, and what is found is one of them
// again.
extension RealmCollection where Element.PersistedType: MinMaxType {
  /// The smallest value; nil when there is none.
  public func min() -> Element? { value(.min, "self", Element.self) }
  /// The largest value; nil when there is none.
  public func max() -> Element? { value(.max, "self", Element.self) }
}

// Preferred to those of Sequence, which look at one element after another.
extension RealmCollection where Element.PersistedType: MinMaxType, Element: Comparable {
  /// The smallest value; nil when there is none.
  public func min() -> Element? { value(.min, "self", Element.self) }
  /// The largest value; nil when there is none.
  public func max() -> Element? { value(.max, "self", Element.self) }
}

extension RealmCollection
where
  Element: OptionalProtocol, Element.Wrapped: _HasPersistedType,
  Element.PersistedType: MinMaxType, Element.Wrapped.PersistedType: MinMaxType
{
  /// The smallest value that is not nil; nil when there is none.
  public func min() -> Element.Wrapped? { value(.min, "self", Element.Wrapped.self) }
  /// The largest value that is not nil; nil when there is none.
  public func max() -> Element.Wrapped? { value(.max, "self", Element.Wrapped.self) }
}

extension RealmCollection where Element.PersistedType: AddableType {
  /// The sum of the values.
  public func sum() -> Element { sum("self", Element.self) }
  /// The mean of the values; nil when there is none.
  public func average<T: _HasPersistedType>() -> T? where T.PersistedType: AddableType {
    value(.average, "self", T.self)
  }
}

extension RealmCollection
where
  Element: OptionalProtocol, Element.Wrapped: _HasPersistedType,
  Element.PersistedType: AddableType, Element.Wrapped.PersistedType: AddableType
{
  /// The sum of the values that are not nil.
  public func sum() -> Element.Wrapped { sum("self", Element.Wrapped.self) }
  /// The mean of the values that are not nil; nil when there is none.
  public func average<T: _HasPersistedType>() -> T? where T.PersistedType: AddableType {
    value(.average, "self", T.self)
  }
}

// MARK: - Folding

extension QuerySource {
  /// One value of a property of all elements; stops when it cannot be made.
  func aggregated(_ aggregate: PredicateAggregate, _ keyPath: String) -> PlanConstant {
    check()
    let (path, tables) = aggregatePath(keyPath, aggregate)
    if aggregate == .min || aggregate == .max, path.hops.isEmpty,
      case .column(let column) = path.end,
      let found = indexedExtreme(column, path.type, isGreatest: aggregate == .max)
    {
      return found.reader.withValue(found.location, column, path.type, target: -1) {
        PlanConstant($0)
      }
    }
    if var folding = PackedFolding(aggregate, path.type), add(path, to: &folding) {
      return folding.result(of: aggregate, path.type)
    }
    var folding = AggregateFolding(aggregate, path.type)
    let readers = PlanReaders(realm, tables)
    forEachSubject { subject in
      path.forEach(subject, readers) {
        folding.add($0)
        return true
      }
    }
    return folding.result
  }

  private func aggregatePath(
    _ keyPath: String, _ aggregate: PredicateAggregate
  ) -> (PlanPath, Set<Int>) {
    let found: (path: PlanPath, tables: Set<Int>)
    if let binding = origin.table?.pointee.binding {
      let names = keyPath.split(separator: ".", omittingEmptySubsequences: false)
      let steps = names.map { PathStep.property(String($0)) }
      found = PlanResolver.path(PropertyPath(steps: steps), realm, binding)
    } else {
      found = (PlanPath(end: .subject, type: origin.type), [])
    }
    let isNumeric = [.int, .float, .double, .decimal128, .any].contains(found.path.type)
    let isOrdered = isNumeric || found.path.type == .date
    let isExtreme = aggregate == .min || aggregate == .max
    if found.path.isMultiple || !(isExtreme ? isOrdered : isNumeric) {
      misuse(
        .argument,
        "Cannot use '\(aggregate.rawValue)' on property '\(origin.scope.name).\(keyPath)' of type "
          + "'\(found.path.type)'.")
    }
    return (found.path, found.tables)
  }
}

extension PackedFolding {
  /// Nil when values of the type are not packed.
  fileprivate init?(_ aggregate: PredicateAggregate, _ type: PropertyType) {
    let form: Form
    switch type {
    case .int: form = .integers
    case .double, .date: form = .doubles
    case .float: form = .floats
    default: return nil
    }
    switch aggregate {
    case .sum: self.init(.sum, of: form)
    case .average: self.init(.mean, of: form)
    case .min: self.init(.least, of: form)
    case .max: self.init(.greatest, of: form)
    case .count: return nil
    }
  }

  fileprivate func result(of aggregate: PredicateAggregate, _ type: PropertyType) -> PlanConstant {
    switch aggregate {
    case .count: return .integer(Int64(count))
    case .sum: return type == .int ? .integer(sum) : .number(total)
    case .average: return count == 0 ? .null : .number(total / Double(count))
    case .min, .max:
      if type == .date { return number.map { .date($0) } ?? .null }
      return integer.map { .integer($0) } ?? number.map { .number($0) } ?? .null
    }
  }
}
