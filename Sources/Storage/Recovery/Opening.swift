// Opening: one store a file in a process; a new file is made whole and durable before anyone sees
// it; an existing one is judged by its header and commit records alone, without a scan.
package import Platform

extension Store {
  /// Opens or shares the store of a file.
  ///
  /// - Throws: a typed error for everything that is not a sound file of ours, which is left
  ///   untouched.
  /// - Complexity: O(1) in the size of the file, unless `shouldCompact` asks for more.
  package static func open(_ options: StoreOptions) throws(StorageError) -> Store {
    guard let shouldCompact = options.shouldCompact else { return try openOrShare(options).store }
    return try openAndCompact(options, shouldCompact)
  }

  /// - Returns: the store, and whether someone in this process had it already.
  static func openOrShare(
    _ options: StoreOptions
  ) throws(StorageError) -> (store: Store, isShared: Bool) {
    let options = try followingLinks(options)
    // The lock is held across system calls on purpose: two threads that open one file must end up
    // with one store.
    return try StoreRegistry.of(options.fileSystem).withLock { (registry) throws(StorageError) in
      registry.forgetClosed()
      if let identifier = options.inMemoryIdentifier {
        if let store = registry.inMemory[identifier]?.store { return (store, true) }
        let store = try openInMemory(identifier, options)
        registry.inMemory[identifier] = WeakStore(store: store)
        return (store, false)
      }
      while true {
        guard let file = try openOrMakeFile(options) else { continue }
        let identity = try converting { () throws(SystemError) in try file.identity() }
        if let shared = try registry.shared(identity, options) { return (shared, true) }
        // Nil: another process deleted the file meanwhile; the next turn sees what is there now.
        guard let store = try openStore(file, identity, options) else { continue }
        registry.byFile[identity] = WeakStore(store: store)
        return (store, false)
      }
    }
  }

  /// Whether this process has the file open.
  package static func isOpen(path: String, fileSystem: any FileSystem) -> Bool {
    guard let file = try? fileSystem.open(path, []), let identity = try? file.identity() else {
      return false
    }
    return StoreRegistry.of(fileSystem).withLock { $0.isInUse(identity) }
  }

  /// Whether a path by which the store was reached still leads to its file; to one in memory any
  /// does.
  ///
  /// The system is asked at most once a millisecond: it takes as long as all else that is done for
  /// a further Realm of an open file.
  package func isReached(by path: String) -> Bool {
    if isInMemory { return true }
    let now = options.clock.nanoseconds()
    // Relaxed: at worst two threads ask.
    if now &- reachedAt.load(ordering: .relaxed) < 1_000_000 { return true }
    guard (try? Store.leads(path, to: identity, options.fileSystem)) == true else { return false }
    reachedAt.store(now, ordering: .relaxed)
    return true
  }

  func checkSettings(_ options: StoreOptions) throws(StorageError) {
    if isReadOnly != options.isReadOnly {
      throw .alreadyOpen(path: path, reason: "with different read permissions")
    }
    try checkKey(options.encryptionKey)
    if durability != options.durability, !isReadOnly {
      throw .alreadyOpen(path: path, reason: "with another durability")
    }
    if let limit = options.maximumNumberOfActiveVersions { maximumNumberOfActiveVersions = limit }
  }

  func checkKey(_ key: [UInt8]?) throws(StorageError) {
    if cipher?.check != key.map({ FileCipher(key: $0, header: header).check }) {
      throw .alreadyOpen(path: path, reason: "with different encryption key")
    }
  }

  static func converting<Value>(
    _ body: () throws(SystemError) -> Value
  ) throws(StorageError) -> Value {
    do throws(SystemError) { return try body() } catch {
      throw error.isOutOfSpace ? .diskFull(error) : .system(error)
    }
  }

  // MARK: - Files

  /// The same with the path of the file itself, beside which its lock file is, not that of a
  /// symbolic link.
  static func followingLinks(_ options: StoreOptions) throws(StorageError) -> StoreOptions {
    if options.inMemoryIdentifier != nil { return options }
    var options = options
    options.path = try followingLinks(options.path, options.fileSystem)
    return options
  }

  static func followingLinks(
    _ path: String, _ fileSystem: any FileSystem
  ) throws(StorageError) -> String {
    do throws(SystemError) { return try fileSystem.followingLinks(path) } catch {
      throw openingError(error, path: path)
    }
  }

