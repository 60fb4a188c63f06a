// What the writer of this process knows about space: free runs, blocks that pins keep, blocks
// killed by commits that are not durable yet, and the deltas that the next records carry. Touched
// only by whoever holds the write lock. The truth is in the file; this is rebuilt from it at the
// first write and whenever another process has written in between.
internal import Platform

/// The writer's bookkeeping between transactions.
///
/// A class, so that using one field never copies the others.
// Unchecked exclusivity: only the holder of the write lock touches the fields, in short accesses.
final class WriterState {
  /// A block given up by a commit, until that commit is durable.
  struct Pending {
    let block: BlockEditor.DeadBlock
    let death: Version
    /// Whether readers may see the block; pins do not keep those of the journal.
    var isVisible = true
  }

  /// The newest committed version, durable or not.
  ///
  /// The next transaction builds on it.
  @exclusivity(unchecked) var newest: CommittedVersion
  /// The highest version number ever given out.
  @exclusivity(unchecked) var lastNumber: Version
  /// How long the file is, or will be once what is unwritten was written.
  @exclusivity(unchecked) var fileLength: UInt64
  /// What the file was told to be, or will be by the last commit that is unwritten.
  @exclusivity(unchecked) var lengthInFile: UInt64
  /// The running commit makes no system call; what it would write is written later.
  @exclusivity(unchecked) var isDeferring = false
  @exclusivity(unchecked) var commits: UInt64
  @exclusivity(unchecked) var free = FreeSpace()
  @exclusivity(unchecked) var homes: HomeSpace
  @exclusivity(unchecked) var dead = DeadBlocks()
  @exclusivity(unchecked) var pending: [Pending] = []
  /// Blocks of `pending` before this index are done.
  @exclusivity(unchecked) var pendingHead = 0
  /// What `reclaim` frees; empty but for its calls.
  @exclusivity(unchecked) private var freed: [Run] = []
  /// So many elements of it, or of `pending`, keep their memory.
  private static let freedKept = 1024
  /// What this process's snapshots did since the last transaction began.
  @exclusivity(unchecked) var pinsAdded: [Version] = []
  @exclusivity(unchecked) var pinsRemoved: [Version] = []
  /// Pins by version: this process's own and, counted once each, those of others.
  @exclusivity(unchecked) var ownPins: [Version: Int] = [:]
  @exclusivity(unchecked) var foreignPins: Set<Version> = []
  @exclusivity(unchecked) var journal = SpaceJournal()
  /// New blocks go below this and blocks above it are moved, while the file is too long.
  @exclusivity(unchecked) var shrinkThreshold: UInt64?
  @exclusivity(unchecked) var commitsSinceThreshold = 0
  /// Whether commits still move.
  @exclusivity(unchecked) var moveGain = MoveGain()
  /// Where the search for blocks to move goes on: child numbers from the root down.
  @exclusivity(unchecked) var moveCursor: [Int] = []
  /// What the newest record says the file's length will be, when that is less than it is.
  @exclusivity(unchecked) var plannedCut: (version: Version, length: UInt64)?
  /// The running transaction is idle work: it commits even without a changed block.
  @exclusivity(unchecked) var isIdle = false
  /// False until the space was brought up to the newest version.
  @exclusivity(unchecked) var isLoaded = false
  /// The version that the knowledge of space is of; nil where it is of none.
  @exclusivity(unchecked) var spaceVersion: Version?
  init(
    path: String, newest: CommittedVersion, lastNumber: Version, fileLength: UInt64,
    homes: [UInt64], commits: UInt64
  ) {
    self.newest = newest
    self.lastNumber = lastNumber
    self.fileLength = fileLength
    lengthInFile = fileLength
    self.homes = HomeSpace(homes: homes)
    self.commits = commits
    setSpace(FreeSpace(), HomeSpace(homes: homes), of: path)
  }

