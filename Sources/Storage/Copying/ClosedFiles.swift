// Questions about a file that this process need not have open.
package import Platform

extension Store {
  /// Whether there is a file.
  package static func fileExists(path: String, fileSystem: any FileSystem) -> Bool {
    fileSystem.exists(path) && !fileSystem.isDirectory(path)
  }

  /// Whether this process or another one has the file open.
  package static func isOpenAnywhere(
    path: String, fileSystem: any FileSystem
  ) throws(StorageError) -> Bool {
    if isOpen(path: path, fileSystem: fileSystem) { return true }
    let path = try followingLinks(path, fileSystem)
    do throws(SystemError) {
      if try isShared(path, fileSystem) { return true }
      return try fileSystem.open(path + ".lock", []).isByteLocked(LockByte.use)
    } catch {
      if error.isMissing { return false }
      throw openingError(error, path: path)
    }
  }

  /// Whether anybody has the file open, by whatever lock file, which may be gone, or without one.
  static func isShared(
    _ path: String, _ fileSystem: any FileSystem
  ) throws(SystemError) -> Bool {
    guard fileSystem.exists(path) else { return false }
    return try fileSystem.open(path, []).lockedByte(in: DataByte.all) != nil
  }

  /// Reads the newest version of a file, whatever settings it is open with, and lets go of it.
  ///
  /// - Parameter body: gets the version, pinned.
  /// - Throws: `fileNotFound`, what opening throws and what `body` throws. Nothing is made or
  ///   written.
  package static func withNewestVersion<Value>(
    path: String, encryptionKey: [UInt8]? = nil, fileSystem: any FileSystem,
    _ body: (Snapshot) throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    let store = try storeToRead(path, encryptionKey, fileSystem)
    let snapshot = try store.pinNewest()
    defer { withExtendedLifetime(store) {} }
    return try body(snapshot)
  }

  /// Copies the newest version of a file, whatever settings it is open with, to a new one.
  ///
  /// - Throws: `fileNotFound`, `fileExists`, and what opening and copying throw.
  package static func copyFile(
    _ path: String, toNew newPath: String, encryptionKey: [UInt8]? = nil,
    fileSystem: any FileSystem
  ) throws(StorageError) {
    try storeToRead(path, encryptionKey, fileSystem)
      .writeCopy(to: newPath, encryptionKey: encryptionKey)
  }

  /// The store of a file: the one that is open here, else one that nobody shares.
  private static func storeToRead(
    _ path: String, _ encryptionKey: [UInt8]?, _ fileSystem: any FileSystem
  ) throws(StorageError) -> Store {
    let options = try followingLinks(
      StoreOptions(
        path: path, isReadOnly: true, fileSystem: fileSystem, encryptionKey: encryptionKey))
    return try StoreRegistry.of(fileSystem).withLock { (registry) throws(StorageError) -> Store in
      while true {
        let file = try openFile(options)
        let identity = try converting { () throws(SystemError) in try file.identity() }
        if let store = registry.byFile[identity]?.store {
          try store.checkKey(encryptionKey)
          return store
        }
        // The settings of others must not depend on this one.
        if let store = try openStore(file, identity, options) { return store }
      }
    }
  }
}
