// A Realm's step from one version to a newer one, as trackers see it: what changed, and both versions to
// look things up. One step is shared by all trackers of a Realm, so that what several of them need is found
// once.
internal import ObjectStore
internal import Storage

/// A step of a Realm from the version that its observers know to the one on which it stands.
///
/// Used where the Realm may be used, while it stands there.
final class VersionStep {
  /// The version that the observers know.
  let old: ConfinedRealm
  /// The Realm, on the newer version.
  let new: ConfinedRealm
  let changes: ChangeSet

  /// - Parameters:
  ///   - old: the frozen form of the Realm on the version that its observers know.
  ///   - new: the Realm, outside of a write transaction.
  init(from old: ConfinedRealm, to new: ConfinedRealm) {
    self.old = old
    self.new = new
    let (first, last) = (old.currentSnapshot(), new.currentSnapshot())
    changes =
      ChangeHistory.of(new.store).changes(after: first.version, through: last.version)
      ?? ChangeSet.between(first, last)
  }

  /// For tests: a step whose changes were found in another way.
  init(from old: ConfinedRealm, to new: ConfinedRealm, _ changes: ChangeSet) {
    self.old = old
    self.new = new
    self.changes = changes
  }
}
