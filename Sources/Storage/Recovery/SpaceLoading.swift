// Rebuilds the writer's picture of space from the parts of the checkpoint, log blocks and the
// newest record's deltas: no scan of the file. Needed at the first write after opening. What
// another process has done since is added by SpaceHandOver.swift where that is possible.
internal import Platform

extension Store {
  /// Makes `writer` true for the version that `found` names.
  ///
  /// - Complexity: O(checkpoint + log), independent of the file's size where that stays small.
  func loadSpace(_ found: FoundRecord) throws(StorageError) {
    let record = found.record
    journalReads.add(1, ordering: .relaxed)
    var length: UInt64
    do throws(SystemError) { length = try file.length() } catch { throw .system(error) }
    // What someone has appended is no space until the file grows over it.
    length = min(length - length % UInt64(FileHeader.pageLength), Run.endMax)
    var replay: SpaceReplay
    let journal: SpaceJournal
    (journal, replay) = try replaySpace(record, fileLength: length)
    replay.cut(to: length)
    let writer = writer!
    writer.setSpace(replay.free, replay.homes, of: path)
    writer.dead = DeadBlocks()
    writer.pending = []
    writer.pendingHead = 0
    writer.ownPins = [:]
    writer.foreignPins = []
    writer.journal = journal
    writer.fileLength = length
    writer.lengthInFile = length
    writer.commits = record.commits
    writer.shrinkThreshold = nil
    writer.moveCursor = []
    // The head before the pins: see `updatePins`.
    let durable = pipeline.durable?.version ?? newestVersion
    writer.pinsAdded = snapshots.restartDraining()
    writer.pinsRemoved = []
    writer.updatePins()
    if let versions = try lockFile.foreignPins(since: &foreignPinState, reapNow: true) {
      writer.updateForeignPins(versions)
    }
    try keepWhatIsNeeded(
      replay.kept, durable: min(durable, foreignPinState.everythingSince ?? durable))
    writer.spaceVersion = record.version
    writer.isLoaded = true
  }

  /// Reads the space journal of a record, and what it comes to.
  ///
  /// - Parameter reading: reads its blocks by calls; nil for the mapping.
  func replaySpace(
    _ record: CommitRecord, fileLength: UInt64, by reading: StoredBlockReading? = nil
  ) throws(StorageError) -> (journal: SpaceJournal, replay: SpaceReplay) {
    var journal = SpaceJournal()
    let contents = try readParts(record, &journal, known: [], by: reading)
    let log = try readJournal(
      record.spaceLog, .spaceLog, downTo: try oldestLog(of: record, by: reading), by: reading)
    journal.log = record.spaceLog
    journal.logBlocks = log.blocks
    journal.logBytesSincePart = log.bytes.count
    journal.deltas = record.deltas
    do throws(SpaceCodingError) {
      let recent = try SpaceDelta.decodeAll(record.deltas)
      journal.deltaCommits = recent.count
      let deltas = try SpaceDelta.decodeAll(log.bytes) + recent
      // The file was longer at times: replay as if it still were, then cut.
      let longest = deltas.reduce(fileLength) { end, delta in
        delta.taken.reduce(end) { max($0, $1.end) }
      }
      var replay = try SpaceReplay(
        journal.parts, contents, homes: header.homes, fileLength: longest)
      for delta in deltas { try replay.replay(delta) }
      return (journal, replay)
    } catch {
      throw journalDamage(record, "cannot be read: \(error)")
    }
  }

  /// How often this process has read the whole space journal.
  package var journalReadings: Int { journalReads.load(ordering: .relaxed) }

  func journalDamage(_ record: CommitRecord, _ reason: String) -> StorageError {
    .damaged(
      path: path, block: record.spaceCheckpoint.offset, version: record.version.rawValue,
      reason: "its space journal \(reason)")
  }

