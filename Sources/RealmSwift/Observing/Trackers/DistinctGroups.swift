// The elements of a query by the values that have to be distinct, so that one that comes, goes or changes is
// compared with those of its own group alone.
internal import ObjectStore

/// All elements that fulfil a query's condition, by group; the first of each group is an element of the result.
struct DistinctGroups {
  /// Each in the order in which elements are chosen.
  private var groups: [[UInt8]: [KeyedElement]] = [:]

  /// The groups in the version of a Realm, given all elements in the order in which they are chosen.
  init(
    _ query: KeyedQuery, _ elements: [KeyedElement], _ readers: PlanReaders, _ reader: TableReader
  ) {
    guard let distinct = query.distinct else { return }
    for element in elements {
      if let group = distinct.ordering.group(of: element.key, readers, reader) {
        groups[group, default: []].append(element)
      }
    }
  }

  /// The ranks of the first elements, in the order of the result.
  func ranks(
    of items: [Int64], _ ordering: PlanOrdering, _ readers: PlanReaders, _ reader: TableReader
  ) -> [Int64] {
    items.map { key in
      ordering.group(of: key, readers, reader).flatMap { groups[$0]?.first?.rank } ?? 0
    }
  }

  /// What has become of the first elements.
  struct Firsts {
    /// With older ranks.
    var gone: [KeyedElement] = []
    /// With newer ranks.
    var come: [KeyedElement] = []
  }

  /// The orders and values of two versions.
  struct Versions {
    let query: KeyedQuery
    let ordering: PlanOrdering
    let old: (order: KeyOrder, readers: PlanReaders, reader: TableReader)
    let new: (order: KeyOrder, readers: PlanReaders, reader: TableReader)
  }

  /// Goes on to the newer version.
  ///
  /// - Parameter candidates: the newer ones fulfil the condition.
  mutating func advance(_ candidates: KeyedCandidates, _ versions: Versions) -> Firsts {
    var before: [[UInt8]: KeyedElement?] = [:]
    var touched: Set<Int64> = []
    for element in candidates.old {
      guard
        let group = versions.ordering.group(
          of: element.key, versions.old.readers, versions.old.reader),
        let members = groups[group], let place = versions.old.order.place(of: element)
      else { continue }
      let position = members.lowerBound { versions.old.order.isBefore($0, place) }
      guard position < members.count, members[position] == element else { continue }
      if before[group] == nil { before[group] = .some(members[0]) }
      touched.insert(element.rank)
      groups[group]!.remove(at: position)
    }
    var added: [(group: [UInt8], element: KeyedElement)] = []
    for element in candidates.new {
      guard
        let group = versions.ordering.group(
          of: element.key, versions.new.readers, versions.new.reader)
      else { continue }
      if before[group] == nil { before[group] = .some(groups[group]?.first) }
      added.append((group, element))
    }
    if let shift = candidates.shift { move(shift) }
    for (group, element) in added {
      guard let place = versions.new.order.place(of: element) else { continue }
      let members = groups[group] ?? []
      let position = members.lowerBound { versions.new.order.isBefore($0, place) }
      groups[group, default: []].insert(element, at: position)
    }
    var firsts = Firsts()
    for (group, old) in before {
      let new = groups[group]?.first
      if groups[group]?.isEmpty == true { groups[group] = nil }
      if let old, let new, !touched.contains(old.rank), old.key == new.key,
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
  private mutating func move(_ shift: RankShift) {
    for index in groups.values.indices {
      for member in groups.values[index].indices {
        let rank = groups.values[index][member].rank
        groups.values[index][member].rank = shift.newer(rank) ?? rank
      }
    }
  }
}
