// Who waits for a file's write lock in the place that has it would wait forever: nothing else runs
// there meanwhile that could end the transaction. This finds out before one waits.
internal import Storage

/// Transactions of the place where the caller runs.
enum WritersHere {
  /// Whether a write transaction of a file is open that only the caller's place could end: that of
  /// another Realm, or of a migration.
  ///
  /// What was left by Realms that are gone is rolled back, and a lock that is only held while
  /// observers are told is let go.
  /// - Complexity: O(Realms of the file) while somebody writes, else O(1).
  static func have(_ store: Store) -> Bool {
    guard store.isBeingWritten else { return false }
    LeftTransactions.endHere(of: store)
    // A thread that migrates, or to which a Realm is confined.
    if store.isBeingWrittenByThisThread { return true }
    for realm in RealmCache.findHere(of: store) {
      if realm.writing != nil { return true }
      realm.letGoOfHeld()
    }
    return false
  }
}