  /// Takes over what is free.
  func setSpace(_ free: FreeSpace, _ homes: HomeSpace, of path: String) {
    self.free = free
    self.free.path = path
    self.homes = homes
    self.homes.path = path
  }

  /// Bytes that some version can see, or that are no data: the rest is free.
  var visibleBytes: UInt64 { fileLength - free.totalBytes - homes.freeBytes }

  /// Bytes in blocks that only old pins see.
  var heldBytes: UInt64 { UInt64(dead.heldBytes) }

  var pendingBytes: UInt64 {
    pending[pendingHead...].reduce(0) { $0 + UInt64($1.block.length) }
  }

  /// Makes the run reusable.
  func release(_ run: Run) {
    if HomeSpace.contains(run.offset) { homes.release(run) } else { free.free(run) }
  }

  /// Learns which pins came and went, and frees what no version sees any more.
  ///
  /// - Parameters:
  ///   - durable: the newest durable version: what died up to here is dead for everyone without a
  ///     pin.
  ///   - vouchesAfter: blocks born later are vouched for by that version's record.
  ///   - maximum: bound on the kept blocks freed now, unless more come in; the rest waits for the
  ///     next call.
  /// - Returns: whether more could be freed at once.
  func reclaim(
    durable: Version, vouchesAfter: Version, maximum: Int
  ) -> Bool {
    let first = pendingHead
    while pendingHead < pending.count,
      pending[pendingHead].death <= durable || PlantedBug.reuseBeforeSync.isActive
    {
      let entry = pending[pendingHead]
      // The newest durable record still vouches for these bytes, and a recovery would miss them:
      // they wait for the next durable version.
      let reusesAny = PlantedBug.reuseVouched.isActive || PlantedBug.reuseBeforeSync.isActive
      if entry.block.birth > vouchesAfter, !reusesAny { break }
      pendingHead += 1
      let block = entry.block
      let run = Run(offset: block.offset, length: UInt64(block.length))
      #if PLANTED_BUGS
        if PlantedBug.leakBlock.strikes(everyCalls: 100) { continue }
      #endif
      let isSeen =
        entry.isVisible && dead.insert(run: run, birth: block.birth, death: entry.death)
      if !isSeen { freed.append(run) }
    }
    let accepted = pendingHead - first
    if pendingHead == pending.count {
      pending.removeAll(keepingCapacity: pendingHead <= Self.freedKept)
      pendingHead = 0
    } else if pendingHead > 4096 {
      pending.removeFirst(pendingHead)
      pendingHead = 0
    }
    // Twice what comes in, or what is kept would only grow.
    let hasMore = dead.collect(maximum: max(maximum, 2 * accepted)) { freed.append($0) }
    freed.sortAndMerge()
    for run in freed { release(run) }
    freed.removeAll(keepingCapacity: freed.count <= Self.freedKept)
    return hasMore
  }

  /// Applies `pinsAdded` and `pinsRemoved`.
  func updatePins() {
    if pinsAdded.count > 1 { pinsAdded.sort() }
    for version in pinsAdded {
      ownPins[version, default: 0] += 1
      if ownPins[version] == 1, !foreignPins.contains(version) { dead.addPin(version) }
    }
    for version in pinsRemoved {
      ownPins[version]! -= 1
      if ownPins[version] == 0 {
        ownPins[version] = nil
        if !foreignPins.contains(version) { dead.removePin(version) }
      }
    }
  }

  /// Replaces the set of versions that other processes pin.
  func updateForeignPins(_ versions: [Version]) {
    let new = Set(versions)
    for version in new.subtracting(foreignPins).sorted() where ownPins[version] == nil {
      dead.addPin(version)
    }
    for version in foreignPins.subtracting(new) where ownPins[version] == nil {
      dead.removePin(version)
    }
    foreignPins = new
  }

  /// All pinned versions, each once.
  var pinnedVersions: Set<Version> { foreignPins.union(ownPins.keys) }
}
