// The observation behind a property wrapper. It has no callback: it tells those who have read the
// wrapper, once each, and only of what they have not read yet.
internal import Storage

/// Whom to tell of a property wrapper's value.
///
/// Used in its Realm's place only.
final class Readers {
  /// Those who have read the value as it is shown now.
  // Unchecked exclusivity: touched for a moment; who is told has been taken out before.
  @exclusivity(unchecked) private(set) var ofCurrent = RedrawSignal()
  /// Those who have read an older one and were not told yet.
  @exclusivity(unchecked) private var ofOlder: [RedrawSignal] = []
  /// The value's last form, when it was deleted.
  var lastForm: Any?

  /// A newer value is shown from now on, before anybody was told.
  func showNewer() {
    ofOlder.append(ofCurrent)
    ofCurrent = RedrawSignal()
  }

  /// Tells all who have read an older value than the one that is shown.
  func tellOlder() {
    let older = ofOlder
    ofOlder = []
    for signal in older { signal.send() }
  }
}

/// Follows a property wrapper's value.
final class RedrawObservation: Observation {
  private let readers: Readers
  private let value: any ThreadConfined & Followable
  private let follower: any ValueFollower
  /// The version up to which changes are known, when reading was ahead of telling.
  private var known: ConfinedRealm?

  init(
    _ value: any ThreadConfined & Followable, _ realm: ConfinedRealm, _ keyPaths: [String]?,
    _ readers: Readers
  ) {
    self.value = value
    self.readers = readers
    follower = value.makeFollower(keyPaths)
    super.init(realm)
  }

  override var watched: Watched { follower.watched }

  override func tell(_ step: VersionStep, isOwn: Bool) -> Bool {
    if advance(step) { readers.showNewer() }
    readers.tellOlder()
    return !value.isInvalidated
  }

  override func skip(_ step: VersionStep) { _ = advance(step) }

  /// Brings what is known to the Realm's version, before it is told: the value is being read.
  func catchUp() {
    guard let observers = realm.observers else { return }
    observers.noteMove()
    // Else nothing of this has changed.
    guard let base = known ?? pendingSince,
      base.currentSnapshot().version != realm.snapshot?.version
    else { return }
    let isChanged = advance(observers.step(from: base))
    known = realm.frozenApart()
    if isChanged { readers.showNewer() }
  }

  /// - Parameter step: from the version that was told last.
  private func advance(_ step: VersionStep) -> Bool {
    var step = step
    if let known {
      self.known = nil
      if known.currentSnapshot().version == realm.snapshot?.version { return false }
      step = VersionStep(from: known, to: realm)
    }
    let isChanged = follower.isChanged(by: step)
    if isChanged, value.isInvalidated { readers.lastForm = value.form(in: step.shownOld) }
    return isChanged
  }
}
