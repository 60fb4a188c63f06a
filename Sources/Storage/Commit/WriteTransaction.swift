// One write transaction: begins on the newest committed version, holds the write lock, collects
// changed blocks in its editor, and ends exactly once in commit or cancel. The steps of a commit
// are in Commit.swift; policy for space is in WriterState.
internal import Platform

/// A running write transaction.
///
/// Not Sendable: it belongs to the Realm that began it, though that Realm may continue it on
/// another thread.
package final class WriteTransaction {
  package let store: Store
  /// Changed blocks, and reading of base version and own changes.
  package let editor: BlockEditor
  /// The version on which the transaction builds.
  package let base: Snapshot
  /// The number that this commit will have.
  package let version: Version
  /// The root of the new version; starts as the base's.
  ///
  /// Assign it before `commit`.
  @exclusivity(unchecked) package var root: BlockReference
  /// Called once when the commit cannot fail any more but by its sync, before anyone can see the
  /// version.
  ///
  /// Runs under the write lock: it may take no lock that is held while one waits for that.
  package var willBecomeVisible: (() -> Void)?

  /// Where it runs.
  let place: PlaceNote

  /// Runs taken from free space by this transaction.
  @exclusivity(unchecked) var taken: [Run] = []
  /// Blocks written early by `seal`.
  @exclusivity(unchecked) var stream = EarlyWriter()
  @exclusivity(unchecked) private var isFinished = false

  init(
    store: Store, editor: BlockEditor, base: Snapshot, version: Version, place: PlaceNote
  ) {
    self.store = store
    self.place = place
    self.editor = editor
    self.base = base
    self.version = version
    root = base.root
    taken.reserveCapacity(8)
    editor.version = version
    // The store's writer outlives the editor's use; the transaction owns the editor.
    editor.placer = { [unowned self] in self.writeEarly($0) }
  }

  deinit {
    if !isFinished { store.rollBack(self) }
  }

  /// Whether the transaction is still open.
  package var isOpen: Bool { !isFinished }

  /// Makes the changes a version.
  ///
  /// Durable on return, unless the store promises less.
  ///
  /// - Returns: the new version, pinned; the base when nothing was changed.
  /// - Throws: any error of the disk; nothing of the transaction is then in the file.
  /// - Complexity: O(changed blocks), plus one sync shared with other committers.
  package func commit() throws(StorageError) -> Snapshot {
    precondition(!isFinished, "the transaction is over")
    isFinished = true
    return try store.commit(self)
  }

  /// Makes the changes a version that becomes durable later.
  ///
  /// - Parameters:
  ///   - awaitsMore: another commit will follow soon and may share this one's sync.
  ///   - completion: called once, on any thread, in commit order, when the version is durable or
  ///     cannot become so; not called when this function throws.
  /// - Returns: the new version, pinned; the base when nothing was changed.
  /// - Throws: any error of the disk but a failed sync; nothing of the transaction is then in the
  ///   file.
  package func commitAsynchronously(
    awaitsMore: Bool, _ completion: @escaping @Sendable (StorageError?) -> Void
  ) throws(StorageError) -> Snapshot {
    precondition(!isFinished, "the transaction is over")
    isFinished = true
    return try store.commitAsynchronously(self, awaitsMore: awaitsMore, completion)
  }

  /// Drops the changes and releases the write lock.
  package func cancel() {
    precondition(!isFinished, "the transaction is over")
    isFinished = true
    store.rollBack(self)
  }

  /// Places and writes a finished tree before the commit, to keep large transactions out of memory.
  private func writeEarly(_ reference: BlockReference) -> BlockReference {
    guard store.canWriteEarly(self) else { return reference }
    return store.writeEarly(reference, for: self) ?? reference
  }
}
