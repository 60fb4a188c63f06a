// Frozen forms of a live Realm: one for each version, shared by all that is frozen while the Realm
// stands on it. A frozen Realm never changes; it can only be closed, by a client that invalidates
// it.
internal import Platform
internal import Storage

extension ConfinedRealm {
  /// The frozen Realm of the current version; inside a transaction of the version it began on.
  func frozen() -> ConfinedRealm {
    check()
    if isFrozen { return self }
    // Its version is seen from now on.
    isUntouched = false
    noteObject()
    if freezesHidden { return hidden() }
    if let frozenTwin {
      if !frozenTwin.isInvalidatedFrozen { return frozenTwin }
      tables.forEach { $0.pointee.frozenForm = nil }
    }
    let twin = frozenApart()
    frozenTwin = twin
    return twin
  }

  /// The frozen Realm of the current version for what the library itself keeps of it.
  private func hidden() -> ConfinedRealm {
    if let hiddenTwin { return hiddenTwin }
    let twin = frozenApart()
    hiddenTwin = twin
    return twin
  }

  /// Runs a body in which values of this live Realm are frozen into a frozen Realm that no client
  /// has.
  func freezingHidden<Value>(_ body: () -> Value) -> Value {
    let outer = freezesHidden
    freezesHidden = true
    defer { freezesHidden = outer }
    return body()
  }

  /// A frozen Realm of the current version that no client has, so that none can invalidate it.
  func frozenApart() -> ConfinedRealm {
    var base = currentSnapshot().settled
    if PlantedBug.freezeNewest.isActive { base = (try? store.pinNewest()) ?? base }
    return ConfinedRealm(freezing: self, at: base)
  }

  /// Whether rows are where a frozen Realm has them: both read one snapshot, unchanged.
  @inline(__always)
  func showsVersion(of frozen: ConfinedRealm) -> Bool {
    group == nil && unmanagedSnapshot?.toOpaque() == frozen.unmanagedSnapshot?.toOpaque()
  }

  /// Stops when a frozen Realm was invalidated.
  @inline(__always)
  func checkNotClosed() {
    // Relaxed: the caller that invalidates and the one that reads have to agree by other means.
    if _slowPath(isClosed.load(ordering: .relaxed)) {
      misuse(.invalidated, "The frozen Realm was invalidated; its values cannot be used any more.")
    }
  }

  var isInvalidatedFrozen: Bool { isClosed.load(ordering: .relaxed) }

  /// Ends the use of a frozen Realm's values.
  func closeFrozen() { isClosed.store(true, ordering: .relaxed) }
}