  static func openFile(_ options: StoreOptions) throws(StorageError) -> any File {
    let fileSystem = options.fileSystem
    let path = options.path
    do throws(SystemError) {
      let file = try fileSystem.open(path, options.isReadOnly ? [] : .writable)
      if fileSystem.isOnNetwork(path) {
        throw StorageErrorBox.network
      }
      return file
    } catch {
      if error == StorageErrorBox.network { throw networkError(path) }
      if error.isMissing {
        throw !options.isReadOnly || fileSystem.exists(parentFolder(of: path))
          ? .fileNotFound(path: path) : .parentMissing(path: path)
      }
      throw openingError(error, path: path)
    }
  }

  static func networkError(_ path: String) -> StorageError {
    .unsupportedFormat(
      path: path, reason: "it lies on a network file system, whose locks cannot be trusted")
  }

  static func openingError(_ error: SystemError, path: String) -> StorageError {
    if error.isMissing { return .parentMissing(path: path) }
    if error.isPermission { return .permissionDenied(path: path, reason: error.reason) }
    if error.isDirectory { return .isDirectory(path: path) }
    return error.isOutOfSpace ? .diskFull(error) : .system(error)
  }

  static func parentFolder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func openInMemory(
    _ identifier: String, _ options: StoreOptions
  ) throws(StorageError) -> Store {
    let file = try converting { () throws(SystemError) in
      try options.fileSystem.openInMemory(name: identifier)
    }
    let identity = try converting { () throws(SystemError) in try file.identity() }
    // What never leaves the process needs no encryption.
    let header = try writeEmpty(file, key: nil)
    return try makeStore(options, file, identity, header, nil, LockFile.makePrivate())
  }

  static func openStore(
    _ file: any File, _ identity: FileIdentity, _ options: StoreOptions
  ) throws(StorageError) -> Store? {
    let path = options.path
    var header: FileHeader
    if try converting({ () throws(SystemError) in try file.length() }) == 0 {
      try replaceEmpty(file, options)
      return nil
    }
    header = try readHeader(file)
    let cipher = try FileCipher.make(header, key: options.encryptionKey, path: path)
    let boot = options.fileSystem.bootIdentifier
    let lockFile: LockFile
    var pinned: FoundRecord?
    if options.isReadOnly, !options.fileSystem.exists(path + ".lock") {
      (lockFile, pinned) = try pinWithoutLockFile(file, cipher, options, boot: boot)
    } else {
      do throws(StorageError) {
        lockFile = try LockFile.open(
          dataPath: path, dataFile: file, fileIdentifier: header.identifier,
          generation: { () throws(StorageError) in try readHeader(file).generation },
          bootIdentifier: boot, durability: options.isReadOnly ? nil : options.durability,
          fileSystem: options.fileSystem, clock: options.clock)
      } catch {
        // Another file may have its place by now, which is the one to open.
        guard try isStill(identity, options) else { return nil }
        guard options.isReadOnly, case .permissionDenied = error else { throw error }
        (lockFile, pinned) = try pinWithoutLockFile(file, cipher, options, boot: boot)
      }
    }
    // Between opening the file and joining its lock file someone may have deleted both.
    guard try isStill(identity, options) else { return nil }
    if !options.isReadOnly { lockFile.noteInUse() }
    // Others may have written it before this process joined them.
    header = try readHeader(file)
    // A clean end would have ended the log, too.
    let wasLogged = header.isLogged
    header = try repeatingLog(header, file, options, cipher, lockFile)
    header = try makeNameDurable(header, file, options, lockFile)
    header = try raiseFormat(header, file, options, lockFile)
    header = try agreeOnDurability(header, file, options, lockFile, boot)
    return try makeStore(
      options, file, identity, header, cipher, lockFile, pinned, isUnclean: wasLogged)
  }

  // MARK: - The header
  //
  // Whoever changes it has the write lock and reads it there: what was read before may lack a log
  // that another process has begun since.

  /// Makes sure that the file keeps its name, where that is not known.
  private static func makeNameDurable(
    _ header: FileHeader, _ file: any File, _ options: StoreOptions, _ lockFile: LockFile
  ) throws(StorageError) -> FileHeader {
    guard header.flags.contains(.nameUnsynced), !PlantedBug.nameNotSynced.isActive else {
      return header
    }
    try converting { () throws(SystemError) in
      if !PlantedBug.folderNotSynced.isActive {
        try options.fileSystem.synchronizeFolder(parentFolder(of: options.path))
      }
    }
    // Whoever opens the file next does it again, while somebody writes now.
    guard !options.isReadOnly, try lockFile.tryAcquireWriteLock() else { return header }
    defer { lockFile.releaseWriteLock() }
    var header = try readHeader(file)
    guard header.flags.contains(.nameUnsynced) else { return header }
    header.flags.remove(.nameUnsynced)
    return try written(header, to: file)
  }

