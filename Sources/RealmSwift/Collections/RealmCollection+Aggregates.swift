// The smallest, the largest, the sum and the mean of the values of a collection, or of a property of its
// objects. Nil values do not count.

// MARK: - Properties by name

extension RealmCollection {
  /// The smallest value of a property of the objects; nil when there is none.
  ///
  /// Stops when there is no such property, or its values have no order; here and below.
  public func min<Value: _HasPersistedType>(ofProperty property: String) -> Value?
  where Value.PersistedType: MinMaxType {
    converted(Aggregation(numbers(property)).min)
  }

  /// The largest value of a property of the objects; nil when there is none.
  public func max<Value: _HasPersistedType>(ofProperty property: String) -> Value?
  where Value.PersistedType: MinMaxType {
    converted(Aggregation(numbers(property)).max)
  }

  /// The sum of a property of the objects; zero when there is none.
  public func sum<Value: _HasPersistedType>(ofProperty property: String) -> Value
  where Value.PersistedType: AddableType {
    convertedSum(Aggregation(numbers(property)).sum)
  }

  /// The mean of a property of the objects; nil when there is none.
  public func average<Value: _HasPersistedType>(ofProperty property: String) -> Value?
  where Value.PersistedType: AddableType {
    converted(Aggregation(numbers(property)).average)
  }

  /// The values of a property; stops when it does not exist or is no number or date.
  private func numbers(_ property: String) -> [Any?] {
    if let objectClass = Element._rlmObjectClass, !property.contains("."), property != "self" {
      let schema = ClassSchema.of(objectClass)
      guard let index = schema.index(ofProperty: property) else {
        misuse(
          .argument, "Invalid property name '\(property)' for class '\(schema.name)'.")
      }
      let codec = schema.properties[index].codec
      let types: [PropertyType] = [.int, .float, .double, .date, .decimal128, .any]
      if codec.collection != .none || !types.contains(codec.type) {
        misuse(
          .argument,
          "Cannot aggregate property '\(schema.name).\(property)' of type '\(codec.type)': it is no "
            + "number.")
      }
    }
    return values(forKeyPath: property, whole: false)
  }
}

// MARK: - Properties by key path

extension RealmCollection where Element: ObjectBase {
  /// The smallest value of a property of the objects; nil when there is none.
  public func min<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value>) -> Value?
  where Value.PersistedType: MinMaxType {
    Aggregation(map { $0[keyPath: keyPath] }).min.flatMap { $0 as? Value }
  }

  /// The smallest value of an optional property of the objects; nil when there is none.
  public func min<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value?>) -> Value?
  where Value.PersistedType: MinMaxType {
    Aggregation(map { $0[keyPath: keyPath] }).min.flatMap { $0 as? Value }
  }

  /// The largest value of a property of the objects; nil when there is none.
  public func max<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value>) -> Value?
  where Value.PersistedType: MinMaxType {
    Aggregation(map { $0[keyPath: keyPath] }).max.flatMap { $0 as? Value }
  }

  /// The largest value of an optional property of the objects; nil when there is none.
  public func max<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value?>) -> Value?
  where Value.PersistedType: MinMaxType {
    Aggregation(map { $0[keyPath: keyPath] }).max.flatMap { $0 as? Value }
  }

  /// The sum of a property of the objects; zero when there is none.
  public func sum<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value>) -> Value
  where Value.PersistedType: AddableType {
    convertedSum(Aggregation(map { $0[keyPath: keyPath] }).sum)
  }

  /// The sum of an optional property of the objects; zero when there is none.
  public func sum<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value?>) -> Value
  where Value.PersistedType: AddableType {
    convertedSum(Aggregation(map { $0[keyPath: keyPath] }).sum)
  }

  /// The mean of a property of the objects; nil when there is none.
  public func average<Value: _HasPersistedType, Result: _HasPersistedType>(
    of keyPath: KeyPath<Element, Value>
  ) -> Result? where Value.PersistedType: AddableType, Result.PersistedType: AddableType {
    converted(Aggregation(map { $0[keyPath: keyPath] }).average)
  }

  /// The mean of an optional property of the objects; nil when there is none.
  public func average<Value: _HasPersistedType, Result: _HasPersistedType>(
    of keyPath: KeyPath<Element, Value?>
  ) -> Result? where Value.PersistedType: AddableType, Result.PersistedType: AddableType {
    converted(Aggregation(map { $0[keyPath: keyPath] }).average)
  }
}

// MARK: - Elements

