// Asynchronous writing: taking the write lock without ever blocking a thread for it, and commits
// that are written and synced by a thread of the store's own. The thread starts with the first such
// commit and ends when there has been none for a while. What waits keeps the store, so none is
// closed with a commit pending.
internal import Platform

/// Commits that wait for the disk, in commit order.
final class AsynchronousCommits: Sendable {
  /// How long the thread stays without work.
  static let idleNanoseconds: UInt64 = 500_000_000
  /// How long a group stays open for commits that are known to come.
  static let groupNanoseconds: UInt64 = 5_000_000

  /// Who is to hear of a commit.
  struct Waiting: Sendable {
    /// Another commit is about to follow and may share the sync.
    let awaitsMore: Bool
    /// Called once, on any thread, in commit order.
    let completion: @Sendable (StorageError?) -> Void
  }

  struct Entry: Sendable {
    let version: Version
    let waiting: Waiting
    /// Nil while it is being told: whoever hears of it may close the file.
    var store: Store?
  }

  struct State {
    var isRunning = false
    /// The thread sleeps until there is an entry; until there is one that awaits no more.
    var isIdle = false
    var isGathering = false
    /// It was woken for an entry that is about to come.
    var isExpecting = false
    /// The system had none to give: who has added the entry does the work.
    var isMissing = false
    /// Those that were not called back yet.
    var entries: [Entry] = []
  }

  let state = Monitor(State())
  /// How many entries have come, for a thread that looks without taking the lock.
  private let arrivals = Atomic<UInt64>(0)

  /// Looks for an entry before an expected one is slept for, some 40 us.
  private static let looksMax = 1000
  private static let hasProcessors = processorCount > 1

  /// Adds who waits.
  ///
  /// - Returns: whether a thread has to be started.
  func add(_ entry: Entry) -> Bool {
    let (starts, wakes) = state.withLock { state in
      state.entries.append(entry)
      arrivals.add(1, ordering: .releasing)
      let wakes = state.isIdle || (state.isGathering && !entry.waiting.awaitsMore)
      defer { state.isRunning = true }
      return (!state.isRunning, wakes)
    }
    if wakes { state.notifyAll() }
    return starts
  }

  /// A transaction has begun that will be committed here: wakes the thread, which takes longer than
  /// a small transaction does, and would keep the committer and the commit waiting.
  func expectEntry() {
    guard Self.hasProcessors else { return }
    let wakes = state.withLock { state in
      guard state.isIdle else { return false }
      state.isIdle = false
      state.isExpecting = true
      return true
    }
    if wakes { state.notifyAll() }
  }

  /// There is no thread; somebody has to do its work.
  func noteMissingThread() {
    state.withLock { state in
      state.isRunning = false
      state.isMissing = true
    }
  }

  /// Whether the caller is to do the work of a thread that could not be started.
  func takeOverFromMissingThread() -> Bool {
    state.withLock { state in
      // Another one may have been started meanwhile.
      let takes = state.isMissing && !state.isRunning
      state.isMissing = false
      if takes { state.isRunning = true }
      return takes
    }
  }

  /// Whether there is something to do for whoever does the thread's work; else that ends.
  func hasEntry() -> Bool {
    state.withLock { state in
      state.isRunning = !state.entries.isEmpty
      return state.isRunning
    }
  }

  /// Waits for an entry; false when none has come for long, and the thread is to end.
  func waitForEntry() -> Bool {
    while true {
      state.withLock { state in
        state.isIdle = state.entries.isEmpty
        state.isExpecting = false
      }
      _ = state.wait(nanoseconds: Self.idleNanoseconds) { !$0.entries.isEmpty || $0.isExpecting }
      let (isDone, expecting) = state.withLock { state in
        state.isIdle = false
        state.isGathering = state.entries.last?.waiting.awaitsMore == true
        let isEmpty = state.entries.isEmpty
        if isEmpty, !state.isExpecting { state.isRunning = false }
        return (!state.isRunning, isEmpty ? arrivals.load(ordering: .relaxed) : nil)
      }
      if isDone { return false }
      guard let expecting else { return true }
      look(after: expecting)
    }
  }

