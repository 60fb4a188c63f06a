// Asynchronous writing: taking the write lock without ever blocking a thread for it, and commits whose
// sync happens on a thread of the store's own. The thread starts with the first such commit and ends when
// there has been none for a while. It keeps the store, so a store is never closed with a commit pending.
internal import Platform

/// Commits that wait for the disk, in commit order.
final class AsynchronousCommits: Sendable {
  /// How long the thread stays without work.
  static let idleNanoseconds: UInt64 = 500_000_000
  /// How long a group stays open for commits that are known to come.
  static let groupNanoseconds: UInt64 = 5_000_000

  struct Entry {
    let version: Version
    /// Another commit is about to follow and may share the sync.
    let awaitsMore: Bool
    let completion: @Sendable (StorageError?) -> Void
  }

  struct State {
    var isRunning = false
    var entries: [Entry] = []
  }

  let state = Monitor(State())
}

extension Store {
  // MARK: - The lock

  /// Joins the queue of writers.
  ///
  /// The offer is made as soon as the lock may be taken, perhaps at once, on any thread.
  package func requestWrite(_ offer: WriteOffer) { queue.request(offer) }

  /// Leaves the queue of writers.
  package func withdrawRequest(_ offer: WriteOffer) { queue.withdraw(offer) }

  /// Begins the transaction that was offered.
  ///
  /// - Returns: nil when somebody else was faster; the offer will be made again.
  /// - Throws: as `beginWrite`; the waiter has left the queue then.
  package func beginWrite(taking offer: WriteOffer) throws(StorageError) -> WriteTransaction? {
    guard queue.take(offer) else { return nil }
    if processLockSince == nil {
      do throws(StorageError) {
        guard try lockFile.tryAcquireWriteLock() else {
          waitForProcesses(offer)
          return nil
        }
      } catch {
        leaveWriteLock()
        throw error
      }
      processLockSince = options.clock.nanoseconds()
    }
    return try beginWithLock()
  }

  /// Another process writes: a thread of its own waits for it, and then the offer is made again.
  ///
  /// The thread has the lock of this process meanwhile, which is no use to anyone now.
  private func waitForProcesses(_ offer: WriteOffer) {
    let thread = Thread.start(name: "realm-lock") { [self] in
      do throws(StorageError) {
        try lockFile.acquireWriteLock()
        processLockSince = options.clock.nanoseconds()
      } catch {
        // Whoever takes the offer meets the error again.
      }
      queue.request(offer)
      queue.release()
      // Other processes must not wait for a waiter that cannot run: its offer stays.
      queue.waitUntilGone(offer, nanoseconds: 10_000_000)
      if queue.tryAcquire() {
        if processLockSince != nil {
          lockFile.releaseWriteLock()
          processLockSince = nil
        }
        queue.release()
      }
    }
    thread.detach()
  }

  // MARK: - Commits

  /// Makes a version whose durability is waited for elsewhere.
  ///
  /// - Parameters:
  ///   - awaitsMore: another commit will follow soon and may share this one's sync.
  ///   - completion: called once, on any thread, in commit order, when the version is durable or cannot
  ///     become so; not called when this function throws.
  /// - Throws: as a commit does, except for a failed sync; everything is rolled back then.
  func commitAsynchronously(
    _ transaction: WriteTransaction, awaitsMore: Bool,
    _ completion: @escaping @Sendable (StorageError?) -> Void
  ) throws(StorageError) -> Snapshot {
    let (snapshot, needsMaintenance) = try commitWithoutSync(transaction)
    let isWaited = durability == .full && snapshot.version > newestVersion
    if isWaited && !PlantedBug.earlyCompletion.isActive {
      enqueue(.init(version: snapshot.version, awaitsMore: awaitsMore, completion: completion))
    } else {
      completion(nil)
    }
    if let needsMaintenance { noteCommitForMaintenance(isNeeded: needsMaintenance) }
    return snapshot
  }

  /// Calls back once, on any thread, when a version is durable or cannot become so.
  package func notifyWhenDurable(
    _ version: Version, _ completion: @escaping @Sendable (StorageError?) -> Void
  ) {
    if durability == .full, version > newestVersion {
      enqueue(.init(version: version, awaitsMore: false, completion: completion))
    } else {
      completion(nil)
    }
  }

  private func enqueue(_ entry: AsynchronousCommits.Entry) {
    let starts = commits.state.withLock { state in
      state.entries.append(entry)
      if state.isRunning { return false }
      state.isRunning = true
      return true
    }
    commits.state.notifyAll()
    guard starts else { return }
    let commits = commits
    let thread = Thread.start(name: "realm-commit") { [weak self] in
      Store.complete(commits) { self }
    }
    thread.detach()
  }

  /// The thread's work: syncs for what waits and tells who waits.
  ///
  /// The store is held only while there is something to do.
  private static func complete(_ commits: AsynchronousCommits, _ store: () -> Store?) {
    while true {
      let hasWork = commits.state.wait(nanoseconds: AsynchronousCommits.idleNanoseconds) {
        !$0.entries.isEmpty
      }
      if !hasWork {
        let isDone = commits.state.withLock { state in
          if state.entries.isEmpty { state.isRunning = false }
          return !state.isRunning
        }
        if isDone { return }
        continue
      }
      // Each entry's completion keeps a Realm, and with it the store, until it was called.
      guard let store = store() else { return }
      _ = commits.state.wait(nanoseconds: AsynchronousCommits.groupNanoseconds) {
        $0.entries.last?.awaitsMore == false
      }
      store.completeCommits()
    }
  }

  private func completeCommits() {
    let entries = commits.state.withLock { state in
      defer { state.entries = [] }
      return state.entries
    }
    var failure: StorageError?
    if let newest = entries.map(\.version).max() {
      do throws(StorageError) { try waitUntilDurable(newest) } catch { failure = error }
    }
    for entry in entries {
      entry.completion(entry.version <= newestVersion ? nil : failure)
    }
  }

  /// Blocks until a version is durable.
  ///
  /// - Throws: when it cannot become so.
  package func waitForDurability(_ version: Version) throws(StorageError) {
    guard durability == .full, version > newestVersion else { return }
    try waitUntilDurable(version)
  }

  /// Whether a version was given up because its sync failed.
  package func isLost(_ version: Version) -> Bool {
    version > newestVersion && (pipeline.failure != nil || lockFile.syncFailure != nil)
  }
}
