// What a measuring thread says of its waits for the write lock, which others may keep for as long
// as they like: a run ends although somebody does, and says what was left out.
internal import Platform

/// Whether one thread waits for the write lock; set by it, read by the coordinator.
package final class LockWait: @unchecked Sendable {
  // @unchecked: `owner` is touched by the thread outside of its waits, and by whoever takes them
  // over within one, whose end waits for that.

  /// A wait that goes on.
  struct Wait {
    /// The place of the operation in the thread's plan; nil for a check.
    let operation: Int?
    /// When the operation was due, or began.
    let since: UInt64
    /// Whether the thread may have the lock, and be at work: then only who asks the engine knows.
    let mayWork: Bool
  }

  /// What a thread that waits has measured, and has still to do.
  struct Owner {
    let measurements: Measurements
    /// Nil where it has no schedule.
    let pace: ThreadPace?
  }

  /// 0 when it does not wait; the thread itself sets it, and whoever takes over adds a mark.
  private let since = Atomic<UInt64>(0)
  private static let takenOver: UInt64 = 1 << 63
  /// Held while somebody takes over.
  private let takingOver = Monitor(false)
  /// What the thread tells of itself before it waits.
  var owner: Owner?
  private let operation = Atomic<Int>(-1)
  private let mayWork = Atomic<Bool>(false)

  package init() {}

  /// Call it before the lock is asked for.
  /// - Parameters:
  ///   - operation: the place of the operation in the thread's plan; nil for a check.
  ///   - since: when it was due, or began.
  ///   - mayWork: whether what it does with the lock is done before `end` is called.
  package func begin(_ operation: Int?, since start: UInt64, mayWork: Bool = false) {
    self.operation.store(operation ?? -1, ordering: .relaxed)
    self.mayWork.store(mayWork, ordering: .relaxed)
    // Releasing: pairs with the load of `present`, which then sees the operation.
    since.store(max(1, start), ordering: .releasing)
  }

  /// Call it when the lock is there, or will not come.
  package func end() {
    let before = since.exchange(0, ordering: .sequentiallyConsistent)
    // What is read meanwhile must not change.
    if before & Self.takenOver != 0 { takingOver.withLock { _ in } }
    owner = nil
  }

  /// Call it at the begin of a transaction, inside.
  ///
  /// - Parameter isScheduled: whether the operation was due at some time: then it is waited for.
  /// - Throws: `RunControl.GivenUp` when the run was over long before.
  package func end(_ control: RunControl, isScheduled: Bool) throws {
    end()
    try control.checkNotOverdue(isScheduled: isScheduled)
  }

  /// The wait of this moment, if there is one.
  var present: Wait? {
    let start = since.load(ordering: .acquiring)
    return start > 0 ? wait(since: start & ~Self.takenOver) : nil
  }

  private func wait(since start: UInt64) -> Wait {
    let position = operation.load(ordering: .relaxed)
    return Wait(
      operation: position < 0 ? nil : position, since: start,
      mayWork: mayWork.load(ordering: .relaxed))
  }

  /// Lets the coordinator have what a thread has measured that nobody waits for any more.
  ///
  /// The thread may come back to it later, and nobody looks then.
  /// - Returns: whether it waited, and has told of itself.
  func takeOver(_ body: (Wait, Owner) -> Void) -> Bool {
    takingOver.withLock { _ in
      let start = since.load(ordering: .acquiring)
      guard start > 0, start & Self.takenOver == 0 else { return false }
      let isHeld = since.compareExchange(
        expected: start, desired: start | Self.takenOver, ordering: .acquiringAndReleasing
      ).exchanged
      guard isHeld, let owner else { return false }
      body(wait(since: start), owner)
      return true
    }
  }
}
