// The elements of a query as its observers know them. Observers of the same query know them
// together: what a step does to them is found once, for the first observer that is called, however
// many there are.
internal import ObjectStore
internal import Platform

/// The elements of a query in one version.
///
/// Changed only by a tracker that has them alone; others go on to further ones.
final class KnownElements {
  // Unchecked exclusivity: only the Realm's place touches these, in accesses that read no others of
  // them.
  /// The keys or positions of the elements.
  @exclusivity(unchecked) var items: [Int64]
  /// Their positions in a list or set; empty where the keys decide.
  @exclusivity(unchecked) var ranks: [Int64] = []
  /// Of distinct results: all elements among which they are chosen; then those among which the next
  /// ones are.
  @exclusivity(unchecked) var groups: [DistinctGroups] = []

  init(_ items: [Int64]) { self.items = items }

  func copy() -> KnownElements {
    let copy = KnownElements(items)
    copy.ranks = ranks
    copy.groups = groups
    return copy
  }

  func isEqual(to other: KnownElements) -> Bool {
    items == other.items && ranks == other.ranks && groups == other.groups
  }
}

/// What has become of elements that several trackers know, in one step.
struct AdvancedElements {
  /// Kept, so that nothing else is taken for them.
  let before: KnownElements
  let after: KnownElements
  let change: CollectionChange?
}

/// The elements that trackers of one Realm know, by query.
final class ElementSharing {
  // Unchecked exclusivity: only the Realm's place touches these, in short accesses that run no
  // foreign code.
  @exclusivity(unchecked) private var known: [TrackedIdentity: WeakBox<KnownElements>] = [:]
  /// What was found of sections by a property.
  @exclusivity(unchecked) private var sections: [SectionIdentity: WeakBox<AnyObject>] = [:]
  /// Whether trackers share what they know; tests have some follow alone.
  @exclusivity(unchecked) var isOn = true
  /// Queries that nobody follows any more are taken out when there are so many.
  @exclusivity(unchecked) private var tidiedAt = 64
  /// The same of sections that nobody has any more.
  @exclusivity(unchecked) private var sectionsTidiedAt = 64

  /// Elements that another tracker of the query knows, if they are the same, or else the given
  /// ones.
  func shared(_ elements: KnownElements, of identity: TrackedIdentity) -> KnownElements {
    if !isOn { return elements }
    if let other = known[identity]?.value, other.isEqual(to: elements) { return other }
    note(elements, of: identity)
    return elements
  }

  /// What others have found of the same sections, or else what `make` gives.
  func sections<Found: AnyObject>(_ identity: SectionIdentity, _ make: () -> Found) -> Found {
    if !isOn { return make() }
    if let other = sections[identity]?.value as? Found { return other }
    if sections.count >= sectionsTidiedAt {
      sections = sections.filter { $0.value.value != nil }
      sectionsTidiedAt = max(64, 2 * sections.count)
    }
    let made = make()
    let box = WeakBox<AnyObject>()
    box.value = made
    sections[identity] = box
    return made
  }

  /// Gives elements to trackers that begin from now on.
  func note(_ elements: KnownElements, of identity: TrackedIdentity) {
    if known.count >= tidiedAt {
      known = known.filter { $0.value.value != nil }
      tidiedAt = max(64, 2 * known.count)
    }
    let box = known[identity] ?? WeakBox()
    box.value = elements
    known[identity] = box
  }
}

/// What trackers have in common that are told the same: query and key paths.
struct TrackedIdentity: Hashable {
  let query: QueryIdentity
  let keyPaths: [String]?
}

/// What sections have in common that are the same: query and property.
struct SectionIdentity: Hashable {
  let query: QueryIdentity
  let keyPath: AnyKeyPath

  init(query: QueryIdentity, _ keyPath: AnyKeyPath) {
    self.query = query
    self.keyPath = keyPath
  }
}
