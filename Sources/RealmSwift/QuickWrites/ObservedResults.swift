// The property wrapper of the objects of a class, or some of them, that are shown and edited.
public import Foundation

/// Shows the objects of a class that fulfil some conditions, and gives ways to add and delete them.
///
///     @ObservedResults(Item.self, where: { $0.isFavorite }) var items
///
///     for item in items { ... }     // frozen to the version that is shown
///     $items.append(Item())         // writes of their own
///     $items.remove(atOffsets: [0])
///
/// It opens its Realm itself, when it is first read. Reading it inside of `withObservationTracking`
/// has the closure called, once, when the results have changed. It belongs to the main actor. See
/// docs/quick-writes.md.
@propertyWrapper
public struct ObservedResults<ResultType: RealmFetchable> {
  private let query: ObservedQuery<ResultType, Results<ResultType>>

  private init(
    _ configuration: Realm.Configuration?, keyPaths: [String]?,
    _ settings: ObservedQuery<ResultType, Results<ResultType>>.Settings
  ) {
    query = ObservedQuery(configuration, settings, keyPaths: keyPaths) { results, descriptors in
      descriptors.isEmpty ? results : results.sorted(by: descriptors)
    }
  }

  /// Shows the objects of a class.
  ///
  /// - Parameters:
  ///   - type: the class, or a projection of one.
  ///   - configuration: of the Realm; nil: the default one at the first read.
  ///   - filter: which objects; nil: all.
  ///   - keyPaths: which properties of the objects count as changes, with dots through links. Nil:
  ///     all, and those of objects up to four links away.
  ///   - sortDescriptor: the order.
  public init(
    _ type: ResultType.Type, configuration: Realm.Configuration? = nil,
    filter: NSPredicate? = nil, keyPaths: [String]? = nil, sortDescriptor: SortDescriptor? = nil
  ) {
    self.init(
      configuration, keyPaths: keyPaths,
      .init(filter: filter, sortDescriptors: sortDescriptor.map { [$0] } ?? []))
  }

  /// Shows the objects of a class.
  ///
  /// - Parameters:
  ///   - type: the class, or a projection of one.
  ///   - configuration: of the Realm; nil: the default one at the first read.
  ///   - where: which objects; nil: all.
  ///   - keyPaths: which properties of the objects count as changes; see above.
  ///   - sortDescriptor: the order.
  public init(
    _ type: ResultType.Type, configuration: Realm.Configuration? = nil,
    where: ((Query<ResultType>) -> Query<Bool>)?, keyPaths: [String]? = nil,
    sortDescriptor: SortDescriptor? = nil
  ) {
    self.init(
      configuration, keyPaths: keyPaths,
      .init(where: `where`, sortDescriptors: sortDescriptor.map { [$0] } ?? []))
  }

  /// Shows the objects of a class.
  ///
  /// - Parameters:
  ///   - type: the class, or a projection of one.
  ///   - keyPaths: which properties of the objects count as changes; see above.
  ///   - configuration: of the Realm; nil: the default one at the first read.
  ///   - sortDescriptor: the order.
  public init(
    _ type: ResultType.Type, keyPaths: [String]?, configuration: Realm.Configuration?,
    sortDescriptor: SortDescriptor? = nil
  ) {
    self.init(
      type, configuration: configuration, filter: nil, keyPaths: keyPaths,
      sortDescriptor: sortDescriptor)
  }

  /// The results as they are shown: frozen.
  @MainActor
  public var wrappedValue: Results<ResultType> { query.require().show() }

  /// The wrapper itself, to add and delete objects and to set what is shown.
  @MainActor
  public var projectedValue: ObservedResults { self }

  // MARK: - What is shown

  /// Which objects are shown, by a predicate; setting it ends ``where``.
  @MainActor
  public var filter: NSPredicate? {
    get { query.settings.filter }
    nonmutating set { query.choose(newValue, nil) }
  }

  /// Which objects are shown, by a typed query; setting it ends ``filter``.
  @MainActor
  public var `where`: ((Query<ResultType>) -> Query<Bool>)? {
    get { query.settings.where }
    nonmutating set { query.choose(nil, newValue) }
  }

  /// The order; nil: that in which objects were added.
  @MainActor
  public var sortDescriptor: SortDescriptor? {
    get { query.settings.sortDescriptors.first }
    nonmutating set { query.settings.sortDescriptors = newValue.map { [$0] } ?? [] }
  }

  /// What is searched for; empty for nothing.
  @MainActor
  public var searchText: String { query.settings.searchText }

  /// Shows only objects with a text in one of their properties, whatever its case and accents.
  ///
  /// The other conditions hold as well. An empty text ends the search.
  @MainActor
  public func searchText(_ text: String, on keyPath: KeyPath<ResultType, String>)
  where ResultType: _KeyPathRoot {
    query.search(text, path: ResultType._observedName(keyPath))
  }

  /// Shows only objects with a text in one of their properties; those without a value are not
  /// shown.
  @MainActor
  public func searchText(_ text: String, on keyPath: KeyPath<ResultType, String?>)
  where ResultType: _KeyPathRoot {
    query.search(text, path: ResultType._observedName(keyPath))
  }

  /// The token of the wrapper's observation, for `write(withoutNotifying:)`: who has read the
  /// wrapper is not told of that write.
  ///
  /// Stops where the results cannot be observed, as `observe` does.
  @MainActor
  public var notificationToken: NotificationToken { query.require().requireToken() }
}

@available(*, unavailable)
extension ObservedResults: Sendable {}

// Apart from the struct: else that, with its initialisers, would belong to the main actor, too.
extension ObservedResults: BoundCollection {
  /// What is shown.
  public typealias Value = Results<ResultType>
  /// What is in the results.
  public typealias Element = ResultType

  /// The results to change.
  public var _boundValue: Results<ResultType>? { query.require().live }
  /// Results belong to a Realm, which tells of its changes.
  public func _didWrite() {}
}
