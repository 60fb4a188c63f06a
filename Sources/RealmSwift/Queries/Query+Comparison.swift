// Comparisons of one value: equality, order, ranges, texts and bytes, with values and other
// properties.

/// A type whose values have an order that queries can use.
public protocol _QueryOrdered {}

/// A type whose values have a mean that queries can use.
public protocol _QueryMean: _QueryOrdered {}

/// A number or a date.
public protocol _QueryNumeric: _QueryMean {}

/// A value that has parts: a text or data.
public protocol _QuerySequence: _QueryOrdered {}

/// A text.
public protocol _QueryString: _QuerySequence {}

/// Bytes.
public protocol _QueryBinary: _QuerySequence {}

extension Optional: _QueryOrdered where Wrapped: _QueryOrdered {}
extension Optional: _QueryMean where Wrapped: _QueryMean {}
extension Optional: _QueryNumeric where Wrapped: _QueryNumeric {}
extension Optional: _QuerySequence where Wrapped: _QuerySequence {}
extension Optional: _QueryString where Wrapped: _QueryString {}
extension Optional: _QueryBinary where Wrapped: _QueryBinary {}

// MARK: - Equality

extension Query {
  /// Whether the value is another one; nil is null.
  public static func == (left: Query<T>, right: T) -> Query<Bool> { left.compared(.equal, right) }

  /// Whether the value is not another one; nil is null.
  public static func != (left: Query<T>, right: T) -> Query<Bool> {
    left.compared(.notEqual, right)
  }

  /// Whether two properties have the same value.
  public static func == (left: Query<T>, right: Query<T>) -> Query<Bool> {
    left.compared(.equal, with: right)
  }

  /// Whether two properties have different values.
  public static func != (left: Query<T>, right: Query<T>) -> Query<Bool> {
    left.compared(.notEqual, with: right)
  }

  /// Whether the value is one of several.
  public func `in`<Values: Sequence>(_ values: Values) -> Query<Bool> where Values.Element == T {
    isOne(of: values)
  }
}

extension Query where T: OptionalProtocol {
  /// Whether the value is one of several.
  public func `in`<Values: Sequence>(_ values: Values) -> Query<Bool>
  where Values.Element == T.Wrapped {
    isOne(of: values)
  }
}

// MARK: - Order

extension Query where T: _HasPersistedType, T.PersistedType: _QueryOrdered {
  /// Whether the value is smaller; null never is.
  public static func < (left: Query<T>, right: T) -> Query<Bool> { left.compared(.less, right) }

  /// Whether the value is smaller or equal.
  public static func <= (left: Query<T>, right: T) -> Query<Bool> {
    left.compared(.lessOrEqual, right)
  }

  /// Whether the value is greater; null never is.
  public static func > (left: Query<T>, right: T) -> Query<Bool> { left.compared(.greater, right) }

  /// Whether the value is greater or equal.
  public static func >= (left: Query<T>, right: T) -> Query<Bool> {
    left.compared(.greaterOrEqual, right)
  }

  /// Whether the left property's value is smaller.
  public static func < (left: Query<T>, right: Query<T>) -> Query<Bool> {
    left.compared(.less, with: right)
  }

  /// Whether the left property's value is smaller or equal.
  public static func <= (left: Query<T>, right: Query<T>) -> Query<Bool> {
    left.compared(.lessOrEqual, with: right)
  }

  /// Whether the left property's value is greater.
  public static func > (left: Query<T>, right: Query<T>) -> Query<Bool> {
    left.compared(.greater, with: right)
  }

  /// Whether the left property's value is greater or equal.
  public static func >= (left: Query<T>, right: Query<T>) -> Query<Bool> {
    left.compared(.greaterOrEqual, with: right)
  }
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryNumeric, T: Comparable {
  /// Whether the value lies in a range.
  public func contains(_ range: Range<T>) -> Query<Bool> {
    halfOpen(range.lowerBound, range.upperBound)
  }

  /// Whether the value lies in a range.
  public func contains(_ range: ClosedRange<T>) -> Query<Bool> {
    between(range.lowerBound, range.upperBound)
  }
}

extension Query
where
  T: OptionalProtocol, T.Wrapped: _HasPersistedType, T.Wrapped.PersistedType: _QueryNumeric,
  T.Wrapped: Comparable
{
  /// Whether the value lies in a range.
  public func contains(_ range: Range<T.Wrapped>) -> Query<Bool> {
    halfOpen(range.lowerBound, range.upperBound)
  }

  /// Whether the value lies in a range.
  public func contains(_ range: ClosedRange<T.Wrapped>) -> Query<Bool> {
    between(range.lowerBound, range.upperBound)
  }
}

// MARK: - Texts and data

// Enumerations and own types are what is stored for them.
extension Query where T: _HasPersistedType, T.PersistedType: _QuerySequence {
  /// Whether the value has another one in it.
  public func contains(_ value: T, options: StringOptions = []) -> Query<Bool> {
    compared(.contains, value, options)
  }

  /// Whether the value has that of another property in it.
  public func contains<U>(_ column: Query<U>, options: StringOptions = []) -> Query<Bool>
  where U: _HasPersistedType, U.PersistedType: _QuerySequence {
    compared(.contains, with: column, options)
  }

  /// Whether the value begins with another one.
  public func starts(with value: T, options: StringOptions = []) -> Query<Bool> {
    compared(.beginsWith, value, options)
  }

  /// Whether the value begins with that of another property.
  public func starts<U>(with column: Query<U>, options: StringOptions = []) -> Query<Bool>
  where U: _HasPersistedType, U.PersistedType: _QuerySequence {
    compared(.beginsWith, with: column, options)
  }

  /// Whether the value ends with another one.
  public func ends(with value: T, options: StringOptions = []) -> Query<Bool> {
    compared(.endsWith, value, options)
  }

  /// Whether the value ends with that of another property.
  public func ends<U>(with column: Query<U>, options: StringOptions = []) -> Query<Bool>
  where U: _HasPersistedType, U.PersistedType: _QuerySequence {
    compared(.endsWith, with: column, options)
  }

  /// Whether the value is another one.
  public func equals(_ value: T, options: StringOptions = []) -> Query<Bool> {
    compared(.equal, value, options)
  }

  /// Whether the value is that of another property.
  public func equals<U>(_ column: Query<U>, options: StringOptions = []) -> Query<Bool>
  where U: _HasPersistedType, U.PersistedType: _QuerySequence {
    compared(.equal, with: column, options)
  }

  /// Whether the value is not another one.
  public func notEquals(_ value: T, options: StringOptions = []) -> Query<Bool> {
    compared(.notEqual, value, options)
  }

  /// Whether the value is not that of another property.
  public func notEquals<U>(_ column: Query<U>, options: StringOptions = []) -> Query<Bool>
  where U: _HasPersistedType, U.PersistedType: _QuerySequence {
    compared(.notEqual, with: column, options)
  }
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryString {
  /// Whether the text fits a pattern: `*` is any text, `?` is one character.
  public func like(_ value: T, caseInsensitive: Bool = false) -> Query<Bool> {
    compared(.like, value, caseInsensitive ? .caseInsensitive : [])
  }

  /// Whether the text fits the pattern in another property.
  public func like<U>(_ column: Query<U>, caseInsensitive: Bool = false) -> Query<Bool>
  where U: _HasPersistedType, U.PersistedType: _QueryString {
    compared(.like, with: column, caseInsensitive ? .caseInsensitive : [])
  }
}
