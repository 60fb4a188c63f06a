// Step 5 of a commit: the file remembers which runs it took and which died. Deltas of up to 16 commits
// travel in the record; then they go to a log block that lives until the next checkpoint. Log and
// checkpoint blocks are taken and die like any other, so the same deltas account for them.
internal import Glibc
internal import Platform

extension Store {
  /// The journal as the new record will state it.
  ///
  /// - Parameter dead: the blocks that the transaction has given up.
  /// - Returns: the journal, and the blocks of the old one that it has given up.
  func recordSpace(
    _ transaction: WriteTransaction, dead: [BlockEditor.DeadBlock],
    into placement: inout Placement
  ) throws(StorageError) -> (journal: SpaceJournal, dead: [BlockEditor.DeadBlock]) {
    var journal = writer!.journal
    // In order, the delta is written as it stands.
    transaction.taken.sortAndMerge()
    var deadRuns = Self.runs(of: dead)
    deadRuns.sortAndMerge()
    var delta = SpaceDelta(version: transaction.version, taken: transaction.taken, dead: deadRuns)
    let isLogDue =
      journal.deltaCommits + 1 >= SpaceJournal.commitsPerLogBlock
      || journal.deltas.count + delta.encodedLengthMax > 512
    // Journal blocks hang on no tree, so moving them means writing a checkpoint.
    let mayMove = writer!.isIdle || (isLogDue && isCheckpointCheap)
    if journal.needsCheckpoint || (mayMove && isJournalTooHigh) {
      let old = journal.blocks
      return (try writeCheckpoint(transaction, dead: dead + old, into: &placement), old)
    }
    guard isLogDue else {
      delta.append(to: &journal.deltas)
      journal.deltaCommits += 1
      return (journal, [])
    }
    // The log blocks' own runs belong to this delta: take them first, by an upper bound.
    let bound = journal.deltas.count + delta.encodedLengthMax + 64
    let blockBytes = Self.journalBlockPayload
    let count = (bound + blockBytes - 1) / blockBytes
    let extra = count * 16
    let lengths = Self.split(bound + extra, into: blockBytes).map(journalBlockLength)
    let places = try takeJournalBlocks(lengths, transaction, &placement)
    delta.taken = transaction.taken
    delta.append(to: &journal.deltas)
    journal.log = fillJournalBlocks(
      places, lengths, kind: .spaceLog, bytes: journal.deltas, previous: journal.log,
      version: transaction.version)
    for (place, length) in zip(places, lengths) {
      journal.blocks.append(
        BlockEditor.DeadBlock(
          reference: BlockReference(rawValue: place.offset), length: length,
          birth: transaction.version))
    }
    journal.logBytes += lengths.reduce(0, +)
    journal.deltas = []
    journal.deltaCommits = 0
    return (journal, [])
  }

  /// Whether a part of the journal keeps the file from being cut.
  var isJournalTooHigh: Bool {
    guard let threshold = writer!.shrinkThreshold else { return false }
    return writer!.journal.blocks.contains { $0.reference.rawValue >= threshold }
  }

  /// Whether a checkpoint is less than what commits have written since the last one: where no hole below
  /// the threshold takes it, moving it is tried again and again.
  private var isCheckpointCheap: Bool {
    let runs = writer!.free.count + writer!.dead.count + writer!.pending.count
    return writtenBytes.load(ordering: .relaxed) - writer!.journal.writtenBefore > 8 * runs
  }

