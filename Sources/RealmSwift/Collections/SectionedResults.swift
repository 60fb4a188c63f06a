// Results in sections, as clients see them: elements with the same key together, in the order of
// the first of each. How sections are found: SectionSource.
public import Foundation
internal import Platform

/// The elements of a collection in sections, always as they are now.
///
///     let byLetter = realm.objects(Person.self).sectioned(by: { $0.name.first.map { String($0) }
///       }, sortDescriptors: [SortDescriptor(keyPath: "name")])
public struct SectionedResults<Key: _Persistable & Hashable, SectionElement: RealmCollectionValue>:
  RandomAccessCollection, Equatable, CustomStringConvertible, ThreadConfined
{
  /// One section.
  public typealias Element = ResultsSection<Key, SectionElement>

  let source: SectionSource<Key, SectionElement>

  init(_ source: SectionSource<Key, SectionElement>) { self.source = source }

  /// The keys of the sections, in their order.
  public var allKeys: [Key] { source.keys }
  /// The Realm that the elements belong to.
  public var realm: Realm? { source.results.realm }
  /// Whether the collection can no longer be used.
  public var isInvalidated: Bool { source.results.isInvalidated }
  /// Whether the sections never change and may be used from any thread.
  public var isFrozen: Bool { source.results.isFrozen }
  /// Position of the first section.
  public var startIndex: Int { 0 }
  /// Position behind the last section.
  public var endIndex: Int { count }
  /// The number of sections.
  public var count: Int { source.count }

  /// The section at a position; stops when it is out of bounds.
  public subscript(position: Int) -> ResultsSection<Key, SectionElement> {
    ResultsSection(source, source.key(at: position), position)
  }

  /// Goes through the sections that are there now; those that go meanwhile are empty.
  public func makeIterator() -> IndexingIterator<[ResultsSection<Key, SectionElement>]> {
    source.keys.enumerated().map { ResultsSection(source, $1, $0) }.makeIterator()
  }

  /// The element at a position inside of a section; stops when one is out of bounds.
  public subscript(indexPath: IndexPath) -> SectionElement { self[indexPath[0]][indexPath[1]] }

  /// The sections as they are now, immutable and usable from any thread.
  public func freeze() -> SectionedResults { SectionedResults(source.frozen()) }

  /// The live form of frozen sections; nil when what the elements hang on was deleted.
  public func thaw() -> SectionedResults? { source.thawed().map { SectionedResults($0) } }

  /// Whether both show the same sections of the same results.
  public static func == (left: SectionedResults, right: SectionedResults) -> Bool {
    left.source === right.source
  }

  /// The keys, and the elements of each section.
  public var description: String {
    "SectionedResults<\(Key.self), \(CollectionDescription.name(SectionElement.self))> ("
      + map { "\n\t\(indented($0.description))" }.joined(separator: ",") + "\n)"
  }
}

@available(*, unavailable)
extension SectionedResults: Sendable {}

/// The elements of one section, always as they are now; none when the section is gone.
public struct ResultsSection<Key: _Persistable & Hashable, Element: RealmCollectionValue>:
  RandomAccessCollection, Equatable, Identifiable, CustomStringConvertible, ThreadConfined
{
  let source: SectionSource<Key, Element>

  /// What all elements of the section have in common.
  public let key: Key

  /// Where the section was: most often it still is.
  private let position: Int

  /// The key.
  public var id: Key { key }

  init(_ source: SectionSource<Key, Element>, _ key: Key, _ position: Int) {
    self.source = source
    self.key = key
    self.position = position
  }

  private var place: LikelySection {
    LikelySection(identity: ValueIdentity(key: key), position: position)
  }

  /// The Realm that the elements belong to.
  public var realm: Realm? { source.results.realm }
  /// Whether the collection can no longer be used.
  public var isInvalidated: Bool { source.results.isInvalidated }
  /// Whether the section never changes and may be used from any thread.
  public var isFrozen: Bool { source.results.isFrozen }
  /// Position of the first element.
  public var startIndex: Int { 0 }
  /// Position behind the last element.
  public var endIndex: Int { count }
  /// The number of elements.
  public var count: Int { source.count(of: place) }

  /// The element at a position; stops when it is out of bounds.
  public subscript(position: Int) -> Element {
    source.element(at: position, of: place)
  }

  /// Goes through the elements that are in the section now; objects that are deleted meanwhile are
  /// left out.
  public func makeIterator() -> RLMIterator<Element> {
    source.makeIterator(of: place)
  }

  /// The section as it is now, immutable and usable from any thread.
  public func freeze() -> ResultsSection { ResultsSection(source.frozen(), key, position) }

  /// The live form of a frozen section; nil when what the elements hang on was deleted.
  public func thaw() -> ResultsSection? {
    source.thawed().map { ResultsSection($0, key, position) }
  }

  /// Whether both are the same section of the same results.
  public static func == (left: ResultsSection, right: ResultsSection) -> Bool {
    left.source === right.source && ValueIdentity(key: left.key) == ValueIdentity(key: right.key)
  }

  /// The key and the elements.
  public var description: String {
    "ResultsSection<\((unwrapped(key) as? Date).map(ValueText.of) ?? "\(key)")> ("
      + map { "\n\t" + indented(ObjectDescription.text(of: $0._anyElement)) }
      .joined(separator: ",") + "\n)"
  }
}

