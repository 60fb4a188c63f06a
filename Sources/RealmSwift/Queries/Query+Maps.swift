// Maps in queries: keys, values, and the value of one key.

extension Query where T: RealmKeyedCollection {
  /// The value of a key; null when the map has none.
  public subscript(key: T.Key) -> Query<T.Value> {
    Query<T.Value>(path.single(.key(key._text)))
  }

  /// The keys; a comparison with them asks for any.
  public var keys: Query<T.Key> { Query<T.Key>(path.appending(.mapKeys)) }

  /// The values; a comparison with them asks for any.
  public var values: Query<T.Value> { Query<T.Value>(path.appending(.mapValues)) }

  /// The number of entries.
  public var count: Query<Int> { Query<Int>(path.appending(.aggregate(.count))) }

  /// Whether a value is in the map.
  public func contains(_ value: T.Value) -> Query<Bool> { has(value) }

  /// Whether one of several values is in the map.
  public func containsAny<Values: Sequence>(in values: Values) -> Query<Bool>
  where Values.Element == T.Value {
    isOne(of: values)
  }

  /// Whether any value is another one.
  public static func == (left: Query<T>, right: T.Value) -> Query<Bool> {
    left.compared(.equal, right)
  }

  /// Whether any value is not another one.
  public static func != (left: Query<T>, right: T.Value) -> Query<Bool> {
    left.compared(.notEqual, right)
  }
}

extension Query where T: RealmKeyedCollection, T.Value: ObjectBase {
  /// A property of the map's embedded objects; a comparison with it asks for any of them.
  public subscript<Member>(dynamicMember member: KeyPath<T.Value, Member>) -> Query<Member> {
    self.member(member, Member.self)
  }
}

extension Query
where T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: ObjectBase {
  /// A property of the map's objects; a comparison with it asks for any of them.
  public subscript<Value>(dynamicMember member: KeyPath<T.Value.Wrapped, Value>) -> Query<Value> {
    self.member(member, Value.self)
  }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: _QueryOrdered {
  /// Whether any value is smaller.
  public static func < (left: Query<T>, right: T.Value) -> Query<Bool> {
    left.compared(.less, right)
  }

  /// Whether any value is smaller or equal.
  public static func <= (left: Query<T>, right: T.Value) -> Query<Bool> {
    left.compared(.lessOrEqual, right)
  }

  /// Whether any value is greater.
  public static func > (left: Query<T>, right: T.Value) -> Query<Bool> {
    left.compared(.greater, right)
  }

  /// Whether any value is greater or equal.
  public static func >= (left: Query<T>, right: T.Value) -> Query<Bool> {
    left.compared(.greaterOrEqual, right)
  }
}

extension Query
where T: RealmKeyedCollection, T.Value.PersistedType: _QueryNumeric, T.Value: Comparable {
  /// Whether all of the values lie in a range, and there is one.
  public func contains(_ range: Range<T.Value>) -> Query<Bool> {
    allBetween(range.lowerBound, .less, range.upperBound)
  }

  /// Whether all of the values lie in a range, and there is one.
  public func contains(_ range: ClosedRange<T.Value>) -> Query<Bool> {
    allBetween(range.lowerBound, .lessOrEqual, range.upperBound)
  }
}

extension Query
where
  T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: _HasPersistedType,
  T.Value.Wrapped.PersistedType: _QueryNumeric, T.Value.Wrapped: Comparable
{
  /// Whether all of the values that are not nil lie in a range, and there is one.
  public func contains(_ range: Range<T.Value.Wrapped>) -> Query<Bool> {
    allBetween(range.lowerBound, .less, range.upperBound)
  }

  /// Whether all of the values that are not nil lie in a range, and there is one.
  public func contains(_ range: ClosedRange<T.Value.Wrapped>) -> Query<Bool> {
    allBetween(range.lowerBound, .lessOrEqual, range.upperBound)
  }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: _QueryNumeric {
  /// The smallest value.
  public var min: Query<T.Value> { aggregate(.min) }
  /// The largest value.
  public var max: Query<T.Value> { aggregate(.max) }
  /// The sum of the values.
  public var sum: Query<T.Value> { aggregate(.sum) }
  /// The mean of the values, beside values of their type; null when there is none.
  public var avg: Query<T.Value> { aggregate(.average) }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: _QueryMean {
  /// The mean of the values; null when there is none.
  @_disfavoredOverload
  public var avg: Query<Double?> { aggregate(.average) }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: _QuerySequence {
  /// Whether any value begins with another one.
  public func starts(with value: T.Value, options: StringOptions = []) -> Query<Bool> {
    compared(.beginsWith, value, options)
  }

  /// Whether any value ends with another one.
  public func ends(with value: T.Value, options: StringOptions = []) -> Query<Bool> {
    compared(.endsWith, value, options)
  }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: _QueryString {
  /// Whether any value fits a pattern: `*` is any text, `?` is one character.
  public func like(_ value: T.Value, caseInsensitive: Bool = false) -> Query<Bool> {
    compared(.like, value, caseInsensitive ? .caseInsensitive : [])
  }
}
