// The property wrapper of objects in sections that are shown and edited.
public import Foundation

/// Shows the objects of a class in sections, and gives ways to delete them.
///
///     @ObservedSectionedResults(Item.self, sectionKeyPath: \.category) var sections
///
/// It opens its Realm itself, when it is first read. For all else see ``ObservedResults``.
@propertyWrapper
public struct ObservedSectionedResults<Key: _Persistable & Hashable, ResultType: RealmFetchable> {
  /// What is in the sections.
  public typealias Element = ResultType

  private typealias Query_ = ObservedQuery<ResultType, SectionedResults<Key, ResultType>>
  private let query: Query_

  private init(
    _ configuration: Realm.Configuration?, keyPaths: [String]?, _ settings: Query_.Settings,
    _ arrange:
      @escaping (Results<ResultType>, [SortDescriptor]) -> SectionedResults<
        Key, ResultType
      >
  ) {
    query = ObservedQuery(configuration, settings, keyPaths: keyPaths, arrange: arrange)
  }

  /// Shows the objects of a class in sections of those with one value of a property.
  ///
  /// - Parameters:
  ///   - type: the class.
  ///   - sectionKeyPath: the property.
  ///   - sortDescriptors: the order; the first one is of the same property. Empty: ascending by it.
  ///   - filter: which objects; nil: all.
  ///   - keyPaths: which properties of the objects count as changes; see ``ObservedResults``.
  ///   - configuration: of the Realm; nil: the default one at the first read.
  public init(
    _ type: ResultType.Type, sectionKeyPath: KeyPath<ResultType, Key>,
    sortDescriptors: [SortDescriptor] = [], filter: NSPredicate? = nil, keyPaths: [String]? = nil,
    configuration: Realm.Configuration? = nil
  ) where ResultType: ObjectBase {
    self.init(
      configuration, keyPaths: keyPaths, .init(filter: filter, sortDescriptors: sortDescriptors)
    ) {
      $1.isEmpty
        ? $0.sectioned(by: sectionKeyPath)
        : $0.sectioned(by: sectionKeyPath, sortDescriptors: $1)
    }
  }

  /// Shows the objects of a class in sections of those with one value of a property.
  ///
  /// - Parameters:
  ///   - type: the class.
  ///   - sectionKeyPath: the property.
  ///   - sortDescriptors: the order; the first one is of the same property. Empty: ascending by it.
  ///   - where: which objects; nil: all.
  ///   - keyPaths: which properties of the objects count as changes; see ``ObservedResults``.
  ///   - configuration: of the Realm; nil: the default one at the first read.
  public init(
    _ type: ResultType.Type, sectionKeyPath: KeyPath<ResultType, Key>,
    sortDescriptors: [SortDescriptor] = [],
    where: ((Query<ResultType>) -> Query<Bool>)?, keyPaths: [String]? = nil,
    configuration: Realm.Configuration? = nil
  ) where ResultType: ObjectBase {
    self.init(
      configuration, keyPaths: keyPaths, .init(where: `where`, sortDescriptors: sortDescriptors)
    ) {
      $1.isEmpty
        ? $0.sectioned(by: sectionKeyPath)
        : $0.sectioned(by: sectionKeyPath, sortDescriptors: $1)
    }
  }

  /// Shows projections in sections of those with one value of a projected property.
  ///
  /// - Parameters:
  ///   - type: the projection.
  ///   - sectionKeyPath: the projected property.
  ///   - sortDescriptors: the order, by properties of the object. Empty: ascending by the same
  ///   property.
  ///   - filter: which objects; nil: all.
  ///   - keyPaths: which properties count as changes; see ``ObservedResults``.
  ///   - configuration: of the Realm; nil: the default one at the first read.
  public init(
    _ type: ResultType.Type, sectionKeyPath: KeyPath<ResultType, Key>,
    sortDescriptors: [SortDescriptor] = [], filter: NSPredicate? = nil, keyPaths: [String]? = nil,
    configuration: Realm.Configuration? = nil
  ) where ResultType: ProjectionObservable {
    self.init(
      configuration, keyPaths: keyPaths, .init(filter: filter, sortDescriptors: sortDescriptors)
    ) {
      $1.isEmpty
        ? $0.sectioned(by: sectionKeyPath)
        : $0.sectioned(by: sectionKeyPath, sortDescriptors: $1)
    }
  }

