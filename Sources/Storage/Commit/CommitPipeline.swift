// From "final" to "durable": groups of commits share one sync. Committers that wait elect a leader
// among themselves; the leader closes the open group, writes what nobody has written yet, syncs,
// publishes the group's last version and wakes the rest. One sync is in flight at a time; the next
// group fills meanwhile.
//
// At any instant the disk holds the record of the durable version, untouched, and at most the
// records of the group being synced and of the open group: so three homes are in use and a fourth
// is spare.
internal import Platform

/// A version that later ones build on.
struct CommittedVersion: Sendable {
  let snapshot: Snapshot
  let home: Int
  /// The record vouches for blocks born after this version: until a newer version is durable none
  /// of their bytes may be reused, not even of those that died meanwhile.
  var vouchesAfter: Version
  var version: Version { snapshot.version }
}

/// Bytes that a record vouches for.
struct VouchedExtent: Sendable {
  let extent: Extent
  let hash: UInt64
}

extension VouchedExtent {
  init(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) {
    extent = Extent(offset: offset, length: UInt64(bytes.count))
    hash = CommitRecord.hash(bytes, at: offset)
  }
}

/// Groups of commits on their way to the disk.
final class CommitPipeline: Sendable {
  /// Commits that share a record and a sync.
  struct Group: Sendable {
    let home: Int
    /// The last version whose blocks and record are in the file.
    var last: CommittedVersion?
    /// What the commits of this group wrote.
    var own: [VouchedExtent] = []
    /// What the group before wrote, while that was not durable: this group's record must not be
    /// found sound without it.
    var carried: [VouchedExtent] = []
    /// The version that was durable when the group's first record was written.
    var durableBefore = Version(0)
    /// The record as written, to be put back if a later commit of the group fails half way.
    var record: [UInt8] = []
    /// The length of the file that the record names.
    var fileLength: UInt64 = 0
    /// Has a commit whose blocks are not among `own`, as they were synced before its record.
    var hasSyncedBlocks = false
    /// The record vouches for nothing: without the log it does not count.
    var isProvenByLog = false
    /// Commits behind `last` that nobody has written yet, in order.
    var deferred: [DeferredCommit] = []
    /// Somebody writes into this group: it must not be closed now, and what it holds is not whole.
    var isBeingWritten = false
  }

  /// Versions that were given up because they could not be written.
  struct Loss: Sendable {
    let versions: ClosedRange<Version>
    let failure: StorageError
  }

  struct State {
    var durable: CommittedVersion?
    var open: Group?
    var syncing: Group?
    var failure: StorageError?
    var losses: [Loss] = []
    /// Somebody lets others join the open group before closing it.
    var isGathering = false

    /// Nobody leads yet, and the open group is whole.
    var needsLeader: Bool {
      syncing == nil && !isGathering && open?.isBeingWritten == false
    }

    /// Never goes back: another process may have been faster.
    mutating func noteDurable(_ committed: CommittedVersion) {
      if committed.version > durable?.version ?? Version(0) { durable = committed }
    }

    /// Why a version will never be durable, if that is certain.
    func failure(of version: Version) -> StorageError? {
      for loss in losses where loss.versions.contains(version) { return loss.failure }
      return (durable?.version ?? Version(0)) >= version ? nil : failure
    }

    /// Notes in the open group what its first record has to say about the versions before it.
    mutating func beginOpen() {
      // In place, as all that a commit does here: a copy of a group costs ten counts of references.
      guard open!.record.isEmpty else { return }
      let durableVersion = durable?.version ?? Version(0)
      open!.durableBefore = durableVersion
      open!.carried = []
      // Not what another process has made durable meanwhile: that may be reused.
      if let last = syncing?.last?.version, last > durableVersion, !PlantedBug.carriedLost.isActive
      {
        open!.carried = syncing!.own
      }
    }
  }

  private let state = Monitor(State())
  /// Woken by what joins the open group: who gathers waits here, so that those who wait for the
  /// sync sleep on.
  private let arrivals = Monitor(())
  private let homeCount: Int
  /// Commits that are in no file yet, readable without the lock.
  private let unwritten = Atomic(0)
  /// Whether any version was lost, readable without the lock.
  private let hasLosses = Atomic(false)
  private let failed = Atomic(false)

