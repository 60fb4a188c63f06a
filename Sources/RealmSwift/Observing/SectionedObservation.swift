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
  /// Follows also what makes the sections; nil where that is among the key paths.
  ///
  /// An element can come to another section without a change of its place.
  private var keyTracker: CollectionTracker?
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

  override var watched: Watched { (keyTracker ?? tracker)?.watched ?? .everything }

  override func tell(_ step: VersionStep, isOwn: Bool) -> Bool {
    if tracker == nil {
      // Gone before the first call.
      if subject.isInvalidated { return false }
      tracker = CollectionTracker.make(observed.source.results, keyPaths: keyPaths)
      if let keyPaths, let name = observed.source.keyName, !keyPaths.contains(name) {
        keyTracker = CollectionTracker.make(observed.source.results, keyPaths: keyPaths + [name])
      }
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
    let told = tracker?.advance(step)
    let toldOfKeys = keyTracker?.advance(step)
    guard let older = shape, told != nil || toldOfKeys != nil else { return nil }
    // Both tell the same of what comes, goes and moves.
    let change = told ?? CollectionChange()
    let place = AdvancedSections.Place(before: ObjectIdentifier(older), keyPaths: keyPaths)
    // Observers of the same sections are told the same.
    let advanced =
      step.advancedSections[place] ?? AdvancedSections(older, observed.source.shape(), change)
    step.advancedSections[place] = advanced
    shape = advanced.after
    guard let key = observed.key else { return advanced.change.isEmpty ? nil : advanced.change }
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
