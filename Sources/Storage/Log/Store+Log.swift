// When commits go through the log, and how its use begins and ends. The header of the database
// names the log for as long as it counts, so whoever opens the file after a restart repeats it
// first. One process has a log at a time, while it writes: who writes after it syncs the database
// and ends the log's use.
//
// Whatever becomes durable by a sync of the database, while entries are in the log, is noted there
// before it is relied on: repeating older entries could write over it.
//
// After a crash, and where the owner of a log is gone: Store+ForeignLog.swift.
internal import Platform

/// What a store does with a log.
struct LogUse {
  /// Groups that a sync of scattered pages made durable.
  var scatteredSyncs = 0
  /// Somebody makes a log, or it cannot be had.
  var isOver = false
  var log: CommitLog?
}

extension CommitLog {
  static func path(_ databasePath: String) -> String { databasePath + ".log" }

  /// The name of a log that is still being made.
  static func unfinishedPath(_ databasePath: String) -> String {
    path(databasePath) + ".unfinished"
  }
}

extension Store {
  /// Groups after whose scattered syncs a log is begun.
  private static let scatteredSyncsMax = 4
  /// So many more when another process has ended the last one.
  private static let scatteredSyncsAfterOthers = 250

  private var log: CommitLog? { commitLog.withLock { $0.log } }

  /// Whether a group waits for room in the log; for tests.
  package var isLogFull: Bool { log?.isFull == true }

  /// Whether the log has what is not in place.
  package var isLogDirty: Bool { log?.isDirty == true }

  // MARK: - Making durable

  /// Makes a group durable that is in the file: by the log where its blocks lie scattered, else by
  /// a sync of the file.
  ///
  /// A failure is final for every process: nobody can know what reached the disk.
  func makeDurable(_ group: CommitPipeline.Group) throws(StorageError) {
    try syncing.withLock { (_) throws(StorageError) in
      if try append(group) { return }
      try synchronizeInPlace()
      try noteInPlace(
        group.last!.version, fileLength: group.fileLength, isNeeded: group.isProvenByLog)
    }
    if group.own.count > 2 { noteScatteredSync() }
  }

  /// Syncs the file, after which a version needs no log but to be named, if only that proves it.
  func makeDurableInPlace(_ record: CommitRecord) throws(StorageError) {
    try syncing.withLock { (_) throws(StorageError) in
      try synchronizeInPlace()
      try noteInPlace(
        record.version, fileLength: record.fileLength, isNeeded: record.isProvenByLog)
    }
  }

  /// Syncs the file for a record that is written afterwards and lists nothing.
  ///
  /// It can reach the disk on its own, before anything else is synced, and refers to places where
  /// blocks of the log's entries were: these must not be repeated any more.
  func synchronizeAndNote() throws(StorageError) {
    try syncing.withLock { (_) throws(StorageError) in
      try synchronizeInPlace()
      guard let log, !PlantedBug.largeCommitNotNoted.isActive else { return }
      try latching { () throws(SystemError) in try log.noteInPlace(before: log.nextSequence) }
    }
  }

  /// One fdatasync, one after the other with what makes groups durable.
  func synchronizeOrLatch() throws(StorageError) {
    try syncing.withLock { (_) throws(StorageError) in try synchronizeInPlace() }
  }

  /// One fdatasync.
  ///
  /// The kernel tells only one caller of a failure, so syncs of this process come one after the
  /// other, and none counts after one that has failed.
  private func synchronizeInPlace() throws(StorageError) {
    try synchronizing.withLock { (_) throws(StorageError) in
      try throwIfSyncFailed()
      syncs.add(1, ordering: .relaxed)
      do throws(SystemError) { try lockFile.synchronize(file) } catch { throw .system(error) }
    }
  }

