// While somebody observes the file, transactions note what they change; at the commit that becomes
// part of the store's history. Where results are held they note it too, for these alone.
internal import ObjectStore
internal import Storage

extension ConfinedRealm {
  /// What a transaction of the Realm has changed.
  struct OwnChanges {
    let base: Version
    let version: Version
    let changes: ChangeSet
  }

  /// Sees to it that the commit of a transaction brings its changes into the history.
  func keepChanges(of writing: Writing) {
    // A commit before may have failed.
    ownChanges = nil
    let group = writing.group
    guard group.recording != .nothing, var changes = group.recordedChanges() else { return }
    if !writing.earlierChanges.tables.isEmpty {
      var all = writing.earlierChanges
      all.merge(changes)
      changes = all
    }
    let recorded = changes
    let history = history
    let transaction = writing.transaction
    let (base, version) = (transaction.base.version, transaction.version)
    ownChanges = OwnChanges(base: base, version: version, changes: recorded)
    guard group.recording == .everything else { return }
    transaction.willBecomeVisible = {
      history.append(recorded, base: base, version: version)
    }
  }
}
