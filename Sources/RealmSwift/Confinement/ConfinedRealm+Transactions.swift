// Write transactions of one Realm: their begin on the newest version, and their end. Asynchronous
// writes and migrations use the same steps.
internal import ObjectStore
internal import Platform
internal import Storage

extension ConfinedRealm {
  /// Stops when no transaction may be begun.
  func requireWritable() {
    check()
    if isFrozen && !PlantedBug.frozenWritable.isActive {
      misuse(.frozen, "Can't perform transactions on a frozen Realm")
    }
    if configuration.readOnly {
      misuse(.transaction, "Can't perform transactions on read-only Realms.")
    }
  }

  /// Waits for the write lock and moves to the newest version.
  func beginWrite() throws(StorageError) {
    requireWritable()
    LeftTransactions.end(of: store, at: confinement)
    while true {
      try tellObserversBeforeWriting()
      if writing != nil {
        misuse(.transaction, "The Realm is already in a write transaction")
      }
      // A callback writes, in the transaction that is held for the one who told it.
      if let held { return didBegin(held) }
      stepBackIfLost()
      // What others have committed is easier to follow while the version before it is at hand.
      if observers == nil, heldQueries?.isEmpty == false { _ = try refresh() }
      let known = snapshot?.version
      // Who waits pins nothing.
      snapshot = nil
      frozenTwin = nil
      hiddenTwin = nil
      // Stale from here on: should the lock fail, the next read starts on the newest version.
      bumpAll()
      if WritersHere.have(store) {
        misuse(
          .transaction,
          "The Realm is already in a write transaction: another Realm of '\(configuration.place)', or "
            + "a migration, has one here, which would be waited for forever. End that one first, or "
            + "write with its Realm.")
      }
      let transaction: WriteTransaction
      do throws(StorageError) { transaction = try store.beginWrite(by: place) } catch {
        versionBefore = known
        throw error
      }
      stepBack(from: known)
      if try tellObservers(ofBaseOf: transaction, known) { return didBegin(transaction) }
    }
  }

  /// Continues in a transaction that was just begun.
  func didBegin(_ transaction: WriteTransaction) {
    held = nil
    move(to: transaction.base)
    let group = GroupTransaction(
      transaction.editor, root: transaction.root, schema: classes.stored,
      recording: history.isObserved
        ? .everything : heldQueries?.isEmpty == false ? .few : .nothing)
    group.carriedLinkSearches = carriedLinkSearches
    carriedLinkSearches = CarriedLinkSearches()
    writing = Writing(transaction: transaction, group: group, isWhole: true)
    asynchronousWrites?.noteProgress()
    heldQueries?.didBegin(on: transaction.base.version)
  }

  /// Ends the transaction and makes its changes a version, durable on return.
  ///
  /// - Parameter skipped: whose observers are not told of it.
  func commitWrite(withoutNotifying skipped: [NotificationToken] = []) throws(StorageError) {
    let writing = endWriting("Can't commit a non-existing write transaction")
    defer { asynchronousWrites?.didEndTransaction() }
    writing.transaction.root = writing.group.finish()
    keepChanges(of: writing)
    carriedLinkSearches = writing.group.carriedLinkSearches
    do throws(StorageError) {
      // Its own version is no news to the Realm.
      mailbox?.note(standing: writing.transaction.version)
      move(to: try writing.transaction.commit())
    } catch {
      // Everything is rolled back, and the Realm stays on the version it began on, if that is still
      // one.
      noteStanding()
      stepBackIfLost()
      noteRollBack(of: writing)
      settleReferences()
      observers?.didEndTransaction()
      throw error
    }
    settleReferences()
    observers?.didCommit(writing.transaction, skipped: skipped)
  }

  /// Ends the transaction and makes its changes a version, which becomes durable later.
  ///
  /// - Parameters:
  ///   - awaitsMore: another commit is about to follow.
  ///   - completion: called once on any thread, unless this function throws.
  func commitAsynchronously(
    awaitsMore: Bool, _ completion: @escaping @Sendable (StorageError?) -> Void
  ) throws(StorageError) {
    let writing = endWriting("Can't commit a non-existing write transaction")
    writing.transaction.root = writing.group.finish()
    keepChanges(of: writing)
    carriedLinkSearches = writing.group.carriedLinkSearches
    do throws(StorageError) {
      mailbox?.note(standing: writing.transaction.version)
      move(
        to: try writing.transaction.commitAsynchronously(awaitsMore: awaitsMore, completion))
    } catch {
      noteStanding()
      stepBackIfLost()
      noteRollBack(of: writing)
      settleReferences()
      observers?.didEndTransaction()
      throw error
    }
    settleReferences()
    observers?.didCommit(writing.transaction, skipped: [])
  }

  /// Ends the transaction and drops its changes.
  ///
  /// The Realm stays on the version it began on, if that is still one.
  func cancelWrite() {
    let writing = endWriting("Can't cancel a non-existing write transaction")
    writing.transaction.cancel()
    stepBackIfLost()
    noteRollBack(of: writing)
    settleReferences()
    asynchronousWrites?.didEndTransaction()
    observers?.didEndTransaction()
  }

  /// Makes what the transaction has added invalid for good: its keys will be given again.
  func noteRollBack(of writing: Writing) {
    // Without a version all objects are invalid.
    guard snapshot != nil else { return }
    tables.forEach { table in
      guard let stored = table.pointee.binding.table,
        !writing.isWhole || writing.group.hasAdded(to: stored), let reader = reader(of: table)
      else { return }
      table.pointee.noteRollBack(from: ObjectKey(rawValue: reader.nextKey))
    }
  }

  /// The running transaction, with all changes so far below its root; it goes on from there.
  func settledTransaction() -> WriteTransaction {
    _ = requireWriting()
    let writing = writing!
    let transaction = writing.transaction
    transaction.root = writing.group.finish()
    let searches = writing.group.carriedLinkSearches
    var earlier = writing.earlierChanges
    // Nobody depends on a few notes.
    let isRecorded = writing.group.recording == .everything
    if isRecorded, let changes = writing.group.recordedChanges() { earlier.merge(changes) }
    let group = GroupTransaction(
      transaction.editor, root: transaction.root, schema: classes.stored,
      recording: isRecorded ? .everything : .nothing)
    group.carriedLinkSearches = searches
    self.writing = Writing(transaction: transaction, group: group, earlierChanges: earlier)
    bumpAll()
    return transaction
  }

  /// Makes a Realm that was just made write in a transaction that is there already: that of a
  /// migration, which ends it, or one whose Realm is gone.
  func continueWriting(_ writing: Writing) { self.writing = writing }

  /// Ends the use of the migration's transaction, and all objects that were got in it.
  func endMigration() {
    writing = nil
    epoch &+= 1
    tables.forEach { $0.pointee.epoch = epoch }
    bumpAll()
    settleReferences()
  }

  private func endWriting(_ message: String) -> Writing {
    check()
    guard let writing else { misuse(.transaction, message) }
    self.writing = nil
    bumpAll()
    return writing
  }
}
