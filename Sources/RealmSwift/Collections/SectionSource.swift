// What makes sections of results. They are found when they are asked for, and kept until the
// results change. Of results in the order of what makes the sections, only some elements of each
// section are looked at; else all are.
internal import Foundation
internal import Platform

/// Results, and what makes sections of them.
final class SectionSource<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
  let results: Results<Element>
  private let query: QuerySource<Element>
  private let key: (Element) -> Key
  /// What `key` reads, if that is known; the results are in its order then.
  private let keyPath: AnyKeyPath?
  /// The actor to which `key` belongs.
  private let place: BlockPlace?
  private let isOrderedByKey: Bool?
  private let found: Found

  /// What was found last; under a lock because frozen ones are used by many threads.
  private final class Found: Sendable {
    let sections = Monitor<Carried<Sections>?>(nil)
  }

  /// The sections of one state of the results.
  struct Sections {
    let stamp: [UInt64]
    private(set) var keys: [Key] = []
    /// The keys as they are told apart.
    private(set) var identities: [ValueIdentity] = []
    private(set) var places = SectionPlaces.runs([0])
    private var sections: [ValueIdentity: Int] = [:]
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

    /// Whether keys that a file has one value for are never apart in an order by them.
    fileprivate static var areTogetherInOrder: Bool {
      [
        Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Bool.self, String.self, Date.self,
        UUID.self, ObjectId.self, Int?.self, Int8?.self, Int16?.self, Int32?.self, Int64?.self,
        Bool?.self, String?.self, Date?.self, UUID?.self, ObjectId?.self,
      ].contains { ObjectIdentifier($0) == ObjectIdentifier(Key.self) }
    }

    /// The positions of a section's elements; none when there is no such section.
    func positions(of identity: ValueIdentity) -> SectionPositions {
      sections[identity].map { places[$0] } ?? .run(0..<0)
    }

    /// Adds the elements of the next positions, up to `end`.
    ///
    /// - Returns: false when the key was there before, but not last; they are not added then.
    fileprivate mutating func addRun(_ key: Key, _ identity: ValueIdentity, end: Int) -> Bool {
      guard sections.updateValue(keys.count, forKey: identity) == nil else { return false }
      keys.append(key)
      identities.append(identity)
      places.beginSection(end: end)
      return true
    }

    /// Adds the element of the next position.
    ///
    /// - Parameter last: the section of the one before: most often the next is in it too.
    fileprivate mutating func add(_ position: Int, _ key: Key, _ isPlain: Bool, _ last: inout Int) {
      // To find out what a key is to a file takes much longer.
      if last < keys.count, isPlain ? keys[last] == key : Self.isSameText(keys[last], key) {
        return places.add(position, to: last)
      }
      let identity = ValueIdentity(key: key)
      if let section = sections[identity] {
        last = section
        places.add(position, to: section)
      } else {
        last = keys.count
        sections[identity] = last
        keys.append(key)
        identities.append(identity)
        places.beginSection(end: position + 1)
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
      if order.elementsEqual(keys.indices) { return }
      keys = order.map { keys[$0] }
      identities = order.map { identities[$0] }
      places.reorder(order)
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
    self.key = key
    self.keyPath = keyPath
    self.place = place
    self.isOrderedByKey = isOrderedByKey
  }

  /// The name, from the object, of the property that makes the sections; nil for a closure.
  var keyName: String? {
    guard let keyPath, let root = Element.self as? any _KeyPathRoot.Type else { return nil }
    return root._observedName(keyPath)
  }

  func sections() -> Sections {
    var stamp = query.stamp()
    // Inside of a transaction the keys may come from other classes, which have changed since.
    if let realm = results.realm?.confined, realm.writing != nil {
      realm.tables.forEach { stamp.append($0.pointee.generation) }
    }
    if let known = found.sections.withLock({ $0?.value }), known.stamp == stamp { return known }
    place?.requireHere()
    let sections = inOrder(stamp) ?? all(stamp)
    let carried = Carried(sections)
    found.sections.withLock { $0 = carried }
    return sections
  }

  /// Sections of which all elements are looked at.
  private func all(_ stamp: [UInt64]) -> Sections {
    var sections = Sections(stamp: stamp)
    let isPlain = Sections.hasPlainKeys
    var (position, last) = (0, 0)
    for element in results {
      sections.add(position, key(element), isPlain, &last)
      position += 1
    }
    if let isOrderedByKey { sections.sort(ascending: isOrderedByKey) }
    return sections
  }

  /// Sections of results that are in the order of their keys; nil where that does not say which
  /// elements are together.
  ///
  /// - Complexity: O(sections x log(elements of each)) elements are looked at.
  private func inOrder(_ stamp: [UInt64]) -> Sections? {
    guard keyPath != nil, Sections.areTogetherInOrder else { return nil }
    let items = query.items()
    var sections = Sections(stamp: stamp)
    func key(at position: Int) -> (key: Key, identity: ValueIdentity) {
      let key = self.key(query.element(items[position])!)
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
      if !sections.addRun(current.key, current.identity, end: end) { return nil }
      position = end
    }
    return sections
  }

  /// The sections as their observers know them, one object for all of these.
  func shape() -> SectionShape {
    var sections = sections()
    if let shape = sections.shape { return shape }
    let shape = SectionShape(sections.identities, sections.places)
    sections.shape = shape
    let carried = Carried(sections)
    found.sections.withLock { if $0?.value.stamp == carried.value.stamp { $0 = carried } }
    return shape
  }

  /// Goes through the elements that are in a section now.
  func makeIterator(of section: ValueIdentity) -> RLMIterator<Element> {
    let positions = sections().positions(of: section)
    return query.makeIterator(at: (0..<positions.count).lazy.map { positions[$0] })
  }

  func frozen() -> SectionSource {
    results.isFrozen
      ? self
      : SectionSource(results.freeze(), isOrderedByKey: isOrderedByKey, key, place, keyPath)
  }

  func thawed() -> SectionSource? {
    if !results.isFrozen { return self }
    return results.thaw().map {
      SectionSource($0, isOrderedByKey: isOrderedByKey, key, place, keyPath)
    }
  }
}

/// Where the elements of sections are among the results.
enum SectionPlaces {
  /// One section after the other: where each begins, and where the last one ends.
  case runs([Int])
  /// The positions of each section's elements, ascending.
  case listed([[Int]])

  subscript(section: Int) -> SectionPositions {
    switch self {
    case .runs(let starts): .run(starts[section]..<starts[section + 1])
    case .listed(let positions): .listed(positions[section])
    }
  }

  /// Begins a section with the positions behind all others, up to `end`.
  mutating func beginSection(end: Int) {
    switch self {
    case .runs(var starts):
      self = .runs([])
      starts.append(end)
      self = .runs(starts)
    case .listed(var positions):
      self = .listed([])
      // There is one of them: what is found by runs is never listed.
      positions.append([end - 1])
      self = .listed(positions)
    }
  }

  /// Adds the position behind all others to a section.
  mutating func add(_ position: Int, to section: Int) {
    switch self {
    case .runs(var starts) where section == starts.count - 2:
      self = .runs([])
      starts[section + 1] = position + 1
      self = .runs(starts)
    case .runs(let starts):
      self = .listed(Self.listed(starts))
      add(position, to: section)
    case .listed(var positions):
      self = .listed([])
      positions[section].append(position)
      self = .listed(positions)
    }
  }

  /// Puts the sections in another order.
  mutating func reorder(_ order: [Int]) {
    switch self {
    case .runs(let starts):
      let positions = Self.listed(starts)
      self = .listed(order.map { positions[$0] })
    case .listed(let positions): self = .listed(order.map { positions[$0] })
    }
  }

  private static func listed(_ starts: [Int]) -> [[Int]] {
    zip(starts, starts.dropFirst()).map { Array($0..<$1) }
  }
}

/// The positions of one section's elements among the results.
enum SectionPositions {
  case run(Range<Int>)
  case listed([Int])

  var count: Int {
    switch self {
    case .run(let range): range.count
    case .listed(let positions): positions.count
    }
  }

  subscript(item: Int) -> Int {
    switch self {
    case .run(let range): range.lowerBound + item
    case .listed(let positions): positions[item]
    }
  }
}
