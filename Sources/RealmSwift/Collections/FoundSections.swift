// Sections that were found, of one state of the results: as observers know them, and with their
// keys. Never changed: what follows from a change of the results is another object.
internal import Foundation
internal import Synchronization

/// Which sections there are, and where in them each element of the results is.
class SectionShape {
  /// The keys of the sections, as they are told apart.
  let identities: SharedParts<ValueIdentity>
  let places: SectionPlaces
  /// Made when somebody asks: of many sections that takes longer than what else a change takes.
  private let numbers = AtomicLazyReference<SectionNumbers>()

  fileprivate init(
    _ identities: SharedParts<ValueIdentity>, _ places: SectionPlaces, _ numbers: SectionNumbers?
  ) {
    self.identities = identities
    self.places = places
    if let numbers { _ = self.numbers.storeIfNil(numbers) }
  }

  convenience init(_ identities: [ValueIdentity], _ places: SectionPlaces) {
    self.init(SharedParts(identities), places, nil)
  }

  /// The position of each section, if somebody has asked.
  fileprivate var knownNumbers: SectionNumbers? { numbers.load() }

  /// So far from where it was a section is looked for, before the positions of all are found.
  private static let distanceMax = 16

  /// The position of a section; nil when there is no such one.
  ///
  /// - Parameter likely: where it was.
  func number(of identity: ValueIdentity, likely: Int? = nil) -> Int? {
    func isThere(_ position: Int) -> Bool {
      identities.indices.contains(position) && identities[position] == identity
    }
    if let likely, isThere(likely) { return likely }
    if let known = numbers.load() { return known.positions[identity] }
    // Where a few sections have come or gone before it, it is close by.
    if let likely {
      for distance in 1...Self.distanceMax {
        if isThere(likely - distance) { return likely - distance }
        if isThere(likely + distance) { return likely + distance }
      }
    }
    return numbers.storeIfNil(SectionNumbers(identities)).positions[identity]
  }

  /// The positions of a section's elements; none when there is no such section.
  ///
  /// - Parameter likely: where the section was.
  func positions(of identity: ValueIdentity, likely: Int? = nil) -> SectionPositions {
    number(of: identity, likely: likely).map { places[$0] } ?? .run(0..<0)
  }

  /// Elements that stay among the results and come to another section.
  ///
  /// - Parameters:
  ///   - newer: the sections after the change.
  ///   - change: what happened to the elements among all.
  /// - Complexity: O(changes + sections) for sections that lie one after the other, else
  ///   O(elements).
  func moved(to newer: SectionShape, _ change: CollectionChange) -> [MovedElement] {
    var moved: [MovedElement] = []
    // Those that are neither gone nor new are in the same order in both.
    var (before, after) = (0, 0)
    var (section, newSection) = (0, 0)
    var (nextGone, nextNew) = (0, 0)
    while true {
      while nextGone < change.deletions.count, change.deletions[nextGone] == before {
        (before, nextGone) = (before + 1, nextGone + 1)
      }
      while nextNew < change.insertions.count, change.insertions[nextNew] == after {
        (after, nextNew) = (after + 1, nextNew + 1)
      }
      guard before < places.count, after < newer.places.count else { return moved }
      let (end, newEnd): (Int, Int)
      (section, end) = places.stretch(at: before, behind: section)
      (newSection, newEnd) = newer.places.stretch(at: after, behind: newSection)
      var length = min(end - before, newEnd - after)
      if nextGone < change.deletions.count {
        length = min(length, change.deletions[nextGone] - before)
      }
      if nextNew < change.insertions.count {
        length = min(length, change.insertions[nextNew] - after)
      }
      if identities[section] != newer.identities[newSection] {
        for offset in 0..<length {
          moved.append(MovedElement(before: before + offset, after: after + offset))
        }
      }
      (before, after) = (before + length, after + length)
    }
  }
}

/// The position of each section.
final class SectionNumbers {
  let positions: [ValueIdentity: Int]

