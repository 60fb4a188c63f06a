// What happens between getting the write lock and the first change: adopt what another process has
// committed, learn which pins came and went, free what no version sees.
internal import Platform

extension Store {
  /// Blocks freed at the start of one transaction; what is more waits.
  static let reclaimMaximum = 256

  /// - Parameters:
  ///   - mayUseFile: false where the caller must not be kept waiting by the disk; then nothing has
  ///     to be taken over, see `needsTakeOver`.
  ///   - isTimeToLook: whether somebody may have changed the file since it was looked at.
  func prepareWriter(mayUseFile: Bool, isTimeToLook: Bool) throws(StorageError) {
    if mayUseFile {
      writeDeferred()
      if needsTakeOver {
        // Versions of which something is known were lost. Where taking over fails, the next
        // transaction tries again.
        if needsReload.exchange(false, ordering: .acquiring) {
          self.writer!.spaceVersion = nil
          self.writer!.isLoaded = false
        }
        try takeOver()
      }
      // Before the file is given another length.
      if isTimeToLook { try refuseIfCut() }
      if isTimeToLook || isLogGone.load(ordering: .acquiring) { try endLogWithoutName() }
      let writer = writer!
      if writer.lengthInFile != writer.fileLength { try setLength(writer.fileLength) }
    }
    let durable = try updatePins()
    _ = reclaim(durable: durable)
    writer!.isDeferring = !mayUseFile
    defer { writer!.isDeferring = false }
    try cutTail()
  }

  /// Throws when somebody else has made the file shorter: what would be committed now would build
  /// on blocks that are gone.
  func refuseIfCut() throws(StorageError) {
    let length = try Store.converting { () throws(SystemError) in try file.length() }
    let expected = min(writer!.lengthInFile, writer!.fileLength)
    if length < expected {
      // Nobody writes until it is as long again.
      lockFile.lookAgain()
      throw cutFromOutside(length, expected)
    }
  }

  /// The error for a file that is shorter than its newest version needs.
  func cutFromOutside(_ length: UInt64, _ expected: UInt64) -> StorageError {
    .damaged(
      path: path, block: length, version: newestVersion.rawValue,
      reason: "somebody has cut the file to \(length) bytes while it was open; it had \(expected)")
  }

  /// Whether the writer's knowledge is not that of the newest version: of the first write, and
  /// after another process has written or a version was lost.
  var needsTakeOver: Bool {
    let writer = writer!
    return !writer.isLoaded || needsReload.load(ordering: .acquiring) || lockFile.wasHeldByAnother
      || lockFile.committed
        != DurableHead(version: writer.newest.version, home: writer.newest.home)
  }

  /// Frees what no version sees any more.
  ///
  /// - Parameter bound: judge deaths up to this version only; see `updatePins`.
  /// - Returns: whether more could be freed at once.
  func reclaim(durable bound: Version) -> Bool {
    // By a durable version whose record is known; an older one than the newest is only more
    // careful.
    guard let durable = pipeline.durable else { return false }
    return writer!.reclaim(
      durable: min(bound, durable.version), vouchesAfter: durable.vouchesAfter,
      maximum: Self.reclaimMaximum)
  }

  /// Learns which pins came and went, here and in other processes.
  ///
  /// - Returns: the version up to which dead blocks may be judged by these pins: the durable head
  ///   as it was before the pins were looked at. A reader confirms its pin by the head, so a newer
  ///   head could hide one.
  func updatePins() throws(StorageError) -> Version {
    let head = newestVersion
    let writer = writer!
    snapshots.drain(&writer.pinsAdded, &writer.pinsRemoved)
    writer.updatePins()
    guard let versions = try lockFile.foreignPins(since: &foreignPinState) else {
      return min(head, foreignPinState.head.version, foreignPinState.everythingSince ?? head)
    }
    if !PlantedBug.truncateUnderForeignPin.isActive { writer.updateForeignPins(versions) }
    return min(head, foreignPinState.head.version, foreignPinState.everythingSince ?? head)
  }

  /// More version numbers than processes ever give away between two records.
  private static var numbersSkippedMax: UInt64 { 1 << 24 }

