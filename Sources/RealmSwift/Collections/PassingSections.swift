// Sections that are asked for again and again in a running transaction that changes their elements:
// `while let first = sections.first?.first { realm.delete(first) }`. They are edited by what came
// and went, so that the other elements are neither looked at nor moved.
internal import ObjectStore

/// The sections of one source in a running transaction.
///
/// Each has its elements' ranks, in the order of the elements.
final class PassingSections<Key: _Persistable & Hashable> {
  private struct Section {
    let key: Key
    let identity: ValueIdentity
    var ranks = OrderedChunks([])
  }

  /// Own these sections.
  private unowned let elements: PassingElements
  private let isOrderedByKey: Bool?
  // Unchecked exclusivity: as those of PassingElements.
  /// By numbers, which are never given again.
  @exclusivity(unchecked) private var sections: [Int64: Section] = [:]
  @exclusivity(unchecked) private var nextNumber: Int64 = 0
  @exclusivity(unchecked) private var numbers: [ValueIdentity: Int64] = [:]
  /// The number of the section of each rank.
  @exclusivity(unchecked) private var sectionByRank: [Int64: Int64] = [:]
  /// The numbers, in the order of the sections.
  @exclusivity(unchecked) private var order = OrderedChunks([])
  /// Up to where the edits of the elements are known.
  @exclusivity(unchecked) private var mark: PassingElements.EditMark
  /// Of which state of the transaction they are.
  @exclusivity(unchecked) var state: SectionState

  /// - Parameters:
  ///   - found: the sections of the elements as they are now.
  ///   - isOrderedByKey: see `SectionSource`.
  init(
    _ found: FoundSections<Key>, of elements: PassingElements, _ state: SectionState,
    isOrderedByKey: Bool?
  ) {
    self.elements = elements
    self.state = state
    self.isOrderedByKey = isOrderedByKey
    mark = elements.editMark()
    let ranks = elements.ranks
    sectionByRank.reserveCapacity(ranks.count)
    for (index, key) in found.keys.enumerated() {
      let positions = found.places[index]
      let members = (0..<positions.count).map { ranks[positions[$0]] }
      let number = makeSection(key, found.identities[index])
      sections[number]!.ranks = OrderedChunks(members)
      for rank in members { sectionByRank[rank] = number }
    }
    order = OrderedChunks(Array(0..<nextNumber))
  }

  private func makeSection(_ key: Key, _ identity: ValueIdentity) -> Int64 {
    defer { nextNumber += 1 }
    sections[nextNumber] = Section(key: key, identity: identity)
    numbers[identity] = nextNumber
    return nextNumber
  }

  // MARK: - What there is

  var count: Int { order.count }
  var keys: [Key] { order.all.map { sections[$0]!.key } }

  func key(at position: Int) -> Key { sections[order[position]]!.key }

  /// How many elements a section has; none when it is not there.
  func count(of identity: ValueIdentity) -> Int { ranks(of: identity)?.count ?? 0 }

  /// The key of the object, or the position of the value, at a place of a section, which has to be
  /// there.
  func item(at position: Int, of identity: ValueIdentity) -> Int64 {
    elements.item(ranks(of: identity)![position])
  }

  /// The same of a whole section.
  func items(of identity: ValueIdentity) -> [Int64] {
    ranks(of: identity).map { elements.items(of: $0.all) } ?? []
  }

  private func ranks(of identity: ValueIdentity) -> OrderedChunks? {
    numbers[identity].map { sections[$0]!.ranks }
  }

  // MARK: - What changes

  /// Goes on to the present state of the elements; false when that takes longer than to find the
  /// sections anew.
  ///
  /// - Parameters:
  ///   - others: objects that may have another key, besides those among the elements' edits.
  ///   - most: so many are looked at.
  ///   - key: the section's key of an item.
  /// - Complexity: O(edits x log(elements)), and moves within parts of the orders.
  func advance(
    _ others: some Collection<ObjectKey>, atMost most: Int, key: (Int64) -> Key
  ) -> Bool {
    guard let edits = elements.edits(since: mark), edits.count + others.count <= most else {
      return false
    }
    // The first edit of an element tells where it was when the sections were known.
    let formerPlaces = Dictionary(
      edits.map { ($0.rank, $0.place) }, uniquingKeysWith: { first, _ in first })
    let changed = Set(edits.map(\.rank)).union(others.flatMap { elements.ranks(of: $0.rawValue) })
    if changed.isEmpty { return true }
    // Keys come from the program's code: it sees nothing half done.
    let present = changed.filter(elements.isThere).map { rank in
      let key = key(elements.item(rank))
      return (rank: rank, key: key, identity: ValueIdentity(key: key))
    }
    // Sections whose first element may be another one have no place meanwhile.
    let wasBefore = elements.comparison(formerPlaces)
    var affected = Set(changed.compactMap { sectionByRank[$0] })
    for number in affected { order.remove(number, isBefore(number, wasBefore)) }
    for rank in changed {
      guard let number = sectionByRank.removeValue(forKey: rank) else { continue }
      sections[number]!.ranks.remove(rank) { wasBefore($0, rank) }
    }
    let isBefore = elements.comparison([:])
    for element in present {
      let number = numbers[element.identity] ?? makeSection(element.key, element.identity)
      if affected.insert(number).inserted { order.remove(number, self.isBefore(number, isBefore)) }
      sections[number]!.ranks.insert(element.rank) { isBefore($0, element.rank) }
      sectionByRank[element.rank] = number
    }
    for number in affected {
      if sections[number]!.ranks.count == 0 {
        numbers[sections.removeValue(forKey: number)!.identity] = nil
      } else {
        order.insert(number, self.isBefore(number, isBefore))
      }
    }
    mark = elements.editMark()
    return true
  }

  /// Whether a section comes before this one, which has a place or gets one.
  ///
  /// - Parameter isBefore: the order of the elements, by their ranks.
  private func isBefore(
    _ number: Int64, _ isBefore: @escaping (Int64, Int64) -> Bool
  ) -> (Int64) -> Bool {
    let section = sections[number]!
    if let isOrderedByKey {
      let identity = section.identity
      return { [self] other in
        let other = sections[other]!.identity
        return isOrderedByKey ? other.precedes(identity) : identity.precedes(other)
      }
    }
    // A new one is nowhere.
    guard let first = section.ranks.first else { return { _ in false } }
    return { [self] in isBefore(sections[$0]!.ranks.first!, first) }
  }
}
