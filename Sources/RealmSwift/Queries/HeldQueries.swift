// Results that a client holds while their Realm moves from version to version: their lists of
// elements are edited by what changed, so that they need not be found anew. Confined to the Realm's
// place.
//
// 1 A list is that of one version. It is edited when the Realm moves, while both versions are at
//   hand: so nothing is pinned for it.
// 2 What takes longer than to find the elements anew is not done: large changes, and results that
//   were not asked for some moves, cost a look and their list.
// 3 Sections of these results note what became of the list: HeldSections.
internal import ObjectStore
internal import Platform
internal import Storage

/// A query whose list of elements follows its Realm.
protocol HeldQuery: TrackedQuery {
  /// Whether the query was asked since the last call.
  func wasAsked() -> Bool
  /// The elements as they are now, found anew and not kept.
  func findItems() -> [Int64]
  /// The elements in a version; nil when they are not known.
  func knownItems(of version: Version) -> [Int64]?
  /// What is known of one version holds in another one too.
  func keep(from old: Version, to new: Version)
}

/// The queries of one live Realm whose lists are kept.
final class HeldQueries {
  /// In more clusters than this the versions are not compared.
  private static let clustersMax = 64
  /// A list that more than one in so many elements of changes is found anew.
  private static let shareMax = 64
  /// The elements of a collection are found anew when more objects than this may have come or gone.
  private static let affectedMax = 1_024
  /// So often they are found before they are followed.
  private static let findingsMin = 2
  /// How often the Realm may move before a query is asked again.
  private static let movesMax = 4

  // Unchecked exclusivity: only the Realm's place touches these, in short accesses that run no
  // foreign code.
  @exclusivity(unchecked) private var entries: [Entry] = []
  /// Queries that are gone are taken out when there are so many.
  @exclusivity(unchecked) private var tidiedAt = 16

  /// More queries than this are not kept.
  private static let queriesMax = 256

  private struct Entry {
    weak var query: (any HeldQuery)?
    let classes: SchemaBindings
    /// Found when the Realm moves.
    var resolved: QueryTracker.Resolved?
    var moves = 0
    /// Of distinct results: all elements by their values, since what is chosen among equal ones
    /// depends on those that were not chosen.
    var groups = Besides<[DistinctGroups]>()
    /// Of the elements of a list, set or map: their positions in it.
    var ranks = Besides<[Int64]>()
    /// The sections of its elements that follow, too.
    var sections: [WeakBox<HeldSections>] = []
  }

  /// What has become of a query's list.
  private enum Following {
    /// To find the elements anew takes less.
    case lost
    /// The same, but the list goes on when it is known again.
    case unknown
    /// It was edited. Modifications are objects that may come to another section.
    case edited(CollectionChange)
  }

  /// A step of the Realm, for one query.
  private struct Move {
    let step: VersionStep
    let old: Version
    let new: Version
    /// The objects that may come to another section.
    let changedInSections: ChangedObjects
  }

  /// What some queries need besides their list, so that it can be edited.
  private struct Besides<Value> {
    /// How often the elements were to be found anew without it.
    var findings = 0
    /// What it is, and the version that it is of.
    var known: (value: Value, version: Version)?

    /// What is known of one version holds in another one too.
    mutating func keep(from old: Version, to new: Version) {
      if known?.version == old { known?.version = new }
    }

    /// What is known of a version, which nobody else has then.
    mutating func take(of version: Version) -> Value? {
      defer { known = nil }
      return known?.version == version ? known?.value : nil
    }
  }

  var isEmpty: Bool { entries.isEmpty }

  /// Lets the list of a query follow.
  func add(_ query: any HeldQuery) {
    if entries.count >= tidiedAt {
      entries.removeAll { $0.query == nil }
      tidiedAt = max(16, 2 * entries.count)
    }
    if entries.count == Self.queriesMax || entries.contains(where: { $0.query === query }) {
      return
    }
    entries.append(Entry(query: query, classes: query.origin.realm.classes))
  }

