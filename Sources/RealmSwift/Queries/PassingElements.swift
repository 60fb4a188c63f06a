// What queries find again and again in a running transaction that changes what they look at:
// `while let first = results.first { realm.delete(first) }`. From the third time on the elements
// are not found anew, but edited by what the transaction has touched since.
internal import ObjectStore
internal import Platform

/// The elements of one query in a running transaction.
///
/// Only of queries that choose from the objects of a class, of a list, set or map, or from those
/// that link to an object, by these objects' own values, and by those of objects to which their
/// links lead; where a query looks at others in another way, while the transaction does not change
/// their classes. Elements are known by ranks: the keys of the class's objects, or what stands for
/// a place in the collection.
final class PassingElements {
  private let query: PassingQuery
  // Unchecked exclusivity: as those of ElementSharing.
  /// The elements of the collection; nil: all objects of the class.
  @exclusivity(unchecked) private var members: PassingMembers?
  @exclusivity(unchecked) private var keys: OrderedKeys
  /// Of distinct results.
  @exclusivity(unchecked) private var groups: PassingGroups?
  /// Up to where the transaction's changes are known.
  @exclusivity(unchecked) private var mark: TouchMark
  @exclusivity(unchecked) private var generation: UInt64
  /// The same of the edits of the collection.
  @exclusivity(unchecked) private var cellMark: CollectionMark?
  /// The same of the objects to which links lead.
  @exclusivity(unchecked) private var linkMarks: PassingPaths.Marks
  /// The state of the other classes when the elements were found.
  private let others: [UInt64]
  @exclusivity(unchecked) private var derivations: [ObjectIdentifier: Derivation] = [:]

  /// - Parameters:
  ///   - items: finds the elements as they are now.
  ///   - candidates: of distinct results those among which they were chosen, in the order for that.
  /// - Returns: nil where an object links several times, which is several elements then.
  init?(
    _ query: PassingQuery, _ group: GroupTransaction, _ stored: StoredTable, items: () -> [Int64],
    candidates: [Int64]
  ) {
    self.query = query
    others = query.generationsOfOthers()
    let readers = query.readers()
    let subjects = query.subjects()
    let order = query.order(readers, subjects)
    if let cell = query.cell {
      let content = cell.contentIfThere()
      let members =
        query.isOfValues ? PassingMembers(values: content?.count ?? 0) : PassingMembers(content)
      let reader = query.reader()
      var matching: [Int64] = []
      for (position, rank) in members.ranks.enumerated() {
        guard let item = query.isOfValues ? Int64(position) : members.object(rank) else { continue }
        if query.isMatch(item, reader, readers, subjects) { matching.append(rank) }
      }
      func item(_ rank: Int64) -> Int64? { query.item(rank, members) }
      groups = query.distinct.map { distinct in
        let order = distinct.paths.isEmpty ? nil : KeyOrder(distinct.paths, readers, subjects)
        let all = OrderedKeys(sorting: matching, order, item).all
        return PassingGroups(distinct, all, readers, subjects, item)
      }
      if let firsts = groups?.firsts { matching.removeAll { !firsts.contains($0) } }
      keys = OrderedKeys(sorting: matching, order, item)
      self.members = members
      cellMark = group.collectionMark(cell.storedTable, cell.key, cell.column)
    } else {
      let items = items()
      let all = query.distinct == nil ? items : candidates
      if query.link != nil, Set(all).count < all.count { return nil }
      keys = OrderedKeys(items, order)
      members = nil
      groups = query.distinct.map { PassingGroups($0, candidates, readers, subjects) }
    }
    mark = group.touchMark(stored)
    linkMarks = query.links.marks(group)
    generation = query.table.pointee.generation
  }

  var count: Int { keys.count }
  /// The keys of all elements, or the positions of values.
  var all: [Int64] { items(of: keys.all) }

  /// The same of some ranks, which have to be there.
  func items(of ranks: [Int64]) -> [Int64] {
    guard let members else { return ranks }
    return query.isOfValues ? members.positions(of: ranks).map { Int64($0) } : ranks.map(item)
  }

  /// The key of an element's object, or the position of a value.
  func item(_ rank: Int64) -> Int64 { query.item(rank, members) ?? rank }

