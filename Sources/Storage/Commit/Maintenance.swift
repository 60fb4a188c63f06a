// Work for idle times: freeing what pin releases left over, moving blocks down, cutting the file.
// One thread a store, started when there is something to do and gone when it is done. Its commits
// change nothing that a reader could see.
internal import Platform

/// Whether the maintenance thread runs and when the last commit was.
final class MaintenanceState: Sendable {
  static let idleNanoseconds: UInt64 = 50_000_000

  struct State {
    var isRunning = false
    /// Nobody has the store any more.
    var isClosing = false
    /// It has left its lock file, too.
    var isClosed = false
    /// The thread holds the store and works.
    var isWorking = false
    /// Others want to know whether they could have the file to themselves.
    var isPaused = false
    var commits: UInt64 = 0
  }

  let state = Monitor(State())

  /// Waits until the thread has let go of the store, and keeps it from taking it again.
  func pause() {
    state.withLock { $0.isPaused = true }
    state.wait(until: { !$0.isWorking }, then: { _ in })
  }

  func resume() {
    state.withLock { $0.isPaused = false }
    state.notifyAll()
  }

  var shouldGiveWay: Bool { state.withLock { $0.isPaused || $0.isClosing } }
}

extension Store {
  /// Bytes moved by one idle transaction.
  private static let idleBudget = 8 << 20

  /// Called after each commit; starts the thread when there is something to tidy.
  ///
  /// Never on a file system that allows no unprompted work.
  func noteCommitForMaintenance(isNeeded: Bool) {
    guard options.fileSystem.allowsUnpromptedWork else { return }
    let starts = maintenance.state.withLock { state in
      state.commits += 1
      if state.isRunning || state.isClosing || !isNeeded { return false }
      state.isRunning = true
      return true
    }
    guard starts else { return }
    let maintenance = maintenance
    let thread = Thread.startIfPossible(name: "realm-tidy") { [weak self] in
      Store.maintain(maintenance) { self }
    }
    if let thread { return thread.detach() }
    // The system has no thread to give: a later commit tries again.
    maintenance.state.withLock { $0.isRunning = false }
    maintenance.state.notifyAll()
  }

  /// Waits for 50 ms without a commit, works, and ends.
  private static func maintain(_ maintenance: MaintenanceState, _ store: () -> Store?) {
    var seen = maintenance.state.withLock { $0.commits }
    while true {
      let isDisturbed = maintenance.state.wait(nanoseconds: MaintenanceState.idleNanoseconds) {
        $0.commits != seen || $0.isClosing
      }
      if maintenance.state.withLock({ $0.isClosing }) { return }
      if isDisturbed {
        seen = maintenance.state.withLock { $0.commits }
        continue
      }
      let isAllowed = maintenance.state.withLock { state in
        state.isWorking = !state.isPaused
        return state.isWorking
      }
      if !isAllowed {
        maintenance.state.wait(until: { !$0.isPaused || $0.isClosing }, then: { _ in })
        continue
      }
      // An error here is not lost: the next commit meets it again and throws it.
      let hadItsTurn = (try? store()?.tidy(givesWay: true)) ?? true
      maintenance.state.withLock { $0.isWorking = false }
      maintenance.state.notifyAll()
      let isDone = maintenance.state.withLock { state in
        if state.commits != seen || !hadItsTurn { return false }
        state.isRunning = false
        return true
      }
      if isDone { return }
    }
  }

  /// Keeps the store from working while it is idle, for good; for tests that repeat what happened.
  package func stopIdleWork() { maintenance.pause() }

  /// One pass of idle work now, on the calling thread.
  ///
  /// - Throws: errors of the disk, as a commit does.
  package func runMaintenance() throws(StorageError) {
    guard !isReadOnly else { throw .readOnly(path: path) }
    _ = try tidy(givesWay: false)
  }

  /// Frees, moves and cuts until nothing more is gained.
  ///
  /// - Parameter givesWay: ends early when someone writes or wants to, or the store is to be
  ///   closed: who waits for a transaction here would keep those waiting who want to know whether
  ///   the store is in use.
  /// - Returns: false when it could not begin because someone wrote.
  private func tidy(givesWay: Bool) throws(StorageError) -> Bool {
    // Bytes that may still be moved: twice what lies too high is more than a pass can need.
    var allowance: Int?
    // Every part of the journal may be written twice: it may have to make room for itself.
    var journalRewrites = 0
    let start = newestVersion
    while true {
      if givesWay, queue.hasWaiters || maintenance.shouldGiveWay { return true }
      // Beginning a transaction cuts what the last one has made free.
      guard let transaction = try givesWay ? beginWriteIfFree() : beginWrite() else { return false }
      do throws(StorageError) {
        let durable = try updatePins()
        while reclaim(durable: durable) {
          if givesWay, queue.hasWaiters { break }
        }
      } catch {
        transaction.cancel()
        throw error
      }
      writer!.isIdle = true
      writer!.commitsSinceThreshold = 16
      writer!.updateShrinkThreshold()
      let rewritesMax = 2 * (writer!.journal.parts.count / Store.idleParts + 1)
      let movesJournal = isJournalTooHigh && journalRewrites < rewritesMax
      if movesJournal {
        journalRewrites += 1
        writer!.lowerShrinkThreshold()
      }
      let excess = Int(
        writer!.fileLength - min(writer!.shrinkThreshold ?? .max, writer!.fileLength))
      let rest = allowance ?? 2 * excess
      let moved = moveBlocksWhileIdle(
        transaction, budget: min(rest, Store.idleBudget), since: start)
      allowance = rest - moved
      let canCut = writer!.usefulLength < writer!.fileLength
      if moved == 0, !movesJournal, !canCut, !zeroesAhead() {
        writer!.isIdle = false
        writer!.moveCursor = []
        transaction.cancel()
        try bringLogInPlace()
        return true
      }
      announceTidying(transaction)
      _ = try transaction.commit()
    }
  }

  /// Makes the next growth ready: real zeros behind the end of the data, so that a durable commit
  /// that needs fresh space overwrites bytes that exist, which syncs much faster than appending.
  ///
  /// - Returns: whether the file is longer now; a commit has to record that.
  private func zeroesAhead() -> Bool {
    let old = writer!.fileLength
    let step = writer!.growthStep
    guard durability == .full, writer!.shrinkThreshold == nil,
      (writer!.free.tailRun(end: old)?.length ?? 0) < step, old + step <= Run.endMax,
      !writer!.isTooLong(with: step)
    else { return false }
    let zeros = [UInt8](repeating: 0, count: Int(step))
    var failure: SystemError?
    zeros.withUnsafeBytes { bytes in
      do throws(SystemError) { try file.write(bytes, at: old) } catch { failure = error }
    }
    // A full disk is no failure of idle work: the file stays as long as it was meant to be.
    if failure != nil {
      try? file.setLength(old)
      return false
    }
    writer!.free.free(Run(offset: old, length: step))
    writer!.fileLength = old + step
    writer!.lengthInFile = old + step
    mapping.noteFileLength(old + step)
    return true
  }
}