  /// Takes back the runs that are dead but not free: a pin sees them, their death is not durable
  /// yet, or the newest durable record vouches for their bytes.
  ///
  /// - Parameter limit: the newest version whose deaths the known pins tell of.
  func keepWhatIsNeeded(_ kept: KeptRuns, durable limit: Version) throws(StorageError) {
    let writer = writer!
    let durable = pipeline.durable?.version ?? newestVersion
    let vouchesAfter = pipeline.durable?.vouchesAfter ?? Version(0)
    let hasOldPins =
      writer.pinnedVersions.contains { $0 < durable } || foreignPinState.everythingSince != nil
    let blocks = WholeBlocks(mapping)
    // Pins are known up to the limit only: an unknown one may see what has died since.
    let known = PlantedBug.unseenReaderForgotten.isActive ? vouchesAfter : limit
    let neededAfter = hasOldPins ? Version(0) : min(known, vouchesAfter)
    for (run, death) in kept.runs where death > neededAfter {
      if PlantedBug.cutForgetsHeld.isActive, run.end > writer.fileLength { continue }
      var offset = run.offset
      // What died together may reach beyond where the file was cut since.
      let end = min(run.end, writer.fileLength)
      while offset < end {
        // What died long ago may have been reused by a transaction that never was: only blocks that
        // are whole can be needed by anyone.
        guard let block = try blocks.block(at: offset, before: end) else {
          offset += UInt64(BlockHeader.unit)
          continue
        }
        let (length, birth) = (block.length, block.birth)
        let part = Run(offset: offset, length: UInt64(length))
        let isVisible = !block.kind.isJournal
        if death > limit || birth > vouchesAfter {
          retake(part)
          writer.pending.append(
            WriterState.Pending(
              block: BlockEditor.DeadBlock(offset: offset, length: length, birth: birth),
              death: death, isVisible: isVisible))
        } else if isVisible, writer.dead.insert(run: part, birth: birth, death: death) {
          retake(part)
        }
        offset += UInt64(length)
      }
    }
    writer.pending.sort { $0.death < $1.death }
  }

  private func retake(_ run: Run) {
    if HomeSpace.contains(run.offset) { writer!.homes.take(run) } else { writer!.free.take(run) }
  }

  // MARK: - Reading the journal

  /// Learns the parts of the checkpoint.
  ///
  /// - Parameter known: parts that were read before.
  /// - Returns: what each part says; nil for what is known, or was all free.
  func readParts(
    _ record: CommitRecord, _ journal: inout SpaceJournal, known: [SpacePart],
    by reading: StoredBlockReading? = nil
  ) throws(StorageError) -> [SpaceCheckpoint?] {
    journal.list = record.spaceCheckpoint
    guard !record.spaceCheckpoint.isNone else { return [nil] }
    guard let list = try readPartList(record, by: reading) else {
      // Before format 3 a checkpoint was one list of the whole file.
      let chain = try readJournal(record.spaceCheckpoint, .spaceCheckpoint, by: reading)
      journal.formerCheckpoint = chain.blocks
      let version = chain.blocks.last?.birth ?? Version(0)
      journal.parts = [SpacePart(start: 0, version: version, reference: .none, blocks: [])]
      return [try checkpoint(chain.bytes, record)]
    }
    journal.listBlocks = list.blocks
    let blocksKnown = Dictionary(known.map { ($0.reference, $0.blocks) }) { first, _ in first }
    journal.parts = []
    var contents: [SpaceCheckpoint?] = []
    for part in list.list.parts {
      let reference =
        part.offset == 0 ? .none : BlockReference(offset: part.offset, BirthTag(part.version))
      var blocks = reference.isNone ? [] : blocksKnown[reference]
      var content: SpaceCheckpoint?
      if blocks == nil {
        let chain = try readJournal(reference, .spaceCheckpoint, by: reading)
        blocks = chain.blocks
        content = try checkpoint(chain.bytes, record)
      }
      journal.parts.append(
        SpacePart(
          start: part.start, version: part.version, reference: reference, blocks: blocks ?? []))
      contents.append(content)
    }
    let oldest = journal.parts.min { $0.version < $1.version }
    journal.cursor = oldest?.start ?? 0
    return contents
  }

