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
  /// Follow what the keys are made of; none where the tracker does.
  ///
  /// An element can come to another section without a change of its place.
  private var keyTrackers: [CollectionTracker] = []
  /// Whether these tell of all elements that may have another key, as these are made of the
  /// elements' own values.
  private var followsOwnValues = false
  /// The sections as the observer knows them.
  private var sections: FoundSections<Subject.Key>?

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

  override var watched: Watched {
    guard let tracker else { return .everything }
    return keyTrackers.reduce(tracker.watched) { $0.union($1.watched) }
  }

  override func tell(_ step: VersionStep, isOwn: Bool) -> Bool {
    guard let tracker else {
      // Gone before the first call.
      if subject.isInvalidated { return false }
      begin()
      callback(.initial(subject))
      return true
    }
    if let change = advance(tracker, step) {
      callback(
        .update(
          subject, deletions: change.deletions, insertions: change.insertions,
          modifications: change.modifications, sectionsToInsert: change.sectionsToInsert,
          sectionsToDelete: change.sectionsToDelete))
    }
    return !subject.isInvalidated
  }

  override func skip(_ step: VersionStep) {
    if let tracker { _ = advance(tracker, step) }
  }

  private func begin() {
    let source = observed.source
    tracker = CollectionTracker.make(source.results, keyPaths: keyPaths)
    sections = source.sections()
    makeKeyTrackers()
  }

  /// Follows what the keys are made of from now on.
  private func makeKeyTrackers() {
    let source = observed.source
    followsOwnValues = source.readsOwnValues
    keyTrackers = source.keyPathsOfKeys(observedBy: keyPaths).map {
      CollectionTracker.make(source.results, keyPaths: $0)
    }
  }

  private func advance(_ tracker: CollectionTracker, _ step: VersionStep) -> SectionChange? {
    let told = tracker.advance(step)
    let toldOfKeys = keyTrackers.map { $0.advance(step) }
    guard let older = sections, told != nil || toldOfKeys.contains(where: { $0 != nil }) else {
      return nil
    }
    // All tell the same of what comes, goes and moves.
    let change = told ?? CollectionChange()
    // Observers of the same sections are told the same.
    let advanced =
      step.advancedSections[ObjectIdentifier(older)]
      ?? follow(older, change, followsOwnValues ? toldOfKeys : toldOfKeys + [told], step)
    // A key that was made now may be the first that follows a link.
    if followsOwnValues != observed.source.readsOwnValues {
      makeKeyTrackers()
      realm.observers?.watchesOther(self)
    }
    step.advancedSections[ObjectIdentifier(older)] = advanced
    // What follows from sections has keys of the same type.
    sections = unsafeDowncast(advanced.after, to: FoundSections<Subject.Key>.self)
    var sections = advanced.change(change, keyPaths)
    if let key = observed.key {
      let identity = ValueIdentity(key: key)
      sections.keep(older.number(of: identity), advanced.after.number(of: identity))
    }
    return sections.isEmpty ? nil : sections
  }

  /// - Parameter toldOfKeys: among these changes are all elements that may have another key.
  private func follow(
    _ older: FoundSections<Subject.Key>, _ change: CollectionChange,
    _ toldOfKeys: [CollectionChange?], _ step: VersionStep
  ) -> AdvancedSections {
    let source = observed.source
    if step.keepsSchema {
      let changed = Set(toldOfKeys.flatMap { $0?.modifications ?? [] }).sorted()
      if let followed = source.followed(older, change, changed: changed) {
        return AdvancedSections(older, followed.sections, followed.moved)
      }
    }
    let newer = source.sections()
    return AdvancedSections(older, newer, older.moved(to: newer, change))
  }
}

/// What has become of sections that several observers know, in one step.
final class AdvancedSections {
  /// Kept, so that nothing else is taken for them.
  let before: SectionShape
  let after: SectionShape
  private let moved: [MovedElement]
  /// By what counts as a change of the elements.
  private var changes: [[String]?: SectionChange] = [:]

  init(_ before: SectionShape, _ after: SectionShape, _ moved: [MovedElement]) {
    self.before = before
    self.after = after
    self.moved = moved
  }

  /// What has happened to the sections.
  ///
  /// - Parameter change: what has happened to their elements among all, as the key paths tell it.
  func change(_ change: CollectionChange, _ keyPaths: [String]?) -> SectionChange {
    if let known = changes[keyPaths] { return known }
    let found = SectionChange(from: before, to: after, change, moved: moved)
    changes[keyPaths] = found
    return found
  }
}