  init(homeCount: Int) { self.homeCount = homeCount }

  /// The newest durable version.
  var durable: CommittedVersion? { state.withLock { $0.durable } }

  var failure: StorageError? { state.withLock { $0.failure } }

  /// Whether any write or sync has failed.
  ///
  /// - Complexity: one load.
  var hasFailed: Bool { failed.load(ordering: .acquiring) }

  /// Whether there are commits that nobody has written yet.
  ///
  /// Sequentially consistent: see `Store.leaveWriteLock`.
  var hasUnwritten: Bool { unwritten.load(ordering: .sequentiallyConsistent) > 0 }

  /// Sets the durable version when a file is opened or another process has moved it.
  func start(at durable: CommittedVersion) {
    state.withLock { state in
      state.durable = durable
      state.open = nil
      state.syncing = nil
    }
  }

  /// Another process has written this version, and it is durable.
  ///
  /// So is the open group, if it is older: nothing may join it any more, because the other process
  /// may have reused what it vouches for.
  func adopt(_ committed: CommittedVersion) {
    state.withLock { state in
      state.noteDurable(committed)
      guard let open = state.open, !open.isBeingWritten, open.deferred.isEmpty, let last = open.last
      else { return }
      if last.version <= committed.version { state.open = nil }
    }
    state.notifyAll()
  }

  /// Drops the references that would keep the store alive.
  func stop() {
    // Taken out first: the end of a snapshot takes other locks.
    let old = state.withLock { state in
      let old = state
      state = State()
      return old
    }
    _ = old
  }

  // MARK: - Joining

  /// Opens a group for the next commit or joins the open one, which then stays open until
  /// `didWrite` or `didFail`.
  ///
  /// Write lock only.
  /// - Precondition: nothing is unwritten.
  func join(foreignHome: Int?) throws(StorageError) -> Group {
    try state.withLock { (state) throws(StorageError) -> Group in
      try enter(&state, foreignHome)
      precondition(state.open!.deferred.isEmpty, "a commit is written before those it builds on")
      state.beginOpen()
      return state.open!
    }
  }

  /// The same for a commit that will be written later, until `deferCommit` or `didFail`.
  ///
  /// - Returns: the number of the group's home.
  func joinDeferred(foreignHome: Int?) throws(StorageError) -> Int {
    try state.withLock { (state) throws(StorageError) -> Int in
      try enter(&state, foreignHome)
      return state.open!.home
    }
  }

  private func enter(_ state: inout State, _ foreignHome: Int?) throws(StorageError) {
    if let failure = state.failure { throw failure }
    if state.open == nil {
      let (syncing, durable) = (state.syncing?.home, state.durable?.home)
      let home = (0..<homeCount).first { home in
        home != syncing
          && (PlantedBug.overwriteDurableHome.isActive || (home != durable && home != foreignHome))
      }
      var group = Group(home: home!)
      // What one small commit writes.
      group.own.reserveCapacity(4)
      state.open = group
    }
    state.open!.isBeingWritten = true
  }

  /// The commit is in the file.
  ///
  /// - Parameter group: as it is in the file; afterwards as it was, for its snapshots end outside
  ///   of the lock.
  func didWrite(_ group: inout Group) {
    let (needsLeader, isGathering) = state.withLock { state in
      swap(&state.open!, &group)
      state.open!.isBeingWritten = false
      return (state.needsLeader, state.isGathering)
    }
    tellOfArrival(needsLeader: needsLeader, isGathering: isGathering)
  }

  /// Wakes who has something to do now, and nobody else: each waiting committer that looked up in
  /// vain would take the processor from the next writer.
  private func tellOfArrival(needsLeader: Bool, isGathering: Bool) {
    if needsLeader { state.notifyAll() }
    if isGathering {
      // Through the lock, so that whoever has just looked is asleep by now.
      arrivals.withLock { _ in }
      arrivals.notifyAll()
    }
  }

