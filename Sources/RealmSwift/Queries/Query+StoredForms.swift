// Enumerations and the client's own types in queries: what is stored for them, by itself, in
// collections and in maps; and embedded objects, which are compared by their properties.

// MARK: - Enumerations

extension Query where T: RawRepresentable {
  /// The raw value of the enumeration.
  public var rawValue: Query<T.RawValue> { Query<T.RawValue>(path) }
}

extension Query where T: OptionalProtocol, T.Wrapped: RawRepresentable {
  /// The raw value of the enumeration.
  public var rawValue: Query<T.Wrapped.RawValue?> { Query<T.Wrapped.RawValue?>(path) }
}

extension Query where T: RealmCollection, T.Element: PersistableEnum {
  /// The raw values of the enumeration; a comparison with them asks for any.
  public var rawValue: Query<AnyRealmCollection<T.Element.RawValue>> { Query<_>(path) }
}

extension Query
where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: PersistableEnum {
  /// The raw values of the enumeration; a comparison with them asks for any.
  public var rawValue: Query<AnyRealmCollection<T.Element.Wrapped.RawValue?>> { Query<_>(path) }
}

extension Query where T: RealmKeyedCollection, T.Value: PersistableEnum {
  /// The raw values of the enumeration; a comparison with them asks for any.
  public var rawValue: Query<Map<T.Key, T.Value.RawValue>> { Query<_>(path) }
}

extension Query
where T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: PersistableEnum {
  /// The raw values of the enumeration; a comparison with them asks for any.
  public var rawValue: Query<Map<T.Key, T.Value.Wrapped.RawValue?>> { Query<_>(path) }
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
  public var persistableValue: Query<AnyRealmCollection<T.Element.PersistedType>> {
    Query<_>(path)
  }
}

extension Query
where
  T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: _CustomPersistable,
  T.Element.Wrapped.PersistedType: _RealmCollectionValueInsideOptional
{
  /// What is stored for the elements; a comparison with it asks for any.
  public var persistableValue: Query<AnyRealmCollection<T.Element.Wrapped.PersistedType?>> {
    Query<_>(path)
  }
}

extension Query where T: RealmKeyedCollection, T.Value: _CustomPersistable {
  /// What is stored for the values; a comparison with it asks for any.
  public var persistableValue: Query<Map<T.Key, T.Value.PersistedType>> { Query<_>(path) }
}

extension Query
where
  T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: _CustomPersistable,
  T.Value.Wrapped.PersistedType: _RealmCollectionValueInsideOptional
{
  /// What is stored for the values; a comparison with it asks for any.
  public var persistableValue: Query<Map<T.Key, T.Value.Wrapped.PersistedType?>> {
    Query<_>(path)
  }
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

extension PredicateComparison {
  /// The comparison of a path with embedded objects that belong to no Realm, which stand for their
  /// values, as comparisons of these; nil when it is another one.
  func byMembers(_ isMultiple: (PropertyPath) -> Bool) -> PredicateTree? {
    guard case .path(var path) = left, quantifier != .all else { return nil }
    func plain(_ value: Any?) -> EmbeddedObject? {
      if isPlain(value) { return nil }
      return (value as? EmbeddedObject).flatMap { $0._realm == nil ? $0 : nil }
    }
    func isOne(_ object: EmbeddedObject) -> PredicateTree {
      if path.collections.isEmpty,
        let length = (1...path.steps.count).first(where: { length in
          isMultiple(PropertyPath(variable: path.variable, steps: Array(path.steps[..<length])))
        })
      {
        path.collections = [length]
      }
      return .values(of: object, at: path)
    }
    switch (comparator, right) {
    case (.equal, .value(let value)): return plain(value).map { isOne($0) }
    case (.notEqual, .value(let value)): return plain(value).map { .not(isOne($0)) }
    case (.isIn, .values(let values)):
      if !values.contains(where: { plain($0) != nil }) { return nil }
      return .or(
        values.map { value in
          if let object = plain(value) { return isOne(object) }
          var single = self
          single.comparator = .equal
          single.right = .value(value)
          return .comparison(single)
        })
    default: return nil
    }
  }
}