  /// Waits for as long as a small transaction takes, without going to sleep.
  private func look(after seen: UInt64) {
    for look in 0..<Self.looksMax {
      if arrivals.load(ordering: .acquiring) != seen { return }
      // The committer may need this processor.
      if look % 64 == 63 { yieldProcessor() } else { pauseProcessor() }
    }
  }
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
    do throws(StorageError) {
      if let failure = preparationFailure, failure.offer === offer {
        preparationFailure = nil
        throw failure.error
      }
      if try !enterProcessLockAtOnce() || needsTakeOver || isLogGone.load(ordering: .acquiring) {
        prepareElsewhere(offer)
        return nil
      }
    } catch {
      leaveWriteLock()
      throw error
    }
    let transaction = try beginWithLock(by: offer.place, mayUseFile: !defersCommits)
    if defersCommits { commits.expectEntry() }
    return transaction
  }

  /// Takes the lock against other processes if that does not mean to wait.
  private func enterProcessLockAtOnce() throws(StorageError) -> Bool {
    if processLockSince != nil { return !isProcessLockOverdue }
    guard try lockFile.tryAcquireWriteLock() else { return false }
    processLockSince = options.clock.nanoseconds()
    return true
  }

  /// Another process writes, or has written: a thread of its own waits for it and reads what it has
  /// left, and then the offer is made again.
  ///
  /// The thread has the lock of this process meanwhile, which is no use to anyone now.
  private func prepareElsewhere(_ offer: WriteOffer) {
    let helpers = helpers
    helpers.withLock { $0 += 1 }
    // Released by hand: who waits for the helpers must not find that one still has the store.
    let store = Unmanaged.passRetained(self)
    let work = { @Sendable in
      store._withUnsafeGuaranteedRef { $0.prepare(for: offer) }
      store.release()
      helpers.withLock { $0 -= 1 }
      helpers.notifyAll()
    }
    // Where the system has no thread to give, the caller waits.
    if let thread = Thread.startIfPossible(name: "realm-lock", work) {
      thread.detach()
    } else {
      work()
    }
  }

  private func prepare(for offer: WriteOffer) {
    do throws(StorageError) {
      try enterProcessLock()
      try throwIfSyncFailed()
      try prepareWriter(mayUseFile: true, isTimeToLook: false)
    } catch {
      preparationFailure = (offer, error)
    }
    queue.request(offer)
    queue.release()
    // Other processes must not wait for a waiter that cannot run: its offer stays.
    queue.waitUntilGone(offer, nanoseconds: 10_000_000)
    leaveProcessLock()
  }

  // MARK: - Commits

  /// Makes a version that is written, and whose durability is waited for, elsewhere.
  ///
  /// - Parameters:
  ///   - awaitsMore: another commit will follow soon and may share this one's sync.
  ///   - completion: called once, on any thread, in commit order, when the version is durable or
  ///     cannot become so; not called when this function throws.
  /// - Throws: when the version cannot be made; everything is rolled back then.
  func commitAsynchronously(
    _ transaction: WriteTransaction, awaitsMore: Bool,
    _ completion: @escaping @Sendable (StorageError?) -> Void
  ) throws(StorageError) -> Snapshot {
    let (snapshot, needsMaintenance) = try commitWithoutSync(
      transaction,
      notifying: AsynchronousCommits.Waiting(awaitsMore: awaitsMore, completion: completion))
    if let needsMaintenance { noteCommitForMaintenance(isNeeded: needsMaintenance) }
    return snapshot
  }

  /// Calls back once, on any thread, when a version is durable or cannot become so.
  package func notifyWhenDurable(
    _ version: Version, _ completion: @escaping @Sendable (StorageError?) -> Void
  ) {
    let waiting = AsynchronousCommits.Waiting(awaitsMore: false, completion: completion)
    if !enqueueUnlessDurable(version, waiting) { completion(nil) }
    completeWithoutThread()
  }

  /// - Returns: false when the version is durable and nobody waits before it: the caller tells.
  func enqueueUnlessDurable(_ version: Version, _ waiting: AsynchronousCommits.Waiting) -> Bool {
    if PlantedBug.earlyCompletion.isActive { return false }
    let isDurable = pipeline.failure(of: version) == nil && version <= newestVersion
    // Not before those that wait already, though their versions may be durable, too.
    if isDurable, commits.state.withLock({ $0.entries.isEmpty }) { return false }
    enqueue(.init(version: version, waiting: waiting, store: self))
    return true
  }

  private func enqueue(_ entry: AsynchronousCommits.Entry) {
    guard commits.add(entry) else { return }
    let commits = commits
    if let thread = Thread.startIfPossible(name: "realm-commit", { Store.complete(commits) }) {
      thread.detach()
    } else {
      commits.noteMissingThread()
    }
  }

  /// Does the thread's work, if the system had no thread to give.
  ///
  /// Without the write lock, and after `enqueueUnlessDurable`.
  func completeWithoutThread() {
    guard commits.takeOverFromMissingThread() else { return }
    while commits.hasEntry() { Store.tell(commits) }
  }

  /// The thread's work: writes and syncs for what waits and tells who waits.
  ///
  /// The store is held only while there is something to do.
  private static func complete(_ commits: AsynchronousCommits) {
    while commits.waitForEntry() {
      _ = commits.state.wait(nanoseconds: AsynchronousCommits.groupNanoseconds) {
        $0.entries.last?.waiting.awaitsMore != true
      }
      tell(commits)
    }
  }

  /// Waits for the first version and calls those back whose versions are decided then.
  private static func tell(_ commits: AsynchronousCommits) {
    let decided = decide(commits)
    for (waiting, failure) in decided { waiting.completion(failure) }
    // Only now, so that none that comes meanwhile is told before them. Only one thread at a time
    // removes any.
    commits.state.withLock { $0.entries.removeFirst(decided.count) }
  }

  /// What to tell whom; the store is let go, as far as this thread is concerned.
  private static func decide(
    _ commits: AsynchronousCommits
  ) -> [(AsynchronousCommits.Waiting, StorageError?)] {
    let first = commits.state.withLock { state in
      state.isGathering = false
      return state.entries.first
    }
    return first.map { $0.store!.decide($0.version) } ?? []
  }

  /// Makes a version durable, and finds everybody whose version is decided then.
  private func decide(_ first: Version) -> [(AsynchronousCommits.Waiting, StorageError?)] {
    // A failure is told to those who wait.
    try? waitUntilDurable(first)
    let durable = newestVersion
    var decided: [(AsynchronousCommits.Waiting, StorageError?)] = []
    for (version, waiting) in commits.state.withLock({ $0.entries.map { ($0.version, $0.waiting) } }
    ) {
      let failure = pipeline.failure(of: version)
      if failure == nil, version > durable { break }
      decided.append((waiting, failure))
    }
    commits.state.withLock { state in
      for index in decided.indices { state.entries[index].store = nil }
    }
    return decided
  }

  /// Blocks until a version is durable.
  ///
  /// - Throws: when it cannot become so.
  package func waitForDurability(_ version: Version) throws(StorageError) {
    if let failure = pipeline.failure(of: version) { throw failure }
    if version > newestVersion { try waitUntilDurable(version) }
  }

  /// Whether a version was given up because it could not be written or synced.
  ///
  /// - Complexity: two loads while nothing has failed.
  package func isLost(_ version: Version) -> Bool {
    if pipeline.isLost(version) { return true }
    return version > newestVersion && (pipeline.failure != nil || lockFile.syncFailure != nil)
  }
}
