// While somebody observes the file, transactions note what they change; at the commit that becomes
// part of the store's history.
internal import ObjectStore
internal import Storage

extension ConfinedRealm {
  /// Sees to it that the commit of a transaction brings its changes into the history.
  func keepChanges(of writing: Writing) {
    guard writing.group.isRecorded else { return }
    var changes = writing.group.recordedChanges()
    if !writing.earlierChanges.tables.isEmpty {
      var all = writing.earlierChanges
      all.merge(changes)
      changes = all
    }
    let recorded = changes
    let history = history
    let transaction = writing.transaction
    let (base, version) = (transaction.base.version, transaction.version)
    transaction.willBecomeVisible = {
      history.append(recorded, base: base, version: version)
    }
  }
}
