// The stores that this process has open, by what the file is, not by its path.
internal import Platform

/// Weak references to all open stores.
struct StoreRegistry {
  static let shared = Monitor(StoreRegistry())

  var byFile: [FileIdentity: WeakStore] = [:]
  var inMemory: [String: WeakStore] = [:]

  /// The open store of a file.
  ///
  /// - Throws: `alreadyOpen` when it has other settings and someone uses it.
  func shared(_ identity: FileIdentity, _ options: StoreOptions) throws(StorageError) -> Store? {
    guard byFile[identity]?.store != nil else { return nil }
    do throws(StorageError) {
      return try settled(identity, options)
    } catch {
      if isInUse(identity) { throw error }
      return nil
    }
  }

  private func settled(
    _ identity: FileIdentity, _ options: StoreOptions
  ) throws(StorageError) -> Store? {
    guard let store = byFile[identity]?.store else { return nil }
    try store.checkSettings(options)
    return store
  }

  /// How long threads of a store's own are waited for; where another process writes it may take them long.
  private static let helpNanoseconds: UInt64 = 1_000_000_000

  /// Whether anyone but threads of its own uses the store of a file.
  ///
  /// Waits for idle work to give way, and for who has prepared a transaction to be done.
  func isInUse(_ identity: FileIdentity) -> Bool {
    guard let (maintenance, helpers) = byFile[identity]?.store.map({ ($0.maintenance, $0.helpers) })
    else { return false }
    _ = helpers.wait(nanoseconds: Self.helpNanoseconds) { $0 == 0 }
    maintenance.pause()
    defer { maintenance.resume() }
    return byFile[identity]?.store != nil
  }

  /// Closed stores take no part in their own removal: they may end while this lock is held.
  ///
  /// Of a few the memory stays until there are more.
  mutating func forgetClosed() {
    if byFile.count + inMemory.count < 16 { return }
    byFile = byFile.filter { $0.value.store != nil }
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

  init(store: Store) {
    memory = store
    reference = .passUnretained(store)
  }

  /// The store, unless its last user is gone.
  var store: Store? { retainIfAlive(reference) }
}
