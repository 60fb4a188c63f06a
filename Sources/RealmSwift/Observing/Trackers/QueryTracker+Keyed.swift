// Following the objects of a class that fulfil a condition, in key order or sorted, by what changed alone. Every
// object has one place in the order of all: by its values, then by its key. So a place is found by
// bisection, in the older version with the older values.
internal import ObjectStore

/// A query on all objects of a class without distinct values, whose orders are total.
struct KeyedQuery {
  let table: Int
  let condition: PlanCondition?
  /// Paths that elements are sorted by, the first one first, and whether the smallest value comes first.
  let paths: [(path: PlanPath, isAscending: Bool)]
  /// The Realm's classes that are looked at, by position.
  let classes: Set<Int>

  /// Nil for other queries.
  init?(_ query: any TrackedQuery) {
    guard let origin = query.origin as? TableOrigin,
      let table = origin.objects.pointee.binding.table
    else { return nil }
    let plan = query.plan
    var paths: [(path: PlanPath, isAscending: Bool)] = []
    // The last order counts first; equal elements stay in the order that they had.
    for ordering in plan.orderings.reversed() {
      guard case .sort(let ascending) = ordering.kind else { return nil }
      paths += zip(ordering.paths, ascending).map { ($0, $1) }
    }
    // Values of these need not be comparable with each other.
    if paths.contains(where: { $0.path.type == .any || $0.path.type == .decimal128 }) { return nil }
    self.table = table.index
    condition = plan.condition?.condition
    self.paths = paths
    classes = Set(plan.tables)
  }
}

/// The order of a query's objects in one version.
private struct KeyOrder {
  private let paths: [(path: PlanPath, isAscending: Bool)]
  private let readers: PlanReaders
  private let reader: TableReader

  /// An object's place in the order of all.
  struct Place {
    fileprivate let values: [OrderValue]
    fileprivate let key: Int64
  }

  init(_ query: KeyedQuery, _ realm: ConfinedRealm, _ reader: TableReader) {
    paths = query.paths
    readers = PlanReaders(realm, query.classes)
    self.reader = reader
  }

  /// Nil when there is no such object.
  func place(of key: Int64) -> Place? {
    if paths.isEmpty { return Place(values: [], key: key) }
    let object = ObjectKey(rawValue: key)
    guard let location = reader.locate(object) else { return nil }
    let values = paths.map { path, _ in
      var found = OrderValue.null
      path.forEach(.object(object, location), readers) {
        found = OrderValue($0)
        return false
      }
      return found
    }
    return Place(values: values, key: key)
  }

  func isBefore(_ left: Place, _ right: Place) -> Bool {
    for (index, path) in paths.enumerated() {
      switch left.values[index].order(right.values[index]) {
      case .less: return path.isAscending
      case .greater: return !path.isAscending
      case .equal: continue
      }
    }
    return left.key < right.key
  }

  /// Whether an object that is there comes before a place.
  func isBefore(_ key: Int64, _ place: Place) -> Bool {
    guard let other = self.place(of: key) else { return false }
    return isBefore(other, place)
  }
}

/// A value that elements are sorted by.
private enum OrderValue {
  case null
  /// A number as an integer of the same order, not a number included.
  case packed(Int64)
  case other(PlanConstant)

  init(_ value: PlanValue) {
    switch value {
    case .null: self = .null
    case .integer(let integer): self = .packed(integer)
    case .bool(let bool): self = .packed(bool ? 1 : 0)
    case .number(let number), .date(let number):
      self = .packed(OrderKey.integer(number._packed, .double))
    default: self = .other(PlanConstant(value))
    }
  }

  func order(_ other: OrderValue) -> PlanOrder {
    switch (self, other) {
    case (.null, .null): return .equal
    case (.null, _): return .less
    case (_, .null): return .greater
    case (.packed(let left), .packed(let right)):
      return left == right ? .equal : left < right ? .less : .greater
    case (.other(let left), .other(let right)):
      return left.withValue { left in right.withValue { left.order($0) } } ?? .equal
    default: return .equal
    }
  }
}

extension QueryTracker {
  /// More than one in so many objects affected: finding all anew takes less.
  private static var shareMax: Int { 16 }

