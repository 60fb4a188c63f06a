// Observing sections, all of them or one.
internal import ObjectStore

/// Sections, or one of them, which can be observed.
public protocol RealmSectionedResult: RandomAccessCollection, Equatable, _ObservedCollection,
  CustomStringConvertible
where _Change == SectionedResultsChange<Self>, _Observed == SectionElement {
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
