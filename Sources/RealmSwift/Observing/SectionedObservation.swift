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
  private var shape: SectionShape?

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
      shape = observed.source.shape()
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
    guard let change = tracker?.advance(step), let older = shape else { return nil }
    let place = AdvancedSections.Place(before: ObjectIdentifier(older), keyPaths: keyPaths)
    // Observers of the same sections are told the same.
    let advanced =
      step.advancedSections[place] ?? AdvancedSections(older, observed.source.shape(), change)
    step.advancedSections[place] = advanced
    shape = advanced.after
    guard let key = observed.key else { return advanced.change }
    let identity = ValueIdentity(key: key)
    var sections = advanced.change
    sections.keep(
      older.keys.firstIndex(of: identity), advanced.after.keys.firstIndex(of: identity))
    return sections.isEmpty ? nil : sections
  }
}

/// What has become of sections that several observers know, in one step.
struct AdvancedSections {
  /// Which sections they were, and what counts as a change of their elements.
  struct Place: Hashable {
    let before: ObjectIdentifier
    let keyPaths: [String]?
  }

  /// Kept, so that nothing else is taken for them.
  let before: SectionShape
  let after: SectionShape
  let change: SectionChange

  init(_ before: SectionShape, _ after: SectionShape, _ change: CollectionChange) {
    self.before = before
    self.after = after
    self.change = SectionChange(from: before, to: after, change)
  }
}

/// Which sections there are, and where in them each element of the results is.
final class SectionShape {
  let keys: [ValueIdentity]
  /// The place of each element, by its position among all.
  let places: [Place]

  struct Place: Comparable {
    var section: Int
    var item: Int

    var path: IndexPath { [section, item] }

    static func < (left: Place, right: Place) -> Bool {
      (left.section, left.item) < (right.section, right.item)
    }
  }

  init<Key, Element>(_ sections: SectionSource<Key, Element>.Sections) {
    keys = sections.identities
    var places = Array(
      repeating: Place(section: 0, item: 0),
      count: sections.positions.reduce(0) { $0 + $1.count })
    for (section, positions) in sections.positions.enumerated() {
      for (item, position) in positions.enumerated() {
        places[position] = Place(section: section, item: item)
      }
    }
    self.places = places
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
    let stayingAt = older.keys.indices.map { staying[$0] ?? -1 }
    var gone = change.deletions.map { older.places[$0] }
    var new = change.insertions.map { newer.places[$0] }
    var changed: [SectionShape.Place] = []
    // Those that are neither gone nor new are in the same order in both.
    var (before, after) = (0, 0)
    var (nextGone, nextNew, nextChanged) = (0, 0, 0)
    while true {
      while nextGone < change.deletions.count, change.deletions[nextGone] == before {
        (before, nextGone) = (before + 1, nextGone + 1)
      }
      while nextNew < change.insertions.count, change.insertions[nextNew] == after {
        (after, nextNew) = (after + 1, nextNew + 1)
      }
      guard before < older.places.count, after < newer.places.count else { break }
      let (place, newPlace) = (older.places[before], newer.places[after])
      while nextChanged < change.modifications.count, change.modifications[nextChanged] < after {
        nextChanged += 1
      }
      if stayingAt[place.section] != newPlace.section {
        gone.append(place)
        new.append(newPlace)
      } else if nextChanged < change.modifications.count, change.modifications[nextChanged] == after
      {
        changed.append(newPlace)
      }
      (before, after) = (before + 1, after + 1)
    }
    deletions = gone.sorted().map(\.path)
    insertions = new.sorted().map(\.path)
    modifications = changed.sorted().map(\.path)
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
