// The asynchronous writes of one Realm: blocks that wait for the write lock, and commits that wait
// for the disk. Confined like the Realm, so it has no lock; what comes from other threads comes
// through the Realm's mailbox. One operation at a time waits for the lock, in the order of the
// calls.
internal import Platform
internal import Storage

/// Queued writes and pending commits.
final class AsynchronousWrites {
  typealias Identifier = AsyncTransactionId
  typealias Completion = ((any Error)?) -> Void

  /// A write that waits for the lock.
  private struct Operation {
    enum Kind {
      /// A block that is run by the mailbox; `commits` unless it has ended the transaction itself.
      case block(() -> Void, commits: Bool, Completion?)
      /// A suspended task that runs its block itself.
      case task(TaskSignal)
    }
    let kind: Kind
  }

  /// The operation whose block runs now.
  private struct Running {
    let identifier: Identifier
    /// Called once unless the operation was cancelled.
    var completion: Completion?
    var isTask = false
  }

  /// Owned by the Realm.
  private unowned var realm: ConfinedRealm
  private var mailbox: RealmMailbox
  /// The actor that has the Realm; nil in other places.
  private let actor: ActorReference?
  // Unchecked exclusivity: only the Realm's place touches these, in short accesses that run no
  // foreign code; blocks and completions are taken out before they are called or dropped.
  @exclusivity(unchecked) private var lastIdentifier: Identifier = 0
  @exclusivity(unchecked) private var queued = NumberedList<Operation>()
  /// The first of `queued` has asked for the lock with it.
  @exclusivity(unchecked) private var request: WriteOffer?
  @exclusivity(unchecked) private var running: Running?
  /// Commits that are not durable yet.
  @exclusivity(unchecked) private var pending: [Identifier: Completion?] = [:]
  @exclusivity(unchecked) private var newestPending: Version?
  /// Pending commits that must be durable before the next write of this Realm begins.
  @exclusivity(unchecked) private var commitsToAwait = 0
  /// The actor, while something is on its way that comes back to it by itself.
  ///
  /// Jobs of an actor that is gone would run anywhere, so it has to stay for them, as a queue does
  /// that the mailbox holds.
  @exclusivity(unchecked) private var keptActor: (any Actor)?
  /// The thread that has the Realm ends: nothing begins any more.
  @exclusivity(unchecked) private var isOver = false
  /// What is queued is being run in an actor's `isolated deinit`; what completions add comes after
  /// what is there.
  @exclusivity(unchecked) private var isRunningHere = false
  /// The lock was not waited for in vain in the `isolated deinit` yet.
  @exclusivity(unchecked) private var isPatientHere = true
  /// For a small transaction of others, or the engine's own work.
  private static let patienceNanoseconds: UInt64 = 250_000_000
  /// Completions that are told, one inside of the other, that nothing begins any more.
  @exclusivity(unchecked) private var refusals = 0
  /// Who tries again each time would do so for ever: so often is enough.
  private static let refusalsMax = 16

  init(_ realm: ConfinedRealm, _ mailbox: RealmMailbox) {
    self.realm = realm
    self.mailbox = mailbox
    if case .actor(let owner) = realm.confinement.owner {
      self.actor = owner.reference
    } else {
      self.actor = nil
    }
  }

  /// Whether anything is queued, running or not durable yet.
  var isBusy: Bool { !queued.isEmpty || running != nil || !pending.isEmpty }

  private func nextIdentifier() -> Identifier {
    repeat { lastIdentifier &+= 1 } while lastIdentifier == 0
    return lastIdentifier
  }

  // MARK: - The actor

  /// Keeps the actor, or lets it go, after something has changed of which that depends.
  ///
  /// What only waits for the end of the Realm's own transaction keeps nothing: an actor that never
  /// ends one has to go, so that the transaction is rolled back.
  func noteProgress() {
    guard let actor else { return }
    let isMoving = (request != nil && realm.writing == nil) || !pending.isEmpty
    if isMoving == (keptActor != nil) { return }
    let old = keptActor
    keptActor = isMoving ? actor.actor : nil
    // Let go last: it may own the Realm, and the Realm this.
    withExtendedLifetime(old) {}
  }