  /// The key, or the position of the value, at a position; nil when there are fewer.
  func key(at position: Int) -> Int64? {
    position >= 0 && position < keys.count ? item(keys[position]) : nil
  }

  /// The first of these, so many if there are.
  func first(_ count: Int) -> [Int64] { (0..<min(count, keys.count)).map { item(keys[$0]) } }

  /// The first position of an object or value; nil when it is no element.
  func position(of item: Int64) -> Int? {
    let order = query.order(query.readers(), query.subjects())
    return ranks(of: item).compactMap { keys.position(of: $0, order) }.min()
  }

  /// Where an object or value is among all that may be chosen.
  func ranks(of item: Int64) -> [Int64] {
    guard let members else { return [item] }
    return query.isOfValues ? [members.rank(at: Int(item))] : members.ranks(of: item)
  }

  /// How many of `count` elements may have changed before looking at all takes less.
  static func changedMax(of count: Int) -> Int { max(64, count / 16) }

  /// Goes on to the transaction's state; false when that takes longer than to find the elements
  /// anew.
  func advance(_ group: GroupTransaction, _ stored: StoredTable) -> Bool {
    if query.generationsOfOthers() != others { return false }
    var edits: ArraySlice<CollectionEdit> = []
    if let cell = query.cell, let cellMark {
      guard
        let known = group.collectionEdits(cell.storedTable, cell.key, cell.column, since: cellMark)
      else { return false }
      edits = known
    }
    let most = Self.changedMax(of: keys.count)
    guard let led = query.links.objects(leadingToTouchedSince: linkMarks, group, atMost: most)
    else { return false }
    if query.table.pointee.generation == generation, edits.isEmpty, led.isEmpty {
      linkMarks = query.links.marks(group)
      return true
    }
    // The table of values is that of the object that has them.
    guard let touched = query.isOfValues ? [] : group.touched(stored, since: mark),
      touched.count + edits.count + led.count <= most
    else { return false }
    let reader = query.reader()
    let readers = query.readers()
    let subjects = query.subjects()
    let order = query.order(readers, subjects)
    func remove(_ rank: Int64) {
      let isDone: Void? = groups?.remove(rank, from: &keys, order, readers, subjects) {
        [query, members] in query.item($0, members)
      }
      if isDone == nil { keys.remove(rank, order) }
    }
    func look(_ rank: Int64) {
      guard let item = query.item(rank, members),
        query.isMatch(item, reader, readers, subjects)
      else { return }
      if groups?.insert(rank, item, into: &keys, order, readers, subjects) == nil {
        keys.insert(rank, item, order)
      }
    }
    // All edits come first: what reads values knows only where they are in the end.
    var ranks: Set<Int64> = []
    var allGone: [Int64] = []
    for edit in edits {
      guard let (gone, come) = members!.apply(edit) else { return false }
      if let gone { allGone.append(gone) }
      if let come { ranks.insert(come) }
    }
    // Each is taken out before others are put in: these are then where their places say.
    for rank in allGone { remove(rank) }
    if touched.count == 1, let key = touched.first {
      ranks.formUnion(self.ranks(of: key))
    } else {
      for key in Set(touched) { ranks.formUnion(self.ranks(of: key)) }
    }
    for key in led { ranks.formUnion(self.ranks(of: key)) }
    if members == nil, let reader {
      var new = 0
      var last = ObjectKey(rawValue: mark.nextKey - 1)
      while let key = reader.nextKey(after: last) {
        new += 1
        if new > most { return false }
        ranks.insert(key.rawValue)
        last = key
      }
      if query.link?.isMetTwice(by: ranks, reader) == true { return false }
    }
    for rank in ranks { remove(rank) }
    for rank in ranks { look(rank) }
    cellMark = query.cell.map { group.collectionMark($0.storedTable, $0.key, $0.column) }
    mark = group.touchMark(stored)
    linkMarks = query.links.marks(group)
    generation = query.table.pointee.generation
    return true
  }
}

// MARK: - What is derived from the elements

extension PassingElements {
  /// A place in the edits of the elements.
  struct EditMark {
    fileprivate let round: Int
    fileprivate let count: Int
  }