  /// The commit is final, and will be written by whoever leads its group, or builds on it.
  ///
  /// - Throws: when a version that it builds on was lost meanwhile.
  func deferCommit(_ commit: DeferredCommit, base: Version) throws(StorageError) {
    let (needsLeader, isGathering) = try state.withLock { (state) throws(StorageError) in
      if let failure = state.failure ?? state.failure(of: base) { throw failure }
      state.open!.deferred.append(commit)
      state.open!.isBeingWritten = false
      unwritten.add(1, ordering: .sequentiallyConsistent)
      return (state.needsLeader, state.isGathering)
    }
    tellOfArrival(needsLeader: needsLeader, isGathering: isGathering)
  }

  /// The commit was rolled back; earlier commits of the group stand.
  func didFail() {
    let (dropped, isGathering) = state.withLock { state in
      state.open?.isBeingWritten = false
      if state.open?.last == nil, state.open?.deferred.isEmpty == true { state.open = nil }
      return (state.failure == nil ? nil : dropOpen(&state), state.isGathering)
    }
    tellOfArrival(needsLeader: true, isGathering: isGathering)
    _ = dropped
  }

  /// Gives up what nobody will write any more; snapshots end outside of the lock.
  private func dropOpen(_ state: inout State) -> Group? {
    guard let open = state.open, !open.isBeingWritten else { return nil }
    unwritten.subtract(open.deferred.count, ordering: .sequentiallyConsistent)
    state.open = nil
    return open
  }

  // MARK: - Writing what was deferred

  /// The open group with what nobody has written yet, after all groups before it were written.
  ///
  /// It stays open, and nobody else gets it, until `didWriteDeferred`. Write lock only.
  /// - Returns: nil when nothing is unwritten.
  func takeDeferred() -> Group? {
    state.wait(
      until: { $0.syncing?.isBeingWritten != true && $0.open?.isBeingWritten != true },
      then: { state in
        guard state.open?.deferred.isEmpty == false else { return nil }
        state.beginOpen()
        state.open!.isBeingWritten = true
        return state.open!
      })
  }

  /// Commits of the group that is being written, and all that build on them, never will be in the
  /// file.
  ///
  /// The group stays with the caller until `didWriteDeferred`.
  func giveUp(_ lost: ArraySlice<DeferredCommit>, _ failure: StorageError) {
    // Snapshots end outside of the lock.
    let dropped = state.withLock { state in
      var dropped: Group?
      var last = lost.last!
      // A group that is open builds on the one that is in its sync.
      if state.syncing?.isBeingWritten == true {
        dropped = state.open
        last = dropped?.deferred.last ?? last
        state.open = nil
      }
      state.losses.append(Loss(versions: lost.first!.version...last.version, failure: failure))
      failed.store(true, ordering: .releasing)
      hasLosses.store(true, ordering: .releasing)
      unwritten.subtract(dropped?.deferred.count ?? 0, ordering: .sequentiallyConsistent)
      return dropped
    }
    state.notifyAll()
    _ = dropped
  }

  /// The deferred commits of a group are in the file, or given up.
  ///
  /// - Parameter group: as it is in the file.
  func didWriteDeferred(_ group: Group) {
    var group = group
    let count = group.deferred.count
    group.deferred = []
    group.isBeingWritten = false
    let old = state.withLock { state in
      let old = state
      if state.syncing?.isBeingWritten == true {
        state.syncing = group
      } else {
        state.open = group.last == nil ? nil : group
      }
      unwritten.subtract(count, ordering: .sequentiallyConsistent)
      return old
    }
    tellOfArrival(needsLeader: true, isGathering: old.isGathering)
    // Its snapshots end outside of the lock.
    _ = old
  }

  /// Why a version will never be durable, if that is certain.
  ///
  /// - Complexity: one load while nothing has failed.
  func failure(of version: Version) -> StorageError? {
    guard hasFailed else { return nil }
    return state.withLock { $0.failure(of: version) }
  }

  /// Whether a version was given up because it could not be written.
  ///
  /// - Complexity: one load while none was.
  func isLost(_ version: Version) -> Bool {
    guard hasLosses.load(ordering: .acquiring) else { return false }
    return state.withLock { state in
      state.losses.contains { $0.versions.contains(version) }
    }
  }

