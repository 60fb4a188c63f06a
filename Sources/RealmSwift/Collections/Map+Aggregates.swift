// The smallest, the largest, the sum and the mean of the values of a map; and the types of such
// results. Nil values do not count.

extension Map where Value.PersistedType: MinMaxType {
  /// The smallest value; nil when there is none.
  public func min() -> Value? { aggregated(.min, "self") }

  /// The largest value; nil when there is none.
  public func max() -> Value? { aggregated(.max, "self") }
}

extension Map
where
  Value: OptionalProtocol, Value.Wrapped: _HasPersistedType,
  Value.PersistedType: MinMaxType, Value.Wrapped.PersistedType: MinMaxType
{
  /// The smallest value that is not nil; nil when there is none.
  public func min() -> Value.Wrapped? { aggregated(.min, "self") }

  /// The largest value that is not nil; nil when there is none.
  public func max() -> Value.Wrapped? { aggregated(.max, "self") }
}

extension Map where Value.PersistedType: AddableType {
  /// The sum of the values; zero when there is none.
  public func sum() -> Value { aggregated(.sum, "self")! }

  /// The mean of the values; nil when there is none.
  public func average<Result: _HasPersistedType>() -> Result?
  where Result.PersistedType: AddableType {
    aggregated(.average, "self")
  }
}

extension Map
where
  Value: OptionalProtocol, Value.Wrapped: _HasPersistedType,
  Value.PersistedType: AddableType, Value.Wrapped.PersistedType: AddableType
{
  /// The sum of the values that are not nil; zero when there is none.
  public func sum() -> Value.Wrapped { aggregated(.sum, "self")! }

  /// The mean of the values that are not nil; nil when there is none.
  public func average<Result: _HasPersistedType>() -> Result?
  where Result.PersistedType: AddableType {
    aggregated(.average, "self")
  }
}

// MARK: - Types of results

/// The result of an aggregation in the type that the caller wants; stops when it cannot be had.
func converted<Value>(_ result: Any?) -> Value? {
  guard let result else { return nil }
  if let value = foundationForm(of: result, as: Value.self) as? Value { return value }
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