  /// - Returns: false when the group does not gain by the log, or cannot be in it.
  private func append(_ group: CommitPipeline.Group) throws(StorageError) -> Bool {
    guard let log, group.isProvenByLog || log.isWorthwhile(extents: group.own.count) else {
      return false
    }
    // A system call beside a sync: who writes asynchronously has no other moment to look.
    if !log.isInPlace(path, options.fileSystem) {
      // The next transaction ends its use.
      isLogGone.store(true, ordering: .releasing)
      if !group.isProvenByLog { return false }
    }
    var extents = group.own.map(\.extent)
    if group.hasSyncedBlocks || !hasRoom(group, in: log) {
      guard PlantedBug.largeCommitLogged.isActive else { return false }
      extents = []
    }
    try throwIfSyncFailed()
    extents.append(
      Extent(offset: header.homes[group.home], length: UInt64(CommitRecord.lengthMax)))
    let file = file
    try latching { () throws(SystemError) in
      let written = try log.append(group.last!.version, fileLength: group.fileLength, extents) {
        (extent, buffer) throws(SystemError) in
        // It was written, so it is there; a short read would be a file cut from outside.
        if try file.read(into: buffer, at: extent.offset) < buffer.count {
          throw SystemError(call: "pread", path: file.path, code: SystemError.inputOutput)
        }
      }
      writtenBytes.add(UInt64(written), ordering: .relaxed)
    }
    syncs.add(1, ordering: .relaxed)
    return true
  }

  private func hasRoom(_ group: CommitPipeline.Group, in log: CommitLog) -> Bool {
    let bytes = group.own.reduce(CommitRecord.lengthMax) { $0 + Int($1.extent.length) }
    return log.hasRoom(bytes: bytes, extents: group.own.count + 1)
  }

  /// Whether the record of a group may leave out what it has written: the log will have it.
  func canProveByLog(_ group: CommitPipeline.Group) -> Bool {
    guard durability == .full, let log else { return false }
    return hasRoom(group, in: log)
  }

  private func noteInPlace(
    _ version: Version, fileLength: UInt64, isNeeded: Bool
  ) throws(StorageError) {
    guard let log else { return }
    try latching { () throws(SystemError) in
      try log.noteInPlace(version, fileLength: fileLength, isNeeded: isNeeded)
    }
  }

  /// A failure makes writing impossible for all, as one of a sync does.
  private func latching(_ body: () throws(SystemError) -> Void) throws(StorageError) {
    do throws(SystemError) { try body() } catch {
      lockFile.markSyncFailed(error.code)
      throw .system(error)
    }
  }

  /// Idle work: syncs the file, so that the log's entries need not be repeated.
  func bringLogInPlace() throws(StorageError) {
    guard let log else { return }
    if !log.isInPlace(path, options.fileSystem) {
      isLogGone.store(true, ordering: .releasing)
      // Its begin ends the log.
      if let transaction = try beginWriteIfFree() { return transaction.cancel() }
    }
    guard log.isDirty else { return }
    let next = log.nextSequence
    try synchronizeInPlace()
    try syncing.withLock { (_) throws(StorageError) in
      try latching { () throws(SystemError) in try log.noteInPlace(before: next) }
    }
  }

  // MARK: - Beginning

  private func noteScatteredSync() {
    guard options.commitLog == .whenScattered else { return }
    let begins = commitLog.withLock { use in
      if use.isOver || use.log != nil { return false }
      use.scatteredSyncs += 1
      use.isOver = use.scatteredSyncs >= Self.scatteredSyncsMax
      return use.isOver
    }
    guard begins else { return }
    let helpers = helpers
    helpers.withLock { $0 += 1 }
    // Released by hand: who waits for the helpers must not find that one still has the store.
    let store = Unmanaged.passRetained(self)
    let end = { @Sendable in
      store.release()
      helpers.withLock { $0 -= 1 }
      helpers.notifyAll()
    }
    let thread = Thread.startIfPossible(name: "realm-log") {
      // Without a log all goes on as before; an error of the disk is met again by the next commit.
      store._withUnsafeGuaranteedRef { try? $0.beginLog() }
      end()
    }
    // Not here, where the system has no thread to give: the log needs the write lock.
    if let thread { thread.detach() } else { end() }
  }

