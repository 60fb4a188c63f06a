// From "written" to "durable": groups of commits share one sync. Committers that wait elect a leader
// among themselves; the leader closes the open group, syncs, publishes its last version and wakes the
// rest. One sync is in flight at a time; the next group fills meanwhile.
//
// At any instant the disk holds the record of the durable version, untouched, and at most the records
// of the group being synced and of the open group: so three homes are in use and a fourth is spare.
internal import Platform

/// A version whose blocks and record are in the file.
struct CommittedVersion: Sendable {
  let snapshot: Snapshot
  let home: Int
  /// The record vouches for blocks born after this version: until a newer version is durable none of
  /// their bytes may be reused, not even of those that died meanwhile.
  let vouchesAfter: Version
  var version: Version { snapshot.version }
}

/// Bytes that a record vouches for.
struct VouchedExtent: Sendable {
  let extent: Extent
  let hash: UInt64
}

/// Groups of commits on their way to the disk.
final class CommitPipeline: Sendable {
  /// Commits that share a record and a sync.
  struct Group: Sendable {
    let home: Int
    var last: CommittedVersion?
    /// What the commits of this group wrote.
    var own: [VouchedExtent] = []
    /// What the group before wrote, while that was not durable: this group's record must not be found
    /// sound without it.
    var carried: [VouchedExtent] = []
    /// The version that was durable when the group was opened.
    var durableBefore = Version(0)
    /// The record as written, to be put back if a later commit of the group fails half way.
    var record: [UInt8] = []
    /// A commit is writing into this group: it must not be closed now.
    var isBeingWritten = false
  }

  struct State {
    var durable: CommittedVersion?
    var open: Group?
    var syncing: Group?
    var failure: StorageError?
    var syncs: UInt64 = 0
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
  }

  private let state = Monitor(State())
  /// Woken by what joins the open group: who gathers waits here, so that those who wait for the sync
  /// sleep on.
  private let arrivals = Monitor(())
  private let homeCount: Int

  init(homeCount: Int) { self.homeCount = homeCount }

  /// The newest durable version.
  var durable: CommittedVersion? { state.withLock { $0.durable } }

  var syncs: UInt64 { state.withLock { $0.syncs } }

  var failure: StorageError? { state.withLock { $0.failure } }

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
  /// So is the open group, if it is older: nothing may join it any more, because the other process may
  /// have reused what it vouches for.
  func adopt(_ committed: CommittedVersion) {
    state.withLock { state in
      state.noteDurable(committed)
      guard let open = state.open, !open.isBeingWritten, let last = open.last else { return }
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

  /// Opens a group for the next commit or joins the open one, which then stays open until
  /// `didWrite` or `didFail`.
  ///
  /// Write lock only.
  func join(foreignHome: Int?) throws(StorageError) -> Group {
    try state.withLock { (state) throws(StorageError) -> Group in
      if let failure = state.failure { throw failure }
      if state.open == nil {
        let durableHomes = [state.durable?.home, foreignHome]
        let used =
          [state.syncing?.home] + (PlantedBug.overwriteDurableHome.isActive ? [] : durableHomes)
        let home = (0..<homeCount).first { !used.contains($0) }!
        var group = Group(home: home)
        group.durableBefore = state.durable?.version ?? Version(0)
        // Not what another process has made durable meanwhile: that may be reused.
        if let syncing = state.syncing, syncing.last!.version > group.durableBefore,
          !PlantedBug.carriedLost.isActive
        {
          group.carried = syncing.own
        }
        state.open = group
      }
      state.open!.isBeingWritten = true
      return state.open!
    }
  }

  /// The commit is in the file.
  func didWrite(_ group: Group) {
    let (needsLeader, isGathering) = state.withLock { state in
      state.open = group
      state.open!.isBeingWritten = false
      return (state.needsLeader, state.isGathering)
    }
    tellOfArrival(needsLeader: needsLeader, isGathering: isGathering)
  }

  /// Wakes who has something to do now, and nobody else: each waiting committer that looked up in vain
  /// would take the processor from the next writer.
  private func tellOfArrival(needsLeader: Bool, isGathering: Bool) {
    if needsLeader { state.notifyAll() }
    if isGathering {
      // Through the lock, so that whoever has just looked is asleep by now.
      arrivals.withLock { _ in }
      arrivals.notifyAll()
    }
  }

  /// The commit was rolled back; earlier commits of the group stand.
  func didFail() {
    let isGathering = state.withLock { state in
      state.open?.isBeingWritten = false
      if state.open?.last == nil { state.open = nil }
      return state.isGathering
    }
    tellOfArrival(needsLeader: true, isGathering: isGathering)
  }

  /// Makes everything up to `version` durable, by leading a sync or by waiting for one.
  ///
  /// - Parameters:
  ///   - isWriterQueued: whether more commits are about to join; the leader waits for them a little.
  ///   - sync: makes the file durable.
  ///   - publish: makes the group's last version visible; called by the leader only.
  func waitUntilDurable(
    _ version: Version, isWriterQueued: () -> Bool, sync: () throws(StorageError) -> Void,
    publish: (CommittedVersion) -> Void
  ) throws(StorageError) {
    enum Step { case done, failed(StorageError), lead }
    while true {
      let step: Step = state.wait(
        until: { state in
          (state.durable?.version ?? Version(0)) >= version || state.failure != nil
            || state.needsLeader
        },
        then: { state in
          if (state.durable?.version ?? Version(0)) >= version { return .done }
          if let failure = state.failure { return .failed(failure) }
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
        if PlantedBug.publishBeforeSync.isActive { publish(group.last!) }
        do throws(StorageError) {
          try sync()
        } catch {
          state.withLock { state in
            state.failure = error
            state.syncing = nil
          }
          state.notifyAll()
          throw error
        }
        publish(group.last!)
        state.withLock { state in
          state.noteDurable(group.last!)
          state.syncing = nil
          state.syncs += 1
        }
        state.notifyAll()
      }
    }
  }

  /// Publishes without a sync, for files that promise less.
  func publishWithoutSync(_ publish: (CommittedVersion) -> Void) {
    guard let group = takeLead() else { return }
    publish(group.last!)
    state.withLock { state in
      state.noteDurable(group.last!)
      state.syncing = nil
    }
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
      guard state.syncing == nil, state.failure == nil, let group = state.open,
        !group.isBeingWritten
      else { return nil }
      state.open = nil
      state.syncing = group
      return group
    }
  }
}
