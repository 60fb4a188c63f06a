// Commits that are final in memory and written later, so that an asynchronous commit makes no
// system call on its caller's thread. They are written in commit order, a group at a time: by
// whoever leads the group, which is mostly the file's own thread, or by the next writer that needs
// them in the file. Another process gets the write lock only when nothing is unwritten.
//
// When one cannot be written it is lost with all that build on it. Readers of lost versions keep
// the mapping in which they find these; everybody else gets a new one, and the next writer reads
// the file anew.
internal import Platform

/// A commit after its steps 1 to 5 and 7.
struct DeferredCommit: Sendable {
  /// The last thing to hold the version's own snapshot, which reads from memory.
  let snapshot: Snapshot
  /// Without extents and what the group knows.
  let record: CommitRecord
  let extents: [UnwrittenExtent]
  /// What the file's length has to be before the extents are written; nil when it stays.
  let fileLength: UInt64?
  /// How long the file is then, at least.
  let lengthKnown: UInt64
  let isLarge: Bool

  var version: Version { snapshot.version }
}

extension Store {
  /// Whether asynchronous commits are written later.
  ///
  /// Not where writing is a copy in memory: without syncs a commit stores into pages of the file,
  /// and only the holder of the write lock knows which.
  var defersCommits: Bool { durability == .full && !isInMemory }

  /// Whether a transaction can be written later.
  ///
  /// Not where the mapping has to be changed, as the file could outgrow it or too much of it was
  /// decrypted: that is done by who writes.
  func canDefer(_ transaction: WriteTransaction) -> Bool {
    guard defersCommits, !holdsTooMuch(mapping) else { return false }
    let growth = 2 * UInt64(transaction.editor.provisionalBytes) + 2 * writer!.growthStep + 4 << 20
    return writer!.fileLength + growth <= UInt64(mapping.mapping.length)
  }

  /// Steps 3 to 7 but the writing.
  func writeLater(_ transaction: WriteTransaction) throws(StorageError) -> Snapshot {
    let isLarge = isWrittenEarly(transaction)
    // What is written early may make the file longer than those before have asked for.
    if isLarge { try writeDeferred(before: transaction) }
    let home = try pipeline.joinDeferred(foreignHome: lockFile.head.home)
    writer!.isDeferring = !isLarge
    defer { writer!.isDeferring = false }
    let memory = memory
    let commit = try place(transaction, home: home, into: &memory.placement)
    let mapping = mapping
    let unwritten = mapping.unwrittenBlocks
    var extents: [UnwrittenExtent] = []
    for filling in memory.placement.filling where filling.used > 0 {
      // What was verified there was another block.
      if cipher == nil {
        mapping.forget(Run(offset: filling.offset, length: UInt64(filling.used)))
      }
      extents.append(unwritten.copy(filling.bytes, for: filling.offset))
    }
    let length = writer!.fileLength == writer!.lengthInFile ? nil : writer!.fileLength
    let snapshot = snapshots.makeSnapshot(
      transaction.version, root: commit.record.root, mapping: mapping,
      createdAt: options.clock.nanoseconds(), owner: transaction.place,
      memory: SnapshotMemory(unwritten.add(extents)))
    // Of a version that is lost it does no harm: none that comes to be is built on it.
    transaction.willBecomeVisible?()
    do throws(StorageError) {
      try pipeline.deferCommit(
        DeferredCommit(
          snapshot: snapshot, record: commit.record, extents: extents, fileLength: length,
          lengthKnown: writer!.fileLength,
          isLarge: commit.isLarge), base: transaction.base.version)
    } catch {
      unwritten.remove(extents)
      throw error
    }
    writer!.lengthInFile = writer!.fileLength
    // What its record vouches for is known when that is written; until then nothing may be reused.
    finish(
      transaction, commit,
      CommittedVersion(snapshot: snapshot, home: home, vouchesAfter: Version(0)), mapping)
    return snapshot
  }

  // MARK: - Writing

  /// Writes what is unwritten; what cannot be written is lost, which the next transaction finds
  /// out.
  ///
  /// Write lock only.
  func writeDeferred() {
    guard pipeline.hasUnwritten, let group = pipeline.takeDeferred() else { return }
    _ = writeDeferred(group)
  }

  /// The same for a running transaction, which needs its base and the length that the file was to
  /// have.
  func writeDeferred(before transaction: WriteTransaction) throws(StorageError) {
    writeDeferred()
    if let failure = pipeline.failure(of: transaction.base.version) { throw failure }
    if writer!.lengthInFile != writer!.fileLength { try setLength(writer!.fileLength) }
  }

