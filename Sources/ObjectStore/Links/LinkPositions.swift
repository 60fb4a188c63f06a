// Where the links of a large list or map are, in memory, while a transaction deletes what they lead
// to, one object after the other. A list has no way from an object to its positions: without this
// each deletion would look through the whole list.
internal import Trees

/// How a transaction finds the links to deleted objects in one collection.
package final class LinkSearch {
  /// From when on positions are noted; tests note them sooner.
  package struct Limits {
    /// Smaller collections are looked through each time.
    let countMin: Int
    /// To note all positions takes as long as so many looks at the whole collection.
    let looksMax: Int
    /// The same of elements of any type.
    let mixedLooksMax: Int

    package init(countMin: Int = 1_024, looksMax: Int = 1_024, mixedLooksMax: Int = 8) {
      self.countMin = countMin
      self.looksMax = looksMax
      self.mixedLooksMax = mixedLooksMax
    }
  }

  /// Elements that were looked at since positions were last noted; a look for many objects counts
  /// as so many looks for one as take the same time.
  private var looked = 0
  /// Elements that were looked at.
  fileprivate private(set) var lookedInAll = 0
  private var noted: LinkPositions?

  /// The positions, ascending, of the elements that have a link.
  ///
  /// - Parameters:
  ///   - maximum: so many links are in the collection.
  ///   - isMixed: whether elements are of any type.
  func positions(
    of target: Int64, in elements: ElementReader, maximum: Int, isMixed: Bool, _ limits: Limits
  ) -> [Int] {
    if let found = noted?.find(target, in: elements, maximum) { return found }
    let found = Self.look(for: target, in: elements, maximum: maximum, isMixed: isMixed)
    let isWhole = isMixed || found.count < maximum
    didLook(at: isWhole ? elements.count : (found.last ?? 0) + 1, 1, elements, isMixed, limits)
    return found
  }

  /// Up to so many objects are searched one after the other: a search of packed elements for one
  /// compares many elements at a time, and is so many times as fast as a look at each.
  private static let objectsMax = 16

  /// The positions, ascending, of the elements that have a link to one of several objects.
  ///
  /// - Parameter isGone: whether a link leads to one of them.
  func positions(
    of late: ArraySlice<LateLink>, in elements: ElementReader, isMixed: Bool, _ limits: Limits,
    where isGone: (Int64) -> Bool
  ) -> [Int] {
    if late.count <= (isMixed ? 1 : Self.objectsMax) {
      var found: [Int] = []
      for links in late {
        found += positions(
          of: links.target, in: elements, maximum: links.count, isMixed: isMixed, limits)
      }
      return found.sorted()
    }
    if let found = notedPositions(of: late, in: elements) { return found }
    let found = Self.look(in: elements, where: isGone)
    didLook(at: elements.count, isMixed ? 1 : Self.objectsMax, elements, isMixed, limits)
    return found
  }

  /// The same from what was noted; nil when not all is known.
  private func notedPositions(
    of late: ArraySlice<LateLink>, in elements: ElementReader
  ) -> [Int]? {
    guard let noted else { return nil }
    // One element may have links to several of them.
    var found: Set<Int> = []
    for links in late {
      guard let places = noted.find(links.target, in: elements, links.count) else { return nil }
      found.formUnion(places)
    }
    return found.sorted()
  }

  private func didLook(
    at count: Int, _ times: Int, _ elements: ElementReader, _ isMixed: Bool, _ limits: Limits
  ) {
    lookedInAll += count
    looked += count * times
    if looked / elements.count > (isMixed ? limits.mixedLooksMax : limits.looksMax) {
      looked = 0
      noted = LinkPositions(elements)
    }
  }

  /// The elements that have a link to one of several objects, by a look at all of them.
  static func look(in elements: ElementReader, where isGone: (Int64) -> Bool) -> [Int] {
    var found: [Int] = []
    elements.forEach { position, value in
      if LinkPositions.hasLink(value, where: isGone) { found.append(position) }
      return true
    }
    return found
  }

  /// The same by a look at the elements.
  static func look(
    for target: Int64, in elements: ElementReader, maximum: Int, isMixed: Bool
  ) -> [Int] {
    if !isMixed { return elements.positions(ofInteger: target, maximum: maximum) }
    var found: [Int] = []
    elements.forEach { position, value in
      if LinkPositions.hasLink(value, target) { found.append(position) }
      return true
    }
    return found
  }

  /// Follows a change of the collection.
  ///
  /// - Parameter elements: as they are after it.
  func follow(_ changes: ElementChanges, _ elements: ElementReader) {
    guard let noted else { return }
    if !noted.follow(changes, elements) { self.noted = nil }
  }
}

