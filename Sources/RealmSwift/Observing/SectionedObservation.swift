// The observation of sections: what has happened to the elements, by the sections in which they
// were and are.
public import Foundation
internal import ObjectStore

/// What happened to observed sections.
///
/// Deletions are places before the changes; insertions and modifications are places after them. An
/// element of a section that comes or goes is told, too. An element that moved to another section,
/// and a section that moved behind or before others, is gone at one place and new at the other. All
/// are sorted.
@frozen
public enum SectionedResultsChange<CollectionType> {
  /// The first call: the sections as they are.
  case initial(CollectionType)
  /// The sections have changed, or their elements have.
  case update(
    CollectionType, deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath],
    sectionsToInsert: IndexSet, sectionsToDelete: IndexSet)
}

@available(*, unavailable)
extension SectionedResultsChange: Sendable {}

/// The observation of sections, or of one.
final class SectionedObservation<Subject: RealmSectionedResult>: Observation {
  private let subject: Subject
  private let observed: _ObservedSections<Subject.Key, Subject.SectionElement>
  private let keyPaths: [String]?
  private let callback: (SectionedResultsChange<Subject>) -> Void
  /// Follows the elements from the first call on.
  private var tracker: CollectionTracker?
  /// The sections as the observer knows them.
  private var shape = SectionShape()

  init(
    _ subject: Subject, _ realm: ConfinedRealm, _ keyPaths: [String]?,
    _ callback: @escaping (SectionedResultsChange<Subject>) -> Void
  ) {
    self.subject = subject
    observed = subject._observed
    self.keyPaths = keyPaths
    self.callback = callback
    super.init(realm)
  }

  override var hasBegun: Bool { tracker != nil }

  override var watched: Watched { tracker?.watched ?? .everything }

  override func tell(_ step: VersionStep, isOwn: Bool) -> Bool {
    if tracker == nil {
      // Gone before the first call.
      if subject.isInvalidated { return false }
      tracker = CollectionTracker.make(observed.source.results, keyPaths: keyPaths)
      shape = SectionShape(observed.source.sections())
      callback(.initial(subject))
      return true
    }
    if let change = advance(step) {
      callback(
        .update(
          subject, deletions: change.deletions, insertions: change.insertions,
          modifications: change.modifications, sectionsToInsert: change.sectionsToInsert,
          sectionsToDelete: change.sectionsToDelete))
    }
    return !subject.isInvalidated
  }

  override func skip(_ step: VersionStep) { _ = advance(step) }

  private func advance(_ step: VersionStep) -> SectionChange? {
    guard let change = tracker?.advance(step) else { return nil }
    let older = shape
    shape = SectionShape(observed.source.sections())
    var sections = SectionChange(from: older, to: shape, change)
    if let key = observed.key {
      let key = ValueIdentity(key: key)
      sections.keep(older.keys.firstIndex(of: key), shape.keys.firstIndex(of: key))
      if sections.isEmpty { return nil }
    }
    return sections
  }
}

/// Which sections there are, and where in them each element of the results is.
struct SectionShape {
  private(set) var keys: [ValueIdentity] = []
  /// The place of each element, by its position among all.
  private(set) var places: [IndexPath] = []

  init() {}

  init<Key, Element>(_ sections: SectionSource<Key, Element>.Sections) {
    keys = sections.identities
    places = Array(
      repeating: IndexPath(), count: sections.positions.values.reduce(0) { $0 + $1.count })
    for (section, key) in keys.enumerated() {
      for (item, position) in (sections.positions[key] ?? []).enumerated() {
        places[position] = [section, item]
      }
    }
  }
}

/// What happened to sections between two versions.
struct SectionChange {
  private(set) var deletions: [IndexPath] = []
  private(set) var insertions: [IndexPath] = []
  private(set) var modifications: [IndexPath] = []
  private(set) var sectionsToInsert = IndexSet()
  private(set) var sectionsToDelete = IndexSet()

  /// - Parameter change: what happened to the elements among all.
  init(from older: SectionShape, to newer: SectionShape, _ change: CollectionChange) {
    let staying = Self.staying(older.keys, newer.keys)
    sectionsToDelete = IndexSet(older.keys.indices.filter { staying[$0] == nil })
    sectionsToInsert = IndexSet(newer.keys.indices).subtracting(IndexSet(staying.values))
    let gone = IndexSet(change.deletions)
    let new = IndexSet(change.insertions)
    let changed = IndexSet(change.modifications)
    deletions = gone.map { older.places[$0] }
    insertions = new.map { newer.places[$0] }
    // Those that are neither gone nor new are in the same order in both.
    let kept = zip(
      older.places.indices.lazy.filter { !gone.contains($0) },
      newer.places.indices.lazy.filter { !new.contains($0) })
    for (before, after) in kept {
      let (place, newPlace) = (older.places[before], newer.places[after])
      if staying[place[0]] != newPlace[0] {
        deletions.append(place)
        insertions.append(newPlace)
      } else if changed.contains(after) {
        modifications.append(newPlace)
      }
    }
    deletions.sort()
    insertions.sort()
    modifications.sort()
  }

  var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && sectionsToInsert.isEmpty
      && sectionsToDelete.isEmpty
  }

  /// Leaves out all but one section, given where it was and is.
  mutating func keep(_ older: Int?, _ newer: Int?) {
    deletions.removeAll { $0[0] != older }
    insertions.removeAll { $0[0] != newer }
    modifications.removeAll { $0[0] != newer }
    sectionsToDelete.formIntersection(IndexSet(older.map { [$0] } ?? []))
    sectionsToInsert.formIntersection(IndexSet(newer.map { [$0] } ?? []))
  }

  /// The new positions, by the old ones, of the most sections that are in the same order in both.
  private static func staying(
    _ older: [ValueIdentity], _ newer: [ValueIdentity]
  ) -> [Int: Int] {
    let positions = Dictionary(uniqueKeysWithValues: newer.enumerated().map { ($1, $0) })
    let places = older.map { positions[$0] }
    var staying: [Int: Int] = [:]
    for (old, isStaying) in LongestAscent.of(places).enumerated() where isStaying {
      staying[old] = places[old]
    }
    return staying
  }
}