  /// Makes a log and has the header name it.
  ///
  /// Does nothing where a log cannot be had.
  func beginLog() throws(StorageError) {
    guard durability == .full, !isReadOnly, !isInMemory else { return }
    commitLog.withLock { $0.isOver = true }
    // By another name: until the write lock is held the log of somebody else may be needed.
    guard let log = try? makeLog() else { return }
    var isNamed = false
    defer { if !isNamed { try? options.fileSystem.remove(CommitLog.unfinishedPath(path)) } }
    // Nobody else writes the header meanwhile, and a log of somebody else has been ended.
    let transaction = try beginWrite()
    defer { transaction.cancel() }
    isNamed = try Store.converting { () throws(SystemError) in try nameLog() }
    guard isNamed else { return }
    var header = try Store.readHeader(file)
    header.logIdentifier = log.header.identifier
    header.bootIdentifier = options.fileSystem.bootIdentifier
    try Store.converting { () throws(SystemError) in try Store.write(header, to: file) }
    try synchronizeOrLatch()
    commitLog.withLock { use in
      use.log = log
      use.isOver = false
    }
  }

  /// Gives the log that was made its name; write lock only.
  ///
  /// - Returns: false where something else has the name, which stays.
  private func nameLog() throws(SystemError) -> Bool {
    let (fileSystem, path) = (options.fileSystem, CommitLog.path(path))
    let unfinished = CommitLog.unfinishedPath(self.path)
    if fileSystem.exists(path) {
      // One that is left over; nothing refers to it.
      let isLog = try Store.logHeader(fileSystem.open(path, .noFollow)) != nil
      if !isLog { return false }
    }
    try fileSystem.rename(unfinished, to: path)
    try fileSystem.synchronizeFolder(Store.parentFolder(of: path))
    return true
  }

  /// Makes the file of a log, whole and durable, but for its name.
  ///
  /// - Returns: nil where another process makes one.
  private func makeLog() throws(SystemError) -> CommitLog? {
    let path = CommitLog.unfinishedPath(path)
    let fileSystem = options.fileSystem
    let log = try fileSystem.open(path, [.writable, .create, .noFollow])
    // Between opening and locking its owner may have finished it: then it is a log in use.
    guard try log.lockByte(0, exclusive: true, wait: false),
      try Store.leads(path, to: try log.identity(), fileSystem)
    else { return nil }
    let page = FileHeader.pageLength
    // The longer it is the more often a page of the file changes before it is written.
    let share = Int(clamping: try file.length() / 8)
    let header = CommitLogHeader(
      identifier: systemRandom() | 1, databaseHigh: self.header.identifierHigh,
      databaseLow: self.header.identifierLow,
      segmentLength: min(max(share / page * page, options.logSegmentMin), 32 << 20))
    do throws(SystemError) {
      try log.setPermissions(try file.permissions())
      // First: what was left of one that was not finished.
      try log.setLength(0)
      let zeros = [UInt8](repeating: 0, count: 1 << 20)
      var position: UInt64 = 0
      while position < header.fileLength {
        let count = min(UInt64(zeros.count), header.fileLength - position)
        try Store.write(zeros[..<Int(count)], to: log, at: position)
        position += count
      }
      try Store.write(header.encoded()[...], to: log, at: 0)
      try log.synchronize()
    } catch {
      try? fileSystem.remove(path)
      throw error
    }
    let (file, lockFile, synchronizing) = (file, lockFile, synchronizing)
    return CommitLog(header, log) { () throws(SystemError) in
      try synchronizing.withLock { (_) throws(SystemError) in
        if let code = lockFile.syncFailure {
          throw SystemError(call: "fdatasync", path: file.path, code: code)
        }
        try lockFile.synchronize(file)
      }
    }
  }

  /// The header of a log; nil when it is none.
  static func logHeader(_ log: any File) throws(SystemError) -> CommitLogHeader? {
    let bytes = try log.bytes(at: 0, length: CommitLogHeader.encodedLength)
    return bytes.withUnsafeBytes { CommitLogHeader.decode($0) }
  }

  // MARK: - Ending

  /// Whether the header names a log that is not this process's: its owner writes no more, or is
  /// gone.
  ///
  /// Gives up an own one that another process has ended. Write lock only.
  func isLogForeign(_ header: FileHeader) -> Bool {
    let identifier = header.logIdentifier
    let own = commitLog.withLock { use in
      guard let log = use.log, log.header.identifier != identifier else { return use.log }
      // Processes that write by turns would only end each other's.
      use = LogUse(scatteredSyncs: -Self.scatteredSyncsAfterOthers)
      return nil
    }
    return identifier != 0 && own == nil && !PlantedBug.foreignLogKept.isActive
  }

