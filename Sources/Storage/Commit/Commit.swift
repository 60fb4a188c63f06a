// The steps of a commit, in one place and in order. Runs under the write lock up to step 8.
//
//  1 refuse what must not be committed            5 note taken and dead runs in the space journal
//  2 move blocks down while the file is too long  6 write the blocks, then the record
//  3 join the open group of the pipeline          7 make the version the newest one, pin it
//  4 place every new block, patch references      8 release the write lock
//                                                 9 wait for a sync (or lead one), which publishes
internal import Glibc
internal import Platform

extension Store {
  func commit(_ transaction: WriteTransaction) throws(StorageError) -> Snapshot {
    let (snapshot, needsMaintenance) = try commitWithoutSync(transaction)
    // Step 9. Without syncs the version was published before the lock was released, see `write`.
    if durability == .full { try waitUntilDurable(snapshot.version) }
    if let needsMaintenance { noteCommitForMaintenance(isNeeded: needsMaintenance) }
    return snapshot
  }

  /// Steps 1 to 8.
  ///
  /// - Returns: the new version, and whether idle work should follow; of a transaction without changes
  ///   its base, which may have to become durable too, and nil.
  func commitWithoutSync(
    _ transaction: WriteTransaction
  ) throws(StorageError) -> (snapshot: Snapshot, needsMaintenance: Bool?) {
    let editor = transaction.editor
    if transaction.root == transaction.base.root, editor.provisionalCount == 0, editor.dead.isEmpty,
      !writer!.isIdle
    {
      leaveWriteLock()
      return (transaction.base, nil)
    }
    #if PLANTED_BUGS
      if PlantedBug.loseCommit.strikes(everyCalls: 100) {
        rollBack(transaction)
        return (transaction.base, nil)
      }
    #endif
    let committed: CommittedVersion
    do throws(StorageError) {
      try refuseTooManyVersions()
      if let failure = transaction.stream.failure { throw failure }
      moveBlocksDown(transaction)
      let foreign = lockFile.head.home
      let group = try pipeline.join(foreignHome: foreign)
      do throws(StorageError) {
        committed = try write(transaction, group: group)
      } catch {
        pipeline.didFail()
        throw error
      }
    } catch {
      giveBack(transaction)
      leaveWriteLock()
      throw error
    }
    // The threshold is that of the commit's begin; what a large one has left behind it shows only now.
    let needsMaintenance = writer!.shrinkThreshold != nil || writer!.isTooLong
    leaveWriteLock()
    return (committed.snapshot, needsMaintenance)
  }

  func rollBack(_ transaction: WriteTransaction) {
    giveBack(transaction)
    leaveWriteLock()
  }

  /// Returns the space of a transaction that will not be committed.
  private func giveBack(_ transaction: WriteTransaction) {
    if let run = transaction.stream.run {
      writer!.release(run)
      transaction.stream.run = nil
    }
    if PlantedBug.rollbackSpaceLost.isActive { transaction.taken = [] }
    for run in transaction.taken { writer!.release(run) }
    transaction.taken = []
  }

  private func refuseTooManyVersions() throws(StorageError) {
    let limit = maximumNumberOfActiveVersions
    guard limit != .max else { return }
    // Counted: everything pinned by anyone, the newest version included, and the one to be made.
    let live = UInt64(writer!.pinnedVersions.union(snapshots.versions).count) + 1
    if live > limit { throw .tooManyVersions(path: path, limit: limit, live: live) }
  }

  func waitUntilDurable(_ version: Version) throws(StorageError) {
    try pipeline.waitUntilDurable(
      version, isWriterQueued: { queue.hasWaiters },
      sync: { () throws(StorageError) in try synchronizeOrLatch() },
      publish: { publish($0) })
  }

  /// One fdatasync.
  ///
  /// A failure is final for every process: nobody can know what reached the disk. The kernel tells only
  /// one caller of it, so syncs of this process come one after the other, and none counts after one that
  /// has failed.
  func synchronizeOrLatch() throws(StorageError) {
    try syncing.withLock { (_) throws(StorageError) in
      try throwIfSyncFailed()
      do throws(SystemError) { try lockFile.synchronize(file) } catch { throw .system(error) }
    }
  }

  /// Makes a version visible to all readers, unless a newer one already is.
  func publish(_ committed: CommittedVersion) {
    #if PLANTED_BUGS
      var committed = committed
      if PlantedBug.publishLate.isActive { committed = latePublication.exchange(committed) }
    #endif
    publishing.withLock { _ in
      if let newest = snapshots.pinNewest(), newest.version >= committed.version { return }
      snapshots.publish(committed.snapshot)
      lockFile.publishHead(version: committed.version, home: committed.home)
    }
    listeners.notify(committed.version)
  }

  // MARK: - Steps 4 to 7