  /// Continues from the newest record in the file: its blocks were all written before the lock was
  /// free.
  ///
  /// Where it is not known to be durable it is made so first. Its process may be in the middle of a
  /// sync, about to write to the same group, or dead; whatever homes its groups are in, none of
  /// them is needed once this version is durable.
  private func takeOver() throws(StorageError) {
    madeMemory?.overwriting?.forget()
    let current = try Store.readHeader(file)
    let isLogForeign = isLogForeign(current)
    let search = takeOverSearch(current, isLogForeign: isLogForeign)
    let records = try search.records()
    let durable = newestVersion
    var newest: FoundRecord?
    var passedOver: [FoundRecord] = []
    for candidate in records {
      if candidate.record.version <= durable {
        newest = candidate
        break
      }
      if try search.isComplete(candidate.record) {
        newest = candidate
        break
      }
      if candidate.record.isProvenByLog { passedOver.append(candidate) }
    }
    guard let newest, newest.record.version >= durable else {
      throw .damaged(
        path: path, block: header.homes[0], version: durable.rawValue,
        reason: "the commit record of the newest version is lost")
    }
    let length = try Store.converting { () throws(SystemError) in try file.length() }
    guard length >= newest.record.fileLength else {
      throw cutFromOutside(length, newest.record.fileLength)
    }
    // Numbers of lost versions are skipped, but not so many.
    let newestNumber = records[0].record.version.rawValue + Self.numbersSkippedMax
    guard lockFile.committed.isPossible, lockFile.committed.version.rawValue <= newestNumber else {
      throw .incompatibleLockFile(
        path: lockFile.path,
        reason: "somebody else has written to it. What was committed is safe; close the Realm in "
          + "all programs, remove the lock file, then open it again")
    }
    // What they refer to will be written over, and nobody who opens the file after a kill could see
    // that.
    for found in passedOver {
      try Store.converting { () throws(SystemError) in
        let zeros = [UInt8](repeating: 0, count: CommitRecord.lengthMax)
        try Store.write(zeros[...], to: file, at: header.homes[found.home])
      }
    }
    // Also of a version that its process has not come to write.
    writer!.lastNumber = max(
      writer!.lastNumber, records[0].record.version, lockFile.committed.version)
    if newest.record.version != writer!.newest.version {
      // Nobody else shows a version meanwhile, or it would forget what is kept after this.
      try publishing.withLock { (_) throws(StorageError) in try forgetReused(newest.record) }
      let snapshot = snapshots.makeSnapshot(
        newest.record.version, root: newest.record.root,
        mapping: try mappingCovering(newest.record.fileLength, mayEmpty: true),
        createdAt: options.clock.nanoseconds(), owner: nil)
      writer!.newest = CommittedVersion(
        snapshot: snapshot, home: newest.home, vouchesAfter: newest.record.durableVersion)
    }
    if newest.record.version > durable || isLogForeign {
      if isLogForeign {
        try endNamedLog(newest.record.version)
      } else if durability == .full {
        // It may have been killed between a sync that failed and the note of that.
        if lockFile.isPreviousWriterGone { try rewrite(newest) }
        try makeDurableInPlace(newest.record)
      }
      // A sync of the other process may have failed meanwhile, and taken the pages along.
      try throwIfSyncFailed()
      publish(writer!.newest)
    }
    pipeline.adopt(writer!.newest)
    if try !followSpace(to: newest) { try loadSpace(newest) }
    // What its process has not come to cut is cut by this one: where two of them write by turns, or
    // tidy, each would wait for a turn in which nobody has committed since.
    let end = newest.record.fileLength
    writer!.plannedCut = end < writer!.fileLength ? (newest.record.version, end) : nil
    lockFile.publishCommitted(version: newest.record.version, home: newest.home)
  }

  /// The search for the record to go on from.
  ///
  /// A record that only a log proves may be one that opening has passed over, or that a process has
  /// left which is gone. It counts while its log is named, up to the version that its process has
  /// said to have written; where the log's owner is gone, up to the newest one in the log.
  private func takeOverSearch(_ current: FileHeader, isLogForeign: Bool) -> RecordSearch {
    let takesAll = PlantedBug.passedOverAdopted.isActive
    var search = RecordSearch(
      file: file, header: current, cipher: cipher, isSameBoot: current.isLogged || takesAll)
    if takesAll { return search }
    let written = lockFile.committed.version
    let logged = isLogForeign ? Store.loggedVersionOfDeadOwner(current, file, options) : nil
    search.provenUpTo = logged.map { min(written, $0) } ?? written
    return search
  }