  /// Shows the objects of a class in sections of those for which a closure gives one key.
  ///
  /// - Parameters:
  ///   - type: the class, or a projection of one.
  ///   - sectionBlock: gives the key.
  ///   - sortDescriptors: the order; sections come in the order of their first objects. Empty: in
  ///     the order of their keys.
  ///   - filter: which objects; nil: all.
  ///   - keyPaths: which properties of the objects count as changes; see ``ObservedResults``.
  ///   - configuration: of the Realm; nil: the default one at the first read.
  public init(
    _ type: ResultType.Type, sectionBlock: @escaping (ResultType) -> Key,
    sortDescriptors: [SortDescriptor] = [], filter: NSPredicate? = nil, keyPaths: [String]? = nil,
    configuration: Realm.Configuration? = nil
  ) {
    self.init(
      configuration, keyPaths: keyPaths, .init(filter: filter, sortDescriptors: sortDescriptors)
    ) {
      $1.isEmpty
        ? $0.sectioned(by: sectionBlock)
        : $0.sectioned(by: sectionBlock, sortDescriptors: $1)
    }
  }

  /// Shows the objects of a class in sections of those for which a closure gives one key.
  ///
  /// - Parameters:
  ///   - type: the class, or a projection of one.
  ///   - sectionBlock: gives the key.
  ///   - sortDescriptors: the order; see above.
  ///   - where: which objects; nil: all.
  ///   - keyPaths: which properties of the objects count as changes; see ``ObservedResults``.
  ///   - configuration: of the Realm; nil: the default one at the first read.
  public init(
    _ type: ResultType.Type, sectionBlock: @escaping (ResultType) -> Key,
    sortDescriptors: [SortDescriptor] = [],
    where: ((Query<ResultType>) -> Query<Bool>)?, keyPaths: [String]? = nil,
    configuration: Realm.Configuration? = nil
  ) {
    self.init(
      configuration, keyPaths: keyPaths, .init(where: `where`, sortDescriptors: sortDescriptors)
    ) {
      $1.isEmpty
        ? $0.sectioned(by: sectionBlock)
        : $0.sectioned(by: sectionBlock, sortDescriptors: $1)
    }
  }

  /// The sections as they are shown: frozen.
  @MainActor
  public var wrappedValue: SectionedResults<Key, ResultType> { query.require().show() }

  /// The wrapper itself, to delete objects and to set what is shown.
  @MainActor
  public var projectedValue: ObservedSectionedResults { self }

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

  /// The order; see the initialisers.
  @MainActor
  public var sortDescriptors: [SortDescriptor] {
    get { query.settings.sortDescriptors }
    nonmutating set { query.settings.sortDescriptors = newValue }
  }

  /// What is searched for; empty for nothing.
  @MainActor
  public var searchText: String { query.settings.searchText }

  /// Shows only objects with a text in one of their properties; see ``ObservedResults``.
  @MainActor
  public func searchText(_ text: String, on keyPath: KeyPath<ResultType, String>)
  where ResultType: _KeyPathRoot {
    query.search(text, path: ResultType._observedName(keyPath))
  }

  /// Shows only objects with a text in one of their properties; see ``ObservedResults``.
  @MainActor
  public func searchText(_ text: String, on keyPath: KeyPath<ResultType, String?>)
  where ResultType: _KeyPathRoot {
    query.search(text, path: ResultType._observedName(keyPath))
  }

  /// The token of the wrapper's observation, for `write(withoutNotifying:)`.
  ///
  /// Stops where the sections cannot be observed, as `observe` does.
  @MainActor
  public var notificationToken: NotificationToken { query.require().requireToken() }
}

@available(*, unavailable)
extension ObservedSectionedResults: Sendable {}

extension ObservedSectionedResults where ResultType: ObjectBase & ThreadConfined {
  /// Deletes an object from the Realm.
  @MainActor
  public func remove(_ object: ResultType) {
    deleteManaged(object)
  }

  /// Deletes the objects that are shown at positions of a section from the Realm.
  @MainActor
  public func remove(atOffsets offsets: IndexSet, section: ResultsSection<Key, ResultType>) {
    deleteQuickly(offsets.map { section[$0] }, of: section)
  }
}

extension ObservedSectionedResults where ResultType: ProjectionObservable {
  /// Deletes the object that a projection shows from the Realm.
  @MainActor
  public func remove(_ projection: ResultType) { deleteManaged(projection.rootObject) }

  /// Deletes the objects that are shown at positions of a section from the Realm.
  @MainActor
  public func remove(atOffsets offsets: IndexSet, section: ResultsSection<Key, ResultType>) {
    deleteQuickly(offsets.map { section[$0].rootObject }, of: section)
  }
}

extension ObservedSectionedResults {
  /// Adds an object to the Realm; one that is in it already is left alone.
  @MainActor
  public func append(_ object: ResultType) where ResultType: Object { add(object) }

  /// Adds the object that a projection shows to the Realm; one that is in it already is left alone.
  @MainActor
  public func append(_ projection: ResultType)
  where ResultType: ProjectionObservable, ResultType.Root: Object {
    add(projection.rootObject)
  }

  @MainActor
  private func add(_ object: Object) {
    quickWrite(to: query.require().live) { sections in
      sections.realm.map { isInFile(object, of: $0.confined) } == false
    } _: { sections in
      sections.realm?.add(object)
    }
  }
}
