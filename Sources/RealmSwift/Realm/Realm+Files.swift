// What is done with files of Realms that are not open, or open elsewhere.
public import Foundation
internal import ObjectStore
internal import Platform
internal import Storage

extension Realm {
  /// Whether the file of a configuration is there.
  ///
  /// False for a Realm in memory.
  public static func fileExists(for configuration: Configuration) -> Bool {
    guard let path = configuration.fileURL?.path else { return false }
    return Store.fileExists(path: path, fileSystem: LinuxFileSystem())
  }

  /// Removes the files of a configuration.
  ///
  /// - Returns: whether there were any.
  /// - Throws: `Realm.Error.alreadyOpen` while this or another process uses the file.
  @discardableResult
  public static func deleteFiles(for configuration: Configuration) throws -> Bool {
    guard let path = configuration.fileURL?.path else { return false }
    return try mappingErrors { () throws(StorageError) in
      try Store.deleteFiles(path: path, fileSystem: LinuxFileSystem())
    }
  }

  /// Makes a file as small as its content.
  ///
  /// The file may be in use: then what no version needs any more is moved out and cut off as far as
  /// the versions that are held allow.
  /// - Returns: whether the file is small now; false when versions that are held, in this process
  ///   or another, stopped it, when a write transaction of the file is open where the caller runs,
  ///   and for a Realm in memory.
  /// - Throws: `Realm.Error`: `fileNotFound`, and what opening throws.
  @discardableResult
  public static func compact(configuration: Configuration = .defaultConfiguration) throws -> Bool {
    guard let path = configuration.fileURL?.path else { return false }
    return try mappingErrors { () throws(StorageError) in
      let options = configuration.storeOptions
      guard Store.fileExists(path: path, fileSystem: options.fileSystem) else {
        throw StorageError.fileNotFound(path: path)
      }
      return try Store.compact(options, unless: WritersHere.have)
    }
  }

  /// Brings a file to the classes and the schema version of a configuration, without opening a
  /// Realm.
  ///
  /// - Throws: `Realm.Error`: `alreadyOpen` while this process uses the file, and what opening
  ///   throws.
  public static func performMigration(for configuration: Configuration = .defaultConfiguration)
    throws
  {
    if let path = configuration.fileURL?.path,
      Store.isOpen(path: path, fileSystem: LinuxFileSystem())
    {
      throw Realm.Error(
        .alreadyOpen, "Cannot migrate Realms that are already open.", path: path)
    }
    _ = try RealmOpening(configuration).open()
  }
}

// MARK: - Copies

extension Realm {
  /// Writes a compact copy of what the Realm shows to a new file.
  ///
  /// Inside of a transaction its changes so far are in the copy.
  /// - Parameters:
  ///   - fileURL: where to; nothing may be there.
  ///   - encryptionKey: 64 bytes to encrypt the copy with.
  /// - Throws: `Realm.Error`: `fileExists`, `fileNotFound` when the folder is missing, and what the
  ///   disk says. Nothing is left behind then.
  /// - Complexity: O(content).
  public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
    try checkKeyLength(encryptionKey, fileURL.path)
    let key = encryptionKey.map { [UInt8]($0) }
    confined.check()
    try mappingErrors { () throws(StorageError) in
      if confined.writing != nil {
        try confined.settledTransaction().writeCopy(to: fileURL.path, encryptionKey: key)
      } else {
        try confined.store.writeCopy(
          to: fileURL.path, of: confined.currentSnapshot(), encryptionKey: key)
      }
    }
  }

  /// Writes a compact copy of what the Realm shows to the file of a configuration, with its key.
  ///
  /// - Throws: as the other form; also inside of a transaction, and when the configuration has no
  ///   file.
  public func writeCopy(configuration: Configuration) throws {
    confined.check()
    if confined.writing != nil {
      throw Realm.Error(
        .fail, "A copy for a configuration cannot be written inside of a write transaction.",
        path: configuration.fileURL?.path)
    }
    guard let fileURL = configuration.fileURL else {
      throw Realm.Error(
        .invalidInput, "A copy can only be written to a file: the configuration has none.",
        path: nil)
    }
    try writeCopy(toFile: fileURL, encryptionKey: configuration.encryptionKey)
  }
}

/// The schema version of a Realm file.
///
/// The file is not changed. It may be open, here and in other processes.
/// - Parameters:
///   - fileURL: the file.
///   - encryptionKey: the key of an encrypted file.
/// - Throws: `Realm.Error`: `fileNotFound`, `invalidDatabase` and others.
public func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
  try checkKeyLength(encryptionKey, fileURL.path)
  return try mappingErrors { () throws(StorageError) in
    try Store.withNewestVersion(
      path: fileURL.path, encryptionKey: encryptionKey.map { [UInt8]($0) },
      fileSystem: LinuxFileSystem()
    ) { snapshot throws(StorageError) in
      try StoredSchema.load(snapshot.reader, root: snapshot.root).schemaVersion
    }
  }
}
