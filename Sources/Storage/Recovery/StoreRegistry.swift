// The stores that this process has open, by what the file is, not by its path.
internal import Platform

/// Weak references to all open stores.
struct StoreRegistry {
  static let shared = Monitor(StoreRegistry())

  var byFile: [FileIdentity: WeakStore] = [:]
  var inMemory: [String: WeakStore] = [:]

  /// Closed stores take no part in their own removal: they may end while this lock is held.
  mutating func forgetClosed() {
    byFile = byFile.filter { $0.value.store != nil }
    inMemory = inMemory.filter { $0.value.store != nil }
  }
}

/// A reference that does not keep the store open.
struct WeakStore: Sendable {
  weak let store: Store?
  init(store: Store) { self.store = store }
}
