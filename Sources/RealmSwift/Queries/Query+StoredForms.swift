// Enumerations and the client's own types in queries: what is stored for them, by itself, in collections and
// in maps; and embedded objects, which are compared by their properties.

// MARK: - Enumerations

extension Query where T: RawRepresentable {
  /// The raw value of the enumeration.
  public var rawValue: Query<T.RawValue> { Query<T.RawValue>(path) }
}

extension Query where T: OptionalProtocol, T.Wrapped: RawRepresentable {
  /// The raw value of the enumeration.
  public var rawValue: Query<T.Wrapped.RawValue?> { Query<T.Wrapped.RawValue?>(path) }
}

extension Query where T: RealmCollection, T.Element: RawRepresentable {
  /// The raw values of the enumeration; a comparison with them asks for any.
  public var rawValue: Query<T.Element.RawValue> { Query<T.Element.RawValue>(path) }
}

extension Query where T: RealmKeyedCollection, T.Value: RawRepresentable {
  /// The raw values of the enumeration; a comparison with them asks for any.
  public var rawValue: Query<T.Value.RawValue> { Query<T.Value.RawValue>(path) }
}

// MARK: - The client's own types

extension Query where T: _CustomPersistable {
  /// What is stored for the value.
  public var persistableValue: Query<T.PersistedType> { Query<T.PersistedType>(path) }
}

extension Query where T: OptionalProtocol, T.Wrapped: _CustomPersistable {
  /// What is stored for the value.
  public var persistableValue: Query<T.Wrapped.PersistedType?> {
    Query<T.Wrapped.PersistedType?>(path)
  }
}

extension Query where T: RealmCollection, T.Element: _CustomPersistable {
  /// What is stored for the elements; a comparison with it asks for any.
  public var persistableValue: Query<T.Element.PersistedType> {
    Query<T.Element.PersistedType>(path)
  }
}

extension Query where T: RealmKeyedCollection, T.Value: _CustomPersistable {
  /// What is stored for the values; a comparison with it asks for any.
  public var persistableValue: Query<T.Value.PersistedType> { Query<T.Value.PersistedType>(path) }
}

// MARK: - Embedded objects

extension PredicateTree {
  /// Whether an embedded object, or any of several, has the values of one that belongs to no Realm.
  ///
  /// Stops when it has collections.
  static func values(of object: EmbeddedObject, at path: PropertyPath) -> PredicateTree {
    guard let collection = path.collections.last else {
      return .and([isThere(path)] + members(of: object, at: path))
    }
    let variable = "col1"
    let element = PropertyPath(
      variable: variable, steps: Array(path.steps[collection...]))
    let subquery = Subquery(
      collection: PropertyPath(
        variable: path.variable, steps: Array(path.steps[..<collection]),
        collections: path.collections),
      variable: variable,
      condition: .and([isThere(element)] + members(of: object, at: element)))
    return .comparison(
      PredicateComparison(left: .subquery(subquery), comparator: .greater, right: .value(0)))
  }

  private static func isThere(_ path: PropertyPath) -> PredicateTree {
    makeComparison(.path(path), .notEqual, .value(nil))
  }

  private static func members(
    of object: EmbeddedObject, at path: PropertyPath
  ) -> [PredicateTree] {
    ClassSchema.of(type(of: object)).properties.compactMap { property in
      if property.isComputed { return nil }
      let member = path.appending(.property(property.name))
      if property.codec.collection != .none {
        misuse(
          .argument,
          "Embedded objects with collections, such as '\(property.name)', cannot be compared.")
      }
      let value = queryValue(property.codec.value(object.pointer(to: property), object))
      if let inner = value as? EmbeddedObject { return values(of: inner, at: member) }
      return makeComparison(.path(member), .equal, .value(value))
    }
  }
}