/// Where links were when they were noted, and how their positions have moved since.
///
/// Elements that were there have a slot each. What is put in later is in the slot of the element
/// behind it, so that a slot's place is the sum of the sizes before it. A note is a hint: who finds
/// an element looks whether it is there.
private final class LinkPositions {
  /// More elements of one slot are not looked through.
  private static let slotMax = 64
  /// A change of more elements at once is not followed.
  private static let changesMax = 64

  /// The links that were there, ascending, and the slot of each.
  private let noted: [(target: Int64, slot: Int32)]
  /// The slots in which later ones were put.
  private var later: [Int64: [Int32]] = [:]
  private var sizes: SlotSizes
  /// So many more edits are followed: what is noted of them takes room too.
  private var editsLeft: Int

  init(_ elements: ElementReader) {
    var noted: [(target: Int64, slot: Int32)] = []
    noted.reserveCapacity(elements.count)
    var last = Int64.min
    var ascends = true
    elements.forEach { position, value in
      LinkPositions.forEachLink(value) { target in
        ascends = ascends && last <= target
        last = target
        noted.append((target, Int32(position)))
      }
      return true
    }
    if !ascends { noted.sort { ($0.target, $0.slot) < ($1.target, $1.slot) } }
    self.noted = noted
    sizes = SlotSizes(elements.count)
    editsLeft = 2 * elements.count + 1_024
  }

  static func forEachLink(_ value: ElementValue, _ body: (Int64) -> Void) {
    switch value {
    case .link(let key): body(key.rawValue)
    case .bytes(let bytes):
      if AnyCoding.mayHoldLinks(bytes) { AnyCoding.forEachLink(bytes) { body($1) } }
    case .null, .integer: break
    }
  }

  static func hasLink(_ value: ElementValue, _ target: Int64) -> Bool {
    hasLink(value) { $0 == target }
  }

  static func hasLink(_ value: ElementValue, where isTarget: (Int64) -> Bool) -> Bool {
    switch value {
    case .link(let key): isTarget(key.rawValue)
    case .bytes(let bytes): AnyCoding.hasLink(bytes, where: isTarget)
    case .null, .integer: false
    }
  }

  /// The positions of all elements that have a link; nil when they are not known.
  func find(_ target: Int64, in elements: ElementReader, _ maximum: Int) -> [Int]? {
    guard sizes.total == elements.count else { return nil }
    var slots = later[target] ?? []
    var (low, high) = (0, noted.count)
    while low < high {
      let middle = (low + high) / 2
      if noted[middle].target < target { low = middle + 1 } else { high = middle }
    }
    while low < noted.count, noted[low].target == target {
      slots.append(noted[low].slot)
      low += 1
    }
    var found: Set<Int> = []
    var links = 0
    for slot in Set(slots) {
      let range = sizes.positions(of: Int(slot))
      if range.isEmpty { continue }
      if range.count > Self.slotMax { return nil }
      elements.forEach(from: range.lowerBound) { position, value in
        Self.forEachLink(value) { if $0 == target { links += 1 } }
        if Self.hasLink(value, target) { found.insert(position) }
        return position + 1 < range.upperBound
      }
    }
    return links == maximum ? found.sorted() : nil
  }

  /// False when the change was not followed.
  func follow(_ changes: ElementChanges, _ elements: ElementReader) -> Bool {
    var left = Self.changesMax
    var isKnown = true
    changes.forEach { kind, _, position, count in
      if kind == .kept { return }
      left -= count
      editsLeft -= count
      // Another transaction may have changed the collection since positions were noted.
      let end = kind == .inserted ? position : position + count
      isKnown = isKnown && left >= 0 && editsLeft >= 0 && end <= sizes.total
      if !isKnown { return }
      for index in 0..<count {
        switch kind {
        case .kept: break
        // Those before have been put where they are now.
        case .deleted: sizes.remove(at: position)
        case .inserted: note(position + index, sizes.insert(at: position + index), elements)
        case .modified: note(position + index, sizes.slot(at: position + index), elements)
        }
      }
    }
    return isKnown
  }

  private func note(_ position: Int, _ slot: Int, _ elements: ElementReader) {
    // Several changes at once: elements behind this one are not where they will be.
    guard position < elements.count else { return }
    elements.forEach(from: position) { _, value in
      Self.forEachLink(value) { later[$0, default: []].append(Int32(slot)) }
      return false
    }
  }
}

