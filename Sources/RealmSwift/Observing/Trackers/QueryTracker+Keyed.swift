// Following the elements that a query chooses from a class, from a list, set or map, or from those
// that link to an object, by what changed alone: candidates come from change sets, and their places
// from an order of all.
internal import ObjectStore
internal import Platform

extension QueryTracker {
  /// What tells an element of a step apart: its newer rank, and which of equal ones it is.
  private struct Identity: Hashable {
    let rank: Int64
    let copy: Int
  }

  private typealias Before = (position: Int, key: Int64, identity: Identity?)
  private typealias After = (gap: Int, element: KeyedElement, identity: Identity)

  /// Goes on by what changed alone.
  ///
  /// - Parameters:
  ///   - affected: objects that may have come, gone or moved, besides new and deleted ones.
  ///   - changed: objects that changed for the observer.
  /// - Returns: nil when that cannot be told.
  func advance(
    _ query: KeyedQuery, _ step: VersionStep, affected: ChangedObjects, changed: ChangedObjects
  ) -> CollectionChange? {
    guard let subjects = query.subjects(step),
      var candidates = query.candidates(
        step, affected: affected,
        known: { groups.first?.members ?? items.indices.map { element($0) } })
    else { return nil }
    let reader = step.reader(query.table)
    let oldReaders = PlanReaders(step.old, query.classes)
    let newReaders = PlanReaders(step.new, query.classes)
    candidates.new.removeAll { element in
      let fits = subjects.new.withSubject(element.key) {
        query.condition?.matches($0, reader, newReaders) ?? true
      }
      return fits != true
    }
    for index in query.distinct.indices {
      let firsts = groups[index].advance(
        candidates, .init(query.distinct[index], oldReaders, subjects.old),
        .init(query.distinct[index], newReaders, subjects.new), areValues: query.isOfValues)
      (candidates.old, candidates.new) = (firsts.gone, firsts.come)
      candidates.copies = [:]
    }
    self.query.forget()
    defer { self.query.adopt(items) }
    let before = places(
      candidates, KeyOrder(query.paths, oldReaders, subjects.old))
    if let shift = candidates.shift, !PlantedBug.staleRank.isActive {
      // One addition an element, as taking one out of an array moves those behind it.
      shift.shift(&ranks)
      if query.isOfValues { shift.shift(&items) }
    }
    let order = KeyOrder(query.paths, newReaders, subjects.new)
    let after = gaps(candidates, without: before.map(\.position), order)
    let pairs = Self.pairs(before, after, areValues: query.isOfValues)
    if query.isOfValues {
      let assigned = query.assignedValues(step)
      return edit(pairs, before, after) { assigned.contains($0) }
    }
    var change = edit(pairs, before, after) { changed.contains($0) }
    // Those that changed and have stayed where they are.
    var others = positions(of: changed, order)
    if !after.isEmpty, !others.isEmpty {
      let edited = Set(after.enumerated().map { $1.gap + $0 })
      others.removeAll(where: edited.contains)
    }
    change.modifications =
      change.modifications.isEmpty ? others : (change.modifications + others).sorted()
    return change
  }

  /// The positions of some objects among the elements, ascending.
  private func positions(of objects: ChangedObjects, _ order: KeyOrder) -> [Int] {
    if objects.isEmpty || items.isEmpty { return [] }
    // A list has no way from an object to its positions; and to look for one object takes as long
    // as to ask some hundred whether they have changed.
    if resolved.ranksByPosition || objects.count > items.count / 256 {
      return objects.positions(in: items)
    }
    return KeyedPlaces(count: items.count, element: element, order: order)
      .positions(of: Set(objects.keys.map { KeyedElement(key: $0.rawValue, rank: $0.rawValue) }))
  }

  private func element(_ index: Int) -> KeyedElement {
    KeyedElement(key: items[index], rank: ranks.isEmpty ? items[index] : ranks[index])
  }

  /// The elements among some of the older version, by where they were.
  private func places(_ candidates: KeyedCandidates, _ order: KeyOrder) -> [Before] {
    // Who holds the same position in a list with another object has been replaced.
    var keys: [Int64: Int64] = [:]
    if resolved.ranksByPosition {
      for element in candidates.new { keys[element.rank] = element.key }
    }
    let positions = KeyedPlaces(count: items.count, element: element, order: order)
      .positions(of: Set(candidates.old))
    var last: KeyedElement?
    var copy = 0
    return positions.map { position in
      let element = element(position)
      copy = element == last ? copy + 1 : 0
      last = element
      var rank: Int64? = element.rank
      if let shift = candidates.shift { rank = shift.newer(element.rank) }
      if let now = rank, let key = keys[now], key != element.key { rank = nil }
      return (position, element.key, rank.map { Identity(rank: $0, copy: copy) })
    }
  }

