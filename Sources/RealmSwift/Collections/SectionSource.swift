// What makes sections of results. They are found when they are asked for, and kept until the
// results change. Of results in the order of what makes the sections, only some elements of each
// section are looked at; else all are.
internal import Foundation
internal import ObjectStore
internal import Platform

/// Results, and what makes sections of them.
final class SectionSource<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
  let results: Results<Element>
  private let query: QuerySource<Element>
  private let makeKey: (Element) -> Key
  /// What `makeKey` reads, if that is known; the results are in its order then.
  private let keyPath: AnyKeyPath?
  /// The actor to which `makeKey` belongs.
  private let place: BlockPlace?
  private let isOrderedByKey: Bool?
  private let found: Found
  // Unchecked exclusivity: only the place of a live Realm touches it, and frozen ones note nothing.
  /// Whether a key was made of more than the element and what links lead to: changes do not tell
  /// then which elements have another key.
  @exclusivity(unchecked) private var looksElsewhere = false

  /// What was found last; under a lock because frozen ones are used by many threads.
  private final class Found: Sendable {
    let sections = Monitor<Carried<Known>?>(nil)
  }

  /// Sections, and of which state of what they depend on.
  private struct Known {
    let stamp: [UInt64]
    let sections: FoundSections<Key>
    /// What tells, in the running transaction, how they go on.
    var writing: Writing?
  }

  /// A state of a running transaction, and what tells it.
  private struct Writing {
    /// The transaction, while it runs: a mark of another one means nothing.
    weak var group: GroupTransaction?
    /// Of the elements.
    let table: StoredTable
    let items: [Int64]
    /// Up to where its changes of the elements' table are known.
    let mark: TouchMark
    /// The state of all other tables.
    let others: [UInt64]
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
  ///
  /// - Parameter results: in the order of the property.
  convenience init(_ results: Results<Element>, by keyPath: KeyPath<Element, Key>) {
    self.init(results, isOrderedByKey: nil, { $0[keyPath: keyPath] }, nil, keyPath)
  }

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
    makeKey = key
    self.keyPath = keyPath
    self.place = place
    self.isOrderedByKey = isOrderedByKey
  }

  // MARK: - What keys are made of

  /// The name, from the object, of the property that makes the sections; nil for a closure.
  private var keyName: String? {
    guard let keyPath, let root = Element.self as? any _KeyPathRoot.Type else { return nil }
    return root._observedName(keyPath)
  }

  private func key(of element: Element) -> Key {
    let lookups = query.realm.lookups
    let key = makeKey(element)
    if query.realm.lookups != lookups { looksElsewhere = true }
    return key
  }

  /// The key paths by which one hears of elements that may have another key, besides those of an
  /// observer.
  func keyPathsOfKeys(observedBy keyPaths: [String]?) -> [[String]?] {
    if keyPath != nil {
      guard let keyPaths, let keyName, !keyPaths.contains(keyName) else { return [] }
      return [keyPaths + [keyName]]
    }
    var found: [[String]?] = keyPaths == nil ? [] : [nil]
    if let schema = query.origin.table?.pointee.binding.schema {
      let linkingObjects = schema.properties.filter(\.isComputed).map { "\($0.name).*" }
      if !linkingObjects.isEmpty { found.append(linkingObjects) }
    }
    return found
  }

  // MARK: - Finding

  func sections() -> FoundSections<Key> {
    let stamp = stamp()
    if let known = found.sections.withLock({ $0?.value }), known.stamp == stamp {
      return known.sections
    }
    place?.requireHere()
    let writing = makeWriting()
    let sections = writing.flatMap { followed(to: $0) } ?? inOrder() ?? all()
    keep(sections, stamp, writing)
    return sections
  }

  private func keep(
    _ sections: FoundSections<Key>, _ stamp: [UInt64], _ writing: Writing? = nil
  ) {
    let carried = Carried(Known(stamp: stamp, sections: sections, writing: writing))
    found.sections.withLock { $0 = carried }
  }

  /// The state of what the sections depend on.
  private func stamp() -> [UInt64] {
    var stamp = query.stamp()
    // Inside of a transaction the keys may come from other classes, which have changed since.
    if query.realm.writing != nil {
      query.realm.tables.forEach { stamp.append($0.pointee.generation) }
    }
    return stamp
  }

  /// The sections after a step of the Realm, if they can be told from what changed.
  ///
  /// - Parameters:
  ///   - older: the sections before.
  ///   - change: what happened to the elements among all.
  ///   - changed: the positions afterwards, ascending, of those that stay and may have another key.
  func followed(
    _ older: FoundSections<Key>, _ change: CollectionChange, changed: [Int]
  ) -> (sections: FoundSections<Key>, moved: [MovedElement])? {
    let items = query.items()
    guard query.realm.writing == nil, !looksElsewhere,
      older.places.count - change.deletions.count + change.insertions.count == items.count
    else { return nil }
    place?.requireHere()
    let followed = older.followed(change, changed: changed, isOrderedByKey: isOrderedByKey) {
      key(of: query.element(items[$0])!)
    }
    keep(followed.sections, stamp())
    return followed
  }

  // MARK: - In a transaction

  /// The state of the running transaction; nil if it does not tell which elements may have another
  /// key.
  private func makeWriting() -> Writing? {
    guard let group = query.realm.writing?.group, let table = query.origin.table,
      let stored = table.pointee.binding.table, !looksElsewhere
    else { return nil }
    return Writing(
      group: group, table: stored, items: query.items(), mark: group.touchMark(stored),
      others: generations(without: table))
  }

  private func generations(without table: TablePointer) -> [UInt64] {
    var generations: [UInt64] = []
    query.realm.tables.forEach { if $0 != table { generations.append($0.pointee.generation) } }
    return generations
  }

  /// The sections after what the running transaction has changed since they were asked for; nil
  /// when that is not known, or has changed many.
  ///
  /// - Complexity: O(elements), which are compared by their keys; those that may have another key
  ///   are looked at.
  private func followed(to now: Writing) -> FoundSections<Key>? {
    guard let known = found.sections.withLock({ $0?.value }), let before = known.writing,
      let group = now.group, before.group === group, before.others == now.others,
      let touched = group.touched(now.table, since: before.mark), touched.count <= 64
    else { return nil }
    let changed = affected(by: Set(touched.map { ObjectKey(rawValue: $0) }), now.table, group)
    if changed.count > max(64, now.items.count / 16) { return nil }
    let change = CollectionChange(from: before.items, to: now.items)
    let inserted = change.insertions.first ?? 0
    let positions = ChangedObjects(changed).positions(in: now.items)
      .filter { $0 < inserted || $0 >= inserted + change.insertions.count }
    return known.sections.followed(change, changed: positions, isOrderedByKey: isOrderedByKey) {
      key(of: query.element(now.items[$0])!)
    }.sections
  }

  /// Some objects of the elements' class, and for a closure those that lead to them.
  private func affected(
    by touched: Set<ObjectKey>, _ table: StoredTable, _ group: GroupTransaction
  ) -> Set<ObjectKey> {
    if keyPath != nil { return touched }
    let schema = group.schema
    return LinkReach(schema, to: table.index).objects(leadingTo: [table.index: touched]) {
      group.reader(schema.tables[$0])
    }
  }

  // MARK: - Finding all

  /// Sections of which all elements are looked at.
  private func all() -> FoundSections<Key> {
    var builder = SectionBuilder<Key>()
    let isPlain = SectionBuilder<Key>.hasPlainKeys
    var (position, last) = (0, 0)
    for element in results {
      builder.add(position, key(of: element), isPlain, &last)
      position += 1
    }
    if let isOrderedByKey { builder.sort(ascending: isOrderedByKey) }
    return builder.sections
  }

  /// Sections of results that are in the order of their keys; nil where that does not say which
  /// elements are together.
  ///
  /// - Complexity: O(sections x log(elements of each)) elements are looked at.
  private func inOrder() -> FoundSections<Key>? {
    guard keyPath != nil, SectionBuilder<Key>.areTogetherInOrder else { return nil }
    let items = query.items()
    var builder = SectionBuilder<Key>()
    func key(at position: Int) -> (key: Key, identity: ValueIdentity) {
      let key = self.key(of: query.element(items[position])!)
      return (key, ValueIdentity(key: key))
    }
    var position = 0
    var next = items.isEmpty ? nil : key(at: 0)
    while let current = next {
      next = nil
      // The last element that is known to be in the section, and the first that is not.
      var (last, end) = (position, items.count)
      var step = 1
      while last + step < end {
        let other = key(at: last + step)
        if other.identity == current.identity {
          last += step
          step *= 2
        } else {
          end = last + step
          next = other
        }
      }
      while end - last > 1 {
        let middle = (last + end) / 2
        let other = key(at: middle)
        if other.identity == current.identity {
          last = middle
        } else {
          end = middle
          next = other
        }
      }
      if !builder.addRun(current.key, current.identity, end: end) { return nil }
      position = end
    }
    return builder.sections
  }

  /// Goes through the elements that are in a section now.
  func makeIterator(of section: ValueIdentity) -> RLMIterator<Element> {
    let positions = sections().positions(of: section)
    return query.makeIterator(at: (0..<positions.count).lazy.map { positions[$0] })
  }

  func frozen() -> SectionSource {
    results.isFrozen
      ? self
      : SectionSource(results.freeze(), isOrderedByKey: isOrderedByKey, makeKey, place, keyPath)
  }

  func thawed() -> SectionSource? {
    if !results.isFrozen { return self }
    return results.thaw().map {
      SectionSource($0, isOrderedByKey: isOrderedByKey, makeKey, place, keyPath)
    }
  }
}