  /// Whether the actor is in its `isolated deinit`: no job of it will run any more.
  private var isActorGoing: Bool {
    guard let actor, keptActor == nil else { return false }
    return actor.actor == nil
  }

  /// Runs what is queued at once, in an actor's `isolated deinit`: nothing could come back to it.
  private func runHere() {
    if isRunningHere { return }
    isRunningHere = true
    defer { isRunningHere = false }
    let last = lastIdentifier
    var refusedAgain = 0
    while running == nil, realm.writing == nil, let (identifier, operation) = queued.first {
      queued.removeFirst()
      guard case .block(let block, let commits, let completion) = operation.kind else {
        // A task would keep its actor.
        Self.drop(operation, goneError)
        continue
      }
      running = Running(identifier: identifier, completion: completion)
      let canWrite = canWriteHere()
      let failure = canWrite ? writeHere(block, commits: commits) : goneError
      let rest = running?.completion
      running = nil
      // Added by a completion that was refused.
      let isLater = identifier != last && identifier &- last < Identifier.max / 2
      if !canWrite, isLater { refusedAgain += 1 }
      if refusedAgain <= Self.refusalsMax { rest?(failure) }
    }
  }

  /// Whether a transaction can begin without a wait that may never end.
  ///
  /// Who has the lock may be a frame below this one: another Realm of the actor, or another actor
  /// that has let go of this one inside of its transaction. So it is waited for only for a moment,
  /// and not again once that was in vain. Seen free, it is nobody's below.
  private func canWriteHere() -> Bool {
    if WritersHere.have(realm.store) { return false }
    if !realm.store.isBeingWritten { return true }
    if !isPatientHere { return false }
    let isFree = Monitor(false)
    let offer = WriteOffer(by: realm.place) {
      isFree.withLock { $0 = true }
      isFree.notifyAll()
    }
    realm.store.requestWrite(offer)
    defer { realm.store.withdrawRequest(offer) }
    isPatientHere = isFree.wait(nanoseconds: Self.patienceNanoseconds, until: { $0 })
    return isPatientHere
  }

  private func writeHere(_ block: () -> Void, commits: Bool) -> Realm.Error? {
    do throws(StorageError) {
      try realm.beginWrite()
      block()
      if realm.writing == nil { return nil }
      if commits { try realm.commitWrite() } else { realm.cancelWrite() }
      return nil
    } catch {
      return Realm.Error(error)
    }
  }

  /// Commits at once, where no completion could come later.
  private func commitHere(_ completion: Completion?) {
    let isInside = isRunningHere
    // What waits for the end of the transaction comes after the completion.
    isRunningHere = true
    var failure: Realm.Error?
    do throws(StorageError) { try realm.commitWrite() } catch { failure = Realm.Error(error) }
    completion?(failure)
    isRunningHere = isInside
    if !isInside { askForLock() }
  }

  private var goneError: Realm.Error {
    Realm.Error(.fail, "The actor was released before the write began.", path: nil)
  }

  // MARK: - Blocks

  /// Queues a block.
  func add(
    commits: Bool, _ block: @escaping () -> Void, _ completion: Completion?
  ) -> Identifier {
    let identifier = nextIdentifier()
    if isOver {
      refuse(completion)
      return identifier
    }
    queued.append(
      Operation(kind: .block(block, commits: commits, completion)), number: identifier)
    askForLock()
    return identifier
  }

  /// Asks for the write lock on behalf of the first operation, if it can begin now.
  private func askForLock() {
    defer { noteProgress() }
    guard request == nil, running == nil, realm.writing == nil, commitsToAwait == 0, !isOver,
      let first = queued.first
    else { return }
    if isActorGoing { return runHere() }
    let offer: WriteOffer
    switch first.element.kind {
    case .task(let signal): offer = WriteOffer(by: realm.place) { signal.send() }
    case .block:
      // Keeps the Realm until its writes are done.
      let carried = Carried((mailbox, realm, WeakBox<WriteOffer>()))
      offer = WriteOffer(by: realm.place) {
        let (mailbox, realm, own) = carried.value
        mailbox.send { realm.asynchronousWrites?.take(own.value) }
      }
      carried.value.2.value = offer
    }
    request = offer
    realm.store.requestWrite(offer)
  }

