// The smallest, the largest, the sum and the mean of the values of a map. Nil values do not count.

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
  ///
  /// Of a sum of integers that does not fit, the low bits remain; here and below.
  public func sum() -> Value { requiredSum(aggregated(.sum, "self")) }

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
  public func sum() -> Value.Wrapped { requiredSum(aggregated(.sum, "self")) }

  /// The mean of the values that are not nil; nil when there is none.
  public func average<Result: _HasPersistedType>() -> Result?
  where Result.PersistedType: AddableType {
    aggregated(.average, "self")
  }
}