  private func checkpoint(
    _ bytes: [UInt8], _ record: CommitRecord
  ) throws(StorageError) -> SpaceCheckpoint {
    do throws(SpaceCodingError) {
      return try SpaceCheckpoint(decoding: bytes)
    } catch {
      throw journalDamage(record, "cannot be read: \(error)")
    }
  }

  /// Where the parts are; nil for a checkpoint of an older format.
  private func readPartList(
    _ record: CommitRecord, by reading: StoredBlockReading?
  ) throws(StorageError) -> (list: SpacePartList, blocks: [BlockEditor.DeadBlock])? {
    let newest = try journalBlock(record.spaceCheckpoint, by: reading)
    if newest.withUnsafeBytes({ BlockHeader.kind($0.baseAddress!) }) == .spaceCheckpoint {
      return nil
    }
    let chain = try readJournal(record.spaceCheckpoint, .spacePartList, by: reading)
    do throws(SpaceCodingError) {
      return (try SpacePartList(decoding: chain.bytes), chain.blocks)
    } catch {
      throw journalDamage(record, "has no list of its parts: \(error)")
    }
  }

  /// Where the log of a record begins; 0 for the end of its chain.
  func oldestLog(
    of record: CommitRecord, by reading: StoredBlockReading? = nil
  ) throws(StorageError) -> UInt64 {
    guard !record.spaceCheckpoint.isNone else { return 0 }
    return try readPartList(record, by: reading)?.list.oldestLog ?? 0
  }

  /// A block of the journal as the file has it now.
  private func journalBlock(
    _ reference: BlockReference, by reading: StoredBlockReading?
  ) throws(StorageError) -> [UInt8] {
    guard let reading else { return try mapping.storedBytes(reference) }
    return [UInt8](try reading.verified(reference))
  }

  /// Blocks of the journal that hang together.
  struct JournalChain {
    /// Of all blocks, in the order in which they were written.
    var bytes: [UInt8]
    var blocks: [BlockEditor.DeadBlock]
    /// Whether it ended at a block that was not wanted.
    var reachesKnown = false
  }

  /// Reads a chain of journal blocks back from its newest one.
  ///
  /// - Parameters:
  ///   - oldest: offset of the block that ends the chain; what is behind it is no longer there.
  ///   - known: blocks born up to this version are not wanted.
  ///   - last: the newest block that is known already.
  ///   - reading: reads the blocks by calls; nil for the mapping.
  func readJournal(
    _ newest: BlockReference, _ kind: BlockKind, downTo oldest: UInt64 = 0,
    after known: Version = Version(0), until last: BlockReference = .none,
    by reading: StoredBlockReading? = nil
  ) throws(StorageError) -> JournalChain {
    var parts: [[UInt8]] = []
    var blocks: [BlockEditor.DeadBlock] = []
    var reachesKnown = false
    var seen: Set<BlockReference> = []
    var reference = newest
    while !reference.isNone, reference != last {
      let bytes = try journalBlock(reference, by: reading)
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
          path: path, block: reference.offset, version: birth.rawValue,
          reason: "it is no block of the space journal")
      }
      if birth <= known {
        reachesKnown = true
        break
      }
      parts.append([UInt8](bytes[start..<start + used]))
      blocks.append(
        BlockEditor.DeadBlock(
          offset: reference.offset, length: bytes.count + blockOverhead, birth: birth))
      if reference.offset == oldest { break }
      reference = BlockReference(stored: previous)
    }
    return JournalChain(
      bytes: Array(parts.reversed().joined()), blocks: blocks.reversed(), reachesKnown: reachesKnown
    )
  }
}