  /// An element that went or came: its rank, and where it was in the order until then.
  ///
  /// - place: nil without an order, and of one that came.
  typealias Edit = (rank: Int64, place: KeyOrder.Place?)

  /// The ranks of all elements.
  var ranks: [Int64] { keys.all }

  /// The place behind all edits; begins to note them.
  func editMark() -> EditMark {
    let log = keys.log ?? EditLog()
    keys.log = log
    return EditMark(round: log.round, count: log.edits.count)
  }

  /// The edits since a mark, one after the other; nil when that is not known.
  func edits(since mark: EditMark) -> ArraySlice<Edit>? {
    guard let log = keys.log, log.round == mark.round else { return nil }
    return log.edits[mark.count...]
  }

  /// Whether a rank is one of an element.
  func isThere(_ rank: Int64) -> Bool { keys.isThere(rank, isOrdered: !query.paths.isEmpty) }

  /// Whether one rank comes before another.
  ///
  /// - Parameter formerPlaces: replace those that the elements have now.
  func comparison(_ formerPlaces: [Int64: KeyOrder.Place?]) -> (Int64, Int64) -> Bool {
    guard let order = query.order(query.readers(), query.subjects()) else { return { $0 < $1 } }
    func place(_ rank: Int64) -> KeyOrder.Place {
      // Of an element that came the edit has none; it was not there then.
      (formerPlaces[rank] ?? nil) ?? keys.places[rank]!
    }
    return { order.isBefore(place($0), place($1)) }
  }

  /// What somebody derives from the elements, which goes when they do.
  ///
  /// - Parameter owner: whose it is.
  func derived(for owner: AnyObject) -> AnyObject? {
    derivations[ObjectIdentifier(owner)].flatMap { $0.owner === owner ? $0.value : nil }
  }

  func derive(_ value: AnyObject?, for owner: AnyObject) {
    derivations = derivations.filter { $0.value.owner != nil }
    derivations[ObjectIdentifier(owner)] = value.map { Derivation(owner: owner, value: $0) }
  }
}

/// What is derived from elements, and whose it is.
private struct Derivation {
  weak var owner: AnyObject?
  let value: AnyObject
}

/// Which elements went and came, one after the other.
private final class EditLog {
  /// More are not kept: who has not asked for so long looks at all.
  private static let editsMax = 65_536

  // Unchecked exclusivity: as those of PassingElements.
  @exclusivity(unchecked) private(set) var edits: [PassingElements.Edit] = []
  /// How often earlier ones were dropped.
  @exclusivity(unchecked) private(set) var round = 0

  func note(_ rank: Int64, _ place: KeyOrder.Place?) {
    if edits.count == Self.editsMax { (edits, round) = ([], round + 1) }
    edits.append((rank, place))
  }
}

/// Ranks by the values of some paths, then by themselves; or by themselves alone, without an order.
private struct OrderedKeys {
  private var keys: OrderedChunks
  /// The place of each in the order.
  private(set) var places: [Int64: KeyOrder.Place] = [:]
  /// What happened to them, if somebody wants to know.
  var log: EditLog?

  /// - Parameters:
  ///   - items: in the order.
  ///   - item: the key of a rank's object, or the position of its value.
  init(_ items: [Int64], _ order: KeyOrder?, _ item: (Int64) -> Int64? = { $0 }) {
    keys = OrderedChunks(items)
    findPlaces(items, order, item)
  }

  /// - Parameter ranks: ascending.
  init(sorting ranks: [Int64], _ order: KeyOrder?, _ item: (Int64) -> Int64?) {
    keys = OrderedChunks([])
    findPlaces(ranks, order, item)
    var ranks = ranks
    if let order { ranks.sort { [places] in order.isBefore(places[$0]!, places[$1]!) } }
    keys = OrderedChunks(ranks)
  }

  private mutating func findPlaces(
    _ ranks: [Int64], _ order: KeyOrder?, _ item: (Int64) -> Int64?
  ) {
    guard let order else { return }
    places.reserveCapacity(ranks.count)
    for rank in ranks {
      places[rank] = item(rank).flatMap { order.place(of: KeyedElement(key: $0, rank: rank)) }
    }
  }

  var count: Int { keys.count }
  var first: Int64? { keys.first }
  var all: [Int64] { keys.all }
  subscript(position: Int) -> Int64 { keys[position] }

