// Step 5 of a commit: the file remembers which runs it took and which died. Deltas of up to 16
// commits travel in the record; then they go to a log block, which lives until every part of the
// checkpoint is newer. With some log blocks one part is written anew. The blocks of the journal are
// taken and die like any other, so the same deltas account for them.
internal import Glibc
internal import Platform

extension Store {
  /// The journal as the new record will state it.
  ///
  /// - Parameter dead: the blocks that the transaction has given up.
  /// - Returns: the journal, and the blocks of the old one that it has given up.
  /// - Complexity: O(changes), and one part of the checkpoint from time to time.
  func recordSpace(
    _ transaction: WriteTransaction, dead: [BlockEditor.DeadBlock],
    into placement: inout Placement
  ) throws(StorageError) -> (journal: SpaceJournal, dead: [BlockEditor.DeadBlock]) {
    var journal = writer!.journal
    // In order, the delta is written as it stands.
    transaction.taken.sortAndMerge()
    var deadRuns = Self.runs(of: dead)
    deadRuns.sortAndMerge()
    try refuseOverlap(deadRuns, transaction)
    var delta = SpaceDelta(version: transaction.version, taken: transaction.taken, dead: deadRuns)
    let deltaBound = delta.encodedLengthMax
    let isLogDue =
      journal.deltaCommits + 1 >= SpaceJournal.commitsPerLogBlock
      || journal.deltas.count + deltaBound > 512
    let parts = partsToWrite(
      journal, logBytes: isLogDue ? journal.deltas.count + deltaBound : nil, dead: dead.count)
    guard isLogDue || !parts.isEmpty else {
      delta.append(to: &journal.deltas)
      journal.deltaCommits += 1
      return (journal, [])
    }
    // What the journal gives up dies with this commit, so the parts and the delta have to know it.
    var deadJournal: [BlockEditor.DeadBlock] = []
    var written: [SpacePart] = []
    if let first = parts.first, let last = parts.last {
      written = parts.map {
        SpacePart(start: $0.lowerBound, version: transaction.version, reference: .none, blocks: [])
      }
      deadJournal = journal.replaceParts(from: first.lowerBound, to: last.upperBound, with: written)
      deadJournal += journal.listBlocks + journal.dropLog() + journal.formerCheckpoint
      journal.formerCheckpoint = []
      deadRuns += Self.runs(of: deadJournal)
      deadRuns.sortAndMerge()
      try refuseOverlap(deadRuns, transaction)
      delta.dead = deadRuns
    }
    let allDead = dead + deadJournal
    // Every part is of this version: no delta is needed, not even this one's.
    let isComplete = journal.oldestPart == transaction.version
    // The journal's own runs belong to this delta and these parts: take them first, by upper
    // bounds.
    var lengths = JournalLengths()
    for part in parts {
      // Each block that is taken moves the start of a free run.
      let bound = runs(in: part, dead: allDead, transaction.version).encodedLengthMax
      lengths.parts.append(journalLengths(bound + 256 + 16 * parts.count))
    }
    if !parts.isEmpty {
      lengths.list = journalLengths(SpacePartList.encodedLengthMax(parts: journal.parts.count))
    }
    if !isComplete {
      let bound = journal.deltas.count + delta.encodedLengthMax
      let blocks = lengths.all.count + bound / Self.journalBlockPayload
      lengths.log = journalLengths(bound + 64 + 32 * blocks)
    }
    var places = try takeJournalBlocks(lengths.all, transaction, &placement)[...]
    journal.deltas = isComplete ? [] : journal.deltas
    if !isComplete {
      delta.taken = transaction.taken
      delta.append(to: &journal.deltas)
      let (log, blocks) = fillJournalBlocks(
        &places, lengths.log, kind: .spaceLog, bytes: journal.deltas, previous: journal.log,
        version: transaction.version)
      journal.log = log
      journal.logBlocks += blocks
      journal.logBytesSincePart += journal.deltas.count
      journal.deltas = []
    } else {
      journal.log = .none
    }
    journal.deltaCommits = 0
    guard let last = parts.last else { return (journal, []) }
    for (index, part) in parts.enumerated() {
      let content = runs(in: part, dead: allDead, transaction.version)
      try refuseOverlap(content.kept.map(\.run).sorted { $0.offset < $1.offset }, transaction)
      let bytes = content.encoded()
      let (reference, blocks) = fillJournalBlocks(
        &places, lengths.parts[index], kind: .spaceCheckpoint, bytes: bytes, previous: .none,
        version: transaction.version)
      written[index] = SpacePart(
        start: part.lowerBound, version: transaction.version, reference: reference, blocks: blocks)
    }
    _ = journal.replaceParts(from: parts[0].lowerBound, to: last.upperBound, with: written)
    let list = SpacePartList(
      parts: journal.parts.map {
        SpacePartList.Part(start: $0.start, version: $0.version, offset: $0.reference.offset)
      }, oldestLog: journal.logBlocks.first?.offset ?? 0)
    (journal.list, journal.listBlocks) = fillJournalBlocks(
      &places, lengths.list, kind: .spacePartList, bytes: list.encoded(), previous: .none,
      version: transaction.version)
    journal.cursor = last.upperBound == Run.endMax ? 0 : last.upperBound
    journal.logBytesSincePart = 0
    return (journal, deadJournal)
  }