@available(*, unavailable)
extension ResultsSection: Sendable {}

// MARK: - Making sections

extension RealmCollection {
  /// The elements in the order of some properties, in sections of elements with the same key.
  ///
  /// Stops when there is no descriptor.
  public func sectioned<Key: _Persistable & Hashable>(
    sortDescriptors: [SortDescriptor], _ keyBlock: @escaping @isolated(any) (Element) -> Key
  ) -> SectionedResults<Key, Element> {
    sectioned(by: keyBlock, sortDescriptors: sortDescriptors)
  }

  /// The elements in the order of some properties, in sections of elements with the same key.
  ///
  /// Stops when there is no descriptor. The block may read the element and the Realm: it is not
  /// called again for an element while neither that nor what its links lead to changes, unless it
  /// has read linking objects or results.
  public func sectioned<Key: _Persistable & Hashable>(
    by block: @escaping @isolated(any) (Element) -> Key, sortDescriptors: [SortDescriptor]
  ) -> SectionedResults<Key, Element> {
    requireDescriptor(sortDescriptors)
    return SectionedResults(SectionSource(sorted(by: sortDescriptors), block))
  }

  /// The elements in sections of elements with the same key, in the order of the keys.
  ///
  /// Values are in order inside of a section; objects are in the order of the collection. The block
  /// may read the element and the Realm: see the form with descriptors.
  public func sectioned<Key: _Persistable & Hashable>(
    by block: @escaping @isolated(any) (Element) -> Key, ascending: Bool = true
  ) -> SectionedResults<Key, Element> {
    let source = querySource()
    if source.origin.table == nil {
      return SectionedResults(SectionSource(sorted(byKeyPath: "self", ascending: ascending), block))
    }
    return SectionedResults(SectionSource(Results(source), isOrderedByKey: ascending, block))
  }

  private func requireDescriptor(_ descriptors: [SortDescriptor]) {
    if descriptors.isEmpty {
      misuse(
        .argument, "There must be at least one SortDescriptor when using SectionedResults.")
    }
  }
}

extension RealmCollection where Element: ObjectBase {
  /// The objects sorted by a property, in sections of objects with the same value.
  public func sectioned<Key: _Persistable & Hashable>(
    by keyPath: KeyPath<Element, Key>, ascending: Bool = true
  ) -> SectionedResults<Key, Element> {
    SectionedResults(
      SectionSource(sorted(byKeyPath: _name(for: keyPath), ascending: ascending), by: keyPath))
  }

  /// The objects sorted by several properties, in sections of objects with the same value of the
  /// first.
  ///
  /// Stops when there is no descriptor, and when the first one is of another property.
  public func sectioned<Key: _Persistable & Hashable>(
    by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
  ) -> SectionedResults<Key, Element> {
    requireDescriptor(sortDescriptors)
    if sortDescriptors[0].keyPath != _name(for: keyPath) { stopForSectionKey() }
    return SectionedResults(SectionSource(sorted(by: sortDescriptors), by: keyPath))
  }
}

/// Stops because sections are not in the order of their keys.
func stopForSectionKey() -> Never {
  misuse(.argument, "The section key path must match the primary sort descriptor.")
}

// MARK: - Index paths

#if !canImport(UIKit) && !canImport(AppKit)
  extension IndexPath {
    /// The path of an element in a section.
    public init(item: Int, section: Int) { self = [section, item] }

    /// The path of an element in a section.
    public init(row: Int, section: Int) { self = [section, row] }

    /// The position of the section.
    public var section: Int {
      get { self[0] }
      set { self[0] = newValue }
    }

    /// The position inside of the section.
    public var item: Int {
      get { self[1] }
      set { self[1] = newValue }
    }

    /// The position inside of the section.
    public var row: Int {
      get { self[1] }
      set { self[1] = newValue }
    }
  }
#endif
