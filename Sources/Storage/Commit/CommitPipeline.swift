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
  }

  private let state = Monitor(State())
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

  /// This version is durable: another process has made it so, or this one for it.
  ///
  /// With it every older one: an open group that ends below it needs no sync, and its home may be that
  /// of the durable record by now.
  func adopt(_ committed: CommittedVersion) {
    state.withLock { state in
      Self.advance(&state, to: committed)
      if let last = state.open?.last, last.version <= committed.version { state.open = nil }
    }
    state.notifyAll()
  }

  /// Syncs of several processes end in any order.
  private static func advance(_ state: inout State, to committed: CommittedVersion) {
    if committed.version > state.durable?.version ?? Version(0) { state.durable = committed }
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
        let used = [state.durable?.home, state.syncing?.home, foreignHome]
        let home = (0..<homeCount).first { !used.contains($0) }!
        var group = Group(home: home)
        group.durableBefore = state.durable?.version ?? Version(0)
        if let syncing = state.syncing, syncing.last!.version > group.durableBefore {
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
    state.withLock { state in
      state.open = group
      state.open!.isBeingWritten = false
    }
    state.notifyAll()
  }

  /// The commit was rolled back; earlier commits of the group stand.
  func didFail() {
    state.withLock { state in
      state.open?.isBeingWritten = false
      if state.open?.last == nil { state.open = nil }
    }
    state.notifyAll()
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
    enum Step { case done, failed(StorageError), lead(Group) }
    while true {
      let step: Step = state.wait(
        until: { state in
          (state.durable?.version ?? Version(0)) >= version || state.failure != nil
            || (state.syncing == nil && state.open?.isBeingWritten == false)
        },
        then: { state in
          if (state.durable?.version ?? Version(0)) >= version { return .done }
          if let failure = state.failure { return .failed(failure) }
          return .lead(state.open!)
        })
      switch step {
      case .done: return
      case .failed(let failure): throw failure
      case .lead:
        gather(isWriterQueued)
        guard let group = takeLead() else { continue }
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
          Self.advance(&state, to: group.last!)
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
      Self.advance(&state, to: group.last!)
      state.syncing = nil
    }
    state.notifyAll()
  }

  /// Lets writers that are queued now join before the group closes; they need far less time than a
  /// sync does.
  private func gather(_ isWriterQueued: () -> Bool) {
    guard isWriterQueued() else { return }
    _ = state.wait(nanoseconds: 200_000) { _ in !isWriterQueued() }
  }

  /// Closes the open group, unless someone else was faster or a commit is writing into it.
  private func takeLead() -> Group? {
    state.withLock { state in
      guard state.syncing == nil, state.failure == nil, let group = state.open,
        !group.isBeingWritten
      else { return nil }
      state.open = nil
      state.syncing = group
      return group
    }
  }
}