  init(_ positions: [ValueIdentity: Int]) { self.positions = positions }

  convenience init(_ identities: SharedParts<ValueIdentity>) {
    self.init(Dictionary(uniqueKeysWithValues: identities.enumerated().map { ($1, $0) }))
  }
}

/// An element that stays among the results and comes to another section: its position among all.
struct MovedElement {
  let before: Int
  let after: Int
}

/// Sections with their keys.
final class FoundSections<Key: _Persistable & Hashable>: SectionShape {
  let keys: SharedParts<Key>

  fileprivate init(
    _ keys: SharedParts<Key>, _ identities: SharedParts<ValueIdentity>, _ places: SectionPlaces,
    _ numbers: SectionNumbers?
  ) {
    self.keys = keys
    super.init(identities, places, numbers)
  }

  /// The sections after a change of the results.
  ///
  /// - Parameters:
  ///   - change: what happened to the elements among all.
  ///   - changed: the positions afterwards, ascending, of those that stay and may have another key.
  ///   - isOrderedByKey: see `SectionSource`.
  ///   - key: the key of an element, by its position afterwards.
  func followed(
    _ change: CollectionChange, changed: [Int], isOrderedByKey: Bool?, _ key: (Int) -> Key
  ) -> (sections: FoundSections, moved: [MovedElement]) {
    var builder = SectionBuilder(self)
    if change.insertions.count + changed.count > 16 { builder.findNumbers() }
    let rest = OtherPositions(places.count, without: change.deletions)
    var added = change.insertions.enumerated().map { index, position in
      // That of the element behind it, or the last one's.
      let gap = position - index
      let before = gap < rest.count ? rest[gap] : places.count - 1
      let near = before < 0 ? 0 : places.place(of: before).section
      return SectionPlaces.Added(
        position: position, section: builder.number(of: key(position), near: near))
    }
    var moved: [MovedElement] = []
    for position in changed {
      let before = rest[position - change.insertions.lowerBound { $0 < position }]
      let former = places.place(of: before).section
      let section = builder.number(of: key(position), near: former)
      if section == former { continue }
      moved.append(MovedElement(before: before, after: position))
      added.append(SectionPlaces.Added(position: position, section: section))
    }
    if added.isEmpty, change.deletions.isEmpty { return (self, []) }
    var removed = change.deletions
    if !moved.isEmpty { removed = (removed + moved.map(\.before)).sorted() }
    added.sort { $0.position < $1.position }
    builder.edit(removed, added, isOrderedByKey: isOrderedByKey)
    return (builder.sections, moved)
  }
}

/// Sections while they are being found.
struct SectionBuilder<Key: _Persistable & Hashable> {
  private var keys = SharedParts<Key>()
  private var identities = SharedParts<ValueIdentity>()
  private var places = SectionPlaces.runs([0])
  /// How many sections there were before.
  private var knownCount = 0
  /// The positions of those; nil when they are not known, and few are to be looked for.
  private var known: SectionNumbers?
  /// The positions of the others.
  private var numbers: [ValueIdentity: Int] = [:]
  private var isRenumbered = false

  init() {}

  fileprivate init(_ before: FoundSections<Key>) {
    (keys, identities, places) = (before.keys, before.identities, before.places)
    knownCount = keys.count
    known = before.knownNumbers
  }

  var sections: FoundSections<Key> { FoundSections(keys, identities, places, allNumbers) }

  private var allNumbers: SectionNumbers? {
    if isRenumbered { return nil }
    if knownCount == 0 { return SectionNumbers(numbers) }
    return numbers.isEmpty ? known : nil
  }

  fileprivate mutating func findNumbers() { known = known ?? SectionNumbers(identities) }

  /// Whether keys that Swift calls equal are those that a file has one value for.
  static var hasPlainKeys: Bool {
    switch Key._rlmType {
    case .int, .bool, .objectId, .UUID:
      !(Key.self is any _CustomPersistable.Type || Key.self is any PersistableEnum.Type)
    default: false
    }
  }

