// The steps of a commit, in one place and in order. Runs under the write lock up to step 8.
//
//  1 refuse what must not be committed            5 note taken and dead runs in the space journal
//  2 move blocks down while the file is too long  6 write the blocks, then the record
//  3 join the open group of the pipeline          7 make the version the newest one, pin it
//  4 place every new block, patch references      8 release the write lock
//                                                 9 wait for a sync (or lead one), which publishes
//
// An asynchronous commit leaves step 6 to DeferredCommits.swift: its bytes wait in memory, and from
// step 7 on everybody who may see the version reads them there.
internal import Glibc
internal import Platform

extension Store {
  func commit(_ transaction: WriteTransaction) throws(StorageError) -> Snapshot {
    let (snapshot, needsMaintenance) = try commitWithoutSync(transaction, notifying: nil)
    // Step 9. Without syncs the version was published before the lock was released, see `finish`.
    if durability == .full { try waitUntilDurable(snapshot.version) }
    if let needsMaintenance { noteCommitForMaintenance(isNeeded: needsMaintenance) }
    return snapshot
  }

  /// Steps 1 to 8.
  ///
  /// - Parameter waiting: of an asynchronous commit, who is to hear of it.
  /// - Returns: the new version, and whether idle work should follow; of a transaction without
  ///   changes its base, which may have to become durable too, and nil.
  func commitWithoutSync(
    _ transaction: WriteTransaction, notifying waiting: AsynchronousCommits.Waiting?
  ) throws(StorageError) -> (snapshot: Snapshot, needsMaintenance: Bool?) {
    let editor = transaction.editor
    if transaction.root == transaction.base.root, editor.provisionalCount == 0, editor.dead.isEmpty,
      !writer!.isIdle
    {
      leaveWriteLock(telling: waiting, of: transaction.base.version)
      return (transaction.base, nil)
    }
    #if PLANTED_BUGS
      if PlantedBug.loseCommit.strikes(everyCalls: 100) {
        rollBack(transaction)
        waiting?.completion(nil)
        return (transaction.base, nil)
      }
    #endif
    let snapshot: Snapshot
    do throws(StorageError) {
      if let failure = pipeline.failure(of: transaction.base.version) { throw failure }
      try refuseTooManyVersions()
      if let failure = transaction.stream.failure { throw failure }
      moveBlocksDown(transaction)
      let isDeferred = waiting != nil && canDefer(transaction)
      do throws(StorageError) {
        snapshot = try isDeferred ? writeLater(transaction) : writeNow(transaction)
      } catch {
        pipeline.didFail()
        throw error
      }
    } catch {
      giveBack(transaction)
      leaveWriteLock()
      throw error
    }
    // The threshold is that of the commit's begin; what a large one has left behind it shows only
    // now.
    let needsMaintenance = writer!.shrinkThreshold != nil || writer!.isTooLong || isLogDirty
    leaveWriteLock(telling: waiting, of: snapshot.version)
    return (snapshot, needsMaintenance)
  }

  /// Step 8 of an asynchronous commit: who is to hear of it joins the queue under the lock, so that
  /// all are told in commit order, but nobody is told under it.
  private func leaveWriteLock(telling waiting: AsynchronousCommits.Waiting?, of version: Version) {
    let mustWait = waiting.map { enqueueUnlessDurable(version, $0) }
    leaveWriteLock()
    if mustWait == false { waiting!.completion(nil) }
    if waiting != nil { completeWithoutThread() }
  }

  func rollBack(_ transaction: WriteTransaction) {
    giveBack(transaction)
    leaveWriteLock()
  }

