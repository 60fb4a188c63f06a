// Finds writes that nobody can ever begin: all threads that run tasks wait for write locks, and
// whoever has these locks is a suspended task or actor, which needs one of the same threads to go
// on.
//
// Only what is certain counts. A thread takes part when it has waited for long in a write queue; a
// holder when its transaction was begun on a thread of such a pool, all of whose threads wait here,
// so that it runs on none of them. What began on the main thread, a queue or any other thread goes
// on by itself some day. A pool whose threads wait for such a holder is not lost, and frees those
// who wait for its own. Found the same, waiters and transactions, in several looks in a row, all
// these waits end with an error.
package import Platform

/// A write that has waited for long on a thread that runs tasks.
final class BlockedTask: Sendable {
  private static let lastNumber = Atomic<UInt64>(0)
  let pool: TaskPool
  let queue: WriteQueue
  let waiter: WriteQueue.Waiter
  /// No other one of the process ever has it.
  fileprivate let number: UInt64

  init(_ pool: TaskPool, _ queue: WriteQueue, _ waiter: WriteQueue.Waiter) {
    self.pool = pool
    self.queue = queue
    self.waiter = waiter
    number = Self.lastNumber.add(1, ordering: .relaxed).newValue
  }
}

/// All such writes of the process.
package enum BlockedPools {
  /// Why nobody can go on; equal when nothing has happened in between.
  struct Deadlock: Equatable {
    fileprivate let waits: [UInt64: BlockedTask]
    /// By the waits' numbers: which transaction of its file each of them waits for.
    fileprivate let holds: [UInt64: UInt64]

    static func == (first: Deadlock, second: Deadlock) -> Bool { first.holds == second.holds }
  }

  /// Time between two looks of one waiter.
  ///
  /// Shorter in tests.
  package static let lookNanoseconds = Atomic<UInt64>(1_000_000_000)
  /// Looks in a row that must find the same.
  static let looks = 3

  /// How often any waiter has looked, for tests.
  package static let looksTaken = Atomic<Int>(0)

  private static let waits = Monitor<[UInt64: BlockedTask]>([:])

  static func add(_ wait: BlockedTask) { waits.withLock { $0[wait.number] = wait } }

  static func remove(_ wait: BlockedTask) { waits.withLock { $0[wait.number] = nil } }

  /// What keeps a wait from ever ending; nil when something may end it.
  static func deadlock(of wait: BlockedTask) -> Deadlock? {
    defer { looksTaken.add(1, ordering: .relaxed) }
    // Who is served has the lock, and runs as soon as it wakes.
    let waits = waits.withLock { $0 }.filter { !$0.value.waiter.isServed }
    // Each asks its own queue's lock, so none of them is asked under another lock.
    let holds = waits.mapValues { $0.queue.hold }
    var blocked: [TaskPool: Int] = [:]
    for wait in waits.values { blocked[wait.pool, default: 0] += 1 }
    var lost = Set(blocked.filter { $0.value >= $0.key.width }.keys)
    while true {
      let before = lost.count
      for (number, wait) in waits where lost.contains(wait.pool) {
        // A free lock is somebody's soon.
        guard let pool = holds[number]??.pool, lost.contains(pool) else {
          lost.remove(wait.pool)
          continue
        }
      }
      if lost.count == before { break }
    }
    guard lost.contains(wait.pool) else { return nil }
    let concerned = waits.filter { lost.contains($0.value.pool) }
    return Deadlock(
      waits: concerned, holds: concerned.mapValues { holds[$0.number]!!.number })
  }

  /// Ends all waits of a deadlock with an error.
  static func end(_ deadlock: Deadlock) {
    for (number, wait) in deadlock.waits {
      wait.queue.giveUp(wait.waiter, ifHeldBy: deadlock.holds[number]!)
    }
  }
}
