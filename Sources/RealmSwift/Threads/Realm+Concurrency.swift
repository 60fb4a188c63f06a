// Realms in Swift's concurrency: opening for an actor, writing and refreshing without blocking its
// thread. A suspended task is resumed on its actor and takes the write lock itself, so that from
// taking it to the end of its block nothing else can run there.
//
// The isolation parameters are optional because the compiler (6.3.1) crashes on the other form's
// default value in an actor's initializer. Nil, which is no actor, stops.
internal import Platform
internal import Storage

extension Realm {
  /// Whether to wait for changes of others before opening; Realms here are local, so it has no
  /// effect.
  public enum OpenBehavior: Sendable {
    /// Do not wait.
    case never
    /// Wait when the file is opened for the first time.
    case once
    /// Wait each time.
    case always
  }

  // MARK: - Opening

  /// Opens a Realm for the main actor.
  ///
  /// The work on the file, migration and compaction included, is done on another thread.
  /// - Parameters:
  ///   - configuration: where the Realm is and what it holds.
  ///   - downloadBeforeOpen: no effect.
  /// - Throws: `Realm.Error`, as opening without `await` does; `CancellationError`.
  @MainActor
  public init(
    configuration: Configuration = .defaultConfiguration,
    downloadBeforeOpen: OpenBehavior = .never
  ) async throws {
    self.init(try await Self.opened(configuration, MainActor.shared, MainActor.shared))
  }

  /// Opens a Realm for an actor.
  ///
  /// The work on the file, migration and compaction included, is done on another thread.
  /// - Parameters:
  ///   - configuration: where the Realm is and what it holds.
  ///   - actor: may use the Realm, and is not kept alive by it.
  ///   - downloadBeforeOpen: no effect.
  /// - Throws: `Realm.Error`, as opening without `await` does; `CancellationError`.
  public init<A: Actor>(
    configuration: Configuration = .defaultConfiguration, actor: isolated A,
    downloadBeforeOpen: OpenBehavior = .never
  ) async throws {
    self.init(try await Self.opened(configuration, actor, actor))
  }

  /// Opens a Realm for the actor that the caller runs on.
  ///
  /// Also in an actor's asynchronous initializer, once all properties have a value: there is no
  /// actor to confine to before, so declare the one for the Realm as `var realm: Realm!`. The work
  /// on the file, migration and compaction included, is done on another thread.
  /// - Parameters:
  ///   - configuration: where the Realm is and what it holds.
  ///   - _isolation: the actor; leave it out.
  ///   - downloadBeforeOpen: no effect.
  /// - Throws: `Realm.Error`, as opening without `await` does; `CancellationError`.
  public static func open(
    configuration: Configuration = .defaultConfiguration,
    _isolation: isolated (any Actor)? = #isolation, downloadBeforeOpen: OpenBehavior = .never
  ) async throws -> Realm {
    guard let actor = _isolation else {
      misuse(
        .confinement,
        "Realm.open() can only be called in an actor. In an actor's initializer every property needs "
          + "a value before: declare `var realm: Realm!`. Elsewhere use `try Realm()` in a function "
          + "that does not suspend.")
    }
    return Realm(try await opened(configuration, actor, _isolation))
  }

  private static func opened(
    _ configuration: Configuration, _ actor: any Actor, _ isolation: isolated (any Actor)?
  ) async throws -> ConfinedRealm {
    try Task.checkCancellation()
    let confinement = Confinement(actor)
    if let open = RealmCache.find(configuration, confinement.identity).realm { return open }
    let prepared = try await PreparedFile.make(configuration, isolation)
    // Until the end it keeps the file open.
    defer { prepared.letGo() }
    try Task.checkCancellation()
    confinement.check()
    return try ConfinedRealm.open(configuration, confinement)
  }

  // MARK: - Writing

