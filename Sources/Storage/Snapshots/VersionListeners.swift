// Who wants to know that a newer version can be read: live Realms that follow by themselves.
// Nothing is done for them here; they are only told.
internal import Platform

/// Hears of newer versions.
package protocol VersionListener: AnyObject, Sendable {
  /// A version can be read now; called on any thread, with no lock held.
  func versionWasPublished(_ version: Version)
  /// Versions that were not durable yet are lost; called on any thread, with no lock held.
  func versionsWereLost()
}

/// The listeners of one store.
package final class VersionListeners: Sendable {
  /// In the order in which they came, so that what is repeated happens alike.
  private let listeners = Monitor<[any VersionListener]>([])
  /// How many there are, readable without the lock.
  private let count = Atomic(0)
  /// Brings news of other processes from the first listener on: beginning and ending to watch takes
  /// far longer than opening a Realm.
  private let watch = Monitor<FileWatch?>(nil)
  private let isWatching = Atomic(false)

  package func add(_ listener: any VersionListener) {
    listeners.withLock { $0.append(listener) }
    count.add(1, ordering: .relaxed)
  }

  /// Begins to hear of other processes, once.
  func watch(by start: () -> FileWatch?) {
    if isWatching.exchange(true, ordering: .relaxed) { return }
    let new = start()
    watch.withLock { $0 = new }
  }

  /// - Precondition: it was added, and is removed once.
  package func remove(_ listener: any VersionListener) {
    // The reference leaves the lock before it goes.
    let old = listeners.withLock { listeners in
      listeners.firstIndex { $0 === listener }.map { listeners.remove(at: $0) }
    }
    precondition(old != nil, "a listener is removed twice")
    count.subtract(1, ordering: .relaxed)
  }

  /// - Complexity: one load when nobody listens.
  func notify(_ version: Version) {
    if count.load(ordering: .relaxed) == 0 { return }
    let all = listeners.withLock { $0 }
    for listener in all { listener.versionWasPublished(version) }
  }

  func notifyOfLoss() {
    let all = listeners.withLock { $0 }
    for listener in all { listener.versionsWereLost() }
  }
}
