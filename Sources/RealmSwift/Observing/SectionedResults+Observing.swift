// Observing sections, all of them or one.
public import Dispatch
internal import ObjectStore

/// Sections, or one of them, which can be observed.
public protocol RealmSectionedResult: RandomAccessCollection, Equatable, ThreadConfined,
  CustomStringConvertible
{
  /// What the elements of a section have in common.
  associatedtype Key: _Persistable & Hashable
  /// What is in the sections.
  associatedtype SectionElement: RealmCollectionValue

  /// What is observed.
  var _observed: _ObservedSections<Key, SectionElement> { get }
}

/// What observers of sections follow.
public struct _ObservedSections<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
  let source: SectionSource<Key, Element>
  /// The only section that counts; nil: all do.
  var key: Key?
}

@available(*, unavailable)
extension _ObservedSections: Sendable {}

extension SectionedResults: RealmSectionedResult {
  /// All sections.
  public var _observed: _ObservedSections<Key, SectionElement> { _ObservedSections(source: source) }
}

extension ResultsSection: RealmSectionedResult {
  /// What is in the section.
  public typealias SectionElement = Element

  /// The section, as long as it is there.
  public var _observed: _ObservedSections<Key, Element> {
    _ObservedSections(source: source, key: key)
  }
}

extension RealmSectionedResult {
  /// Has a block called each time when the sections or their elements have changed.
  ///
  /// It is called first with the sections as they are. An observer of one section is told of that one only;
  /// places name it by its position among all. For all else see `observe` of other collections.
  /// - Parameters:
  ///   - keyPaths: which properties of objects count, with dots through links. Nil: all, and those of
  ///     objects up to four links away. Empty: only what comes, goes or moves.
  ///   - queue: a serial queue on which the block is called, with sections that belong there; nil: where
  ///     the sections belong.
  ///   - block: gets the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken {
    observationStart(keyPaths, block).begin(on: queue)
  }

  /// Has a block of an actor called each time when the sections or their elements have changed.
  ///
  /// - Parameters:
  ///   - keyPaths: which properties of objects count.
  ///   - actor: where the block is called, with sections that belong there.
  ///   - _isolation: where the sections belong; leave it out.
  ///   - block: gets the actor and the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, SectionedResultsChange<Self>) -> Void
  ) async -> NotificationToken {
    await observationStart(keyPaths, plainFunction(actor, block)).begin(on: actor, _isolation)
  }

  private func observationStart(
    _ keyPaths: [String]?,
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> ObservationStart<Self> {
    let realm = requireObservedRealm(of: self)
    // Stops when one cannot be used.
    _ = KeyPathFilter(keyPaths, realm, _observed.source.results.elementTable)
    return ObservationStart(self, realm, hasFirstCall: true) { sections in
      SectionedObservation(sections, requireObservedRealm(of: sections), keyPaths, block)
    }
  }
}

extension RealmSectionedResult where SectionElement: ObjectBase {
  /// Has a block called each time when the sections or some properties of their objects have changed.
  ///
  /// - Parameters:
  ///   - keyPaths: which properties of objects count; empty: only what comes, goes or moves.
  ///   - queue: a serial queue on which the block is called; nil: where the sections belong.
  ///   - block: gets the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe(
    keyPaths: [PartialKeyPath<SectionElement>], on queue: DispatchQueue? = nil,
    _ block: @escaping (SectionedResultsChange<Self>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
  }

  /// Has a block of an actor called each time when the sections or some properties of their objects have
  /// changed.
  ///
  /// - Parameters:
  ///   - keyPaths: which properties of objects count; empty: only what comes, goes or moves.
  ///   - actor: where the block is called.
  ///   - _isolation: where the sections belong; leave it out.
  ///   - block: gets the actor and the change.
  /// - Returns: keep it for as long as the block shall be called.
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<SectionElement>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, SectionedResultsChange<Self>) -> Void
  ) async -> NotificationToken {
    await observe(
      keyPaths: keyPaths.map { _name(for: $0) }, on: actor, _isolation: _isolation, block)
  }
}