  func position(of key: Int64, _ order: KeyOrder?) -> Int? {
    guard let order else { return keys.position(of: key) { $0 < key } }
    guard let place = places[key] else { return nil }
    return keys.position(of: key) { order.isBefore(places[$0]!, place) }
  }

  /// - Parameter isOrdered: whether there is an order.
  func isThere(_ key: Int64, isOrdered: Bool) -> Bool {
    isOrdered ? places[key] != nil : position(of: key, nil) != nil
  }

  mutating func remove(_ key: Int64, _ order: KeyOrder?) {
    guard let order else {
      log?.note(key, nil)
      return keys.remove(key) { $0 < key }
    }
    guard let place = places[key] else { return }
    keys.remove(key) { order.isBefore(places[$0]!, place) }
    places[key] = nil
    log?.note(key, place)
  }

  /// - Parameter object: its key.
  mutating func insert(_ key: Int64, _ object: Int64, _ order: KeyOrder?) {
    log?.note(key, nil)
    guard let order else { return keys.insert(key) { $0 < key } }
    guard let place = order.place(of: KeyedElement(key: object, rank: key)) else { return }
    keys.insert(key) { order.isBefore(places[$0]!, place) }
    places[key] = place
  }
}

/// The elements among which distinct ones are chosen, by their values: the first of each group is
/// chosen.
private struct PassingGroups {
  private let ordering: PlanOrdering
  /// By which the first of a group is chosen.
  private let paths: KeyedQuery.Paths
  private var members: [[UInt8]: OrderedKeys] = [:]
  private var groupByRank: [Int64: [UInt8]] = [:]

  /// - Parameters:
  ///   - ranks: in the order in which the first ones are chosen.
  ///   - item: the key of a rank's object, or the position of its value.
  init(
    _ distinct: PassingQuery.Distinct, _ ranks: [Int64], _ readers: PlanReaders,
    _ subjects: SubjectReader, _ item: (Int64) -> Int64? = { $0 }
  ) {
    ordering = distinct.ordering
    paths = distinct.paths
    var found: [[UInt8]: [Int64]] = [:]
    groupByRank.reserveCapacity(ranks.count)
    for rank in ranks {
      guard let key = item(rank), let group = ordering.group(of: key, readers, subjects)
      else { continue }
      found[group, default: []].append(rank)
      groupByRank[rank] = group
    }
    let order = makeOrder(readers, subjects)
    members = found.mapValues { OrderedKeys($0, order, item) }
  }

  /// Those that are chosen.
  var firsts: Set<Int64> { Set(members.values.compactMap(\.first)) }

  private func makeOrder(_ readers: PlanReaders, _ subjects: SubjectReader) -> KeyOrder? {
    paths.isEmpty ? nil : KeyOrder(paths, readers, subjects)
  }

  /// Takes an element out; the next one of its group is chosen, if it was.
  mutating func remove(
    _ rank: Int64, from chosen: inout OrderedKeys, _ shown: KeyOrder?, _ readers: PlanReaders,
    _ subjects: SubjectReader, _ item: (Int64) -> Int64?
  ) {
    guard let group = groupByRank.removeValue(forKey: rank) else { return }
    let wasFirst = members[group]?.first == rank
    let order = makeOrder(readers, subjects)
    members[group]?.remove(rank, order)
    if members[group]?.count == 0 { members[group] = nil }
    guard wasFirst else { return }
    chosen.remove(rank, shown)
    if let next = members[group]?.first, let key = item(next) { chosen.insert(next, key, shown) }
  }

  /// Adds an element, which is chosen if it is the first one of its group.
  mutating func insert(
    _ rank: Int64, _ key: Int64, into chosen: inout OrderedKeys, _ shown: KeyOrder?,
    _ readers: PlanReaders, _ subjects: SubjectReader
  ) {
    guard let group = ordering.group(of: key, readers, subjects) else { return }
    groupByRank[rank] = group
    let first = members[group]?.first
    let order = makeOrder(readers, subjects)
    members[group, default: OrderedKeys([], nil)].insert(rank, key, order)
    guard members[group]?.first == rank else { return }
    if let first { chosen.remove(first, shown) }
    chosen.insert(rank, key, shown)
  }
}