extension RealmCollection where Element.PersistedType: MinMaxType {
  /// The smallest element; nil when there is none.
  public func min() -> Element? { Aggregation(Array(self)).min.flatMap { $0 as? Element } }

  /// The largest element; nil when there is none.
  public func max() -> Element? { Aggregation(Array(self)).max.flatMap { $0 as? Element } }
}

extension RealmCollection
where
  Element: OptionalProtocol, Element.Wrapped: _HasPersistedType,
  Element.Wrapped.PersistedType: MinMaxType
{
  /// The smallest element that is not nil; nil when there is none.
  public func min() -> Element.Wrapped? {
    Aggregation(Array(self)).min.flatMap { $0 as? Element.Wrapped }
  }

  /// The largest element that is not nil; nil when there is none.
  public func max() -> Element.Wrapped? {
    Aggregation(Array(self)).max.flatMap { $0 as? Element.Wrapped }
  }
}

extension RealmCollection where Element.PersistedType: AddableType {
  /// The sum of the elements; zero when there is none.
  public func sum() -> Element { convertedSum(Aggregation(Array(self)).sum) }

  /// The mean of the elements; nil when there is none.
  public func average<Value: _HasPersistedType>() -> Value?
  where Value.PersistedType: AddableType {
    converted(Aggregation(Array(self)).average)
  }
}

extension RealmCollection
where
  Element: OptionalProtocol, Element.Wrapped: _HasPersistedType,
  Element.Wrapped.PersistedType: AddableType
{
  /// The sum of the elements that are not nil; zero when there is none.
  public func sum() -> Element.Wrapped { convertedSum(Aggregation(Array(self)).sum) }

  /// The mean of the elements that are not nil; nil when there is none.
  public func average<Value: _HasPersistedType>() -> Value?
  where Value.PersistedType: AddableType {
    converted(Aggregation(Array(self)).average)
  }
}

// MARK: - Maps

extension Map where Value.PersistedType: MinMaxType {
  /// The smallest value; nil when there is none.
  public func min() -> Value? { Aggregation(values).min.flatMap { $0 as? Value } }

  /// The largest value; nil when there is none.
  public func max() -> Value? { Aggregation(values).max.flatMap { $0 as? Value } }
}

extension Map
where
  Value: OptionalProtocol, Value.Wrapped: _HasPersistedType,
  Value.Wrapped.PersistedType: MinMaxType
{
  /// The smallest value that is not nil; nil when there is none.
  public func min() -> Value.Wrapped? {
    Aggregation(values).min.flatMap { $0 as? Value.Wrapped }
  }

  /// The largest value that is not nil; nil when there is none.
  public func max() -> Value.Wrapped? {
    Aggregation(values).max.flatMap { $0 as? Value.Wrapped }
  }
}

extension Map where Value.PersistedType: AddableType {
  /// The sum of the values; zero when there is none.
  public func sum() -> Value { convertedSum(Aggregation(values).sum) }

  /// The mean of the values; nil when there is none.
  public func average<Result: _HasPersistedType>() -> Result?
  where Result.PersistedType: AddableType {
    converted(Aggregation(values).average)
  }
}

extension Map
where
  Value: OptionalProtocol, Value.Wrapped: _HasPersistedType,
  Value.Wrapped.PersistedType: AddableType
{
  /// The sum of the values that are not nil; zero when there is none.
  public func sum() -> Value.Wrapped { convertedSum(Aggregation(values).sum) }

  /// The mean of the values that are not nil; nil when there is none.
  public func average<Result: _HasPersistedType>() -> Result?
  where Result.PersistedType: AddableType {
    converted(Aggregation(values).average)
  }
}

// MARK: - Types of results

/// The result of an aggregation in the type that the caller wants; stops when it cannot be had.
private func converted<Value>(_ result: Any?) -> Value? {
  guard let result else { return nil }
  if let value = result as? Value { return value }
  if let type = Value.self as? any _Persistable.Type {
    if let value = type._fromAny(result) as? Value { return value }
    // A mean that is wanted as an integer loses its fraction.
    if let number = result as? Double, let whole = Int64(exactly: number.rounded(.towardZero)),
      let value = type._fromAny(whole) as? Value
    {
      return value
    }
  }
  misuse(.argument, "The result \(result) is no '\(Value.self)'.")
}

private func convertedSum<Value>(_ result: Any) -> Value {
  let sum: Value? = converted(result)
  return sum.unsafelyUnwrapped
}
