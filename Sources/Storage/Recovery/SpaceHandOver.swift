// What another process has committed since this one wrote last, added to what this one knows of
// space. Costs what the other one has changed; where its journal does not reach back so far, or
// does not fit, everything is read anew by SpaceLoading.swift.
internal import Platform

extension Store {
  /// Brings the writer's knowledge of space up to a record.
  ///
  /// - Returns: false when that is impossible; then what is known is not true of any version.
  /// - Complexity: O(what was committed since).
  func followSpace(to found: FoundRecord) throws(StorageError) -> Bool {
    let record = found.record
    let writer = writer!
    guard let known = writer.spaceVersion, known <= record.version else { return false }
    writer.spaceVersion = nil
    guard let news = try? journalNews(of: record, since: known) else { return false }
    var length: UInt64
    do throws(SystemError) { length = try file.length() } catch { throw .system(error) }
    length = min(length - length % UInt64(FileHeader.pageLength), Run.endMax)
    // The head before the pins: see `updatePins`.
    let durable = try updatePins()
    var kept = KeptRuns()
    releasePending(to: &kept)
    let longest = news.deltas.reduce(length) { end, delta in
      delta.taken.reduce(end) { max($0, $1.end) }
    }
    if longest > writer.fileLength {
      writer.free.free(Run(offset: writer.fileLength, length: longest - writer.fileLength))
      writer.fileLength = longest
    }
    #if PLANTED_BUGS
      let isSkipping = PlantedBug.handOverSkips.isActive && news.deltas.count > 1
    #endif
    for delta in news.deltas {
      #if PLANTED_BUGS
        if isSkipping, delta.version == news.deltas[0].version { continue }
      #endif
      for run in delta.taken {
        kept.remove(run)
        guard takeFromAnywhere(run) else { return false }
      }
      for run in delta.dead {
        guard isAllInUse(run) else { return false }
        kept.insert(run, death: delta.version)
        writer.release(run)
      }
    }
    if length < writer.fileLength {
      for run in writer.dead.remove(from: length, to: Run.endMax) { writer.release(run) }
      writer.free.removeAll(from: length)
    }
    writer.journal = news.journal
    writer.fileLength = length
    writer.lengthInFile = length
    writer.commits = record.commits
    writer.moveCursor = []
    try keepWhatIsNeeded(kept, durable: durable)
    writer.spaceVersion = record.version
    writer.isLoaded = true
    return true
  }

  /// The journal of a record, and the deltas behind a version.
  private struct JournalNews {
    var journal: SpaceJournal
    var deltas: [SpaceDelta]
  }

  /// - Returns: nil where the journal has no longer all deltas behind the version.
  private func journalNews(
    of record: CommitRecord, since known: Version
  ) throws -> JournalNews? {
    let old = writer!.journal
    var journal = old
    var oldest: UInt64 = 0
    if record.spaceCheckpoint != old.list {
      journal = SpaceJournal()
      _ = try readParts(record, &journal, known: old.parts)
      oldest = try oldestLog(of: record)
    }
    // The log has the deltas of all commits behind the oldest part.
    guard journal.formerCheckpoint.isEmpty, journal.oldestPart <= known else { return nil }
    let log = try readJournal(
      record.spaceLog, .spaceLog, downTo: oldest, after: known, until: old.log)
    journal.log = record.spaceLog
    let oldestPart = journal.oldestPart
    journal.logBlocks = old.logBlocks.filter { $0.birth > oldestPart } + log.blocks
    if record.spaceCheckpoint != old.list { journal.logBytesSincePart = 0 }
    journal.logBytesSincePart += log.bytes.count
    journal.deltas = record.deltas
    let recent = try SpaceDelta.decodeAll(record.deltas)
    journal.deltaCommits = recent.count
    let deltas = try SpaceDelta.decodeAll(log.bytes) + recent
    return JournalNews(journal: journal, deltas: deltas.filter { $0.version > known })
  }

  /// What waits for a sync is judged anew, like what has died since.
  private func releasePending(to kept: inout KeptRuns) {
    let writer = writer!
    for entry in writer.pending[writer.pendingHead...] {
      let run = Store.run(of: entry.block)
      kept.insert(run, death: entry.death)
      writer.release(run)
    }
    writer.pending = []
    writer.pendingHead = 0
  }

  /// Takes a run that is free, but for blocks that this process has kept longer than the other one.
  private func takeFromAnywhere(_ run: Run) -> Bool {
    let writer = writer!
    for part in writer.dead.remove(from: run.offset, to: run.end) { writer.release(part) }
    if HomeSpace.contains(run.offset) {
      guard writer.homes.isFree(run) else { return false }
      writer.homes.take(run)
    } else {
      guard writer.free.contains(run) else { return false }
      writer.free.take(run)
    }
    return true
  }

  /// Whether nothing of a run is free or kept.
  private func isAllInUse(_ run: Run) -> Bool {
    let writer = writer!
    if HomeSpace.contains(run.offset) { return writer.homes.isTaken(run) }
    return writer.free.isDisjoint(from: run)
  }
}
