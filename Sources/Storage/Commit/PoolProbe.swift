// Whether any thread of a pool is free, found out by giving it something to do. A transaction that
// a task began and then was suspended in goes on by such a thread. With none free for long, some of
// them blocked in `write` and the others elsewhere, it depends on those others whether anybody ever
// goes on: nobody can know what they wait for, so this is a warning, and no wait ends by it. Where
// all of them are in `write`, `BlockedPools` knows.
internal import Platform

/// Asks a pool again and again.
struct PoolProbe {
  /// Looks in a row that must find no thread free.
  static let looks = 5

  /// Whether the last job has begun.
  private var answer: Monitor<Bool>?
  private var hold: UInt64 = 0
  private var looks = 0
  private var isTold = false

  /// Whether the holder of a lock needs a thread of a pool, and none has been free for some looks:
  /// true once for each holder.
  ///
  /// By a thread of the pool, which waits for the lock, at each of its looks.
  mutating func isHopeless(_ current: WriteQueue.Hold?, _ pool: TaskPool) -> Bool {
    guard let current, current.pool == pool else {
      looks = 0
      return false
    }
    if current.number != hold {
      hold = current.number
      isTold = false
      looks = 0
    }
    if let answer, !answer.withLock({ $0 }) {
      looks += 1
    } else {
      let asked = Monitor(false)
      // Of this thread's priority, so by a thread of this pool.
      Task.detached(priority: Task.currentPriority) { asked.withLock { $0 = true } }
      answer = asked
      looks = 0
    }
    if isTold || looks < Self.looks { return false }
    isTold = true
    return true
  }
}
