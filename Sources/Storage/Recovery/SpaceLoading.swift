// Rebuilds the writer's picture of space from checkpoint, log blocks and the newest record's deltas:
// no scan of the file. Needed at the first write after opening, and when another process has written.
internal import Platform

extension Store {
  /// Makes `writer` true for the version that `found` names.
  ///
  /// - Complexity: O(checkpoint + log), independent of the file's size where that stays small.
  func loadSpace(_ found: FoundRecord) throws(StorageError) {
    let record = found.record
    var journal = SpaceJournal()
    journal.checkpoint = record.spaceCheckpoint
    journal.log = record.spaceLog
    journal.deltas = record.deltas
    let checkpointBytes = try readJournal(
      record.spaceCheckpoint, .spaceCheckpoint, &journal.blocks, &journal.checkpointBytes)
    let logBytes = try readJournal(
      record.spaceLog, .spaceLog, &journal.blocks, &journal.logBytes)
    var length: UInt64
    do throws(SystemError) { length = try file.length() } catch { throw .system(error) }
    // What someone has appended is no space until the file grows over it.
    length -= length % UInt64(FileHeader.pageLength)
    var replay: SpaceReplay
    do throws(SpaceCodingError) {
      let recent = try SpaceDelta.decodeAll(record.deltas)
      journal.deltaCommits = recent.count
      let deltas = try SpaceDelta.decodeAll(logBytes) + recent
      // The file was longer at times: replay as if it still were, then cut.
      let longest = deltas.reduce(length) { end, delta in
        delta.taken.reduce(end) { max($0, $1.end) }
      }
      if record.spaceCheckpoint.isNone {
        replay = SpaceReplay(homes: header.homes, fileLength: longest)
      } else {
        replay = try SpaceReplay(
          SpaceCheckpoint(decoding: checkpointBytes), homes: header.homes, fileLength: longest)
      }
      for delta in deltas { try replay.replay(delta) }
    } catch {
      throw .damaged(
        path: path, block: record.spaceCheckpoint.rawValue, version: record.version.rawValue,
        reason: "its space journal cannot be read: \(error)")
    }
    replay.cut(to: length)
    writer!.free = replay.free
    writer!.homes = replay.homes
    writer!.dead = DeadBlocks()
    writer!.pending = []
    writer!.pendingHead = 0
    writer!.ownPins = [:]
    writer!.foreignPins = []
    writer!.journal = journal
    writer!.fileLength = length
    writer!.lengthInFile = length
    writer!.commits = record.commits
    writer!.shrinkThreshold = nil
    writer!.moveCursor = []
    try keepWhatIsNeeded(replay.kept)
    writer!.isLoaded = true
  }

  /// Takes back the runs that are dead but not free: a pin sees them, their death is not durable yet, or
  /// the newest durable record vouches for their bytes.
  private func keepWhatIsNeeded(_ kept: KeptRuns) throws(StorageError) {
    // The head before the pins: see `updatePins`.
    let durable = pipeline.durable?.version ?? newestVersion
    let vouchesAfter = pipeline.durable?.vouchesAfter ?? Version(0)
    writer!.pinsAdded = snapshots.restartDraining()
    writer!.pinsRemoved = []
    writer!.updatePins()
    if let versions = try lockFile.foreignPins(since: &foreignPinState, reapNow: true) {
      writer!.updateForeignPins(versions)
    }
    let limit = min(durable, foreignPinState.everythingSince ?? durable)
    let hasOldPins =
      writer!.pinnedVersions.contains { $0 < durable } || foreignPinState.everythingSince != nil
    let mapping = mapping
    for (run, death) in kept.runs
    where run.end <= writer!.fileLength && (hasOldPins || death > vouchesAfter) {
      var offset = run.offset
      while offset < run.end {
        // What died long ago may have been reused by a transaction that never was: only blocks that are
        // whole can be needed by anyone.
        guard let block = mapping.wholeBlock(at: offset, before: run.end) else {
          offset += UInt64(BlockHeader.unit)
          continue
        }
        let reference = BlockReference(rawValue: offset)
        let (length, birth) = (block.length, block.birth)
        let part = Run(offset: offset, length: UInt64(length))
        let isVisible = !block.kind.isJournal
        if death > limit || birth > vouchesAfter {
          retake(part)
          writer!.pending.append(
            WriterState.Pending(
              block: BlockEditor.DeadBlock(reference: reference, length: length, birth: birth),
              death: death, isVisible: isVisible))
        } else if isVisible, writer!.dead.insert(run: part, birth: birth, death: death) {
          retake(part)
        }
        offset += UInt64(length)
      }
    }
    writer!.pending.sort { $0.death < $1.death }
  }

  private func retake(_ run: Run) {
    if HomeSpace.contains(run.offset) { writer!.homes.take(run) } else { writer!.free.take(run) }
  }

  /// The bytes of a chain of journal blocks, oldest first.
  func readJournal(
    _ newest: BlockReference, _ kind: BlockKind, _ blocks: inout [BlockEditor.DeadBlock],
    _ blockBytes: inout Int
  ) throws(StorageError) -> [UInt8] {
    var parts: [[UInt8]] = []
    var seen: Set<BlockReference> = []
    var reference = newest
    while !reference.isNone {
      let bytes = try mapping.storedBytes(reference)
      let start = BlockHeader.length + Store.journalHeaderLength
      let (foundKind, birth, used, previous) = bytes.withUnsafeBytes { block in
        let header = block.baseAddress!
        let isLong = block.count >= start
        return (
          BlockHeader.kind(header), BlockHeader.birth(header),
          isLong ? Int(block.value(UInt32.self, at: BlockHeader.length + 8)) : Int.max,
          isLong ? block.value(UInt64.self, at: BlockHeader.length) : 0
        )
      }
      guard foundKind == kind, used <= bytes.count - start, seen.insert(reference).inserted else {
        throw .damaged(
          path: path, block: reference.rawValue, version: birth.rawValue,
          reason: "it is no block of the space journal")
      }
      parts.append([UInt8](bytes[start..<start + used]))
      let length = bytes.count + blockOverhead
      blocks.append(
        BlockEditor.DeadBlock(reference: reference, length: length, birth: birth))
      blockBytes += length
      reference = BlockReference(rawValue: previous)
    }
    return Array(parts.reversed().joined())
  }
}