  /// Runs a block in a write transaction and commits it, without ever blocking the thread.
  ///
  /// Suspends until the file can be written, runs the block on the actor, and suspends until the
  /// changes are durable. When the block throws, its changes are rolled back and the error is
  /// thrown on. It may commit or cancel by itself. When the task is cancelled before the block has
  /// begun, the block is not run. This is the form of writing for tasks: `write` blocks one of the
  /// few threads that run them.
  ///
  /// When the changes cannot be stored, as on a full disk, the Realm goes back to the version
  /// before: its objects and collections are invalid then, and observers of its content are told
  /// nothing more.
  ///
  /// Stops when the Realm is not that of an actor or of the main thread.
  /// - Parameters:
  ///   - _isolation: the actor; leave it out.
  ///   - block: makes the changes.
  /// - Returns: what the block returns.
  /// - Throws: the block's error; `CancellationError`; a `Realm.Error` when the changes cannot be
  ///   stored.
  @discardableResult
  public func asyncWrite<Result>(
    _isolation: isolated (any Actor)? = #isolation, _ block: () throws -> Result
  ) async throws -> Result {
    let writes = requireActor("asyncWrite()")
    try Task.checkCancellation()
    let signal = TaskSignal()
    let queued = writes.add(signal)
    while true {
      // Mostly the lock is free and the signal there: nothing to wait for, and nothing to cancel.
      if !signal.takeSignal() {
        await withTaskCancellationHandler {
          await signal.wait(_isolation)
        } onCancel: {
          signal.send()
        }
      }
      if let failure = signal.failure { throw failure }
      if Task.isCancelled {
        if PlantedBug.stolenTransaction.isActive, confined.writing != nil { break }
        writes.remove(queued)
        throw CancellationError()
      }
      if try mappingErrors({ () throws(StorageError) in try writes.begin(queued) }) { break }
    }
    // No suspension from here until the block has returned.
    let result: Result
    do {
      result = try block()
    } catch {
      if confined.writing != nil { confined.cancelWrite() }
      writes.endBlock()
      writes.didEndTransaction()
      throw error
    }
    writes.endBlock()
    guard confined.writing != nil else {
      writes.didEndTransaction()
      return result
    }
    let identifier = try mappingErrors { () throws(StorageError) in try writes.commit(signal) }
    // The commit is made: nothing can cancel it any more. A late signal of the lock is none of the
    // commit.
    while !signal.isDone { await signal.wait(_isolation) }
    writes.didFinish(identifier, signal.failure)
    if let failure = signal.failure { throw failure }
    return result
  }

  // MARK: - Refreshing

  /// Moves to the newest version, without blocking the thread.
  ///
  /// Stops when the Realm is not that of an actor or of the main thread.
  /// - Parameter _isolation: the actor; leave it out.
  /// - Returns: whether there was a newer version; the Realm then stands at least on what was the
  ///   newest one at the call. False when the task is cancelled.
  @discardableResult
  public func asyncRefresh(_isolation: isolated (any Actor)? = #isolation) async -> Bool {
    _ = requireActor("asyncRefresh()")
    if Task.isCancelled || isFrozen { return false }
    let newest = confined.store.newestVersion
    // What is told to be the newest version is not left for an older one.
    confined.isUntouched = false
    guard confined.writing == nil, confined.currentSnapshot().version < newest else {
      return false
    }
    await Task.yield()
    if Task.isCancelled { return false }
    // Somebody else may have moved it meanwhile.
    refresh()
    return confined.currentSnapshot().version >= newest
  }

  /// The asynchronous writes of a Realm that an actor or the main thread has.
  private func requireActor(_ function: String) -> AsynchronousWrites {
    switch confined.confinement.owner {
    case .actor, .main: break
    case .anyone where function == "asyncWrite()":
      misuse(.frozen, "Can't perform transactions on a frozen Realm")
    case .anyone, .thread, .queue:
      misuse(
        .confinement,
        "\(function) can only be called on main thread or actor-isolated Realms")
    }
    confined.check()
    if function == "asyncWrite()" { confined.requireWritable() }
    guard let writes = confined.findAsynchronousWrites() else {
      fatalError("unreachable: an actor always runs jobs")
    }
    return writes
  }
}

/// A file that was opened and brought in line with the classes by a thread of its own.
final class PreparedFile: Sendable {
  private let store: Monitor<Store?>

  private init(_ store: Store) { self.store = Monitor(store) }

  /// Keeps the file open no longer, whoever has this: the thread that made it ends a moment later.
  func letGo() {
    // The store ends outside of the lock.
    let store = store.withLock { store in
      defer { store = nil }
      return store
    }
    withExtendedLifetime(store) {}
  }

  /// Opens the file on another thread.
  static func make(
    _ configuration: Realm.Configuration, _ isolation: isolated (any Actor)?
  ) async throws -> PreparedFile {
    // The file goes through a lock, not through the continuation: one that is resumed before its
    // task waits orders memory by atomics of the runtime's own, which the thread sanitizer does not
    // see.
    let result = Monitor<Result<PreparedFile, any Error>?>(nil)
    await withCheckedContinuation(isolation: isolation) { continuation in
      start(configuration) { opened in
        result.withLock { $0 = opened }
        continuation.resume()
      }
    }
    guard let opened = result.withLock({ $0 }) else {
      fatalError("unreachable: the continuation is resumed once there is a result")
    }
    return try opened.get()
  }

  /// Opens the file on another thread, and calls back there.
  ///
  /// A thread of its own: those that run tasks may all be blocked in `write`. Where the system has
  /// none to give, it is opened here.
  static func start(
    _ configuration: Realm.Configuration,
    _ completion: @escaping @Sendable (Result<PreparedFile, any Error>) -> Void
  ) {
    let open = { @Sendable in
      completion(Result { PreparedFile(try ConfinedRealm.open(configuration, on: nil).store) })
    }
    if let thread = Thread.startIfPossible(name: "realm-open", open) {
      thread.detach()
    } else {
      open()
    }
  }
}
