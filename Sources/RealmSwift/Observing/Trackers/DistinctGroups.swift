// The elements of a query by the values that have to be distinct, so that one that comes, goes or
// changes is compared with those of its own group alone.
internal import ObjectStore

/// All elements among which distinct ones are chosen, by group; the first of each group is chosen.
struct DistinctGroups: Equatable {
  /// Each in the order in which elements are chosen.
  private var groups: [[UInt8]: [KeyedElement]] = [:]

  /// The order and values of one version.
  struct Version {
    let ordering: PlanOrdering
    let order: KeyOrder
    let readers: PlanReaders
    let subjects: SubjectReader

    /// One of several choices of distinct elements.
    init(
      _ distinct: (ordering: PlanOrdering, paths: KeyedQuery.Paths), _ readers: PlanReaders,
      _ subjects: SubjectReader
    ) {
      ordering = distinct.ordering
      order = KeyOrder(distinct.paths, readers, subjects)
      self.readers = readers
      self.subjects = subjects
    }

    func group(of element: KeyedElement) -> [UInt8]? {
      ordering.group(of: element.key, readers, subjects)
    }

    fileprivate func places(_ members: [KeyedElement]) -> KeyedPlaces {
      KeyedPlaces(count: members.count, element: { members[$0] }, order: order)
    }
  }

  /// The groups of some elements, in any order.
  init(_ elements: [KeyedElement], _ version: Version) {
    // All belong behind none, in their order.
    for (_, element) in version.places([]).gaps(of: elements) {
      if let group = version.group(of: element) { groups[group, default: []].append(element) }
    }
  }

  /// All elements among which some are chosen.
  var members: [KeyedElement] { groups.values.flatMap(\.self) }

  /// Those that are chosen, in no order.
  var firsts: [KeyedElement] { groups.values.compactMap(\.first) }

  /// What has become of the first elements.
  struct Firsts {
    /// With older ranks.
    var gone: [KeyedElement] = []
    /// With newer ranks.
    var come: [KeyedElement] = []
  }

  /// Goes on to the newer version.
  ///
  /// - Parameters:
  ///   - candidates: the newer ones fulfil the condition.
  ///   - areValues: the elements are known by their positions.
  mutating func advance(
    _ candidates: KeyedCandidates, _ old: Version, _ new: Version, areValues: Bool
  ) -> Firsts {
    var gone: [[UInt8]: Set<KeyedElement>] = [:]
    for element in candidates.old {
      if let group = old.group(of: element) { gone[group, default: []].insert(element) }
    }
    var come: [[UInt8]: [KeyedElement]] = [:]
    for element in candidates.new {
      if let group = new.group(of: element) { come[group, default: []].append(element) }
    }
    var before: [[UInt8]: KeyedElement?] = [:]
    for group in come.keys { before[group] = .some(groups[group]?.first) }
    var touched: Set<Int64> = []
    for (group, elements) in gone {
      guard let members = groups[group] else { continue }
      before[group] = .some(members.first)
      let positions = old.places(members).positions(of: elements)
      for position in positions { touched.insert(members[position].rank) }
      groups[group]!.replace(positions, [])
    }
    if let shift = candidates.shift { move(shift, areValues) }
    for (group, elements) in come {
      let gaps = new.places(groups[group] ?? []).gaps(of: elements)
      groups[group, default: []].replace(
        [], gaps.enumerated().map { ($1.gap + $0, $1.element) })
    }
    var firsts = Firsts()
    for (group, old) in before {
      let new = groups[group]?.first
      if groups[group]?.isEmpty == true { groups[group] = nil }
      if let old, let new, !touched.contains(old.rank), areValues || old.key == new.key,
        (candidates.shift.map { $0.newer(old.rank) } ?? old.rank) == new.rank
      {
        continue
      }
      if let old { firsts.gone.append(old) }
      if let new { firsts.come.append(new) }
    }
    return firsts
  }

  /// Positions behind a change of a list are others: one addition an element.
  private mutating func move(_ shift: RankShift, _ areValues: Bool) {
    for index in groups.values.indices {
      for member in groups.values[index].indices {
        let rank = groups.values[index][member].rank
        let newer = shift.newer(rank) ?? rank
        groups.values[index][member].rank = newer
        if areValues { groups.values[index][member].key = newer }
      }
    }
  }
}
