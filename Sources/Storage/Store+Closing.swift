// The end of a store, and the removal of its files.
package import Platform

extension Store {
  /// Called once, when the last user has gone.
  func close() {
    // In a forked child the file and all that waits for it are the parent's.
    if lockFile.isForked { return }
    maintenance.state.withLock { $0.isClosing = true }
    maintenance.state.notifyAll()
    closeLog()
    let isInOrder = !isReadOnly && !isInMemory && leaveDurableMark()
    writer = nil
    pipeline.stop()
    snapshots.unpublish()
    let generation = isInOrder ? (try? Store.readHeader(file))?.generation : nil
    lockFile.close(generation: generation)
    maintenance.state.withLock { $0.isClosed = true }
    maintenance.state.notifyAll()
  }

  /// Notes the durable version in the header, so that the next opening can tell a lost record from
  /// one that never was.
  ///
  /// A hint: written without a sync, and only when nobody else could write.
  /// - Returns: whether nobody else had the file open and all is in order.
  private func leaveDurableMark() -> Bool {
    // No writer: the opening failed, and what cannot be opened is left as it is.
    guard writer != nil, pipeline.failure == nil, lockFile.syncFailure == nil,
      isNewestVersionFound, (try? lockFile.tryAcquireWriteLock()) == true
    else { return false }
    defer { lockFile.releaseWriteLock() }
    // With the lock: whoever comes later reads there what is written here.
    guard lockFile.otherProcesses == 0 else { return false }
    guard var header = try? Store.readHeader(file) else { return false }
    if header.flags.contains(.unsynced) {
      guard (try? lockFile.closingSync(file)) != nil else { return false }
      header.flags.remove(.unsynced)
    }
    if header.isLogged {
      endLog(&header)
      return lockFile.syncFailure == nil
    }
    guard header.durableMark != newestVersion.rawValue || header.flags != self.header.flags
    else { return true }
    header.durableMark = newestVersion.rawValue
    guard (try? Store.write(header, to: file)) != nil else { return false }
    // Else a power cut soon after a clean end would still find a file that was used without syncs.
    return durability == .full || (try? lockFile.synchronize(file)) != nil
  }

  /// Whether the head is a version that this process has found in the file: what somebody else has
  /// written to the lock file must not get into the header.
  private var isNewestVersionFound: Bool {
    if pipeline.durable?.version != newestVersion { try? adoptPublished() }
    return pipeline.durable?.version == newestVersion
  }