  /// Goes on by what changed alone.
  ///
  /// - Parameters:
  ///   - affected: objects that may have come, gone, moved or changed, besides new and deleted ones.
  ///   - changed: those among them that changed for the observer.
  /// - Returns: nil when too many are affected.
  func advance(
    _ query: KeyedQuery, _ step: VersionStep, affected: Set<ObjectKey>, changed: Set<ObjectKey>
  ) -> CollectionChange? {
    let stored = step.schema.tables[query.table]
    let changes = step.changes(query.table)
    let reader = step.reader(query.table)
    let newCount = changes.map { reader.count - reader.rank(of: $0.firstNewKey) } ?? 0
    let count = affected.count + (changes?.deleted.count ?? 0) + newCount
    if changes?.isCleared == true || count > max(64, items.count / Self.shareMax) { return nil }
    guard let older = step.older(stored) else { return nil }
    self.query.forget()
    defer { self.query.adopt(items) }
    // The elements that are affected or gone, by where they were.
    let oldOrder = KeyOrder(query, step.old, older.reader)
    var before: [(position: Int, key: Int64)] = []
    func addOld(_ key: ObjectKey) {
      guard let place = oldOrder.place(of: key.rawValue) else { return }
      let position = items.lowerBound { oldOrder.isBefore($0, place) }
      if position < items.count, items[position] == key.rawValue {
        before.append((position, key.rawValue))
      }
    }
    for key in affected where changes?.isNew(key) != true { addOld(key) }
    changes?.deleted.forEach(addOld)
    before.sort { $0.position < $1.position }
    // Those that are elements now, by their place among the others.
    let rest = OtherItems(items, without: before.map(\.position))
    let newOrder = KeyOrder(query, step.new, reader)
    let readers = PlanReaders(step.new, query.classes)
    var after: [(gap: Int, place: KeyOrder.Place)] = []
    func addNew(_ key: ObjectKey) {
      guard let location = reader.locate(key),
        query.condition?.matches(.object(key, location), reader, readers) ?? true,
        let place = newOrder.place(of: key.rawValue)
      else { return }
      after.append((rest.lowerBound { newOrder.isBefore($0, place) }, place))
    }
    for key in affected where changes?.isNew(key) != true { addNew(key) }
    step.forEachNew(query.table) {
      addNew($0)
      return true
    }
    after.sort { $0.gap == $1.gap ? newOrder.isBefore($0.place, $1.place) : $0.gap < $1.gap }
    return edit(before, after.map { ($0.gap, $0.place.key) }, changed, rest.count)
  }

  /// Puts the affected elements where they are now.
  private func edit(
    _ before: [(position: Int, key: Int64)], _ after: [(gap: Int, key: Int64)],
    _ changed: Set<ObjectKey>, _ restCount: Int
  ) -> CollectionChange {
    var indexes: [Int64: Int] = [:]
    for (index, element) in after.enumerated() { indexes[element.key] = index }
    // Who is between the same others as before may stay, if it keeps its order with those who stay too.
    let candidates = before.enumerated().map { index, element -> Int? in
      guard let now = indexes[element.key], after[now].gap == element.position - index else {
        return nil
      }
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
    var inserted: [(position: Int, key: Int64)] = []
    for (index, element) in after.enumerated() {
      let position = element.gap + index
      if !staying[index] {
        change.insertions.append(position)
        inserted.append((position, element.key))
      } else if changed.contains(ObjectKey(rawValue: element.key)) {
        change.modifications.append(position)
      }
    }
    replace(change.deletions, inserted)
    return change
  }

  /// Takes out the items at some positions, and puts in others so that they are at theirs.
  private func replace(_ removed: [Int], _ inserted: [(position: Int, key: Int64)]) {
    if removed.count + inserted.count <= 8 {
      for position in removed.reversed() { items.remove(at: position) }
      for item in inserted { items.insert(item.key, at: item.position) }
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
        result.append(inserted[nextInserted].key)
        nextInserted += 1
      }
      result.append(item)
    }
    result += inserted[nextInserted...].map(\.key)
    items = result
  }
}

/// The items of a query without some, by bisection.
private struct OtherItems {
  private let items: [Int64]
  /// For each item left out: how many others come before it.
  private let gaps: [Int]

  init(_ items: [Int64], without positions: [Int]) {
    self.items = items
    gaps = positions.enumerated().map { $1 - $0 }
  }

  var count: Int { items.count - gaps.count }

  /// The number of items that come before what is looked for.
  func lowerBound(_ isBefore: (Int64) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      let leftOut = gaps.lowerBound { $0 <= middle }
      if isBefore(items[middle + leftOut]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
