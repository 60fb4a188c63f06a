// Mixed values in queries: what lists and dictionaries inside of them hold.

/// Every element of a list or dictionary, whatever its place.
public enum _QueryAnyElement: Sendable {
  /// Every element.
  case any
}

extension Query where T == AnyRealmValue {
  /// The value at a position, where the value is a list.
  public subscript(index: Int) -> Query<AnyRealmValue> {
    Query<AnyRealmValue>(path.appending(.index(index)))
  }

  /// The value of a key, where the value is a dictionary.
  public subscript(key: String) -> Query<AnyRealmValue> {
    Query<AnyRealmValue>(path.appending(.key(key)))
  }

  /// Any of the values, where the value is a list or dictionary.
  public subscript(_: _QueryAnyElement) -> Query<AnyRealmValue> { any }

  /// Any of the values, where the value is a list or dictionary.
  public var any: Query<AnyRealmValue> {
    Query<AnyRealmValue>(path.appending(.anyElement, isCollection: true))
  }
}