  /// Writes the copy of the header that is the older one.
  static func write(_ header: FileHeader, to file: any File) throws(SystemError) {
    var next = header
    next.sequence += 1
    let offset = FileHeader.copies[Int(next.sequence % 2)]
    let bytes = next.encoded()
    var failure: SystemError?
    bytes.withUnsafeBytes { buffer in
      do throws(SystemError) { try file.write(buffer, at: offset) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Marks a file that is about to be written without syncs, or refuses one that was before a
  /// reboot.
  static func agreeOnDurability(
    _ header: FileHeader, _ file: any File, _ options: StoreOptions, _ lockFile: LockFile,
    _ boot: UInt64
  ) throws(StorageError) -> FileHeader {
    try refuseOtherDurability(header, file, options, lockFile, boot)
    if options.isReadOnly { return header }
    let isUnsynced = options.durability == .memory
    // The sync that made up for those left out may have failed. Any page may be the one that the
    // disk does not have and the kernel thinks clean.
    let isInDoubt =
      header.flags.contains(.unsynced) && lockFile.isFirstOpener
      && (lockFile.head.isUnknown || lockFile.inheritsSyncFailure)
    // After a failed sync nobody knows whether the mark has reached the disk.
    let isUncertain = isUnsynced && lockFile.syncFailure != nil
    // Without syncs the mark is read with the lock in any case: another process that closes the
    // file may be about to take it away.
    guard isUnsynced || header.flags.contains(.unsynced) else { return header }
    // Nobody else may write meanwhile.
    try lockFile.acquireWriteLock()
    defer { lockFile.releaseWriteLock() }
    var header = try readHeader(file)
    try refuseOtherDurability(header, file, options, lockFile, boot)
    if isInDoubt { try rewriteAll(file) }
    guard header.flags.contains(.unsynced) != isUnsynced || isUncertain else { return header }
    if isUnsynced { header.flags.insert(.unsynced) } else { header.flags.remove(.unsynced) }
    header.bootIdentifier = boot
    try converting { () throws(SystemError) in try lockFile.synchronize(file) }
    header = try written(header, to: file)
    try converting { () throws(SystemError) in try lockFile.synchronize(file) }
    return header
  }

  /// Stops what a reboot has met in use without syncs, and who would sync what a process that has
  /// only pins left has not come to sync at its end.
  ///
  /// That all who write do it in one way is seen to by the lock file.
  private static func refuseOtherDurability(
    _ header: FileHeader, _ file: any File, _ options: StoreOptions, _ lockFile: LockFile,
    _ boot: UInt64
  ) throws(StorageError) {
    guard header.flags.contains(.unsynced) else { return }
    guard header.bootIdentifier == boot else {
      throw .notADatabase(
        path: file.path,
        reason: "it was last used without sync and the machine has been restarted since")
    }
    if options.durability == .full, lockFile.isFirstWriter, lockFile.otherProcesses > 0 {
      throw .alreadyOpen(path: file.path, reason: "without sync, in another process")
    }
  }

  /// What a file is, and up to which version it was seen.
  package struct FileState: Equatable, Sendable {
    fileprivate let identifierHigh: UInt64
    fileprivate let identifierLow: UInt64
    fileprivate let version: Version

    fileprivate init(_ header: FileHeader, _ version: Version) {
      identifierHigh = header.identifierHigh
      identifierLow = header.identifierLow
      self.version = version
    }
  }

  /// That of the store's file with a version.
  package func fileState(_ version: Version) -> FileState {
    FileState(header, version)
  }

  /// Removes the file, its lock file and its log.
  ///
  /// - Parameter state: only a file that is still so is removed; nil for any file.
  /// - Returns: whether there was such a file.
  /// - Throws: `alreadyOpen` when this or another process uses it.
  package static func deleteFiles(
    path: String, fileSystem: any FileSystem, only state: FileState? = nil
  ) throws(StorageError) -> Bool {
    let given = path
    let path = try followingLinks(path, fileSystem)
    if let state, try !isStill(state, path, fileSystem) { return false }
    if isOpen(path: given, fileSystem: fileSystem) {
      throw .alreadyOpen(path: given, reason: "close every Realm that uses it first")
    }
    guard fileSystem.exists(path) else { return false }
    let isRemoved = try LockFile.withExclusiveUse(dataPath: path, fileSystem: fileSystem) {
      () throws(StorageError) in
      if let state, try !isStill(state, path, fileSystem) { return false }
      if try converting({ () throws(SystemError) in try isShared(path, fileSystem) }) {
        throw .alreadyOpen(path: path, reason: "by another name, or its lock file was deleted")
      }
      try converting { () throws(SystemError) in
        try fileSystem.remove(path)
        // The lock file last: without it others make a new file and its log, and use them.
        let others = [
          FileCopy.unfinishedPath(path), CommitLog.path(path), CommitLog.unfinishedPath(path),
          path + ".lock",
        ]
        for other in others { try removeIfThere(other, fileSystem) }
        try fileSystem.synchronizeFolder(parentFolder(of: path))
      }
      return true
    }
    // A map that is kept would keep the space on the disk.
    if isRemoved { Spares.drop() }
    return isRemoved
  }

  private static func removeIfThere(
    _ path: String, _ fileSystem: any FileSystem
  ) throws(SystemError) {
    guard fileSystem.exists(path) else { return }
    do throws(SystemError) { try fileSystem.remove(path) } catch {
      // Who makes the file anew may have finished it meanwhile.
      guard error.isMissing else { throw error }
    }
  }

  /// Whether a file is as it was seen; not when somebody has replaced it or written to it.
  private static func isStill(
    _ state: FileState, _ path: String, _ fileSystem: any FileSystem
  ) throws(StorageError) -> Bool {
    let file: any File
    do throws(SystemError) { file = try fileSystem.open(path, .noFollow) } catch {
      if error.isMissing { return false }
      throw openingError(error, path: path)
    }
    // One that is being made.
    guard try converting({ () throws(SystemError) in try file.length() }) > 0 else { return false }
    let version = try LockFile.versionOnceKnown(dataPath: path, fileSystem) ?? state.version
    return FileState(try readHeader(file), version) == state
  }
}
