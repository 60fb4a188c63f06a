// What maps can be asked for: conditions, orders and aggregates of their values. Results hold
// values without their keys; a value that is nil because its object was deleted is left out.
public import Foundation
internal import ObjectStore

extension Map {
  /// The values as a query; stops when the map is not managed.
  private func querySource() -> QuerySource<Value> {
    if let nestedPlace {
      nestedPlace.requireThere(.dictionary)
      return QuerySource(NestedOrigin(place: nestedPlace, tag: .dictionary))
    }
    guard let cell else {
      misuse(.ownership, "This method may only be called on managed collections.")
    }
    cell.requireThere()
    return QuerySource(CellOrigin(cell: cell, type: Value._rlmType))
  }

  // MARK: - Conditions

  /// The values that fulfil a condition in `NSPredicate`'s format.
  ///
  /// Stops when the format cannot be read, or names what the values do not have; and for a map that
  /// is not managed, here and below.
  public func filter(_ predicateFormat: String, _ arguments: Any...) -> Results<Value> {
    let tree = PredicateParser.parse(predicateFormat, arguments.map { unwrapped($0) })
    return Results(querySource().filtered(tree))
  }

  /// The values that fulfil a predicate; see `NSPredicate(format:)`.
  public func filter(_ predicate: NSPredicate) -> Results<Value> {
    Results(querySource().filtered(PredicateTree(predicate)))
  }

  /// The values that fulfil a condition.
  ///
  ///     person.dogs.where { $0.age > 3 }
  public func `where`(_ isIncluded: (Query<Value>) -> Query<Bool>) -> Results<Value> {
    Results(querySource().filtered(isIncluded(.root).content.condition))
  }

  // MARK: - Orders

  /// The values sorted by a property; links on the way are separated by dots.
  public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Value> {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }

  /// The values sorted by several properties, the first one first.
  public func sorted<Descriptors: Sequence>(by descriptors: Descriptors) -> Results<Value>
  where Descriptors.Element == SortDescriptor {
    Results(querySource().ordered(.sort(Array(descriptors))))
  }

  /// The first value of each combination of some of its properties.
  public func distinct<KeyPaths: Sequence>(by keyPaths: KeyPaths) -> Results<Value>
  where KeyPaths.Element == String {
    Results(querySource().ordered(.distinct(Array(keyPaths))))
  }

  // MARK: - Aggregates

  /// One value of a property of all values, or with "self" of the values; nil for null.
  func aggregated<Result>(_ aggregate: PredicateAggregate, _ keyPath: String) -> Result? {
    guard realm == nil else {
      return querySource().aggregated(aggregate, keyPath).result(of: aggregate)
    }
    let list = List<Value>()
    list.append(objectsIn: values)
    return list.value(aggregate, keyPath, Result.self)
  }

  /// The smallest value of a property; nil when there is none.
  ///
  /// Stops when there is no such property, or it is no number or date; here and below.
  public func min<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: MinMaxType {
    aggregated(.min, property)
  }

  /// The largest value of a property; nil when there is none.
  public func max<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: MinMaxType {
    aggregated(.max, property)
  }

  /// The sum of the values of a property.
  public func sum<T: _HasPersistedType>(ofProperty property: String) -> T
  where T.PersistedType: AddableType {
    requiredSum(aggregated(.sum, property))
  }

  /// The mean of the values of a property; nil when there is none.
  public func average<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: AddableType {
    aggregated(.average, property)
  }
}

// For generic code that knows of a type only that it has a smallest value, or can be summed up.
extension Map {
  /// The smallest value of a property; nil when there is none.
  @_disfavoredOverload
  public func min<T: MinMaxType>(ofProperty property: String) -> T? { aggregated(.min, property) }

  /// The largest value of a property; nil when there is none.
  @_disfavoredOverload
  public func max<T: MinMaxType>(ofProperty property: String) -> T? { aggregated(.max, property) }

  /// The sum of the values of a property.
  @_disfavoredOverload
  public func sum<T: AddableType>(ofProperty property: String) -> T {
    requiredSum(aggregated(.sum, property))
  }

  /// The mean of the values of a property; nil when there is none.
  @_disfavoredOverload
  public func average<T: AddableType>(ofProperty property: String) -> T? {
    aggregated(.average, property)
  }
}

extension Map where Value.PersistedType: SortableType {
  /// The values in order; own types and enums in the order of their stored form.
  public func sorted(ascending: Bool = true) -> Results<Value> {
    sorted(byKeyPath: "self", ascending: ascending)
  }

  /// The different values.
  public func distinct() -> Results<Value> { distinct(by: ["self"]) }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
  /// The objects sorted by a property.
  public func sorted<Property: _HasPersistedType>(
    by keyPath: KeyPath<Value.Wrapped, Property>, ascending: Bool = true
  ) -> Results<Value> where Property.PersistedType: SortableType {
    sorted(byKeyPath: _name(for: keyPath), ascending: ascending)
  }

  /// The first object of each combination of values of some properties.
  public func distinct<KeyPaths: Sequence>(by keyPaths: KeyPaths) -> Results<Value>
  where KeyPaths.Element == PartialKeyPath<Value.Wrapped> {
    distinct(by: keyPaths.map { _name(for: $0) })
  }

  /// The smallest value of a property; nil when there is none.
  public func min<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
  where T.PersistedType: MinMaxType {
    aggregated(.min, _name(for: keyPath))
  }

  /// The largest value of a property; nil when there is none.
  public func max<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
  where T.PersistedType: MinMaxType {
    aggregated(.max, _name(for: keyPath))
  }

  /// The sum of the values of a property.
  public func sum<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T
  where T.PersistedType: AddableType {
    requiredSum(aggregated(.sum, _name(for: keyPath)))
  }

  /// The mean of the values of a property; nil when there is none.
  public func average<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
  where T.PersistedType: AddableType {
    aggregated(.average, _name(for: keyPath))
  }

  /// The mean of the values of a property with its fraction; nil when there is none.
  @_disfavoredOverload
  public func average<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> Double?
  where T.PersistedType: AddableType {
    aggregated(.average, _name(for: keyPath))
  }
}