  /// Lets sections of a query's elements follow, if these do.
  func add(_ sections: HeldSections, of query: any HeldQuery) {
    guard let index = entries.firstIndex(where: { $0.query === query }) else { return }
    entries[index].sections.removeAll { $0.value?.version == nil }
    let box = WeakBox<HeldSections>()
    box.value = sections
    entries[index].sections.append(box)
  }

  func removeAll() { entries = [] }

  /// A transaction has begun on the version on which the Realm stood.
  func didBegin(on version: Version) {
    for entry in entries { entry.query?.keep(from: version, to: version) }
  }

  /// The Realm has moved.
  ///
  /// - Parameter own: what its own transaction has changed, if that was noted.
  func didMove(
    _ realm: ConfinedRealm, from old: Snapshot, to new: Snapshot, by own: ConfinedRealm.OwnChanges?
  ) {
    var tables: Set<Int> = []
    for index in entries.indices.reversed() {
      guard let query = entries[index].query, entries[index].classes === realm.classes else {
        entries.remove(at: index)
        continue
      }
      entries[index].moves = query.wasAsked() ? 0 : entries[index].moves + 1
      if entries[index].moves > Self.movesMax {
        query.forget()
        entries.remove(at: index)
      } else {
        let resolved = entries[index].resolved ?? QueryTracker.resolve(query)
        entries[index].resolved = resolved
        tables.formUnion(resolved.tables)
        for held in entries[index].sections { tables.formUnion(held.value?.tables ?? []) }
      }
    }
    let noted = own.flatMap {
      $0.base == old.version && $0.version == new.version ? $0.changes : nil
    }
    guard !entries.isEmpty,
      let changes = noted ?? realm.history.changes(after: old.version, through: new.version)
        ?? .little(
          between: old, new, realm.classes.stored, tables: tables, clustersMax: Self.clustersMax)
    else {
      for entry in entries { entry.query?.forget() }
      entries = []
      return
    }
    let step = VersionStep(from: ConfinedRealm(freezing: realm, at: old), to: realm, changes)
    for index in entries.indices.reversed() {
      guard let query = entries[index].query, let resolved = entries[index].resolved else {
        entries.remove(at: index)
        continue
      }
      // Taken out, so that nobody else has them while they are edited.
      var (groups, ranks) = (entries[index].groups, entries[index].ranks)
      (entries[index].groups, entries[index].ranks) = (Besides(), Besides())
      var sections: [(of: HeldSections, changed: ChangedObjects)] = []
      for held in entries[index].sections {
        if let held = held.value, let changed = held.changedElements(step) {
          sections.append((held, changed))
        }
      }
      let move = Move(
        step: step, old: old.version, new: new.version,
        changedInSections: sections.count == 1
          ? sections[0].changed
          : ChangedObjects(sections.reduce(into: []) { $0.formUnion($1.changed.keys) }))
      let following =
        if case .table? = resolved.keyed?.source {
          follow(query, resolved, &groups, move)
        } else {
          follow(query, resolved, &ranks, move)
        }
      // Sections whose elements are found anew hear of it no more, and are of another version.
      if case .edited(let change) = following {
        for (held, _) in sections { held.note(change, from: old.version, to: new.version) }
      }
      if case .lost = following {
        entries.remove(at: index)
        query.forget()
      } else {
        (entries[index].groups, entries[index].ranks) = (groups, ranks)
      }
    }
  }

