// Writes that do not block the caller: blocks that are run when the write lock can be had, and
// commits whose way to the disk is waited for elsewhere.
internal import Storage

/// Names an asynchronous write or commit, to cancel it.
public typealias AsyncTransactionId = UInt32

extension Realm {
  /// Names an asynchronous write or commit, to cancel it.
  public typealias AsyncTransactionId = UInt32

  /// Runs a block in a write transaction when the file can be written, and commits it.
  ///
  /// Returns at once. The block runs where the Realm is confined, never inside of this call;
  /// nothing else of the Realm's place runs meanwhile. It may commit or cancel by itself; then
  /// nothing more is done. Blocks of one Realm run in the order of the calls, each after the one
  /// before is durable. The Realm stays open until all are done, and so does its actor. Stops on a
  /// frozen and on a read-only Realm, and on a thread that runs no run loop: use `write` there, a
  /// queue, or an actor.
  ///
  /// In an actor's `isolated deinit`, to which nothing can come back, block and completion run
  /// inside of this call. There the write lock, which a caller of that `deinit` may have, is waited
  /// for no longer than a quarter of a second: when others of this process write for longer,
  /// nothing is written, and the completion gets an error.
  ///
  /// When the changes cannot be stored, as on a full disk, the Realm goes back to the version
  /// before: its objects and collections are invalid then, and observers of its content are told
  /// nothing more.
  /// - Parameters:
  ///   - block: makes the changes.
  ///   - onComplete: called once, where the Realm is confined, when the changes are durable, or
  ///     with the error when they cannot be stored. Not called after the write was cancelled by its
  ///     number.
  /// - Returns: a number for `cancelAsyncWrite`.
  @discardableResult
  public func writeAsync(
    _ block: @escaping @isolated(any) () -> Void,
    onComplete: (@isolated(any) (_ error: (any Swift.Error)?) -> Void)? = nil
  ) -> AsyncTransactionId {
    let writes = requireAsynchronousWrites()
    return writes.add(commits: true, Self.placed(block), Self.placed(onComplete))
  }

  /// Runs a block in a write transaction when the file can be written.
  ///
  /// As `writeAsync`, but the block has to commit; when it returns without, its changes are rolled
  /// back.
  /// - Returns: a number for `cancelAsyncWrite`.
  @discardableResult
  public func beginAsyncWrite(
    _ block: @escaping @isolated(any) () -> Void
  ) -> AsyncTransactionId {
    requireAsynchronousWrites().add(commits: false, Self.placed(block), nil)
  }

  /// Makes the changes of the running transaction a version, without waiting for the disk.
  ///
  /// This Realm and later write transactions see the changes at once, all others once they are
  /// durable. Also for a transaction begun with `beginWrite`. Stops when no transaction is running.
  /// When the changes cannot be stored, later transactions that build on them fail, too, and the
  /// Realm goes back as after `writeAsync`. A process that ends before they are durable loses them.
  /// - Parameters:
  ///   - allowGrouping: the next queued write of this Realm may begin before these changes are
  ///     durable, and share their way to the disk.
  ///   - onComplete: called once, where the Realm is confined, when the changes are durable, or
  ///     with the error when they cannot be stored.
  /// - Returns: a number for `cancelAsyncWrite`, which then only drops the call of `onComplete`.
  @discardableResult
  public func commitAsyncWrite(
    allowGrouping: Bool = false,
    _ onComplete: (@isolated(any) (_ error: (any Swift.Error)?) -> Void)? = nil
  ) -> AsyncTransactionId {
    let writes = requireAsynchronousWrites()
    if confined.writing == nil {
      misuse(.transaction, "Can't commit a non-existing write transaction")
    }
    return writes.commit(allowsGrouping: allowGrouping, Self.placed(onComplete))
  }

  /// Makes the changes of the running transaction a version, without waiting for the disk.
  ///
  /// The same as with `allowGrouping`.
  @discardableResult
  public func commitAsyncWrite(
    isGroupingAllowed: Bool,
    _ onComplete: (@isolated(any) (_ error: (any Swift.Error)?) -> Void)? = nil
  ) -> AsyncTransactionId {
    commitAsyncWrite(allowGrouping: isGroupingAllowed, onComplete)
  }

  /// Drops a queued write, rolls back a running one, or drops the completion of a commit.
  ///
  /// A commit itself stays. An unknown number is ignored. The completion of what is cancelled is
  /// never called.
  public func cancelAsyncWrite(_ asyncTransactionId: AsyncTransactionId) throws {
    confined.check()
    confined.asynchronousWrites?.cancel(asyncTransactionId)
  }

  /// Whether a write is queued or running asynchronously, or a commit is on its way to the disk.
  public var isPerformingAsynchronousWriteOperations: Bool {
    confined.check()
    return confined.asynchronousWrites?.isBusy ?? false
  }

  /// A block as it is called; it stops where it does not belong.
  private static func placed(_ block: @escaping @isolated(any) () -> Void) -> () -> Void {
    // Sound: isolation is a matter of types, the functions are called alike; and it is checked.
    let plain = unsafeBitCast(block, to: (() -> Void).self)
    guard let place = BlockPlace(block.isolation) else { return plain }
    place.requireHere()
    return {
      place.requireHere()
      plain()
    }
  }

  private static func placed(
    _ block: (@isolated(any) ((any Swift.Error)?) -> Void)?
  ) -> (((any Swift.Error)?) -> Void)? {
    guard let block else { return nil }
    let placed = PlacedBlock(block)
    placed.place?.requireHere()
    return placed.call
  }

  private func requireAsynchronousWrites() -> AsynchronousWrites {
    confined.requireWritable()
    guard let writes = confined.findAsynchronousWrites() else {
      misuse(
        .confinement,
        "Cannot schedule async transaction. Make sure you are running from inside a run loop. On a "
          + "thread without one use `write`; or confine the Realm to a queue or an actor.")
    }
    return writes
  }
}