  /// Two references to one block, or blocks that overlap, which a damaged or hostile file may have:
  /// freed twice, their bytes would be taken twice.
  ///
  /// - Parameter runs: by place.
  private func refuseOverlap(
    _ runs: [Run], _ transaction: WriteTransaction
  ) throws(StorageError) {
    for index in runs.indices.dropFirst() where runs[index].offset < runs[index - 1].end {
      throw .damaged(
        path: path, block: runs[index].offset, version: transaction.version.rawValue,
        reason: "earlier versions refer to it more than once, or to a block that overlaps it")
    }
  }

  /// Whether a part of the journal keeps the file from being cut.
  var isJournalTooHigh: Bool {
    guard let threshold = writer!.shrinkThreshold else { return false }
    return writer!.journal.blocks.contains { $0.offset >= threshold }
  }

  // MARK: - Parts

  /// Parts that one transaction of idle work writes.
  static let idleParts = 16

  /// Which parts of the file this commit describes anew: one after the other.
  ///
  /// - Parameter logBytes: what goes to the log now; nil for nothing.
  private func partsToWrite(
    _ journal: SpaceJournal, logBytes: Int?, dead: Int
  ) -> [Range<UInt64>] {
    let writer = writer!
    let pending = writer.pending.count - writer.pendingHead
    let runs = writer.free.count + writer.dead.count + pending + dead
    let perPart = options.journalPace.runsPerPart(of: runs)
    // A commit that changes as much as there is may write all of it.
    let isAllCheaper = (logBytes ?? 0) > max(options.journalPace.logBytesMin, 8 * runs)
    if isAllCheaper || !journal.formerCheckpoint.isEmpty {
      return ranges(from: 0, count: .max, runs: perPart)
    }
    // Journal blocks hang on no tree: they are moved by being written anew.
    if writer.isIdle, isJournalTooHigh {
      return ranges(from: journal.cursor, count: Self.idleParts, runs: perPart)
    }
    guard let logBytes,
      journal.isPartDue(logBytes: logBytes, runs: runs, options.journalPace) || isJournalTooHigh
    else { return [] }
    return ranges(from: journal.cursor, count: 1, runs: perPart)
  }

  /// Consecutive parts of the file with so many runs each, up to the end of the file.
  private func ranges(from start: UInt64, count: Int, runs: Int) -> [Range<UInt64>] {
    let writer = writer!
    var ranges: [Range<UInt64>] = []
    var start = start
    while ranges.count < count {
      let free =
        writer.homes.runs.map(\.offset).filter { $0 >= start }
        + writer.free.offsets(from: start, maximum: runs + 1)
      let offsets = (free + writer.dead.offsets(from: start, maximum: runs + 1)).sorted()
      // What ends a part begins behind its start, or nothing would be in it.
      guard offsets.count > runs, offsets[runs] > start else { break }
      ranges.append(start..<offsets[runs])
      start = offsets[runs]
    }
    if ranges.count < count { ranges.append(start..<Run.endMax) }
    return ranges
  }