  /// Ends the use of this process's log, if it has one.
  func endOwnLog() throws(StorageError) {
    guard log != nil else { return }
    let transaction = try beginWrite()
    defer { transaction.cancel() }
    guard let log else { return }
    try latching { () throws(SystemError) in try log.waitForCheckpoint() }
    try endNamedLogWithNewest()
  }

  /// Ends the use of this process's log, and makes all durable that is written: a record of it may
  /// leave the proof to the log.
  ///
  /// Write lock only, and nothing is unwritten.
  private func endNamedLogWithNewest() throws(StorageError) {
    let newest = writer!.newest
    try endNamedLog(newest.version)
    commitLog.withLock { $0 = LogUse() }
    isLogGone.store(false, ordering: .releasing)
    // Nobody may write over the record that the header names now: its group is closed.
    let durable = CommittedVersion(
      snapshot: newest.snapshot.settled, home: newest.home, vouchesAfter: newest.vouchesAfter)
    publish(durable)
    pipeline.adopt(durable)
  }

  /// Ends the use of this process's log when somebody has removed it or put another file there:
  /// what only it had would be lost by a power cut.
  ///
  /// Write lock only, and nothing is unwritten.
  /// - Complexity: two system calls at most, if the log is in place.
  func endLogWithoutName() throws(StorageError) {
    guard let log, !log.isInPlace(path, options.fileSystem) else { return }
    try latching { () throws(SystemError) in try log.waitForCheckpoint() }
    try endNamedLogWithNewest()
  }

  /// Ends the use of the log that the header names, and makes a version durable.
  ///
  /// Write lock only.
  func endNamedLog(_ version: Version) throws(StorageError) {
    var header = try Store.readHeader(file)
    if lockFile.isPreviousWriterGone, log == nil,
      let newest = try recordSearch.records().first(where: { $0.record.version == version })
    {
      try Store.rewriteLogged(header, newest, file, options)
    }
    if !PlantedBug.logEndedBeforeSync.isActive { try synchronizeOrLatch() }
    header = try Store.readHeader(file)
    let identifier = header.logIdentifier
    header.logIdentifier = 0
    header.durableMark = version.rawValue
    try Store.converting { () throws(SystemError) in try Store.write(header, to: file) }
    try synchronizeOrLatch()
    Store.forgetLog(identifier, header, file, options)
  }

  /// Lets the log's thread end; what the log holds stays until the header names it no more.
  func closeLog() {
    guard let log else { return }
    // A failure is in the lock file.
    try? log.waitForCheckpoint()
  }

  /// The same when the file is closed and nobody else has it open.
  func endLog(_ header: inout FileHeader) {
    // Of somebody who is gone: nobody knows how the last sync ended.
    if log == nil {
      let records = (try? recordSearch.records()) ?? []
      guard let newest = records.first(where: { $0.record.version == newestVersion }),
        (try? Store.rewriteLogged(header, newest, file, options)) != nil
      else { return }
    }
    // If the sync fails, the header goes on naming the log. The next opening repeats it, because
    // the lock file remembers the failure.
    guard PlantedBug.logEndedBeforeSync.isActive || (try? lockFile.synchronize(file)) != nil
    else { return }
    let identifier = header.logIdentifier
    header.logIdentifier = 0
    header.durableMark = newestVersion.rawValue
    guard (try? Store.write(header, to: file)) != nil,
      (try? lockFile.synchronize(file)) != nil
    else { return }
    commitLog.withLock { $0.log = nil }
    Store.forgetLog(identifier, header, file, options)
  }

  /// After a header without a log has reached the disk: takes the log out of the other copy, at
  /// which older programs look, too, and removes its file.
  static func forgetLog(
    _ identifier: UInt64, _ header: FileHeader, _ file: any File, _ options: StoreOptions
  ) {
    var header = header
    header.sequence += 1
    // Neither is worth an error: nothing refers to the log any more.
    try? write(header, to: file)
    // Somebody may have put another file there.
    let path = CommitLog.path(options.path)
    guard let log = try? options.fileSystem.open(path, .noFollow),
      (try? logHeader(log))?.identifier == identifier
    else { return }
    try? options.fileSystem.remove(path)
  }
}
