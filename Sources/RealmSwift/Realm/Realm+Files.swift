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
    return LinuxFileSystem().exists(path)
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

  /// Brings a file to the classes and the schema version of a configuration, without opening a Realm.
  ///
  /// - Throws: `Realm.Error`: `alreadyOpen` while this process uses the file, and what opening throws.
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

/// The schema version of a Realm file.
///
/// The file is not changed. It may be open, here and in other processes.
/// - Parameters:
///   - fileURL: the file.
///   - encryptionKey: the key of an encrypted file.
/// - Throws: `Realm.Error`: `fileNotFound`, `invalidDatabase` and others.
public func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
  var configuration = Realm.Configuration(fileURL: fileURL, encryptionKey: encryptionKey)
  configuration.readOnly = true
  let options = configuration.storeOptions
  let snapshot = try mappingErrors { () throws(StorageError) in
    // With whatever settings it is open already.
    if let store = Store.openedAlready(path: options.path, fileSystem: options.fileSystem) {
      return try store.pinNewest()
    }
    return try Store.open(options).pinNewest()
  }
  return StoredSchema.load(snapshot.reader, root: snapshot.root).schemaVersion
}
