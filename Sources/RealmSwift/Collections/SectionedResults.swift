// Results in sections: elements with the same key together, in the order of the first of each. The
// sections are made when they are asked for, and kept until the results change.
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
  public var allKeys: [Key] { source.sections().keys }
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
  public var count: Int { source.sections().keys.count }

  /// The section at a position; stops when it is out of bounds.
  public subscript(position: Int) -> ResultsSection<Key, SectionElement> {
    let sections = source.sections()
    checkBounds(position, sections.keys.count)
    return ResultsSection(source, sections.keys[position])
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

  /// The key.
  public var id: Key { key }

  init(_ source: SectionSource<Key, Element>, _ key: Key) {
    self.source = source
    self.key = key
  }

  private var positions: [Int] {
    source.sections().positions(of: ValueIdentity(key: key))
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
  public var endIndex: Int { positions.count }
  /// The number of elements.
  public var count: Int { positions.count }

  /// The element at a position; stops when it is out of bounds.
  public subscript(position: Int) -> Element {
    let positions = positions
    checkBounds(position, positions.count)
    return source.results[positions[position]]
  }

  /// The section as it is now, immutable and usable from any thread.
  public func freeze() -> ResultsSection { ResultsSection(source.frozen(), key) }

  /// The live form of a frozen section; nil when what the elements hang on was deleted.
  public func thaw() -> ResultsSection? { source.thawed().map { ResultsSection($0, key) } }

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

/// Results, and what makes sections of them.
final class SectionSource<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
  let results: Results<Element>
  private let query: QuerySource<Element>
  private let key: (Element) -> Key
  /// The actor to which `key` belongs.
  private let place: BlockPlace?
  private let isOrderedByKey: Bool?
  private let found: Found

  /// What was found last; under a lock because frozen ones are used by many threads.
  private final class Found: Sendable {
    let sections = Monitor<Carried<Sections>?>(nil)
  }

  /// The positions of the elements of each section among the results.
  struct Sections {
    var stamp: [UInt64]
    var keys: [Key] = []
    /// The keys as they are told apart.
    var identities: [ValueIdentity] = []
    private(set) var positions: [[Int]] = []
    private var sections: [ValueIdentity: Int] = [:]
    /// The section of the last element: most often the next one is in it too.
    private var last = 0
    /// As observers know them, once there are any.
    fileprivate(set) var shape: SectionShape?

    fileprivate init(stamp: [UInt64]) { self.stamp = stamp }

    /// Whether keys that Swift calls equal are those that a file has one value for.
    fileprivate static var hasPlainKeys: Bool {
      switch Key._rlmType {
      case .int, .bool, .objectId, .UUID:
        !(Key.self is any _CustomPersistable.Type || Key.self is any PersistableEnum.Type)
      default: false
      }
    }

    /// The positions of a section's elements; none when there is no such section.
    func positions(of identity: ValueIdentity) -> [Int] {
      sections[identity].map { positions[$0] } ?? []
    }

    fileprivate mutating func add(_ position: Int, _ key: Key, _ isPlain: Bool) {
      // To find out what a key is to a file takes much longer.
      if last < keys.count, isPlain ? keys[last] == key : Self.isSameText(keys[last], key) {
        positions[last].append(position)
        return
      }
      let identity = ValueIdentity(key: key)
      if let section = sections[identity] {
        positions[section].append(position)
        last = section
      } else {
        last = keys.count
        sections[identity] = last
        keys.append(key)
        identities.append(identity)
        positions.append([position])
      }
    }

    private static func isSameText(_ left: Key, _ right: Key) -> Bool {
      guard Key.self == String.self, let left = left as? String, let right = right as? String
      else { return false }
      return left.utf8.elementsEqual(right.utf8)
    }

    /// Puts the sections in the order that a Realm has for their keys.
    fileprivate mutating func sort(ascending: Bool) {
      let order = keys.indices.sorted { left, right in
        ascending
          ? identities[left].precedes(identities[right])
          : identities[right].precedes(identities[left])
      }
      keys = order.map { keys[$0] }
      identities = order.map { identities[$0] }
      positions = order.map { positions[$0] }
      for (section, identity) in identities.enumerated() { sections[identity] = section }
    }
  }

  /// - Parameter isOrderedByKey: sections in ascending or descending order of their keys; nil: in
  ///   the order of their first elements.
  convenience init(
    _ results: Results<Element>, isOrderedByKey: Bool? = nil,
    _ key: @escaping @isolated(any) (Element) -> Key
  ) {
    // Sound: isolation is a matter of types, functions are called alike; it is checked before
    // calls.
    let plain = unsafeBitCast(key, to: ((Element) -> Key).self)
    self.init(results, isOrderedByKey: isOrderedByKey, plain, BlockPlace(key.isolation))
  }

  /// Sections by a property, which are found once for all equal results of a live Realm.
  convenience init(_ results: Results<Element>, by keyPath: KeyPath<Element, Key>) {
    self.init(results, isOrderedByKey: nil, { $0[keyPath: keyPath] }, nil, keyPath)
  }

  /// - Parameter keyPath: what `key` reads, if that is known.
  private init(
    _ results: Results<Element>, isOrderedByKey: Bool?, _ key: @escaping (Element) -> Key,
    _ place: BlockPlace?, _ keyPath: AnyKeyPath? = nil
  ) {
    self.results = results
    query = results.querySource()
    if let keyPath, !query.realm.isFrozen, let identity = query.identity {
      found = query.realm.elementSharing.sections(SectionIdentity(query: identity, keyPath)) {
        Found()
      }
    } else {
      found = Found()
    }
    self.key = key
    self.place = place
    self.isOrderedByKey = isOrderedByKey
  }

  func sections() -> Sections {
    var stamp = query.stamp()
    // Inside of a transaction the keys may come from other classes, which have changed since.
    if let realm = results.realm?.confined, realm.writing != nil {
      realm.tables.forEach { stamp.append($0.pointee.generation) }
    }
    if let known = found.sections.withLock({ $0?.value }), known.stamp == stamp { return known }
    place?.requireHere()
    var sections = Sections(stamp: stamp)
    let isPlain = Sections.hasPlainKeys
    for (position, element) in results.enumerated() {
      sections.add(position, key(element), isPlain)
    }
    if let isOrderedByKey { sections.sort(ascending: isOrderedByKey) }
    let carried = Carried(sections)
    found.sections.withLock { $0 = carried }
    return sections
  }

  /// The sections as their observers know them, one object for all of these.
  func shape() -> SectionShape {
    var sections = sections()
    if let shape = sections.shape { return shape }
    let shape = SectionShape(sections)
    sections.shape = shape
    let carried = Carried(sections)
    found.sections.withLock { if $0?.value.stamp == carried.value.stamp { $0 = carried } }
    return shape
  }

  func frozen() -> SectionSource {
    results.isFrozen
      ? self : SectionSource(results.freeze(), isOrderedByKey: isOrderedByKey, key, place)
  }

  func thawed() -> SectionSource? {
    if !results.isFrozen { return self }
    return results.thaw().map { SectionSource($0, isOrderedByKey: isOrderedByKey, key, place) }
  }
}

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
  /// Stops when there is no descriptor.
  public func sectioned<Key: _Persistable & Hashable>(
    by block: @escaping @isolated(any) (Element) -> Key, sortDescriptors: [SortDescriptor]
  ) -> SectionedResults<Key, Element> {
    requireDescriptor(sortDescriptors)
    return SectionedResults(SectionSource(sorted(by: sortDescriptors), block))
  }

  /// The elements in sections of elements with the same key, in the order of the keys.
  ///
  /// Values are in order inside of a section; objects are in the order of the collection.
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
