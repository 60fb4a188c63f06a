// What a measuring thread says of its waits for the write lock, which others may keep for as long
// as they like: a run ends although somebody does, and says what was left out.
internal import Platform

/// Whether one thread waits for the write lock; set by it, read by the coordinator.
package final class LockWait: Sendable {
  /// A wait that goes on.
  struct Wait {
    /// The place of the operation in the thread's plan; nil for a check.
    let operation: Int?
    /// When the operation was due, or began.
    let since: UInt64
    /// Whether the thread may have the lock, and be at work: then only who asks the engine knows.
    let mayWork: Bool
  }

  /// 0 when it does not wait; only the thread itself changes it.
  private let since = Atomic<UInt64>(0)
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
  package func end() { since.store(0, ordering: .sequentiallyConsistent) }

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
    guard start > 0 else { return nil }
    let position = operation.load(ordering: .relaxed)
    return Wait(
      operation: position < 0 ? nil : position, since: start,
      mayWork: mayWork.load(ordering: .relaxed))
  }
}