  /// Those that are elements now, by their place among the others.
  private func gaps(
    _ candidates: KeyedCandidates, without positions: [Int], _ order: KeyOrder
  ) -> [After] {
    let rest = OtherPositions(items.count, without: positions)
    let places = KeyedPlaces(count: rest.count, element: { self.element(rest[$0]) }, order: order)
    return places.gaps(of: candidates.new).flatMap { gap, element in
      (0..<(candidates.copies[element.key] ?? 1)).map {
        (gap, element, Identity(rank: element.rank, copy: $0))
      }
    }
  }

  /// For each element of the older version which of the newer one it is: the same one, or else the
  /// same object that was taken out of the list and put in again.
  private static func pairs(_ before: [Before], _ after: [After], areValues: Bool) -> [Int?] {
    var indexes: [Identity: Int] = [:]
    indexes.reserveCapacity(after.count)
    for (index, element) in after.enumerated() { indexes[element.identity] = index }
    var result = before.map { $0.identity.flatMap { indexes.removeValue(forKey: $0) } }
    if indexes.isEmpty || areValues { return result }
    var others: [Int64: [Int]] = [:]
    for index in indexes.values.sorted(by: >) {
      others[after[index].element.key, default: []].append(index)
    }
    for index in before.indices where result[index] == nil {
      result[index] = others[before[index].key]?.popLast()
    }
    return result
  }

  /// Puts the affected elements where they are now.
  ///
  /// - Parameters:
  ///   - pairs: which of the newer elements each older one is.
  ///   - isChanged: whether an element has changed for the observer.
  private func edit(
    _ pairs: [Int?], _ before: [Before], _ after: [After], _ isChanged: (ObjectKey) -> Bool
  ) -> CollectionChange {
    // Who is between the same others as before may stay, if it keeps its order with those who stay
    // too.
    let candidates = pairs.enumerated().map { index, now -> Int? in
      guard let now, after[now].gap == before[index].position - index else { return nil }
      return now
    }
    let stays = LongestAscent.of(candidates)
    var staying = Array(repeating: false, count: after.count)
    var change = CollectionChange()
    for (index, element) in before.enumerated() {
      if stays[index] {
        staying[candidates[index]!] = true
      } else {
        change.deletions.append(element.position)
      }
    }
    var inserted: [(position: Int, element: KeyedElement)] = []
    for (index, element) in after.enumerated() {
      let position = element.gap + index
      if !staying[index] {
        change.insertions.append(position)
        inserted.append((position, element.element))
      } else if isChanged(ObjectKey(rawValue: element.element.key)) {
        change.modifications.append(position)
      }
    }
    items.replace(change.deletions, inserted.map { ($0.position, $0.element.key) })
    if !ranks.isEmpty || resolved.ranksByPosition {
      ranks.replace(change.deletions, inserted.map { ($0.position, $0.element.rank) })
      // Who stays may have been taken out of the list and put in elsewhere.
      for (index, element) in after.enumerated() where staying[index] {
        ranks[element.gap + index] = element.element.rank
      }
    }
    return change
  }
}

extension QueryTracker {
  /// Takes over what was found anew, as an observer of which changes alone will be told.
  func prepare(_ query: KeyedQuery?) {
    ranks = []
    groups = []
    guard let query else { return }
    if case .cell(let cell) = query.source, query.distinct.isEmpty {
      ranks = cell.ranks(of: items)
    }
    if query.distinct.isEmpty { return }
    let subjects = SubjectReader(self.query.origin)
    let readers = PlanReaders(self.query.origin.realm, query.classes)
    var elements = self.query.elementsBeforeDistinct().map { KeyedElement(key: $0, rank: $0) }
    if case .cell(let cell) = query.source {
      let positions = cell.ranks(of: elements.map(\.key))
      for index in elements.indices { elements[index].rank = positions[index] }
    }
    // An object that is there several times counts once where ranks are keys.
    if !query.ranksByPosition {
      var seen: Set<Int64> = []
      elements.removeAll { !seen.insert($0.key).inserted }
    }
    for distinct in query.distinct {
      let made = DistinctGroups(elements, .init(distinct, readers, subjects))
      groups.append(made)
      elements = made.firsts
    }
    if query.ranksByPosition {
      let rankByKey = Dictionary(elements.map { ($0.key, $0.rank) }) { first, _ in first }
      ranks = items.map { rankByKey[$0] ?? 0 }
    }
  }
}
