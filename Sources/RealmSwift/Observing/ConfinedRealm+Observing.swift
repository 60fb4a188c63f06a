// When the observers of a live Realm are told as it moves, and when an observation may begin.
internal import ObjectStore
internal import Storage

extension ConfinedRealm {
  /// Calls pending observers before the Realm waits for the write lock.
  ///
  /// They may write themselves, which makes further calls due.
  func tellObserversBeforeWriting() throws(StorageError) {
    guard let observers else { return }
    // Observers that write at each call must not keep the Realm from writing.
    for _ in 0..<4 where writing == nil {
      _ = try refresh()
      if !observers.isBehind { return }
    }
  }

  /// Tells observers what others have committed while the Realm waited for the write lock.
  ///
  /// The lock is held meanwhile, so that nothing can come in between; a callback that writes takes
  /// the transaction over.
  /// - Parameter known: the version of which observers were told before.
  /// - Returns: false when a callback has used the transaction up.
  func tellObservers(
    ofBaseOf transaction: WriteTransaction, _ known: Version?
  ) throws(StorageError) -> Bool {
    guard let observers, transaction.base.version != known else { return true }
    held = transaction
    move(to: transaction.base)
    observers.didAdvance()
    return held === transaction
  }

  // MARK: - Beginning

  /// Stops when the Realm never changes, or is used where it is not confined.
  func requireChanging() {
    check()
    if isFrozen {
      misuse(.frozen, "Frozen Realms do not change and do not have change notifications.")
    }
    if configuration.readOnly {
      misuse(.transaction, "Read-only Realms do not change and do not have change notifications.")
    }
  }

  /// Stops when the Realm's content cannot be observed now.
  func requireObservable() {
    requireChanging()
    if writing != nil {
      misuse(.transaction, "Cannot register notification blocks from within write transactions.")
    }
  }

  /// Those who observe the Realm; stops on a thread that runs no loop.
  func requireObservers() -> RealmObservers {
    if let observers { return observers }
    guard let mailbox = findMailbox() else {
      misuse(
        .confinement,
        "Can only add notification blocks from within runloops. On a thread without one, observe on a "
          + "queue or an actor.")
    }
    let observers = RealmObservers(self, mailbox)
    self.observers = observers
    return observers
  }
}
