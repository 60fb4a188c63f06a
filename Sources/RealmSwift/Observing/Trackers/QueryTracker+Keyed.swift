// Following the objects that a query chooses from a class, a list or set, or those that link to one, by what
// changed alone: candidates come from change sets, and their places from bisection among the others.
internal import ObjectStore
internal import Platform

extension QueryTracker {
  /// More than one in so many elements affected: finding all anew takes less.
  private static var shareMax: Int { 16 }

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
  ///   - affected: objects that may have come, gone, moved or changed, besides new and deleted ones.
  ///   - changed: those among them that changed for the observer.
  /// - Returns: nil when too many are affected.
  func advance(
    _ query: KeyedQuery, _ step: VersionStep, affected: Set<ObjectKey>, changed: Set<ObjectKey>
  ) -> CollectionChange? {
    let maximum = max(64, items.count / Self.shareMax)
    guard let older = step.older(step.schema.tables[query.table]),
      var candidates = query.candidates(step, affected: affected, maximum: maximum)
    else { return nil }
    let reader = step.reader(query.table)
    let oldReaders = PlanReaders(step.old, query.classes)
    let newReaders = PlanReaders(step.new, query.classes)
    candidates.new.removeAll { element in
      let key = ObjectKey(rawValue: element.key)
      guard let location = reader.locate(key) else { return true }
      return query.condition?.matches(.object(key, location), reader, newReaders) == false
    }
    if let distinct = query.distinct {
      let versions = DistinctGroups.Versions(
        query: query, ordering: distinct.ordering,
        old: (KeyOrder(distinct.paths, oldReaders, older.reader), oldReaders, older.reader),
        new: (KeyOrder(distinct.paths, newReaders, reader), newReaders, reader))
      let firsts = groups!.advance(candidates, versions)
      (candidates.old, candidates.new) = (firsts.gone, firsts.come)
      candidates.copies = [:]
    }
    self.query.forget()
    defer { self.query.adopt(items) }
    let before = places(candidates, KeyOrder(query.paths, oldReaders, older.reader))
    if let shift = candidates.shift, !PlantedBug.staleRank.isActive {
      // One addition an element, as taking one out of an array moves those behind it.
      for index in ranks.indices { ranks[index] = shift.newer(ranks[index]) ?? ranks[index] }
    }
    let after = gaps(
      candidates, without: before.map(\.position), KeyOrder(query.paths, newReaders, reader))
    return edit(before, after, changed)
  }

  private func element(_ index: Int) -> KeyedElement {
    KeyedElement(key: items[index], rank: ranks.isEmpty ? items[index] : ranks[index])
  }

  /// The elements among some of the older version, by where they were.
  private func places(_ candidates: KeyedCandidates, _ order: KeyOrder) -> [Before] {
    // Who holds the same position with another object has been replaced.
    let keys = candidates.new.reduce(into: [Int64: Int64]()) { $0[$1.rank] = $1.key }
    var before: [Before] = []
    for element in candidates.old {
      guard let place = order.place(of: element) else { continue }
      let first = items.indices.lowerBound { order.isBefore(self.element($0), place) }
      var rank: Int64? = element.rank
      if let shift = candidates.shift { rank = shift.newer(element.rank) }
      if let now = rank, let key = keys[now], key != element.key { rank = nil }
      var position = first
      while position < items.count, self.element(position) == element {
        before.append(
          (position, element.key, rank.map { Identity(rank: $0, copy: position - first) }))
        position += 1
      }
    }
    before.sort { $0.position < $1.position }
    return before
  }

  /// Those that are elements now, by their place among the others.
  private func gaps(
    _ candidates: KeyedCandidates, without positions: [Int], _ order: KeyOrder
  ) -> [After] {
    let rest = OtherPositions(items.count, without: positions)
    var placed: [(gap: Int, place: KeyOrder.Place, element: KeyedElement)] = []
    for element in candidates.new {
      guard let place = order.place(of: element) else { continue }
      let gap = rest.lowerBound { order.isBefore(self.element($0), place) }
      placed.append((gap, place, element))
    }
    placed.sort { $0.gap == $1.gap ? order.isBefore($0.place, $1.place) : $0.gap < $1.gap }
    return placed.flatMap { gap, _, element in
      (0..<(candidates.copies[element.key] ?? 1)).map {
        (gap, element, Identity(rank: element.rank, copy: $0))
      }
    }
  }

