// What the harness may see of the engine beside the public API: numbers and checks.
internal import ObjectStore
package import Platform
package import Storage

extension Realm {
  /// Versions, pins and bytes of the file.
  ///
  /// Takes the write lock for a moment, so not inside a transaction.
  package func storeStatistics() throws -> StoreStatistics {
    try mappingErrors { () throws(StorageError) in try confined.store.statistics() }
  }

  /// Walks everything: the file's space, all tables, and the links between them.
  package func checkInvariants() throws -> StoreCheck {
    var check = try mappingErrors { () throws(StorageError) in
      try confined.store.checkInvariants()
    }
    confined.check()
    let snapshot = confined.currentSnapshot()
    check.findings += confined.classes.stored.checkInvariants {
      TableReader(reader: snapshot.reader, root: snapshot.root, table: $0)
    }
    return check
  }

  /// Blocks until so many threads wait for the write lock of the file; for tests, from any thread.
  package func waitForQueuedWriters(_ count: Int) { confined.store.waitForQueuedWriters(count) }

  /// Lets the store tidy up now, as it does when idle.
  package func runMaintenance() throws {
    try mappingErrors { () throws(StorageError) in try confined.store.runMaintenance() }
  }

  /// Keeps the file from being tidied while it is idle; for tests that repeat what happened.
  package func stopIdleWork() { confined.store.stopIdleWork() }

  /// The version that the Realm stands on; inside a transaction the one that it will make.
  package var currentVersion: UInt64 {
    confined.check()
    return confined.writing?.transaction.version.rawValue
      ?? confined.currentSnapshot().version.rawValue
  }
}

extension Realm.Configuration {
  /// Where the file is; nil for the machine's file system.
  ///
  /// For programs that are explored: a Realm is found by its path alone, so each disk needs names
  /// of its own.
  package var fileSystem: (any FileSystem)? {
    get { settings.fileSystem }
    set { change { $0.fileSystem = newValue } }
  }
}
