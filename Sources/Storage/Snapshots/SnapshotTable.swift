// All live snapshots of one store in this process, and the newest one that readers may take.
// Readers touch only `newest` (a hazard slot protects the moment between loading and retaining it);
// the writer learns here which versions came and went.
internal import Platform

/// The versions that this process keeps alive.
final class SnapshotTable: Sendable {
  struct State {
    /// Live snapshots by version.
    var live: [Version: Entry] = [:]
    /// What has come and gone since the writer last asked.
    var added: [Version] = []
    var removed: [Version] = []
    /// So many removals are looked through for those that the writer need not hear of.
    private var removedMax = Self.removedLeast
    private static let removedLeast = 1024

    /// Notes that a pin has gone.
    ///
    /// Of a process that only reads nobody asks: what has come and gone since is forgotten in time,
    /// so that the lists are no longer than the pins that there are.
    /// - Complexity: amortized O(1).
    mutating func noteRemoved(_ version: Version) {
      removed.append(version)
      guard removed.count >= removedMax else { return }
      var rest: [Version: Int] = [:]
      for version in added { rest[version, default: 0] += 1 }
      removed.removeAll { version in
        guard let count = rest[version], count > 0 else { return false }
        rest[version] = count - 1
        return true
      }
      added = rest.flatMap { Array(repeating: $0, count: $1) }
      removedMax = max(Self.removedLeast, 2 * removed.count, added.count)
    }
  }

  struct Entry {
    var createdAt: UInt64
    /// Who made the version; nil when another process did.
    var owner: PlaceNote?
    /// The pins of the version: one, or more when threads have adopted it at the same time or one
    /// takes the place of another.
    ///
    /// Not counted, but alive while they are here: the end of each takes it out, under the lock.
    var first: Unmanaged<Snapshot>
    var others: [Unmanaged<Snapshot>] = []
    let root: BlockReference

    var count: Int { 1 + others.count }

    /// Who has said to keep the version by one of its pins.
    var keptBy: PlaceNote? {
      let pins = [first] + others
      // Who only stands on it moves on.
      return pins.lazy.map { $0._withUnsafeGuaranteedRef { $0.frozenNote } }.first { $0 != .nobody }
        ?? pins.lazy.map { $0._withUnsafeGuaranteedRef { $0.standingNote } }.first { $0 != .nobody }
    }
  }

  private let state = Monitor(State())
  private let newest = NewestSnapshot()
  private let lockFile: LockFile

  init(lockFile: LockFile) { self.lockFile = lockFile }

  /// The newest published snapshot, retained.
  func pinNewest() -> Snapshot? { newest.load() }

  /// Makes a snapshot the newest one.
  ///
  /// Publishers are serialised by the commit pipeline.
  func publish(_ snapshot: Snapshot) {
    #if PLANTED_BUGS
      if PlantedBug.staleSnapshot.isActive { staleSnapshot.withLock { $0 = pinNewest() } }
    #endif
    newest.store(snapshot)
  }

  #if PLANTED_BUGS
    private let staleSnapshot = Monitor<Snapshot?>(nil)

    /// The snapshot before the newest, while the planted bug wants it.
    var stale: Snapshot? { staleSnapshot.withLock { $0 } }
  #endif

  /// Forgets the newest one, so that the store can go.
  func unpublish() {
    #if PLANTED_BUGS
      staleSnapshot.withLock { $0 = nil }
    #endif
    newest.store(nil)
  }

  /// Makes the snapshot of a version and pins it, in this process and for the others.
  ///
  /// Only for the newest durable version, whose head the caller reads again afterwards, for one
  /// that nobody else can know yet, or for one that is pinned already.
  func makeSnapshot(
    _ version: Version, root: BlockReference, mapping: ReadMapping, createdAt: UInt64,
    owner: PlaceNote?, memory: SnapshotMemory? = nil
  ) -> Snapshot {
    let slot = lockFile.publishPin(version, since: createdAt)
    let snapshot = Snapshot(
      version: version, root: root, mapping: mapping, table: self, pinSlot: slot,
      createdAt: createdAt, memory: memory)
    let reference = Unmanaged.passUnretained(snapshot)
    state.withLock { state in
      // Whole entries go in and out: changing one in its place costs an allocation.
      var entry =
        state.live[version]
        ?? Entry(createdAt: createdAt, owner: owner, first: reference, root: root)
      if entry.first.toOpaque() != reference.toOpaque() { entry.others.append(reference) }
      state.live[version] = entry
      state.added.append(version)
    }
    return snapshot
  }

  /// Called by a snapshot's end.
  func released(_ snapshot: Snapshot) {
    let version = snapshot.version
    lockFile.withdrawPin(snapshot.pinSlot)
    let reference = Unmanaged.passUnretained(snapshot)
    state.withLock { state in
      state.noteRemoved(version)
      var entry = state.live.removeValue(forKey: version)!
      if entry.others.isEmpty { return }
      if entry.first.toOpaque() == reference.toOpaque() {
        entry.first = entry.others.removeLast()
      } else {
        entry.others.removeAll { $0.toOpaque() == reference.toOpaque() }
      }
      state.live[version] = entry
    }
  }

  /// What came and went since the last call; the writer's view of this process's pins.
  ///
  /// - Parameters: take the place of the lists that are filled next, so that no commit has to
  ///   allocate them; they are emptied.
  func drain(_ added: inout [Version], _ removed: inout [Version]) {
    added.removeAll(keepingCapacity: true)
    removed.removeAll(keepingCapacity: true)
    state.withLock { state in
      swap(&added, &state.added)
      swap(&removed, &state.removed)
    }
  }

  /// How much the writer would hear of.
  var untoldCount: Int { state.withLock { $0.added.count + $0.removed.count } }

  var entries: [Version: Entry] { state.withLock { $0.live } }

  /// Who has said to keep a version.
  var keepers: [Version: PlaceNote] {
    state.withLock { state in
      state.live.compactMapValues { $0.keptBy }
    }
  }

  /// Live versions, one element a pin, for a writer that begins anew: `drain` tells what changes
  /// from here on.
  func restartDraining() -> [Version] {
    state.withLock { state in
      state.added.removeAll(keepingCapacity: true)
      state.removed.removeAll(keepingCapacity: true)
      return state.live.flatMap { version, entry in
        Array(repeating: version, count: entry.count)
      }
    }
  }

  var count: Int { state.withLock { $0.live.count } }

  var versions: [Version] { state.withLock { $0.live.keys.sorted() } }
}