  /// The lock may be taken by the first operation, a block.
  private func take(_ offer: WriteOffer?) {
    guard let offer else { return }
    guard realm.confinement.isHere else { return abandonAnywhere(offer) }
    // An error is met again when the lock is taken.
    try? realm.tellObserversBeforeWriting()
    guard request === offer else {
      // Cancelled meanwhile.
      realm.store.withdrawRequest(offer)
      return
    }
    guard realm.writing == nil, running == nil else { return withdrawRequest() }
    do throws(StorageError) {
      let known = realm.snapshot?.version
      guard let transaction = try realm.store.beginWrite(taking: offer) else { return }
      realm.stepBack(from: known)
      guard try keeps(transaction, known, offer) else { return askForLock() }
      realm.didBegin(transaction)
    } catch {
      request = nil
      if case .block(_, _, let completion) = queued.removeFirst().kind {
        completion?(Realm.Error(error))
      }
      return askForLock()
    }
    runFirst()
  }

  /// Tells observers what others have committed before a transaction that is about to begin.
  ///
  /// - Parameter known: the version of which observers were told before.
  /// - Returns: false when their calls have used the transaction up, or dropped the operation; the
  ///   lock is free then.
  private func keeps(
    _ transaction: WriteTransaction, _ known: Version?, _ offer: WriteOffer
  ) throws(StorageError) -> Bool {
    // Until then the request stands, so that nothing asks for the lock that is held.
    let isHeld = try realm.tellObservers(ofBaseOf: transaction, known)
    let isWanted = request === offer
    if isWanted { request = nil }
    if isHeld && isWanted { return true }
    realm.held = nil
    if isHeld { transaction.cancel() }
    return false
  }

  /// Runs the first block, in the transaction that has begun for it.
  private func runFirst() {
    guard let (identifier, operation) = queued.first,
      case .block(let block, let commits, let completion) = operation.kind
    else { return }
    queued.removeFirst()
    running = Running(identifier: identifier, completion: completion)
    block()
    let rest = running?.completion
    running = nil
    if realm.writing == nil {
      // The block has ended the transaction; what it has committed may have to become durable
      // first.
      if let rest { completeLater(identifier, rest) }
    } else if commits {
      _ = commit(identifier, allowsGrouping: false, rest)
    } else {
      realm.cancelWrite()
    }
    askForLock()
  }

  /// Completes an operation whose block has committed or cancelled itself.
  private func completeLater(_ identifier: Identifier, _ completion: @escaping Completion) {
    pending[identifier] = completion
    let finish = report { $0.finish(identifier, $1, wasAwaited: false) }
    if let newestPending {
      realm.store.notifyWhenDurable(newestPending, finish)
    } else {
      finish(nil)
    }
  }

  /// A transaction of the Realm has ended.
  func didEndTransaction() { askForLock() }

  // MARK: - Commits

  /// Commits the running transaction, durable later.
  ///
  /// - Returns: what cancels the completion.
  func commit(allowsGrouping: Bool, _ completion: Completion?) -> Identifier {
    defer { askForLock() }
    return commit(nextIdentifier(), allowsGrouping: allowsGrouping, completion)
  }

  private func commit(
    _ identifier: Identifier, allowsGrouping: Bool, _ completion: Completion?
  ) -> Identifier {
    if isActorGoing || isOver {
      commitHere(completion)
      return identifier
    }
    pending[identifier] = .some(completion)
    if !allowsGrouping { commitsToAwait += 1 }
    let finish = report { $0.finish(identifier, $1, wasAwaited: !allowsGrouping) }
    do throws(StorageError) {
      try realm.commitAsynchronously(awaitsMore: allowsGrouping && !queued.isEmpty, finish)
      newestPending = realm.snapshot?.version
    } catch {
      // After the completions of what was committed before.
      if let newestPending {
        realm.store.notifyWhenDurable(newestPending) { _ in finish(error) }
      } else {
        finish(error)
      }
    }
    return identifier
  }

