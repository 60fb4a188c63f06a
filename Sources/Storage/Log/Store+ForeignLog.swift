// What is done with a log that this process did not begin: after a crash it is repeated, or a sync
// is enough; and what it proves when its owner is gone. A process's own log: Store+Log.swift.
internal import Platform

extension Store {
  /// Brings a file in order whose header names a log that nobody has.
  ///
  /// After a restart the log is repeated, else a sync is enough, as all is in the page cache. Then
  /// the log's use is over.
  ///
  /// - Returns: the header as it is then.
  /// - Throws: `damaged` when the log is needed and not there, or lacks entries; `logNotRepeated`
  ///   when the file may not be written.
  static func repeatingLog(
    _ header: FileHeader, _ file: any File, _ options: StoreOptions, _ cipher: FileCipher?,
    _ lockFile: LockFile
  ) throws(StorageError) -> FileHeader {
    guard header.isLogged else { return header }
    let boot = options.fileSystem.bootIdentifier
    if options.isReadOnly {
      if lockFile.head.isUnknown { try refuseUnlessSameBoot(header, boot, file.path) }
      return header
    }
    // Else those who have it open see to it.
    guard lockFile.isFirstOpener || lockFile.head.isUnknown else { return header }
    try lockFile.acquireWriteLock()
    defer { lockFile.releaseWriteLock() }
    // Of those that open it at the same time only one gets so far.
    var header = try readHeader(file)
    guard header.isLogged else { return header }
    let identifier = header.logIdentifier
    // After a failed sync the page cache may have what the disk has not, and call it clean.
    if header.isOf(boot), !lockFile.inheritsSyncFailure {
      var search = RecordSearch(file: file, header: header, cipher: cipher, isSameBoot: true)
      // What only the log proves and it does not have was never acknowledged, and nothing says
      // which bytes would have to be written again.
      search.provenUpTo = loggedVersion(header, file, options)
      let newest = try search.newestDurable(knownDurable: lockFile.head.version, isShared: false)
      header.durableMark = newest.found.record.version.rawValue
      try rewriteLogged(header, newest.found, file, options)
    } else {
      let log = try openLog(header, file, options)
      let content = try LogContent(log.file, log.header)
      try content.repeated(in: file)
      if let version = content.version { header.durableMark = version.rawValue }
    }
    try converting { () throws(SystemError) in
      try lockFile.synchronize(file)
      header.logIdentifier = 0
      try write(header, to: file)
      try lockFile.synchronize(file)
    }
    forgetLog(identifier, header, file, options)
    // Read, as forgetting the log writes it once more, or could not.
    return try readHeader(file)
  }

  /// Writes again what the file has in the places that the log repeats: a sync of the file may have
  /// failed of which nobody has told.
  ///
  /// A log that is missing does not matter after a kill: the page cache has all. Write lock only.
  static func rewriteLogged(
    _ header: FileHeader, _ newest: FoundRecord, _ file: any File, _ options: StoreOptions
  ) throws(StorageError) {
    var extents = newest.record.extents
    extents.append(
      Extent(offset: header.homes[newest.home], length: UInt64(CommitRecord.lengthMax)))
    if let log = try? openLog(header, file, options),
      let content = try? LogContent(log.file, log.header)
    {
      extents += content.places.flatMap(\.entry.extents)
    }
    let start = FileHeader.copies.last! + UInt64(FileHeader.pageLength)
    let length = try converting { () throws(SystemError) in try file.length() }
    try rewrite(extents.filter { $0.offset >= start && $0.offset < length }, of: file)
  }

  /// Whoever may not write can read a file with a log only while the machine runs on: until then
  /// all is in the file, if not yet on the disk.
  static func refuseUnlessSameBoot(
    _ header: FileHeader, _ boot: UInt64, _ path: String
  ) throws(StorageError) {
    guard header.isLogged, !header.isOf(boot) else { return }
    throw .logNotRepeated(path: path, log: CommitLog.path(path))
  }

  static func openLog(
    _ header: FileHeader, _ file: any File, _ options: StoreOptions
  ) throws(StorageError) -> (file: any File, header: CommitLogHeader) {
    let path = CommitLog.path(options.path)
    func missing(_ what: String) -> StorageError {
      .damaged(
        path: options.path, block: 0, version: header.durableMark,
        reason: "\(what) '\(path)'. The machine was restarted while the database was written to, "
          + "and its newest commits are in that file only: put it back beside the database")
    }
    let log: any File
    do throws(SystemError) {
      log = try options.fileSystem.open(path, .noFollow)
    } catch {
      if error.isMissing { throw missing("there is no commit log") }
      throw openingError(error, path: path)
    }
    guard let found = try converting({ () throws(SystemError) in try logHeader(log) }),
      found.identifier == header.logIdentifier, found.databaseHigh == header.identifierHigh,
      found.databaseLow == header.identifierLow
    else { throw missing("another file has the name of the commit log") }
    return (log, found)
  }

  /// The newest version that the log which a header names makes durable; nil where it cannot be
  /// read.
  private static func loggedVersion(
    _ header: FileHeader, _ file: any File, _ options: StoreOptions
  ) -> Version? {
    guard let log = try? openLog(header, file, options) else { return nil }
    return version(log)
  }

  private static func version(_ log: (file: any File, header: CommitLogHeader)) -> Version? {
    (try? LogContent(log.file, log.header)).map { $0.version ?? Version(0) }
  }

  /// The same if the log's owner is gone; nil also where it lives, as it may be about to append.
  static func loggedVersionOfDeadOwner(
    _ header: FileHeader, _ file: any File, _ options: StoreOptions
  ) -> Version? {
    // Asked before it is read: its owner locks it for as long as it may write to it.
    guard let log = try? openLog(header, file, options),
      (try? log.file.isByteLocked(0)) == false
    else { return nil }
    return version(log)
  }
}