  /// For each element of the older version which of the newer one it is: the same one, or else the same object
  /// that was taken out of the list and put in again.
  private static func pairs(_ before: [Before], _ after: [After]) -> [Int?] {
    var indexes: [Identity: Int] = [:]
    for (index, element) in after.enumerated() { indexes[element.identity] = index }
    var result = before.map { $0.identity.flatMap { indexes.removeValue(forKey: $0) } }
    if indexes.isEmpty { return result }
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
  private func edit(
    _ before: [Before], _ after: [After], _ changed: Set<ObjectKey>
  ) -> CollectionChange {
    // Who is between the same others as before may stay, if it keeps its order with those who stay too.
    let candidates = Self.pairs(before, after).enumerated().map { index, now -> Int? in
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
      } else if changed.contains(ObjectKey(rawValue: element.element.key)) {
        change.modifications.append(position)
      }
    }
    Self.replace(&items, change.deletions, inserted.map { ($0.position, $0.element.key) })
    if !ranks.isEmpty || resolved.ranksByPosition {
      Self.replace(&ranks, change.deletions, inserted.map { ($0.position, $0.element.rank) })
    }
    return change
  }

  /// Takes out the items at some positions, and puts in others so that they are at theirs.
  private static func replace(
    _ items: inout [Int64], _ removed: [Int], _ inserted: [(position: Int, item: Int64)]
  ) {
    if removed.count + inserted.count <= 8 {
      for position in removed.reversed() { items.remove(at: position) }
      for item in inserted { items.insert(item.item, at: item.position) }
      return
    }
    var result: [Int64] = []
    result.reserveCapacity(items.count - removed.count + inserted.count)
    var (nextRemoved, nextInserted) = (0, 0)
    for (position, item) in items.enumerated() {
      if nextRemoved < removed.count, removed[nextRemoved] == position {
        nextRemoved += 1
        continue
      }
      while nextInserted < inserted.count, inserted[nextInserted].position == result.count {
        result.append(inserted[nextInserted].item)
        nextInserted += 1
      }
      result.append(item)
    }
    result += inserted[nextInserted...].map(\.item)
    items = result
  }
}

/// The positions of a query's items without some, for bisection.
private struct OtherPositions {
  let count: Int
  /// For each position left out: how many others come before it.
  private let gaps: [Int]

  init(_ all: Int, without positions: [Int]) {
    gaps = positions.enumerated().map { $1 - $0 }
    count = all - positions.count
  }

  /// The number of others that come before what is looked for.
  func lowerBound(_ isBefore: (Int) -> Bool) -> Int {
    (0..<count).lowerBound { middle in isBefore(middle + gaps.lowerBound { $0 <= middle }) }
  }
}

extension Range<Int> {
  /// The first number that is not before what is looked for; the end if all are.
  ///
  /// - Parameter isBefore: never true behind a false.
  fileprivate func lowerBound(_ isBefore: (Int) -> Bool) -> Int {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension QueryTracker {
  /// Takes over what was found anew, as an observer of which changes alone will be told.
  func prepare(_ query: KeyedQuery?) {
    ranks = []
    groups = nil
    guard let query else { return }
    if case .cell(let cell) = query.source, query.distinct == nil {
      ranks = cell.ranks(of: items)
    }
    guard let distinct = query.distinct else { return }
    let realm = self.query.origin.realm
    guard let table = self.query.origin.table, let reader = realm.reader(of: table) else { return }
    let readers = PlanReaders(realm, query.classes)
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
    let made = DistinctGroups(query, elements, readers, reader)
    groups = made
    if query.ranksByPosition {
      ranks = made.ranks(of: items, distinct.ordering, readers, reader)
    }
  }
}