  /// Writes the deferred commits of a group that the pipeline has given out.
  ///
  /// Also without the write lock: what it touches belongs to the group.
  /// - Returns: the group as it is in the file.
  func writeDeferred(_ original: CommitPipeline.Group) -> CommitPipeline.Group {
    var group = original
    let commits = original.deferred
    let (written, failure) = writeToFile(commits, &group)
    let mapping = mapping
    for commit in commits[..<written] {
      mapping.noteFileLength(commit.lengthKnown)
      for extent in commit.extents { mapping.noteWritten(extent.bytes, at: extent.offset) }
      mapping.unwrittenBlocks.remove(commit.extents)
      commit.snapshot.noteWritten()
    }
    if written > 0 {
      group.last = CommittedVersion(
        snapshot: commits[written - 1].snapshot.settled, home: group.home,
        vouchesAfter: group.durableBefore)
    }
    if let failure { giveUp(commits[written...], failure) }
    pipeline.didWriteDeferred(group)
    if failure != nil { listeners.notifyOfLoss() }
    return group
  }

  private func giveUp(_ lost: ArraySlice<DeferredCommit>, _ failure: StorageError) {
    // Before anyone hears of the loss, and writes again.
    needsReload.store(true, ordering: .releasing)
    pipeline.giveUp(lost, failure)
    // From here on nobody adds to what is lost.
    do throws(StorageError) { try replaceMapping() } catch {
      // Without one nobody may write over what readers of lost versions look for.
      lockFile.markSyncFailed(SystemError.inputOutput)
    }
  }

  /// - Returns: how many of the commits are in the file with the record of the last one, and why
  ///   not all.
  private func writeToFile(
    _ commits: [DeferredCommit], _ group: inout CommitPipeline.Group
  ) -> (written: Int, failure: StorageError?) {
    var runs = UnwrittenRun.joining(commits)
    var written = 0
    var failure: StorageError?
    do throws(StorageError) {
      if let length = commits.last(where: { $0.fileLength != nil })?.fileLength {
        do throws(SystemError) { try file.setLength(length) } catch {
          throw error.isOutOfSpace ? .diskFull(error) : .system(error)
        }
      }
      for run in runs {
        written = run.first
        try writeBytes(run.bytes, at: run.offset)
      }
      written = commits.count
    } catch let error {
      failure = error
      // Without what lies between: the record must not vouch for lost bytes.
      runs = commits[..<written].flatMap { commit in
        commit.extents.map { UnwrittenRun(first: 0, offset: $0.offset, bytes: $0.bytes) }
      }
    }
    guard written > 0 else { return (0, failure) }
    let before = group
    group.own += runs.map { VouchedExtent($0.bytes, at: $0.offset) }
    if PlantedBug.groupSplit.isActive { group.own = [group.own.last!] }
    do throws(StorageError) {
      try writeRecord(
        commits[written - 1].record, &group, isLarge: commits[..<written].contains(where: \.isLarge)
      )
    } catch {
      group = before
      return (0, error)
    }
    return (written, failure)
  }
}

/// Bytes of one or more commits that lie one after the other in the file and in memory.
private struct UnwrittenRun {
  /// The first commit that has bytes here; grows from run to run.
  let first: Int
  let offset: UInt64
  var bytes: UnsafeRawBufferPointer

  /// Runs in which every extent of the commits lies.
  static func joining(_ commits: [DeferredCommit]) -> [UnwrittenRun] {
    var runs: [UnwrittenRun] = []
    for (index, commit) in commits.enumerated() {
      for extent in commit.extents {
        // Only the last few can go on: those of one commit are some hot and some cold ones.
        let before = runs.indices.suffix(4).last { runs[$0].isFollowed(by: extent) }
        if let before {
          runs[before].bytes = UnsafeRawBufferPointer(
            start: runs[before].bytes.baseAddress,
            count: runs[before].bytes.count + extent.bytes.count)
        } else {
          runs.append(UnwrittenRun(first: index, offset: extent.offset, bytes: extent.bytes))
        }
      }
    }
    return runs
  }

  private func isFollowed(by extent: UnwrittenExtent) -> Bool {
    offset + UInt64(bytes.count) == extent.offset
      && bytes.baseAddress! + bytes.count == extent.bytes.baseAddress!
  }
}
