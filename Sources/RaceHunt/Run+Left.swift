// What is left when the program's closure has returned: which of it may wait, or sleep again and
// again, so that the schedule is over and has not failed. Threads that nobody need join may, as
// those of a pool that wait for more to do.

extension Strand {
  /// Whether it is no failure that it waits for ever.
  ///
  /// Whoever waits for a lock is a failure: the lock's owner never gives it back.
  fileprivate var mayBeLeft: Bool {
    guard case .blocked(let waiting, _) = state, !isDetached else { return true }
    if case .mutex = waiting { return false }
    return isGivenUp
  }
}

extension Run {
  /// Whether it is no failure that nobody can go on.
  var mayEnd: Bool { hasProgramEnded && strands.allSatisfy(\.mayBeLeft) }

  /// Has another worker end the run, in which this strand waits for ever.
  func end(before strand: Strand) {
    guard let worker = strand.worker, let other = pool.take() else { return stop(.noThread) }
    other.work = .rest(self)
    other.grant()
    worker.park()
  }

  /// Whether a thread waits until that time that has to end.
  func isAwaited(_ time: UInt64) -> Bool {
    if deadlines.timers.contains(where: { $0.time == time }) { return false }
    return strands.contains { strand in
      if case .blocked(_, let until?) = strand.state { return until == time && !strand.isGivenUp }
      return false
    }
  }
}