  /// Whether keys that a file has one value for are never apart in an order by them.
  static var areTogetherInOrder: Bool {
    [
      Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Bool.self, String.self, Date.self,
      UUID.self, ObjectId.self, Int?.self, Int8?.self, Int16?.self, Int32?.self, Int64?.self,
      Bool?.self, String?.self, Date?.self, UUID?.self, ObjectId?.self,
    ].contains { ObjectIdentifier($0) == ObjectIdentifier(Key.self) }
  }

  /// The section of a key, which is a new one if there is none.
  ///
  /// - Parameter near: where it is most likely, or close to.
  fileprivate mutating func number(of key: Key, near: Int? = nil) -> Int {
    let identity = ValueIdentity(key: key)
    if let number = numbers[identity] ?? knownNumber(of: identity, near: near) { return number }
    let number = keys.count
    keys.append(key)
    identities.append(identity)
    numbers[identity] = number
    return number
  }

  private func knownNumber(of identity: ValueIdentity, near: Int?) -> Int? {
    if knownCount == 0 { return nil }
    if let near {
      for number in max(0, near - 1)..<min(knownCount, near + 2)
      where identities[number] == identity { return number }
    }
    if let known { return known.positions[identity] }
    return identities.firstIndex { $0 == identity }
  }

  /// Adds the elements of the next positions, up to `end`.
  ///
  /// - Returns: false when the key was there before, but not last; they are not added then.
  mutating func addRun(_ key: Key, _ identity: ValueIdentity, end: Int) -> Bool {
    guard numbers.updateValue(keys.count, forKey: identity) == nil else { return false }
    keys.append(key)
    identities.append(identity)
    places.beginSection(end: end)
    return true
  }

  /// Adds the element of the next position.
  ///
  /// - Parameter last: the section of the one before: most often the next is in it too.
  mutating func add(_ position: Int, _ key: Key, _ isPlain: Bool, _ last: inout Int) {
    // To find out what a key is to a file takes much longer.
    if last < keys.count, isPlain ? keys[last] == key : Self.isSameText(keys[last], key) {
      return places.add(position, to: last)
    }
    let count = keys.count
    last = number(of: key)
    if last < count {
      places.add(position, to: last)
    } else {
      places.beginSection(end: position + 1)
    }
  }

  private static func isSameText(_ left: Key, _ right: Key) -> Bool {
    guard Key.self == String.self, let left = left as? String, let right = right as? String
    else { return false }
    return left.utf8.elementsEqual(right.utf8)
  }

  /// Puts the sections in the order that a Realm has for their keys.
  mutating func sort(ascending: Bool) {
    let order = keys.indices.sorted(by: isBefore(ascending: ascending))
    if order.elementsEqual(keys.indices) { return }
    places.reorder(order)
    arrange(SectionOrder(order, of: keys.count))
  }

  /// Takes elements out, and puts others in.
  fileprivate mutating func edit(
    _ removed: [Int], _ added: [SectionPlaces.Added], isOrderedByKey: Bool?
  ) {
    arrange(
      places.edit(
        removed, added, sections: keys.count, isOrderedByKey.map { isBefore(ascending: $0) }))
  }

  private func isBefore(ascending: Bool) -> (Int, Int) -> Bool {
    { [identities] left, right in
      ascending
        ? identities[left].precedes(identities[right])
        : identities[right].precedes(identities[left])
    }
  }

  /// Numbers the sections anew, and leaves out those that are not in the order.
  private mutating func arrange(_ order: SectionOrder) {
    if order.isUnchanged && keys.count == order.count { return }
    let (newKeys, newIdentities) = (
      order.sections.map { keys[$0] }, order.sections.map { identities[$0] }
    )
    // New ones are behind the others until they have their place.
    keys.replace(order.count..<keys.count, with: [])
    identities.replace(order.count..<identities.count, with: [])
    keys.replace(order.replaced, with: newKeys)
    identities.replace(order.replaced, with: newIdentities)
    isRenumbered = true
  }
}