  /// What runs a body in the Realm's place when a commit is decided; to be called once, on any
  /// thread.
  ///
  /// The report keeps the Realm by a count that the body releases. A reference would outlive the
  /// body in the caller, and a client that was told may already close the Realm and delete the
  /// file.
  private func report(
    _ body: @escaping (AsynchronousWrites, StorageError?) -> Void
  ) -> @Sendable (StorageError?) -> Void {
    let mailbox = mailbox
    let carried = Carried((realm: Unmanaged.passRetained(realm), body: body))
    return { failure in
      mailbox.send {
        let realm = carried.value.realm.takeRetainedValue()
        if let writes = realm.asynchronousWrites { carried.value.body(writes, failure) }
      }
    }
  }

  /// A commit is durable, or never will be.
  private func finish(_ identifier: Identifier, _ failure: StorageError?, wasAwaited: Bool) {
    // The thread is gone, where the completion belongs.
    if isOver, !realm.confinement.isHere { return }
    if wasAwaited { commitsToAwait -= 1 }
    let completion = pending.removeValue(forKey: identifier) ?? nil
    if pending.isEmpty { newestPending = nil }
    if failure != nil { realm.stepBackIfLost() }
    completion?(failure.map { Realm.Error($0) })
    #if PLANTED_BUGS
      if PlantedBug.doubleCompletion.strikes(everyCalls: 50) { completion?(nil) }
    #endif
    askForLock()
  }

  // MARK: - Cancelling

  /// Drops a queued write, rolls back the running one, or drops a commit's completion.
  func cancel(_ identifier: Identifier) {
    let isFirst = queued.first?.number == identifier
    if let operation = queued.remove(identifier) {
      // Dropped only after the request is withdrawn: what it holds may be the client's.
      if isFirst { withdrawRequest() }
      askForLock()
      withExtendedLifetime(operation) {}
    } else if running?.identifier == identifier {
      let dropped = running?.completion
      running?.completion = nil
      if realm.writing != nil { realm.cancelWrite() }
      withExtendedLifetime(dropped) {}
    } else if let dropped = pending[identifier] {
      pending[identifier] = .some(nil)
      withExtendedLifetime(dropped) {}
    }
  }

  private func withdrawRequest() {
    guard let offer = request else { return }
    request = nil
    realm.store.withdrawRequest(offer)
    noteProgress()
  }

  /// The Realm lets go of its version: what has not begun is dropped, commits become durable first.
  func invalidate() {
    withdrawRequest()
    let dropped = queued.elements
    queued = NumberedList()
    if let version = newestPending {
      // A failure reaches the completions.
      try? realm.store.waitForDurability(version)
    }
    let error = Realm.Error(
      .fail, "The Realm was invalidated before the write began.", path: realm.store.path)
    let running = running?.completion
    self.running?.completion = nil
    mailbox.send {
      if let running { running(error) }
      for operation in dropped { Self.drop(operation, error) }
    }
  }

  /// The thread ends to which the Realm is confined: what has not begun never will.
  ///
  /// What still waits would keep the Realm, and its version, for ever. Commits that are not durable
  /// yet become so; their completions are dropped, as there is no place left to call them in.
  func endWithThread() {
    withdrawRequest()
    let dropped = queued.elements
    queued = NumberedList()
    // Before others see that the mailbox is closed.
    isOver = true
    mailbox.close()
    for operation in dropped { Self.drop(operation, endedError) }
  }

  private var endedError: Realm.Error {
    Realm.Error(.fail, "The thread has ended before the write began.", path: realm.store.path)
  }

  /// Tells a completion, on the thread that ends, that its write never begins.
  private func refuse(_ completion: Completion?) {
    if refusals == Self.refusalsMax { return }
    refusals += 1
    defer { refusals -= 1 }
    completion?(endedError)
  }

