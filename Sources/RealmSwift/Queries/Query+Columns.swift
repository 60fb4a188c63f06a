// Comparisons of properties with each other, where their types are not the same.

// MARK: - Properties of different types

// Beside a property that may be nil, one of the same type that may not.
extension Query {
  /// Of two properties, whether they are equal.
  @_disfavoredOverload
  public static func == (left: Query<T>, right: Query<T?>) -> Query<Bool> {
    left.compared(.equal, with: right)
  }

  /// Of two properties, whether they are different.
  @_disfavoredOverload
  public static func != (left: Query<T>, right: Query<T?>) -> Query<Bool> {
    left.compared(.notEqual, with: right)
  }
}

extension Query where T: OptionalProtocol {
  /// Of two properties, whether they are equal.
  @_disfavoredOverload
  public static func == (left: Query<T>, right: Query<T.Wrapped>) -> Query<Bool> {
    left.compared(.equal, with: right)
  }

  /// Of two properties, whether they are different.
  @_disfavoredOverload
  public static func != (left: Query<T>, right: Query<T.Wrapped>) -> Query<Bool> {
    left.compared(.notEqual, with: right)
  }
}

// Numbers and dates, texts.
extension Query where T: _HasPersistedType, T.PersistedType: _QueryNumeric {
  /// Of two properties, whether they are equal.
  @_disfavoredOverload
  public static func == <U: _HasPersistedType>(left: Query<T>, right: Query<U>) -> Query<Bool>
  where U.PersistedType: _QueryNumeric {
    left.compared(.equal, with: right)
  }

  /// Of two properties, whether they are different.
  @_disfavoredOverload
  public static func != <U: _HasPersistedType>(left: Query<T>, right: Query<U>) -> Query<Bool>
  where U.PersistedType: _QueryNumeric {
    left.compared(.notEqual, with: right)
  }

  /// Of two properties, whether the left one is smaller.
  @_disfavoredOverload
  public static func < <U: _HasPersistedType>(left: Query<T>, right: Query<U>) -> Query<Bool>
  where U.PersistedType: _QueryNumeric {
    left.compared(.less, with: right)
  }

  /// Of two properties, whether the left one is not larger.
  @_disfavoredOverload
  public static func <= <U: _HasPersistedType>(left: Query<T>, right: Query<U>) -> Query<Bool>
  where U.PersistedType: _QueryNumeric {
    left.compared(.lessOrEqual, with: right)
  }

  /// Of two properties, whether the left one is larger.
  @_disfavoredOverload
  public static func > <U: _HasPersistedType>(left: Query<T>, right: Query<U>) -> Query<Bool>
  where U.PersistedType: _QueryNumeric {
    left.compared(.greater, with: right)
  }

  /// Of two properties, whether the left one is not smaller.
  @_disfavoredOverload
  public static func >= <U: _HasPersistedType>(left: Query<T>, right: Query<U>) -> Query<Bool>
  where U.PersistedType: _QueryNumeric {
    left.compared(.greaterOrEqual, with: right)
  }
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryString {
  /// Of two properties, whether they are equal.
  @_disfavoredOverload
  public static func == <U: _HasPersistedType>(left: Query<T>, right: Query<U>) -> Query<Bool>
  where U.PersistedType: _QueryString {
    left.compared(.equal, with: right)
  }

  /// Of two properties, whether they are different.
  @_disfavoredOverload
  public static func != <U: _HasPersistedType>(left: Query<T>, right: Query<U>) -> Query<Bool>
  where U.PersistedType: _QueryString {
    left.compared(.notEqual, with: right)
  }

  /// Of two properties, whether the left one is smaller.
  @_disfavoredOverload
  public static func < <U: _HasPersistedType>(left: Query<T>, right: Query<U>) -> Query<Bool>
  where U.PersistedType: _QueryString {
    left.compared(.less, with: right)
  }

  /// Of two properties, whether the left one is not larger.
  @_disfavoredOverload
  public static func <= <U: _HasPersistedType>(left: Query<T>, right: Query<U>) -> Query<Bool>
  where U.PersistedType: _QueryString {
    left.compared(.lessOrEqual, with: right)
  }

  /// Of two properties, whether the left one is larger.
  @_disfavoredOverload
  public static func > <U: _HasPersistedType>(left: Query<T>, right: Query<U>) -> Query<Bool>
  where U.PersistedType: _QueryString {
    left.compared(.greater, with: right)
  }

  /// Of two properties, whether the left one is not smaller.
  @_disfavoredOverload
  public static func >= <U: _HasPersistedType>(left: Query<T>, right: Query<U>) -> Query<Bool>
  where U.PersistedType: _QueryString {
    left.compared(.greaterOrEqual, with: right)
  }
}

// MARK: - Properties and elements

extension Query where T: RealmCollection {
  /// Of any element and a property, whether they are equal.
  public static func == (left: Query<T>, right: Query<T.Element>) -> Query<Bool> {
    left.compared(.equal, with: right)
  }

  /// Of any element and a property, whether they are different.
  public static func != (left: Query<T>, right: Query<T.Element>) -> Query<Bool> {
    left.compared(.notEqual, with: right)
  }
}

extension Query where T: RealmCollectionValue {
  /// Of a property and any element of a collection, whether they are equal.
  public static func == <C: RealmCollection>(left: Query<T>, right: Query<C>) -> Query<Bool>
  where C.Element == T {
    left.compared(.equal, with: right)
  }

  /// Of a property and any element of a collection, whether they are different.
  public static func != <C: RealmCollection>(left: Query<T>, right: Query<C>) -> Query<Bool>
  where C.Element == T {
    left.compared(.notEqual, with: right)
  }
}
