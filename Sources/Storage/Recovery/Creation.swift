// New files. One is written whole under another name, `NAME.unfinished`, and synced before it gets
// its own: whatever interrupts that, there is a file that opens or none. It takes nobody's place
// but that of an empty file of which nothing is known. Two processes that come at once end up on
// one file.
internal import Platform

extension Store {
  /// Opens the file; makes it where there is none.
  ///
  /// - Returns: nil when there is one now.
  static func openOrMakeFile(_ options: StoreOptions) throws(StorageError) -> (any File)? {
    do throws(StorageError) {
      return try openFile(options)
    } catch {
      guard !options.isReadOnly, case .fileNotFound = error else { throw error }
      if options.fileSystem.isOnNetwork(options.path) { throw networkError(options.path) }
      try makeFile(options, replacing: nil)
      return nil
    }
  }

  /// Makes a file in the place of an empty one, as programs make them to reserve a name.
  ///
  /// - Throws: `notADatabase` to who only reads, and where the lock file tells that it was not
  ///   empty.
  static func replaceEmpty(_ file: any File, _ options: StoreOptions) throws(StorageError) {
    let path = options.path
    guard !options.isReadOnly else { throw .notADatabase(path: path, reason: "it is empty") }
    // Far behind any data, so that it never hinders another lock. Who replaces the file has it.
    _ = try converting { () throws(SystemError) in
      try file.lockByte(creationLockByte, exclusive: true, wait: true)
    }
    defer { try? file.unlockByte(creationLockByte) }
    let (length, isStill) = try converting { () throws(SystemError) in
      (try file.length(), try leads(path, to: file.identity(), options.fileSystem))
    }
    guard length == 0, isStill else { return }
    if let version = try LockFile.versionOnceKnown(dataPath: path, options.fileSystem) {
      throw .notADatabase(
        path: path,
        reason: "it is empty, but held version \(version) when it was used last, as its lock file "
          + "tells. Restore a backup; to begin anew remove it and '\(path).lock'")
    }
    try makeFile(options, replacing: file)
  }

  /// Locked in a file that is being made.
  static let creationLockByte: Int64 = 1 << 50

  /// Makes a new file, unless somebody else has done so meanwhile.
  ///
  /// Durable on return; its name becomes so when it is opened.
  private static func makeFile(
    _ options: StoreOptions, replacing empty: (any File)?
  ) throws(StorageError) {
    let (path, fileSystem) = (options.path, options.fileSystem)
    let unfinished = FileCopy.unfinishedPath(path)
    let file = try FileCopy.openUnfinished(path, fileSystem, waits: true)
    // Who has its lock is the only one to make a file of this name.
    if empty == nil, fileSystem.exists(path) {
      try? fileSystem.remove(unfinished)
      return
    }
    do throws(StorageError) {
      if PlantedBug.headerBeforeData.isActive {
        try converting { () throws(SystemError) in try fileSystem.rename(unfinished, to: path) }
        _ = try writeEmpty(file, key: options.encryptionKey)
        return
      }
      _ = try writeEmpty(file, key: options.encryptionKey)
      try converting { () throws(SystemError) in
        if let empty { try file.setPermissions(try empty.permissions()) }
        try file.synchronize()
        if empty != nil {
          try fileSystem.rename(unfinished, to: path)
        } else {
          try fileSystem.rename(unfinished, toNew: path)
        }
      }
      // From here on others may use it, each of whom syncs the folder first, because of the flag.
    } catch {
      // Whoever is not locked out by this has made the file: then this one has another name, or
      // none.
      let isOurs = (try? leads(unfinished, to: file.identity(), fileSystem)) == true
      if isOurs { try? fileSystem.remove(unfinished) }
      guard empty == nil, case .system(let failure) = error else { throw error }
      if failure.alreadyExists, fileSystem.exists(path) { return }
      // Whoever has deleted the file of before has taken this one along: it is made once more.
      guard failure.isMissing, !isOurs else { throw error }
    }
  }

  /// Writes first record and header, without a sync.
  static func writeEmpty(
    _ file: any File, key: [UInt8]?
  ) throws(StorageError) -> FileHeader {
    var (header, cipher) = FileHeader.makeNew(key: key)
    header.durableMark = 1
    header.flags = .nameUnsynced
    let record = CommitRecord(
      version: Version(1), root: .none, durableVersion: Version(0),
      fileLength: FileHeader.dataStart, spaceCheckpoint: .none, spaceLog: .none, commits: 0,
      contentHash: 0, extents: [], deltas: [])
    var image = [UInt8](repeating: 0, count: Int(FileHeader.dataStart))
    let encoded = header.encoded()
    for copy in FileHeader.copies {
      image.replaceSubrange(Int(copy)..<Int(copy) + encoded.count, with: encoded)
    }
    let home = Int(header.homes[0])
    let bytes = record.encoded(salt: header.salt, home: header.homes[0], cipher)!
    image.replaceSubrange(home..<home + bytes.count, with: bytes)
    try converting { () throws(SystemError) in try write(image[...], to: file, at: 0) }
    return header
  }
}
