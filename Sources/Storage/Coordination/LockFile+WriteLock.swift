// The write lock between processes: a byte that the kernel frees when its holder dies, behind a
// queue of tickets that keeps the order in which processes came, see LockFile+Queue.swift. Only the
// byte decides who writes. The threads of a process queue elsewhere: only one of them at a time
// calls in here.
//
// A process that has the file to itself writes "alone", without a system call: it locks the byte of
// that name once and keeps it, and says in a word when it writes. Opening announces a process
// before it first asks for the lock, so either the lone writer sees the newcomer and takes the
// common way, or the newcomer sees the word and needs the byte, which the writer gives up after its
// transaction, or by dying.
internal import Platform

extension LockFile {
  /// Waits until no other process writes and all that came before have had their turn.
  ///
  /// A lock whose owner died is free at once. The lock belongs to the process, not to the thread.
  /// - Parameter onLongWait: called once when it takes more than two seconds, with who has the
  ///   lock.
  /// - Precondition: this process does not have it, and no other thread asks for it.
  package func acquireWriteLock(
    onLongWait: (_ writer: String) -> Void = { _ in }
  ) throws(StorageError) {
    if try tryAcquireWriteLock() { return }
    if let table { try queueForWriteLock(table, onLongWait) }
  }

  /// Takes the write lock if nobody has it or waits for it.
  ///
  /// - Precondition: as in `acquireWriteLock`.
  package func tryAcquireWriteLock() throws(StorageError) -> Bool {
    precondition(!isWriter, "the write lock is taken twice")
    if let table {
      stopIfForked()
      if try tryWriteAlone(table) {
        noteWriter()
        return true
      }
      if waitingSlots != 0 { return false }
      return try tryBytes(table)
    }
    noteWriter()
    return true
  }

  /// Takes the write lock if nobody has it.
  func tryBytes(_ table: LockTable) throws(StorageError) -> Bool {
    guard try table.tryLock(LockByte.write) else { return false }
    if loneWriter.pointee.load(ordering: .sequentiallyConsistent) != 0 {
      let isLoneWriterGone: Bool
      do throws(StorageError) {
        isLoneWriterGone = try table.tryLock(LockByte.alone)
      } catch {
        table.unlock(LockByte.write)
        throw error
      }
      guard isLoneWriterGone else {
        table.unlock(LockByte.write)
        return false
      }
      endLoneWriter(table)
    }
    noteWriter()
    return true
  }

  /// Whether nobody has the write lock.
  func isWriteLockFree(_ table: LockTable) throws(StorageError) -> Bool {
    if try table.isLocked(LockByte.write) { return false }
    guard loneWriter.pointee.load(ordering: .sequentiallyConsistent) != 0 else { return true }
    return try !table.isLocked(LockByte.alone)
  }

  /// Hands the write lock on.
  package func releaseWriteLock() {
    precondition(isWriter, "the write lock is released without having been taken")
    isWriter = false
    guard let table else { return }
    stopIfForked()
    passOnDeadWriter()
    defer { wakeFirstWaiter(table) }
    words[HeaderWord.writer].store(0, ordering: .relaxed)
    if isWritingAlone {
      isWritingAlone = false
      // Sequentially consistent, as is the load of the slots: a newcomer that saw the word is seen
      // here.
      loneWriter.pointee.store(0, ordering: .sequentiallyConsistent)
      if otherLiveSlots != 0 { giveUpAlone(table) }
      return
    }
    table.unlock(LockByte.write)
  }

  /// Whether another process waits for the write lock.
  ///
  /// A waiter that was killed or stopped counts until another one has passed it by, or, if it was
  /// killed, until the next call of `foreignPins` that looks for the dead.
  /// - Complexity: one load.
  package var otherProcessesWait: Bool { waitingSlots != 0 }

  var waitingSlots: UInt64 {
    // Sequentially consistent: who releases and comes back sees those who announced themselves
    // before.
    words[HeaderWord.waiting].load(ordering: .sequentiallyConsistent) & ~ownBit
  }

  // MARK: - Writing alone

  private var loneWriter: LockWord { words + HeaderWord.loneWriter }

  /// Takes the write lock without a system call while no other process has the file open.
  private func tryWriteAlone(_ table: LockTable) throws(StorageError) -> Bool {
    guard otherLiveSlots == 0 else {
      if hasAlone { giveUpAlone(table) }
      return false
    }
    if !hasAlone {
      guard try table.tryLock(LockByte.alone) else { return false }
      hasAlone = true
    }
    loneWriter.pointee.store(1, ordering: .sequentiallyConsistent)
    if otherLiveSlots == 0 {
      isWritingAlone = true
      return true
    }
    loneWriter.pointee.store(0, ordering: .sequentiallyConsistent)
    giveUpAlone(table)
    wakeFirstWaiter(table)
    return false
  }

  private func giveUpAlone(_ table: LockTable) {
    table.unlock(LockByte.alone)
    hasAlone = false
  }

  /// With the byte that the lone writer had: it is done, or dead.
  private func endLoneWriter(_ table: LockTable) {
    loneWriter.pointee.store(0, ordering: .sequentiallyConsistent)
    table.unlock(LockByte.alone)
  }
}
