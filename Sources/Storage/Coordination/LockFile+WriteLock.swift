// The write lock between processes: a byte that the kernel frees when its holder dies, behind a
// queue of tickets that keeps the order in which processes came. The threads of a process queue
// elsewhere: only one of them at a time calls in here.
//
// A waiter locks the byte of its ticket, then waits for the byte of the ticket before, which its
// owner keeps until it has written or died; then for the write byte. Only the last decides who
// writes. If a waiter dies, the one behind it comes forward early and the kernel's order stands in
// for the tickets'.
internal import Synchronization

extension LockFile {
  /// Waits until no other process writes and all that came before have had their turn.
  ///
  /// A lock whose owner died is free at once. The lock belongs to the process, not to the thread.
  /// - Precondition: this process does not have it, and no other thread asks for it.
  package func acquireWriteLock() throws(StorageError) {
    if try tryAcquireWriteLock() { return }
    if let table { try queueForWriteLock(table) }
  }

  /// Takes the write lock if nobody has it or waits for it.
  ///
  /// - Precondition: as in `acquireWriteLock`.
  package func tryAcquireWriteLock() throws(StorageError) -> Bool {
    precondition(!isWriter, "the write lock is taken twice")
    if let table {
      stopIfForked()
      if waitingSlots != 0 { return false }
      guard try table.tryLock(LockByte.write) else { return false }
    }
    noteWriter()
    return true
  }

  /// Hands the write lock on.
  package func releaseWriteLock() {
    precondition(isWriter, "the write lock is released without having been taken")
    isWriter = false
    guard let table else { return }
    stopIfForked()
    table.unlock(LockByte.write)
    if heldTicket != 0 {
      // After the write byte, so that a waiter that came forward early goes first.
      table.unlock(LockByte.ticket(heldTicket))
      heldTicket = 0
    }
  }

  /// Whether another process waits for the write lock.
  ///
  /// A waiter that was killed counts until the next call of `foreignPins` that looks for the dead.
  /// - Complexity: one load.
  package var otherProcessesWait: Bool { waitingSlots != 0 }

  private var waitingSlots: UInt64 {
    // Sequentially consistent: who releases and comes back sees those who announced themselves
    // before.
    words[HeaderWord.waiting].load(ordering: .sequentiallyConsistent) & ~ownBit
  }

  @inline(never)
  private func queueForWriteLock(_ table: LockTable) throws(StorageError) {
    let waiting = words + HeaderWord.waiting
    waiting.pointee.bitwiseOr(ownBit, ordering: .sequentiallyConsistent)
    defer { waiting.pointee.bitwiseAnd(~ownBit, ordering: .sequentiallyConsistent) }
    // Relaxed: a number without a meaning for other memory.
    let ticket = words[HeaderWord.nextTicket].add(1, ordering: .relaxed).oldValue
    try table.lock(LockByte.ticket(ticket))
    do throws(StorageError) {
      try table.lock(LockByte.ticket(ticket - 1))
      table.unlock(LockByte.ticket(ticket - 1))
      try table.lock(LockByte.write)
    } catch {
      table.unlock(LockByte.ticket(ticket))
      throw error
    }
    heldTicket = ticket
    noteWriter()
  }
}
