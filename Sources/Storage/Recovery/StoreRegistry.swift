// The stores that this process has open, by what the file is, not by its path.
internal import Platform

/// Weak references to all open stores.
struct StoreRegistry {
  #if CONTROLLED_SCHEDULING
    // Sound: replaced only where a program of an exploration begins, by the one thread that runs
    // then.
    nonisolated(unsafe) private static var shared = Monitor(StoreRegistry())
    nonisolated(unsafe) private static var simulated = Monitor<[UInt64: Monitor<StoreRegistry>]>([:]
    )

    /// Makes a new registry: what a run finds must not depend on the runs before it, and one that
    /// was given up may have left the old one locked.
    static func startAnew() {
      shared = Monitor(StoreRegistry())
      simulated = Monitor([:])
    }
  #else
    private static let shared = Monitor(StoreRegistry())
    private static let simulated = Monitor<[UInt64: Monitor<StoreRegistry>]>([:])
  #endif

  /// That of the process that a file system is of.
  static func of(_ fileSystem: any FileSystem) -> Monitor<StoreRegistry> {
    let process = fileSystem.process
    if process == 0 { return shared }
    return simulated.withLock { registries in
      if let registry = registries[process] { return registry }
      let registry = Monitor(StoreRegistry())
      registries[process] = registry
      return registry
    }
  }

  var byFile: [FileIdentity: WeakStore] = [:]
  var inMemory: [String: WeakStore] = [:]

  /// The open store of a file.
  ///
  /// - Throws: `alreadyOpen` when it has other settings and someone uses it.
  func shared(_ identity: FileIdentity, _ options: StoreOptions) throws(StorageError) -> Store? {
    guard let entry = byFile[identity], !entry.isOfParent else { return nil }
    do throws(StorageError) {
      if let store = try settled(entry, options) { return store }
    } catch {
      if isInUse(identity) { throw error }
    }
    // Until it has left the lock file the next one would take it for another process.
    entry.waitUntilClosed()
    return nil
  }

  private func settled(
    _ entry: WeakStore, _ options: StoreOptions
  ) throws(StorageError) -> Store? {
    guard let store = entry.store else { return nil }
    try store.checkSettings(options)
    return store
  }

  /// How long threads of a store's own are waited for; where another process writes it may take
  /// them long.
  private static let helpNanoseconds: UInt64 = 1_000_000_000

  /// Whether anyone but threads of its own uses the store of a file.
  ///
  /// Waits for idle work to give way, for who has prepared a transaction to be done, and for one
  /// that is being closed.
  func isInUse(_ identity: FileIdentity) -> Bool {
    guard let entry = byFile[identity], !entry.isOfParent else { return false }
    if let helpers = entry.store?.helpers {
      _ = helpers.wait(nanoseconds: Self.helpNanoseconds) { $0 == 0 }
    }
    entry.maintenance.pause()
    defer { entry.maintenance.resume() }
    if entry.store != nil { return true }
    entry.waitUntilClosed()
    return false
  }

  /// Closed stores take no part in their own removal: they may end while this lock is held.
  ///
  /// Of a few the memory stays until there are more.
  mutating func forgetClosed() {
    if byFile.count + inMemory.count < 16 { return }
    byFile = byFile.filter { !$0.value.isClosed }
    inMemory = inMemory.filter { $0.value.store != nil }
  }
}

/// A reference that does not keep the store open.
///
/// Not Swift's `weak`, which would slow down every other reference to the store.
struct WeakStore: Sendable {
  /// Keeps the memory, not the store: what `reference` points to can always be asked.
  private unowned let memory: Store
  private let reference: Unmanaged<Store>
  private let generation = forkGeneration
  let maintenance: MaintenanceState

  init(store: Store) {
    memory = store
    reference = .passUnretained(store)
    maintenance = store.maintenance
  }

  /// The process is a child that was forked since: the store and all that waits for it are the
  /// parent's.
  var isOfParent: Bool { generation != forkGeneration }

  /// Nothing of it is left: neither its place in the lock file nor a lock.
  var isClosed: Bool { store == nil && maintenance.state.withLock { $0.isClosed } }

  /// Waits for who is closing it, which may be any thread that used it: nobody has it any more.
  ///
  /// Closing never asks for the registry, so that one may wait with it.
  func waitUntilClosed() {
    maintenance.state.wait(until: { $0.isClosed }, then: { _ in })
  }

  /// The store, unless its last user is gone.
  var store: Store? { retainIfAlive(reference) }
}

#if CONTROLLED_SCHEDULING
  extension Store {
    /// Forgets which files are open; for a program of an exploration, as its first step.
    package static func forgetOpenFiles() { StoreRegistry.startAnew() }
  }
#endif