  /// Makes a file of an older format one of the newest, before anything is written to it that an
  /// older program would read wrongly.
  private static func raiseFormat(
    _ header: FileHeader, _ file: any File, _ options: StoreOptions, _ lockFile: LockFile
  ) throws(StorageError) -> FileHeader {
    guard header.isOlder, !options.isReadOnly else { return header }
    try lockFile.acquireWriteLock()
    defer { lockFile.releaseWriteLock() }
    // Another process may have been faster.
    var header = try readHeader(file)
    guard header.isOlder else { return header }
    header.raise()
    header = try written(header, to: file)
    try converting { () throws(SystemError) in try lockFile.synchronize(file) }
    return header
  }

  /// Writes a header; the one that the file has then.
  static func written(
    _ header: FileHeader, to file: any File
  ) throws(StorageError) -> FileHeader {
    try converting { () throws(SystemError) in try write(header, to: file) }
    var header = header
    header.sequence += 1
    return header
  }

  /// Whether the path still leads to the file that was opened.
  private static func isStill(
    _ identity: FileIdentity, _ options: StoreOptions
  ) throws(StorageError) -> Bool {
    try converting { () throws(SystemError) in
      try leads(options.path, to: identity, options.fileSystem)
    }
  }

  /// Whether a path leads to a file now.
  static func leads(
    _ path: String, to identity: FileIdentity, _ fileSystem: any FileSystem
  ) throws(SystemError) -> Bool {
    do throws(SystemError) {
      return try fileSystem.identity(of: path) == identity
    } catch {
      // No other failure says that the file is gone: taken for that, it would be tried for ever.
      if error.isMissing { return false }
      throw error
    }
  }

  static func readHeader(_ file: any File) throws(StorageError) -> FileHeader {
    let pages = try converting { () throws(SystemError) in
      try file.bytes(at: 0, length: 2 * FileHeader.pageLength)
    }
    let path = file.path
    var result: Result<FileHeader, StorageError>?
    pages.withUnsafeBytes { buffer in
      do throws(StorageError) {
        result = .success(try FileHeader.read(from: buffer, path: path))
      } catch {
        result = .failure(error)
      }
    }
    return try result!.get()
  }