  /// A complete list of what is free or will be, after this commit.
  private func writeCheckpoint(
    _ transaction: WriteTransaction, dead: [BlockEditor.DeadBlock], into placement: inout Placement
  ) throws(StorageError) -> SpaceJournal {
    var checkpoint = SpaceCheckpoint(fileLength: writer!.fileLength, free: freeRuns, kept: [])
    writer!.dead.forEach { run, death in checkpoint.kept.append(.init(run: run, death: death)) }
    for entry in writer!.pending[writer!.pendingHead...] {
      checkpoint.kept.append(.init(run: Self.run(of: entry.block), death: entry.death))
    }
    for block in dead {
      checkpoint.kept.append(.init(run: Self.run(of: block), death: transaction.version))
    }
    // Taking the blocks below changes a free run each, and may make the file longer.
    var bound = checkpoint.encodedLengthMax
    bound += 256 + bound / Self.journalBlockPayload * 32
    let lengths = Self.split(bound, into: Self.journalBlockPayload).map(journalBlockLength)
    let places = try takeJournalBlocks(lengths, transaction, &placement)
    checkpoint.fileLength = writer!.fileLength
    checkpoint.free = freeRuns
    let bytes = checkpoint.encoded()
    var journal = SpaceJournal()
    journal.checkpoint = fillJournalBlocks(
      places, lengths, kind: .spaceCheckpoint, bytes: bytes, previous: .none,
      version: transaction.version)
    journal.blocks = zip(places, lengths).map { place, length in
      BlockEditor.DeadBlock(
        reference: BlockReference(rawValue: place.offset), length: length,
        birth: transaction.version)
    }
    journal.checkpointBytes = lengths.reduce(0, +)
    journal.writtenBefore = writtenBytes.load(ordering: .relaxed)
    return journal
  }

  private var freeRuns: [Run] { writer!.homes.runs + writer!.free.runs }

  // MARK: - Journal blocks: payload = u64 previous block, u32 bytes used, bytes

  static let journalHeaderLength = 12
  static let journalBlockPayload = 32 << 10

  /// Bytes that a journal block takes in the file.
  private func journalBlockLength(_ bytes: Int) -> Int {
    BlockHeader.blockLength(forPayload: Self.journalHeaderLength + bytes) + blockOverhead
  }

  private static func split(_ total: Int, into part: Int) -> [Int] {
    var rest = total
    var parts: [Int] = []
    while rest > 0 {
      parts.append(min(rest, part))
      rest -= part
    }
    return parts
  }

  /// Takes space for journal blocks; they live long, so they go with the cold blocks.
  private func takeJournalBlocks(
    _ lengths: [Int], _ transaction: WriteTransaction, _ placement: inout Placement
  ) throws(StorageError) -> [(offset: UInt64, memory: UnsafeMutableRawPointer)] {
    var places: [(offset: UInt64, memory: UnsafeMutableRawPointer)] = []
    var rest = lengths.reduce(0, +)
    for length in lengths {
      if places.isEmpty || placement.rest < length {
        try openRun(rest: rest, next: length, transaction, &placement)
      }
      places.append(placement.take(length)!)
      rest -= length
    }
    returnRest(of: placement, transaction)
    return places
  }

  /// Spreads bytes over journal blocks that are chained backwards.
  ///
  /// - Returns: the last block of the chain.
  private func fillJournalBlocks(
    _ places: [(offset: UInt64, memory: UnsafeMutableRawPointer)], _ lengths: [Int],
    kind: BlockKind, bytes: [UInt8], previous: BlockReference, version: Version
  ) -> BlockReference {
    var previous = previous
    var position = 0
    for (place, placeLength) in zip(places, lengths) {
      let length = placeLength - blockOverhead
      let memory = place.memory + blockOverhead
      let room = length - BlockHeader.length - Self.journalHeaderLength
      let used = min(room, bytes.count - position)
      memset(memory, 0, length)
      BlockHeader.setKind(memory, kind)
      BlockHeader.setBlockLength(memory, length)
      let block = UnsafeMutableRawBufferPointer(start: memory, count: length)
      block.store(previous.rawValue, at: BlockHeader.length)
      block.store(UInt32(used), at: BlockHeader.length + 8)
      bytes.withUnsafeBytes { source in
        if used > 0 {
          memcpy(
            memory + BlockHeader.length + Self.journalHeaderLength,
            source.baseAddress! + position, used)
        }
      }
      position += used
      let reference = BlockReference(rawValue: place.offset)
      BlockHeader.setBirth(memory, version)
      seal(memory, length, at: reference)
      previous = reference
    }
    precondition(position == bytes.count, "journal blocks were taken too small")
    return previous
  }

  static func run(of block: BlockEditor.DeadBlock) -> Run {
    Run(offset: block.reference.rawValue, length: UInt64(block.length))
  }

  private static func runs(of blocks: [BlockEditor.DeadBlock]) -> [Run] {
    PlantedBug.journalDeathsLost.isActive ? [] : blocks.map(run)
  }
}