  /// Shows a version that another process has published.
  func adoptPublished() throws(StorageError) {
    try publishing.withLock { (_) throws(StorageError) in
      while true {
        let head = lockFile.head
        if let current = snapshots.pinNewest(), current.version >= head.version { return }
        let records = try recordSearch.records()
        guard let found = records.first(where: { $0.record.version == head.version }) else {
          if lockFile.head != head { continue }
          guard head.isPossible, head.home < header.homes.count else {
            throw .incompatibleLockFile(
              path: lockFile.path,
              reason: "it names a newest version that there cannot be: somebody else has written "
                + "to it. What was committed is safe; close the Realm in all programs, remove "
                + "the lock file, then open it again")
          }
          throw .damaged(
            path: path, block: header.homes[head.home], version: head.version.rawValue,
            reason: "the commit record of the newest version is lost")
        }
        // With the queue nobody commits what only the mapping has.
        let hasQueue = queue.tryAcquire()
        // Whoever has written what was unwritten meanwhile could not hand the lock on.
        defer { if hasQueue { leaveWriteLock() } }
        try forgetReused(found.record)
        let snapshot = snapshots.makeSnapshot(
          head.version, root: found.record.root,
          mapping: try mappingCovering(found.record.fileLength, mayEmpty: hasQueue || isReadOnly),
          createdAt: options.clock.nanoseconds(), owner: nil)
        // The pin counts only if the version was still the newest after it was published.
        if lockFile.head != head { continue }
        let committed = CommittedVersion(
          snapshot: snapshot, home: found.home, vouchesAfter: found.record.durableVersion)
        pipeline.adopt(committed)
        snapshots.publish(snapshot)
        // A process that only reads must not pin for ever what it would have written on first. When
        // a thread has the queue, it learns of the version itself.
        if hasQueue {
          writer?.newest = committed
          writer?.isLoaded = false
        }
        return
      }
    }
  }

  /// Cuts the file to the length that the newest record names, once that record is durable: a file
  /// that is shorter than its record says was truncated by someone else.
  func cutTail() throws(StorageError) {
    guard let cut = writer!.plannedCut, cut.version <= newestVersion else { return }
    writer!.plannedCut = nil
    // Only the newest record names the length.
    guard cut.version == writer!.newest.snapshot.version || PlantedBug.staleCut.isActive else {
      return
    }
    // Meanwhile another commit may have used the end.
    guard let tail = writer!.free.tailRun(end: writer!.fileLength), tail.offset <= cut.length
    else { return }
    // Nothing of any pinned, durable or open version lies in free space: readers never look there.
    let length = PlantedBug.truncateLiveBlock.isActive ? tail.offset & ~4095 : cut.length
    if !writer!.isDeferring { try setLength(length) }
    madeMemory?.overwriting?.forget()
    writer!.free.removeAll(from: length)
    writer!.fileLength = length
    mapping.noteFileLength(length)
  }
}

extension WriterState {
  /// Free bytes that no policy tries to get rid of.
  static let slackBytes: UInt64 = 64 << 10

  /// The length to which the file could be cut now.
  var usefulLength: UInt64 {
    guard shrinkThreshold != nil || isTooLong, let tail = free.tailRun(end: fileLength) else {
      return fileLength
    }
    let page = UInt64(FileHeader.pageLength)
    // One step of growth stays.
    let wanted = visibleBytes + growthStep
    let end = (max(tail.offset, wanted, FileHeader.dataStart) + page - 1) / page * page
    return end + 16 * page <= fileLength ? end : fileLength
  }

  /// More free space than is useful.
  var isTooLong: Bool { isTooLong(with: 0) }

  /// Whether there would be, if the file were longer by `growth`.
  func isTooLong(with growth: UInt64) -> Bool {
    Double(fileLength + growth) > 1.08 * Double(visibleBytes) + 2 * Double(Self.slackBytes)
  }

  /// Sets or clears the threshold above which blocks are moved; both ways, or a file that was long
  /// once would never settle.
  func updateShrinkThreshold() {
    commitsSinceThreshold += 1
    let isDue = shrinkThreshold != nil && commitsSinceThreshold >= 16
    guard isDue || (shrinkThreshold == nil && isTooLong) else { return }
    commitsSinceThreshold = 0
    if Double(fileLength) <= 1.07 * Double(visibleBytes) + 2 * Double(Self.slackBytes) {
      shrinkThreshold = nil
    } else {
      if shrinkThreshold == nil { moveGain = MoveGain(length: fileLength) }
      shrinkThreshold = UInt64(1.04 * Double(visibleBytes)) + Self.slackBytes / 2
    }
  }

  /// Leaves out the journal, which this commit makes anew and much shorter: readers that stay
  /// behind pin what this commit sees, so it has to move everything that must move.
  func lowerShrinkThreshold() {
    guard let threshold = shrinkThreshold else { return }
    let journalBytes = journal.bytes
    let lower = UInt64(1.04 * Double(visibleBytes - journalBytes)) + Self.slackBytes / 2
    shrinkThreshold = min(threshold, lower)
  }
}