/// How many elements each slot has; a tree of sums, so that each question takes the logarithm of
/// the number of slots.
private struct SlotSizes {
  /// At `index` the sum of as many sizes, up to that of slot `index - 1`, as the lowest bit of
  /// `index` says.
  private var sums: [Int32]
  private(set) var total: Int

  /// Slots of one element each.
  init(_ count: Int) {
    sums = (0...count).map { Int32($0 & -$0) }
    total = count
  }

  private var slots: Int { sums.count - 1 }

  /// The elements before a slot.
  private func count(before slot: Int) -> Int {
    var sum = 0
    var index = slot
    while index > 0 {
      sum += Int(sums[index])
      index &= index - 1
    }
    return sum
  }

  /// Where the elements of a slot are.
  func positions(of slot: Int) -> Range<Int> { count(before: slot)..<count(before: slot + 1) }

  private mutating func add(_ number: Int, to slot: Int) {
    total += number
    var index = slot + 1
    while index < sums.count {
      sums[index] += Int32(number)
      index += index & -index
    }
  }

  /// The slot of the element at a position, which has to be there.
  func slot(at position: Int) -> Int {
    var slot = 0
    var left = position
    var step = sums.count.leadingOneBit
    while step > 0 {
      if slot + step < sums.count, Int(sums[slot + step]) <= left {
        slot += step
        left -= Int(sums[slot])
      }
      step >>= 1
    }
    return slot
  }

  mutating func remove(at position: Int) { add(-1, to: slot(at: position)) }

  /// Notes an element that was put in before the one at a position, or behind all; returns its
  /// slot.
  mutating func insert(at position: Int) -> Int {
    if position < total {
      let slot = slot(at: position)
      add(1, to: slot)
      return slot
    }
    // A slot of its own.
    let index = sums.count
    let first = index & (index - 1)
    sums.append(Int32(count(before: slots) - count(before: first) + 1))
    total += 1
    return index - 1
  }
}

extension Int {
  /// The greatest power of two that is not greater.
  fileprivate var leadingOneBit: Int {
    self == 0 ? 0 : 1 << (Int.bitWidth - 1 - leadingZeroBitCount)
  }
}

/// What transactions of one Realm know of where links are, from one to the next.
///
/// A note is looked after where it is used, so that it does not matter what others have changed
/// meanwhile.
package struct CarriedLinkSearches {
  fileprivate var searches: [LinkCollection: LinkSearch] = [:]

  package init() {}
}

extension GroupTransaction {
  /// What the next transaction may use; nothing when this one had no use for it.
  package var carriedLinkSearches: CarriedLinkSearches {
    get {
      var carried = CarriedLinkSearches()
      if hasSearchedLinks { carried.searches = linkSearches }
      return carried
    }
    set { linkSearches = newValue.searches }
  }

  /// So many collections are searched at a time.
  private static let searchesMax = 64

  /// The positions, ascending, of the elements of a list or map that have a link to a deleted
  /// object.
  ///
  /// - Parameter maximum: so many links are in the collection.
  func positions(
    _ place: LinkCollection, of target: Int64, in elements: ElementReader, maximum: Int,
    isMixed: Bool
  ) -> [Int] {
    if elements.count < linkSearchLimits.countMin {
      return LinkSearch.look(for: target, in: elements, maximum: maximum, isMixed: isMixed)
    }
    return search(place).positions(
      of: target, in: elements, maximum: maximum, isMixed: isMixed, linkSearchLimits)
  }

  /// The same of several deleted objects, by one change of the collection.
  ///
  /// - Parameter isGone: whether a link leads to one of them.
  func positions(
    _ place: LinkCollection, of late: ArraySlice<LateLink>, in elements: ElementReader,
    isMixed: Bool, where isGone: (Int64) -> Bool
  ) -> [Int] {
    if elements.count < linkSearchLimits.countMin {
      return LinkSearch.look(in: elements, where: isGone)
    }
    return search(place).positions(
      of: late, in: elements, isMixed: isMixed, linkSearchLimits, where: isGone)
  }

  private func search(_ place: LinkCollection) -> LinkSearch {
    hasSearchedLinks = true
    if let search = linkSearches[place] { return search }
    if linkSearches.count == Self.searchesMax { linkSearches = [:] }
    let search = LinkSearch()
    linkSearches[place] = search
    return search
  }

  /// How many elements of large collections were looked at for links; tests watch it.
  package var searchedElements: Int { linkSearches.values.reduce(0) { $0 + $1.lookedInAll } }
}
