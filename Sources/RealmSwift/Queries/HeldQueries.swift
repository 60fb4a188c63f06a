// Results that a client holds while their Realm moves from version to version: their lists of
// elements are edited by what changed, so that they need not be found anew. Confined to the Realm's
// place.
//
// 1 A list is that of one version. It is edited when the Realm moves, while both versions are at
//   hand: so nothing is pinned for it.
// 2 What takes longer than to find the elements anew is not done: large changes, and results that
//   were not asked for some moves, cost a look and their list.
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
    var distinct = DistinctState()
  }

  /// What distinct results need besides their list: what is chosen among equal elements depends on
  /// those that were not chosen.
  private struct DistinctState {
    /// How often the elements were to be found anew.
    var findings = 0
    /// All elements by their values, and the version that they are of.
    var groups: (of: [DistinctGroups], version: Version)?

    /// What is known of one version holds in another one too.
    mutating func keep(from old: Version, to new: Version) {
      if groups?.version == old { groups?.version = new }
    }

    /// The groups of a version, which nobody else has then; nil when they are not known.
    mutating func take(of version: Version) -> [DistinctGroups]? {
      defer { groups = nil }
      return groups?.version == version ? groups?.of : nil
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
      // Taken out, so that nobody else has the groups while they are edited.
      var distinct = entries[index].distinct
      entries[index].distinct = DistinctState()
      if follow(query, resolved, &distinct, step, from: old.version, to: new.version) {
        entries[index].distinct = distinct
      } else {
        entries.remove(at: index)
        query.forget()
      }
    }
  }

  /// Edits the list of a query; false when that takes longer than to find it anew.
  private func follow(
    _ query: any HeldQuery, _ resolved: QueryTracker.Resolved, _ distinct: inout DistinctState,
    _ step: VersionStep, from old: Version, to new: Version
  ) -> Bool {
    let changed = resolved.tables.filter { step.changes($0)?.isEmpty == false }
    if changed.isEmpty {
      distinct.keep(from: old, to: new)
      query.keep(from: old, to: new)
      return true
    }
    guard let keyed = resolved.keyed, case .table = keyed.source else { return false }
    let affected = step.reaching(resolved.dependencies)
    let own = step.changes(keyed.table)
    var count = affected.count + (own?.deleted.count ?? 0)
    if own?.isCleared == true { return false }
    let most = max(64, step.reader(keyed.table).count / Self.shareMax)
    step.forEachNew(keyed.table) { _ in
      count += 1
      return count <= most
    }
    if count > most { return false }
    if count == 0 {
      distinct.keep(from: old, to: new)
      query.keep(from: old, to: new)
      return true
    }
    if PlantedBug.heldMoveMissed.isActive {
      distinct.keep(from: old, to: new)
      query.keep(from: old, to: new)
      return true
    }
    let isDistinct = !keyed.distinct.isEmpty
    var groups = isDistinct ? distinct.take(of: old) : []
    guard groups != nil,
      let tracker = query.knownItems(of: old).map({ QueryTracker(query, resolved, items: $0) })
    else { return isDistinct && findAnew(query, resolved, &distinct, at: new) }
    // Who has the list and the groups alone edits them where they are.
    swap(&tracker.groups, &groups!)
    query.forget()
    guard tracker.advance(keyed, step, affected: affected, changed: step.noObjects) != nil else {
      return false
    }
    if isDistinct { distinct.groups = (tracker.groups, new) }
    return true
  }

  /// Has distinct elements found anew by who asks next, or now, together with their groups.
  private func findAnew(
    _ query: any HeldQuery, _ resolved: QueryTracker.Resolved, _ distinct: inout DistinctState,
    at new: Version
  ) -> Bool {
    query.forget()
    distinct.findings += 1
    if distinct.findings < distinctFindingsMax.load(ordering: .relaxed) { return true }
    distinct.findings = 0
    let items = query.findItems()
    let tracker = QueryTracker(query, resolved, items: items)
    tracker.prepare(resolved.keyed)
    distinct.groups = (tracker.groups, new)
    query.adopt(items)
    return true
  }
}