  /// What is free, or will be, in a part of the file after this commit.
  private func runs(
    in part: Range<UInt64>, dead: [BlockEditor.DeadBlock], _ version: Version
  ) -> SpaceCheckpoint {
    let writer = writer!
    let (start, end) = (part.lowerBound, part.upperBound)
    var found = SpaceCheckpoint(fileLength: writer.fileLength, free: [], kept: [])
    if HomeSpace.contains(start) {
      for run in writer.homes.runs where run.offset < end && run.end > start {
        found.free.append(run.part(from: start, to: end))
      }
    }
    found.free += writer.free.runs(from: start, to: end)
    if PlantedBug.partTooShort.isActive, end < Run.endMax { _ = found.free.popLast() }
    func keep(_ run: Run, _ death: Version) {
      guard run.offset < end, run.end > start else { return }
      found.kept.append(.init(run: run.part(from: start, to: end), death: death))
    }
    writer.dead.forEach(from: start, to: end) { keep($0, $1) }
    for entry in writer.pending[writer.pendingHead...] {
      keep(Self.run(of: entry.block), entry.death)
    }
    for block in dead { keep(Self.run(of: block), version) }
    return found
  }

  // MARK: - Journal blocks: payload = u64 previous block, u32 bytes used, bytes

  static let journalHeaderLength = 12
  static let journalBlockPayload = 32 << 10

  /// Bytes in the file of the journal blocks that a commit writes.
  private struct JournalLengths {
    var log: [Int] = []
    var parts: [[Int]] = []
    var list: [Int] = []

    var all: [Int] { log + parts.joined() + list }
  }

  /// Lengths of the journal blocks that so many bytes need.
  private func journalLengths(_ bytes: Int) -> [Int] {
    Self.split(bytes, into: Self.journalBlockPayload).map(journalBlockLength)
  }

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
    places.reserveCapacity(lengths.count)
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
  /// - Parameter places: those that are taken; the first ones of them are used up.
  /// - Returns: the last block of the chain, and all that were added to it.
  private func fillJournalBlocks(
    _ places: inout ArraySlice<(offset: UInt64, memory: UnsafeMutableRawPointer)>, _ lengths: [Int],
    kind: BlockKind, bytes: [UInt8], previous: BlockReference, version: Version
  ) -> (newest: BlockReference, blocks: [BlockEditor.DeadBlock]) {
    var previous = previous
    var blocks: [BlockEditor.DeadBlock] = []
    var position = 0
    for placeLength in lengths {
      let place = places.removeFirst()
      let length = placeLength - blockOverhead
      let memory = place.memory + blockOverhead
      let room = length - BlockHeader.length - Self.journalHeaderLength
      let used = min(room, bytes.count - position)
      memset(memory, 0, length)
      BlockHeader.setKind(memory, kind)
      BlockHeader.setBlockLength(memory, length)
      let block = UnsafeMutableRawBufferPointer(start: memory, count: length)
      block.store(previous.stored, at: BlockHeader.length)
      block.store(UInt32(used), at: BlockHeader.length + 8)
      bytes.withUnsafeBytes { source in
        if used > 0 {
          memcpy(
            memory + BlockHeader.length + Self.journalHeaderLength,
            source.baseAddress! + position, used)
        }
      }
      position += used
      BlockHeader.setBirth(memory, version)
      seal(memory, length, at: place.offset)
      previous = BlockReference(offset: place.offset, BirthTag(version))
      blocks.append(
        BlockEditor.DeadBlock(offset: place.offset, length: placeLength, birth: version))
    }
    precondition(position == bytes.count, "journal blocks were taken too small")
    return (previous, blocks)
  }

  static func run(of block: BlockEditor.DeadBlock) -> Run {
    Run(offset: block.offset, length: UInt64(block.length))
  }

  private static func runs(of blocks: [BlockEditor.DeadBlock]) -> [Run] {
    PlantedBug.journalDeathsLost.isActive ? [] : blocks.map(run)
  }
}