  /// Returns the space of a transaction that will not be committed.
  private func giveBack(_ transaction: WriteTransaction) {
    let mapping = mapping
    func giveBack(_ run: Run) {
      writer!.release(run)
      // Blocks that were never written are there for nobody, and on a full disk there may be no
      // room for a look at their place.
      mapping.forget(run)
      transaction.base.mapping.forget(run)
    }
    if let run = transaction.stream.run {
      giveBack(run)
      transaction.stream.run = nil
    }
    if PlantedBug.rollbackSpaceLost.isActive { transaction.taken = [] }
    for run in transaction.taken { giveBack(run) }
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
    do throws(StorageError) {
      try pipeline.waitUntilDurable(
        version, isWriterQueued: { queue.hasWaiters },
        write: { group in
          let written = writeDeferred(group)
          leaveProcessLock()
          return written
        },
        sync: { (group) throws(StorageError) in
          if durability == .full { try makeDurable(group) }
        },
        publish: { publish($0) })
    } catch {
      // What was unwritten is dropped: it no longer keeps other processes waiting, nor Realms
      // standing on it.
      leaveProcessLock()
      listeners.notifyOfLoss()
      throw error
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

  // MARK: - Steps 3 to 7

  /// What steps 4 and 5 have found out.
  struct PlacedCommit {
    /// Without extents and what the group knows.
    var record: CommitRecord
    let journal: SpaceJournal
    /// Blocks that this commit has given up, and journal blocks.
    let dead: [BlockEditor.DeadBlock]
    let deadJournal: [BlockEditor.DeadBlock]
    /// Its blocks were written while the transaction ran, and need a sync before the record.
    let isLarge: Bool
  }

  /// Steps 4 and 5: the extents are in the placement, nothing is written but what is large.
  func place(
    _ transaction: WriteTransaction, home: Int, into placement: inout Placement
  ) throws(StorageError) -> PlacedCommit {
    placement.removeAll()
    var root = transaction.root
    let isLarge = isWrittenEarly(transaction)
    // A large transaction streams its blocks out; a small one gathers them in memory.
    if isLarge {
      root = try finishEarly(transaction)
    } else if root.isProvisional {
      root = try place(root, of: transaction, home: home, into: &placement)
    }
    let dead = transaction.editor.dead
    let (journal, deadJournal) = try recordSpace(transaction, dead: dead, into: &placement)
    let record = CommitRecord(
      version: transaction.version, root: root, durableVersion: Version(0),
      fileLength: writer!.usefulLength, spaceCheckpoint: journal.list,
      spaceLog: journal.log, commits: writer!.commits + 1, contentHash: 0, extents: [],
      deltas: journal.deltas)
    return PlacedCommit(
      record: record, journal: journal, dead: dead, deadJournal: deadJournal, isLarge: isLarge)
  }

  func isWrittenEarly(_ transaction: WriteTransaction) -> Bool {
    transaction.stream.isUsed || transaction.editor.provisionalBytes > EarlyWriter.threshold
  }

  private func writeNow(_ transaction: WriteTransaction) throws(StorageError) -> Snapshot {
    try writeDeferred(before: transaction)
    var group = try pipeline.join(foreignHome: lockFile.head.home)
    let memory = memory
    let commit = try place(transaction, home: group.home, into: &memory.placement)
    // The last that may fail besides the writing: after the record nothing could be taken back.
    let mapping = try mappingCovering(writer!.fileLength, mayEmpty: true)
    let overwriting = overwriting
    overwriting?.cover(mapping.mapping.length)
    // Step 6. What lies right behind the record goes out together with it.
    if PlantedBug.groupSplit.isActive { group.own = [] }
    let afterRecord = header.homes[group.home] + UInt64(CommitRecord.lengthMax)
    var behindRecord: Placement.Filling?
    for filling in memory.placement.filling where filling.used > 0 {
      group.own.append(VouchedExtent(filling.bytes, at: filling.offset))
      if filling.offset == afterRecord, !commit.isLarge {
        behindRecord = filling
      } else {
        try writeBytes(filling.bytes, at: filling.offset, overwriting)
      }
    }
    #if PLANTED_BUGS
      if PlantedBug.changeUnderPin.isActive { try changeInPlace(transaction) }
    #endif
    try writeRecord(
      commit.record, &group, isLarge: commit.isLarge, behind: behindRecord)
    // Step 7.
    let snapshot = snapshots.makeSnapshot(
      transaction.version, root: commit.record.root, mapping: mapping,
      createdAt: options.clock.nanoseconds(), owner: transaction.place)
    let committed = CommittedVersion(
      snapshot: snapshot, home: group.home, vouchesAfter: group.durableBefore)
    group.last = committed
    transaction.willBecomeVisible?()
    finish(transaction, commit, committed, mapping)
    #if INVARIANT_CHECKS
      let findings = checkSpace().findings
      precondition(findings.isEmpty, "after version \(committed.version): \(findings)")
    #endif
    if durability == .memory {
      pipeline.publishWithoutSync(committed) { publish($0) }
    } else {
      pipeline.didWrite(&group)
    }
    return snapshot
  }

  /// Step 7: the writer goes on from this version.
  func finish(
    _ transaction: WriteTransaction, _ commit: PlacedCommit, _ committed: CommittedVersion,
    _ mapping: ReadMapping
  ) {
    let version = committed.version
    let writer = writer!
    mapping.noteReuse(upTo: version)
    writer.newest = committed
    writer.commits = commit.record.commits
    let length = commit.record.fileLength
    writer.plannedCut = length < writer.fileLength ? (version, length) : nil
    writer.journal = commit.journal
    writer.spaceVersion = version
    for block in commit.dead {
      writer.pending.append(WriterState.Pending(block: block, death: version))
    }
    for block in commit.deadJournal {
      writer.pending.append(WriterState.Pending(block: block, death: version, isVisible: false))
    }
    transaction.taken = []
    lockFile.publishCommitted(version: version, home: committed.home)
  }

  /// Writes the record of a group's last commit, over all that the group has written.
  ///
  /// - Parameter blocks: lie right behind the record and are not written yet.
  func writeRecord(
    _ commit: CommitRecord, _ group: inout CommitPipeline.Group, isLarge: Bool,
    behind blocks: Placement.Filling? = nil
  ) throws(StorageError) {
    let home = header.homes[group.home]
    let vouched = group.carried.isEmpty ? group.own : group.carried + group.own
    var record = commit
    record.durableVersion = group.durableBefore
    record.contentHash = CommitRecord.contentHash(vouched.lazy.map { $0.hash })
    record.extents = vouched.map { $0.extent }
    group.fileLength = record.fileLength
    var encoded = isLarge ? nil : record.encoded(salt: header.salt, home: home, cipher)
    if encoded == nil, !isLarge, !group.hasSyncedBlocks, canProveByLog(group) {
      record.extents = []
      record.contentHash = 0
      record.isProvenByLog = true
      encoded = record.encoded(salt: header.salt, home: home, cipher)
    }
    if encoded == nil {
      if let blocks { try writeBytes(blocks.bytes, at: blocks.offset) }
      // Two phases: what was written becomes durable first, so the record need not prove it.
      if durability == .full, !PlantedBug.recordBeforeData.isActive { try synchronizeAndNote() }
      group.own = []
      group.hasSyncedBlocks = true
      group.carried = []
      record.extents = []
      record.contentHash = 0
      encoded = record.encoded(salt: header.salt, home: home, cipher)
    }
    guard let encoded else {
      throw .invariant(path: path, reason: "a commit record is too long")
    }
    group.isProvenByLog = record.isProvenByLog
    // Of a record that stands for itself they were written above, before the sync.
    let isBehind = !record.extents.isEmpty || record.isProvenByLog
    try writeRecord(
      encoded, home: home, previous: group.record, behind: isBehind ? blocks : nil)
    group.record = encoded
  }

  #if PLANTED_BUGS
    private func changeInPlace(_ transaction: WriteTransaction) throws(StorageError) {
      let editor = transaction.editor
      for (old, copy, length) in editor.replaced where !editor.arena.isRemoved(copy) {
        let block = editor.pointer(copy)
        guard BlockHeader.blockLength(block) == length else { continue }
        try writeBytes(
          UnsafeRawBufferPointer(start: block, count: length), at: old.offset)
      }
    }
  #endif

  /// What stores instead of writing; nil with syncs, which also write without the write lock: see
  /// `writeDeferred`.
  private var overwriting: OverwriteMap? { durability == .memory ? memory.overwriting : nil }

  /// - Parameter isCounted: false when other bytes follow in the same place before any sync.
  func writeBytes(
    _ bytes: UnsafeRawBufferPointer, at offset: UInt64, isCounted: Bool = true
  ) throws(StorageError) {
    try writeBytes(bytes, at: offset, overwriting, isCounted: isCounted)
  }

  private func writeBytes(
    _ bytes: UnsafeRawBufferPointer, at offset: UInt64, _ overwriting: OverwriteMap?,
    isCounted: Bool = true
  ) throws(StorageError) {
    do throws(SystemError) {
      if overwriting?.write(bytes, at: offset) != true {
        try file.write(bytes, at: offset)
        overwriting?.didWrite(bytes.count, at: offset)
      }
      if isCounted { writtenBytes.add(UInt64(bytes.count), ordering: .relaxed) }
    } catch {
      throw error.isOutOfSpace ? .diskFull(error) : .system(error)
    }
  }

  /// Writes a record; puts the group's previous one back when that fails.
  ///
  /// A first record is torn then, and says so. If all of it was written before the call failed, it
  /// is taken out again: the version was told to be rolled back, and must not come back.
  ///
  /// - Parameter blocks: are written in the same call: what lies behind the record in its home, and
  ///   is in memory as it lies in the file.
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
      if PlantedBug.tornRecordLeft.isActive { throw error }
      let isWhole = mayBeInFile(record, at: home)
      if previous.isEmpty ? !isWhole : isInFile(previous, at: home) { throw error }
      do throws(StorageError) {
        try writeAll(previous.isEmpty ? record.map { _ in 0 } : previous, at: home)
        // Nor with a power cut: of a group that has others a sync is on its way.
        if isWhole, previous.isEmpty, durability == .full { try synchronizeOrLatch() }
      } catch let second {
        // Earlier commits of the group have lost their record, or a later one is there: the same as
        // a failed sync.
        lockFile.markSyncFailed(SystemError.inputOutput)
        throw second
      }
      throw error
    }
  }

  private func isInFile(_ bytes: [UInt8], at offset: UInt64) -> Bool {
    (try? file.bytes(at: offset, length: bytes.count)) == bytes
  }

  /// The same for all that is known: a file that cannot be read may have anything.
  private func mayBeInFile(_ bytes: [UInt8], at offset: UInt64) -> Bool {
    (try? file.bytes(at: offset, length: bytes.count)).map { $0 == bytes } ?? true
  }

  private func writeAll(_ bytes: [UInt8], at offset: UInt64) throws(StorageError) {
    var failure: StorageError?
    bytes.withUnsafeBytes { buffer in
      do throws(StorageError) { try writeBytes(buffer, at: offset) } catch { failure = error }
    }
    if let failure { throw failure }
  }
}