  static func write(
    _ bytes: ArraySlice<UInt8>, to file: any File, at offset: UInt64
  ) throws(SystemError) {
    var failure: SystemError?
    bytes.withUnsafeBytes { buffer in
      do throws(SystemError) { try file.write(buffer, at: offset) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  // MARK: - The store

  private static func makeStore(
    _ options: StoreOptions, _ file: any File, _ identity: FileIdentity, _ header: FileHeader,
    _ cipher: FileCipher?, _ lockFile: LockFile, _ pinned: FoundRecord? = nil,
    isUnclean: Bool = false
  ) throws(StorageError) -> Store {
    let length = try converting { () throws(SystemError) in try file.length() }
    guard length >= FileHeader.dataStart else {
      throw .notADatabase(path: file.path, reason: "it ends after \(length) bytes")
    }
    let mapping = try ReadMapping(
      file: file, length: ReadMapping.length(forFile: length, shortest: options.mappingBytesMin),
      covering: length, fileLength: length,
      salt: header.salt, cipher: cipher)
    let store = Store(
      options: options, file: file, identity: identity, header: header, cipher: cipher,
      lockFile: lockFile, mapping: mapping)
    if let pinned {
      try store.show(pinned)
    } else {
      try store.showNewestDurable(isUnclean: isUnclean)
    }
    if options.commitLog == .always { try store.beginLog() }
    return store
  }

  /// Finds the version to show and makes it durable where that is not known.
  ///
  /// - Parameter isUnclean: whether the last use is known not to have ended in good order.
  private func showNewestDurable(isUnclean: Bool) throws(StorageError) {
    while true {
      let head = lockFile.head
      let isShared = lockFile.otherProcesses > 0
      let newest: (found: FoundRecord, needsSync: Bool, passedOver: [String])
      do throws(StorageError) {
        // What a log may have to be repeated over must not be shown; nor, to who cannot write it
        // again, what nobody has published: a sync of it may have failed, and another one would
        // succeed and prove nothing.
        newest = try findNewestDurable(
          head, isShared: isShared || header.isLogged || isReadOnly)
      } catch {
        // Others may have committed so much meanwhile that nothing is left of the head's version.
        if lockFile.head != head { continue }
        throw error
      }
      if newest.needsSync || lockFile.inheritsSyncFailure, !isInMemory,
        !PlantedBug.unsyncedShown.isActive
      {
        guard try makeDurable(newest, head) else { continue }
      }
      let record = newest.found.record
      let snapshot = snapshots.makeSnapshot(
        record.version, root: record.root, mapping: mapping,
        createdAt: options.clock.nanoseconds(), owner: PlaceNote(.current))
      // The pin counts only if the version was still the newest after it was published.
      if lockFile.head != head { continue }
      let committed = CommittedVersion(
        snapshot: snapshot, home: newest.found.home, vouchesAfter: record.durableVersion)
      passedOver = newest.passedOver
      pipeline.start(at: committed)
      publish(committed)
      let isClean = !isUnclean && header.durableMark == record.version.rawValue
      // A version that was lost unsynced must never share its number with a new one.
      let skip: UInt64 = isClean || isShared ? 0 : 1 << 20
      if !isReadOnly {
        writer = WriterState(
          path: path, newest: committed, lastNumber: Version(record.version.rawValue + skip),
          fileLength: record.fileLength, homes: header.homes, commits: record.commits)
      }
      return
    }
  }

  /// Makes what is about to be shown durable, where that is not known.
  ///
  /// - Returns: false when somebody has published a version meanwhile, which is to be shown.
  private func makeDurable(
    _ newest: (found: FoundRecord, needsSync: Bool, passedOver: [String]), _ head: DurableHead
  ) throws(StorageError) -> Bool {
    if newest.needsSync, !isReadOnly {
      // Nobody else may write meanwhile: it would be written over by what was here before.
      try lockFile.acquireWriteLock()
      defer { lockFile.releaseWriteLock() }
      guard lockFile.head == head else { return false }
      // A sync of it may have failed of which nobody has told: its process was killed first, or its
      // lock file was deleted. Another sync would succeed, and prove nothing.
      try rewrite(newest.found)
      try Store.converting { () throws(SystemError) in try lockFile.synchronize(file) }
    } else {
      try Store.converting { () throws(SystemError) in try lockFile.synchronize(file) }
    }
    if !isReadOnly { lockFile.clearSyncFailure() }
    return true
  }

  private func findNewestDurable(
    _ head: DurableHead, isShared: Bool
  ) throws(StorageError) -> (found: FoundRecord, needsSync: Bool, passedOver: [String]) {
    let newest = try recordSearch.newestDurable(knownDurable: head.version, isShared: isShared)
    let found = newest.found
    let length = try Store.converting { () throws(SystemError) in try file.length() }
    guard found.record.fileLength <= length else {
      throw .notADatabase(path: path, reason: "it was truncated from outside")
    }
    try forgetReused(found.record)
    if !found.record.root.isNone { try mapping.verify(found.record.root) }
    return newest
  }

  /// Writes the newest record and its extents again: after a failed sync the kernel may think them
  /// clean.
  ///
  /// Write lock only.
  func rewrite(_ found: FoundRecord) throws(StorageError) {
    if PlantedBug.failedSyncNotRewritten.isActive { return }
    let record = Extent(offset: header.homes[found.home], length: UInt64(CommitRecord.lengthMax))
    try Store.rewrite(found.record.extents + [record], of: file)
  }

  /// Writes to a file what it has there.
  ///
  /// While nobody else writes.
  static func rewrite(_ extents: [Extent], of file: any File) throws(StorageError) {
    try converting { () throws(SystemError) in
      for extent in extents {
        let bytes = try file.bytes(at: extent.offset, length: Int(clamping: extent.length))
        try write(bytes[...], to: file, at: extent.offset)
      }
    }
  }

  /// The same for all of the file but its zeros, which no block and no record consists of.
  ///
  /// - Complexity: reads and writes the whole file.
  static func rewriteAll(_ file: any File) throws(StorageError) {
    try converting { () throws(SystemError) in
      let length = try file.length()
      var position: UInt64 = 0
      while position < length {
        let bytes = try file.bytes(at: position, length: 1 << 20)
        if bytes.isEmpty { return }
        if bytes.contains(where: { $0 != 0 }) { try write(bytes[...], to: file, at: position) }
        position += UInt64(bytes.count)
      }
    }
  }
}

/// A marker that travels through typed throws.
private enum StorageErrorBox {
  static let network = SystemError(call: "statfs", path: "", code: -1)
}
