// Who wants to know that a newer version can be read: live Realms that follow by themselves. Nothing is
// done for them here; they are only told.
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
  /// Brings news of other processes while somebody listens.
  private let watch = Monitor<FileWatch?>(nil)
  private let source = Monitor<Source?>(nil)

  /// How news of other processes are got while somebody listens.
  struct Source: Sendable {
    let start: @Sendable () -> FileWatch?
    let stop: @Sendable () -> Void
  }

  func setSource(_ new: Source) { source.withLock { $0 = new } }

  package func add(_ listener: any VersionListener) {
    listeners.withLock { $0.append(listener) }
    count.add(1, ordering: .relaxed)
    updateWatch()
  }

  /// Watches while somebody listens.
  private func updateWatch() {
    // Quick system calls under the lock, or the last to leave could end the watch of the first to come.
    watch.withLock { watch in
      let isNeeded = listeners.withLock { !$0.isEmpty }
      if isNeeded == (watch != nil) { return }
      let source = source.withLock { $0 }
      watch = isNeeded ? source?.start() : nil
      if !isNeeded { source?.stop() }
    }
  }

  /// - Precondition: it was added, and is removed once.
  package func remove(_ listener: any VersionListener) {
    // The reference leaves the lock before it goes.
    let old = listeners.withLock { listeners in
      listeners.firstIndex { $0 === listener }.map { listeners.remove(at: $0) }
    }
    precondition(old != nil, "a listener is removed twice")
    count.subtract(1, ordering: .relaxed)
    updateWatch()
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
