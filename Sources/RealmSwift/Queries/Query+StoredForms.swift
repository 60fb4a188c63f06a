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
  ///
  /// - Parameter differs: whether it has to have others instead.
  static func values(
    of object: EmbeddedObject, at path: PropertyPath, differs: Bool = false
  ) -> PredicateTree {
    any(of: path, orMissing: differs) { element in
      let isSame = PredicateTree.and(isThere(element) + members(of: object, at: element))
      return differs ? .not(isSame) : isSame
    }
  }

  /// Whether a condition holds of what a path leads to, or of any of the elements there.
  ///
  /// - Parameter orMissing: whether it holds of a map's value that is nil, too, which is no element
  ///   of a sub-query.
  fileprivate static func any(
    of path: PropertyPath, orMissing: Bool, _ condition: (PropertyPath) -> PredicateTree
  ) -> PredicateTree {
    guard let collection = path.collections.last else { return condition(path) }
    let variable = "col1"
    let element = PropertyPath(
      variable: variable, steps: Array(path.steps[collection...]))
    let subquery = Subquery(
      collection: PropertyPath(
        variable: path.variable, steps: Array(path.steps[..<collection]),
        collections: path.collections),
      variable: variable, condition: condition(element))
    let found = PredicateTree.comparison(
      PredicateComparison(left: .subquery(subquery), comparator: .greater, right: .value(0)))
    guard orMissing, element.steps.isEmpty else { return found }
    return .or([found, makeComparison(.path(path), .equal, .value(nil))])
  }

  /// An object that a condition is about is always there.
  private static func isThere(_ path: PropertyPath) -> [PredicateTree] {
    path.steps.isEmpty && path.variable == nil
      ? [] : [makeComparison(.path(path), .notEqual, .value(nil))]
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
  ///
  /// - Parameter collections: how many collections a path passes.
  func byMembers(_ collections: (PropertyPath) -> Int) -> PredicateTree? {
    guard case .path(var path) = left else { return nil }
    func plain(_ value: Any?) -> EmbeddedObject? {
      if isPlain(value) { return nil }
      return (value as? EmbeddedObject).flatMap { $0._realm == nil ? $0 : nil }
    }
    func isAny(_ object: EmbeddedObject, differs: Bool) -> PredicateTree {
      path.findCollections(collections)
      return .values(of: object, at: path, differs: differs)
    }
    let isAll = quantifier == .all
    switch (comparator, right) {
    case (.equal, .value(let value)), (.notEqual, .value(let value)):
      guard let object = plain(value) else { return nil }
      let differs = comparator == .notEqual
      return isAll ? .not(isAny(object, differs: !differs)) : isAny(object, differs: differs)
    case (.isIn, .values(let values)):
      if !values.contains(where: { plain($0) != nil }) { return nil }
      path.findCollections(collections)
      func isOne(_ element: PropertyPath) -> PredicateTree {
        .or(
          values.map { value in
            plain(value).map { .values(of: $0, at: element) }
              ?? makeComparison(.path(element), .equal, .value(value))
          })
      }
      let isNilOne = values.contains { unwrapped($0) == nil }
      return isAll
        ? .not(PredicateTree.any(of: path, orMissing: !isNilOne) { .not(isOne($0)) })
        : PredicateTree.any(of: path, orMissing: isNilOne, isOne)
    default: return nil
    }
  }
}

extension PropertyPath {
  /// Finds out how many steps lead to each collection, unless the writer of the path knew it.
  ///
  /// A place behind a collection leads to one of its elements.
  fileprivate mutating func findCollections(_ count: (PropertyPath) -> Int) {
    guard collections.isEmpty else { return }
    var known = 0
    for length in 0...steps.count {
      let found = count(PropertyPath(variable: variable, steps: Array(steps[..<length])))
      if found > known { collections.append(length) }
      if found < known { collections.removeLast(min(known - found, collections.count)) }
      known = found
    }
  }
}
