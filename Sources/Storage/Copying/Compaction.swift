// Making a file as small as its content. Who has the file to itself replaces it by a compact copy;
// anyone else moves blocks down and cuts the end, which pins can stop. A file is never replaced
// while another process or another user in this one has it open.
internal import Glibc
internal import Platform

extension Store {
  /// Makes the file of a store in use as small as idle work can.
  ///
  /// - Returns: false when pins, here or in another process, keep it much longer than its content.
  /// - Throws: errors of the disk, as a commit does.
  package func compact() throws(StorageError) -> Bool {
    try runMaintenance()
    let statistics = try statistics()
    let needed = Double(statistics.liveBytes + FileHeader.dataStart)
    return Double(statistics.fileBytes) <= 1.08 * needed + 4 * Double(WriterState.slackBytes)
  }

  /// Makes a file as small as its content: by a new file when nobody else has it open, else as a
  /// store in use does.
  ///
  /// Killed at any point this leaves the old file or the new one.
  ///
  /// - Parameter isBlocked: whether the write lock of a store in use would be waited for forever.
  /// - Returns: false when pins, here or in another process, keep it much longer than its content,
  ///   and where it is blocked.
  /// - Throws: what opening throws, and errors of the disk; then the old file is there.
  package static func compact(
    _ options: StoreOptions, unless isBlocked: (Store) -> Bool = { _ in false }
  ) throws(StorageError) -> Bool {
    var store: Store? = try openOrShare(options).store
    do throws(StorageError) {
      if try replaceFile(of: &store, options) { return true }
    } catch {
      // Its blocks can be moved all the same.
      guard store != nil, error.keepsFileInPlace else { throw error }
    }
    if isBlocked(store!) { return false }
    return try store!.compact()
  }

  /// Opens a file, asks whether it should be compacted, and does it.
  static func openAndCompact(
    _ options: StoreOptions, _ shouldCompact: (Int, Int) -> Bool
  ) throws(StorageError) -> Store {
    let isShared: Bool
    // The only reference, or nothing would be replaced.
    var store: Store?
    (store, isShared) = try openOrShare(options)
    guard !isShared, !store!.isReadOnly, !store!.isInMemory, store!.lockFile.isFirstOpener else {
      return store!
    }
    let statistics = try store!.statistics()
    guard statistics.liveBytes > 0,
      shouldCompact(
        Int(statistics.fileBytes), Int(statistics.liveBytes + FileHeader.dataStart))
    else { return store! }
    do throws(StorageError) {
      _ = try replaceFile(of: &store, options)
    } catch {
      // Compacting is not worth failing for, as long as the old file can be used.
      switch error {
      case .damaged, .invariant: throw error
      default: guard store != nil else { throw error }
      }
    }
    return store!
  }

  /// Puts a compact file in the place of a store's, if nobody else uses that, and opens it.
  ///
  /// - Parameter store: nil after an error that came behind the replacement.
  /// - Returns: false when others use the file; the store is as before.
  private static func replaceFile(
    of store: inout Store?, _ options: StoreOptions
  ) throws(StorageError) -> Bool {
    let isReplaced = try StoreRegistry.of(options.fileSystem).withLock {
      (_) throws(StorageError) -> Bool in
      let maintenance = store!.maintenance
      maintenance.pause()
      defer { maintenance.resume() }
      // Under the registry's lock nobody can get another reference to the store.
      guard isKnownUniquelyReferenced(&store) else { return false }
      return try store!.replaceFile()
    }
    guard isReplaced else { return false }
    // Its file has no name any more, and its space is wanted back.
    store = nil
    Spares.drop()
    store = try openOrShare(options).store
    return true
  }

  /// How often other processes may use the file just before it would be replaced.
  private static let triesMax = 100

  /// The only user of the store calls this last.
  ///
  /// - Returns: false when another process has the file open, and when it has several names.
  private func replaceFile() throws(StorageError) -> Bool {
    guard !isReadOnly else { throw .readOnly(path: path) }
    try throwIfSyncFailed()
    // Its other names would go on leading to the old file.
    guard try Store.converting({ () throws(SystemError) in try file.nameCount() }) == 1 else {
      return false
    }
    for _ in 0..<Self.triesMax {
      // The old file may come back after a power cut, its log would not.
      try endOwnLog()
      let snapshot = try pinNewest()
      let source = try source(snapshot)
      var isNewest = true
      let isReplaced = try lockFile.replaceDataFile { () throws(StorageError) in
        // Nobody else can write now, but another process may have done so, and have left, since the
        // version was pinned.
        isNewest = newestVersion == snapshot.version
        if !isNewest { return nil }
        return try FileCopy.write(
          source, replacing: path, key: options.encryptionKey, of: file, options.fileSystem)
      }
      withExtendedLifetime(snapshot) {}
      if isNewest {
        // What has no name needs no mark.
        if isReplaced { writer = nil }
        return isReplaced
      }
    }
    return false
  }
}

extension StorageError {
  /// Whether the system does not allow that a file is put in the place of another one: in a folder
  /// that may not be written, or where the name is a mount point.
  fileprivate var keepsFileInPlace: Bool {
    switch self {
    case .permissionDenied: true
    case .system(let error):
      error.isPermission || [EBUSY, EXDEV].contains(error.code)
    default: false
    }
  }
}
