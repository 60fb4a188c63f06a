// What makes sections of results. They are found when they are asked for, and kept until the
// results change. Of results in the order of what makes the sections, only some elements of each
// section are looked at; else all are.
internal import Foundation
internal import ObjectStore
internal import Platform
internal import Storage

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
  /// Whether `makeKey` has ever read more than an element's own values.
  @exclusivity(unchecked) private var followsLinks = false
  /// Whether the key path has ever led to something else than the property that orders the results:
  /// what is computed from it may depend on others, and is followed as a block is.
  @exclusivity(unchecked) private var isComputed = false
  /// Of how many more keys this is asked: a few tell it.
  @exclusivity(unchecked) private var keyChecksLeft: Int

  /// The frozen form that was made last, while somebody has it.
  private weak var frozenForm: SectionSource?

  /// What keys are made of, besides linking objects and such; see `keyTables`.
  @exclusivity(unchecked) private var knownKeyTables: KeyTables?

  /// What was found last; under a lock because frozen ones are used by many threads.
  private final class Found: Sendable {
    let sections = Monitor<Carried<Known>?>(nil)
    let held = Monitor<Carried<Held>?>(nil)
  }

  /// Sections of a version, and what happens to their elements from then on.
  private struct Held {
    let sections: FoundSections<Key>
    let moves: HeldSections
  }

  /// Sections, and of which state of what they depend on.
  private struct Known {
    let stamp: [UInt64]
    let sections: FoundSections<Key>
    /// In a running transaction: what tells how they go on, and the elements.
    var transaction: (state: SectionState, items: [Int64])?
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
    // Many threads use frozen ones.
    keyChecksLeft = keyPath == nil || results.isFrozen ? 0 : 16
  }

  // MARK: - What keys are made of

  /// The name, from the object, of the property that makes the sections; nil for a closure.
  private var keyName: String? {
    guard let keyPath, let root = Element.self as? any _KeyPathRoot.Type else { return nil }
    return root._observedName(keyPath)
  }

  private func key(of element: Element) -> Key {
    let realm = query.realm
    let (lookups, objectsMade) = (realm.lookups, realm.objectsMade)
    let key = makeKey(element)
    if realm.lookups != lookups { looksElsewhere = true }
    if realm.objectsMade != objectsMade, !followsLinks {
      followsLinks = true
      // A state that was noted by fewer tables is not known from now on.
      knownKeyTables = nil
    }
    if keyChecksLeft > 0, let keyName {
      keyChecksLeft -= 1
      _ = isProperty(ValueIdentity(key: key), of: element, keyName)
    }
    return key
  }

  /// Whether a key is the property that orders the results; notes where it is computed instead.
  private func isProperty(_ identity: ValueIdentity, of element: Element, _ name: String) -> Bool {
    if let object = element._anyElement as? ObjectBase,
      ValueIdentity(object.value(forKeyPath: name), isMixed: Key._rlmType == .any) == identity
    {
      return true
    }
    if !isComputed, !query.realm.isFrozen {
      isComputed = true
      knownKeyTables = nil
    }
    return false
  }

  /// Whether keys are made by a block that has read nothing but the elements' own values so far.
  var readsOwnValues: Bool { (keyPath == nil || isComputed) && !followsLinks && !looksElsewhere }

  /// The key paths by which one hears of elements that may have another key, besides those of an
  /// observer.
  func keyPathsOfKeys(observedBy keyPaths: [String]?) -> [[String]?] {
    if keyPath != nil, !isComputed {
      guard let keyPaths, let keyName, !keyPaths.contains(keyName) else { return [] }
      return [keyPaths + [keyName]]
    }
    guard let schema = query.origin.table?.pointee.binding.schema else {
      return keyPaths == nil ? [] : [nil]
    }
    // Of an object that is changed many others may hear by their links.
    let own = schema.properties.filter { !$0.isComputed }.map(\.name)
    var found: [[String]?] = readsOwnValues ? [own] : keyPaths == nil ? [] : [nil]
    let linkingObjects = schema.properties.filter(\.isComputed).map { "\($0.name).*" }
    if !linkingObjects.isEmpty { found.append(linkingObjects) }
    return found
  }

  // MARK: - Finding

  func sections() -> FoundSections<Key> {
    let stamp = stamp()
    if let known = found.sections.withLock({ $0?.value }), known.stamp == stamp {
      return known.sections
    }
    place?.requireHere()
    let transaction = stateOfTransaction().map { (state: $0, items: query.items()) }
    // `items` counts what it looks at, but not for all objects of a class or elements of a list.
    if transaction != nil, query.passingIdentity == nil {
      _ = query.passing(looks: .max, ofAll: true)
    }
    let version = versionOfKeys()
    let sections =
      version.flatMap { followed(to: $0) }
      ?? transaction.flatMap { followed(to: $0.state, $0.items) } ?? inOrder() ?? all()
    keep(sections, stamp, transaction)
    if let version { hold(sections, of: version) }
    return sections
  }

  // MARK: - From version to version

  /// The version whose elements and keys are there now; nil in a transaction that may have changed
  /// them, and where that is not known.
  private func versionOfKeys() -> Version? {
    let realm = query.realm
    guard !realm.isFrozen, !looksElsewhere, let version = query.version(query.resolved) else {
      return nil
    }
    guard let group = realm.writing?.group, let keyTables = keyTables() else { return version }
    return keyTables.areTouched(by: group) ? nil : version
  }

  /// What keys are made of; nil for values.
  private func keyTables() -> KeyTables? {
    let classes = query.realm.classes
    if let known = knownKeyTables, known.classes === classes { return known }
    guard let stored = query.origin.table?.pointee.binding.table else { return nil }
    // A property of the elements, and not of what they link to.
    let isOwn = keyPath == nil || isComputed ? !followsLinks : keyName?.contains(".") == false
    let found = KeyTables(classes, stored, followsLinks: !isOwn)
    knownKeyTables = found
    return found
  }

  /// The sections of a version, from those that were found last and what has happened since; nil
  /// when that is not known, or has changed many.
  private func followed(to version: Version) -> FoundSections<Key>? {
    guard let held = found.held.withLock({ $0?.value }), held.moves.version == version else {
      return nil
    }
    let change = held.moves.change
    if change.isEmpty { return held.sections }
    let items = query.items()
    let changed = change.insertions.count + change.modifications.count
    guard changed <= PassingElements.changedMax(of: items.count),
      held.sections.places.count - change.deletions.count + change.insertions.count == items.count
    else { return nil }
    return held.sections.followed(
      change, changed: change.modifications, isOrderedByKey: isOrderedByKey
    ) { key(of: query.element(items[$0])!) }.sections
  }

  /// Lets sections that were found follow the Realm, where that takes less than to find them anew.
  private func hold(_ sections: FoundSections<Key>, of version: Version) {
    if sections.places.count <= 1_024 || looksElsewhere { return }
    if keyPath != nil, keyName == nil { return }
    let moves: HeldSections
    if let held = found.held.withLock({ $0?.value }), held.moves.version == version {
      moves = held.moves
      moves.beginAnew()
      if held.sections === sections { return }
    } else {
      let keyPaths = isComputed ? nil : keyName.map { [$0] }
      moves = HeldSections(of: version, keyPaths, query.realm, query.origin.table)
      query.realm.hold(moves, of: query)
    }
    let carried = Carried(Held(sections: sections, moves: moves))
    found.held.withLock { $0 = carried }
  }

  private func keep(
    _ sections: FoundSections<Key>, _ stamp: [UInt64],
    _ transaction: (state: SectionState, items: [Int64])? = nil
  ) {
    let carried = Carried(Known(stamp: stamp, sections: sections, transaction: transaction))
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

  /// The sections where they are edited by what the running transaction touches; nil where they
  /// have to be found.
  private func passing() -> PassingSections<Key>? {
    if query.realm.group == nil || looksElsewhere { return nil }
    return passingInTransaction()
  }

  @inline(never)
  private func passingInTransaction() -> PassingSections<Key>? {
    guard let elements = query.passing(ofAll: true), let now = stateOfTransaction() else {
      return nil
    }
    if let derived = elements.derived(for: found) {
      // What is derived for `found` is made below alone.
      let passing = unsafeDowncast(derived, to: PassingSections<Key>.self)
      let most = PassingElements.changedMax(of: elements.count)
      func key(_ item: Int64) -> Key {
        place?.requireHere()
        return self.key(of: query.element(item)!)
      }
      if let others = changed(since: passing.state, now.group!, atMost: most),
        passing.advance(others, atMost: most, key: key)
      {
        passing.state = now
        return passing
      }
      elements.derive(nil, for: found)
      return nil
    }
    // Who asks a second time asks again and again.
    guard let before = found.sections.withLock({ $0?.value.transaction?.state.group }),
      before === now.group
    else { return nil }
    let passing = PassingSections(sections(), of: elements, now, isOrderedByKey: isOrderedByKey)
    elements.derive(passing, for: found)
    return passing
  }

  /// The state of the running transaction; nil if it does not tell which elements may have another
  /// key.
  private func stateOfTransaction() -> SectionState? {
    guard let group = query.realm.writing?.group, !looksElsewhere else { return nil }
    if isOfPlainValues { return SectionState(group: group, marks: []) }
    return keyTables()?.state(of: group)
  }

  /// Whether the elements are values that lead to no objects: keys change only with them.
  private var isOfPlainValues: Bool {
    query.origin is CellOrigin && query.origin.table == nil && query.origin.type != .any
  }

  /// The objects that may have another key than in an earlier state of a transaction; see
  /// `KeyTables`.
  private func changed(
    since before: SectionState, _ group: GroupTransaction, atMost most: Int
  ) -> Set<ObjectKey>? {
    if isOfPlainValues { return before.group === group ? [] : nil }
    return keyTables()?.changed(since: before, group, atMost: most)
  }

  /// The sections after what the running transaction has changed since they were asked for; nil
  /// when that is not known, or has changed many.
  ///
  /// - Complexity: O(elements), which are compared by their keys; those that may have another key
  ///   are looked at.
  private func followed(to now: SectionState, _ items: [Int64]) -> FoundSections<Key>? {
    guard let known = found.sections.withLock({ $0?.value }), let before = known.transaction,
      let changed = keyTables()?.changed(
        since: before.state, now.group!, atMost: PassingElements.changedMax(of: items.count))
    else { return nil }
    let change = CollectionChange(from: before.items, to: items)
    let inserted = change.insertions.first ?? 0
    let positions = ChangedObjects(changed).positions(in: items)
      .filter { $0 < inserted || $0 >= inserted + change.insertions.count }
    return known.sections.followed(change, changed: positions, isOrderedByKey: isOrderedByKey) {
      key(of: query.element(items[$0])!)
    }.sections
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
    guard let keyName, !isComputed, SectionBuilder<Key>.areTogetherInOrder else { return nil }
    let items = query.items()
    var builder = SectionBuilder<Key>()
    // Nil where the key is computed from the property that orders the results: then others may be
    // between two elements of a section.
    func key(at position: Int) -> (key: Key, identity: ValueIdentity)? {
      let element = query.element(items[position])!
      let key = self.key(of: element)
      let identity = ValueIdentity(key: key)
      guard isProperty(identity, of: element, keyName) else { return nil }
      return (key, identity)
    }
    var position = 0
    var next: (key: Key, identity: ValueIdentity)?
    while position < items.count {
      guard let current = next ?? key(at: position) else { return nil }
      next = nil
      // The last element that is known to be in the section, and the first that is not.
      var (last, end) = (position, items.count)
      var step = 1
      while last + step < end {
        guard let other = key(at: last + step) else { return nil }
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
        guard let other = key(at: middle) else { return nil }
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

  // MARK: - What clients see

  var count: Int { passing()?.count ?? sections().keys.count }
  var keys: [Key] { passing()?.keys ?? Array(sections().keys) }

  /// The key of a section; stops when the position is out of bounds.
  func key(at position: Int) -> Key {
    if let passing = passing() {
      checkBounds(position, passing.count)
      return passing.key(at: position)
    }
    let keys = sections().keys
    checkBounds(position, keys.count)
    return keys[position]
  }

  private func positions(of section: LikelySection) -> SectionPositions {
    sections().positions(of: section.identity, likely: section.position)
  }

  /// How many elements a section has now.
  func count(of section: LikelySection) -> Int {
    passing()?.count(of: section.identity) ?? positions(of: section).count
  }

  /// An element of a section; stops when the position is out of bounds.
  func element(at position: Int, of section: LikelySection) -> Element {
    if let passing = passing() {
      checkBounds(position, passing.count(of: section.identity))
      return query.element(passing.item(at: position, of: section.identity))!
    }
    let positions = positions(of: section)
    checkBounds(position, positions.count)
    return results[positions[position]]
  }

  /// Goes through the elements that are in a section now.
  func makeIterator(of section: LikelySection) -> RLMIterator<Element> {
    if let passing = passing() {
      return query.makeIterator(of: passing.items(of: section.identity))
    }
    let positions = positions(of: section)
    return query.makeIterator(at: (0..<positions.count).lazy.map { positions[$0] })
  }

  func frozen() -> SectionSource {
    if results.isFrozen { return self }
    let frozen = results.freeze()
    // Who freezes section by section finds them once.
    if let frozenForm, frozenForm.results.source.realm === frozen.source.realm {
      return frozenForm
    }
    let form = SectionSource(frozen, isOrderedByKey: isOrderedByKey, makeKey, place, keyPath)
    frozenForm = form
    return form
  }

  func thawed() -> SectionSource? {
    if !results.isFrozen { return self }
    return results.thaw().map {
      SectionSource($0, isOrderedByKey: isOrderedByKey, makeKey, place, keyPath)
    }
  }
}

/// A section, and where it was.
struct LikelySection {
  let identity: ValueIdentity
  let position: Int
}