  // MARK: - Syncing

  /// Makes everything up to `version` durable, by leading a sync or by waiting for one.
  ///
  /// - Parameters:
  ///   - isWriterQueued: whether more commits are about to join; the leader waits for them a
  ///     little.
  ///   - write: writes the deferred commits of a group and calls `didWriteDeferred`; returns the
  ///     group as it is in the file.
  ///   - sync: makes a group durable.
  ///   - publish: makes the group's last version visible; called by the leader only.
  func waitUntilDurable(
    _ version: Version, isWriterQueued: () -> Bool, write: (Group) -> Group,
    sync: (Group) throws(StorageError) -> Void, publish: (CommittedVersion) -> Void
  ) throws(StorageError) {
    enum Step { case done, failed(StorageError), lead }
    while true {
      let step: Step = state.wait(
        until: { state in
          (state.durable?.version ?? Version(0)) >= version || state.failure(of: version) != nil
            || state.needsLeader
        },
        then: { state in
          if let failure = state.failure(of: version) { return .failed(failure) }
          if (state.durable?.version ?? Version(0)) >= version { return .done }
          state.isGathering = true
          return .lead
        })
      switch step {
      case .done: return
      case .failed(let failure): throw failure
      case .lead:
        gather(isWriterQueued)
        guard let group = takeLead() else {
          // Others may have looked while this thread was about to lead.
          state.notifyAll()
          continue
        }
        try lead(group, write, sync, publish)
      }
    }
  }

  private func lead(
    _ group: Group, _ write: (Group) -> Group, _ sync: (Group) throws(StorageError) -> Void,
    _ publish: (CommittedVersion) -> Void
  ) throws(StorageError) {
    let group = group.deferred.isEmpty ? group : write(group)
    guard let last = group.last else { return finish(nil) }
    if PlantedBug.publishBeforeSync.isActive { publish(last) }
    do throws(StorageError) {
      try sync(group)
    } catch {
      // What was never written goes with it: nothing more will be.
      let dropped = state.withLock { state in
        state.failure = error
        failed.store(true, ordering: .releasing)
        state.syncing = nil
        return dropOpen(&state)
      }
      state.notifyAll()
      _ = dropped
      throw error
    }
    publish(last)
    finish(last)
  }

  /// The end of a leader's work.
  private func finish(_ durable: CommittedVersion?) {
    state.withLock { state in
      if let durable { state.noteDurable(durable) }
      state.syncing = nil
    }
    state.notifyAll()
  }

  /// Publishes a commit that is in the file without a sync, for files that promise less.
  ///
  /// Ends its group, as `didWrite` and a sync would.
  /// - Precondition: no commit of the file is ever deferred.
  func publishWithoutSync(_ committed: CommittedVersion, _ publish: (CommittedVersion) -> Void) {
    // Snapshots end outside of the lock.
    let old = state.withLock { $0.open.take() }
    publish(committed)
    let before = state.withLock { state in
      let before = state.durable
      state.noteDurable(committed)
      return before
    }
    withExtendedLifetime((old, before)) {}
    state.notifyAll()
  }

  /// Lets writers that are queued now join before the group closes; they need far less time than a
  /// sync does.
  private func gather(_ isWriterQueued: () -> Bool) {
    guard isWriterQueued() else { return }
    _ = arrivals.wait(nanoseconds: 200_000) { _ in
      !isWriterQueued() && state.withLock { $0.open?.isBeingWritten != true }
    }
  }

  /// Ends the gathering and closes the open group, unless another process was faster or a commit is
  /// writing into it.
  private func takeLead() -> Group? {
    state.withLock { state in
      state.isGathering = false
      guard state.syncing == nil, state.failure == nil, state.open?.isBeingWritten == false
      else { return nil }
      if !state.open!.deferred.isEmpty {
        state.beginOpen()
        state.open!.isBeingWritten = true
      }
      state.syncing = state.open.take()
      return state.syncing
    }
  }
}