  private func write(
    _ transaction: WriteTransaction, group original: CommitPipeline.Group
  ) throws(StorageError) -> CommittedVersion {
    var group = original
    if PlantedBug.groupSplit.isActive { group.own = [] }
    let version = transaction.version
    let home = header.homes[group.home]
    var root = transaction.root
    var placement = Placement(buffer: memory.buffer)
    let isLarge = transaction.editor.provisionalBytes > EarlyWriter.threshold
    let startsEarly = transaction.stream.isUsed || isLarge
    // Step 4. A large transaction streams its blocks out; a small one gathers them in memory.
    if startsEarly {
      if root.isProvisional { root = writeEarly(root, for: transaction) ?? root }
      try finishEarly(transaction)
    } else if root.isProvisional {
      root = try place(root, of: transaction, home: group.home, into: &placement)
    }
    // Step 5.
    let dead = transaction.editor.dead
    let (journal, deadJournal) = try recordSpace(transaction, dead: dead, into: &placement)
    // The last that may fail besides the writing: after the record nothing could be taken back.
    let mapping = try mappingCovering(writer!.fileLength)
    memory.overwriting?.cover(mapping.mapping.length)
    // Step 6. What lies right behind the record goes out together with it.
    let extents = placement.filling.filter { $0.used > 0 }
    for filling in extents {
      group.own.append(
        VouchedExtent(
          extent: Extent(offset: filling.offset, length: UInt64(filling.used)),
          hash: CommitRecord.hash(filling.bytes, at: filling.offset)))
    }
    let behindRecord =
      startsEarly ? nil : extents.firstIndex { $0.offset == home + UInt64(CommitRecord.lengthMax) }
    for index in extents.indices where index != behindRecord {
      try writeBytes(extents[index].bytes, at: extents[index].offset)
    }
    let length = writer!.usefulLength
    #if PLANTED_BUGS
      if PlantedBug.changeUnderPin.isActive { try changeInPlace(transaction) }
    #endif
    let vouched = group.carried.isEmpty ? group.own : group.carried + group.own
    var record = CommitRecord(
      version: version, root: root, durableVersion: group.durableBefore,
      fileLength: length, spaceCheckpoint: journal.checkpoint, spaceLog: journal.log,
      commits: writer!.commits + 1,
      contentHash: CommitRecord.contentHash(vouched.lazy.map { $0.hash }),
      extents: vouched.map { $0.extent },
      deltas: journal.deltas)
    var encoded = startsEarly ? nil : record.encoded(salt: header.salt, home: home, cipher)
    if encoded == nil {
      if let behindRecord {
        try writeBytes(extents[behindRecord].bytes, at: extents[behindRecord].offset)
      }
      // Two phases: what was written becomes durable first, so the record need not prove it.
      if durability == .full, !PlantedBug.recordBeforeData.isActive { try synchronizeOrLatch() }
      group.own = []
      group.carried = []
      record.extents = []
      record.contentHash = 0
      encoded = record.encoded(salt: header.salt, home: home, cipher)
    }
    guard let encoded else {
      throw .invariant(path: path, reason: "a commit record is too long")
    }
    try writeRecord(
      encoded, home: home, previous: group.record,
      behind: record.extents.isEmpty ? nil : behindRecord.map { extents[$0] })
    group.record = encoded
    // Step 7.
    let snapshot = snapshots.makeSnapshot(
      version, root: root, mapping: mapping,
      createdAt: options.clock.nanoseconds(), owner: ThreadNumber.current)
    let committed = CommittedVersion(
      snapshot: snapshot, home: group.home, vouchesAfter: group.durableBefore)
    group.last = committed
    mapping.noteReuse(upTo: version)
    writer!.newest = committed
    writer!.commits += 1
    writer!.plannedCut = length < writer!.fileLength ? (version, length) : nil
    writer!.journal = journal
    for block in dead { writer!.pending.append(WriterState.Pending(block: block, death: version)) }
    for block in deadJournal {
      writer!.pending.append(WriterState.Pending(block: block, death: version, isVisible: false))
    }
    transaction.taken = []
    #if INVARIANT_CHECKS
      let findings = checkSpace().findings
      precondition(findings.isEmpty, "after version \(version): \(findings)")
    #endif
    transaction.willBecomeVisible?()
    lockFile.publishCommitted(version: version, home: group.home)
    pipeline.didWrite(group)
    if durability == .memory { pipeline.publishWithoutSync { publish($0) } }
    return committed
  }

  #if PLANTED_BUGS
    private func changeInPlace(_ transaction: WriteTransaction) throws(StorageError) {
      let editor = transaction.editor
      for (old, copy, length) in editor.replaced where !editor.arena.isRemoved(copy) {
        let block = editor.pointer(copy)
        guard BlockHeader.blockLength(block) == length else { continue }
        try writeBytes(
          UnsafeRawBufferPointer(start: block, count: length), at: old.rawValue)
      }
    }
  #endif

  func writeBytes(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) {
    let overwriting = memory.overwriting
    do throws(SystemError) {
      if overwriting?.write(bytes, at: offset) != true {
        try file.write(bytes, at: offset)
        overwriting?.didWrite(bytes.count, at: offset)
      }
      writer!.writtenBytes += UInt64(bytes.count)
    } catch {
      throw error.isOutOfSpace ? .diskFull(error) : .system(error)
    }
  }

  /// Writes a record; puts the group's previous one back when that fails half way.
  ///
  /// - Parameter blocks: are written in the same call: what lies behind the record in its home, and is
  ///   in memory as it lies in the file.
  private func writeRecord(
    _ record: [UInt8], home: UInt64, previous: [UInt8], behind blocks: Placement.Filling?
  ) throws(StorageError) {
    do throws(StorageError) {
      if let blocks {
        try writeBytes(blocks.bytes(behind: record), at: home)
      } else {
        try writeAll(record, at: home)
      }
    } catch {
      guard !previous.isEmpty, !PlantedBug.tornRecordLeft.isActive else { throw error }
      do throws(StorageError) {
        try writeAll(previous, at: home)
      } catch let second {
        // Earlier commits of the group have lost their record: the same as a failed sync.
        lockFile.markSyncFailed(EIOCode)
        throw second
      }
      throw error
    }
  }

  private func writeAll(_ bytes: [UInt8], at offset: UInt64) throws(StorageError) {
    var failure: StorageError?
    bytes.withUnsafeBytes { buffer in
      do throws(StorageError) { try writeBytes(buffer, at: offset) } catch { failure = error }
    }
    if let failure { throw failure }
  }
}

/// errno of an input/output error, for the latch in the lock file.
private let EIOCode: Int32 = EIO