  /// Another Realm goes on with the transaction of the one that is gone, behind which all this was
  /// queued.
  func move(to realm: ConfinedRealm, _ mailbox: RealmMailbox) {
    self.realm = realm
    self.mailbox = mailbox
  }

  /// The Realm is gone: its open transaction was never ended, so what was queued behind it never
  /// began.
  func abandon() {
    let dropped = queued.elements
    guard !dropped.isEmpty else { return }
    mailbox.send {
      let error = Realm.Error(.fail, "The Realm was closed before the write began.", path: nil)
      for operation in dropped { Self.drop(operation, error) }
    }
  }

  /// The actor is gone: nobody is left to run blocks for.
  private func abandonAnywhere(_ offer: WriteOffer) {
    realm.store.withdrawRequest(offer)
    guard request === offer else { return }
    request = nil
    let dropped = queued.elements
    queued = NumberedList()
    let error = goneError
    for operation in dropped { Self.drop(operation, error) }
  }

  private static func drop(_ operation: Operation, _ error: Realm.Error) {
    switch operation.kind {
    case .block(_, _, let completion): completion?(error)
    case .task(let signal): signal.send(failure: error)
    }
  }

  // MARK: - Tasks

  /// Queues a task; its signal comes whenever the lock may be taken.
  ///
  /// - Returns: what takes it out of the queue, or begins its transaction.
  func add(_ signal: TaskSignal) -> Identifier {
    if PlantedBug.lostTransaction.isActive, realm.writing != nil { realm.cancelWrite() }
    let identifier = nextIdentifier()
    queued.append(Operation(kind: .task(signal)), number: identifier)
    askForLock()
    return identifier
  }

  /// Takes a task that was cancelled out of the queue.
  func remove(_ task: Identifier) {
    let isFirst = queued.first?.number == task
    guard queued.remove(task) != nil else { return }
    if isFirst { withdrawRequest() }
    askForLock()
  }

  /// Begins the transaction of a task, if the lock is free and it is the task's turn.
  func begin(_ task: Identifier) throws(StorageError) -> Bool {
    // As in `take`. Thrown on from here, it would leave the task in the queue with its request,
    // and nothing behind it would ever begin.
    try? realm.tellObserversBeforeWriting()
    guard queued.first?.number == task, let offer = request else { return false }
    guard realm.writing == nil, running == nil else {
      withdrawRequest()
      return false
    }
    do throws(StorageError) {
      let known = realm.snapshot?.version
      guard let transaction = try realm.store.beginWrite(taking: offer) else { return false }
      realm.stepBack(from: known)
      guard try keeps(transaction, known, offer) else {
        askForLock()
        return false
      }
      queued.removeFirst()
      running = Running(identifier: task, isTask: true)
      realm.didBegin(transaction)
      return true
    } catch {
      request = nil
      queued.removeFirst()
      askForLock()
      throw error
    }
  }

  /// The task's block has returned or thrown.
  func endBlock() { running = nil }

  /// Commits the transaction of a task; the signal comes when it is durable or cannot become so.
  func commit(_ signal: TaskSignal) throws(StorageError) -> Identifier {
    let identifier = nextIdentifier()
    pending[identifier] = .some(nil)
    commitsToAwait += 1
    do throws(StorageError) {
      // Grouping with other Realms' commits is not affected by the Realm's own order.
      try realm.commitAsynchronously(awaitsMore: false) { failure in
        signal.send(failure: failure.map { Realm.Error($0) }, isDone: true)
      }
      newestPending = realm.snapshot?.version
      return identifier
    } catch {
      didFinish(identifier)
      throw error
    }
  }

  /// The task goes on after its commit.
  func didFinish(_ identifier: Identifier, _ failure: (any Error)? = nil) {
    commitsToAwait -= 1
    pending[identifier] = nil
    if pending.isEmpty { newestPending = nil }
    if failure != nil { realm.stepBackIfLost() }
    askForLock()
  }
}