  /// Edits the list of a query that chooses from a list, set or map, or from the objects that link
  /// to one.
  private func follow(
    _ query: any HeldQuery, _ resolved: QueryTracker.Resolved, _ ranks: inout Besides<[Int64]>,
    _ move: Move
  ) -> Following {
    let step = move.step
    guard let keyed = resolved.keyed, keyed.distinct.isEmpty, !query.origin.isGone else {
      return .lost
    }
    if move.changedInSections.isEmpty, isUntouched(resolved, step) {
      ranks.keep(from: move.old, to: move.new)
      query.keep(from: move.old, to: move.new)
      return .edited(CollectionChange())
    }
    let affected = step.reaching(resolved.dependencies)
    if affected.count > Self.affectedMax { return .lost }
    guard
      let tracker = query.knownItems(of: move.old).map({ QueryTracker(query, resolved, items: $0) })
    else { return .unknown }
    if case .cell(let cell) = keyed.source {
      if let known = ranks.take(of: move.old) {
        tracker.ranks = known
      } else {
        // To know the positions takes as long as to find the elements: who asks once is not worth
        // it.
        ranks.findings += 1
        guard ranks.findings >= Self.findingsMin, let older = cell.elements(in: step, isOld: true)
        else {
          query.forget()
          return .unknown
        }
        tracker.ranks = cell.ranks(of: tracker.items, in: older)
      }
    }
    query.forget()
    if PlantedBug.heldMoveMissed.isActive {
      query.adopt(tracker.items)
      return .edited(CollectionChange())
    }
    guard
      let change = tracker.advance(
        keyed, step, affected: affected, changed: move.changedInSections)
    else { return .lost }
    if keyed.ranksByPosition { ranks.known = (tracker.ranks, move.new) }
    return .edited(change)
  }

  private func isUntouched(_ resolved: QueryTracker.Resolved, _ step: VersionStep) -> Bool {
    resolved.tables.allSatisfy { step.changes($0)?.isEmpty ?? true }
  }

  /// Edits the list of a query that chooses from a class.
  private func follow(
    _ query: any HeldQuery, _ resolved: QueryTracker.Resolved,
    _ distinct: inout Besides<[DistinctGroups]>, _ move: Move
  ) -> Following {
    let step = move.step
    func stays() -> Following {
      distinct.keep(from: move.old, to: move.new)
      query.keep(from: move.old, to: move.new)
      return .edited(CollectionChange())
    }
    if move.changedInSections.isEmpty, isUntouched(resolved, step) { return stays() }
    guard let keyed = resolved.keyed else { return .lost }
    let affected = step.reaching(resolved.dependencies)
    let own = step.changes(keyed.table)
    var count = affected.count + (own?.deleted.count ?? 0)
    if own?.isCleared == true { return .lost }
    let most = max(64, step.reader(keyed.table).count / Self.shareMax)
    step.forEachNew(keyed.table) { _ in
      count += 1
      return count <= most
    }
    if count > most { return .lost }
    if count == 0, move.changedInSections.isEmpty { return stays() }
    if PlantedBug.heldMoveMissed.isActive { return stays() }
    let isDistinct = !keyed.distinct.isEmpty
    var groups = isDistinct ? distinct.take(of: move.old) : []
    guard groups != nil,
      let tracker = query.knownItems(of: move.old).map({ QueryTracker(query, resolved, items: $0) })
    else { return isDistinct ? findAnew(query, resolved, &distinct, at: move.new) : .lost }
    // Who has the list and the groups alone edits them where they are.
    swap(&tracker.groups, &groups!)
    query.forget()
    guard
      let change = tracker.advance(
        keyed, step, affected: affected, changed: move.changedInSections)
    else { return .lost }
    if isDistinct { distinct.known = (tracker.groups, move.new) }
    return .edited(change)
  }

  /// Has distinct elements found anew by who asks next, or now, together with their groups.
  private func findAnew(
    _ query: any HeldQuery, _ resolved: QueryTracker.Resolved,
    _ distinct: inout Besides<[DistinctGroups]>, at new: Version
  ) -> Following {
    query.forget()
    distinct.findings += 1
    if distinct.findings < distinctFindingsMax.load(ordering: .relaxed) { return .unknown }
    distinct.findings = 0
    let items = query.findItems()
    let tracker = QueryTracker(query, resolved, items: items)
    tracker.prepare(resolved.keyed)
    distinct.known = (tracker.groups, new)
    query.adopt(items)
    return .unknown
  }
}
